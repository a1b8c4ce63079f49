/* SPDX-License-Identifier: MIT */
/*
 * define.h - streams whose types a program defines (<tacho/sink.h>), for code that writes their
 * events.
 */
#ifndef TACHO_STREAM_DEFINE_H
#define TACHO_STREAM_DEFINE_H

#include <stdbool.h>

#include "stream/stream.h"

/* Whether the stream defines the type; *source: the type's stream id (enum tacho_stream_id). */
bool tacho_stream_defines(const struct tacho_stream *s, const struct tacho_type *type,
			  uint32_t *source);

/* The first type that the stream defines; NULL: none. */
const struct tacho_type *tacho_stream_defined_type(const struct tacho_stream *s);

#endif
