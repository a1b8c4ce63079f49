// SPDX-License-Identifier: MIT
/* Events of this program. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/digits.h"
#include "base/text.h"
#include "compat/event_from_type.h"
#include "compat/qnx/run.h"
#include "fmt/kev/record.h"
#include "fmt/kev/types.h"

#define ARENA_MAX	((size_t)16 << 20)
#define STACK_RAW	1024u

static const struct qnx_state nobodys = { .all_user = 1 };
/* What an event points at before it is registered, and if that fails. */
static const uint64_t state_off[2];

struct qnx_run qnx_run = { .state = &nobodys };
struct qnx_event qnx_user[QNX_USER_FORMS][QNX_EVENTS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sigset_t over_fork;

/* U2: plans by code, events by id; made under the lock, found without it. */
static struct {
	struct tacho_kev_types types;
	struct tacho_arena arena;
	bool there;
	const struct tacho_kev_plan *plan[TACHO_KEV_CODES];
	struct qnx_event *of_id[0x10000];
	/* made when the program starts */
	struct {
		struct qnx_event *event;
		const struct tacho_kev_form *form;
	} known[QNX_NR_KNOWN];
} others;

static const uint32_t known_codes[QNX_NR_KNOWN] = {
	[QNX_KNOWN_HERE] = TACHO_KEV_MAKE(TACHO_KEV_SYSTEM, _NTO_TRACE_SYS_ADDRESS_64),
	[QNX_KNOWN_ENTER] = TACHO_KEV_MAKE(TACHO_KEV_SYSTEM, _NTO_TRACE_SYS_FUNC_ENTER_64),
	[QNX_KNOWN_EXIT] = TACHO_KEV_MAKE(TACHO_KEV_SYSTEM, _NTO_TRACE_SYS_FUNC_EXIT_64),
};

void qnx_lock(sigset_t *was)
{
	sigset_t all;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, was);
	pthread_mutex_lock(&lock);
}

void qnx_unlock(const sigset_t *was)
{
	pthread_mutex_unlock(&lock);
	(void)pthread_sigmask(SIG_SETMASK, was, NULL);
}

static void before_fork(void)
{
	sigset_t was;

	qnx_lock(&was);
	over_fork = was;
}

static void after_fork(void)
{
	sigset_t was = over_fork;

	qnx_unlock(&was);
}

/* ---- registering ---- */

static void map_state(void)
{
	struct qnx_state *s;

	if (tacho_load_relaxed(&qnx_run.state) == &nobodys && !qnx_state_map(&s, NULL))
		/* [qnx-state] */
		tacho_store_release(&qnx_run.state, (const struct qnx_state *)s);
}

/* Under the lock.  A process that cannot be traced goes on without. */
static void begin(struct qnx_event *e)
{
	e->event.struct_size = sizeof(e->event);
	e->event.state = state_off;
	e->list = &e->event;
	e->object = (struct tacho_object){
		.struct_size = sizeof(e->object), .events = &e->list,
		.events_end = &e->list + 1,
	};
	(void)tacho_object_register(&e->object);
	map_state();
	tacho_store_release(&e->ready, 1);	/* [qnx-event] */
}

static struct tacho_event_field word_fields[] = {
	{ "unsigned int d0", 8, 4, 0, 4 },
	{ "unsigned int d1", 12, 4, 0, 4 },
};
static struct tacho_event_field data_field[] = {
	{ "__data_loc unsigned char[] data", 8, 4, 0, 4 },
};
static struct tacho_event_field text_field[] = {
	{ "__data_loc char[] text", 8, 4, 0, 4 },
};

static void name_user(struct qnx_event *e, enum qnx_user_form form, uint32_t event)
{
	static const char *const suffix[] = { "", "_data", "_text" };
	char *p = e->name;

	memcpy(p, "event_", 6);
	p = tacho_digits(p + 6, event);
	memcpy(p, suffix[form], strlen(suffix[form]) + 1);
	e->event.system = "user";
	e->event.name = e->name;
}

