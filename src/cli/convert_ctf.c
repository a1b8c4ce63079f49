// SPDX-License-Identifier: MIT
/*
 * A trace of our own: the records are dealt out again to one lane per CPU and kind of
 * source.  Type ids stay where they can.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/hashmap.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/convert.h"
#include "event/type.h"
#include "fmt/ctf/layout.h"
#include "fmt/ctf/write.h"
#include "fmt/lkst/types.h"
#include "session/objects.h"

/* Packets of all lanes together are held in about this much memory. */
#define LANES_BYTES	((size_t)24 << 20)
#define PACKET_MAX	((size_t)256 << 10)
#define PACKET_MIN	((size_t)8 << 10)
/* A packet must not span more, or its times could not be rebuilt. */
#define PACKET_TICKS	(UINT64_C(1) << (TACHO_TIME_BITS - 2))
#define IDS		65536u
#define FORMAT_MAX	TACHO_CTF_FORMAT_MAX

struct lane {
	uint32_t stream_id, cpu;
	struct tacho_buf records;
	uint64_t begin, last;	/* ticks */
	uint64_t lost;		/* so far, for events_discarded */
	bool untold;		/* some of it by no packet yet */
	uint64_t seq, first;
	uint32_t events;
};

struct ctf_out {
	struct cli_convert *c;
	struct tacho_ctf_writer *w;
	struct tacho_diag d;
	struct lane *lane;
	size_t nr_lanes;
	size_t last_lane;
	struct tacho_hashmap known;	/* id in the output, by type of the input */
	struct ids {
		struct tacho_hashmap by_text;	/* id, by hash of a type's text */
		bool taken[IDS];
		uint32_t low;		/* ids below are taken */
	} *ids;				/* by stream id */
	struct tacho_buf format;
	uint64_t left_out;		/* by the writer */
};

/* ---- types ----------------------------------------------------------------- */

/* Ids are values of the maps: 0 is none. */
static uint32_t id_of(const struct tacho_hashmap *m, uint64_t key)
{
	return (uint32_t)(uintptr_t)tacho_hashmap_get(m, key);
}

static int set_id(struct ctf_out *o, struct tacho_hashmap *m, uint64_t key, uint32_t id)
{
	return tacho_hashmap_set(m, key, (void *)(uintptr_t)id) ?
	       tacho_diag(&o->d, -ENOMEM, 0, "out of memory") : 0;
}

/* The type's own id if nobody has it, else the lowest free one; IDS: there is none. */
static uint32_t free_id(struct ids *ids, const struct tacho_type *type)
{
	if (type->id && type->id < IDS && !ids->taken[type->id])
		return type->id;
	while (ids->low < IDS && ids->taken[ids->low])
		ids->low++;
	return ids->low;
}

/* What the type is told from others by: its names and its format, as a hash. */
static int text_hash(struct ctf_out *o, const struct tacho_type *type, uint64_t *hash)
{
	tacho_buf_reset(&o->format);
	tacho_type_write(type, false, &o->format);
	if (tacho_buf_error(&o->format))
		return tacho_diag(&o->d, tacho_buf_error(&o->format), 0, "the format of '%s:%s' is too long",
				  type->system, type->name);
	*hash = tacho_hash(type->system, strlen(type->system) + 1, 0);
	*hash = tacho_hash(type->name, strlen(type->name) + 1, *hash);
	*hash = tacho_hash(o->format.data, o->format.len, *hash);
	return 0;
}

/* Equal types are one in the output. */
static int enter_type(struct ctf_out *o, const struct tacho_type *type,
		      uint32_t stream_id, uint32_t *id)
{
	struct ids *ids = &o->ids[stream_id];
	uint64_t text = 0;
	int err = text_hash(o, type, &text);

	*id = err ? 0 : id_of(&ids->by_text, text);
	while (!err && !*id) {
		uint32_t next = free_id(ids, type);

		if (next == IDS)
			return tacho_diag(&o->d, -ENOSPC, 0, "too many event types");
		ids->taken[next] = true;
		err = tacho_ctf_writer_type(o->w, stream_id, next, type->system,
					    type->name, o->format.data,
					    o->format.len, &o->d);
		if (!err) {
			*id = next;
			err = set_id(o, &ids->by_text, text, next);
		} else if (err == -ENOSPC) {
			/* the writer took this id for a stand-in: it is gone */
			err = 0;
			o->d = (struct tacho_diag){ 0 };
		}
	}
	return err;
}

