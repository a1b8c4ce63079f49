/* SPDX-License-Identifier: MIT */
/* line_priv.h - what the formats of line.h share. */
#ifndef TACHO_FMT_TEXT_LINE_PRIV_H
#define TACHO_FMT_TEXT_LINE_PRIV_H

#include "base/digits.h"
#include "base/hashmap.h"
#include "event/type.h"
#include "fmt/text/line.h"

/* One field of a type as it is printed: the name with what stands around it. */
struct line_field {
	const struct tacho_field *field;
	const char *key;	/* in keys */
	uint32_t key_len;
};

/* An event type's own part of a line. */
struct line_type {
	const struct tacho_type *type;
	char *head;		/* the name with what stands around it */
	uint32_t head_len;
	uint32_t nr_fields;
	struct line_field *field;
	struct tacho_buf keys;
};

/* A thread's part of a line.  Long enough for JSON with all bytes escaped. */
struct line_task {
	int32_t pid;
	uint32_t len;		/* 0: a free slot */
	bool unknown;		/* a name may become known later */
	char text[192];
};

#define LINE_TASKS	2048u	/* a power of two */

/* The text of a second, which many lines share. */
struct line_second {
	uint64_t second;
	uint32_t len;		/* 0: none yet */
	char text[48];
};

struct tacho_line {
	struct tacho_line_config config;
	struct tacho_stream *stream;
	uint64_t base;		/* what the shown time counts from */
	uint64_t before;	/* time of the line before; 0: none */
	bool begun;		/* base is set */
	bool piece;		/* line.h: the first line's delta is noted */
	struct tacho_line_seam seam;
	const char *host;
	bool live;
	struct line_second second;
	const struct line_type *last_type;
	struct tacho_hashmap types;	/* struct line_type, by type */
	struct line_task *tasks;	/* LINE_TASKS of them, by pid */
};

/* Room that the part of a line before its text needs at most. */
#define LINE_PREFIX	640u

/* The second's text from the cache, made by the format when it is a new one. */
typedef uint32_t line_second_fn(uint64_t second, char text[48]);

static inline const struct line_second *
line_second(struct tacho_line *l, uint64_t second, line_second_fn *make)
{
	struct line_second *s = &l->second;

	if (tacho_unlikely(s->second != second || !s->len)) {
		s->second = second;
		s->len = make(second, s->text);
	}
	return s;
}

/* Time since the line before, 0 for the first and where that was later. */
static inline uint64_t line_delta(const struct tacho_line *l,
				  const struct tacho_record *r)
{
	return l->before && r->time > l->before ? r->time - l->before : 0;
}

/* The delta of r's line is the bytes [begin, end) of a line that starts at from. */
static inline void line_note_seam(struct tacho_line *l, const struct tacho_record *r,
				  const struct tacho_buf *out, const char *from,
				  const char *begin, const char *end)
{
	if (tacho_unlikely(l->piece && !l->before))
		l->seam = (struct tacho_line_seam){ out->len + (size_t)(begin - from),
						    (size_t)(end - begin), r->time };
}

/*
 * The text after the event's name: by print format, or by fields "a=1 b=2".
 */
void tacho_line_text(struct tacho_line *l, const struct tacho_record *r,
		     const struct line_type *type, struct tacho_buf *out);

/* Replaces control characters in the len bytes at s, if that is wanted. */
void tacho_line_tame(const struct tacho_line *l, char *s, size_t len);

/* Whether a field's elements are numbers that can be shown one by one. */
static inline bool line_number_array(const struct tacho_field *f)
{
	return f->kind != TACHO_FIELD_OPAQUE &&
	       !(f->flags & TACHO_FIELD_BITMASK) &&
	       (f->elem_size == 1 || f->elem_size == 2 || f->elem_size == 4 ||
		f->elem_size == 8);
}

/* Whether l's fields include this one. */
bool tacho_line_wants(const struct tacho_line *l, const struct tacho_field *f);

/* The three formats: text of a thread (0: no memory), of a type, of a record. */
struct line_ops {
	uint32_t (*task)(const struct tacho_line *l, int32_t pid,
			 const char *comm, char *text, size_t size);
	void (*type)(const struct tacho_line *l, const struct tacho_type *type,
		     uint32_t source, struct tacho_buf *head);
	void (*key)(const struct tacho_field *f, struct tacho_buf *key);
	void (*put)(struct tacho_line *l, const struct tacho_record *r,
		    const struct line_type *type, const struct line_task *task,
		    struct tacho_buf *out);
	void (*lost)(struct tacho_line *l, const struct tacho_record *r,
		     struct tacho_buf *out);
	/* the text of the time since the line before; NULL: no line has it */
	char *(*delta)(const struct tacho_line *l, const struct tacho_record *r, char *o);
};

extern const struct line_ops tacho_line_ftrace, tacho_line_babeltrace,
	tacho_line_json;

/* SGR sequences of names. */
#define LINE_COLOUR_COMM	"\033[36m"
#define LINE_COLOUR_EVENT	"\033[1;33m"
#define LINE_COLOUR_LOST	"\033[1;31m"
#define LINE_COLOUR_OFF		"\033[0m"

#endif
