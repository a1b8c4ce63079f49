// SPDX-License-Identifier: MIT
#include "stream/own_time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"

#define IDS	65536u
#define NOWHERE	1u
#define BYTE	2u
#define SYSTEM	"lkst"		/* whose events are brought; a `time` of others is a field */

void tacho_own_time_release(struct tacho_own_time *o)
{
	free(o->at);
	o->at = NULL;
}

/* Byte of the raw event; 0: it has none. */
static uint32_t place_of(struct tacho_own_time *o, struct tacho_source *source, uint16_t id)
{
	const struct tacho_field *f;
	const struct tacho_type *type;

	if (!o->at[id]) {
		type = tacho_source_type(source, TACHO_STREAM_PROGRAM, id);
		f = type && !strcmp(type->system, SYSTEM) ? tacho_type_field(type, "time") : NULL;
		o->at[id] = f && f->size == 8 && f->offset && f->offset < UINT16_MAX - BYTE ?
			    (uint16_t)(f->offset + BYTE) : NOWHERE;
	}
	return o->at[id] == NOWHERE ? 0 : o->at[id] - BYTE;
}

int tacho_own_time_keep(struct tacho_own_time *o, struct tacho_source *source, bool own,
			unsigned char *data, uint32_t *len, uint64_t last, uint64_t *floor,
			uint64_t *first)
{
	unsigned char *to = data, *end = data + *len;
	uint32_t size;

	if (!o->at)
		o->at = calloc(IDS, sizeof(*o->at));
	if (!o->at)
		return -ENOMEM;
	for (unsigned char *at = data; at < end; at += size) {
		uint64_t word = tacho_load_u64(at), time;
		uint32_t place = place_of(o, source, tacho_load_u16(at + 8));

		size = tacho_record_size(word);
		last = tacho_record_time(word, last);
		if ((place && place + 16 <= size) != own)
			continue;
		memmove(to, at, size);
		if (own) {
			time = tacho_load_u64(to + 8 + place);
			/* nothing is written before it happens */
			time = time > last ? last : time;
			*floor = time > *floor ? time : *floor;
			tacho_put_u64(to, tacho_record_word(*floor, size));
			if (to == data)
				*first = *floor;
		}
		to += size;
	}
	*len = (uint32_t)(to - data);
	return 0;
}
