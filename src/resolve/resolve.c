// SPDX-License-Identifier: MIT
#include "resolve/resolve.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "resolve/priv.h"

#define ARENA_MAX	((size_t)256 << 20)

struct tacho_resolver *tacho_resolver_new(const char *debug_root)
{
	struct tacho_resolver *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->debug_root = debug_root;
	tacho_arena_init(&r->arena, ARENA_MAX);
	r->cache = calloc(RESOLVE_CACHE, sizeof(*r->cache));
	r->answer = calloc(RESOLVE_CACHE, sizeof(*r->answer));
	r->common = calloc(RESOLVE_CACHE, sizeof(*r->common));
	if (!r->cache || !r->answer || !r->common) {
		tacho_resolver_free(r);
		return NULL;
	}
	return r;
}

void tacho_resolver_free(struct tacho_resolver *r)
{
	if (!r)
		return;
	for (uint32_t i = 0; i < RESOLVE_HEADS; i++)
		for (struct resolve_object *o = r->head[i]; o; o = o->next)
			tacho_object_close(o->file);
	free(r->cache);
	free(r->answer);
	free(r->common);
	free(r->map);
	free(r->block);
	tacho_arena_release(&r->arena);
	free(r);
}

/* ---- files ---- */

/* Compares "0123abcd" with the file's build id. */
static bool right_build_id(const struct tacho_object *file, const char *hex_id)
{
	size_t len;
	const unsigned char *have = tacho_object_build_id(file, &len);

	if (!have || strlen(hex_id) != 2 * len)
		return false;
	for (size_t i = 0; i < len; i++) {
		char hex[3];

		(void)snprintf(hex, sizeof(hex), "%02x", have[i]);
		if (memcmp(hex, hex_id + 2 * i, 2))
			return false;
	}
	return true;
}

/* Compares "f:SIZE:S.NS" with the file's current data. */
static bool right_times(const struct stat *st, const char *id)
{
	char now[80];

	(void)snprintf(now, sizeof(now), "f:%ju:%ju.%ju", (uintmax_t)st->st_size,
		       (uintmax_t)st->st_mtim.tv_sec,
		       (uintmax_t)st->st_mtim.tv_nsec);
	return !strcmp(now, id);
}

