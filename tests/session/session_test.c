// SPDX-License-Identifier: MIT
/*
 * session_test - <tacho/session.h> as programs have it: the program records itself, and the
 * kernel where that is allowed.  The argument is tacho(1), which must see the same.  TAP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tacho/session.h>
#include <tacho/stream.h>

#define FORK	"sched:sched_process_fork"

#define CREATE_TRACE_POINTS
#include "hello_trace.h"

static int nr, failed;
static const char *tacho;
static char name[32], dir[] = "/tmp/tacho-session-XXXXXX";

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++nr, what);
	failed += !good;
}

/* A call's result, and the message that goes with it. */
static void ends(struct tacho_ctl *ctl, int ret, int want, const char *text, const char *what)
{
	const struct tacho_error *e = tacho_ctl_error(ctl);
	bool good = ret == want && (ret >= 0 || (e->err == ret && strstr(e->text, text)));

	ok(good, what);
	if (!good)
		printf("# %d, not %d: %s\n", ret, want, e->text);
}

static struct tacho_ctl *create(uint32_t flags)
{
	struct tacho_ctl_config config;
	struct tacho_error e;
	struct tacho_ctl *ctl;

	tacho_ctl_config_init(&config);
	config.name = name;
	config.flags = flags;
	config.buffer_size = 1 << 20;
	config.kernel_buffer_size = 1 << 20;
	if (!tacho_ctl_create(&ctl, &config, &e))
		return ctl;
	printf("Bail out! %s\n", e.text);
	exit(1);
}

static void destroy(struct tacho_ctl *ctl)
{
	struct tacho_error e = { 0, 0, "" };
	int err = tacho_ctl_destroy(ctl, &e);

	ok(!err, "destroy");
	if (err)
		printf("# %s\n", e.text);
}

static void greet(int from, int to)
{
	for (int i = from; i < to; i++)
		trace_greet(i, "test");
}

/* The tool does a verb to the session. */
static bool tool(const char *verb)
{
	char command[512];

	snprintf(command, sizeof(command), "%s %s %s >/dev/null 2>&1", tacho, verb, name);
	return !system(command);
}

/* ---- configurations -------------------------------------------------------- */

struct later_config {
	struct tacho_ctl_config c;
	uint64_t more;
};

static void refused(const struct tacho_ctl_config *c, int want, const char *text, const char *what)
{
	struct tacho_error e = { 0, 0, "" };
	struct tacho_ctl *ctl = NULL;
	int ret = tacho_ctl_create(&ctl, c, &e);

	ok(ret == want && !ctl && e.err == want && strstr(e.text, text), what);
	if (ret != want)
		printf("# %d %s\n", ret, e.text);
	if (!ret)
		tacho_ctl_destroy(ctl, NULL);
}

static void configurations(void)
{
	struct later_config later;
	struct tacho_ctl_config c;
	struct tacho_error e;
	struct tacho_ctl *ctl;

	tacho_ctl_config_init(&c);
	refused(&c, -EINVAL, "names no session", "no name");
	c.name = "a/b";
	refused(&c, -EINVAL, "not a session name", "a bad name");
	c.name = name;
	c.clock = "sundial";
	refused(&c, -EINVAL, "no clock 'sundial'", "a bad clock");
	c.clock = NULL;
	c.subbuf_size = 12345;
	refused(&c, -EINVAL, "power of two", "a bad size");
	c.subbuf_size = 0;
	c.flags = 1u << 30;
	refused(&c, -EINVAL, "unknown flags", "a flag of a later version");
	c.flags = 0;
	c.struct_size = 8;
	refused(&c, -EINVAL, "struct_size", "a struct that is too small");
	memset(&later, 0, sizeof(later));
	later.c.struct_size = sizeof(later);
	later.c.name = name;
	later.c.buffer_size = 1 << 20;
	later.more = 1;
	refused(&later.c, -E2BIG, "does not know", "a member that is not known");
	later.more = 0;
	ok(!tacho_ctl_create(&ctl, &later.c, &e), "a later struct whose new members are 0");
	ok(!strcmp(tacho_ctl_name(ctl), name) && strstr(tacho_ctl_directory(ctl), name),
	   "name and directory");
	tacho_ctl_config_init(&c);
	c.name = name;
	refused(&c, -EEXIST, "exists already", "a name that is taken");
	destroy(ctl);
	ok(tacho_ctl_open(&ctl, name, &e) == -ENOENT && !ctl && strstr(e.text, "no session"),
	   "a destroyed session cannot be opened");
	tacho_ctl_close(NULL);
}

