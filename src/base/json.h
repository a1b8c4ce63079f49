/* SPDX-License-Identifier: MIT */
/*
 * json.h - a streaming writer of JSON text.
 *
 *	tacho_json_open(&j, &buf, '{');
 *	tacho_json_key(&j, "events");
 *	tacho_json_u64(&j, 12);
 *	tacho_json_close(&j, '}');
 *
 * The writer inserts commas.  Strings may contain any bytes: those that are not UTF-8 are written
 * as U+FFFD.
 */
#ifndef TACHO_BASE_JSON_H
#define TACHO_BASE_JSON_H

#include <stdbool.h>

#include "base/buf.h"

struct tacho_json {
	struct tacho_buf *out;
	bool comma;	/* the next value or key needs one */
};

void tacho_json_init(struct tacho_json *j, struct tacho_buf *out);

/* '{' or '[', and '}' or ']'. */
void tacho_json_open(struct tacho_json *j, char bracket);
void tacho_json_close(struct tacho_json *j, char bracket);

void tacho_json_key(struct tacho_json *j, const char *name);

void tacho_json_str(struct tacho_json *j, const char *s);
void tacho_json_strn(struct tacho_json *j, const char *s, size_t len);
void tacho_json_u64(struct tacho_json *j, uint64_t v);
void tacho_json_s64(struct tacho_json *j, int64_t v);
void tacho_json_bool(struct tacho_json *j, bool v);
void tacho_json_null(struct tacho_json *j);
/* The shortest text that reads back as v; null for infinities and NaN. */
void tacho_json_double(struct tacho_json *j, double v);

/* Key and value in one. */
void tacho_json_pair_str(struct tacho_json *j, const char *name, const char *s);
void tacho_json_pair_u64(struct tacho_json *j, const char *name, uint64_t v);
void tacho_json_pair_s64(struct tacho_json *j, const char *name, int64_t v);
void tacho_json_pair_bool(struct tacho_json *j, const char *name, bool v);

#endif
