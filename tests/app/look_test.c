// SPDX-License-Identifier: MIT
/* What front ends show, as data: checks, counts, reports, sessions, probes; without output. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/check.h"
#include "app/list.h"
#include "app/mount.h"
#include "app/probe.h"
#include "app/report.h"
#include "app/session.h"
#include "app/stat.h"
#include "app/status.h"
#include "../unit/test.h"

static const char many[] = "many", small[] = "small";	/* 20,000 records; 7, with losses */

/* ---- check ----------------------------------------------------------------- */

struct findings {
	uint64_t problems, remarks;
	uint64_t byte;			/* of the last problem */
	bool cancel;
};

static void found(void *arg, const struct app_check_found *f)
{
	struct findings *all = arg;

	all->problems += f->problem;
	all->remarks += !f->problem;
	if (f->problem)
		all->byte = f->byte;
}

static bool is_cancelled(void *arg)
{
	const struct findings *all = arg;

	return all->cancel;
}

static int check(const char *path, struct findings *all, struct app_check_result *r,
		 struct tacho_diag *d)
{
	const struct tacho_observer o = { .cancelled = is_cancelled, .arg = all };
	const struct app_check_config c = { .found = found, .arg = all, .observer = &o };

	return app_check(path, &c, r, d);
}

static void test_damage(void)
{
	struct findings all = { 0 };
	struct app_check_result r;
	struct tacho_diag d = { 0 };
	int fd;

	CHECK_EQ(check(many, &all, &r, &d), 0);
	CHECK_EQ(r.events, 20000);
	CHECK_EQ(r.problems, 0);
	CHECK_EQ(all.problems, 0);
	CHECK_EQ(all.remarks, r.remarks);
	/* a byte of the magic number of the first packet */
	fd = open("many/program_0", O_WRONLY | O_CLOEXEC);
	CHECK_EQ(pwrite(fd, "\0", 1, 0), 1);
	close(fd);
	all = (struct findings){ 0 };
	CHECK_EQ(check(many, &all, &r, &d), 0);
	CHECK(r.problems > 0);
	CHECK_EQ(all.problems, r.problems);
	CHECK(all.byte < 1 << 20 || all.byte == APP_CHECK_NO_BYTE);
	all = (struct findings){ .cancel = true };
	CHECK_EQ(check(many, &all, &r, &d), -ECANCELED);
	d = (struct tacho_diag){ 0 };
	CHECK(check("nowhere", &all, &r, &d) < 0);
	CHECK(strstr(d.text, "nowhere") != NULL);
}

/* ---- stat ------------------------------------------------------------------ */

static void test_stat(void)
{
	struct app_trace t;
	struct app_stat st;
	struct tacho_diag d = { 0 };
	uint64_t sum = 0, lost = 0;

	CHECK_EQ(app_trace_open(&t, small, TACHO_STREAM_UNORDERED, &d), 0);
	CHECK_EQ(app_stat_get(&st, &t, 0, APP_STAT_COUNT, &d), 0);
	CHECK_EQ(st.events, 7);
	for (size_t i = 0; i < st.nr_events; i++) {
		sum += st.event[i].events;
		CHECK(!i || st.event[i].events <= st.event[i - 1].events);
	}
	CHECK_EQ(sum, st.events);
	for (size_t i = 0; i < st.nr_losses; i++)
		lost += st.loss[i].events;
	CHECK_EQ(lost, 5);
	CHECK_EQ(st.info.discarded, 5);
	app_stat_release(&st);
	app_trace_close(&t);
}

/* ---- report ---------------------------------------------------------------- */

static int never(void *arg)
{
	(void)arg;
	return 1;
}

static void report(struct app_lines *lines, uint64_t max, struct tacho_buf *out, int want)
{
	struct app_select select;
	struct app_trace t;
	struct tacho_diag d = { 0 };

	app_select_init(&select);
	select.max = max;
	CHECK_EQ(app_trace_open(&t, small, 0, &d), 0);
	CHECK_EQ(app_select_open(&select, t.stream, &d), 0);
	tacho_buf_init(out, APP_REPORT_MAX);
	CHECK(!app_report_is_live(t.stream));
	CHECK_EQ(app_report(&(struct app_report_config){
			.stream = t.stream, .select = &select, .lines = lines, .out = out,
			.put = never }, &d), want);
	CHECK_EQ(d.err, want);
	app_trace_close(&t);
	app_select_release(&select);
}

static uint32_t lines_of(struct tacho_buf *out)
{
	uint32_t n = 0;

	for (const char *s = tacho_buf_str(out); (s = strchr(s, '\n')); s++)
		n++;
	return n;
}

static void test_report(void)
{
	struct app_lines lines;
	struct tacho_diag d = { 0 };
	struct tacho_buf out;

	app_lines_init(&lines);
	app_lines_set(&lines, APP_LINES_JSON);
	report(&lines, 2, &out, 0);
	CHECK(tacho_buf_str(&out)[0] == '{');
	CHECK(lines_of(&out) >= 2 && lines_of(&out) <= 3);
	tacho_buf_release(&out);
	CHECK_EQ(app_lines_format(&lines, "nonsense", &d), -EINVAL);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(app_lines_fields(&lines, "a,,b", &d), -EINVAL);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(app_lines_fields(&lines, "no_event_has_it", &d), 0);
	report(&lines, 0, &out, -EINVAL);
	CHECK_EQ(out.len, 0);
	tacho_buf_release(&out);
	app_lines_release(&lines);
}

