// SPDX-License-Identifier: MIT
/* create start stop enable disable destroy snapshot: one session, one change. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/output.h"
#include "app/session.h"
#include "app/session_kernel.h"
#include "app/snapshot.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/list_arg.h"
#include "cli/session.h"
#include "session/session.h"
#include "sys/clock.h"
#include "sys/process.h"

/* {"session": NAME, KEY: value} for those who asked. */
static void say_json(const char *name, const char *key, uint64_t value)
{
	struct tacho_buf b;
	struct tacho_json j;

	tacho_buf_init(&b, 1 << 16);
	tacho_json_init(&j, &b);
	tacho_json_open(&j, '{');
	tacho_json_pair_str(&j, "session", name);
	tacho_json_pair_u64(&j, key, value);
	tacho_json_close(&j, '}');
	(void)cli_write_json(&b);
	tacho_buf_release(&b);
}

/* ---- create ---- */

enum { OPT_SUBBUF = CLI_OPT_FIRST, OPT_FLIGHT, OPT_CLOCK, OPT_DIR, OPT_STOPPED,
       OPT_FOLLOW };

static const struct option create_options[] = {
	CLI_COMMON_OPTIONS,
	{ "events", required_argument, NULL, 'e' },
	{ "pid", required_argument, NULL, 'p' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "subbuf", required_argument, NULL, OPT_SUBBUF },
	{ "flight", no_argument, NULL, OPT_FLIGHT },
	{ "clock", required_argument, NULL, OPT_CLOCK },
	{ "dir", required_argument, NULL, OPT_DIR },
	{ "stopped", no_argument, NULL, OPT_STOPPED },
	{ "follow", no_argument, NULL, OPT_FOLLOW },
	{ NULL, 0, NULL, 0 },
};

struct create {
	struct tacho_session_config cfg;
	struct cli_list events, pids;
	bool follow, json;
};

static int create_one(struct create *c, int opt, char *arg)
{
	enum tacho_clock clock;
	uint64_t *size;

	switch (opt) {
	case 'e':
		if (cli_list_add(&c->events, arg))
			return cli_usage("too many events");
		return -1;
	case 'p':
		if (cli_list_add(&c->pids, arg))
			return cli_usage("too many process ids");
		return -1;
	case 'b':
	case OPT_SUBBUF:
		size = opt == 'b' ? &c->cfg.lane_size : &c->cfg.sub_size;
		if (tacho_parse_size(arg, size) || !*size)
			return cli_usage("'%s' is not a size (64K, 16M, ...)", arg);
		return -1;
	case OPT_CLOCK:
		if (tacho_clock_by_name(arg, &clock))
			return cli_usage("there is no clock '%s'", arg);
		c->cfg.clock = (int)clock;
		return -1;
	case OPT_FLIGHT:
		c->cfg.flags |= TACHO_SESSION_OVERWRITE;
		return -1;
	case OPT_DIR:
		c->cfg.path = arg;
		c->cfg.flags |= TACHO_SESSION_PERSIST;
		return -1;
	case OPT_STOPPED:
		c->cfg.stopped = true;
		return -1;
	case OPT_FOLLOW:
		c->follow = true;
		return -1;
	default:
		return cli_common(opt, &c->json);
	}
}

/* Pids and rules of a new session; CLI_OK or a message was printed. */
static int create_fill(struct tacho_session *s, const struct create *c)
{
	struct tacho_diag d = { 0 };
	int32_t pids[CLI_LIST_MAX];
	const char *bad;

	if (cli_list_pids(&c->pids, pids, &bad))
		return cli_usage("'%s' is not a process id", bad);
	for (size_t i = 0; i < c->pids.nr; i++)
		if (!tacho_process_runs(pids[i]))
			return cli_fail("there is no process %d", pids[i]);
	if (c->events.nr && c->events.item[0][0] == '!' &&
	    tacho_session_rule(s, true, "*:*", NULL, &d))
		return cli_fail_diag(&d);
	if (c->pids.nr && tacho_session_pids(s, pids, (uint32_t)c->pids.nr,
					     c->follow, &d))
		return cli_fail_diag(&d);
	for (size_t i = 0; i < c->events.nr; i++) {
		const char *glob = c->events.item[i];

		if (tacho_session_rule(s, glob[0] != '!', glob + (glob[0] == '!'),
				       NULL, &d))
			return cli_fail_diag(&d);
	}
	return CLI_OK;
}

static int create_run(int argc, char **argv)
{
	struct create c = { .cfg = { .clock = -1 } };
	struct tacho_session s;
	struct tacho_dir dir;
	struct tacho_diag d = { 0 };
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqe:p:b:", create_options,
				  NULL)) != -1) {
		ret = create_one(&c, opt, optarg);
		if (ret >= 0)
			return ret;
	}
	if (optind + 1 != argc)
		return cli_usage("name one session");
	c.cfg.name = argv[optind];
	if (tacho_dir_open(&dir, true, &d))
		return cli_fail_diag(&d);
	if (tacho_session_create(&s, &dir, &c.cfg, &d)) {
		tacho_dir_close(&dir);
		return cli_fail_diag(&d);
	}
	ret = create_fill(&s, &c);
	if (ret)
		(void)tacho_session_destroy(&s, NULL);
	else if (c.json)
		say_json(c.cfg.name, "bit", s.bit);
	app_session_close(&dir, &s);
	return ret;
}

