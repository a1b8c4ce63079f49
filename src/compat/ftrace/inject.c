// SPDX-License-Identifier: MIT
/*
 * inject: an event written by hand, "field=value field2="text"".
 *
 * What the kernel's file does where it has one (CONFIG_TRACE_EVENT_INJECT), for events of
 * programs and on kernels without it:
 *	- a number is decimal, 0x or 0, with '-' for signed fields only; a text stands
 *	  in quotes of either kind, and a backslash in it keeps the next character from
 *	  ending it;
 *	- fields that are not named are 0, or the empty text; of one that is named twice
 *	  the last counts; common_ fields may be named;
 *	- a fixed array of char keeps what fits; texts of no fixed size lie after the
 *	  event in the order in which they are named; one after a pointer cannot be
 *	  injected, and the pointer stays 0;
 *	- the event need not be enabled; its filter is looked at.
 *
 * Triggers are run by the programs that hit an event, so one that is injected runs none.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/scan.h"
#include "engine/filter.h"
#include "compat/ftrace/nodes.h"
#include "sys/clock.h"
#include "tacho/abi/record.h"

#define WRITE_SIZE	4096	/* as long as one write may be, NUL included */
#define STRING_SIZE	256	/* a text and its NUL: what the kernel takes */
#define TYPE_MAX	((size_t)4 << 20)

/* The raw event that is being made. */
struct made {
	const struct tacho_type *type;
	unsigned char *raw;
	size_t len, room;
};

/* ---- one field ---- */

static bool is_text(const struct tacho_field *f)
{
	return f->flags & TACHO_FIELD_STRING;
}

static bool is_variable(const struct tacho_field *f)
{
	return f->kind == TACHO_FIELD_DATA_LOC || f->kind == TACHO_FIELD_REL_LOC;
}

/* Where the variable data of a field lies. */
static void put_loc(struct made *m, const struct tacho_field *f, size_t at, size_t len)
{
	size_t from = f->kind == TACHO_FIELD_REL_LOC ? f->offset + f->size : 0;

	tacho_put_u32(m->raw + f->offset, (uint32_t)(len << 16 | ((at - from) & 0xffff)));
}

static int put_text(struct made *m, const struct tacho_field *f, const char *text,
		    size_t len)
{
	if (is_variable(f)) {
		if (m->room - m->len < len + 1)
			return -E2BIG;
		put_loc(m, f, m->len, len + 1);
		memcpy(m->raw + m->len, text, len);
		m->raw[m->len + len] = '\0';
		m->len += len + 1;
	} else if (f->kind == TACHO_FIELD_ARRAY && f->size) {
		memset(m->raw + f->offset, 0, f->size);
		memcpy(m->raw + f->offset, text, len < f->size ? len : f->size - 1);
	}
	return 0;
}

static int put_float(struct made *m, const struct tacho_field *f, double value)
{
	const float narrow = (float)value;

	if (f->size == sizeof(narrow))
		memcpy(m->raw + f->offset, &narrow, sizeof(narrow));
	else
		memcpy(m->raw + f->offset, &value, sizeof(value));
	return 0;
}

/* A number as C writes it, of all of text; -ERANGE takes precedence over trailing characters. */
static int scan_value(const char *text, bool is_signed, uint64_t *value)
{
	bool minus = *text == '-';
	uint64_t max = is_signed ? (uint64_t)INT64_MAX + minus : UINT64_MAX;
	int err;

	if (minus && !is_signed)
		return -EINVAL;
	text += minus;
	err = tacho_scan_number(&text, NULL, max, value);
	if (err)
		return err;
	if (minus)
		*value = 0 - *value;
	return *text ? -EINVAL : 0;
}