/* ---- sessions -------------------------------------------------------------- */

static void test_sessions(void)
{
	static const char *const globs[] = { "shop:*", "!shop:cart" };
	const int32_t nobody = INT32_MAX;
	struct app_session_config c = {
		.name = "look", .clock = -1, .buffer_size = 1 << 20, .overwrite = true,
		.events = globs, .nr_events = 2, .stopped = true,
	};
	struct tacho_session s;
	struct tacho_dir dir;
	struct app_status st;
	struct tacho_diag d = { 0 };

	CHECK_EQ(app_session_create(&dir, &s, &c, &d), 0);
	app_session_close(&dir, &s);
	CHECK_EQ(app_session_create(&dir, &s, &c, &d), -EEXIST);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(app_status_get(&st, NULL, &d), 0);
	CHECK(st.sessions && !st.sessions->next && !st.processes && !st.err);
	CHECK_EQ(st.sessions->info.state, APP_SESSION_STOPPED);
	CHECK(st.sessions->info.overwrite && !st.sessions->info.recorder);
	CHECK(st.sessions->sums.memory >= 1 << 20);
	CHECK_EQ(st.sessions->sums.counts.written, 0);
	CHECK_STR(st.sessions->rules->events, "shop:*");
	CHECK_STR(st.sessions->rules->next->events, "shop:cart");
	CHECK(!st.sessions->rules->next->enable);
	app_status_release(&st);
	CHECK_EQ(app_session_destroy("look", NULL, &d), 0);
	CHECK_EQ(app_status_get(&st, "look", &d), -ENOENT);
	/* a process that does not run: no session is left */
	d = (struct tacho_diag){ 0 };
	c.pids = &nobody;
	c.nr_pids = 1;
	CHECK_EQ(app_session_create(&dir, &s, &c, &d), -ESRCH);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(app_session_destroy("look", NULL, &d), -ENOENT);
}

/* ---- events, probes, mounts ------------------------------------------------- */

static int count(void *arg, const struct app_list_event *event)
{
	(void)event;
	++*(uint32_t *)arg;
	return 0;
}

static void test_list(void)
{
	const struct app_list_config all = { .formats = true };
	struct tacho_diag d = { 0 };
	uint32_t n = 0;

	CHECK_EQ(app_list_programs(&all, count, &n, &d), 0);
	CHECK_EQ(n, 0);
}

static void test_probe(void)
{
	static const char *const good[] = { "p:mine/one do_sys_open name=%di:x64" };
	static const char *const bad[] = { "p:mine/one do_sys_open name=%di:nonsense" };
	struct app_probe_config c = { .spec = good, .nr_specs = 1, .group = APP_PROBE_GROUP };
	struct app_probe_set set;
	struct tacho_diag d = { 0 };
	struct tacho_buf caret;

	CHECK_EQ(app_probe_make(&set, &c, &d), 0);
	CHECK_EQ(set.nr, 1);
	CHECK_STR(set.line[0].event, "mine:one");
	app_probe_set_release(&set);
	c.spec = bad;
	CHECK(app_probe_make(&set, &c, &d) < 0);
	CHECK_STR(set.wrong, bad[0]);
	tacho_buf_init(&caret, 4096);
	app_probe_caret(&set, &d, &caret);
	CHECK(strstr(tacho_buf_str(&caret), "^\n") != NULL);
	tacho_buf_release(&caret);
	app_probe_set_release(&set);
	c.program = "/nowhere/at/all";
	d = (struct tacho_diag){ 0 };
	CHECK(app_probe_make(&set, &c, &d) < 0);
	app_probe_set_release(&set);
	CHECK(app_probe_is_name("a_1") && !app_probe_is_name("1a"));
}

static void test_mount(void)
{
	struct tacho_diag d = { 0 };
	char *full;

	CHECK_EQ(app_mount_check(small, false, &full, &d), -ENOTEMPTY);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(app_mount_check("small/metadata", false, &full, &d), -ENOTDIR);
	d = (struct tacho_diag){ 0 };
	CHECK_EQ(app_umount(small, NULL, &d), -EINVAL);
	CHECK(strstr(d.text, small) != NULL);
}

/* The run-time directory of this test alone. */
static int set_run_dir(const char *dir)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "%s/run", dir);
	return setenv("TACHO_DIR", path, 1);
}

int main(int argc, char **argv)
{
	char dir[] = "/tmp/tacho-look-XXXXXX";

	test_args(argc, argv);
	if (!mkdtemp(dir) || chdir(dir) || set_run_dir(dir) ||
	    system("\"$MAKE_TRACE\" many many && \"$MAKE_TRACE\" small small && mkdir -m 700 run")) {
		fprintf(stderr, "cannot make traces with $MAKE_TRACE\n");
		return 1;
	}
	TEST(test_damage());
	TEST(test_stat());
	TEST(test_report());
	TEST(test_sessions());
	TEST(test_list());
	TEST(test_probe());
	TEST(test_mount());
	CHECK(!system("rm -rf many small run"));
	CHECK(!chdir("/"));
	CHECK(!rmdir(dir));
	return test_done();
}
