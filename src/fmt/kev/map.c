// SPDX-License-Identifier: MIT
#include "fmt/kev/map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "fmt/kev/map_priv.h"
#include "fmt/kev/record.h"

#define TEXT_MAX	((size_t)1 << 20)
#define ARENA_MAX	((size_t)64 << 20)

/* What becomes of the records of a type. */
struct kind {
	int code;			/* own: class and event; -1: not */
	uint32_t id;			/* own: id among tacho's types of QNX */
	const struct tacho_kev_form *form;
	const struct tacho_kev_mapping *mapping;
	const struct tacho_field *field[TACHO_KEV_MAP_FIELDS];
};

struct tacho_kev_map *tacho_kev_map_new(struct tacho_kev_writer *w,
					struct tacho_stream *stream,
					enum tacho_kev_release release, bool exact)
{
	struct tacho_kev_map *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->w = w;
	m->stream = stream;
	m->exact = exact;
	tacho_arena_init(&m->arena, ARENA_MAX);
	tacho_buf_init(&m->words, TEXT_MAX);
	tacho_buf_init(&m->text, TEXT_MAX);
	m->task = calloc(TACHO_KEV_MAP_TASKS, sizeof(*m->task));
	if (tacho_kev_types_init(&m->types, release) || !m->task) {
		tacho_kev_map_free(m);
		return NULL;
	}
	return m;
}

void tacho_kev_map_free(struct tacho_kev_map *m)
{
	if (!m)
		return;
	tacho_hashmap_release(&m->kinds);
	tacho_arena_release(&m->arena);
	tacho_buf_release(&m->words);
	tacho_buf_release(&m->text);
	tacho_kev_types_release(&m->types);
	free(m->task);
	free(m);
}

const struct tacho_kev_counts *tacho_kev_map_counts(const struct tacho_kev_map *m)
{
	return &m->counts;
}

/* ---- types --------------------------------------------------------------------- */

static const struct tacho_kev_form *form_by_id(struct tacho_kev_map *m,
					       const struct kind *k)
{
	const struct tacho_kev_plan *plan = tacho_kev_plan(&m->types, (uint32_t)k->code);

	for (int v = 0; plan && v < TACHO_KEV_NR_VARIANTS; v++)
		if (plan->form[v].id == k->id)
			return &plan->form[v];
	return NULL;
}

static bool take_fields(struct kind *k, const struct tacho_type *type)
{
	for (uint32_t i = 0; i < TACHO_KEV_MAP_FIELDS && k->mapping->field[i]; i++) {
		k->field[i] = tacho_type_field(type, k->mapping->field[i]);
		if (!k->field[i])
			return false;
	}
	return true;
}

static const struct kind *kind_of(struct tacho_kev_map *m,
				  const struct tacho_record *r, struct tacho_diag *d)
{
	struct kind *k = tacho_hashmap_get(&m->kinds, tacho_hashmap_key(r->type));

	if (k)
		return k;
	k = tacho_arena_alloc(&m->arena, sizeof(*k));
	if (!k || tacho_hashmap_set(&m->kinds, tacho_hashmap_key(r->type), k)) {
		(void)tacho_no_memory(d);
		return NULL;
	}
	k->code = tacho_kev_type_code(&m->types, r->type, &k->id);
	if (k->code >= 0)
		k->form = form_by_id(m, k);
	/* the types to compare with could not be created */
	if (m->types.arena.no_memory) {
		(void)tacho_no_memory(d);
		return NULL;
	}
	if (k->code < 0 && r->source == TACHO_STREAM_KERNEL)
		k->mapping = tacho_kev_mapping_of(r->type);
	if (k->mapping && !take_fields(k, r->type))
		k->mapping = NULL;
	return k;
}

/* ---- who ------------------------------------------------------------------------- */

struct tacho_kev_task *tacho_kev_map_task(struct tacho_kev_map *m, int32_t tid)
{
	struct tacho_kev_task *t = &m->task[(uint32_t)tid & (TACHO_KEV_MAP_TASKS - 1)];
	int32_t pid = 0;

	if (t->known && t->tid == tid)
		return t;
	*t = (struct tacho_kev_task){ .tid = tid, .known = true };
	if (tid)
		(void)tacho_stream_comm(m->stream, tid, &pid);
	/* a process that is not known has at least this thread's number */
	t->pid = pid > 0 ? pid : tid;
	return t;
}

