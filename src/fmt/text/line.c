// SPDX-License-Identifier: MIT
#include "fmt/text/line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/text/line_priv.h"

/* A type's fixed texts: at most 1,024 fields with their names. */
#define TYPE_TEXT_MAX	((size_t)1 << 20)

static const struct line_ops *ops_of(const struct tacho_line *l)
{
	switch (l->config.format) {
	case TACHO_LINE_BABELTRACE:
		return &tacho_line_babeltrace;
	case TACHO_LINE_JSON:
		return &tacho_line_json;
	case TACHO_LINE_FTRACE:
	default:
		return &tacho_line_ftrace;
	}
}

static bool some_type_has(const struct tacho_stream *s, const char *field)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(s, i)); i++)
		if (tacho_type_field(type, field))
			return true;
	return false;
}

int tacho_line_check(const struct tacho_line_config *config, struct tacho_stream *stream,
		     struct tacho_diag *d)
{
	for (size_t i = 0; i < config->nr_fields; i++) {
		int err;

		if (some_type_has(stream, config->field[i]))
			continue;
		err = tacho_stream_check(stream);
		return err ? tacho_diag(d, err, 0, "%s", tacho_stream_error(stream)->text) :
		       tacho_diag(d, -EINVAL, 0, "no event of the trace has a field '%s'",
				  config->field[i]);
	}
	return 0;
}

struct tacho_line *tacho_line_new(struct tacho_stream *stream,
				  const struct tacho_line_config *config)
{
	struct tacho_line *l = calloc(1, sizeof(*l));
	const struct tacho_source *source;

	if (!l)
		return NULL;
	l->config = *config;
	l->stream = stream;
	source = tacho_stream_source(stream, 0);
	l->live = source && source->ops->live;
	l->host = tacho_stream_env(stream, "hostname");
	if (!l->host)
		l->host = "localhost";
	l->tasks = calloc(LINE_TASKS, sizeof(*l->tasks));
	if (!l->tasks) {
		tacho_line_free(l);
		return NULL;
	}
	return l;
}

static void type_free(struct line_type *t)
{
	if (!t)
		return;
	free(t->head);
	free(t->field);
	tacho_buf_release(&t->keys);
	free(t);
}

void tacho_line_free(struct tacho_line *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->types.room; i++)
		type_free(l->types.slot[i].value);
	tacho_hashmap_release(&l->types);
	free(l->tasks);
	free(l);
}

void tacho_line_zero(struct tacho_line *l, uint64_t time)
{
	if (l->config.time == TACHO_LINE_RELATIVE) {
		l->base = time;
		l->begun = true;
	}
}

bool tacho_line_wants(const struct tacho_line *l, const struct tacho_field *f)
{
	if (!l->config.nr_fields)
		return !(f->flags & TACHO_FIELD_COMMON);
	for (size_t i = 0; i < l->config.nr_fields; i++)
		if (!strcmp(l->config.field[i], f->name))
			return true;
	return false;
}

/* ---- types --------------------------------------------------------------- */

/* The fields that are printed, each with its key. */
static bool type_fields(const struct tacho_line *l, struct line_type *t)
{
	const struct tacho_type *type = t->type;
	const struct line_ops *ops = ops_of(l);
	size_t at = 0;

	t->field = calloc((size_t)type->nr_fields + 1, sizeof(*t->field));
	if (!t->field)
		return false;
	for (uint32_t i = 0; i < type->nr_fields; i++) {
		struct line_field *f = &t->field[t->nr_fields];

		if (!tacho_line_wants(l, &type->fields[i]))
			continue;
		f->field = &type->fields[i];
		ops->key(f->field, &t->keys);
		f->key_len = (uint32_t)(t->keys.len - at);
		at = t->keys.len;
		t->nr_fields++;
	}
	if (tacho_buf_error(&t->keys))
		return false;
	/* only now do the keys stay where they are */
	at = 0;
	for (uint32_t i = 0; i < t->nr_fields; i++) {
		t->field[i].key = t->keys.data + at;
		at += t->field[i].key_len;
	}
	return true;
}

static struct line_type *type_new(const struct tacho_line *l,
				  const struct tacho_type *type,
				  uint32_t source)
{
	struct line_type *t = calloc(1, sizeof(*t));
	struct tacho_buf head;
	bool good;

	if (!t)
		return NULL;
	t->type = type;
	tacho_buf_init(&t->keys, TYPE_TEXT_MAX);
	tacho_buf_init(&head, TYPE_TEXT_MAX);
	ops_of(l)->type(l, type, source, &head);
	good = !tacho_buf_error(&head) && type_fields(l, t);
	t->head = head.data;
	t->head_len = (uint32_t)head.len;
	if (!good) {
		type_free(t);
		return NULL;
	}
	return t;
}