const struct cli_verb cli_create = {
	.name = "create",
	.summary = "create a session that records without a recorder",
	.usage =
"usage: tacho create [OPTIONS] NAME\n"
"\n"
"Creates a session: rules and buffers in shared memory, into which programs\n"
"record until it is destroyed.  Nothing is written to disk; see 'tacho snapshot\n"
"NAME', 'tacho report session:NAME'.\n"
"\n"
"  -e, --events SYS:EV,...  record these events; globs; !SYS:EV excludes\n"
"  -p, --pid PID,...        record these processes only\n"
"      --follow             with -p: also the children that they fork\n"
"      --flight             when full, overwrite the oldest records (default:\n"
"                           discard new ones)\n"
"  -b, --buffer SIZE        buffer size per CPU (default: 16M)\n"
"      --subbuf SIZE        sub-buffer size (default: 256K)\n"
"      --clock NAME         x86-tsc, mono or boot\n"
"      --dir DIR            keep its files in DIR, on a disk that survives a\n"
"                           machine crash: 'tacho recover DIR' reads them\n"
"      --stopped            do not record until 'tacho start NAME'\n"
"      --json               print the session as JSON\n"
"  -h, --help               print this help\n",
	.run = create_run,
};

/* ---- start, stop, destroy ---- */

static const struct option plain_options[] = {
	CLI_COMMON_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

/* Options of a verb that takes names only; -1, or the exit status. */
static int plain_parse(int argc, char **argv, bool *json)
{
	int opt, ret;

	*json = false;
	while ((opt = getopt_long(argc, argv, "hq", plain_options, NULL)) != -1) {
		ret = cli_common(opt, json);
		if (ret >= 0)
			return ret;
	}
	return optind < argc ? -1 : cli_usage("name a session");
}

/* Does one thing to each session named. */
static int for_each_name(int argc, char **argv,
			 int (*fn)(struct tacho_session *s, bool json))
{
	bool json;
	int ret = plain_parse(argc, argv, &json);

	if (ret >= 0)
		return ret;
	ret = CLI_OK;
	for (int i = optind; i < argc; i++) {
		struct tacho_session s;
		struct tacho_dir dir;
		int one = cli_session_open(&dir, &s, argv[i]);

		if (!one) {
			one = fn(&s, json);
			app_session_close(&dir, &s);
		}
		ret = ret ? ret : one;
	}
	return ret;
}

static int run_session(struct tacho_session *s, bool json, bool recording)
{
	struct tacho_diag d = { 0 };

	if (app_session_run(s, recording, &d))
		return cli_fail_diag(&d);
	if (json)
		say_json(s->name, "recording", recording);
	return CLI_OK;
}

static int start_one(struct tacho_session *s, bool json)
{
	return run_session(s, json, true);
}

static int stop_one(struct tacho_session *s, bool json)
{
	return run_session(s, json, false);
}

/* Removes what a mount has made in the kernel for the session; whether there was such. */
static bool destroy_kept(const char *name)
{
	int err = app_session_remove_kept(name);

	if (err && err != -ENOENT && err != -EACCES)
		cli_note("the kernel's instance tacho.%s stays: %s", name, strerror(-err));
	return !err;
}

static int destroy_one(const char *name, bool json)
{
	struct tacho_diag d = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;
	int ret = CLI_OK;

	if (!app_session_open(&dir, &s, name, NULL)) {
		if (tacho_session_destroy(&s, &d))
			ret = cli_fail_diag(&d);
		app_session_close(&dir, &s);
		if (!ret)
			(void)destroy_kept(name);
	} else if (!destroy_kept(name)) {
		ret = cli_session_open(&dir, &s, name);
		if (!ret)
			app_session_close(&dir, &s);
	}
	if (!ret && json)
		say_json(name, "destroyed", 1);
	return ret;
}

static int start_run(int argc, char **argv)
{
	return for_each_name(argc, argv, start_one);
}

static int stop_run(int argc, char **argv)
{
	return for_each_name(argc, argv, stop_one);
}

static int destroy_run(int argc, char **argv)
{
	bool json;
	int ret = plain_parse(argc, argv, &json);

	if (ret >= 0)
		return ret;
	ret = CLI_OK;
	for (int i = optind; i < argc; i++) {
		int one = destroy_one(argv[i], json);

		ret = ret ? ret : one;
	}
	return ret;
}

const struct cli_verb cli_start = {
	.name = "start",
	.summary = "start recording in a session",
	.usage = "usage: tacho start [--json] NAME...\n\n"
		 "Starts recording in stopped sessions again.\n",
	.run = start_run,
};

const struct cli_verb cli_stop = {
	.name = "stop",
	.summary = "stop recording in a session",
	.usage = "usage: tacho stop [--json] NAME...\n\n"
		 "Stops recording in sessions; their events remain enabled, and their\n"
		 "records remain in the buffers.\n",
	.run = stop_run,
};

const struct cli_verb cli_destroy = {
	.name = "destroy",
	.summary = "end a session and free its memory",
	.usage = "usage: tacho destroy [--json] NAME...\n\n"
		 "Ends sessions.  Records that were not written to a trace are lost.\n",
	.run = destroy_run,
};

/* ---- enable, disable ---- */

static const struct option rule_options[] = {
	CLI_COMMON_OPTIONS,
	{ "session", required_argument, NULL, 's' },
	{ NULL, 0, NULL, 0 },
};

static int rule_run(int argc, char **argv, bool enable)
{
	const char *name = NULL;
	struct tacho_session s;
	struct tacho_dir dir;
	struct tacho_diag d = { 0 };
	bool json = false;
	uint32_t sum = 0;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqs:", rule_options, NULL)) != -1) {
		if (opt == 's') {
			name = optarg;
			continue;
		}
		ret = cli_common(opt, &json);
		if (ret >= 0)
			return ret;
	}
	if (!name || optind == argc)
		return cli_usage("name a session (-s NAME) and events (SYS:EV)");
	ret = cli_session_open(&dir, &s, name);
	if (ret)
		return ret;
	for (int i = optind; !ret && i < argc; i++) {
		uint32_t matched;

		if (tacho_session_rule(&s, enable, argv[i], &matched, &d))
			ret = cli_fail_diag(&d);
		else if (!matched)
			cli_note("no event of the running programs matches '%s'; it "
				 "is kept for programs that start later", argv[i]);
		sum += matched;
	}
	if (!ret && json)
		say_json(name, "matched", sum);
	app_session_close(&dir, &s);
	return ret;
}