/* ---- writing --------------------------------------------------------------------- */

void tacho_kev_map_choose(struct tacho_kev_map *m, tacho_kev_choose fn, void *arg)
{
	m->choose = fn;
	m->choose_arg = arg;
}

void tacho_kev_map_wide(struct tacho_kev_map *m, bool (*fn)(void *arg, uint32_t code))
{
	m->wide = fn;
}

static bool is_chosen(const struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      const struct tacho_kev_out *ev)
{
	return !m->choose || m->choose(m->choose_arg, ev, a->r, a->pid, a->tid);
}

static int put_event(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		     const struct tacho_kev_out *ev, struct tacho_diag *d)
{
	return is_chosen(m, a, ev) ? tacho_kev_writer_event(m->w, ev, d) : 0;
}

int tacho_kev_map_put(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		      uint32_t code, const uint32_t *words, uint32_t nr,
		      struct tacho_diag *d)
{
	const struct tacho_kev_plan *plan = tacho_kev_plan(&m->types, code);
	struct tacho_kev_out ev = { .cpu = a->cpu, .code = code, .time = a->time,
				    .words = words, .nr = nr };

	/* which words are one number of 64 bits */
	if (plan)
		ev.form = tacho_kev_form_of(plan, ev.words, (nr + 1) & ~1u, false);
	return put_event(m, a, &ev, d);
}

static int put_text(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		    uint32_t code, uint32_t fixed, struct tacho_diag *d)
{
	struct tacho_kev_form form = { .kind = TACHO_KEV_STRING, .fixed = (uint8_t)fixed };
	struct tacho_kev_out ev = { .cpu = a->cpu, .code = code, .time = a->time,
				    .form = &form };

	/* the string's end, and whole words */
	do
		tacho_buf_putc(&m->words, '\0');
	while (m->words.len % 8);
	if (tacho_buf_error(&m->words))
		return tacho_no_memory(d);
	ev.words = m->words.data;
	ev.nr = (uint32_t)(m->words.len / 4);
	return put_event(m, a, &ev, d);
}

int tacho_kev_map_name(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		       uint32_t code, uint32_t first, uint32_t second,
		       const char *text, size_t len, struct tacho_diag *d)
{
	tacho_buf_reset(&m->words);
	tacho_buf_put(&m->words, &first, 4);
	tacho_buf_put(&m->words, &second, 4);
	tacho_buf_put(&m->words, text, strnlen(text, len));
	return put_text(m, a, code, 2, d);
}

int tacho_kev_map_tasks(struct tacho_kev_map *m, const struct tacho_facts *tasks,
			uint64_t time, struct tacho_diag *d)
{
	static const uint32_t create = TACHO_KEV_MAKE(TACHO_KEV_PR_TH, TACHO_KEV_TH_CREATE);
	struct tacho_kev_args a = { .time = time };
	uint64_t span = 3 * (uint64_t)tasks->nr_tasks;
	int err = 0;

	/* up to three events each, each with a time of its own, end where the trace begins */
	a.time = time > span ? time - span : 0;
	for (size_t i = 0; i < tasks->nr_tasks && !err; i++) {
		const struct tacho_fact_task *t = &tasks->task[i];
		uint32_t words[2] = { (uint32_t)(t->tgid > 0 ? t->tgid : t->pid),
				      (uint32_t)t->pid };

		if (t->pid <= 0)
			continue;
		if (words[0] == words[1])
			err = tacho_kev_map_name(m, &a, TACHO_KEV_MAKE(TACHO_KEV_PR_TH,
				TACHO_KEV_PROC_CREATE_NAME * TACHO_KEV_PROCESS), 0,
				words[0], t->comm, sizeof(t->comm), d);
		if (!err)
			err = tacho_kev_map_put(m, &a, create, words, 2, d);
		if (!err && t->comm[0])
			err = tacho_kev_map_name(m, &a, TACHO_KEV_MAKE(TACHO_KEV_PR_TH,
				TACHO_KEV_PROC_THREAD_NAME * TACHO_KEV_PROCESS), words[0],
				words[1], t->comm, sizeof(t->comm), d);
	}
	return err;
}

/* ---- records --------------------------------------------------------------------- */