/* ---- rules and commands ---------------------------------------------------- */

static int find_name(const char *session, const char *directory, void *arg)
{
	*(bool *)arg |= !strcmp(session, name) && strstr(directory, name);
	return 0;
}

static int add_event(const char *event, void *arg)
{
	*(int *)arg += !strcmp(event, "hello:greet");
	return 0;
}

static int add_rule(bool enable, const char *events, void *arg)
{
	strcat(strcat(strcat((char *)arg, enable ? "+" : "-"), events), " ");
	return 0;
}

static int add_command(const struct tacho_ctl_command *c, void *arg)
{
	char *to = (char *)arg + strlen((char *)arg);

	sprintf(to, "%u %s %s;", c->kind, c->events, c->text);
	return c->struct_size < sizeof(*c) ? -1 : 0;
}

static int stop_at_once(const char *event, void *arg)
{
	(void)event;
	++*(int *)arg;
	return 42;
}

static void rules(void)
{
	struct tacho_ctl *ctl = create(TACHO_CTL_STOPPED);
	uint32_t matched = 99;
	char text[512] = "";
	bool found = false;
	int events = 0;

	ok(!tacho_ctl_list(find_name, &found, NULL) && found, "list");
	ends(ctl, tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "hello:*", &matched), 0, "", "enable");
	ok(matched == 1, "matched");
	ends(ctl, tacho_ctl_disable(ctl, TACHO_CTL_PROGRAMS, "other:*", &matched), 0, "",
	     "disable");
	ok(!matched, "nothing matched");
	ends(ctl, tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "", NULL), -EINVAL, "event name",
	     "no event");
	ok(!tacho_ctl_each_rule(ctl, add_rule, text) && !strcmp(text, "+hello:* -other:* "),
	     "rules");
	ok(!tacho_ctl_each_event(ctl, TACHO_CTL_PROGRAMS, add_event, &events) && events == 1,
	     "events");
	events = 0;
	ok(tacho_ctl_each_event(ctl, TACHO_CTL_PROGRAMS, stop_at_once,
	     &events) == 42 && events == 1,
	   "a callback ends the list");
	ends(ctl, tacho_ctl_filter(ctl, TACHO_CTL_PROGRAMS, "hello:greet",
	     "round > 1 && nix == 2", NULL),
	     -EINVAL, "", "a bad filter");
	ok(tacho_ctl_error(ctl)->offset >= 13, "the column of its mistake");
	ends(ctl, tacho_ctl_filter(ctl, TACHO_CTL_PROGRAMS, "hello:greet", "round > 1", &matched),
	     0, "",
	     "a filter");
	ends(ctl, tacho_ctl_trigger(ctl, TACHO_CTL_PROGRAMS, "hello:greet", "nonsense", NULL),
	     -EINVAL,
	     "", "a bad trigger");
	ends(ctl, tacho_ctl_trigger(ctl, TACHO_CTL_PROGRAMS, "hello:greet", "hist:keys=round",
	     NULL), 0,
	     "", "a trigger");
	ends(ctl, tacho_ctl_trigger(ctl, TACHO_CTL_PROGRAMS, "hello:greet", "!traceoff", NULL),
	     -ENOENT,
	     "", "a trigger that is not there");
	ends(ctl, tacho_ctl_synth(ctl, "late u64 lat"), 0, "", "a synthetic event");
	text[0] = '\0';
	ok(!tacho_ctl_each_command(ctl, TACHO_CTL_PROGRAMS, add_command, text) &&
	   strstr(text, "1 hello:greet round > 1;") && strstr(text,
	     "2 hello:greet hist:keys=round") &&
	   strstr(text, "late u64 lat"), "commands");
	ends(ctl, tacho_ctl_synth(ctl, "!late"), 0, "", "removed again");
	destroy(ctl);
}

/* ---- recording ------------------------------------------------------------- */

/* Records of a trace that are called so. */
static int count(const char *trace, const char *event)
{
	struct tacho_error e;
	struct tacho_stream *s;
	struct tacho_record r;
	int n = 0, status;

	if (tacho_stream_open(&s, trace, 0, &e)) {
		printf("# %s\n", e.text);
		return -1;
	}
	while ((status = tacho_stream_next(s, &r)) == TACHO_STREAM_RECORD)
		n += !strcmp(tacho_type_name(r.type), event);
	tacho_stream_close(s);
	return status == TACHO_STREAM_ERROR ? -1 : n;
}

