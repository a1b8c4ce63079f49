// SPDX-License-Identifier: MIT
/*
 * calls_session WHAT: one use of <tacho/session.h> with the session 's' ('kernel': that of
 * $LKST_SESSION).  Prints what came of it; a call that fails ends it with 1 and the library's
 * message.
 *
 * Programs that it starts are not those in which calls fail.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tacho/session.h>

static int failed(const struct tacho_error *e)
{
	fprintf(stderr, "calls_session: %s\n", e->text);
	return 1;
}

/* ---- what is done to a session ---- */

static int print_rule(bool enable, const char *events, void *arg)
{
	(void)arg;
	printf("%s %s\n", enable ? "+" : "-", events);
	return 0;
}

static int print_event(const char *event, void *arg)
{
	(void)arg;
	printf("%s\n", event);
	return 0;
}

static int rule(struct tacho_ctl *ctl)
{
	const int32_t pids[] = { 1, 2 };

	if (tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "marker:*", NULL) < 0 ||
	    tacho_ctl_disable(ctl, TACHO_CTL_PROGRAMS, "marker:end", NULL) < 0 ||
	    tacho_ctl_set_pids(ctl, pids, 2, true) < 0 ||
	    tacho_ctl_set_not_pids(ctl, pids, 1, true) < 0 ||
	    tacho_ctl_each_rule(ctl, print_rule, NULL) < 0 ||
	    tacho_ctl_each_event(ctl, TACHO_CTL_PROGRAMS, print_event, NULL) < 0)
		return -1;
	return 0;
}

static int print_command(const struct tacho_ctl_command *c, void *arg)
{
	(void)arg;
	printf("%u %s %s\n", c->kind, c->events, c->text);
	return 0;
}

static int filter(struct tacho_ctl *ctl)
{
	if (tacho_ctl_filter(ctl, TACHO_CTL_PROGRAMS, "shop:*", "id > 1", NULL) < 0)
		return -1;
	return tacho_ctl_each_command(ctl, TACHO_CTL_PROGRAMS, print_command, NULL);
}

static int trigger(struct tacho_ctl *ctl)
{
	if (tacho_ctl_synth(ctl, "late u64 lat") < 0 ||
	    tacho_ctl_trigger(ctl, TACHO_CTL_PROGRAMS, "shop:*", "hist:keys=customer", NULL) < 0)
		return -1;
	return tacho_ctl_each_command(ctl, TACHO_CTL_PROGRAMS, print_command, NULL);
}

static int print_cells(struct tacho_ctl_hist *hist, const struct tacho_ctl_hist_info *info)
{
	struct tacho_ctl_hist_column column;
	struct tacho_ctl_hist_cell cell;

	for (uint32_t row = 0; row < info->nr_rows; row++)
		for (uint32_t i = 0; i < info->nr_columns; i++) {
			int err = tacho_ctl_hist_get_cell(hist, row, i, &cell);

			if (err < 0) {
				fprintf(stderr, "calls_session: a cell: %s\n", strerror(-err));
				return err;
			}
			(void)tacho_ctl_hist_get_column(hist, i, &column);
			printf("%s=%s ", column.name, cell.text);
		}
	return 0;
}

static int print_hist(struct tacho_ctl_hist *hist, void *arg)
{
	struct tacho_ctl_hist_info info;

	(void)arg;
	(void)tacho_ctl_hist_get_info(hist, &info);
	printf("%s %s\n%s", tacho_ctl_hist_event(hist), info.trigger, tacho_ctl_hist_text(hist));
	return print_cells(hist, &info) < 0 ? 9 : 0;
}

static int hist(struct tacho_ctl *ctl)
{
	int ret = tacho_ctl_each_hist(ctl, TACHO_CTL_PROGRAMS, NULL, print_hist, NULL);

	return ret == 9 ? 9 : ret;
}

static int print_status(struct tacho_ctl *ctl)
{
	struct tacho_ctl_status s;

	if (tacho_ctl_get_status(ctl, &s) < 0)
		return -1;
	printf("state %u: attempted %" PRIu64 " written %" PRIu64 " read %" PRIu64 "\n", s.state,
	       s.programs.attempted, s.programs.written, s.programs.read);
	return 0;
}

static int start(struct tacho_ctl *ctl)
{
	if (tacho_ctl_stop(ctl) < 0 || print_status(ctl) < 0 || tacho_ctl_start(ctl) < 0)
		return -1;
	return print_status(ctl);
}

static int snapshot(struct tacho_ctl *ctl)
{
	uint64_t events;

	if (tacho_ctl_snapshot(ctl, "out", &events) < 0)
		return -1;
	printf("%" PRIu64 " events\n", events);
	return 0;
}

