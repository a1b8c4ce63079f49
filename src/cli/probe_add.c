// SPDX-License-Identifier: MIT
/* probe_add.c - tacho probe add: from the command line to the kernel. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/probe.h"

#define ARENA_MAX	((size_t)256 << 20)

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

int probe_fail(const char *text, const struct tacho_diag *d)
{
	struct tacho_buf b;

	(void)cli_fail_diag(d);
	tacho_buf_init(&b, 65536);
	tacho_probe_caret(text, d, &b);
	fputs(tacho_buf_str(&b), stderr);
	tacho_buf_release(&b);
	return CLI_FAILED;
}

/* ---- the command line ---- */

static int one_option(struct probe_add *a, int opt, char *arg)
{
	switch (opt) {
	case 'x':
		a->program = arg;
		return -1;
	case 'k':
		a->kernel = true;
		return -1;
	case 'n':
		a->dry = true;
		return -1;
	case OPT_RAW:
		a->raw = true;
		return -1;
	case OPT_ARGS:
		a->args = arg;
		return -1;
	case OPT_DEBUG:
		a->debug_root = arg;
		return -1;
	case OPT_GROUP:
	case OPT_NAME:
		if (!tacho_probe_good_name(arg))
			return cli_usage("'%s' is no name: letters, digits and _, "
					 "no digit first, up to %d", arg,
					 TACHO_PROBE_NAME_MAX);
		if (opt == OPT_GROUP)
			a->group = arg;
		else
			a->name = arg;
		return -1;
	default:
		return cli_common(opt, &a->json);
	}
}

static int check_options(const struct probe_add *a, int nr_specs)
{
	if (a->program && (a->kernel || a->raw))
		return cli_usage("-x is not for -k or --raw");
	if (a->kernel && a->raw)
		return cli_usage("-k is not for --raw");
	if (!a->program && !a->kernel && !a->raw)
		return cli_usage("say where: -x PROGRAM, or -k for the kernel");
	if (a->raw && (a->args || a->name))
		return cli_usage("--raw lines have their own names and arguments");
	if (!nr_specs)
		return cli_usage("say what to probe");
	return CLI_OK;
}

/* ---- the program ---- */

/* A name without '/' is looked for here, then where commands are. */
static int find_program(struct probe_add *a)
{
	const char *path = getenv("PATH"), *at, *end;
	char *real = NULL, try[4096];

	if (!access(a->program, F_OK))
		real = realpath(a->program, NULL);
	for (at = path; !real && at && !strchr(a->program, '/'); at = end) {
		end = strchr(at, ':');
		if (snprintf(try, sizeof(try), "%.*s/%s",
			     (int)(end ? end - at : (long)strlen(at)), at,
			     a->program) < (int)sizeof(try) &&
		    !access(try, X_OK))
			real = realpath(try, NULL);
		end = end ? end + 1 : NULL;
	}
	if (!real)
		return cli_fail("there is no program '%s'", a->program);
	if (strlen(real) >= sizeof(a->path) || strpbrk(real, " \t\n#")) {
		free(real);
		return cli_fail("the kernel takes no path with blanks or '#': "
				"make a link to '%s' elsewhere, and move it",
				a->program);
	}
	memcpy(a->path, real, strlen(real) + 1);
	free(real);
	return CLI_OK;
}

static int open_program(struct probe_add *a)
{
	struct tacho_diag d = { 0 };
	int ret = find_program(a);

	if (ret)
		return ret;
	if (tacho_object_open(&a->object, a->path, a->debug_root, &d))
		return cli_fail_diag(&d);
	return CLI_OK;
}

/* ---- lines ---- */

struct lines {
	char **text;
	const char **event;	/* "group:event" of each */
	size_t nr, room;
};

static bool add_line(struct probe_add *a, struct lines *l,
		     const struct tacho_probe_spec *s)
{
	struct tacho_buf b;
	char name[2 * TACHO_PROBE_NAME_MAX + 2];

	if (l->nr == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		char **text = tacho_arena_array(&a->arena, room, sizeof(*text));
		const char **event = tacho_arena_array(&a->arena, room,
						       sizeof(*event));

		if (!text || !event)
			return false;
		if (l->nr) {
			memcpy(text, l->text, l->nr * sizeof(*text));
			memcpy(event, l->event, l->nr * sizeof(*event));
		}
		*l = (struct lines){ text, event, l->nr, room };
	}
	tacho_buf_init(&b, 1 << 20);
	tacho_probe_write(s, &b);
	(void)snprintf(name, sizeof(name), "%s:%s", s->group ? s->group : "",
		       s->event ? s->event : "");
	l->text[l->nr] = tacho_arena_strndup(&a->arena, tacho_buf_str(&b), b.len);
	l->event[l->nr] = tacho_arena_strndup(&a->arena, name, strlen(name));
	tacho_buf_release(&b);
	return l->text[l->nr] && l->event[l->nr++];
}

