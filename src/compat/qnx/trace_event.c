// SPDX-License-Identifier: MIT
/* The calls of <sys/neutrino.h> and <sys/trace.h>. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/neutrino.h>

#include "base/bytes.h"
#include "compat/qnx/qnx.h"
#include "compat/qnx/run.h"
#include "fmt/kev/layout.h"

#define EVENT_MASK	0x3ffu
#define CLASS_MASK	0x1fu
#define VERSION		101	/* of the trace: 1.01, as .kev files have it */
#define TEXT_MAX	(1 << 20)
/* A command's number, as TraceEvent() is given it. */
#define NUMBER(command)	_TRACE_GET_FLAG(_NTO_TRACE_##command)
/* The commands that have other numbers in releases that are not this header's. */
#define SETBUFFER	44
#define PMU_QUERYEVENTS	49

static int result(int err)
{
	if (err >= 0)
		return err;
	errno = -err;
	return -1;
}

/* ---- commands ---- */

/* A command's arguments, as the caller gave them. */
struct command {
	unsigned int n;			/* without the number of arguments */
	bool states;			/* events of THREAD are states: 8.0 */
	va_list *args;
};

enum scope { ALL, CLASS, EVENT };

/* ADD, DEL, SET ... FAST and WIDE. */
static const struct change {
	uint8_t n;
	uint8_t how;			/* enum tacho_qnx_change */
	uint8_t scope;
} changes[] = {
	{ NUMBER(ADDALLCLASSES), TACHO_QNX_ON, ALL },
	{ NUMBER(DELALLCLASSES), TACHO_QNX_OFF, ALL },
	{ NUMBER(SETALLCLASSESFAST), TACHO_QNX_FAST, ALL },
	{ NUMBER(SETALLCLASSESWIDE), TACHO_QNX_WIDE, ALL },
	{ NUMBER(ADDCLASS), TACHO_QNX_ON, CLASS },
	{ NUMBER(DELCLASS), TACHO_QNX_OFF, CLASS },
	{ NUMBER(SETCLASSFAST), TACHO_QNX_FAST, CLASS },
	{ NUMBER(SETCLASSWIDE), TACHO_QNX_WIDE, CLASS },
	{ NUMBER(ADDEVENT), TACHO_QNX_ON, EVENT },
	{ NUMBER(DELEVENT), TACHO_QNX_OFF, EVENT },
	{ NUMBER(SETEVENTFAST), TACHO_QNX_FAST, EVENT },
	{ NUMBER(SETEVENTWIDE), TACHO_QNX_WIDE, EVENT },
};

/* SET and CLR ... PID and TID, of a class or of an event. */
static const struct who_change {
	uint8_t n;
	uint8_t scope;
	bool tid, clear;
} who_changes[] = {
	{ NUMBER(SETCLASSPID), CLASS, false, false },
	{ NUMBER(SETCLASSTID), CLASS, true, false },
	{ NUMBER(SETEVENTPID), EVENT, false, false },
	{ NUMBER(SETEVENTTID), EVENT, true, false },
	{ NUMBER(CLRCLASSPID), CLASS, false, true },
	{ NUMBER(CLRCLASSTID), CLASS, true, true },
	{ NUMBER(CLREVENTPID), EVENT, false, true },
	{ NUMBER(CLREVENTTID), EVENT, true, true },
};

/* The events that a command's first arguments name. */
static bool take_set(struct command *c, uint8_t scope, struct qnx_set *set)
{
	uint32_t class_ = va_arg(*c->args, unsigned int);
	uint32_t n = scope == EVENT ? va_arg(*c->args, unsigned int) : QNX_ALL_EVENTS;

	return qnx_set_of(set, class_, n, c->states);
}

static int change(struct tacho_qnx *q, struct command *c, const struct change *how)
{
	enum tacho_qnx_change to = (enum tacho_qnx_change)how->how;
	struct qnx_set set;

	if (how->scope == ALL)
		return tacho_qnx_change_all(q, to, NULL);
	return take_set(c, how->scope, &set) ? tacho_qnx_change(q, &set, to, NULL) : -EFAULT;
}