static void recording(void)
{
	struct tacho_ctl *ctl = create(TACHO_CTL_STOPPED), *other;
	const int32_t self = getpid();
	struct tacho_ctl_status st;
	struct tacho_ctl_buffer b;
	uint64_t events = 99, sum = 0;
	char trace[64];
	uint32_t i;

	ok(!tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "hello:greet", NULL) &&
	   !tacho_ctl_set_pids(ctl, &self, 1, true) && !tacho_ctl_set_not_pids(ctl, NULL, 0, true),
	   "processes");
	greet(0, 3);
	memset(&st, 0xff, sizeof(st));
	ok(!tacho_ctl_get_status(ctl, &st) && st.state == TACHO_CTL_NOT_RECORDING &&
	   !st.programs.attempted && st.memory && !*st.kernel_instance && !st.recorder, "stopped");
	ends(ctl, tacho_ctl_start(ctl), 0, "", "start");
	greet(0, 100);
	ends(ctl, tacho_ctl_stop(ctl), 0, "", "stop");
	greet(0, 3);
	ok(!tacho_ctl_get_status(ctl, &st) && st.programs.written == 100 &&
	   st.programs.attempted == st.programs.written + st.programs.discarded &&
	   !st.programs.overwritten && !st.flags, "100 records");
	for (i = 0; !tacho_ctl_get_buffer(ctl, TACHO_CTL_PROGRAMS, i, &b); i++)
		sum += b.counts.written;
	ok(i == st.nr_buffers && sum == 100, "the sum of its buffers");
	ends(ctl, tacho_ctl_snapshot(ctl, "/nonexistent/trace", NULL), -ENOENT, "", "no directory");
	ends(ctl, tacho_ctl_snapshot(ctl, "/usr", NULL), -ENOTEMPTY, "not empty",
	     "a full directory");
	snprintf(trace, sizeof(trace), "%s/one", dir);
	ends(ctl, tacho_ctl_snapshot(ctl, trace, &events), 0, "", "snapshot");
	ok(events == 100 && count(trace, "greet") == 100, "with all of them");
	snprintf(trace, sizeof(trace), "%s/two", dir);
	ok(!tacho_ctl_start(ctl), "start again");
	greet(0, 7);
	ok(!tacho_ctl_snapshot(ctl, trace, &events) &&
	   events == 7, "the next one has what came since");
	ok(!tacho_ctl_open(&other, name, NULL) && !tacho_ctl_get_status(other, &st) &&
	   st.programs.written == 107 && st.state == TACHO_CTL_RECORDING, "another handle");
	destroy(other);
	ends(ctl, tacho_ctl_start(ctl), -ENOENT, "", "start of a destroyed one");
	ends(ctl, tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "a:b", NULL), -ENOENT, "destroyed",
	     "a rule of a destroyed one");
	ends(ctl, tacho_ctl_snapshot(ctl, trace, NULL), -ENOENT, "destroyed", "its snapshot");
	ok(!tacho_ctl_get_status(ctl, &st) && st.state == TACHO_CTL_DEAD, "its status");
	ok(tacho_ctl_destroy(ctl, NULL) == -ENOENT, "it cannot be destroyed again");
}

/* ---- what goes wrong ------------------------------------------------------- */

/* A struct of another library, of a destroyed session. */
static void misused(void)
{
	struct tacho_ctl *ctl = create(0), *other;
	struct tacho_ctl_status st = { .struct_size = sizeof(st) - 8 };
	struct tacho_ctl_buffer b = { .struct_size = 8 };

	ends(ctl, tacho_ctl_fill_status(ctl, &st), -EINVAL, "struct_size", "a small status");
	ends(ctl, tacho_ctl_fill_buffer(ctl, TACHO_CTL_PROGRAMS, 0, &b), -EINVAL, "struct_size",
	     "a small buffer");
	ok(!tacho_ctl_open(&other, name, NULL), "open");
	destroy(ctl);
	ends(other, tacho_ctl_start(other), -ENOENT, "is destroyed", "start of a destroyed one");
	ends(other, tacho_ctl_stop(other), -ENOENT, "is destroyed", "stop of a destroyed one");
	tacho_ctl_close(other);
}

