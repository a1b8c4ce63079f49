// SPDX-License-Identifier: MIT
#include "stream/facts.h"
#include "base/scan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Caps against hostile files. */
#define ENV_CAP		((size_t)1 << 20)
#define TASKS_MAX	((size_t)1 << 20)

void tacho_facts_init(struct tacho_facts *f)
{
	*f = (struct tacho_facts){ 0 };
	tacho_arena_init(&f->arena, ENV_CAP);
	tacho_symbols_init(&f->symbols);
	tacho_buf_init(&f->string_text, 0);
}

void tacho_facts_release(struct tacho_facts *f)
{
	tacho_arena_release(&f->arena);
	tacho_symbols_release(&f->symbols);
	free(f->string);
	tacho_buf_release(&f->string_text);
	free(f->task);
	f->task = NULL;
	f->nr_tasks = 0;
}

static struct tacho_fact *fact_find(const struct tacho_facts *f,
				    const char *name, size_t len)
{
	for (struct tacho_fact *e = f->env; e; e = e->next)
		if (!strncmp(e->name, name, len) && !e->name[len])
			return e;
	return NULL;
}

int tacho_facts_set(struct tacho_facts *f, const char *name, size_t name_len,
		    const char *value, size_t value_len)
{
	struct tacho_fact *e = fact_find(f, name, name_len);
	const char *v = tacho_arena_strndup(&f->arena, value, value_len);

	if (!v)
		return -ENOMEM;
	if (e) {
		e->value = v;
		return 0;
	}
	e = tacho_arena_alloc(&f->arena, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->name = tacho_arena_strndup(&f->arena, name, name_len);
	if (!e->name)
		return -ENOMEM;
	e->value = v;
	e->next = f->env;
	f->env = e;
	return 0;
}

const char *tacho_facts_get(const struct tacho_facts *f, const char *name)
{
	const struct tacho_fact *e = fact_find(f, name, strlen(name));

	return e ? e->value : NULL;
}

int tacho_facts_add_task(struct tacho_facts *f, int32_t pid, int32_t tgid,
			 const char *comm, size_t len)
{
	struct tacho_fact_task *t;

	if (f->nr_tasks == f->room_tasks) {
		size_t room = f->room_tasks ? f->room_tasks * 2 : 64;

		if (room > TASKS_MAX)
			return -EOVERFLOW;
		t = reallocarray(f->task, room, sizeof(*t));
		if (!t) {
			f->no_memory = true;
			return -ENOMEM;
		}
		f->task = t;
		f->room_tasks = room;
	}
	t = &f->task[f->nr_tasks];
	*t = (struct tacho_fact_task){ .pid = pid, .tgid = tgid,
				       .order = (uint32_t)f->nr_tasks };
	len = strnlen(comm, len < sizeof(t->comm) ? len : sizeof(t->comm) - 1);
	memcpy(t->comm, comm, len);
	f->nr_tasks++;
	f->tasks_ready = false;
	return 0;
}

/* A decimal number at *s, before end; moves *s after it and one blank. */
static bool take_number(const char **s, const char *end, int32_t *v)
{
	const char *p = *s;
	uint64_t n;

	if (tacho_scan_digits(&p, end, 10, INT32_MAX, &n) || p == end || *p != ' ')
		return false;
	*v = (int32_t)n;
	*s = p + 1;
	return true;
}

int tacho_facts_add_cmdlines(struct tacho_facts *f, const char *text,
			     size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *eol = nl ? nl : end;
		int32_t pid, tgid;

		if (take_number(&text, eol, &pid) &&
		    take_number(&text, eol, &tgid)) {
			int err = tacho_facts_add_task(f, pid, tgid, text,
						       (size_t)(eol - text));
			if (err)
				return err;
		}
		text = eol + 1;
	}
	return 0;
}

static int task_order(const void *a, const void *b)
{
	const struct tacho_fact_task *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->order < y->order ? -1 : x->order > y->order;
}

