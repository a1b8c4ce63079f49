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
#include "event/type.h"
#include "fmt/ctf/layout.h"
#include "fmt/ctf/write.h"
#include "fmt/lkst/types.h"
#include "fmt/sink.h"

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
	bool unreported;	/* some of it is in no packet yet */
	uint64_t seq, first;
	uint32_t events;
};

struct ctf_sink {
	struct tacho_sink sink;		/* first */
	struct tacho_ctf_writer *w;
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

/* Ids are values of the maps: 0 means no id. */
static uint32_t id_of(const struct tacho_hashmap *m, uint64_t key)
{
	return (uint32_t)(uintptr_t)tacho_hashmap_get(m, key);
}

static int set_id(struct ctf_sink *o, struct tacho_hashmap *m, uint64_t key, uint32_t id)
{
	return tacho_hashmap_set(m, key, (void *)(uintptr_t)id) ?
	       tacho_no_memory(&o->sink.diag) : 0;
}

/* The type's own id if it is free, otherwise the lowest free one; IDS: none is free. */
static uint32_t free_id(struct ids *ids, const struct tacho_type *type)
{
	if (type->id && type->id < IDS && !ids->taken[type->id])
		return type->id;
	while (ids->low < IDS && ids->taken[ids->low])
		ids->low++;
	return ids->low;
}

/* The identity of a type: a hash of its names and its format. */
static int text_hash(struct ctf_sink *o, const struct tacho_type *type, uint64_t *hash)
{
	tacho_buf_reset(&o->format);
	tacho_type_write(type, false, &o->format);
	if (tacho_buf_error(&o->format))
		return tacho_diag(&o->sink.diag, tacho_buf_error(&o->format), 0, "the format of '%s:%s' is too long",
				  type->system, type->name);
	*hash = tacho_hash(type->system, strlen(type->system) + 1, 0);
	*hash = tacho_hash(type->name, strlen(type->name) + 1, *hash);
	*hash = tacho_hash(o->format.data, o->format.len, *hash);
	return 0;
}

/* Equal types are one in the output. */
static int enter_type(struct ctf_sink *o, const struct tacho_type *type,
		      uint32_t stream_id, uint32_t *id)
{
	struct ids *ids = &o->ids[stream_id];
	uint64_t text = 0;
	int err = text_hash(o, type, &text);

	*id = err ? 0 : id_of(&ids->by_text, text);
	while (!err && !*id) {
		uint32_t next = free_id(ids, type);

		if (next == IDS)
			return tacho_diag(&o->sink.diag, -ENOSPC, 0, "too many event types");
		ids->taken[next] = true;
		err = tacho_ctf_writer_type(o->w, stream_id, next, type->system,
					    type->name, o->format.data,
					    o->format.len, &o->sink.diag);
		if (!err) {
			*id = next;
			err = set_id(o, &ids->by_text, text, next);
		} else if (err == -ENOSPC) {
			/* the writer took this id for a substitute type */
			err = 0;
			o->sink.diag = (struct tacho_diag){ 0 };
		}
	}
	return err;
}

static int type_id(struct ctf_sink *o, const struct tacho_type *type,
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

static struct lane *find_lane(struct ctf_sink *o, uint32_t stream_id,
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
		tacho_no_memory(&o->sink.diag);
		return NULL;
	}
	o->lane = l;
	o->last_lane = o->nr_lanes;
	l = &l[o->nr_lanes++];
	*l = (struct lane){ .stream_id = stream_id, .cpu = cpu };
	tacho_buf_init(&l->records, PACKET_MAX + 2 * TACHO_RECORD_MAX);
	return l;
}

static int flush(struct ctf_sink *o, struct lane *l)
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
					  l->records.len, &o->sink.diag);

	l->first += l->events;
	l->events = 0;
	l->unreported = false;
	tacho_buf_reset(&l->records);
	return err;
}

static size_t packet_size(const struct ctf_sink *o)
{
	size_t size = LANES_BYTES / (o->nr_lanes + 1);

	return size > PACKET_MAX ? PACKET_MAX :
	       size < PACKET_MIN ? PACKET_MIN : size;
}