static TACHO_NOINLINE const struct line_type *
find_type(struct tacho_line *l, const struct tacho_type *type, uint32_t source)
{
	struct line_type *t = tacho_hashmap_get(&l->types, tacho_hashmap_key(type));

	if (!t) {
		t = type_new(l, type, source);
		if (!t)
			return NULL;
		if (tacho_hashmap_set(&l->types, tacho_hashmap_key(type), t)) {
			type_free(t);
			return NULL;
		}
	}
	l->last_type = t;
	return l->last_type;
}

/* ---- threads ------------------------------------------------------------- */

static TACHO_NOINLINE void make_task(struct tacho_line *l, int32_t pid,
				     struct line_task *t)
{
	const char *comm = tacho_stream_comm(l->stream, pid, NULL);

	t->pid = pid;
	t->unknown = l->live && !comm;
	t->len = ops_of(l)->task(l, pid, comm, t->text, sizeof(t->text));
}

/* ---- lines --------------------------------------------------------------- */

static TACHO_COLD void begin(struct tacho_line *l, const struct tacho_record *r)
{
	const struct tacho_source *source = tacho_stream_source(l->stream, 0);

	if (l->config.time == TACHO_LINE_RELATIVE)
		l->base = r->time;
	else if (l->config.time == TACHO_LINE_CLOCK && source)
		l->base = tacho_clock_ns(&source->clock, 0);
	l->begun = true;
}

/* C0, DEL and the two bytes of C1 in UTF-8; stacks have newlines. */
void tacho_line_tame(const struct tacho_line *l, char *s, size_t len)
{
	if (!l->config.tame)
		return;
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			s[i] = '?';
		else if (c == 0xc2 && i + 1 < len &&
			 ((unsigned char)s[i + 1] & 0xe0) == 0x80)
			s[i] = s[i + 1] = '?';
	}
}

void tacho_line_text(struct tacho_line *l, const struct tacho_record *r,
		     const struct line_type *type, struct tacho_buf *out)
{
	size_t from = out->len;

	if (tacho_likely(!l->config.raw && !l->config.nr_fields)) {
		tacho_stream_print(l->stream, r, out);
	} else {
		for (uint32_t i = 0; i < type->nr_fields; i++) {
			const struct line_field *f = &type->field[i];

			/* a blank between, none before the first */
			tacho_buf_put(out, f->key + !i, f->key_len - !i);
			tacho_field_print(f->field, r->raw, r->len, out);
		}
	}
	if (tacho_unlikely(l->config.tame))
		tacho_line_tame(l, out->data + from, out->len - from);
}

void tacho_line_put(struct tacho_line *l, const struct tacho_record *r,
		    struct tacho_buf *out)
{
	const struct line_type *type = l->last_type;
	struct line_task *task = &l->tasks[(uint32_t)r->pid & (LINE_TASKS - 1)];

	if (tacho_unlikely(!l->begun))
		begin(l, r);
	if (tacho_unlikely(!type || type->type != r->type))
		type = find_type(l, r->type, r->source);
	if (tacho_unlikely(task->pid != r->pid || !task->len || task->unknown))
		make_task(l, r->pid, task);
	if (tacho_unlikely(!type || !task->len)) {
		out->err = -ENOMEM;
		return;
	}
	ops_of(l)->put(l, r, type, task, out);
	l->before = r->time;
}

void tacho_line_piece(struct tacho_line *l)
{
	l->piece = true;
	l->before = 0;
	l->seam = (struct tacho_line_seam){ .len = 0 };
}

void tacho_line_seam(const struct tacho_line *l, struct tacho_line_seam *seam)
{
	*seam = l->seam;
}

void tacho_line_resume(struct tacho_line *l, uint64_t time)
{
	l->before = time;
}

uint64_t tacho_line_last(const struct tacho_line *l)
{
	return l->before;
}

size_t tacho_line_delta(struct tacho_line *l, uint64_t time, char text[TACHO_LINE_DELTA_MAX])
{
	const struct tacho_record r = { .time = time };

	return ops_of(l)->delta ? (size_t)(ops_of(l)->delta(l, &r, text) - text) : 0;
}

void tacho_line_lost(struct tacho_line *l, const struct tacho_record *r,
		     struct tacho_buf *out)
{
	if (!l->begun)
		begin(l, r);
	ops_of(l)->lost(l, r, out);
}

void tacho_line_head(struct tacho_line *l, struct tacho_buf *out)
{
	if (l->config.format != TACHO_LINE_FTRACE)
		return;
	tacho_buf_puts(out,
		"# tracer: nop\n"
		"#\n"
		"#                                _-----=> irqs-off/BH-disabled\n"
		"#                               / _----=> need-resched\n"
		"#                              | / _---=> hardirq/softirq\n"
		"#                              || / _--=> preempt-depth\n"
		"#                              ||| / _-=> migrate-disable\n"
		"#                              |||| /     delay\n"
		"#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
		"#              | |         |   |||||     |         |\n");
}
