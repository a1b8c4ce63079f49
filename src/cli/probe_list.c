// SPDX-License-Identifier: MIT
/* probe_list.c - tacho probe list and del: the probes that the machine has. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/probe.h"

#define ARENA_MAX	((size_t)256 << 20)
#define NAME_ROOM	(2 * TACHO_PROBE_NAME_MAX + 2)

struct probes {
	struct tacho_arena arena;
	struct tacho_tracefs tracefs;
	struct tacho_probe_spec *list;
	size_t nr;
	struct tacho_buf hits;		/* uprobe_profile, kprobe_profile */
	bool json;
	struct tacho_buf out;
	struct tacho_json j;
	struct tacho_object *object;	/* of the program shown last */
};

static int read_probes(struct probes *p)
{
	struct tacho_diag d = { 0 };

	tacho_arena_init(&p->arena, ARENA_MAX);
	tacho_buf_init(&p->out, ARENA_MAX);
	tacho_buf_init(&p->hits, ARENA_MAX);
	tacho_json_init(&p->j, &p->out);
	p->tracefs.dirfd = -1;
	if (tacho_tracefs_open(&p->tracefs, TACHO_TRACEFS_MOUNT, &d) ||
	    tacho_dynevent_list(&p->tracefs, &p->arena, &p->list, &p->nr, &d))
		return cli_fail_diag(&d);
	return CLI_OK;
}

static void release(struct probes *p)
{
	tacho_object_close(p->object);
	tacho_tracefs_close(&p->tracefs);
	tacho_buf_release(&p->hits);
	tacho_buf_release(&p->out);
	tacho_arena_release(&p->arena);
}

/* A pattern without a group is for those that tacho made. */
static bool chosen(const struct tacho_probe_spec *s, char **glob, int nr)
{
	char name[NAME_ROOM];

	(void)snprintf(name, sizeof(name), "%s:%s", s->group, s->event);
	for (int i = 0; i < nr; i++)
		if (strchr(glob[i], ':') ? tacho_glob_match(glob[i], name) :
		    !strcmp(s->group, PROBE_GROUP) &&
		    tacho_glob_match(glob[i], s->event))
			return true;
	return !nr;
}

/* ---- list ---- */

static const char *kind_name(const struct tacho_probe_spec *s)
{
	switch (s->place) {
	case TACHO_PROBE_FILE:
		return s->on_return ? "return" : "program";
	case TACHO_PROBE_TRACEPOINT:
		return "tracepoint";
	case TACHO_PROBE_EVENT:
		return "event";
	case TACHO_PROBE_SYMBOL:
	case TACHO_PROBE_ADDRESS:
	case TACHO_PROBE_NOWHERE:
	default:
		return s->on_return ? "kreturn" : "kernel";
	}
}

/*
 * How often it was hit while somebody recorded it.  Lines are "PATH EVENT HITS"
 * of programs, "EVENT HITS MISSED" of the kernel: the event without its group.
 */
static bool hits_of(const struct probes *p, const struct tacho_probe_spec *s,
		    uint64_t *hits)
{
	const char *at = p->hits.data, *end = at ? at + p->hits.len : NULL;
	char line[4096], path[3072], event[128];

	while (at && at < end) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		size_t len = nl ? (size_t)(nl - at) : (size_t)(end - at);

		if (len < sizeof(line)) {
			memcpy(line, at, len);
			line[len] = '\0';
			if (s->place == TACHO_PROBE_FILE &&
			    sscanf(line, "%3071s %127s %" SCNu64, path, event,
				   hits) == 3 && !strcmp(path, s->target) &&
			    !strcmp(event, s->event))
				return true;
			if (s->place != TACHO_PROBE_FILE &&
			    sscanf(line, "%127s %" SCNu64, event, hits) == 2 &&
			    !strcmp(event, s->event))
				return true;
		}
		at += len + 1;
	}
	return false;
}

/* The program's words for the place: "checkout+8 (main.c:12)". */
static void source_of(struct probes *p, const struct tacho_probe_spec *s,
		      struct tacho_buf *to)
{
	const struct tacho_function *f;
	struct tacho_where w;
	uint64_t address;

