// SPDX-License-Identifier: MIT
/*
 * A log file of LKST (fmt/lkst/log.h).  Its own events one to one; the kernel's by the table of
 * fmt/lkst/kmap.h; others have no number there and are left out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hashmap.h"
#include "base/text.h"
#include "fmt/lkst/kmap.h"
#include "fmt/lkst/record.h"
#include "fmt/lkst/source.h"
#include "fmt/lkst/types.h"
#include "fmt/sink.h"

/* common_flags: in a hard interrupt, a soft one, or an NMI. */
#define FLAGS_INTERRUPT	0x58
#define FLAG_INTERRUPT	0x10u		/* LKST_LOG_INTERRUPT */
#define NO_CPU		UINT16_MAX

/* What becomes of the records of one type. */
struct kind {
	bool own;		/* LKST's: it has all there is */
	bool known;		/* its number is in types */
	struct lkst_kplan plan;	/* of the kernel's; map NULL: it is left out */
};

/* Numbers the records of one buffer where they have no numbers. */
struct counter {
	uint32_t next;
};

struct lkst_sink {
	struct tacho_sink sink;		/* first */
	struct lkst_log_writer *w;
	struct lkst_types types;	/* what the file says by now */
	struct tacho_buf later;		/* and what it has to say at the end */
	struct tacho_hashmap kinds, counters;
	uint64_t left_out;
	/* lost before the next record of a CPU */
	uint64_t lost;
	uint32_t lost_cpu;
};

static int no_memory(struct lkst_sink *o)
{
	return tacho_sink_no_memory(&o->sink);
}

static struct lkst_sink *lkst(struct tacho_sink *sink)
{
	return (struct lkst_sink *)sink;
}

/* ---- types ---- */

static int say_later(struct lkst_sink *o, uint32_t etype)
{
	const struct lkst_type_text *t = lkst_types_get(&o->types, etype);

	if (t)
		lkst_types_put(&o->later, t);
	return tacho_buf_error(&o->later) ? no_memory(o) : 0;
}

/* The first record of an LKST type has the type's number. */
static int add_own_type(struct lkst_sink *o, struct kind *k, const struct tacho_type *type,
		     uint32_t etype)
{
	int got = lkst_types_add_type(&o->types, type, etype);

	k->known = true;
	if (got < 0)
		return no_memory(o);
	return got ? say_later(o, etype) : 0;
}

static int add_kernel_type(struct lkst_sink *o, uint32_t etype)
{
	const struct lkst_etype_text *e = lkst_etype_text(etype);
	struct lkst_type_text t;

	if (!e || lkst_types_get(&o->types, etype))
		return 0;
	t = (struct lkst_type_text){ (uint16_t)etype, e->mnemonic, e->name,
				     { e->arg[0], e->arg[1], e->arg[2], e->arg[3] } };
	if (lkst_types_set(&o->types, &t) == -ENOMEM)
		return no_memory(o);
	return say_later(o, etype);
}

static int plan(struct lkst_sink *o, struct kind *k, const struct tacho_type *type)
{
	const struct lkst_kmap *map = lkst_kmap_find(type->system, type->name);

	/* a kernel whose event has other fields: it is left out like any other */
	if (!map || lkst_kplan_make(&k->plan, map, type, NULL)) {
		k->plan.map = NULL;
		return 0;
	}
	return add_kernel_type(o, map->etype);
}

static struct kind *kind_of(struct lkst_sink *o, const struct tacho_record *r)
{
	struct kind *k = tacho_hashmap_get(&o->kinds, tacho_hashmap_key(r->type));
	int err = 0;

	if (k)
		return k;
	k = calloc(1, sizeof(*k));
	if (!k || tacho_hashmap_set(&o->kinds, tacho_hashmap_key(r->type), k)) {
		free(k);
		(void)no_memory(o);
		return NULL;
	}
	k->own = lkst_record_is(r->type);
	if (!k->own && r->source == TACHO_STREAM_KERNEL)
		err = plan(o, k, r->type);
	return err ? NULL : k;
}

/* ---- records ---- */

static int own_record(struct lkst_sink *o, struct kind *k, const struct tacho_record *r,
		      struct lkst_record *to)
{
	if (!lkst_record_unpack(to, r->raw, r->len, tacho_sink_ticks(&o->sink, r)))
		return -EBADMSG;
	return k->known ? 0 : add_own_type(o, k, r->type, to->etype);
}