static int change_who(struct tacho_qnx *q, struct command *c, const struct who_change *how)
{
	struct qnx_set set;
	int32_t pid;

	if (!take_set(c, how->scope, &set))
		return -EFAULT;
	if (how->clear)
		return tacho_qnx_clear_who(q, &set, how->scope == CLASS, !how->tid);
	pid = va_arg(*c->args, int);
	return tacho_qnx_set_who(q, &set, how->scope == CLASS, pid,
				 how->tid ? va_arg(*c->args, int) : 0);
}

static int alloc_buffers(struct tacho_qnx *q, struct command *c)
{
	uint32_t n = va_arg(*c->args, unsigned int);
	void **paddr = va_arg(*c->args, void **);
	int err = tacho_qnx_alloc(q, n, NULL);

	/* they have no physical address that would be of use to anybody */
	if (!err && paddr)
		*paddr = NULL;
	return err;
}

static int count(struct tacho_qnx *q)
{
	int64_t n = tacho_qnx_count(q);

	return n > INT_MAX ? INT_MAX : (int)n;
}

static int class_commands(struct tacho_qnx *q, struct command *c)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(changes); i++)
		if (changes[i].n == c->n)
			return change(q, c, &changes[i]);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(who_changes); i++)
		if (who_changes[i].n == c->n)
			return change_who(q, c, &who_changes[i]);
	/* what their arguments are is not documented */
	return c->n >= SETBUFFER && c->n <= PMU_QUERYEVENTS ? -ENOTSUP : -EFAULT;
}

static int trace_commands(struct tacho_qnx *q, struct command *c)
{
	switch (c->n) {
	case NUMBER(START):
	case NUMBER(STARTNOSTATE):
		return tacho_qnx_start(q, c->n == NUMBER(STARTNOSTATE), NULL);
	case NUMBER(STOP):
		return tacho_qnx_stop(q, NULL);
	case NUMBER(ALLOCBUFFER):
		return alloc_buffers(q, c);
	case NUMBER(DEALLOCBUFFER):
		return tacho_qnx_dealloc(q, NULL);
	case NUMBER(FLUSHBUFFER):
		return tacho_qnx_flush(q);
	case NUMBER(QUERYEVENTS):
		return count(q);
	case NUMBER(SETRINGMODE):
	case NUMBER(SETLINEARMODE):
		return tacho_qnx_mode(q, c->n == NUMBER(SETRINGMODE), NULL);
	case NUMBER(SKIPBUFFER):
	case NUMBER(OVERWRITEBUFFER):
		return tacho_qnx_skip(q);
	default:
		return class_commands(q, c);
	}
}

/* Commands that change what all share. */
static int shared_commands(struct command *c)
{
	struct tacho_qnx *q = malloc(sizeof(*q));
	int err = q ? tacho_qnx_open(q, NULL) : -ENOMEM;

	if (!err) {
		err = trace_commands(q, c);
		tacho_qnx_close(q);
	}
	free(q);
	if (!err && c->n == NUMBER(FLUSHBUFFER))
		qnx_hook_look(true);
	return result(err);
}

/* ---- insertion ---- */

/* The code of a small class and an event; false: there is no such class. */
static bool code_of(uint32_t class_, uint32_t event, uint32_t *code)
{
	*code = TACHO_KEV_MAKE(class_ & CLASS_MASK, event & EVENT_MASK);
	return class_ && class_ < TACHO_KEV_NR_CLASSES;
}

static int insert_words(uint32_t class_, uint32_t event, const void *words, size_t nr)
{
	uint32_t copy[QNX_WORDS_MAX], code;

	if (!code_of(class_, event, &code) || (!words && nr))
		return result(-EFAULT);
	if (class_ == TACHO_KEV_USER)
		return qnx_insert_user(event & EVENT_MASK, words ? words : "", 4 * nr);
	if (nr > QNX_WORDS_MAX)
		return result(-ENOMEM);
	/* they may lie anywhere */
	memcpy(copy, words ? words : "", 4 * nr);
	return qnx_insert_words(code, copy, (uint32_t)nr);
}

