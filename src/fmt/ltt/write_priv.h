/* SPDX-License-Identifier: MIT */
/* write_priv.h - what the files of the writer share. */
#ifndef TACHO_FMT_LTT_WRITE_PRIV_H
#define TACHO_FMT_LTT_WRITE_PRIV_H

#include "base/buf.h"
#include "fmt/ltt/map.h"
#include "fmt/ltt/write.h"

enum tacho_ltt_kind_is {
	LTT_KIND_OWN,		/* an event of LTT with its struct */
	LTT_KIND_BARE,
	LTT_KIND_RAW,
	LTT_KIND_CUSTOM,	/* a declared custom event, or one that is not */
	LTT_KIND_MAPPED,
	LTT_KIND_EMBEDDED,
};

/* What becomes of the records of one type. */
struct tacho_ltt_kind {
	enum tacho_ltt_kind_is is;
	const struct tacho_type *type;
	uint32_t stream_id;
	const struct tacho_ltt_event *event;	/* OWN, BARE */
	struct tacho_ltt_mapped mapped;
	uint32_t embed_id;	/* the custom event that embeds it; 0: none yet */
	uint32_t index;		/* of that, in lanes' `declared` */
};

struct tacho_ltt_writer {
	char *dir, *base;
	struct tacho_ltt_config config;
	struct tacho_ltt_form form;
	struct tacho_ltt_start start;
	uint64_t event_mask;		/* of the kernel's events, now */
	struct tacho_ltt_lane **lane;
	uint32_t nr_lanes, last_lane;
	struct tacho_hashmap kinds;	/* by type */
	struct tacho_hashmap ids;	/* id + 1 in the input: id + 1 in the output */
	struct tacho_hashmap taken;	/* id + 1 in the output: itself */
	struct tacho_ltt_memory memory;
	uint32_t next_id, nr_embedded;
	uint32_t types_id, lost_id, made_id;	/* our own custom events; 0: none yet */
	struct tacho_buf text;
	struct tacho_buf sidecars;	/* names of sidecar files, each with its NUL */
	struct tacho_ltt_written written;
};

/* Indices in lanes' `declared` of our own custom events; those of types follow. */
enum { LTT_DECLARED_TYPES, LTT_DECLARED_LOST, LTT_DECLARED_MADE, LTT_DECLARED_FIRST };

/* ---- embed.c; all return 0, -EMSGSIZE or -errno ---- */

/* The id of a custom event of the input; another one where ours has it. */
uint32_t tacho_ltt_same_id(struct tacho_ltt_writer *w, uint32_t id);

/* Makes sure that the file declares the event that the kind is embedded in. */
int tacho_ltt_declare(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		      struct tacho_ltt_kind *k, uint64_t t);

/* Appends the record whole. */
int tacho_ltt_embed(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		    struct tacho_ltt_kind *k, const struct tacho_record *r, uint64_t t);

/* Marks the beginning of a file whose records are not LTT's; does nothing for others. */
int tacho_ltt_made(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l, uint64_t t);

int tacho_ltt_embed_lost(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
			 uint64_t lost, uint64_t t);

/* ---- copy.c ---- */

/* The values of a record that is LTT's: its type's fields are the struct's, in order. */
void tacho_ltt_values_of(const struct tacho_record *r, struct tacho_ltt_values *v);

/* Appends a record that was LTT's. */
int tacho_ltt_copy(struct tacho_ltt_writer *w, struct tacho_ltt_lane *l,
		   const struct tacho_ltt_kind *k, const struct tacho_record *r);

/* Whether the numbers go into the struct of an event; no: they would be cut. */
bool tacho_ltt_values_fit(const struct tacho_ltt_form *form, uint32_t id,
			  const struct tacho_ltt_values *v);

#endif