static int kernel_record(struct lkst_sink *o, const struct kind *k,
			 const struct tacho_record *r, struct lkst_record *to)
{
	const unsigned char *raw = r->raw;
	int32_t tgid = 0;

	*to = (struct lkst_record){
		.ticks = tacho_sink_ticks(&o->sink, r), .thread = r->pid,
		.uid = UINT32_MAX, .gid = UINT32_MAX, .pgrp = -1,
		.etype = k->plan.map->etype, .flags = LKST_FLAG_KERNEL,
		.cpu = r->cpu < NO_CPU ? (uint16_t)r->cpu : NO_CPU,
	};
	if (!lkst_kplan_args(&k->plan, raw, r->len, to->arg))
		return -EBADMSG;
	if (r->pid)
		(void)tacho_stream_comm(o->sink.config.stream, r->pid, &tgid);
	to->pid = tgid ? tgid : r->pid;
	if (raw[2] & FLAGS_INTERRUPT)
		to->flags |= FLAG_INTERRUPT;
	return 0;
}

/* The buffer that the trace says, by number. */
static int32_t buffer_of(const struct lkst_sink *o, const struct tacho_record *r)
{
	const char *name = tacho_stream_buffer(o->sink.config.stream);
	uint64_t v;

	if (r->len >= 8 * LKST_RAW_LOG)
		return lkst_record_buffer(r->raw, r->len);
	return *name && !tacho_parse_u64(name, 0, INT16_MAX, &v) ? (int32_t)v : 0;
}

static int number(struct lkst_sink *o, struct lkst_record *r, int32_t buffer)
{
	uint64_t key = ((uint64_t)r->cpu << 32 | (uint32_t)buffer) + 1;
	struct counter *n = tacho_hashmap_get(&o->counters, key);

	if (!n) {
		n = calloc(1, sizeof(*n));
		if (!n || tacho_hashmap_set(&o->counters, key, n)) {
			free(n);
			return no_memory(o);
		}
	}
	r->recid = n->next++;
	return 0;
}

static int write_one(struct lkst_sink *o, const struct tacho_record *r,
		     struct lkst_record *to, bool own)
{
	bool numbered = own && r->len >= 8 * LKST_RAW_LOG;
	int32_t buffer = own ? buffer_of(o, r) : 0;
	uint64_t lost = 0;
	int err = numbered ? 0 : number(o, to, buffer);

	if (err)
		return err;
	if (o->lost && o->lost_cpu == to->cpu) {
		lost = o->lost;
		o->lost = 0;
	}
	return lkst_log_write(o->w, to->cpu, buffer, to, 1, lost, &o->sink.diag);
}

static int record(struct tacho_sink *sink, const struct tacho_record *r)
{
	struct lkst_sink *o = lkst(sink);
	struct kind *k = kind_of(o, r);
	struct lkst_record to;
	int err;

	if (!k)
		return sink->diag.err;
	if (!k->own && !k->plan.map) {
		o->left_out++;
		return 0;
	}
	err = k->own ? own_record(o, k, r, &to) : kernel_record(o, k, r, &to);
	if (err == -EBADMSG) {		/* shorter than its type */
		o->left_out++;
		return 0;
	}
	return err ? err : write_one(o, r, &to, k->own);
}

static int flush_lost(struct lkst_sink *o)
{
	uint64_t lost = o->lost;

	o->lost = 0;
	return lost ? lkst_log_write(o->w, o->lost_cpu, 0, NULL, 0, lost, &o->sink.diag) : 0;
}

static int lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	struct lkst_sink *o = lkst(sink);
	int err = flush_lost(o);

	o->lost = r->lost;
	o->lost_cpu = r->cpu < NO_CPU ? r->cpu : NO_CPU;
	return err;
}

/* ---- the file ---- */

static bool take_uuid(const char *text, uint8_t uuid[16])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < 32; i++) {
		const char *d = text[i] ? strchr(digits, text[i]) : NULL;

		if (!d)
			return false;
		uuid[i / 2] = (uint8_t)(uuid[i / 2] << 4 | (d - digits));
	}
	return !text[32];
}