static void describe_user(struct qnx_event *e, enum qnx_user_form form)
{
	static const struct {
		const struct tacho_event_field *field;
		uint32_t nr;
		const char *print;
	} forms[] = {
		{ word_fields, 2, "\"d0=0x%x d1=0x%x\", REC->d0, REC->d1" },
		{ data_field, 1, "\"data=%s\", __print_hex(__get_dynamic_array(data), "
			"__get_dynamic_array_len(data))" },
		{ text_field, 1, "\"%s\", __get_str(text)" },
	};

	e->event.fields = forms[form].field;
	e->event.nr_fields = forms[form].nr;
	e->event.print_fmt = forms[form].print;
}

bool qnx_user_begin(enum qnx_user_form form, uint32_t event)
{
	struct qnx_event *e = &qnx_user[form][event];
	int saved = errno;
	sigset_t was;

	if (tacho_load_acquire(&e->ready))	/* [qnx-event] */
		return e->event.ops;
	qnx_lock(&was);
	if (!e->ready) {
		name_user(e, form, event);
		describe_user(e, form);
		e->code = (uint16_t)TACHO_KEV_MAKE(TACHO_KEV_USER, event);
		begin(e);
	}
	qnx_unlock(&was);
	errno = saved;
	return e->event.ops;
}

/* ---- U2 ---- */

static bool have_types(void)
{
	if (others.there)
		return true;
	tacho_arena_init(&others.arena, ARENA_MAX);
	if (tacho_kev_types_init(&others.types, TACHO_KEV_710)) {
		tacho_kev_types_release(&others.types);
		return false;
	}
	others.there = true;
	return true;
}

static struct qnx_event *make_other(const struct tacho_kev_form *form, uint32_t code,
				    uint32_t id)
{
	const struct tacho_type *type = tacho_kev_type(&others.types, id);
	struct qnx_event *e = tacho_arena_alloc(&others.arena, sizeof(*e));

	if (!type || !e)
		return NULL;
	memset(e, 0, sizeof(*e));
	if (!tacho_event_from_type(&e->event, type, &others.arena, 4))
		return NULL;
	e->code = (uint16_t)code;
	e->fixed = form ? form->fixed : 0;
	e->kind = form ? form->kind : 0;
	begin(e);
	return e;
}

/* The event of a form, or (NULL) the slot that is none by itself. */
static struct qnx_event *get_other(const struct tacho_kev_form *form, uint32_t code)
{
	uint32_t id = form ? form->id : TACHO_KEV_ID_ORPHAN;

	if (!others.of_id[id])
		/* [qnx-other] */
		tacho_store_release(&others.of_id[id], make_other(form, code, id));
	return others.of_id[id];
}

static const struct tacho_kev_form *form_of(const struct tacho_kev_plan *plan,
					    const uint32_t *words, uint32_t nr)
{
	return plan ? tacho_kev_form_of(plan, (const unsigned char *)words, nr, false) : NULL;
}

/* What was begun before; NULL: nothing was. */
static struct qnx_event *find_other(uint32_t code, const uint32_t *words, uint32_t nr,
				    bool slot, const struct tacho_kev_form **form)
{
	/* [qnx-plan] */
	*form = slot ? NULL : form_of(tacho_load_acquire(&others.plan[code]), words, nr);
	if (!slot && !*form)
		return NULL;
	/* [qnx-other] */
	return tacho_load_acquire(&others.of_id[slot ? TACHO_KEV_ID_ORPHAN : (*form)->id]);
}

/* ---- recording ---- */

