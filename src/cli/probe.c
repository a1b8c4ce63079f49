// SPDX-License-Identifier: MIT
/* probe: dynamic events in programs and in the kernel (app/probe.h). */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "app/probe.h"
#include "cli/cli.h"

#define OUTPUT_MAX	((size_t)256 << 20)

/* What is printed. */
struct answer {
	bool json;
	int ret;
	struct tacho_buf out;
	struct tacho_json j;
};

static void answer_begin(struct answer *a)
{
	tacho_buf_init(&a->out, OUTPUT_MAX);
	tacho_json_init(&a->j, &a->out);
	if (a->json)
		tacho_json_open(&a->j, '[');
}

static int answer_write(struct answer *a)
{
	if (!a->json)
		return cli_write(&a->out);
	tacho_json_close(&a->j, ']');
	return cli_write_json(&a->out);
}

/* ---- add ------------------------------------------------------------------- */

enum { OPT_GROUP = CLI_OPT_FIRST, OPT_NAME, OPT_ARGS, OPT_RAW, OPT_DEBUG };

static const struct option add_options[] = {
	CLI_COMMON_OPTIONS,
	{ "exec", required_argument, NULL, 'x' },
	{ "kernel", no_argument, NULL, 'k' },
	{ "args", required_argument, NULL, OPT_ARGS },
	{ "group", required_argument, NULL, OPT_GROUP },
	{ "name", required_argument, NULL, OPT_NAME },
	{ "raw", no_argument, NULL, OPT_RAW },
	{ "dry-run", no_argument, NULL, 'n' },
	{ "debug-dir", required_argument, NULL, OPT_DEBUG },
	{ NULL, 0, NULL, 0 },
};

struct add {
	struct app_probe_config config;
	bool raw, dry;
	struct answer answer;
};

static int one_option(struct add *a, int opt, const char *arg)
{
	switch (opt) {
	case 'x':
		a->config.program = arg;
		return -1;
	case 'k':
		a->config.kernel = true;
		return -1;
	case 'n':
		a->dry = true;
		return -1;
	case OPT_RAW:
		a->raw = true;
		return -1;
	case OPT_ARGS:
		a->config.args = arg;
		return -1;
	case OPT_DEBUG:
		a->config.debug_root = arg;
		return -1;
	case OPT_GROUP:
	case OPT_NAME:
		if (!app_probe_is_name(arg))
			return cli_usage("'%s' is no name: letters, digits and _, "
					 "no digit first, up to %d", arg, APP_PROBE_NAME_MAX);
		if (opt == OPT_GROUP)
			a->config.group = arg;
		else
			a->config.name = arg;
		return -1;
	default:
		return cli_common(opt, &a->answer.json);
	}
}

static int check_options(const struct add *a)
{
	const struct app_probe_config *c = &a->config;

	if (c->program && (c->kernel || a->raw))
		return cli_usage("-x is not for -k or --raw");
	if (c->kernel && a->raw)
		return cli_usage("-k is not for --raw");
	if (!c->program && !c->kernel && !a->raw)
		return cli_usage("say where: -x PROGRAM, or -k for the kernel");
	if (a->raw && (c->args || c->name))
		return cli_usage("--raw lines have their own names and arguments");
	if (!c->nr_specs)
		return cli_usage("say what to probe");
	return CLI_OK;
}

/* The sentence, and below it the text that is wrong with a caret. */
static int add_failed(const struct app_probe_set *set, const struct tacho_diag *d)
{
	struct tacho_buf b;

	(void)cli_fail_diag(d);
	tacho_buf_init(&b, 65536);
	app_probe_caret(set, d, &b);
	fputs(tacho_buf_str(&b), stderr);
	tacho_buf_release(&b);
	return CLI_FAILED;
}

static void put_lines_json(struct tacho_json *j, const struct app_probe_set *set)
{
	for (size_t i = 0; i < set->nr; i++) {
		tacho_json_open(j, '{');
		tacho_json_pair_str(j, "event", set->line[i].event);
		tacho_json_pair_str(j, "definition", set->line[i].text);
		tacho_json_close(j, '}');
	}
}