static int insert_two(va_list *args, bool class_)
{
	uint32_t c = class_ ? va_arg(*args, unsigned int) : TACHO_KEV_USER;
	uint32_t event = va_arg(*args, unsigned int);
	uint32_t words[2] = { va_arg(*args, unsigned int), 0 };

	words[1] = va_arg(*args, unsigned int);
	return insert_words(c, event, words, 2);
}

static int insert_many(va_list *args, bool class_)
{
	uint32_t c = class_ ? va_arg(*args, unsigned int) : TACHO_KEV_USER;
	uint32_t event = va_arg(*args, unsigned int);
	const void *words = va_arg(*args, const void *);
	unsigned int nr = va_arg(*args, unsigned int);

	return insert_words(c, event, words, nr);
}

static int insert_text(va_list *args)
{
	uint32_t event = va_arg(*args, unsigned int);
	const char *text = va_arg(*args, const char *);

	return text ? qnx_insert_text(event & EVENT_MASK, text) : result(-EFAULT);
}

static int insert_slot(va_list *args)
{
	uint32_t word[4], code;

	for (int i = 0; i < 4; i++)
		word[i] = va_arg(*args, unsigned int);
	if (!code_of(TACHO_KEV_CLASS(word[0]), TACHO_KEV_EVENT(word[0]), &code))
		return result(-EFAULT);
	return qnx_insert_slot(word[0], word[1], word[2], word[3]);
}

/* ---- handlers ---- */

static int add_handler(struct command *c, bool event)
{
	uint32_t class_ = va_arg(*c->args, unsigned int);
	uint32_t n = event ? va_arg(*c->args, unsigned int) : QNX_ALL_EVENTS;
	qnx_handler fn = va_arg(*c->args, qnx_handler);
	event_data_t *data = va_arg(*c->args, event_data_t *);

	return result(qnx_handler_add(class_, n, c->states, fn, data));
}

static int remove_handler(struct command *c, bool event)
{
	uint32_t class_ = va_arg(*c->args, unsigned int);
	uint32_t n = event ? va_arg(*c->args, unsigned int) : QNX_ALL_EVENTS;

	return result(qnx_handler_remove(class_, n, c->states));
}

static int run(struct command *c)
{
	switch (c->n) {
	case NUMBER(INSERTSUSEREVENT):
		return insert_two(c->args, false);
	case NUMBER(INSERTSCLASSEVENT):
		return insert_two(c->args, true);
	case NUMBER(INSERTCUSEREVENT):
		return insert_many(c->args, false);
	case NUMBER(INSERTCCLASSEVENT):
		return insert_many(c->args, true);
	case NUMBER(INSERTUSRSTREVENT):
		return insert_text(c->args);
	case NUMBER(INSERTEVENT):
		return insert_slot(c->args);
	case NUMBER(ADDEVENTHANDLER):
		return add_handler(c, true);
	case NUMBER(ADDCLASSEVHANDLER):
		return add_handler(c, false);
	case NUMBER(DELEVENTHANDLER):
		return remove_handler(c, true);
	case NUMBER(DELCLASSEVHANDLER):
		return remove_handler(c, false);
	case NUMBER(QUERYVERSION):
		return VERSION;
	case NUMBER(QUERYSUPPORT):
		return _NTO_TRACE_SUPPINSTR;
	default:
		return shared_commands(c);
	}
}

TACHO_EXPORT int TraceEvent(int code, ...)
{
	struct command c = { .n = _TRACE_GET_FLAG((unsigned int)code) };
	va_list args;
	int ret;

	va_start(args, code);
	c.args = &args;
	ret = run(&c);
	va_end(args);
	return ret;
}

/* What code compiled for 8.0 calls: see <sys/neutrino.h>. */
int qnx_trace_event_800(int code, ...) __asm__("__TraceEvent_800");

TACHO_EXPORT int qnx_trace_event_800(int code, ...)
{
	struct command c = { .n = _TRACE_GET_FLAG((unsigned int)code), .states = true };
	va_list args;
	int ret;

	va_start(args, code);
	c.args = &args;
	ret = run(&c);
	va_end(args);
	return ret;
}