/* A packet's count is what was lost until its first record. */
static int add_lost(struct ctf_sink *o, const struct tacho_record *r)
{
	struct lane *l = find_lane(o, r->source, r->cpu);
	int err = l ? 0 : o->sink.diag.err;

	if (!err && l->events)
		err = flush(o, l);
	if (err)
		return err;
	if (!l->seq)
		l->last = tacho_sink_ticks(&o->sink, r);
	l->lost += r->lost;
	l->unreported = true;
	return 0;
}

static int add(struct ctf_sink *o, const struct tacho_record *r)
{
	uint64_t ticks = tacho_sink_ticks(&o->sink, r);
	struct lane *l = find_lane(o, r->source, r->cpu);
	uint32_t id = 0, size = r->len + 8;
	char *to;
	int err = l ? type_id(o, r->type, r->source, &id) : o->sink.diag.err;

	if (!err && l->events && (l->records.len + size > packet_size(o) ||
				  ticks - l->begin >= PACKET_TICKS))
		err = flush(o, l);
	if (err)
		return err;
	if (!l->events)
		l->begin = ticks;
	to = tacho_buf_reserve(&l->records, size);
	if (!to)
		return tacho_diag(&o->sink.diag, tacho_buf_error(&l->records), 0,
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
static int copy_facts(struct ctf_sink *o)
{
	static const char *const own[] = { "tacho-trace", "state",
		"byte_order", "uuid", "clock", "freq", "pair", "session",
		"tracer_name", "tracer_version", "tracer_major", "tracer_minor",
		"tracer_patchlevel", "domain", "trace_name", "cpus" };
	const struct tacho_source *s = tacho_stream_source(o->sink.config.stream, 0);
	char cpus[16];
	int err;

	(void)snprintf(cpus, sizeof(cpus), "%u", tacho_stream_cpus(o->sink.config.stream));
	err = tacho_ctf_writer_env(o->w, "cpus", cpus, &o->sink.diag);
	for (const struct tacho_fact *f = s ? s->facts.env : NULL; f && !err;
	     f = f->next) {
		bool skip = f->name[strspn(f->name, "abcdefghijklmnopqrstuvwxyz"
				"ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789")];

		for (size_t i = 0; i < TACHO_ARRAY_SIZE(own); i++)
			skip |= !strcmp(f->name, own[i]);
		if (!skip)
			err = tacho_ctf_writer_env(o->w, f->name, f->value, &o->sink.diag);
	}
	return err;
}

static int copy_tasks(struct ctf_sink *o)
{
	struct tacho_facts all;
	struct tacho_buf text;
	int err;

	tacho_facts_init(&all);
	tacho_buf_init(&text, (size_t)64 << 20);
	err = tacho_stream_tasks(o->sink.config.stream, &all);
	for (size_t k = 0; k < all.nr_tasks; k++)
		tacho_buf_printf(&text, "%d %d %.16s\n", all.task[k].pid,
				 all.task[k].tgid, all.task[k].comm);
	if (!err)
		err = tacho_buf_error(&text);
	if (err)
		tacho_diag(&o->sink.diag, err, 0, "out of memory");
	else if (text.len)
		err = tacho_ctf_writer_text(o->w, "cmdlines", text.data, text.len,
					    &o->sink.diag);
	tacho_buf_release(&text);
	tacho_facts_release(&all);
	return err;
}

static int copy_text(struct ctf_sink *o, const char *name)
{
	struct tacho_buf text;
	int err = 0;

	tacho_buf_init(&text, (size_t)64 << 20);
	if (!tacho_stream_text(o->sink.config.stream, name, &text) && text.len)
		err = tacho_ctf_writer_text(o->w, name, text.data, text.len, &o->sink.diag);
	tacho_buf_release(&text);
	return err;
}

/* What the programs of all sources had mapped. */
static int copy_objects(struct ctf_sink *o)
{
	struct tacho_buf text;
	int err = tacho_stream_objects(o->sink.config.stream, &text);

	if (err)
		tacho_sink_no_memory(&o->sink);
	else if (text.len)
		err = tacho_ctf_writer_text(o->w, "objects", text.data, text.len,
					    &o->sink.diag);
	tacho_buf_release(&text);
	return err;
}

/* ---- all --------------------------------------------------------------------- */

/* What a lane lost after its last record is reported by a packet without records. */
static int finish_lanes(struct ctf_sink *o)
{
	int err = 0;

	for (size_t i = 0; i < o->nr_lanes && !err; i++) {
		struct lane *l = &o->lane[i];

		if (!l->events)
			l->begin = l->last;
		if (l->events || l->unreported)
			err = flush(o, l);
	}
	return err;
}

static int copy_rest(struct ctf_sink *o)
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

static int new_writer(struct ctf_sink *o)
{
	const struct tacho_stream *s = o->sink.config.stream;
	const struct tacho_source *source = tacho_stream_source(s, 0);
	struct tacho_ctf_info info = { .clock = "realtime",
				       .clock_freq = TACHO_NS_PER_S };
	const char *clock = tacho_stream_env(s, "clock");

	if (o->sink.own_clock) {
		info.clock = clock ? clock : "unknown";
		info.clock_freq = source->clock.freq;
		info.realtime = source->clock.base;
	}
	o->ids = calloc(TACHO_NR_STREAM_IDS, sizeof(*o->ids));
	if (!o->ids)
		return tacho_no_memory(&o->sink.diag);
	for (int i = 0; i < TACHO_NR_STREAM_IDS; i++)
		o->ids[i].low = 1;
	return tacho_ctf_writer_new(&o->w, o->sink.config.path, &info, &o->sink.diag);
}

static void release(struct ctf_sink *o)
{
	for (size_t i = 0; i < o->nr_lanes; i++)
		tacho_buf_release(&o->lane[i].records);
	free(o->lane);
	tacho_hashmap_release(&o->known);
	for (int i = 0; o->ids && i < TACHO_NR_STREAM_IDS; i++)
		tacho_hashmap_release(&o->ids[i].by_text);
	free(o->ids);
	tacho_buf_release(&o->format);
}

static int close_writer(struct ctf_sink *o)
{
	int err;

	o->sink.bytes = tacho_ctf_writer_bytes(o->w);
	o->left_out = tacho_ctf_writer_lost(o->w);
	err = tacho_ctf_writer_close(o->w, &o->sink.diag);
	o->w = NULL;
	return err;
}

/* ---- the format ---------------------------------------------------------------- */

static struct ctf_sink *ctf(struct tacho_sink *sink)
{
	return (struct ctf_sink *)sink;
}

static int begin(struct tacho_sink *sink)
{
	struct ctf_sink *o = ctf(sink);
	int err;

	tacho_buf_init(&o->format, FORMAT_MAX);
	err = new_writer(o);
	if (!err)
		err = copy_facts(o);
	if (!err)
		return 0;
	if (o->w)
		(void)close_writer(o);
	release(o);
	return err;
}

static int lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	return add_lost(ctf(sink), r);
}

static int record(struct tacho_sink *sink, const struct tacho_record *r)
{
	return add(ctf(sink), r);
}

/* A directory that is not whole stays: its state is "open", as a killed recorder leaves it. */
static int end(struct tacho_sink *sink, bool good)
{
	struct ctf_sink *o = ctf(sink);
	int err = good ? copy_rest(o) : 0, close_err = close_writer(o);

	if (!err)
		err = close_err;
	if (good && !err && o->left_out)
		err = tacho_diag(&sink->diag, -ENOSPC, 0,
				 "%llu events could not be written; they are counted as lost",
				 (unsigned long long)o->left_out);
	release(o);
	return err;
}

const struct tacho_sink_format tacho_sink_ctf = {
	.name = "ctf", .extensions = "", .directory = true,
	.size = sizeof(struct ctf_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
};
