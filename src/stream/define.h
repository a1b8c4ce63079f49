/* SPDX-License-Identifier: MIT */
/* define.h - streams whose types a program defines (<tacho/sink.h>), for who takes their events. */
#ifndef TACHO_STREAM_DEFINE_H
#define TACHO_STREAM_DEFINE_H

#include <stdbool.h>

#include "stream/stream.h"

/* Whether the stream defines the type; *source: which it is of (enum tacho_stream_id). */
bool tacho_stream_defines(const struct tacho_stream *s, const struct tacho_type *type,
			  uint32_t *source);

/* The first type that it defines; NULL: there is none. */
const struct tacho_type *tacho_stream_defined_type(const struct tacho_stream *s);

#endif