static int type_id(struct ctf_out *o, const struct tacho_type *type,
		   uint32_t stream_id, uint32_t *id)
{
	int err;

	*id = id_of(&o->known, tacho_hashmap_key(type));
	if (tacho_likely(*id))
		return 0;
	err = enter_type(o, type, stream_id, id);
	return err ? err : set_id(o, &o->known, tacho_hashmap_key(type), *id);
}

/* ---- lanes ----------------------------------------------------------------- */

static struct lane *find_lane(struct ctf_out *o, uint32_t stream_id,
			      uint32_t cpu)
{
	struct lane *l;

	for (size_t n = 0, i = o->last_lane; n < o->nr_lanes; n++, i++) {
		if (i >= o->nr_lanes)
			i = 0;
		if (o->lane[i].cpu == cpu && o->lane[i].stream_id == stream_id) {
			o->last_lane = i;
			return &o->lane[i];
		}
	}
	l = reallocarray(o->lane, o->nr_lanes + 1, sizeof(*l));
	if (!l) {
		tacho_diag(&o->d, -ENOMEM, 0, "out of memory");
		return NULL;
	}
	o->lane = l;
	o->last_lane = o->nr_lanes;
	l = &l[o->nr_lanes++];
	*l = (struct lane){ .stream_id = stream_id, .cpu = cpu };
	tacho_buf_init(&l->records, PACKET_MAX + 2 * TACHO_RECORD_MAX);
	return l;
}

static int flush(struct ctf_out *o, struct lane *l)
{
	struct tacho_packet p = {
		.stream_id = l->stream_id,
		.stream_instance_id = l->cpu,
		.timestamp_begin = l->begin,
		.timestamp_end = l->last,
		.packet_seq_num = l->seq++,
		.events_discarded = l->lost,
		.cpu_id = l->cpu,
		.event_first = l->first,
	};
	int err = tacho_ctf_writer_packet(o->w, &p, l->records.data,
					  l->records.len, &o->d);

	l->first += l->events;
	l->events = 0;
	l->untold = false;
	tacho_buf_reset(&l->records);
	return err;
}

static size_t packet_size(const struct ctf_out *o)
{
	size_t size = LANES_BYTES / (o->nr_lanes + 1);

	return size > PACKET_MAX ? PACKET_MAX :
	       size < PACKET_MIN ? PACKET_MIN : size;
}

/* A packet's count is what was lost until its first record. */
static int add_lost(struct ctf_out *o, const struct tacho_record *r)
{
	struct lane *l = find_lane(o, r->source, r->cpu);
	int err = l ? 0 : o->d.err;

	if (!err && l->events)
		err = flush(o, l);
	if (err)
		return err;
	if (!l->seq)
		l->last = cli_convert_ticks(o->c, r);
	l->lost += r->lost;
	l->untold = true;
	return 0;
}

static int add(struct ctf_out *o, const struct tacho_record *r)
{
	uint64_t ticks = cli_convert_ticks(o->c, r);
	struct lane *l = find_lane(o, r->source, r->cpu);
	uint32_t id = 0, size = r->len + 8;
	char *to;
	int err = l ? type_id(o, r->type, r->source, &id) : o->d.err;

	if (!err && l->events && (l->records.len + size > packet_size(o) ||
				  ticks - l->begin >= PACKET_TICKS))
		err = flush(o, l);
	if (err)
		return err;
	if (!l->events)
		l->begin = ticks;
	to = tacho_buf_reserve(&l->records, size);
	if (!to)
		return tacho_diag(&o->d, tacho_buf_error(&l->records), 0,
				  "out of memory");
	tacho_put_u64(to, tacho_record_word(ticks, size));
	memcpy(to + 8, r->raw, r->len);
	tacho_put_u16(to + 8, (uint16_t)id);
	tacho_buf_commit(&l->records, size);
	l->last = ticks;
	l->events++;
	return 0;
}