/* "\012" in a path of /proc/PID/maps is a newline. */
static void unescape(char *path)
{
	char *to = path;

	for (const char *s = path; *s; s++) {
		if (!strncmp(s, "\\012", 4)) {
			*to++ = '\n';
			s += 3;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

static struct tacho_object *open_file(const struct tacho_resolver *r,
				      const struct resolve_object *o)
{
	struct tacho_object *file = NULL;
	char *path = strdup(o->path);
	struct stat st;
	bool right;

	if (!path)
		return NULL;
	unescape(path);
	right = !stat(path, &st) && S_ISREG(st.st_mode) &&
		!tacho_object_open(&file, path, r->debug_root, NULL);
	if (right)
		right = !strncmp(o->id, "b:", 2) ? right_build_id(file, o->id + 2)
						 : right_times(&st, o->id);
	free(path);
	if (right)
		return file;
	tacho_object_close(file);
	return NULL;
}

struct tacho_object *resolve_file(struct tacho_resolver *r,
				  struct resolve_object *o)
{
	if (!o->tried) {
		o->tried = true;
		o->file = open_file(r, o);
	}
	return o->file;
}

/* ---- frames ---- */

static void name_frame(struct tacho_resolver *r, const struct resolve_place *p,
		       bool call, struct tacho_frame *f)
{
	struct tacho_object *file = resolve_file(r, p->object);
	const struct tacho_function *fn;
	struct tacho_where where;
	uint64_t at;

	*f = (struct tacho_frame){
		.object = p->object->path, .object_offset = p->offset,
	};
	/* the byte before: a call that never returns may be its function's last */
	if (!file || (call && !p->offset) ||
	    tacho_object_address(file, p->offset - call, &at))
		return;
	fn = tacho_object_at(file, at);
	if (!fn)
		return;
	f->function = tacho_object_shown_name(file, fn);
	f->offset = at + call - fn->address;
	f->size = fn->size;
	if (!tacho_object_where(file, at, &where, NULL) && where.file) {
		f->file = where.file;
		f->line = where.line;
	}
}

static uint32_t slot_of(const struct resolve_place *p)
{
	uint64_t h = (p->offset ^ (uint64_t)(uintptr_t)p->object) *
		     UINT64_C(0x9e3779b97f4a7c15);

	return (uint32_t)(h >> 52) & (RESOLVE_CACHE - 1);
}

/* Files stay open, so cached results stay valid. */
static void frame_of(struct tacho_resolver *r, const struct resolve_place *p,
		     bool call, struct tacho_frame *f)
{
	struct resolve_cached *c = &r->cache[slot_of(p)];

	if (c->place.object != p->object || c->place.offset != p->offset ||
	    c->call != call) {
		c->place = *p;
		c->call = call;
		name_frame(r, p, call, &c->frame);
	}
	*f = c->frame;
}

bool tacho_resolver_at(struct tacho_resolver *r, int32_t pid, uint64_t ticks,
		       uint64_t addr, bool call, struct tacho_frame *f)
{
	struct resolve_place p;

	*f = (struct tacho_frame){ .function = NULL };
	if (!resolve_place(r, pid, ticks, addr, &p))
		return false;
	frame_of(r, &p, call, f);
	return true;
}

bool tacho_resolver_any(struct tacho_resolver *r, uint64_t addr, bool call,
			struct tacho_frame *f)
{
	struct resolve_place p;

	*f = (struct tacho_frame){ .function = NULL };
	if (!resolve_place_any(r, addr, &p))
		return false;
	frame_of(r, &p, call, f);
	return true;
}

/* ---- streams ---- */

/* Loads all sources' tables: the parts of a rotated trace share processes. */
static int load(struct tacho_resolver *r)
{
	struct tacho_source *source;
	int err = 0;

	tacho_resolver_clear(r);
	r->known_until = UINT64_MAX;
	for (uint32_t i = 0; !err && (source = tacho_stream_source(r->stream, i)); i++) {
		struct tacho_buf text;

		r->live |= source->ops->live;
		if (!tacho_source_objects(source, &text))
			err = tacho_resolver_add(r, text.data, text.len);
		tacho_buf_release(&text);
	}
	return err;
}

/* The place of an address in the process and at the time of a record. */
static bool place_of_record(struct tacho_resolver *r, const struct tacho_record *rec,
			    uint64_t addr, struct resolve_place *p)
{
	int32_t pid;

	if (r->live && rec->ticks > r->known_until)
		(void)load(r);
	(void)tacho_stream_comm(r->stream, rec->pid, &pid);
	if (pid)
		return resolve_place(r, pid, rec->ticks, addr, p);
	/* the process is not known: try the thread as a main thread, then a result common to all */
	return resolve_place(r, rec->pid, rec->ticks, addr, p) ||
	       resolve_place_any(r, addr, p);
}

bool tacho_resolver_record(struct tacho_resolver *r, const struct tacho_record *rec,
			   uint64_t addr, bool call, struct tacho_frame *f)
{
	struct resolve_place p;

	*f = (struct tacho_frame){ .function = NULL };
	if (!place_of_record(r, rec, addr, &p))
		return false;
	frame_of(r, &p, call, f);
	return true;
}

static bool frame_of_record(void *arg, const struct tacho_record *rec,
			    uint64_t addr, struct tacho_frame *f)
{
	return tacho_resolver_record(arg, rec, addr, true, f);
}

int tacho_resolver_stream(struct tacho_resolver *r, struct tacho_stream *stream)
{
	r->stream = stream;
	r->frames = (struct tacho_frames){ .arg = r, .frame = frame_of_record };
	tacho_stream_set_frames(stream, &r->frames);
	return load(r);
}

struct tacho_resolver *tacho_resolver_of(const struct tacho_stream *stream)
{
	const struct tacho_frames *f = tacho_stream_frames(stream);

	return f && f->frame == frame_of_record ? f->arg : NULL;
}

/* ---- functions by name ---- */

bool tacho_resolver_knows(struct tacho_resolver *r, const char *name)
{
	for (uint32_t i = 0; i < RESOLVE_HEADS; i++)
		for (struct resolve_object *o = r->head[i]; o; o = o->next) {
			struct tacho_object *file = resolve_file(r, o);

			if (file && tacho_object_find(file, name, NULL))
				return true;
		}
	return false;
}

static bool lies_in(struct tacho_resolver *r, const struct resolve_place *p,
		    const char *name)
{
	struct tacho_object *file = resolve_file(r, p->object);
	const struct tacho_function *fn = NULL;

	while (file && (fn = tacho_object_find(file, name, fn)))
		if (p->offset >= fn->offset &&
		    p->offset - fn->offset < (fn->size ? fn->size : 1))
			return true;
	return false;
}

bool tacho_resolver_lies_in(struct tacho_resolver *r,
			    const struct tacho_record *rec, uint64_t addr,
			    const char *name)
{
	struct resolve_answer *a;
	struct resolve_place p;

	if (!place_of_record(r, rec, addr, &p))
		return false;
	a = &r->answer[slot_of(&p)];
	if (a->place.object != p.object || a->place.offset != p.offset ||
	    a->name != name)
		*a = (struct resolve_answer){ p, name, lies_in(r, &p, name) };
	return a->yes;
}