static int put_number(struct made *m, const struct tacho_field *f, const char *text)
{
	uint64_t value;
	int err;

	if (f->size != 1 && f->size != 2 && f->size != 4 && f->size != 8)
		return -EINVAL;
	err = scan_value(text, f->flags & (TACHO_FIELD_SIGNED | TACHO_FIELD_FLOAT), &value);
	if (err)
		return err;
	if (f->flags & TACHO_FIELD_FLOAT)
		return put_float(m, f, (double)(int64_t)value);
	if (f->size == 1)
		m->raw[f->offset] = (unsigned char)value;
	else if (f->size == 2)
		tacho_put_u16(m->raw + f->offset, (uint16_t)value);
	else if (f->size == 4)
		tacho_put_u32(m->raw + f->offset, (uint32_t)value);
	else
		tacho_put_u64(m->raw + f->offset, value);
	return 0;
}

/* ---- the text ---- */

static size_t space(const char *at)
{
	return strspn(at, " \t\n\v\f\r");
}

/* The field named at *at, which comes to stand after the '='. */
static int take_name(const struct made *m, char **at, const struct tacho_field **f)
{
	char *name = *at, *end = name;
	char c;

	while (isalnum((unsigned char)*end) || *end == '_')
		end++;
	if (end == name)
		return -EINVAL;
	c = *end;
	*end = '\0';
	*f = tacho_type_field(m->type, name);
	*end = c;
	if (!*f)
		return -ENOENT;
	end += space(end);
	if (*end != '=')
		return -EINVAL;
	end++;
	*at = end + space(end);
	return 0;
}

static int take_number(struct made *m, char **at, const struct tacho_field *f)
{
	char *text = *at, *end = text + (*text == '-');

	while (isalnum((unsigned char)*end))
		end++;
	if (is_text(f) || (*end && !isspace((unsigned char)*end)))
		return -EINVAL;
	*at = *end ? end + 1 : end;
	*end = '\0';
	return put_number(m, f, text);
}

static int take_text(struct made *m, char **at, const struct tacho_field *f)
{
	char *text = *at + 1, *end = text;

	if (!is_text(f))
		return -EINVAL;
	while (*end && *end != **at)
		end += *end == '\\' && end[1] ? 2 : 1;
	if (!*end || end - text >= STRING_SIZE)
		return -EINVAL;
	*at = end + 1;
	return put_text(m, f, text, (size_t)(end - text));
}

static int take_fields(struct made *m, char *at)
{
	const struct tacho_field *f;
	int err = 0;

	for (at += space(at); !err && *at; at += space(at)) {
		err = take_name(m, &at, &f);
		if (err)
			break;
		if (isdigit((unsigned char)*at) || *at == '-')
			err = take_number(m, &at, f);
		else if (*at == '"' || *at == '\'')
			err = take_text(m, &at, f);
		else
			err = -EINVAL;
	}
	return err;
}

/* Nothing is named yet: zeros, and empty texts after the fixed part. */
static int begin(struct made *m, const struct tacho_type *type, int32_t pid,
		 size_t text_len)
{
	const struct tacho_field *f;

	m->type = type;
	m->len = (size_t)type->fixed_size + 1;
	m->room = m->len + text_len;
	m->raw = calloc(1, TACHO_ALIGN_UP(m->room, 8) + 8);
	if (!m->raw)
		return -ENOMEM;
	for (uint32_t i = 0; i < type->nr_fields; i++)
		if (is_variable(&type->fields[i]))
			put_loc(m, &type->fields[i], type->fixed_size, 0);
	f = tacho_type_field(type, "common_pid");
	if (f && f->size == sizeof(pid))
		memcpy(m->raw + f->offset, &pid, sizeof(pid));
	return 0;
}

/* ---- the record ---- */

/* Whether the event's filter lets it pass. */
static bool passes(struct tacho_tree_file *f, const struct made *m, int32_t pid)
{
	struct tacho_rec rec = {
		.raw = m->raw, .len = (uint32_t)m->len, .cpu = (uint32_t)sched_getcpu(),
		.time = tacho_now_ns(CLOCK_MONOTONIC), .pid = pid,
		.names = tree_names(f->inst),
	};
	struct tacho_filter *filter = NULL;
	struct tacho_arena a;
	struct tacho_buf text;
	bool pass = true;

	tacho_arena_init(&a, TYPE_MAX);
	tacho_buf_init(&text, TYPE_MAX);
	/* a filter that is wrong, whose text says so, filters nothing: as the kernel */
	if (!tree_filter_text(f, &text) &&
	    !tacho_filter_compile(&filter, &a, m->type,
				  tree_trim((char *)(uintptr_t)tacho_buf_str(&text)), 0,
				  rec.names, NULL) && filter)
		pass = tacho_filter_run(filter, &rec);
	tacho_buf_release(&text);
	tacho_arena_release(&a);
	return pass;
}

