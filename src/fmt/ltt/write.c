// SPDX-License-Identifier: MIT
#include "fmt/ltt/write.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/ltt/custom.h"
#include "fmt/ltt/write_priv.h"
#include "stream/stream.h"

#define BUFFER_SIZE	((uint32_t)128 << 10)
#define TEXT_MAX	((size_t)1 << 20)
#define FIRST_ID	(TRACE_MAX + 1)

/* ---- what machine it was --------------------------------------------------------------- */

static void set_machine(struct tacho_ltt_start *s, const char *machine, bool narrow)
{
	static const struct {
		const char *name;
		uint32_t wide, narrow;
	} known[] = {
		{ "x86_64", TRACE_ARCH_TYPE_X86_64, TRACE_ARCH_TYPE_I386 },
		{ "aarch64", TRACE_ARCH_TYPE_ARM64, TRACE_ARCH_TYPE_ARM },
		{ "ppc64", TRACE_ARCH_TYPE_PPC64, TRACE_ARCH_TYPE_PPC },
		{ "riscv64", TRACE_ARCH_TYPE_RISCV64, TRACE_ARCH_TYPE_RISCV64 },
		{ "s390", TRACE_ARCH_TYPE_S390, TRACE_ARCH_TYPE_S390 },
		{ "i", TRACE_ARCH_TYPE_I386, TRACE_ARCH_TYPE_I386 },
		{ "arm", TRACE_ARCH_TYPE_ARM, TRACE_ARCH_TYPE_ARM },
		{ "mips", TRACE_ARCH_TYPE_MIPS, TRACE_ARCH_TYPE_MIPS },
		{ "ppc", TRACE_ARCH_TYPE_PPC, TRACE_ARCH_TYPE_PPC },
	};
	struct utsname u = { .machine = "" };

	if (!machine && !uname(&u))
		machine = u.machine;
	s->system = TRACE_SYS_TYPE_VANILLA_LINUX;
	for (size_t i = 0; machine && i < TACHO_ARRAY_SIZE(known); i++)
		if (!strncmp(machine, known[i].name, strlen(known[i].name))) {
			s->arch = narrow ? known[i].narrow : known[i].wide;
			return;
		}
}

/* ---- lanes -------------------------------------------------------------------------------- */

static int cannot_write(struct tacho_diag *d, int err, const char *path)
{
	return tacho_diag(d, err, 0, "cannot write '%s': %s", path, strerror(-err));
}

static void lane_path(const struct tacho_ltt_writer *w, uint32_t cpu, char *path,
		      size_t size)
{
	(void)snprintf(path, size, "%s/%s.%u.ltt", w->dir, w->base, cpu);
}

static void sidecar_path(const struct tacho_ltt_writer *w, const char *name, char *path,
			 size_t size)
{
	(void)snprintf(path, size, "%s/%s.%s", w->dir, w->base, name);
}

static struct tacho_ltt_lane *add_lane(struct tacho_ltt_writer *w, uint32_t cpu,
				       struct tacho_diag *d)
{
	struct tacho_ltt_lane **list, *l = calloc(1, sizeof(*l));
	char path[4200];

	list = reallocarray(w->lane, w->nr_lanes + (size_t)1, sizeof(*list));
	if (list)
		w->lane = list;
	if (!l || !list) {
		free(l);
		(void)tacho_no_memory(d);
		return NULL;
	}
	lane_path(w, cpu, path, sizeof(path));
	*l = (struct tacho_ltt_lane){ .form = &w->form, .cpu = cpu, .start = w->start };
	l->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (l->fd < 0) {
		(void)cannot_write(d, -errno, path);
		free(l);
		return NULL;
	}
	w->last_lane = w->nr_lanes;
	w->lane[w->nr_lanes++] = l;
	return l;
}

/* A record of no CPU goes to the first one's file. */
static struct tacho_ltt_lane *lane_of(struct tacho_ltt_writer *w, uint32_t cpu,
				      struct tacho_diag *d)
{
	if (cpu == UINT32_MAX)
		cpu = 0;
	if (w->last_lane < w->nr_lanes && w->lane[w->last_lane]->cpu == cpu)
		return w->lane[w->last_lane];
	for (uint32_t i = 0; i < w->nr_lanes; i++)
		if (w->lane[i]->cpu == cpu) {
			w->last_lane = i;
			return w->lane[i];
		}
	return add_lane(w, cpu, d);
}