uint64_t qnx_judge(const struct qnx_event *e, const struct qnx_hit *hit)
{
	const struct qnx_state *s = tacho_load_acquire(&qnx_run.state);	/* [qnx-state] */
	uint64_t wanted = tacho_load_relaxed(&e->event.state[0]);
	uint64_t own = tacho_load_relaxed(&s->own);
	uint32_t class_, event;

	if (!(wanted & own) || !qnx_number_of(hit->code, hit->words, hit->nr, &class_, &event))
		return wanted;
	if (!qnx_state_wants(s, class_, event, getpid(), gettid()) ||
	    (tacho_load_relaxed(&qnx_run.hooks) && !qnx_handlers_say(class_, event, hit)))
		return wanted & ~own;
	return wanted;
}

static void write_raw(struct qnx_event *e, void *raw, size_t len, const struct qnx_hit *hit)
{
	uint64_t mask = qnx_judge(e, hit);

	if (!mask)
		return;
	e->event.ops->write_mask(&e->event, raw, len, mask);
	if (tacho_load_relaxed(&qnx_run.hooks))
		qnx_hook_look(false);
}

static bool is_wanted(const struct qnx_event *e)
{
	return tacho_load_relaxed(e->event.state) != 0;
}

static int insert_simple(uint32_t event, const uint32_t word[2])
{
	struct qnx_event *e = &qnx_user[QNX_USER_WORDS][event];
	uint32_t raw[4] = { 0, 0, word[0], word[1] };

	if (qnx_user_begin(QNX_USER_WORDS, event) && is_wanted(e))
		write_raw(e, raw, sizeof(raw), &(struct qnx_hit){ e->code, word, 2 });
	return 0;
}

/* `size` bytes of raw event: a word that says where, and the bytes. */
static void fill_bytes(char *raw, const void *bytes, size_t n, size_t size)
{
	memset(raw, 0, 12);
	tacho_put_u32(raw + 8, 12u | (uint32_t)size << 16);
	memcpy(raw + 12, bytes, n);
	memset(raw + 12 + n, 0, ((12 + size + 7) & ~(size_t)7) - 12 - n);
}

int qnx_insert_user(uint32_t event, const void *bytes, size_t n)
{
	enum qnx_user_form form;
	uint64_t stack[STACK_RAW / 8];
	uint32_t word[2] = { 0, 0 };
	struct qnx_event *e;
	char *raw = (char *)stack;
	size_t size;

	if (n <= 8) {
		memcpy(word, bytes, n);
		return insert_simple(event, word);
	}
	form = tacho_kev_is_text(bytes, n) ? QNX_USER_TEXT : QNX_USER_DATA;
	/* a text ends with one zero; bytes are whole slots */
	size = form == QNX_USER_TEXT ? strnlen(bytes, n) + 1 : (n + 7) & ~(size_t)7;
	n = n < size ? n : size;
	e = &qnx_user[form][event];
	if (!qnx_user_begin(form, event) || !is_wanted(e))
		return 0;
	if (12 + size > TACHO_RAW_MAX) {
		e->event.ops->write(&e->event, NULL, 12 + size);
		errno = ENOMEM;
		return -1;
	}
	if (12 + size + 8 > sizeof(stack))
		raw = e->event.ops->scratch_get(&e->event, 12 + size + 8);
	if (!raw)
		return 0;
	fill_bytes(raw, bytes, n, size);
	write_raw(e, raw, 12 + size, &(struct qnx_hit){ e->code, (void *)(raw + 12),
							(uint32_t)size / 4 });
	if (raw != (char *)stack)
		e->event.ops->scratch_put(raw);
	return 0;
}

int qnx_insert_text(uint32_t event, const char *text)
{
	char copy[128];
	size_t n = strnlen(text, sizeof(copy) - 1);

	memcpy(copy, text, n);
	copy[n] = '\0';
	return qnx_insert_user(event, copy, n + 1);
}