	if (!p->object || strcmp(tacho_object_path(p->object), s->target) != 0) {
		tacho_object_close(p->object);
		p->object = NULL;
		(void)tacho_object_open(&p->object, s->target, NULL, NULL);
	}
	if (!p->object ||
	    tacho_object_address(p->object, (uint64_t)s->offset, &address))
		return;
	f = tacho_object_at(p->object, address);
	if (f && address > f->address)
		tacho_buf_printf(to, "%s+%" PRIu64, f->name,
				 address - f->address);
	else if (f)
		tacho_buf_puts(to, f->name);
	if (!tacho_object_where(p->object, address, &w, NULL))
		tacho_buf_printf(to, "%s(%s:%u)", f ? " " : "",
				 strrchr(w.file, '/') ? strrchr(w.file, '/') + 1
						      : w.file, w.line);
}

static void place_of(const struct tacho_probe_spec *s, struct tacho_buf *to)
{
	struct tacho_probe_spec bare = *s;

	bare.group = bare.event = bare.filter = NULL;
	bare.nr_args = bare.max_active = 0;
	tacho_probe_write(&bare, to);
}

static void show_args_json(struct probes *p, const struct tacho_probe_spec *s)
{
	tacho_json_key(&p->j, "args");
	tacho_json_open(&p->j, '[');
	for (size_t i = 0; i < s->nr_args; i++) {
		tacho_json_open(&p->j, '{');
		if (s->arg[i].name)
			tacho_json_pair_str(&p->j, "name", s->arg[i].name);
		tacho_json_pair_str(&p->j, "fetch", s->arg[i].fetch);
		if (s->arg[i].type)
			tacho_json_pair_str(&p->j, "type", s->arg[i].type);
		tacho_json_close(&p->j, '}');
	}
	tacho_json_close(&p->j, ']');
}

static void show_json(struct probes *p, const struct tacho_probe_spec *s,
		      const char *name, const char *place, const char *source)
{
	struct tacho_buf text;
	uint64_t hits;

	tacho_buf_init(&text, 1 << 20);
	tacho_probe_write(s, &text);
	tacho_json_open(&p->j, '{');
	tacho_json_pair_str(&p->j, "event", name);
	tacho_json_pair_str(&p->j, "kind", kind_name(s));
	tacho_json_pair_str(&p->j, "place", place);
	if (*source)
		tacho_json_pair_str(&p->j, "source", source);
	if (hits_of(p, s, &hits))
		tacho_json_pair_u64(&p->j, "hits", hits);
	show_args_json(p, s);
	tacho_json_pair_str(&p->j, "definition", tacho_buf_str(&text));
	tacho_json_close(&p->j, '}');
	tacho_buf_release(&text);
}

static void show_text(struct probes *p, const struct tacho_probe_spec *s,
		      const char *name, const char *place, const char *source)
{
	uint64_t hits;

	tacho_buf_printf(&p->out, "%-32s %-8s ", name, kind_name(s));
	if (*source && s->target && strrchr(s->target, '/'))
		tacho_buf_printf(&p->out, "%s %s",
				 strrchr(s->target, '/') + 1, source);
	else
		tacho_buf_puts(&p->out, place);
	for (size_t i = 0; i < s->nr_args; i++)
		tacho_buf_printf(&p->out, " %s%s%s%s%s",
			s->arg[i].name ? s->arg[i].name : "",
			s->arg[i].name ? "=" : "", s->arg[i].fetch,
			s->arg[i].type ? ":" : "",
			s->arg[i].type ? s->arg[i].type : "");
	if (s->filter)
		tacho_buf_printf(&p->out, " if %s", s->filter);
	if (hits_of(p, s, &hits))
		tacho_buf_printf(&p->out, ", %" PRIu64 " hit%s", hits,
				 hits == 1 ? "" : "s");
	tacho_buf_putc(&p->out, '\n');
}

