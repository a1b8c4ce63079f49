// SPDX-License-Identifier: MIT
/* <tacho/sink.h>: sinks (fmt/sink.h) for programs of others. */
#include "tacho/sink.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/sized.h"
#include "fmt/sink.h"
#include "stream/define.h"
#include "tacho/abi/record.h"

/* Additional data of a sink that a program opened. */
struct tacho_sink_owner {
	struct tacho_observer observer;
	struct tacho_error error;	/* what tacho_sink_error() lends */
	char *path;
	uint64_t last;			/* time of the event before; 0: none */
	struct tacho_buf raw;
};

const char *tacho_sink_format_name(uint32_t index)
{
	const struct tacho_sink_format *f = tacho_sink_format_at(index);

	return f ? f->name : NULL;
}

/* ---- open ---------------------------------------------------------------------------- */

/* Bytes of the structs of version 1.0. */
#define OPTIONS_SIZE_1_0	(offsetof(struct tacho_sink_options, arg) + sizeof(void *))
#define RECORD_SIZE_1_0		(offsetof(struct tacho_record, lost) + sizeof(uint64_t))

static int take_options(struct tacho_sink_options *to, const struct tacho_sink_options *from,
			struct tacho_diag *d)
{
	int err;

	*to = (struct tacho_sink_options){ 0 };
	err = from ? tacho_sized_get(to, sizeof(*to), from, OPTIONS_SIZE_1_0) : 0;
	if (err == -E2BIG)
		return tacho_diag(d, err, 0, "the options have members that this library does "
				  "not know");
	return err ? tacho_diag(d, err, 0, "struct_size %u is too small for a struct "
				"tacho_sink_options", from->struct_size) : 0;
}

static void owner_free(struct tacho_sink_owner *o)
{
	if (!o)
		return;
	tacho_buf_release(&o->raw);
	free(o->path);
	free(o);
}

static struct tacho_sink_owner *owner_new(const char *path,
					  const struct tacho_sink_options *opt)
{
	struct tacho_sink_owner *o = calloc(1, sizeof(*o));

	if (!o)
		return NULL;
	tacho_buf_init(&o->raw, TACHO_RAW_MAX);
	o->observer = (struct tacho_observer){ .note = opt->note, .arg = opt->arg };
	o->path = strdup(path);
	if (o->path)
		return o;
	owner_free(o);
	return NULL;
}

static int open_sink(struct tacho_sink **sink, struct tacho_stream *stream, const char *path,
		     const struct tacho_sink_options *options, struct tacho_diag *d)
{
	struct tacho_sink_config config = { .stream = stream };
	const struct tacho_sink_format *format;
	struct tacho_sink_options opt;
	struct tacho_sink_owner *o;

	if (take_options(&opt, options, d))
		return d->err;
	format = opt.format ? tacho_sink_format_named(opt.format, d) :
		 tacho_sink_format_of(path);
	if (!format)
		return d->err;
	o = owner_new(path, &opt);
	if (!o)
		return tacho_diag(d, -ENOMEM, 0, "out of memory");
	config.path = o->path;
	config.observer = &o->observer;
	if (tacho_sink_begin(sink, format, &config, d)) {
		owner_free(o);
		return d->err;
	}
	(*sink)->owner = o;
	return 0;
}

int tacho_sink_open(struct tacho_sink **sink, struct tacho_stream *stream, const char *path,
		    const struct tacho_sink_options *options, struct tacho_error *error)
{
	struct tacho_diag d = { 0 };
	int err;

	*sink = NULL;
	err = open_sink(sink, stream, path, options, &d);
	return err ? tacho_error_from(error, &d) : 0;
}

/* A call is rejected, and the sink continues. */
static int refuse(struct tacho_sink *sink, const char *why)
{
	struct tacho_diag d = { 0 };

	tacho_diag(&d, -EINVAL, 0, "%s", why);
	return tacho_error_from(&sink->owner->error, &d);
}

/* ---- records of a stream --------------------------------------------------------------- */

/* The record of a caller that was compiled for another version. */
static bool take_record(struct tacho_record *to, const struct tacho_record *from)
{
	if (from->struct_size < RECORD_SIZE_1_0)
		return false;
	*to = (struct tacho_record){ 0 };
	memcpy(to, from, from->struct_size < sizeof(*to) ? from->struct_size : sizeof(*to));
	return true;
}

/* After an error nothing but the end is called. */
static int put(struct tacho_sink *sink, const struct tacho_record *r, bool wanted)
{
	struct tacho_record own;
	int err = sink->diag.err;

	sink->owner->error.err = 0;
	if (err)
		return err;
	if (tacho_unlikely(r->struct_size != sizeof(own))) {
		if (!take_record(&own, r))
			return refuse(sink, "struct_size is too small for a struct tacho_record");
		r = &own;
	}
	if (tacho_unlikely(r->lost))
		err = tacho_sink_lost(sink, r);
	return err || !wanted ? err : tacho_sink_record(sink, r);
}

int tacho_sink_put(struct tacho_sink *sink, const struct tacho_record *r)
{
	return put(sink, r, true);
}