/* The two numbers that the right to input and output has had. */
TACHO_EXPORT int ThreadCtl(int cmd, void *data)
{
	(void)data;
	return cmd == 1 || cmd == 14 ? 0 : result(-ENOTSUP);
}

/* ---- helpers ---- */

static TACHO_NOINLINE int logi_slow(uint32_t event, unsigned int d1, unsigned int d2)
{
	const uint32_t words[2] = { d1, d2 };

	return qnx_insert_user(event, words, sizeof(words));
}

TACHO_EXPORT int trace_logi(int code, unsigned data1, unsigned data2)
{
	uint32_t event = (unsigned int)code & EVENT_MASK;
	struct qnx_event *e = &qnx_user[QNX_USER_WORDS][event];
	const uint32_t words[2] = { data1, data2 };
	const struct qnx_state *s;
	uint64_t wanted;

	if (tacho_unlikely(!tacho_load_acquire(&e->ready)))	/* [qnx-event] */
		return logi_slow(event, data1, data2);
	wanted = tacho_load_relaxed(e->event.state);
	if (tacho_likely(!wanted))
		return 0;
	/* judged only if QNX's trace wants some events of class USER, and not all */
	s = tacho_load_relaxed(&qnx_run.state);
	if (tacho_unlikely((!tacho_load_relaxed(&s->all_user) &&
			    wanted & tacho_load_relaxed(&s->own)) ||
			   tacho_load_relaxed(&qnx_run.hooks)))
		return logi_slow(event, data1, data2);
	e->event.ops->write1(&e->event, tacho_load_u64(words));
	return 0;
}

TACHO_EXPORT int trace_vnlogf(int code, int max, const char *fmt, va_list args)
{
	va_list again;
	char *text;
	int ret;

	va_copy(again, args);
	if (!max)
		max = vsnprintf(NULL, 0, fmt, again) + 1;
	va_end(again);
	if (max <= 0 || max > TEXT_MAX)
		return result(-EFAULT);
	text = __builtin_alloca((size_t)(max < 256 ? max : 256));
	(void)vsnprintf(text, (size_t)(max < 256 ? max : 256), fmt, args);
	ret = qnx_insert_text((unsigned int)code & EVENT_MASK, text);
	return ret ? ret : max;
}

TACHO_EXPORT int trace_logf(int code, const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = trace_vnlogf(code, 0, fmt, args);
	va_end(args);
	return ret;
}

TACHO_EXPORT int trace_nlogf(int code, int max, const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = trace_vnlogf(code, max, fmt, args);
	va_end(args);
	return ret;
}

TACHO_EXPORT int trace_logbc(unsigned cls, unsigned event, const void *data, size_t n)
{
	uint32_t class_ = cls >> 10, words[QNX_WORDS_MAX], nr = (uint32_t)((n + 3) / 4);
	uint32_t code;

	if (!code_of(class_, event, &code) || (!data && n))
		return result(-EFAULT);
	if (class_ == TACHO_KEV_USER)
		return qnx_insert_user(event & EVENT_MASK, data ? data : "", n);
	if (n > sizeof(words))
		return result(-ENOMEM);
	if (nr)
		words[nr - 1] = 0;
	memcpy(words, data ? data : "", n);
	return qnx_insert_words(code, words, nr);
}

TACHO_EXPORT int trace_logb(int code, const void *data, size_t n)
{
	return trace_logbc(_TRACE_USER_C, (unsigned int)code, data, n);
}

static uint64_t address(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

TACHO_EXPORT int trace_here(void)
{
	const uint64_t here = address(__builtin_return_address(0));

	return qnx_insert_known(QNX_KNOWN_HERE, &here, 1);
}

TACHO_EXPORT int trace_func_enter(void *this_fn, void *call_site)
{
	const uint64_t value[2] = { address(this_fn), address(call_site) };

	return qnx_insert_known(QNX_KNOWN_ENTER, value, 2);
}

TACHO_EXPORT int trace_func_exit(void *this_fn, void *call_site)
{
	const uint64_t value[2] = { address(this_fn), address(call_site) };

	return qnx_insert_known(QNX_KNOWN_EXIT, value, 2);
}