/* The events of the program as lines. */
static int program_lines(struct probe_add *a, struct lines *l)
{
	for (size_t i = 0; i < a->nr_events; i++) {
		const struct probe_event *e = &a->event[i];

		for (size_t j = 0; j < e->nr_locations; j++) {
			struct probe_location *p = &e->location[j];
			struct tacho_probe_spec s = {
				.kind = e->on_return ? 'r' : 'p',
				.on_return = e->on_return,
				.group = a->group, .event = e->name,
				.place = TACHO_PROBE_FILE, .target = a->path,
				.offset = (int64_t)p->offset,
				.counter = p->counter,
				.arg = p->arg, .nr_args = p->nr_args,
			};

			if (!add_line(a, l, &s))
				return cli_fail("out of memory");
		}
	}
	return CLI_OK;
}

/* [MODULE:]SYMBOL[+OFFSET][%return] with --args, which the kernel resolves. */
static int kernel_line(struct probe_add *a, struct lines *l, const char *spec)
{
	struct tacho_probe_spec s;
	struct tacho_diag d = { 0 };
	struct tacho_buf b;
	char name[TACHO_PROBE_NAME_MAX + 1];
	char *text;
	int ret;

	if (strpbrk(spec, "*?["))
		return cli_fail("'%s': patterns are for functions of programs",
				spec);
	tacho_buf_init(&b, 1 << 20);
	tacho_buf_printf(&b, "p %s %s", spec, a->args ? a->args : "");
	text = tacho_arena_strndup(&a->arena, tacho_buf_str(&b), b.len);
	tacho_buf_release(&b);
	if (!text)
		return cli_fail("out of memory");
	ret = tacho_probe_parse(&a->arena, text, &s, &d);
	if (ret)
		return probe_fail(text, &d);
	if (s.place == TACHO_PROBE_SYMBOL)
		(void)snprintf(name, sizeof(name), "%.40s%s", s.target,
			       s.on_return ? "__return" : s.offset ? "_in" : "");
	else if (s.place == TACHO_PROBE_ADDRESS)
		(void)snprintf(name, sizeof(name), "at_0x%" PRIx64,
			       (uint64_t)s.offset);
	else
		return cli_fail("'%s' is of a program: -x", spec);
	s.kind = s.on_return ? 'r' : 'p';
	s.group = a->group;
	s.event = a->name ? a->name : probe_clean_name(&a->arena, name);
	return s.event && add_line(a, l, &s) ? CLI_OK : cli_fail("out of memory");
}

static int raw_line(struct probe_add *a, struct lines *l, const char *text)
{
	struct tacho_probe_spec s;
	struct tacho_diag d = { 0 };

	if (tacho_probe_parse(&a->arena, text, &s, &d))
		return probe_fail(text, &d);
	if (s.kind == '-')
		return cli_fail("'%s' takes a probe away: 'tacho probe del'", text);
	if (!s.event)
		return cli_fail("'%s': name the event, as in '%c:%s/NAME ...'",
				text, s.kind, a->group);
	s.group = s.group ? s.group : a->group;
	return add_line(a, l, &s) ? CLI_OK : cli_fail("out of memory");
}

/* Whether an event before the i-th has the name. */
static bool name_before(const struct probe_add *a, size_t i, const char *name)
{
	while (i--)
		if (!strcmp(a->event[i].name, name))
			return true;
	return false;
}

/* The second event of a name becomes NAME_1. */
static int distinct_names(struct probe_add *a)
{
	char name[TACHO_PROBE_NAME_MAX + 1];

	for (size_t i = 0; i < a->nr_events; i++) {
		const char *old = a->event[i].name;

		if (!name_before(a, i, old))
			continue;
		(void)snprintf(name, sizeof(name), "%s", old);
		for (unsigned int n = 1; name_before(a, i, name); n++)
			(void)snprintf(name, sizeof(name), "%.52s_%u", old, n);
		a->event[i].name = tacho_arena_strndup(&a->arena, name,
						       strlen(name));
		if (!a->event[i].name)
			return cli_fail("out of memory");
	}
	return CLI_OK;
}

static int make_lines(struct probe_add *a, struct lines *l, char **spec, int nr)
{
	int ret = a->program ? open_program(a) : CLI_OK;

	for (int i = 0; !ret && i < nr; i++)
		ret = a->program ? probe_resolve(a, spec[i]) :
		      a->kernel ? kernel_line(a, l, spec[i]) :
		      raw_line(a, l, spec[i]);
	if (ret)
		return ret;
	if (a->name && (a->program ? a->nr_events : l->nr) > 1)
		return cli_fail("--name is for one event, and these are %zu",
				a->program ? a->nr_events : l->nr);
	if (!a->program)
		return CLI_OK;
	if (a->name)
		a->event[0].name = a->name;
	ret = distinct_names(a);
	for (size_t i = 0; !ret && i < a->nr_events; i++)
		ret = probe_arguments(a, &a->event[i]);
	return ret ? ret : program_lines(a, l);
}