/* ---- kinds --------------------------------------------------------------------------------- */

static void find_own(struct tacho_ltt_kind *k)
{
	size_t len = strlen(k->type->name), n = strlen(LTT_BARE_SUFFIX);
	char name[64] = "";

	k->event = tacho_ltt_event_named(k->type->name);
	k->is = LTT_KIND_OWN;
	if (!strcmp(k->type->name, "raw"))
		k->is = LTT_KIND_RAW;
	else if (!strcmp(k->type->name, "custom"))
		k->is = LTT_KIND_CUSTOM;
	else if (!k->event && len > n && len - n < sizeof(name) &&
		 !strcmp(k->type->name + len - n, LTT_BARE_SUFFIX)) {
		memcpy(name, k->type->name, len - n);
		k->event = tacho_ltt_event_named(name);
		k->is = LTT_KIND_BARE;
	}
	if (!k->event && k->is != LTT_KIND_RAW)
		k->is = LTT_KIND_EMBEDDED;
}

static struct tacho_ltt_kind *kind_of(struct tacho_ltt_writer *w,
				      const struct tacho_record *r, struct tacho_diag *d)
{
	struct tacho_ltt_kind *k = tacho_hashmap_get(&w->kinds,
						     tacho_hashmap_key(r->type));

	if (tacho_likely(k != NULL))
		return k;
	k = calloc(1, sizeof(*k));
	if (!k || tacho_hashmap_set(&w->kinds, tacho_hashmap_key(r->type), k)) {
		free(k);
		(void)tacho_no_memory(d);
		return NULL;
	}
	k->type = r->type;
	k->stream_id = r->source;
	k->is = LTT_KIND_EMBEDDED;
	if (!strcmp(r->type->system, LTT_SYSTEM))
		find_own(k);
	else if (!strcmp(r->type->system, LTT_CUSTOM_SYSTEM))
		k->is = LTT_KIND_CUSTOM;
	else if (r->source == TACHO_STREAM_KERNEL &&
		 tacho_ltt_map_find(&k->mapped, r->type))
		k->is = LTT_KIND_MAPPED;
	return k;
}

/* ---- records ------------------------------------------------------------------------------- */

/* The whole record after LTT's; the head is in the file's order. */
static int add_tail(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		    struct tacho_ltt_kind *k, const struct tacho_record *r, uint64_t t,
		    struct tacho_ltt_values *v, unsigned char *head)
{
	uint32_t word[3] = { LTT_TAIL_MAGIC, 0, r->len };
	int err = tacho_ltt_declare(w, l, k, t);

	word[1] = k->embed_id;
	for (int i = 0; i < 3; i++)
		tacho_put_u32(head + 4 * i,
			      w->form.swap ? __builtin_bswap32(word[i]) : word[i]);
	v->tail_head = head;
	v->tail = r->raw;
	v->tail_len = r->len;
	return err;
}

/* -ENODATA: it has to be embedded. */
static int put_mapped(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		      struct tacho_ltt_kind *k, const struct tacho_record *r, uint64_t t)
{
	unsigned char head[LTT_LANE_TAIL_HEAD];
	struct tacho_ltt_out out;
	int err = 0;

	if (!tacho_ltt_map_record(&w->memory, l, &k->mapped, r, &out) ||
	    !tacho_ltt_values_fit(&w->form, out.id, &out.values))
		return -ENODATA;
	if (!(w->event_mask >> out.id & 1))
		return 0;
	if (w->config.full)
		err = add_tail(w, l, k, r, t, &out.values, head);
	if (!err)
		err = tacho_ltt_lane_put(l, t, out.id, out.sub, &out.values,
					 !(l->start.details_mask >> out.id & 1));
	if (!err)
		w->written.mapped++;
	return err;
}

