// SPDX-License-Identifier: MIT
/* filter trigger synth: what a session does with its events, besides recording. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/command.h"
#include "app/kernel.h"
#include "app/session.h"
#include "cli/cli.h"

#define LIST_MAX	((size_t)16 << 20)

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	{ "session", required_argument, NULL, 's' },
	{ "kernel", no_argument, NULL, 'k' },
	{ NULL, 0, NULL, 0 },
};

struct change {
	const char *name;	/* of the session */
	bool kernel, json;
	enum tacho_command_kind kind;
	struct tacho_dir dir;
	struct tacho_session session;
};

/* -1: go on; else the exit status. */
static int parse(struct change *c, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqs:k", options, NULL)) != -1) {
		if (opt == 's') {
			c->name = optarg;
			continue;
		}
		if (opt == 'k' && c->kind != TACHO_COMMAND_SYNTH) {
			c->kernel = true;
			continue;
		}
		ret = cli_common(opt, &c->json);
		if (ret >= 0)
			return ret;
	}
	if (!c->name)
		return cli_usage("name a session (-s NAME)");
	return -1;
}

/* ---- the kernel's side ----------------------------------------------------- */

static enum tacho_kernel_control control_of(const struct change *c)
{
	return c->kind == TACHO_COMMAND_FILTER ? TACHO_KERNEL_FILTER :
						 TACHO_KERNEL_TRIGGER;
}

struct kernel_listing {
	bool json;
	struct tacho_buf *out;
	struct tacho_json j;
};

static int list_kernel_one(const struct tacho_kernel_event *ev, const char *text,
			   void *arg)
{
	struct kernel_listing *l = arg;
	char event[APP_EVENT_MAX];

	(void)snprintf(event, sizeof(event), "%s:%s", ev->system, ev->name);
	if (l->json) {
		tacho_json_open(&l->j, '{');
		tacho_json_pair_str(&l->j, "event", event);
		tacho_json_pair_str(&l->j, "text", text);
		tacho_json_close(&l->j, '}');
	} else {
		tacho_buf_printf(l->out, "%s\t%s\n", event, text);
	}
	return 0;
}

static int kernel_list(const struct change *c, const struct app_kernel *k,
		       const char *event)
{
	struct kernel_listing l = { .json = c->json };
	struct tacho_diag d = { 0 };
	struct tacho_buf out;
	int ret;

	l.out = &out;
	tacho_buf_init(&out, LIST_MAX);
	tacho_json_init(&l.j, &out);
	if (c->json)
		tacho_json_open(&l.j, '[');
	ret = tacho_kernel_controls(&k->tracefs, k->instance, control_of(c), event,
				    list_kernel_one, &l, &d) ? cli_fail_diag(&d) : CLI_OK;
	if (c->json)
		tacho_json_close(&l.j, ']');
	if (ret == CLI_OK)
		ret = c->json ? cli_write_json(&out) : cli_write(&out);
	tacho_buf_release(&out);
	return ret;
}

/* event NULL: list all; text NULL: list. */
static int kernel_run(const struct change *c, const char *event, const char *text)
{
	struct tacho_diag d = { 0 };
	struct app_kernel k;
	int ret = CLI_OK;

	if (app_kernel_open(&k, c->name, &d))
		return cli_fail_diag(&d);
	if (!text)
		ret = kernel_list(c, &k, event);
	else if (app_kernel_set(&k, control_of(c), event, text, NULL, &d))
		ret = cli_fail_at(&d, text);
	app_kernel_close(&k);
	return ret;
}

/* ---- the programs' side ---------------------------------------------------- */

struct listing {
	const struct change *change;
	const char *event;	/* only of this glob, or NULL */
	struct tacho_buf *out;
	struct tacho_json json;
};

static int list_one(const struct tacho_command_info *info, void *arg)
{
	struct listing *l = arg;

	if (info->kind != l->change->kind || info->hidden ||
	    (l->event && strcmp(l->event, info->event) != 0))
		return 0;
	if (l->change->json) {
		tacho_json_open(&l->json, '{');
		if (info->event[0])
			tacho_json_pair_str(&l->json, "event", info->event);
		tacho_json_pair_str(&l->json, "text", info->text);
		if (info->left != UINT64_MAX)
			tacho_json_pair_u64(&l->json, "left", info->left);
		tacho_json_close(&l->json, '}');
		return 0;
	}
	if (info->event[0])
		tacho_buf_printf(l->out, "%s\t", info->event);
	tacho_buf_puts(l->out, info->text);
	if (info->left != UINT64_MAX)
		tacho_buf_printf(l->out, "\t(%" PRIu64 " left)", info->left);
	tacho_buf_putc(l->out, '\n');
	return 0;
}