static int enable_run(int argc, char **argv)
{
	return rule_run(argc, argv, true);
}

static int disable_run(int argc, char **argv)
{
	return rule_run(argc, argv, false);
}

const struct cli_verb cli_enable = {
	.name = "enable",
	.summary = "enable events, in running programs and later ones",
	.usage = "usage: tacho enable -s NAME SYS:EV...\n\n"
		 "Enables events in a session, in running programs and in programs that\n"
		 "start later.  Globs are allowed; a word without ':' is the name of a\n"
		 "system or of an event; the last rule that matches decides.\n",
	.run = enable_run,
};

const struct cli_verb cli_disable = {
	.name = "disable",
	.summary = "disable events",
	.usage = "usage: tacho disable -s NAME SYS:EV...\n\n"
		 "Disables events in a session, in running programs and in programs that\n"
		 "start later.\n",
	.run = disable_run,
};

/* ---- snapshot ---- */

static const struct option snapshot_options[] = {
	CLI_COMMON_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ NULL, 0, NULL, 0 },
};

/* Of linked buffers, which are LKST's, something else can be done. */
static int snapshot_failed(const struct tacho_session *s, const struct tacho_diag *d)
{
	if (d->err == -EBUSY && s->view.ctl->flags & TACHO_SESSION_LINKED)
		return cli_fail("the buffers of session '%s' are LKST's: "
				"'lkstbuf shift' goes to the next ones", s->name);
	return cli_fail_diag(d);
}

static int show_snapshot(const struct tacho_session *s, const char *output,
			 const struct app_snapshot *done, bool json)
{
	if (done->by_recorder) {
		cli_note("snapshot %u is in '%s'", done->by_recorder, done->trace);
		return CLI_OK;
	}
	cli_note("%ju events in %s", (uintmax_t)done->events, output);
	if (json)
		say_json(s->name, "events", done->events);
	return CLI_OK;
}

static int snapshot_run(int argc, char **argv)
{
	const char *output = APP_DEFAULT_TRACE;
	struct app_snapshot done;
	struct tacho_diag d = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;
	bool json = false, given = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqo:", snapshot_options,
				  NULL)) != -1) {
		if (opt == 'o') {
			output = optarg;
			given = true;
			continue;
		}
		ret = cli_common(opt, &json);
		if (ret >= 0)
			return ret;
	}
	if (optind + 1 != argc)
		return cli_usage("name one session");
	ret = cli_session_open(&dir, &s, argv[optind]);
	if (ret)
		return ret;
	if (app_snapshot(&s, output, given, NULL, &done, &d))
		ret = snapshot_failed(&s, &d);
	else
		ret = show_snapshot(&s, output, &done, json);
	app_session_close(&dir, &s);
	return ret;
}

const struct cli_verb cli_snapshot = {
	.name = "snapshot",
	.summary = "write the contents of a session while it keeps recording",
	.usage = "usage: tacho snapshot [-o DIR] NAME\n\n"
		 "Writes the contents of a session to a trace (default: tacho-trace), while\n"
		 "programs keep recording into it.  A snapshot has the records since the previous\n"
		 "one that are still in the buffers.  A session of 'tacho record --flight' is\n"
		 "written by that recorder, into its own directory.\n"
		 "\n"
		 "  -o, --output DIR  write to DIR, which must not exist or must be empty\n"
		 "      --json        print the number of events as JSON\n",
	.run = snapshot_run,
};
