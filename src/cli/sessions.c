// SPDX-License-Identifier: MIT
/* create start stop enable disable destroy snapshot: one session, one change. */
#include <getopt.h>

#include "app/output.h"
#include "app/session.h"
#include "app/session_kernel.h"
#include "app/snapshot.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/list_arg.h"

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
	struct app_session_config config;
	struct cli_list events, pids;
	int32_t pid[CLI_LIST_MAX];
	bool json;
};

static int create_one(struct create *c, int opt, char *arg)
{
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
		size = opt == 'b' ? &c->config.buffer_size : &c->config.subbuf_size;
		if (tacho_parse_size(arg, size) || !*size)
			return cli_usage("'%s' is not a size (64K, 16M, ...)", arg);
		return -1;
	case OPT_CLOCK:
		c->config.clock = app_clock_by_name(arg);
		if (c->config.clock < 0)
			return cli_usage("there is no clock '%s'", arg);
		return -1;
	case OPT_FLIGHT:
		c->config.overwrite = true;
		return -1;
	case OPT_DIR:
		c->config.dir = arg;
		return -1;
	case OPT_STOPPED:
		c->config.stopped = true;
		return -1;
	case OPT_FOLLOW:
		c->config.follow = true;
		return -1;
	default:
		return cli_common(opt, &c->json);
	}
}

static int create(struct create *c, const char *name)
{
	struct tacho_session s;
	struct tacho_dir dir;
	struct tacho_diag d = { 0 };
	const char *bad;

	if (cli_list_pids(&c->pids, c->pid, &bad))
		return cli_usage("'%s' is not a process id", bad);
	c->config.name = name;
	c->config.events = c->events.item;
	c->config.nr_events = c->events.nr;
	c->config.pids = c->pid;
	c->config.nr_pids = c->pids.nr;
	if (app_session_create(&dir, &s, &c->config, &d))
		return cli_fail_diag(&d);
	if (c->json)
		say_json(name, "bit", s.bit);
	app_session_close(&dir, &s);
	return CLI_OK;
}

static int create_run(int argc, char **argv)
{
	struct create c = { .config = { .clock = -1 } };
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqe:p:b:", create_options,
				  NULL)) != -1) {
		ret = create_one(&c, opt, optarg);
		if (ret >= 0)
			return ret;
	}
	if (optind + 1 != argc)
		return cli_usage("name one session");
	return create(&c, argv[optind]);
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
static int for_each_name(int argc, char **argv, int (*fn)(const char *name, bool json))
{
	bool json;
	int ret = plain_parse(argc, argv, &json);

	if (ret >= 0)
		return ret;
	ret = CLI_OK;
	for (int i = optind; i < argc; i++) {
		int one = fn(argv[i], json);

		ret = ret ? ret : one;
	}
	return ret;
}

static int run_one(const char *name, bool json, bool recording)
{
	struct tacho_session s;
	struct tacho_dir dir;
	struct tacho_diag d = { 0 };
	int ret = CLI_OK;

	if (app_session_open(&dir, &s, name, &d))
		return cli_fail_diag(&d);
	if (app_session_run(&s, recording, &d))
		ret = cli_fail_diag(&d);
	else if (json)
		say_json(s.name, "recording", recording);
	app_session_close(&dir, &s);
	return ret;
}

static int start_one(const char *name, bool json)
{
	return run_one(name, json, true);
}

static int stop_one(const char *name, bool json)
{
	return run_one(name, json, false);
}

static int destroy_one(const char *name, bool json)
{
	struct tacho_diag d = { 0 };

	if (app_session_destroy(name, &cli_observer, &d))
		return cli_fail_diag(&d);
	if (json)
		say_json(name, "destroyed", 1);
	return CLI_OK;
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
	return for_each_name(argc, argv, destroy_one);
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

static int set_rules(const char *name, bool enable, char **globs, size_t nr, bool json)
{
	struct tacho_session s;
	struct tacho_dir dir;
	struct tacho_diag d = { 0 };
	uint64_t matched;
	int ret = CLI_OK;

	if (app_session_open(&dir, &s, name, &d))
		return cli_fail_diag(&d);
	if (app_session_rules(&s, enable, (const char *const *)globs, nr, &cli_observer, &matched,
			      &d))
		ret = cli_fail_diag(&d);
	else if (json)
		say_json(name, "matched", matched);
	app_session_close(&dir, &s);
	return ret;
}

static int rule_run(int argc, char **argv, bool enable)
{
	const char *name = NULL;
	bool json = false;
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
	return set_rules(name, enable, argv + optind, (size_t)(argc - optind), json);
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
	if (app_session_open(&dir, &s, argv[optind], &d))
		return cli_fail_diag(&d);
	if (app_snapshot(&s, output, given, NULL, &done, &d))
		ret = cli_fail_diag(&d);
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