/* Programs have obeyed it by themselves; the kernel does not know of it. */
static void take_mask(struct tacho_ltt_writer *w, const struct tacho_record *r)
{
	struct tacho_ltt_values v;

	tacho_ltt_values_of(r, &v);
	if (w->config.event_mask)
		w->event_mask = v.v[0];
}

static int put_record(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		      struct tacho_ltt_kind *k, const struct tacho_record *r)
{
	uint64_t t = tacho_ltt_lane_time(l, r->time);
	int err;

	if (k->is < LTT_KIND_MAPPED) {
		w->written.own++;
		if (k->is == LTT_KIND_OWN && k->event->id == TRACE_CHANGE_MASK)
			take_mask(w, r);
		return tacho_ltt_copy(w, l, k, r);
	}
	err = tacho_ltt_made(w, l, t);
	if (err)
		return err;
	if (k->is == LTT_KIND_MAPPED) {
		err = put_mapped(w, l, k, r, t);
		if (err != -ENODATA)
			return err;
	}
	if (!(w->event_mask >> TRACE_CUSTOM & 1))
		return 0;
	err = tacho_ltt_embed(w, l, k, r, t);
	if (!err)
		w->written.embedded++;
	return err;
}

int tacho_ltt_writer_record(struct tacho_ltt_writer *w, const struct tacho_record *r,
			    struct tacho_diag *d)
{
	struct tacho_ltt_kind *k = kind_of(w, r, d);
	struct tacho_ltt_lane *l = k ? lane_of(w, r->cpu, d) : NULL;
	char path[4200];
	int err;

	if (!l)
		return d->err;
	err = put_record(w, l, k, r);
	if (tacho_likely(!err))
		return 0;
	if (err == -EMSGSIZE) {
		w->written.too_long++;
		return 0;
	}
	lane_path(w, l->cpu, path, sizeof(path));
	return cannot_write(d, err, path);
}

int tacho_ltt_writer_lost(struct tacho_ltt_writer *w, const struct tacho_record *r,
			  struct tacho_diag *d)
{
	struct tacho_ltt_lane *l = lane_of(w, r->cpu, d);
	char path[4200];
	int err;

	if (!l)
		return d->err;
	err = tacho_ltt_made(w, l, tacho_ltt_lane_time(l, r->time));
	if (!err)
		err = tacho_ltt_embed_lost(w, l, r->lost, tacho_ltt_lane_time(l, r->time));
	if (!err)
		return 0;
	lane_path(w, l->cpu, path, sizeof(path));
	return cannot_write(d, err, path);
}

/* ---- sidecars ------------------------------------------------------------------------------ */

int tacho_ltt_writer_text(struct tacho_ltt_writer *w, const char *name,
			  const char *text, size_t len, struct tacho_diag *d)
{
	char path[4200];
	size_t done = 0;
	int fd, err = 0;

	tacho_buf_put(&w->sidecars, name, strlen(name) + 1);
	if (tacho_buf_error(&w->sidecars))
		return tacho_no_memory(d);
	sidecar_path(w, name, path, sizeof(path));
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (fd < 0)
		return cannot_write(d, -errno, path);
	while (done < len && !err) {
		ssize_t n = write(fd, text + done, len - done);

		if (n >= 0)
			done += (size_t)n;
		else if (errno != EINTR)
			err = -errno;
	}
	if (close(fd) && !err)
		err = -errno;
	w->written.bytes += done;
	return err ? cannot_write(d, err, path) : 0;
}

/* ---- beginning and end ---------------------------------------------------------------------- */

/* "/a/run.ltt/" is run. */
static char *base_of(const char *dir)
{
	size_t len = strlen(dir), from;

	while (len > 1 && dir[len - 1] == '/')
		len--;
	for (from = len; from && dir[from - 1] != '/';)
		from--;
	if (len - from > 4 && !strncmp(dir + len - 4, ".ltt", 4))
		len -= 4;
	return len > from ? strndup(dir + from, len - from) : strdup("trace");
}