/* kev:orphan and kev:unfinished: the slots they were. */
static int put_broken(struct tacho_kev_map *m, const struct kind *k,
		      const struct tacho_kev_args *a, struct tacho_diag *d)
{
	static const struct tacho_kev_form orphan = { .kind = TACHO_KEV_PLAIN, .fixed = 4 };
	static const struct tacho_kev_form parts = { .kind = TACHO_KEV_WORDS, .fixed = 2 };
	bool one = k->id == TACHO_KEV_ID_ORPHAN;
	struct tacho_kev_out ev = { .cpu = a->cpu, .time = a->time };
	uint32_t header;

	if (tacho_kev_record_words(one ? &orphan : &parts, a->r->raw, a->r->len, &m->words))
		return tacho_diag(d, -EINVAL, 0, "a record is too short for its type");
	header = tacho_load_u32(m->words.data);
	ev.code = TACHO_KEV_CODE(header);
	ev.words = m->words.data + 8;
	ev.nr = (uint32_t)(m->words.len / 4) - 2;
	if (!is_chosen(m, a, &ev))
		return 0;
	return tacho_kev_writer_slots(m->w, header, tacho_load_u32(m->words.data + 4),
				      ev.words, ev.nr, d);
}

static int put_own(struct tacho_kev_map *m, const struct kind *k,
		   const struct tacho_record *r, const struct tacho_kev_args *a,
		   struct tacho_diag *d)
{
	struct tacho_kev_out ev = { .cpu = a->cpu, .code = (uint32_t)k->code,
				    .time = a->time, .form = k->form };

	m->counts.own++;
	if (!k->form)
		return put_broken(m, k, a, d);
	if (!m->exact && (ev.code == TACHO_KEV_TIME || ev.code == TACHO_KEV_BUFFER)) {
		m->counts.own--;
		m->counts.control++;
		return 0;
	}
	if (tacho_kev_record_words(k->form, r->raw, r->len, &m->words))
		return tacho_diag(d, -EINVAL, 0, "a record is too short for its type");
	ev.words = m->words.data;
	ev.nr = (uint32_t)(m->words.len / 4);
	return put_event(m, a, &ev, d);
}

int tacho_kev_map_text(struct tacho_kev_map *m, const struct tacho_kev_args *a,
		       struct tacho_diag *d)
{
	const struct tacho_record *r = a->r;
	uint32_t event = r->source == TACHO_STREAM_KERNEL ? TACHO_KEV_TEXT_KERNEL :
							    TACHO_KEV_TEXT_PROGRAM;

	tacho_buf_reset(&m->words);
	tacho_buf_printf(&m->words, "%s:%s tid=%d ", r->type->system, r->type->name,
			 r->pid);
	tacho_stream_print(m->stream, r, &m->words);
	if (m->words.len > TACHO_KEV_TEXT_MAX) {
		m->words.len = TACHO_KEV_TEXT_MAX;
		m->counts.cut++;
	}
	m->counts.text++;
	return put_text(m, a, TACHO_KEV_MAKE(TACHO_KEV_USER, event), 0, d);
}

int tacho_kev_map_record(struct tacho_kev_map *m, const struct tacho_record *r,
			 uint64_t time, struct tacho_diag *d)
{
	const struct kind *k = kind_of(m, r, d);
	struct tacho_kev_args a = { .r = r, .cpu = r->cpu, .time = time, .tid = r->pid };

	if (!k)
		return d->err;
	if (a.cpu >= TACHO_KEV_CPUS) {
		a.cpu = TACHO_KEV_CPUS - 1;
		m->counts.cpus++;
	}
	if (m->choose)
		a.pid = tacho_kev_map_task(m, r->pid)->pid;
	if (k->code >= 0)
		return put_own(m, k, r, &a, d);
	if (!k->mapping)
		return tacho_kev_map_text(m, &a, d);
	a.mapping = k->mapping;
	a.pid = tacho_kev_map_task(m, r->pid)->pid;
	for (uint32_t i = 0; i < TACHO_KEV_MAP_FIELDS && k->field[i]; i++)
		if (!tacho_field_int(k->field[i], r->raw, r->len, &a.value[i]) &&
		    !(k->field[i]->flags & TACHO_FIELD_STRING))
			return tacho_kev_map_text(m, &a, d);
	return k->mapping->put(m, &a, d);
}