/* Sorts by pid and keeps the last line of each. */
static void tasks_prepare(struct tacho_facts *f)
{
	size_t n = 0;

	if (f->nr_tasks)
		qsort(f->task, f->nr_tasks, sizeof(*f->task), task_order);
	for (size_t i = 0; i < f->nr_tasks; i++) {
		if (n && f->task[n - 1].pid == f->task[i].pid)
			n--;
		f->task[n] = f->task[i];
		/* tasks added later are newer than all of these */
		f->task[n].order = (uint32_t)n;
		n++;
	}
	f->nr_tasks = n;
	f->tasks_ready = true;
}

static struct tacho_fact_task *task_find(struct tacho_facts *f, int32_t pid)
{
	size_t lo = 0, hi;

	if (!f->tasks_ready)
		tasks_prepare(f);
	for (hi = f->nr_tasks; lo < hi; ) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->task[mid].pid < pid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->nr_tasks && f->task[lo].pid == pid ? &f->task[lo] : NULL;
}

const char *tacho_facts_comm(struct tacho_facts *f, int32_t pid, int32_t *tgid)
{
	const struct tacho_fact_task *t = task_find(f, pid);

	if (tgid)
		*tgid = t ? t->tgid : 0;
	return t ? t->comm : NULL;
}

void tacho_facts_set_tgid(struct tacho_facts *f, int32_t pid, int32_t tgid)
{
	struct tacho_fact_task *t = task_find(f, pid);

	if (t)
		t->tgid = tgid;
}

static int string_order(const void *a, const void *b)
{
	const struct tacho_fact_string *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->text < y->text ? -1 : x->text > y->text;
}

/* Ensures that every line has an end that can be overwritten. */
static int take_text(struct tacho_buf *to, struct tacho_buf *text)
{
	tacho_buf_putc(text, '\n');
	if (tacho_buf_error(text))
		return tacho_buf_error(text);
	tacho_buf_release(to);
	*to = *text;
	tacho_buf_init(text, to->cap);
	return 0;
}

/* Resolves the kernel's escapes in quoted text, in place. */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1]) {
			s++;
			*to++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

/* One line '0xffffffff81000000 : "text"', which is terminated in place. */
static bool string_line(char *line, char *end, uint64_t *addr, char **string)
{
	char *quote = memchr(line, '"', (size_t)(end - line));
	char *last = memrchr(line, '"', (size_t)(end - line)), *p;

	if (!quote || quote == last || strncmp(line, "0x", 2))
		return false;
	*addr = strtoull(line, &p, 16);
	if (p > quote)
		return false;
	*last = '\0';
	*string = quote + 1;
	unescape(*string);
	return true;
}

int tacho_facts_take_printk(struct tacho_facts *f, struct tacho_buf *text)
{
	int err = take_text(&f->string_text, text);
	char *p, *end;
	size_t lines = 0;

	if (err)
		return err;
	f->nr_strings = 0;
	p = f->string_text.data;
	end = p + f->string_text.len;
	for (char *c = p; c < end; c++)
		lines += *c == '\n';
	free(f->string);
	f->string = calloc(lines, sizeof(*f->string));
	if (!f->string)
		return -ENOMEM;
	while (p < end) {
		char *nl = memchr(p, '\n', (size_t)(end - p)), *string;
		uint64_t addr;

		if (string_line(p, nl, &addr, &string))
			f->string[f->nr_strings++] = (struct tacho_fact_string){
				addr, (uint32_t)(string - f->string_text.data) };
		p = nl + 1;
	}
	if (f->nr_strings)
		qsort(f->string, f->nr_strings, sizeof(*f->string), string_order);
	return 0;
}

const char *tacho_facts_string(const struct tacho_facts *f, uint64_t addr)
{
	size_t lo = 0, hi = f->nr_strings;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->string[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->nr_strings && f->string[lo].addr == addr ?
	       f->string_text.data + f->string[lo].text : NULL;
}