/* What a full disk takes of a snapshot is counted. */
static void full_disk(void)
{
	struct tacho_ctl *ctl = create(0);
	struct tacho_ctl_status st;
	unsigned long long missing = 0;
	char disk[64], trace[80];
	const char *number;
	int there;

	snprintf(disk, sizeof(disk), "%s/disk", dir);
	snprintf(trace, sizeof(trace), "%s/trace", disk);
	if (mkdir(disk, 0700) || mount("tacho", disk, "tmpfs", 0, "size=400k")) {
		printf("# no right to mount a tmpfs: a full disk is not tried\n");
		destroy(ctl);
		return;
	}
	ok(!tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "hello:*", NULL), "enable");
	greet(0, 20000);
	ok(!tacho_ctl_get_status(ctl, &st) && st.programs.written > 10000, "many records");
	ends(ctl, tacho_ctl_snapshot(ctl, trace, NULL), -ENOSPC, "No space left",
	     "a snapshot to a full disk");
	number = strstr(tacho_ctl_error(ctl)->text, "; ");
	if (number)
		missing = strtoull(number + 2, NULL, 10);
	there = count(trace, "greet");
	ok(missing && there > 0 && missing + (unsigned long long)there == st.programs.written,
	   "the message says how many are missing");
	printf("# %d of %d: %s\n", there, (int)st.programs.written, tacho_ctl_error(ctl)->text);
	destroy(ctl);
	ok(!umount(disk), "umount");
}

static void overwriting(void)
{
	struct tacho_ctl *ctl = create(TACHO_CTL_OVERWRITE);
	struct tacho_ctl_status st;
	char live[64];

	ok(!tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "hello:*", NULL), "enable");
	greet(0, 200000);
	ok(!tacho_ctl_stop(ctl) && !tacho_ctl_get_status(ctl, &st) &&
	   st.flags == TACHO_CTL_OVERWRITE && st.programs.attempted == 200000 &&
	   st.programs.overwritten && !st.programs.discarded, "old records are overwritten");
	snprintf(live, sizeof(live), "session:%s", name);
	tacho_ctl_close(ctl);
	ok(count(live, "greet") == (int)(st.programs.written - st.programs.overwritten),
	   "the rest can be read live, after the handle is closed");
	ok(!tacho_ctl_open(&ctl, name, NULL), "open");
	destroy(ctl);
}

/* ---- histograms ------------------------------------------------------------ */

/* A histogram as lines, "column=text(number)", after its event and its sums. */
static int add_hist(struct tacho_ctl_hist *hist, void *arg)
{
	struct tacho_ctl_hist_column c;
	struct tacho_ctl_hist_info info;
	struct tacho_ctl_hist_cell cell;
	char *out = arg;

	ok(!tacho_ctl_hist_get_info(hist, &info), "a histogram");
	sprintf(out + strlen(out), "%s keys=%u hits=%d dropped=%d\n", tacho_ctl_hist_event(hist),
		info.nr_keys, (int)info.hits, (int)info.dropped);
	for (uint32_t row = 0; row < info.nr_rows; row++)
		for (uint32_t i = 0; i < info.nr_columns; i++) {
			ok(!tacho_ctl_hist_get_column(hist, i, &c) &&
			   !tacho_ctl_hist_get_cell(hist, row, i, &cell), "a cell");
			sprintf(out + strlen(out), "%s=%s(%d..%d)%s", c.name, cell.text,
				(int)cell.number, (int)cell.high,
				i + 1 < info.nr_columns ? " " : "\n");
		}
	ok(tacho_ctl_hist_get_column(hist, info.nr_columns, &c) == -ENOENT &&
	   tacho_ctl_hist_get_cell(hist, info.nr_rows, 0, &cell) == -ENOENT &&
	   tacho_ctl_hist_get_cell(hist, 0, info.nr_columns, &cell) == -ENOENT, "no more of it");
	cell.struct_size = 8;
	info.struct_size = 8;
	c.struct_size = 8;
	ok(tacho_ctl_hist_fill_cell(hist, 0, 0, &cell) == -EINVAL &&
	   tacho_ctl_hist_fill_info(hist, &info) == -EINVAL &&
	   tacho_ctl_hist_fill_column(hist, 0, &c) == -EINVAL, "structs that are too small");
	return 0;
}

static int add_text(struct tacho_ctl_hist *hist, void *arg)
{
	strcat(arg, tacho_ctl_hist_text(hist));
	return 0;
}

static int refuse_hist(struct tacho_ctl_hist *hist, void *arg)
{
	(void)hist;
	++*(int *)arg;
	return 7;
}

/* What 'tacho hist -s' prints, but for the line with the event. */
static bool same_as_tool(const char *text)
{
	char command[512], theirs[4096] = "";
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "%s hist -s %s | sed 1d", tacho, name);
	f = popen(command, "r");
	n = f ? fread(theirs, 1, sizeof(theirs) - 1, f) : 0;
	theirs[n] = '\0';
	return f && !pclose(f) && !strcmp(theirs, text);
}