/* ---- what is not records ----------------------------------------------------- */

/* Facts of the old trace that are the new one's too. */
static int copy_facts(struct ctf_out *o)
{
	static const char *const own[] = { "tacho-trace", "state",
		"byte_order", "uuid", "clock", "freq", "pair", "session",
		"tracer_name", "tracer_version", "tracer_major", "tracer_minor",
		"tracer_patchlevel", "domain", "trace_name", "cpus" };
	const struct tacho_source *s = tacho_stream_source(o->c->trace.stream, 0);
	char cpus[16];
	int err;

	(void)snprintf(cpus, sizeof(cpus), "%u", tacho_stream_cpus(o->c->trace.stream));
	err = tacho_ctf_writer_env(o->w, "cpus", cpus, &o->d);
	for (const struct tacho_fact *f = s ? s->facts.env : NULL; f && !err;
	     f = f->next) {
		bool skip = f->name[strspn(f->name, "abcdefghijklmnopqrstuvwxyz"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")];

		for (size_t i = 0; i < TACHO_ARRAY_SIZE(own); i++)
			skip |= !strcmp(f->name, own[i]);
		if (!skip)
			err = tacho_ctf_writer_env(o->w, f->name, f->value, &o->d);
	}
	return err;
}

static int copy_tasks(struct ctf_out *o)
{
	struct tacho_facts all;
	struct tacho_buf text;
	int err;

	tacho_facts_init(&all);
	tacho_buf_init(&text, (size_t)64 << 20);
	err = cli_convert_tasks(o->c->trace.stream, &all);
	for (size_t k = 0; k < all.nr_tasks; k++)
		tacho_buf_printf(&text, "%d %d %.16s\n", all.task[k].pid,
				 all.task[k].tgid, all.task[k].comm);
	if (!err)
		err = tacho_buf_error(&text);
	if (err)
		tacho_diag(&o->d, err, 0, "out of memory");
	else if (text.len)
		err = tacho_ctf_writer_text(o->w, "cmdlines", text.data, text.len,
					    &o->d);
	tacho_buf_release(&text);
	tacho_facts_release(&all);
	return err;
}

static int copy_text(struct ctf_out *o, const char *name)
{
	struct tacho_buf text;
	int err = 0;

	tacho_buf_init(&text, (size_t)64 << 20);
	if (!tacho_stream_text(o->c->trace.stream, name, &text) && text.len)
		err = tacho_ctf_writer_text(o->w, name, text.data, text.len, &o->d);
	tacho_buf_release(&text);
	return err;
}

/* What the programs of all sources had mapped: text that can be put together. */
static int copy_objects(struct ctf_out *o)
{
	struct tacho_source *s;
	struct tacho_buf text;
	int err = 0;

	tacho_buf_init(&text, 4 * TACHO_OBJECTS_MAX);
	for (uint32_t i = 0; (s = tacho_stream_source(o->c->trace.stream, i)); i++) {
		size_t before = text.len;

		if (s->ops->text && s->ops->text(s, TACHO_OBJECTS, &text))
			text.len = before;	/* not there, or not known */
		tacho_buf_putc(&text, '\n');
	}
	if (tacho_buf_error(&text) == -ENOMEM)
		err = tacho_diag(&o->d, -ENOMEM, 0, "out of memory");
	else if (!tacho_buf_error(&text) && memmem(text.data, text.len, "\nprocess ", 9))
		err = tacho_ctf_writer_text(o->w, TACHO_OBJECTS, text.data, text.len,
					    &o->d);
	tacho_buf_release(&text);
	return err;
}

/* ---- all --------------------------------------------------------------------- */

/* What a lane lost behind its last record is told by a packet without any. */
static int finish_lanes(struct ctf_out *o)
{
	int err = 0;

	for (size_t i = 0; i < o->nr_lanes && !err; i++) {
		struct lane *l = &o->lane[i];

		if (!l->events)
			l->begin = l->last;
		if (l->events || l->untold)
			err = flush(o, l);
	}
	return err;
}

static int copy_rest(struct ctf_out *o)
{
	int err = finish_lanes(o);

	if (!err)
		err = copy_tasks(o);
	if (!err)
		err = copy_text(o, "kallsyms");
	if (!err)
		err = copy_objects(o);
	if (!err)
		err = copy_text(o, "syscalls");
	if (!err)
		err = copy_text(o, "printk_formats");
	if (!err)
		err = copy_text(o, LKST_ETYPES_TEXT);
	return err;
}

static int new_writer(struct ctf_out *o)
{
	const struct tacho_stream *s = o->c->trace.stream;
	const struct tacho_source *source = tacho_stream_source(s, 0);
	struct tacho_ctf_info info = { .clock = "realtime",
				       .clock_freq = TACHO_NS_PER_S };
	const char *clock = tacho_stream_env(s, "clock");

	if (o->c->own_clock) {
		info.clock = clock ? clock : "unknown";
		info.clock_freq = source->clock.freq;
		info.realtime = source->clock.base;
	}
	o->ids = calloc(TACHO_NR_STREAM_IDS, sizeof(*o->ids));
	if (!o->ids)
		return tacho_diag(&o->d, -ENOMEM, 0, "out of memory");
	for (int i = 0; i < TACHO_NR_STREAM_IDS; i++)
		o->ids[i].low = 1;
	return tacho_ctf_writer_new(&o->w, o->c->out, &info, &o->d);
}

static int fail(const struct ctf_out *o, int err)
{
	return o->d.text[0] ? cli_fail_diag(&o->d) :
	       cli_fail("cannot write '%s': %s", o->c->out, strerror(-err));
}

static void release(struct ctf_out *o)
{
	for (size_t i = 0; i < o->nr_lanes; i++)
		tacho_buf_release(&o->lane[i].records);
	free(o->lane);
	tacho_hashmap_release(&o->known);
	for (int i = 0; o->ids && i < TACHO_NR_STREAM_IDS; i++)
		tacho_hashmap_release(&o->ids[i].by_text);
	free(o->ids);
	tacho_buf_release(&o->format);
	free(o);
}

static int close_writer(struct ctf_out *o)
{
	int err;

	o->c->bytes = tacho_ctf_writer_bytes(o->w);
	o->left_out = tacho_ctf_writer_lost(o->w);
	err = tacho_ctf_writer_close(o->w, &o->d);
	o->w = NULL;
	return err;
}

/* ---- the format ---------------------------------------------------------------- */

static int begin(struct cli_convert *c, void **writer)
{
	struct ctf_out *o = calloc(1, sizeof(*o));
	int err;

	if (!o)
		return cli_fail("out of memory");
	o->c = c;
	tacho_buf_init(&o->format, FORMAT_MAX);
	err = new_writer(o);
	if (!err)
		err = copy_facts(o);
	if (!err) {
		*writer = o;
		return CLI_OK;
	}
	(void)fail(o, err);
	if (o->w)
		(void)close_writer(o);
	release(o);
	return CLI_FAILED;
}

static int lost(void *writer, const struct tacho_record *r)
{
	int err = add_lost(writer, r);

	return err ? fail(writer, err) : CLI_OK;
}

static int record(void *writer, const struct tacho_record *r)
{
	int err = add(writer, r);

	return err ? fail(writer, err) : CLI_OK;
}

static int end(void *writer, bool good)
{
	struct ctf_out *o = writer;
	int ret = CLI_OK, err = good ? copy_rest(o) : 0;

	if (err)
		ret = fail(o, err);
	err = close_writer(o);
	if (err && good && ret == CLI_OK)
		ret = fail(o, err);
	if (good && ret == CLI_OK && o->left_out)
		ret = cli_fail("%llu events could not be written; they are counted as lost",
			       (unsigned long long)o->left_out);
	release(o);
	return ret;
}

const struct cli_format cli_format_ctf = {
	.name = "ctf", .extensions = "", .directory = true,
	.begin = begin, .lost = lost, .record = record, .end = end,
};