/* What the trace knows of LKST's types before any record is read. */
static int first_types(struct lkst_sink *o, struct tacho_buf *text)
{
	struct tacho_source *s;
	int err = 0;

	for (uint32_t i = 0; !err && (s = tacho_stream_source(o->sink.config.stream, i)); i++) {
		tacho_buf_reset(text);
		if (s->ops->text && !s->ops->text(s, LKST_ETYPES_TEXT, text))
			err = lkst_types_parse(&o->types, text->data, text->len, false,
					       &o->sink.diag);
	}
	tacho_buf_reset(text);
	lkst_types_text(&o->types, text);
	if (!err && tacho_buf_error(text))
		err = no_memory(o);
	return err;
}

/* The clock pair of the log file from which the trace was converted, if it is still valid. */
static void take_pair(const struct lkst_sink *o, struct lkst_log_config *config)
{
	const char *pair = tacho_stream_env(o->sink.config.stream, LKST_FACT_PAIR);
	const struct tacho_clock_map *clock = &tacho_stream_source(o->sink.config.stream, 0)->clock;
	unsigned long long tsc, realtime;

	if (!pair || sscanf(pair, "%llu %llu", &tsc, &realtime) != 2 ||
	    tacho_clock_ns(clock, tsc) - realtime + 1 > 2)
		return;
	config->tsc = tsc;
	config->realtime = realtime;
}

static int create(struct lkst_sink *o)
{
	const struct tacho_stream *s = o->sink.config.stream;
	const char *own = tacho_stream_env(s, LKST_FACT_UUID);
	const char *uuid = own ? own : tacho_stream_env(s, "uuid");
	struct lkst_log_config config = { .freq = TACHO_NS_PER_S };
	struct tacho_buf text;
	uint8_t bytes[16] = { 0 };
	int err;

	config.arch = tacho_stream_env(s, "machine");
	if (uuid && take_uuid(uuid, bytes))
		config.uuid = bytes;
	if (o->sink.own_clock) {
		config.freq = tacho_stream_source(s, 0)->clock.freq;
		config.realtime = tacho_stream_source(s, 0)->clock.base;
		take_pair(o, &config);
	}
	tacho_buf_init(&text, LKST_TYPES_TEXT_MAX);
	err = first_types(o, &text);
	config.types = text.data;
	config.types_len = text.len;
	if (!err)
		err = lkst_log_create(&o->w, o->sink.config.path, &config, &o->sink.diag);
	tacho_buf_release(&text);
	return err;
}

static void release_map(struct tacho_hashmap *m)
{
	for (uint32_t i = 0; i < m->room; i++)
		free(m->slot[i].value);
	tacho_hashmap_release(m);
}

static void release(struct lkst_sink *o)
{
	release_map(&o->kinds);
	release_map(&o->counters);
	lkst_types_release(&o->types);
	tacho_buf_release(&o->later);
}

static int begin(struct tacho_sink *sink)
{
	struct lkst_sink *o = lkst(sink);
	int err;

	lkst_types_init(&o->types);
	tacho_buf_init(&o->later, LKST_TYPES_TEXT_MAX);
	err = create(o);
	if (err)
		release(o);
	return err;
}

static int close_log(struct lkst_sink *o, bool good)
{
	int err = good ? flush_lost(o) : 0, close_err;

	if (good && !err)
		err = lkst_log_write_types(o->w, o->later.data, o->later.len, &o->sink.diag);
	if (good && !err)
		err = lkst_log_flush(o->w, &o->sink.diag);
	o->sink.bytes = lkst_log_bytes(o->w);
	close_err = lkst_log_close(o->w, &o->sink.diag);
	return err ? err : close_err;
}

static int end(struct tacho_sink *sink, bool good)
{
	struct lkst_sink *o = lkst(sink);
	struct stat st;
	int err = close_log(o, good);

	/* a file whose end is missing does not show it */
	if ((!good || err) && !stat(sink->config.path, &st) && S_ISREG(st.st_mode))
		(void)unlink(sink->config.path);
	sink->events -= o->left_out;
	if (good && !err && o->left_out)
		tacho_observer_note(sink->config.observer,
				    "%llu events have no number in LKST and are left out",
				    (unsigned long long)o->left_out);
	release(o);
	return err;
}

const struct tacho_sink_format tacho_sink_lkst = {
	.name = "lkst", .extensions = " .lkst ", .size = sizeof(struct lkst_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
};