static void histograms(void)
{
	struct tacho_ctl *ctl = create(TACHO_CTL_STOPPED), *other;
	char text[4096] = "";
	int n = 0;

	ends(ctl, tacho_ctl_trigger(ctl, TACHO_CTL_PROGRAMS, "hello:greet",
				    "hist:keys=whom,round.log2:vals=round:sort=whom.descending",
				    NULL), 0, "", "a hist trigger");
	greet(5, 7);
	greet(3, 4);
	trace_greet(-2, "other");
	ends(ctl, tacho_ctl_each_hist(ctl, TACHO_CTL_PROGRAMS, NULL, add_hist, text), 0, "",
	     "histograms");
	ok(!strcmp(text, "hello:greet keys=2 hits=4 dropped=0\n"
		   "whom=test(0..0) round.log2=3..4(3..4) hitcount=1(1..1) round=3(3..3)\n"
		   "whom=test(0..0) round.log2=5..8(5..8) hitcount=2(2..2) round=11(11..11)\n"
		   "whom=other(0..0) round.log2=9223372036854775809..18446744073709551615(1..-1) "
		   "hitcount=1(1..1) round=-2(-2..-2)\n"), "as data");
	for (char *at = text; (at = strchr(at, '\n'));)
		*at = '|';
	printf("# %s\n", text);
	text[0] = '\0';
	ok(!tacho_ctl_each_hist(ctl, TACHO_CTL_PROGRAMS, "hello:*", add_text, text) &&
	   strstr(text, "# event histogram\n") == text && strstr(text, "    Hits: 4\n"), "as text");
	ok(same_as_tool(text), "which is what 'tacho hist -s' prints");
	ok(!tacho_ctl_each_hist(ctl, TACHO_CTL_PROGRAMS, "hello:nosuch", refuse_hist, &n) && !n,
	   "none of other events");
	ok(tacho_ctl_each_hist(ctl, TACHO_CTL_PROGRAMS, NULL, refuse_hist, &n) == 7 && n == 1,
	   "what fn returns");
	ends(ctl, tacho_ctl_each_hist(ctl, TACHO_CTL_KERNEL, NULL, refuse_hist, &n), -ENOENT,
	     "nothing of the kernel", "none of the kernel");
	ok(!tacho_ctl_open(&other, name, NULL), "open");
	destroy(other);
	ends(ctl, tacho_ctl_each_hist(ctl, TACHO_CTL_PROGRAMS, NULL, refuse_hist, &n), -ENOENT,
	     "is destroyed", "of a destroyed one");
	tacho_ctl_close(ctl);
}

/* ---- continuous recording --------------------------------------------------- */

static char notes[2048];

static void keep_note(void *arg, const char *text)
{
	(void)arg;
	strncat(notes, text, sizeof(notes) - strlen(notes) - 1);
}

static void recording_config(struct tacho_ctl_recording_config *c, const char *trace)
{
	static const char *const events[] = { "hello:*" };

	tacho_ctl_recording_config_init(c);
	c->output = trace;
	c->name = name;
	c->events = events;
	c->nr_events = 1;
	c->buffer_size = 1 << 20;
	c->note = keep_note;
}

static void recording_refused(const struct tacho_ctl_recording_config *c, int want,
			      const char *text, const char *what)
{
	struct tacho_ctl_recording *rec;
	struct tacho_error e;
	int err = tacho_ctl_recording_open(&rec, c, &e);
	bool good = err == want && e.err == want && !rec && strstr(e.text, text);

	ok(good, what);
	if (!good)
		printf("# %d, not %d: %s\n", err, want, e.text);
}

static void recording_configurations(const char *trace)
{
	const struct tacho_ctl_recording_control wrong = { "hello:greet", "round >" };
	struct { struct tacho_ctl_recording_config c; uint64_t more; } later;
	struct tacho_ctl_recording_config c;

	recording_config(&c, NULL);
	recording_refused(&c, -EINVAL, "no output", "no output");
	recording_config(&c, trace);
	c.nr_events = 0;
	recording_refused(&c, -EINVAL, "no events", "no events");
	recording_config(&c, trace);
	c.flags = 1 << 20;
	recording_refused(&c, -EINVAL, "flags", "unknown flags");
	recording_config(&c, trace);
	c.clock = "sundial";
	recording_refused(&c, -EINVAL, "sundial", "no such clock");
	recording_config(&c, trace);
	c.nr_filters = 17;
	recording_refused(&c, -E2BIG, "at most 16", "too many filters");
	recording_config(&c, trace);
	c.nr_pids = 513;
	recording_refused(&c, -E2BIG, "at most 512", "too many processes");
	recording_config(&c, trace);
	c.filters = &wrong;
	c.nr_filters = 1;
	recording_refused(&c, -EINVAL, "", "a malformed filter");
	recording_config(&c, "/usr");
	recording_refused(&c, -EEXIST, "/usr", "a directory with files");
	recording_config(&c, trace);
	c.struct_size = 8;
	recording_refused(&c, -EINVAL, "struct_size", "a struct that is too small");
	memset(&later, 0, sizeof(later));
	recording_config(&later.c, trace);
	later.c.struct_size = sizeof(later);
	later.more = 1;
	recording_refused(&later.c, -E2BIG, "does not know", "a member that is not known");
}

