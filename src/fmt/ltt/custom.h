/* SPDX-License-Identifier: MIT */
/*
 * custom.h - custom events, which NEW_EVENT declares, by id.
 *
 * tacho's writer embeds complete events without a counterpart in LTT in CUSTOM records:
 *
 *	NEW_EVENT	type "tacho_type", form "tacho 1"
 *	CUSTOM of it	u32 id, u32 length of the text, u32 offset of this fragment, fragment
 *	NEW_EVENT	id, type: the event's name, format HEX, form "tacho 1 event"
 *	CUSTOM of it	the raw event (event/type.h), in the order of the machine that wrote
 *
 * The text that the fragments make is a line "le|be program|kernel SYSTEM\n" and the
 * event's `format`.  A record of `lttfull` has the raw event after its own struct:
 *
 *	u32 TAIL_MAGIC, u32 id, u32 length, raw event
 *
 * at the next multiple of 4.  "tacho_lost" is a CUSTOM of one u64: events that were lost
 * on this CPU before this place.
 *
 * A file of events from another source than LTT begins, after START, with a NEW_EVENT
 * "tacho_made", form "tacho 1": its buffers and HEARTBEATs are the writer's, and tacho's reader
 * does not show them.
 *
 * Numbers are in the file's byte order. docs/ltt.md documents the format.
 */
#ifndef TACHO_FMT_LTT_CUSTOM_H
#define TACHO_FMT_LTT_CUSTOM_H

#include "base/buf.h"
#include "event/type.h"

#define LTT_EMBED_TYPE		"tacho_type"
#define LTT_EMBED_LOST		"tacho_lost"
#define LTT_EMBED_MADE		"tacho_made"
#define LTT_EMBED_FORM		"tacho 1"
#define LTT_EMBED_EVENT_FORM	"tacho 1 event"
#define LTT_EMBED_FRAGMENT	4096u	/* of the text, in one record */
#define LTT_EMBED_HEAD		12u	/* before the fragment */
#define LTT_TAIL_MAGIC		0x6f686374u	/* "tcho" */
#define LTT_TAIL_HEAD		12u

enum tacho_ltt_custom_kind {
	LTT_CUSTOM_FREE,
	LTT_CUSTOM_DECLARED,	/* shown with a type of its own */
	LTT_CUSTOM_PENDING,	/* embedded; its text is not complete yet */
	LTT_CUSTOM_EMBEDDED,	/* ... it is */
	LTT_CUSTOM_TYPES,	/* "tacho_type" */
	LTT_CUSTOM_LOST,	/* "tacho_lost" */
};

struct tacho_ltt_custom {
	uint32_t id;
	enum tacho_ltt_custom_kind kind;
	uint32_t stream_id;
	const struct tacho_type *type;	/* DECLARED, EMBEDDED */
	uint64_t hash;		/* of what declared it; to know it again */
	uint64_t text_hash;	/* EMBEDDED: of its type's text */
	bool text;		/* DECLARED: data is text */
};

struct tacho_ltt_customs {
	struct tacho_ltt_custom *slot;	/* hash of ids */
	uint32_t nr, nr_slots;
	bool no_memory;		/* why the last one could not be added */
	uint32_t nr_types;	/* DECLARED ones that have a type of their own */
};

/* The text of a type, assembled from its fragments: each file has its own. */
struct tacho_ltt_fragments {
	struct tacho_buf text;
	uint32_t id;
};

#define LTT_FRAGMENTS_MAX	((size_t)1 << 20)

void tacho_ltt_customs_release(struct tacho_ltt_customs *c);

/* NULL: not declared. */
struct tacho_ltt_custom *tacho_ltt_custom_find(const struct tacho_ltt_customs *c,
					       uint32_t id);

/* Finds or adds; NULL without memory, or when there are too many. */
struct tacho_ltt_custom *tacho_ltt_custom_add(struct tacho_ltt_customs *c,
					      uint32_t id);

#endif