static int write_made(struct tacho_tree_file *f, const struct made *m,
		      const char *type_text, size_t type_len)
{
	int32_t pid = (int32_t)tacho_load_u32(m->raw + 4);

	if (!tree_is_on(f->inst) || !passes(f, m, pid))
		return 0;
	return tree_write_event(f->inst, type_text, type_len, pid, m->raw, m->len,
				NULL);
}

static int inject(struct tacho_tree_file *f, const struct tacho_type *type,
		  const char *type_text, size_t type_len, char *text, int32_t pid)
{
	struct made m;
	int err = begin(&m, type, pid, strlen(text));

	if (err)
		return err;
	err = take_fields(&m, text);
	if (!err)
		err = write_made(f, &m, type_text, type_len);
	free(m.raw);
	return err;
}

/* ---- events of the kernel ---- */

/* The kernel has such a file: it makes the record, as the asking thread's. */
static int kernel_inject(struct tacho_tree_file *f, const char *path, const char *text,
			 int32_t pid)
{
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, 2 * WRITE_SIZE);
	tacho_buf_printf(&b, "common_pid=%d %s", pid, text);
	err = tacho_buf_error(&b);
	if (!err)
		err = tree_kernel_write(f->inst, path, tacho_buf_str(&b), b.len, true);
	tacho_buf_release(&b);
	return err;
}

/* It has not: a record of the event's type in the session's ring. */
static int own_inject(struct tacho_tree_file *f, char *text, int32_t pid)
{
	int dir = f->inst->tree->tracefs.dirfd, err;
	char path[3 * TACHO_RULE_MAX];
	const struct tacho_type *type;
	struct tacho_arena a;
	struct tacho_buf b;

	tacho_arena_init(&a, TYPE_MAX);
	tacho_buf_init(&b, TYPE_MAX);
	(void)snprintf(path, sizeof(path), "events/%s/%s/format", f->system, f->event);
	err = tacho_buf_read_fileat(&b, dir, path);
	type = err ? NULL : tacho_type_parse(&a, f->system, f->event, 0, tacho_buf_str(&b),
					     b.len, NULL);
	if (type) {
		tacho_buf_reset(&b);
		tacho_buf_printf(&b, "%s:%s\n", f->system, f->event);
		tacho_type_write(type, false, &b);
		err = tacho_buf_error(&b);
	} else if (!err) {
		err = -ENODEV;
	}
	if (!err)
		err = inject(f, type, tacho_buf_str(&b), b.len, text, pid);
	tacho_buf_release(&b);
	tacho_arena_release(&a);
	return err;
}

static int inject_any(struct tacho_tree_file *f, char *text, int32_t pid)
{
	const struct tree_event *e = tree_event(f->inst, f->system, f->event);
	char path[3 * TACHO_RULE_MAX];

	if (!e)
		return -ENODEV;
	if (!e->kernel)
		return e->type ? inject(f, e->type, e->text, e->len, text, pid) : -ENODEV;
	(void)snprintf(path, sizeof(path), "events/%s/%s/inject", f->system, f->event);
	if (!faccessat(f->inst->tree->tracefs.dirfd, path, F_OK, 0))
		return kernel_inject(f, path, text, pid);
	return own_inject(f, text, pid);
}

static ssize_t inject_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	char *copy;
	int err;

	if (len >= WRITE_SIZE)
		return -EINVAL;
	copy = strdup(text);
	if (!copy)
		return -ENOMEM;
	err = inject_any(f, tree_trim(copy), caller->pid);
	free(copy);
	return err ? err : (ssize_t)len;
}

const struct tree_node tree_inject_node = {
	.name = "inject", .mode = 0220, .store = inject_store,
};