/* Steps until the trace has so many records. */
static bool step_until(struct tacho_ctl_recording *rec, uint64_t events)
{
	struct tacho_ctl_recording_status st;

	for (int i = 0; i < 600; i++) {
		if (tacho_ctl_recording_step(rec) != 1 ||
		    tacho_ctl_recording_get_status(rec, &st))
			return false;
		if (st.events >= events)
			return st.events == events &&
			       st.state == TACHO_CTL_RECORDING_RUNNING && !st.lost;
	}
	return false;
}

static void continuous(void)
{
	struct tacho_ctl_recording_config c;
	struct tacho_ctl_recording_status st;
	struct tacho_ctl_recording *rec;
	struct tacho_ctl_status status;
	struct tacho_error e = { 0, 0, "" };
	struct tacho_ctl *ctl;
	char trace[64], part[80];

	snprintf(trace, sizeof(trace), "%s/continuous", dir);
	recording_configurations(trace);
	recording_config(&c, trace);
	c.flags = TACHO_CTL_RECORDING_ROTATE;
	ok(!tacho_ctl_recording_open(&rec, &c, &e), "a recording");
	ok(!strcmp(tacho_ctl_recording_name(rec), name) && !tacho_ctl_recording_error(rec)->err,
	   "its name");
	ok(!tacho_ctl_recording_get_status(rec, &st) && st.state == TACHO_CTL_RECORDING_READY &&
	   !st.events && !st.duration_ns, "is ready");
	ok(tacho_ctl_recording_step(rec) == -EINVAL && tacho_ctl_recording_finish(rec) == -EINVAL &&
	   strstr(tacho_ctl_recording_error(rec)->text, "not started"), "and was not started");
	greet(0, 3);
	ok(!tacho_ctl_open(&ctl, name, NULL) &&
	   !tacho_ctl_filter(ctl, TACHO_CTL_PROGRAMS, "hello:greet", "round < 1000", NULL),
	   "its session can be changed");
	ok(!tacho_ctl_recording_start(rec) && tacho_ctl_recording_start(rec) == -EINVAL, "start");
	greet(990, 1010);
	ok(step_until(rec, 10), "ten records");
	ok(!tacho_ctl_recording_rotate(rec) && tacho_ctl_recording_step(rec) == 1 &&
	   !tacho_ctl_recording_get_status(rec, &st) && st.traces == 2, "rotate");
	greet(0, 5);
	ok(step_until(rec, 15), "five more");
	ok(!tacho_ctl_get_status(ctl, &status) && status.recorder == getpid() &&
	   status.recorder_runs && strstr(status.output, trace), "the session has a recorder");
	snprintf(part, sizeof(part), "%s/other", dir);
	ends(ctl, tacho_ctl_snapshot(ctl, part, NULL), -EBUSY, "records", "a snapshot is refused");
	tacho_ctl_recording_stop(rec);
	greet(0, 2);
	ok(!tacho_ctl_recording_run(rec) && !tacho_ctl_recording_get_status(rec, &st) &&
	   st.state == TACHO_CTL_RECORDING_OVER, "stop");
	ok(!tacho_ctl_recording_finish(rec) && tacho_ctl_recording_finish(rec) == -EINVAL &&
	   strstr(tacho_ctl_recording_error(rec)->text, "finished"), "finish");
	ok(!tacho_ctl_recording_get_status(rec, &st) && st.state == TACHO_CTL_RECORDING_FINISHED &&
	   st.events == 17 && !st.lost && !st.unread && st.traces == 2 && st.bytes &&
	   st.duration_ns && !st.kernel_events, "17 records in all");
	ok(!tacho_ctl_recording_close(rec, &e), "close");
	ok(count(trace, "greet") == 17, "17 in the trace");
	snprintf(part, sizeof(part), "%s/0001", trace);
	ok(count(part, "greet") == 10, "10 in its first part");
	ok(!tacho_ctl_get_status(ctl, &status) && status.state == TACHO_CTL_DEAD,
	   "the session is gone");
	tacho_ctl_close(ctl);
	ok(tacho_ctl_recording_close(NULL, NULL) == 0, "close nothing");
}

