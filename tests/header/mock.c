/* SPDX-License-Identifier: MIT */
#include "mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOCK_MAX 4096

static const uint64_t state_off;
static const uint64_t state_on = 1;
static int all_on = 1;

static struct mock_record records[MOCK_MAX];
static unsigned int nr_records;

static struct tacho_object *objects[64];
static unsigned int nr_objects;

static unsigned int lost_big, scratch_used;
static int scratch_out;

static void mock_print(const struct mock_record *r)
{
	size_t i;

	if (!getenv("MOCK_PRINT"))
		return;
	printf("%s:%s", r->ev->system, r->ev->name);
	for (i = 8; i < r->len; i++)
		printf(" %02x", r->raw[i]);
	printf("\n");
	fflush(stdout);
}

static void mock_write(struct tacho_event *ev, void *raw, size_t len)
{
	struct mock_record *r = &records[nr_records];

	if (len > TACHO_RAW_MAX) {
		lost_big++;
		return;
	}
	if (len < 8 || (uintptr_t)raw % 8)
		abort();
	if (nr_records == MOCK_MAX)
		return;
	r->ev = ev;
	r->len = len;
	r->raw = malloc((len + 7) & ~(size_t)7);
	if (!r->raw)
		abort();
	/* The tail up to a multiple of 8 belongs to the event as well. */
	memcpy(r->raw, raw, (len + 7) & ~(size_t)7);
	nr_records++;
	mock_print(r);
}

static void *mock_scratch_get(struct tacho_event *ev, size_t len)
{
	void *p = aligned_alloc(8, (len + 7) & ~(size_t)7);

	(void)ev;
	if (!p)
		abort();
	memset(p, 0xa5, len);
	scratch_used++;
	scratch_out++;
	return p;
}

static void mock_scratch_put(void *raw)
{
	free(raw);
	scratch_out--;
}

static void mock_words(struct tacho_event *ev, const uint64_t *words, size_t n)
{
	uint64_t raw[5] = { 0 };

	memcpy(raw + 1, words, n * 8);
	mock_write(ev, raw, 8 + n * 8);
}

static void mock_write1(struct tacho_event *ev, uint64_t a)
{
	mock_words(ev, &a, 1);
}

static void mock_write2(struct tacho_event *ev, uint64_t a, uint64_t b)
{
	mock_words(ev, (const uint64_t[]){ a, b }, 2);
}

static void mock_write3(struct tacho_event *ev, uint64_t a, uint64_t b,
			uint64_t c)
{
	mock_words(ev, (const uint64_t[]){ a, b, c }, 3);
}

static void mock_write4(struct tacho_event *ev, uint64_t a, uint64_t b,
			uint64_t c, uint64_t d)
{
	mock_words(ev, (const uint64_t[]){ a, b, c, d }, 4);
}

static const struct tacho_event_ops ops = {
	.struct_size = sizeof(ops),
	.write = mock_write,
	.write1 = mock_write1,
	.write2 = mock_write2,
	.write3 = mock_write3,
	.write4 = mock_write4,
	.scratch_get = mock_scratch_get,
	.scratch_put = mock_scratch_put,
};

static void mock_switch(struct tacho_object *object, int on)
{
	struct tacho_event *const *p;

	for (p = object->events; p < object->events_end; p++) {
		if (!*p)
			continue;
		(*p)->ops = &ops;
		__atomic_store_n(&(*p)->state, on ? &state_on : &state_off,
				 __ATOMIC_RELEASE);
	}
}

MOCK_API int tacho_object_register(struct tacho_object *object)
{
	if (object->registered)
		return 0;
	if (nr_objects == 64)
		abort();
	object->registered = 1;
	objects[nr_objects++] = object;
	mock_switch(object, all_on);
	return 0;
}

MOCK_API void tacho_object_unregister(struct tacho_object *object)
{
	unsigned int i;

	for (i = 0; i < nr_objects && objects[i] != object; i++)
		;
	if (i == nr_objects)
		return;
	mock_switch(object, 0);
	objects[i] = objects[--nr_objects];
	object->registered = 0;
	/* Its records may not outlive it. */
	mock_clear();
}

void mock_set_all(int on)
{
	unsigned int i;

	all_on = on;
	for (i = 0; i < nr_objects; i++)
		mock_switch(objects[i], on);
}

const struct tacho_event *mock_event(const char *system, const char *name,
				     unsigned int nr)
{
	struct tacho_event *const *p;
	unsigned int i;

	for (i = 0; i < nr_objects; i++) {
		for (p = objects[i]->events; p < objects[i]->events_end; p++) {
			if (*p && !strcmp((*p)->system, system) &&
			    !strcmp((*p)->name, name) && !nr--)
				return *p;
		}
	}
	return NULL;
}

unsigned int mock_objects(void)
{
	return nr_objects;
}

long long mock_eval(const char *system, const char *name, long long fallback)
{
	const struct tacho_event_eval *const *p;
	unsigned int i;

	for (i = 0; i < nr_objects; i++) {
		for (p = objects[i]->evals; p < objects[i]->evals_end; p++) {
			if (!strcmp((*p)->system, system) &&
			    !strcmp((*p)->name, name))
				return (*p)->value;
		}
	}
	return fallback;
}

const struct mock_record *mock_record(unsigned int i)
{
	return i < nr_records ? &records[i] : NULL;
}

void mock_clear(void)
{
	while (nr_records)
		free(records[--nr_records].raw);
}

unsigned int mock_lost_big(void)
{
	return lost_big;
}

unsigned int mock_scratch_used(void)
{
	return scratch_used;
}

int mock_scratch_out(void)
{
	return scratch_out;
}

const char *mock_format(const struct tacho_event *ev)
{
	static char text[16384];
	size_t at = 0;
	uint32_t i;

	for (i = 0; i < ev->nr_fields; i++) {
		const struct tacho_event_field *f = &ev->fields[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at,
			"\tfield:%s;\toffset:%u;\tsize:%u;\tsigned:%u;\n",
			f->decl, f->offset, f->size, f->is_signed);
	}
	(void)snprintf(text + at, sizeof(text) - at, "\nprint fmt: %s\n",
		       ev->print_fmt);
	return text;
}