int tacho_sink_skip(struct tacho_sink *sink, const struct tacho_record *r)
{
	return put(sink, r, false);
}

int tacho_sink_end_of_stream(struct tacho_sink *sink)
{
	return sink->diag.err ? sink->diag.err : tacho_sink_last_losses(sink);
}

/* ---- events of the program's own -------------------------------------------------------- */

static int check_event(struct tacho_sink *sink, const struct tacho_type *type, uint64_t time,
		       const void *fields, size_t size, uint32_t *source)
{
	if (!tacho_stream_defines(sink->config.stream, type, source))
		return refuse(sink, "the event's type is not of the sink's stream");
	if (time < sink->owner->last)
		return refuse(sink, "the event is earlier than the one before it");
	if (size > TACHO_RAW_MAX - sizeof(struct tacho_common))
		return refuse(sink, "the event is larger than a record can be");
	if (size + sizeof(struct tacho_common) < type->fixed_size || (size && !fields))
		return refuse(sink, "the event is smaller than its type's fields");
	return 0;
}

/* The whole raw event: common fields, then the caller's. */
static int make_raw(struct tacho_sink *sink, const struct tacho_type *type, int32_t thread,
		    const void *fields, size_t size)
{
	const struct tacho_common common = { .type = (uint16_t)type->id, .pid = thread };
	struct tacho_buf *raw = &sink->owner->raw;

	tacho_buf_reset(raw);
	tacho_buf_put(raw, &common, sizeof(common));
	tacho_buf_put(raw, fields, size);
	/* a record is a multiple of 8 bytes long */
	while (raw->len % 8)
		tacho_buf_putc(raw, '\0');
	return tacho_buf_error(raw) ? tacho_sink_no_memory(sink) : 0;
}

int tacho_sink_put_event(struct tacho_sink *sink, const struct tacho_type *type, uint64_t time,
			 uint32_t cpu, int32_t thread, const void *fields, size_t size)
{
	struct tacho_record r = {
		.struct_size = sizeof(r), .time = time, .ticks = time, .type = type,
		.cpu = cpu, .pid = thread,
	};
	uint32_t source = 0;
	int err = sink->diag.err;

	sink->owner->error.err = 0;
	if (!err)
		err = check_event(sink, type, time, fields, size, &source);
	if (!err)
		err = make_raw(sink, type, thread, fields, size);
	if (err)
		return err;
	sink->owner->last = time;
	r.source = source;
	r.raw = sink->owner->raw.data;
	r.len = (uint32_t)sink->owner->raw.len;
	return tacho_sink_record(sink, &r);
}

int tacho_sink_put_lost(struct tacho_sink *sink, uint32_t source, uint64_t time, uint32_t cpu,
			uint64_t events)
{
	/* a loss without a type is one at the end, which lines of text do not show */
	const struct tacho_record r = {
		.struct_size = sizeof(r), .time = time, .ticks = time, .cpu = cpu,
		.source = source, .lost = events,
		.type = tacho_stream_defined_type(sink->config.stream),
	};

	sink->owner->error.err = 0;
	if (sink->diag.err)
		return sink->diag.err;
	if (source >= TACHO_NR_STREAM_IDS)
		return refuse(sink, "there is no such source");
	if (time < sink->owner->last)
		return refuse(sink, "the loss is earlier than the event before it");
	sink->owner->last = time;
	return events ? tacho_sink_lost(sink, &r) : 0;
}

/* ---- the end ------------------------------------------------------------------------- */

const struct tacho_error *tacho_sink_error(struct tacho_sink *sink)
{
	if (sink->diag.err)
		(void)tacho_error_from(&sink->owner->error, &sink->diag);
	return &sink->owner->error;
}

static int end_sink(struct tacho_sink *sink, bool good, struct tacho_sink_written *written,
		    struct tacho_diag *d)
{
	struct tacho_stream *stream = sink->config.stream;
	struct tacho_sink_owner *o = sink->owner;
	/* parts of the stream that could not be loaded are missing in the output */
	int stream_err = good ? tacho_stream_check(stream) : 0, err;

	err = tacho_sink_end(sink, good && !stream_err, written, d);
	if (!err && stream_err)
		err = tacho_diag(d, stream_err, 0, "%s", tacho_stream_error(stream)->text);
	owner_free(o);
	return err;
}

int tacho_sink_finish_sized(struct tacho_sink *sink, struct tacho_sink_result *result,
			    struct tacho_error *error)
{
	struct tacho_sink_written written = { 0 };
	struct tacho_diag d = { 0 };
	int err = end_sink(sink, true, &written, &d);
	const struct tacho_sink_result own = {
		.events = written.events, .bytes = written.bytes,
	};

	if (result && result->struct_size >= sizeof(result->struct_size))
		tacho_sized_put(result, result->struct_size, &own, sizeof(own));
	return err ? tacho_error_from(error, &d) : 0;
}

void tacho_sink_discard(struct tacho_sink *sink)
{
	if (sink)
		(void)end_sink(sink, false, NULL, NULL);
}