static void writer_free(struct tacho_ltt_writer *w)
{
	for (uint32_t i = 0; i < w->nr_lanes; i++) {
		tacho_ltt_lane_release(w->lane[i]);
		free(w->lane[i]);
	}
	for (uint32_t i = 0; i < w->kinds.room; i++)
		free(w->kinds.slot[i].value);
	tacho_hashmap_release(&w->kinds);
	tacho_hashmap_release(&w->ids);
	tacho_hashmap_release(&w->taken);
	tacho_ltt_memory_release(&w->memory);
	tacho_buf_release(&w->text);
	tacho_buf_release(&w->sidecars);
	free(w->lane);
	free(w->dir);
	free(w->base);
	free(w);
}

int tacho_ltt_writer_new(struct tacho_ltt_writer **out, const char *dir,
			 const struct tacho_ltt_config *config, struct tacho_diag *d)
{
	struct tacho_ltt_writer *w = calloc(1, sizeof(*w));

	*out = NULL;
	if (!w)
		return tacho_no_memory(d);
	w->config = *config;
	w->dir = strdup(dir);
	w->base = base_of(dir);
	tacho_buf_init(&w->text, TEXT_MAX);
	tacho_buf_init(&w->sidecars, TEXT_MAX);
	w->next_id = FIRST_ID;
	if (config->stream)
		w->memory.source = tacho_stream_source(config->stream, 0);
	w->form.layout = config->narrow ? TACHO_LTT_32 : TACHO_LTT_64;
	w->form.swap = config->swap;
	for (uint32_t id = 0; id <= TRACE_MAX; id++)
		tacho_ltt_shape(&w->form.shape[id], w->form.layout, false, id);
	set_machine(&w->start, config->machine, config->narrow);
	w->start.buffer_size = config->buffer_size ? config->buffer_size : BUFFER_SIZE;
	w->start.us = config->us;
	w->start.flight = config->flight;
	w->start.event_mask = config->event_mask ? config->event_mask :
						   TRACE_EVENT_MASK_ALL;
	w->event_mask = w->start.event_mask;
	w->start.details_mask = config->details_mask ? config->details_mask :
						       TRACE_EVENT_MASK_ALL;
	if (!w->dir || !w->base || (mkdir(dir, 0777) && errno != EEXIST)) {
		int err = w->dir && w->base ? cannot_write(d, -errno, dir) : tacho_no_memory(d);

		writer_free(w);
		return err;
	}
	*out = w;
	return 0;
}

/* Removes a cancelled output: all files written, and the directory if it is then empty. */
static void remove_files(struct tacho_ltt_writer *w)
{
	char path[4200];

	for (uint32_t i = 0; i < w->nr_lanes; i++) {
		lane_path(w, w->lane[i]->cpu, path, sizeof(path));
		(void)unlink(path);
	}
	for (size_t at = 0; at < w->sidecars.len; at += strlen(w->sidecars.data + at) + 1) {
		sidecar_path(w, w->sidecars.data + at, path, sizeof(path));
		(void)unlink(path);
	}
	(void)rmdir(w->dir);
}

int tacho_ltt_writer_close(struct tacho_ltt_writer *w, bool keep,
			   struct tacho_ltt_written *written, struct tacho_diag *d)
{
	struct tacho_diag before = *d;
	int err = 0;

	/* a directory of nothing would be no trace either */
	if (keep && !w->nr_lanes && !lane_of(w, 0, d))
		err = d->err;
	for (uint32_t i = 0; i < w->nr_lanes; i++) {
		struct tacho_ltt_lane *l = w->lane[i];
		char path[4200];
		int e = keep ? tacho_ltt_lane_end(l, l->t, false) : 0;

		/* a file of nothing would be no trace */
		if (keep && !e && !l->buffers) {
			e = tacho_ltt_lane_begin(l, l->t);
			e = e ? e : tacho_ltt_lane_end(l, l->t, false);
		}
		w->written.bytes += l->bytes;
		w->written.late += l->late;
		lane_path(w, l->cpu, path, sizeof(path));
		if (e && !err)
			err = cannot_write(d, e, path);
	}
	if (!keep)
		remove_files(w);
	if (before.err)
		*d = before;
	if (written)
		*written = w->written;
	writer_free(w);
	return err;
}