/* What the kernel would refuse, nobody needs to be root to hear. */
static int check_lines(struct probe_add *a, const struct lines *l)
{
	struct tacho_probe_spec s;
	struct tacho_diag d = { 0 };

	for (size_t i = 0; i < l->nr; i++)
		if (tacho_probe_parse(&a->arena, l->text[i], &s, &d))
			return probe_fail(l->text[i], &d);
	return CLI_OK;
}

/* ---- to the kernel ---- */

/* A second probe of a name would join the first one without a word. */
static int none_there(struct probe_add *a, const struct tacho_tracefs *t,
		      const struct lines *l)
{
	struct tacho_probe_spec *old;
	struct tacho_diag d = { 0 };
	char name[2 * TACHO_PROBE_NAME_MAX + 2];
	size_t nr;

	if (tacho_dynevent_list(t, &a->arena, &old, &nr, &d))
		return cli_fail_diag(&d);
	for (size_t i = 0; i < nr; i++) {
		(void)snprintf(name, sizeof(name), "%s:%s", old[i].group,
			       old[i].event);
		for (size_t j = 0; j < l->nr; j++)
			if (!strcmp(name, l->event[j]))
				return cli_fail("'%s' is there already: 'tacho "
					"probe del %s', or give another --name",
					name, name);
	}
	return CLI_OK;
}

static void take_back(struct probe_add *a, const struct tacho_tracefs *t,
		      const struct lines *l, size_t nr)
{
	struct tacho_probe_spec s;
	struct tacho_diag d = { 0 };

	for (size_t i = 0; i < nr; i++) {
		bool gone = false;

		for (size_t j = 0; j < i; j++)
			gone |= !strcmp(l->event[i], l->event[j]);
		if (!gone && !tacho_probe_parse(&a->arena, l->text[i], &s, NULL) &&
		    tacho_dynevent_del(t, &s, &d))
			(void)cli_fail_diag(&d);
	}
}

static int give_to_kernel(struct probe_add *a, const struct lines *l)
{
	struct tacho_tracefs t;
	struct tacho_diag d = { 0 };
	int ret;

	if (tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, &d))
		return cli_fail_diag(&d);
	ret = none_there(a, &t, l);
	for (size_t i = 0; !ret && i < l->nr; i++) {
		if (!tacho_dynevent_add(&t, l->text[i], &d))
			continue;
		ret = probe_fail(l->text[i], &d);
		take_back(a, &t, l, i);
	}
	tacho_tracefs_close(&t);
	return ret;
}

/* ---- the answer ---- */

static int show_dry(const struct lines *l)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, ARENA_MAX);
	for (size_t i = 0; i < l->nr; i++)
		tacho_buf_printf(&b, "%s\n", l->text[i]);
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

static int show_json(const struct lines *l)
{
	struct tacho_buf b;
	struct tacho_json j;
	int ret;

	tacho_buf_init(&b, ARENA_MAX);
	tacho_json_init(&j, &b);
	tacho_json_open(&j, '[');
	for (size_t i = 0; i < l->nr; i++) {
		tacho_json_open(&j, '{');
		tacho_json_pair_str(&j, "event", l->event[i]);
		tacho_json_pair_str(&j, "definition", l->text[i]);
		tacho_json_close(&j, '}');
	}
	tacho_json_close(&j, ']');
	ret = cli_write_json(&b);
	tacho_buf_release(&b);
	return ret;
}

static int show_names(const struct probe_add *a, const struct lines *l)
{
	struct tacho_buf b;
	size_t places;
	int ret;

	tacho_buf_init(&b, ARENA_MAX);
	for (size_t i = 0; i < l->nr; i += places) {
		for (places = 1; i + places < l->nr &&
		     !strcmp(l->event[i], l->event[i + places]); places++)
			;
		tacho_buf_printf(&b, "%s", l->event[i]);
		if (places > 1)
			tacho_buf_printf(&b, " (at %zu places)", places);
		tacho_buf_putc(&b, '\n');
	}
	ret = cli_write(&b);
	tacho_buf_release(&b);
	cli_note("to record: tacho record -k '%s:*' ...", a->group);
	return ret;
}

int probe_add_run(int argc, char **argv)
{
	struct probe_add a = { .group = PROBE_GROUP };
	struct lines l = { .nr = 0 };
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqx:kn", add_options,
				  NULL)) != -1) {
		ret = one_option(&a, opt, optarg);
		if (ret >= 0)
			return ret;
	}
	ret = check_options(&a, argc - optind);
	if (ret)
		return ret;
	tacho_arena_init(&a.arena, ARENA_MAX);
	ret = make_lines(&a, &l, argv + optind, argc - optind);
	if (!ret)
		ret = check_lines(&a, &l);
	if (!ret && !a.dry)
		ret = give_to_kernel(&a, &l);
	if (!ret)
		ret = a.json ? show_json(&l) : a.dry ? show_dry(&l)
						     : show_names(&a, &l);
	free(a.event);
	tacho_object_close(a.object);
	tacho_arena_release(&a.arena);
	return ret;
}