static void put_names(struct tacho_buf *b, const struct app_probe_set *set)
{
	size_t places;

	for (size_t i = 0; i < set->nr; i += places) {
		for (places = 1; i + places < set->nr &&
		     !strcmp(set->line[i].event, set->line[i + places].event); places++)
			;
		tacho_buf_printf(b, "%s", set->line[i].event);
		if (places > 1)
			tacho_buf_printf(b, " (at %zu places)", places);
		tacho_buf_putc(b, '\n');
	}
}

static int show_added(struct add *a, const struct app_probe_set *set)
{
	int ret;

	answer_begin(&a->answer);
	if (a->answer.json)
		put_lines_json(&a->answer.j, set);
	else if (!a->dry)
		put_names(&a->answer.out, set);
	else
		for (size_t i = 0; i < set->nr; i++)
			tacho_buf_printf(&a->answer.out, "%s\n", set->line[i].text);
	ret = answer_write(&a->answer);
	if (!a->answer.json && !a->dry)
		cli_note("to record: tacho record -k '%s:*' ...", a->config.group);
	tacho_buf_release(&a->answer.out);
	return ret;
}

static int add_run(int argc, char **argv)
{
	struct add a = { .config = { .group = APP_PROBE_GROUP, .observer = &cli_observer } };
	struct app_probe_set set;
	struct tacho_diag d = { 0 };
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqx:kn", add_options,
				  NULL)) != -1) {
		ret = one_option(&a, opt, optarg);
		if (ret >= 0)
			return ret;
	}
	a.config.spec = (const char *const *)(argv + optind);
	a.config.nr_specs = (size_t)(argc - optind);
	ret = check_options(&a);
	if (ret)
		return ret;
	if (app_probe_make(&set, &a.config, &d) ||
	    (!a.dry && app_probe_install(&set, &cli_observer, &d)))
		ret = add_failed(&set, &d);
	else
		ret = show_added(&a, &set);
	app_probe_set_release(&set);
	return ret;
}

/* ---- list ------------------------------------------------------------------ */

static void show_json(struct tacho_json *j, const struct app_probe_info *p)
{
	tacho_json_open(j, '{');
	tacho_json_pair_str(j, "event", p->event);
	tacho_json_pair_str(j, "kind", p->kind);
	tacho_json_pair_str(j, "place", p->place);
	if (*p->source)
		tacho_json_pair_str(j, "source", p->source);
	if (p->has_hits)
		tacho_json_pair_u64(j, "hits", p->hits);
	tacho_json_key(j, "args");
	tacho_json_open(j, '[');
	for (size_t i = 0; i < p->nr_args; i++) {
		tacho_json_open(j, '{');
		if (p->arg[i].name)
			tacho_json_pair_str(j, "name", p->arg[i].name);
		tacho_json_pair_str(j, "fetch", p->arg[i].fetch);
		if (p->arg[i].type)
			tacho_json_pair_str(j, "type", p->arg[i].type);
		tacho_json_close(j, '}');
	}
	tacho_json_close(j, ']');
	tacho_json_pair_str(j, "definition", p->definition);
	tacho_json_close(j, '}');
}

static void show_text(struct tacho_buf *b, const struct app_probe_info *p)
{
	tacho_buf_printf(b, "%-32s %-8s ", p->event, p->kind);
	if (*p->source && p->program)
		tacho_buf_printf(b, "%s %s", p->program, p->source);
	else
		tacho_buf_puts(b, p->place);
	for (size_t i = 0; i < p->nr_args; i++)
		tacho_buf_printf(b, " %s%s%s%s%s", p->arg[i].name ? p->arg[i].name : "",
				 p->arg[i].name ? "=" : "", p->arg[i].fetch,
				 p->arg[i].type ? ":" : "", p->arg[i].type ? p->arg[i].type : "");
	if (p->filter)
		tacho_buf_printf(b, " if %s", p->filter);
	if (p->has_hits)
		tacho_buf_printf(b, ", %" PRIu64 " hit%s", p->hits, p->hits == 1 ? "" : "s");
	tacho_buf_putc(b, '\n');
}

static void show(void *arg, const struct app_probe_info *p)
{
	struct answer *a = arg;

	if (a->json)
		show_json(&a->j, p);
	else
		show_text(&a->out, p);
}