/* One trace, for a time; closed without more ado. */
static void brief(void)
{
	struct tacho_ctl_recording_config c;
	struct tacho_ctl_recording *rec;
	char trace[64];

	snprintf(trace, sizeof(trace), "%s/brief", dir);
	recording_config(&c, trace);
	c.duration_ns = 1;
	notes[0] = '\0';
	ok(!tacho_ctl_recording_open(&rec, &c, NULL) && !tacho_ctl_recording_start(rec), "start");
	ok(tacho_ctl_recording_rotate(rec) == -EINVAL, "it does not rotate");
	greet(0, 4);
	ok(!tacho_ctl_recording_run(rec), "the time is up");
	ok(!tacho_ctl_recording_close(rec, NULL) && count(trace, "greet") == 4,
	   "closed, it is complete");
	c.flags = TACHO_CTL_RECORDING_REPLACE;
	ok(!tacho_ctl_recording_open(&rec, &c, NULL) && !tacho_ctl_recording_close(rec, NULL),
	   "one that is not started replaces it");
}

/* A disk that gets full: said once, and what is missing stays in the session. */
static void full_recording(void)
{
	struct tacho_ctl_recording_config c;
	struct tacho_ctl_recording_status st;
	struct tacho_ctl_recording *rec;
	char disk[64], trace[80], command[300];
	int ret = 1;

	snprintf(disk, sizeof(disk), "%s/disk", dir);
	snprintf(trace, sizeof(trace), "%s/trace", disk);
	if (mount("tacho", disk, "tmpfs", 0, "size=400k"))
		return;
	recording_config(&c, trace);
	c.buffer_size = 4 << 20;
	notes[0] = '\0';
	ok(!tacho_ctl_recording_open(&rec, &c, NULL) && !tacho_ctl_recording_start(rec), "start");
	greet(0, 30000);
	for (int i = 0; i < 100 && ret > 0; i++)
		ret = tacho_ctl_recording_step(rec);
	ok(ret == -ENOSPC && tacho_ctl_recording_error(rec)->err == -ENOSPC, "a full disk");
	ok(!tacho_ctl_recording_get_status(rec, &st) && st.state == TACHO_CTL_RECORDING_FAILED,
	   "the recording has failed");
	ok(tacho_ctl_recording_step(rec) == 1 && strstr(notes, "memory"), "it waits");
	tacho_ctl_recording_stop(rec);
	ok(!tacho_ctl_recording_run(rec) && !tacho_ctl_recording_finish(rec), "stop");
	ok(!tacho_ctl_recording_get_status(rec, &st) && st.unread &&
	   st.events + st.unread + st.lost == 30000, "all are accounted for");
	ok(!tacho_ctl_recording_close(rec, NULL) && strstr(notes, "tacho recover"), "close");
	snprintf(command, sizeof(command), "mount -o remount,size=4M %s && %s recover -q %s", disk,
		 tacho, trace);
	ok(!system(command) && count(trace, "greet") + (int)st.lost == 30000,
	   "'tacho recover' adds the rest");
	ok(!umount(disk), "umount");
}

/* ---- kernel ---------------------------------------------------------------- */