static int list(const struct change *c, const char *event)
{
	struct tacho_buf out;
	struct listing l = { .change = c, .event = event, .out = &out };
	int ret = CLI_OK;

	tacho_buf_init(&out, LIST_MAX);
	tacho_json_init(&l.json, &out);
	if (c->json)
		tacho_json_open(&l.json, '[');
	if (tacho_commands_each(&c->session, list_one, &l))
		ret = cli_fail("out of memory");
	if (c->json)
		tacho_json_close(&l.json, ']');
	if (ret == CLI_OK)
		ret = c->json ? cli_write_json(&out) : cli_write(&out);
	tacho_buf_release(&out);
	return ret;
}

static int set(struct change *c, const char *event, const char *text)
{
	struct tacho_diag d = { 0 };
	uint32_t matched;

	if (app_command_set(&c->session, c->kind, event, text, &matched, &d))
		return cli_fail_at(&d, text);
	if (!matched)
		cli_note("no event of the running programs matches '%s'; it is kept "
			 "for programs that start later", event);
	return CLI_OK;
}

/* ---- both ------------------------------------------------------------------ */

static int run(enum tacho_command_kind kind, int argc, char **argv)
{
	struct change c = { .kind = kind };
	struct tacho_diag d = { 0 };
	int most = kind == TACHO_COMMAND_SYNTH ? 1 : 2;
	int n, ret = parse(&c, argc, argv);

	if (ret >= 0)
		return ret;
	argv += optind;
	n = argc - optind;
	if (n > most)
		return cli_usage("unexpected argument '%s': put the text in quotes", argv[most]);
	if (c.kernel)
		return kernel_run(&c, n ? argv[0] : NULL, n > 1 ? argv[1] : NULL);
	if (app_session_open(&c.dir, &c.session, c.name, &d))
		return cli_fail_diag(&d);
	if (n < most)
		ret = list(&c, n ? argv[0] : NULL);
	else
		ret = set(&c, argv[0], argv[most - 1]);
	app_session_close(&c.dir, &c.session);
	return ret;
}

static int filter_run(int argc, char **argv)
{
	return run(TACHO_COMMAND_FILTER, argc, argv);
}

static int trigger_run(int argc, char **argv)
{
	return run(TACHO_COMMAND_TRIGGER, argc, argv);
}

static int synth_run(int argc, char **argv)
{
	return run(TACHO_COMMAND_SYNTH, argc, argv);
}

const struct cli_verb cli_filter_verb = {
	.name = "filter",
	.summary = "record only events whose fields match",
	.usage = "usage: tacho filter -s NAME [-k] [EVENT [EXPR]]\n\n"
		 "Sets the filter of events of a session, in running programs and in programs that\n"
		 "start later; '0' removes it.  Without EXPR, lists the filters.\n\n"
		 "  tacho filter -s web shop:order_done 'id > 100 && customer ~ \"A*\"'\n\n"
		 "EVENT is SYSTEM:EVENT or a glob; a word without ':' is the name of a system or\n"
		 "of an event.  The language is that of the kernel's filter files.\n\n"
		 "  -s, --session NAME   use this session\n"
		 "  -k, --kernel         kernel events, in the recording NAME\n"
		 "  -q, --quiet          print no notes on stderr\n"
		 "      --json           print the list as JSON\n"
		 "  -h, --help           print this help\n",
	.run = filter_run,
};

const struct cli_verb cli_trigger = {
	.name = "trigger",
	.summary = "run an action when an event is hit",
	.usage = "usage: tacho trigger -s NAME [-k] [EVENT [TRIGGER]]\n\n"
		 "Sets a trigger on events of a session; '!TRIGGER' removes it.  Without\n"
		 "TRIGGER, lists the triggers.  A TRIGGER is COMMAND[:COUNT] [if FILTER]:\n"
		 "\n"
		 "  traceon traceoff     start or stop recording in the session\n"
		 "  snapshot             write the contents of a flight recorder\n"
		 "  stacktrace           record the call stack after the event\n"
		 "  enable_event:S:E     enable event S:E\n"
		 "  disable_event:S:E    disable event S:E\n"
		 "  hist:keys=...        count and sum; 'tacho hist -s NAME' prints it\n\n"
		 "  -s, --session NAME   use this session\n"
		 "  -k, --kernel         kernel events, in the recording NAME\n"
		 "  -q, --quiet          print no notes on stderr\n"
		 "      --json           print the list as JSON\n"
		 "  -h, --help           print this help\n",
	.run = trigger_run,
};

const struct cli_verb cli_synth = {
	.name = "synth",
	.summary = "define synthetic events, which triggers generate",
	.usage = "usage: tacho synth -s NAME [DEFINITION]\n\n"
		 "Defines a synthetic event in a session ('latency u64 lat; pid_t pid'), or\n"
		 "removes it ('!latency').  Without DEFINITION, lists them.  They are events of\n"
		 "system 'synthetic': enabled, filtered and recorded like others.  The onmatch,\n"
		 "onmax and onchange actions of histograms generate them.\n\n"
		 "  -s, --session NAME   use this session\n"
		 "  -q, --quiet          print no notes on stderr\n"
		 "      --json           print the list as JSON\n"
		 "  -h, --help           print this help\n",
	.run = synth_run,
};