static void show(struct probes *p, const struct tacho_probe_spec *s)
{
	struct tacho_buf place, source;
	char name[NAME_ROOM];

	tacho_buf_init(&place, 65536);
	tacho_buf_init(&source, 65536);
	place_of(s, &place);
	if (s->place == TACHO_PROBE_FILE)
		source_of(p, s, &source);
	(void)snprintf(name, sizeof(name), "%s:%s", s->group, s->event);
	/* without the letter that place_of() begins with */
	(p->json ? show_json : show_text)(p, s, name,
		tacho_buf_str(&place) + 2, tacho_buf_str(&source));
	tacho_buf_release(&place);
	tacho_buf_release(&source);
}

static const struct option plain_options[] = {
	CLI_COMMON_OPTIONS,
	{ NULL, 0, NULL, 0 },
};

/* -1, or the exit status. */
static int parse(struct probes *p, int argc, char **argv)
{
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hq", plain_options, NULL)) != -1) {
		ret = cli_common(opt, &p->json);
		if (ret >= 0)
			return ret;
	}
	return -1;
}

int probe_list_run(int argc, char **argv)
{
	struct probes p = { .json = false };
	int ret = parse(&p, argc, argv), shown = 0;

	if (ret >= 0)
		return ret;
	ret = read_probes(&p);
	if (!ret) {
		/* a kernel may lack either */
		(void)tacho_buf_read_fileat(&p.hits, p.tracefs.dirfd,
					    "uprobe_profile");
		(void)tacho_buf_read_fileat(&p.hits, p.tracefs.dirfd,
					    "kprobe_profile");
		if (p.json)
			tacho_json_open(&p.j, '[');
		for (size_t i = 0; i < p.nr; i++) {
			if (!chosen(&p.list[i], argv + optind, argc - optind))
				continue;
			show(&p, &p.list[i]);
			shown++;
		}
		if (p.json)
			tacho_json_close(&p.j, ']');
		if (!shown && optind < argc)
			ret = cli_fail("no probe matches '%s'", argv[optind]);
		else
			ret = p.json ? cli_write_json(&p.out) : cli_write(&p.out);
	}
	release(&p);
	return ret;
}

/* ---- del ---- */

static bool same_event(const struct tacho_probe_spec *a,
		       const struct tacho_probe_spec *b)
{
	return !strcmp(a->group, b->group) && !strcmp(a->event, b->event);
}

static int delete_chosen(struct probes *p, char **glob, int nr)
{
	int ret = CLI_OK;

	for (size_t i = 0; i < p->nr; i++) {
		const struct tacho_probe_spec *s = &p->list[i];
		struct tacho_diag d = { 0 };
		bool done = false;
		char name[NAME_ROOM];

		/* an event goes with all of its places */
		for (size_t j = 0; j < i; j++)
			done |= same_event(s, &p->list[j]);
		if (done || !chosen(s, glob, nr))
			continue;
		if (tacho_dynevent_del(&p->tracefs, s, &d)) {
			ret = cli_fail_diag(&d);
			continue;
		}
		(void)snprintf(name, sizeof(name), "%s:%s", s->group, s->event);
		if (p->json)
			tacho_json_str(&p->j, name);
		else
			tacho_buf_printf(&p->out, "%s\n", name);
	}
	return ret;
}

static int each_matches(const struct probes *p, char **glob, int nr)
{
	for (int i = 0; i < nr; i++) {
		bool any = false;

		for (size_t j = 0; j < p->nr; j++)
			any |= chosen(&p->list[j], &glob[i], 1);
		if (!any)
			return cli_fail("no probe matches '%s'", glob[i]);
	}
	return CLI_OK;
}

int probe_del_run(int argc, char **argv)
{
	struct probes p = { .json = false };
	int ret = parse(&p, argc, argv), wrote;

	if (ret >= 0)
		return ret;
	if (optind == argc)
		return cli_usage("say which: '*' is all that tacho made");
	ret = read_probes(&p);
	if (!ret)
		ret = each_matches(&p, argv + optind, argc - optind);
	if (!ret) {
		if (p.json)
			tacho_json_open(&p.j, '[');
		ret = delete_chosen(&p, argv + optind, argc - optind);
		if (p.json)
			tacho_json_close(&p.j, ']');
		wrote = p.json ? cli_write_json(&p.out) : cli_write(&p.out);
		ret = ret ? ret : wrote;
	}
	release(&p);
	return ret;
}