/* Gets an event of a form; NULL, and errno. */
static struct qnx_event *begin_other(uint32_t code, const uint32_t *words, uint32_t nr,
				     bool slot, const struct tacho_kev_form **form)
{
	struct qnx_event *e = find_other(code, words, nr, slot, form);
	const struct tacho_kev_plan *plan;
	int saved = errno;
	sigset_t was;

	if (tacho_likely(e))
		return e;
	*form = NULL;
	qnx_lock(&was);
	if (have_types()) {
		plan = tacho_kev_plan(&others.types, code);
		tacho_store_release(&others.plan[code], plan);	/* [qnx-plan] */
		if (!slot)
			*form = form_of(plan, words, nr);
		if (slot || *form)
			e = get_other(*form, code);
	}
	qnx_unlock(&was);
	errno = e ? saved : ENOMEM;
	return e;
}

static void write_other(struct qnx_event *e, const struct tacho_kev_form *form,
			const struct tacho_kev_event *ev, uint32_t nr)
{
	uint64_t record[(40 + 4 * QNX_WORDS_MAX) / 8];
	uint32_t size = tacho_kev_record_put((unsigned char *)record, form, ev, false, 0);
	const struct qnx_hit hit = { .code = TACHO_KEV_CODE(ev->header),
				     .words = (const void *)ev->data, .nr = nr };

	write_raw(e, record + 1, size - 8, &hit);
}

int qnx_insert_words(uint32_t code, const uint32_t *words, uint32_t nr)
{
	uint32_t copy[QNX_WORDS_MAX + 2];
	const struct tacho_kev_form *form;
	struct tacho_kev_event ev = { .kind = TACHO_KEV_WHOLE, .header = code,
				      .data = (const unsigned char *)copy };
	struct qnx_event *e;

	if (TACHO_KEV_CLASS(code) == TACHO_KEV_USER)
		return qnx_insert_user(TACHO_KEV_EVENT(code), words, (size_t)4 * nr);
	if (nr > QNX_WORDS_MAX) {
		errno = ENOMEM;
		return -1;
	}
	memcpy(copy, words, (size_t)4 * nr);
	/* whole slots, and one at least */
	copy[nr] = copy[nr + 1] = 0;
	ev.words = nr < 2 ? 2 : (nr + 1) & ~1u;
	e = begin_other(code, copy, ev.words, false, &form);
	if (!e)
		return -1;
	if (e->event.ops && is_wanted(e))
		write_other(e, form, &ev, ev.words);
	return 0;
}

int qnx_insert_slot(uint32_t header, uint32_t stamp, uint32_t d0, uint32_t d1)
{
	const uint32_t words[2] = { d0, d1 };
	struct tacho_kev_event ev = { .kind = TACHO_KEV_ORPHAN, .header = header,
				      .stamp = stamp, .words = 2,
				      .data = (const unsigned char *)words };
	const struct tacho_kev_form *form;
	struct qnx_event *e;

	if (TACHO_KEV_STRUCT(header) == TACHO_KEV_S)
		return qnx_insert_words(TACHO_KEV_CODE(header), words, 2);
	e = begin_other(TACHO_KEV_CODE(header), words, 2, true, &form);
	if (!e)
		return -1;
	if (e->event.ops && is_wanted(e))
		write_other(e, NULL, &ev, 2);
	return 0;
}

int qnx_insert_known(enum qnx_known which, const uint64_t *value, uint32_t nr)
{
	struct tacho_kev_event ev = { .kind = TACHO_KEV_WHOLE, .header = known_codes[which],
				      .data = (const unsigned char *)value, .words = 2 * nr };
	struct qnx_event *e = others.known[which].event;

	if (!e) {
		errno = ENOMEM;
		return -1;
	}
	if (e->event.ops && is_wanted(e))
		write_other(e, others.known[which].form, &ev, ev.words);
	return 0;
}

/* What programs insert by functions that may run anywhere. */
__attribute__((constructor)) static void start(void)
{
	static const uint32_t words[4];

	for (uint32_t i = 0; i < QNX_NR_KNOWN; i++)
		others.known[i].event = begin_other(known_codes[i], words,
						    i == QNX_KNOWN_HERE ? 2 : 4, false,
						    &others.known[i].form);
	/* after libtacho's, so that it is called first */
	(void)pthread_atfork(before_fork, after_fork, after_fork);
}