static void kernel(void)
{
	struct tacho_ctl *ctl = create(0), *other;
	struct tacho_ctl_status st;
	struct tacho_ctl_buffer b;
	uint32_t matched = 0, cpus;
	const int32_t self = getpid();
	char trace[96], text[512] = "";
	uint64_t sum = 0;
	int err = tacho_ctl_enable(ctl, TACHO_CTL_KERNEL, FORK, &matched);

	if (err == -EACCES || err == -EPERM || err == -ENOENT || err == -ENODEV) {
		printf("ok %d # SKIP %s\n", ++nr, tacho_ctl_error(ctl)->text);
		destroy(ctl);
		return;
	}
	ends(ctl, err, 0, "", "an event of the kernel");
	ok(matched == 1, "matched");
	ends(ctl, tacho_ctl_enable(ctl, TACHO_CTL_KERNEL, "no:such", NULL), -ENOENT, "no",
	     "one that is not there");
	ends(ctl, tacho_ctl_set_pids(ctl, &self, 1, true), 0, "", "processes");
	ends(ctl, tacho_ctl_filter(ctl, TACHO_CTL_KERNEL, FORK, "parent_pid > 0", NULL),
	     0, "", "a filter of the kernel");
	ends(ctl, tacho_ctl_filter(ctl, TACHO_CTL_KERNEL, "sched:sched_wakeup*", "pid > 0",
				   &matched), 0, "", "a filter of several events");
	ok(matched >= 2, "which are counted");
	ends(ctl, tacho_ctl_filter(ctl, TACHO_CTL_KERNEL, "sched:sched_wakeup*", "0", NULL), 0, "",
	     "it is removed");
	ends(ctl, tacho_ctl_filter(ctl, TACHO_CTL_KERNEL, FORK, "nix > 0", NULL),
	     -EINVAL, "", "a bad filter of the kernel");
	ok(!tacho_ctl_each_command(ctl, TACHO_CTL_KERNEL, add_command, text) &&
	   strstr(text, "1 sched:sched_process_fork parent_pid > 0;"), "its commands");
	ok(!system("true"), "a child");
	ok(!tacho_ctl_get_status(ctl, &st) && st.kernel.written && strstr(st.kernel_instance, name),
	   "its records");
	for (cpus = 0; !tacho_ctl_get_buffer(ctl, TACHO_CTL_KERNEL, cpus, &b); cpus++)
		sum += b.counts.written;
	ok(cpus && sum == st.kernel.written, "the sum of its buffers");
	ok(!tacho_ctl_open(&other, name, NULL), "another handle");
	tacho_ctl_close(ctl);
	snprintf(trace, sizeof(trace), "%s/kernel", dir);
	ends(other, tacho_ctl_snapshot(other, trace, NULL), 0, "", "writes a snapshot");
	ok(count(trace, "sched_process_fork") >= 1, "which has the kernel's events");
	ok(!system("true"), "a child");
	ok(tool("stop") && !tacho_ctl_get_status(other, &st) && st.state == TACHO_CTL_NOT_RECORDING,
	   "'tacho stop' stops both sides");
	sum = st.kernel.written;
	ok(!system("true") && !tacho_ctl_get_status(other, &st) && st.kernel.written == sum,
	   "no more records");
	ok(tool("start") && !system("true") && !tacho_ctl_get_status(other, &st) &&
	   st.kernel.written > sum, "'tacho start' starts both");
	snprintf(trace, sizeof(trace), "snapshot -o %s/tool", dir);
	ok(tool(trace), "'tacho snapshot'");
	snprintf(trace, sizeof(trace), "%s/tool", dir);
	ok(count(trace, "sched_process_fork") >= 2 && !system("true"), "has the kernel's events");
	snprintf(trace, sizeof(trace), "%s/kernel2", dir);
	ends(other, tacho_ctl_disable(other, TACHO_CTL_KERNEL, FORK, &matched), 0, "",
	     "disable");
	ends(other, tacho_ctl_snapshot(other, trace, NULL), 0, "", "another snapshot");
	ok(count(trace, "sched_process_fork") >= 1, "it went on recording");
	destroy(other);
	snprintf(trace, sizeof(trace), "/sys/kernel/tracing/instances/tacho.%s", name);
	ok(access(trace, F_OK) < 0, "nothing is left in the kernel");
}

/* A run-time directory of our own, which libtacho must know when it is loaded. */
static int begin(char **argv)
{
	const char *made = getenv("SESSION_TEST_DIR");
	char run[sizeof(dir) + 8];

	if (made) {
		snprintf(dir, sizeof(dir), "%s", made);
		return 0;
	}
	if (!mkdtemp(dir))
		return 1;
	snprintf(run, sizeof(run), "%s/run", dir);
	setenv("TACHO_DIR", run, 1);
	setenv("SESSION_TEST_DIR", dir, 1);
	execv("/proc/self/exe", argv);
	return 1;
}

int main(int argc, char **argv)
{
	char command[64];

	tacho = argc > 1 ? argv[1] : "tacho";
	snprintf(name, sizeof(name), "api-%d", (int)getpid());
	if (begin(argv))
		return 1;
	ok(tacho_ctl_version() == TACHO_CTL_VERSION, "version");
	configurations();
	rules();
	recording();
	overwriting();
	misused();
	full_disk();
	histograms();
	continuous();
	brief();
	full_recording();
	kernel();
	snprintf(command, sizeof(command), "rm -r %s", dir);
	ok(!system(command), "rm");
	printf("1..%d\n", nr);
	return failed != 0;
}
