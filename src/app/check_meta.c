// SPDX-License-Identifier: MIT
/* tacho check: DIR/metadata is whole, and describes the types that there are. */
#include <errno.h>
#include <string.h>

#include "app/check_priv.h"
#include "base/scan.h"

#define METADATA_MAX	((size_t)1 << 30)

/* What a scan of the text knows. */
struct scan {
	struct check_trace *t;
	const char *text;
	size_t len;
	uint32_t depth;		/* of braces */
	bool in_event;		/* at depth 1 of an event block */
	uint32_t id, stream_id;	/* of it; UINT32_MAX: not said so far */
};

/* Past a string or a comment that begins at `at`; the end of the text if it does not end. */
static size_t skip(const struct scan *s, size_t at)
{
	bool comment = s->text[at] == '/';

	for (size_t i = at + (comment ? 2 : 1); i < s->len; i++) {
		if (!comment && s->text[i] == '\\')
			i++;
		else if (!comment && s->text[i] == '"')
			return i + 1;
		else if (comment && s->text[i] == '*' && i + 1 < s->len && s->text[i + 1] == '/')
			return i + 2;
	}
	return s->len;
}

static bool begins(const struct scan *s, size_t at, const char *word)
{
	size_t n = strlen(word);

	return s->len - at >= n && !memcmp(s->text + at, word, n);
}

static void take_number(const struct scan *s, size_t at, const char *word, uint32_t *to)
{
	const char *digits;
	uint64_t v;

	if (!begins(s, at, word))
		return;
	digits = s->text + at + strlen(word);
	if (!tacho_scan_digits(&digits, s->text + s->len, 10, UINT32_MAX, &v))
		*to = (uint32_t)v;
}

/* "id = 5;" and "stream_id = 0;" of an event block. */
static void take_line(struct scan *s, size_t at)
{
	while (at < s->len && s->text[at] == '\t')
		at++;
	take_number(s, at, "id = ", &s->id);
	take_number(s, at, "stream_id = ", &s->stream_id);
}

static void event_ends(struct scan *s)
{
	if (s->in_event && s->stream_id < 2 && s->id < CHECK_IDS)
		s->t->described[s->stream_id][s->id] = true;
	s->in_event = false;
}

/* One character that is in no string and no comment. */
static void take(struct scan *s, size_t at)
{
	switch (s->text[at]) {
	case '{':
		s->depth++;
		break;
	case '}':
		if (s->depth && !--s->depth)
			event_ends(s);
		break;
	case '\n':
		if (!s->depth && begins(s, at + 1, "event {")) {
			s->in_event = true;
			s->id = s->stream_id = UINT32_MAX;
		} else if (s->in_event && s->depth == 1) {
			take_line(s, at + 1);
		}
		break;
	default:
		break;
	}
}

static bool is_text(unsigned char c)
{
	return (c >= ' ' && c != 0x7f) || c == '\n' || c == '\t';
}

static void scan(struct scan *s)
{
	size_t last = 0;

	for (size_t i = 0; i < s->len; i++)
		if (!is_text((unsigned char)s->text[i])) {
			check_problem(s->t, "metadata", i, "byte 0x%02x is no text",
				      (unsigned char)s->text[i]);
			return;
		}
	for (size_t i = 0; i < s->len; ) {
		if (s->text[i] == '"' || begins(s, i, "/*")) {
			i = skip(s, i);
			continue;
		}
		take(s, i);
		if (s->text[i] != '\n' && s->text[i] != ' ')
			last = i;
		i++;
	}
	s->t->scanned = true;
	if (s->depth || s->text[last] != ';')
		check_problem(s->t, "metadata", s->len, "ends in the middle of a declaration");
}

void check_metadata(struct check_trace *t)
{
	static const char magic[] = "/* CTF 1.8";
	struct scan s = { .t = t };
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, METADATA_MAX);
	err = tacho_buf_read_fileat(&b, t->dirfd, "metadata");
	s.text = tacho_buf_str(&b);
	s.len = b.len;
	if (err && !check_failed(t, "metadata", err))
		check_problem(t, "metadata", CHECK_NO_BYTE, "cannot be read: %s; no other CTF reader opens the trace without it",
			      strerror(-err));
	else if (!err && !begins(&s, 0, magic))
		check_problem(t, "metadata", 0, "does not begin with '%s'", magic);
	else if (!err)
		scan(&s);
	tacho_buf_release(&b);
}

void check_described(struct check_trace *t)
{
	for (uint32_t s = 0; s < 2 && t->scanned; s++)
		for (uint32_t id = 0; id < CHECK_IDS; id++)
			if (t->known[s][id] && !t->described[s][id])
				check_problem(t, "metadata", CHECK_NO_BYTE, "lacks event type %u of stream %u; no other CTF reader can read its records",
					      id, s);
}