/* The process executes nothing, so that there are no events of others and none of its own. */
static int kernel(struct tacho_ctl *ctl)
{
	const int32_t self = getpid();

	if (tacho_ctl_set_pids(ctl, &self, 1, false) < 0 ||
	    tacho_ctl_enable(ctl, TACHO_CTL_KERNEL, "sched:sched_process_exec", NULL) < 0 ||
	    tacho_ctl_filter(ctl, TACHO_CTL_KERNEL, "sched:sched_process_exec", "pid == 1",
			     NULL) < 0 ||
	    print_status(ctl) < 0)
		return -1;
	return snapshot(ctl);
}

/* ---- without a session, and ends of one ---- */

static int create(void)
{
	struct tacho_ctl_config config;
	struct tacho_error e;
	struct tacho_ctl *ctl;
	int err;

	tacho_ctl_config_init(&config);
	config.name = "s";
	config.buffer_size = 65536;
	config.subbuf_size = 16384;
	if (tacho_ctl_create(&ctl, &config, &e) < 0)
		return failed(&e);
	err = print_status(ctl);
	if (err)
		failed(tacho_ctl_error(ctl));
	tacho_ctl_close(ctl);
	return err != 0;
}

static int destroy(struct tacho_ctl *ctl)
{
	struct tacho_error e;

	return tacho_ctl_destroy(ctl, &e) < 0 ? failed(&e) : 0;
}

/* ---- continuous ---- */

static void note(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "calls_session: %s\n", text);
}

static int record(struct tacho_ctl_recording *rec)
{
	struct tacho_ctl_recording_status st;
	int err;

	if (tacho_ctl_recording_start(rec) < 0)
		return -1;
	(void)fflush(stdout);
	if (system(getenv("ORDERS"))) {
		fprintf(stderr, "calls_session: cannot run a program: %s\n", strerror(errno));
		return 9;
	}
	err = tacho_ctl_recording_step(rec) < 0 ? -1 : 0;
	if (!err && (tacho_ctl_recording_rotate(rec) < 0 || tacho_ctl_recording_step(rec) < 0))
		err = -1;
	tacho_ctl_recording_stop(rec);
	if (!err && tacho_ctl_recording_run(rec) < 0)
		err = -1;
	if (tacho_ctl_recording_finish(rec) < 0 || err)
		return -1;
	(void)tacho_ctl_recording_get_status(rec, &st);
	printf("state %u: %" PRIu64 " events, %" PRIu64 " lost, %u traces\n", st.state, st.events,
	       st.lost, st.traces);
	return 0;
}

static int recording(void)
{
	static const char *const events[] = { "*:*" };
	static const struct tacho_ctl_recording_control filter_of[] = { { "shop:*", "id > 1" } };
	struct tacho_ctl_recording_config c;
	struct tacho_ctl_recording *rec;
	struct tacho_error e;
	int ret;

	tacho_ctl_recording_config_init(&c);
	c.output = "out";
	c.name = "s";
	c.flags = TACHO_CTL_RECORDING_ROTATE;
	c.events = events;
	c.nr_events = 1;
	c.filters = filter_of;
	c.nr_filters = 1;
	c.buffer_size = 65536;
	c.subbuf_size = 16384;
	c.note = note;
	if (tacho_ctl_recording_open(&rec, &c, &e) < 0)
		return failed(&e);
	ret = record(rec);
	if (ret < 0)
		failed(tacho_ctl_recording_error(rec));
	if (tacho_ctl_recording_close(rec, &e) < 0)
		return failed(&e);
	return ret != 0;
}

/* ---- which ---- */

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*fn)(struct tacho_ctl *ctl);
	} what[] = {
		{ "rule", rule }, { "filter", filter }, { "trigger", trigger }, { "hist", hist },
		{ "status", print_status }, { "start", start }, { "snapshot", snapshot },
		{ "kernel", kernel },
	};
	const char *name = argc > 1 ? argv[1] : "";
	struct tacho_error e;
	struct tacho_ctl *ctl;
	int ret = -1;

	unsetenv("LD_PRELOAD");
	if (!strcmp(name, "create"))
		return create();
	if (!strcmp(name, "recording"))
		return recording();
	if (tacho_ctl_open(&ctl, !strcmp(name, "kernel") ? getenv("LKST_SESSION") : "s", &e) < 0)
		return failed(&e);
	if (!strcmp(name, "destroy"))
		return destroy(ctl);
	for (size_t i = 0; i < sizeof(what) / sizeof(what[0]); i++)
		if (!strcmp(name, what[i].name))
			ret = what[i].fn(ctl);
	if (ret < 0)
		failed(tacho_ctl_error(ctl));
	tacho_ctl_close(ctl);
	return ret != 0;
}