/* -1: go on; else the exit status. */
static int parse(struct answer *a, int argc, char **argv)
{
	static const struct option options[] = {
		CLI_COMMON_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hq", options, NULL)) != -1) {
		ret = cli_common(opt, &a->json);
		if (ret >= 0)
			return ret;
	}
	return -1;
}

static int list_run(int argc, char **argv)
{
	struct app_probe_list *list;
	struct answer a = { .json = false };
	struct tacho_diag d = { 0 };
	int ret = parse(&a, argc, argv);
	size_t shown;

	if (ret >= 0)
		return ret;
	if (app_probe_list_new(&list, &d))
		return cli_fail_diag(&d);
	answer_begin(&a);
	shown = app_probe_each(list, (const char *const *)(argv + optind),
			       (size_t)(argc - optind), show, &a);
	if (!shown && optind < argc)
		ret = cli_fail("no probe matches '%s'", argv[optind]);
	else
		ret = answer_write(&a);
	tacho_buf_release(&a.out);
	app_probe_list_free(list);
	return ret;
}

/* ---- del ------------------------------------------------------------------- */

static void show_deleted(void *arg, const char *event, const struct tacho_diag *failed)
{
	struct answer *a = arg;

	if (failed)
		a->ret = cli_fail_diag(failed);
	else if (a->json)
		tacho_json_str(&a->j, event);
	else
		tacho_buf_printf(&a->out, "%s\n", event);
}

static int del_run(int argc, char **argv)
{
	struct app_probe_list *list;
	struct answer a = { .ret = CLI_OK };
	struct tacho_diag d = { 0 };
	int ret = parse(&a, argc, argv);

	if (ret >= 0)
		return ret;
	if (optind == argc)
		return cli_usage("say which: '*' is all that tacho made");
	if (app_probe_list_new(&list, &d))
		return cli_fail_diag(&d);
	answer_begin(&a);
	(void)app_probe_delete(list, (const char *const *)(argv + optind),
			       (size_t)(argc - optind), show_deleted, &a, &d);
	ret = d.err ? cli_fail_diag(&d) : answer_write(&a);
	tacho_buf_release(&a.out);
	app_probe_list_free(list);
	return a.ret ? a.ret : ret;
}

static int probe_run(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} sub[] = {
		{ "add", add_run },
		{ "list", list_run },
		{ "del", del_run },
	};
	bool json;

	for (size_t i = 0; argc > 1 && i < TACHO_ARRAY_SIZE(sub); i++)
		if (!strcmp(argv[1], sub[i].name))
			return sub[i].run(argc - 1, argv + 1);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return cli_common('h', &json);
	if (argc > 1)
		return cli_usage("'%s' is not one of add, list, del", argv[1]);
	return cli_usage("say what to do: add, list or del");
}

const struct cli_verb cli_probe = {
	.name = "probe",
	.summary = "define events at any place in a program or in the kernel",
	.usage =
"usage: tacho probe add -x PROGRAM [OPTIONS] SPEC...\n"
"       tacho probe add -k [OPTIONS] SYMBOL[+OFFSET][%return]...\n"
"       tacho probe list [--json] [GLOB...]\n"
"       tacho probe del [--json] GLOB...\n"
"\n"
"Defines kernel events that occur when a program, or the kernel itself, reaches\n"
"a place.  They are recorded like other kernel events:\n"
"'tacho record -k 'tacho_probes:*''.  They remain until they are deleted.\n"
"\n"
"SPEC: checkout  'checkout%return'  checkout+8  checkout:12 (its 12th line)\n"
"      main.c:42  'order_*'  0x1129  sdt:shop:order_done\n"
"\n"
"  -x, --exec FILE      probe this program or library\n"
"  -k, --kernel         probe functions of the kernel\n"
"      --args LIST      values to record: 'id name:string total=order->sum',\n"
"                       $params, $retval, and the kernel's expressions:\n"
"                       %di +8(%si)\n"
"      --group NAME     set the group of the events (default: tacho_probes)\n"
"      --name NAME      set the name of the event\n"
"  -n, --dry-run        only print the definitions for the kernel\n"
"      --raw            each SPEC is a line in the kernel's own language\n"
"      --debug-dir DIR  directory of separate debug files (default:\n"
"                       /usr/lib/debug)\n"
"      --json           print the probes as JSON\n"
"  -h, --help           print this help\n",
	.run = probe_run,
};
