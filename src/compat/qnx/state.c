// SPDX-License-Identifier: MIT
/* The file that all who trace in QNX's way share: its life, and what it is asked. */
#include "compat/qnx/state.h"

#include <string.h>

#include "fmt/kev/layout.h"
#include "session/shared.h"
#include "sys/mapping.h"

#define VERSION		1u
#define LAYOUT		((uint32_t)sizeof(struct qnx_state) * 31 + VERSION)

void qnx_state_reset(struct qnx_state *s)
{
	tacho_store_relaxed(&s->generation, 0);
	tacho_store_relaxed(&s->own, 0);
	tacho_store_relaxed(&s->running, 0);
	tacho_store_relaxed(&s->nr_buffers, 0);
	tacho_store_relaxed(&s->nr_skips, 0);
	tacho_store_relaxed(&s->no_kernel, 0);
	tacho_store_relaxed(&s->flushed, 0);
	tacho_store_relaxed(&s->written, 0);
}

/* ---- the file ---- */

static void fill(void *file, uint64_t size)
{
	struct qnx_state *s = file;

	(void)size;
	s->layout = LAYOUT;
	qnx_state_reset(s);
}

static bool fits(const void *file, uint64_t size)
{
	const struct qnx_state *s = file;

	return size == sizeof(*s) && s->layout == LAYOUT;
}

static const struct tacho_shared shared = {
	.name = "qnx", .magic = QNX_MAGIC_STATE, .min_size = sizeof(struct qnx_state),
	.fill = fill, .fits = fits,
};

int qnx_state_map(struct qnx_state **state, int *fd)
{
	void *file;
	int err = tacho_shared_map(&shared, sizeof(**state), &file, fd);

	if (!err)
		*state = file;
	return err;
}

void qnx_state_unmap(struct qnx_state *state)
{
	if (state)
		tacho_shm_unmap(state, sizeof(*state));
}

/* ---- numbers ---- */

/* How the events of a class are named. */
enum kind { NONE, NUMBER, CALL, BITS, STATE };

static enum kind kind_of(uint32_t class_)
{
	switch (class_) {
	case QNX_CONTROL:
	case QNX_PROCESS:
		return BITS;
	case QNX_THREAD:
	case QNX_VTHREAD:
		return STATE;
	case QNX_KERCALL:
	case QNX_KERCALL_ENTER:
	case QNX_KERCALL_EXIT:
	case QNX_KERCALL_INT:
	case QNX_SYSTEM:
		return CALL;
	case QNX_EMPTY:
		return NONE;
	default:
		return class_ < QNX_CLASSES ? NUMBER : NONE;
	}
}

static void set_classes(struct qnx_set *set, uint32_t class_)
{
	static const uint32_t calls[] = { QNX_KERCALL_ENTER, QNX_KERCALL_EXIT,
					  QNX_KERCALL_INT };
	static const uint32_t ints[] = { QNX_INT_ENTER, QNX_INT_EXIT, QNX_INT_HANDLER_ENTER,
					 QNX_INT_HANDLER_EXIT };

	if (class_ == QNX_KERCALL) {
		memcpy(set->class_, calls, sizeof(calls));
		set->nr_classes = 3;
	} else if (class_ == QNX_INT) {
		memcpy(set->class_, ints, sizeof(ints));
		set->nr_classes = 4;
	} else {
		set->class_[0] = class_;
		set->nr_classes = 1;
	}
}

bool qnx_set_of(struct qnx_set *set, uint32_t class_, uint32_t event, bool states)
{
	enum kind kind = kind_of(class_);

	memset(set, 0, sizeof(*set));
	if (kind == NONE)
		return false;
	set_classes(set, class_);
	if (event == QNX_ALL_EVENTS) {
		memset(set->bits, 0xff, sizeof(set->bits));
		return true;
	}
	if (kind == BITS || (kind == STATE && !states)) {
		set->bits[0] = event;
		return event;
	}
	if (kind == CALL)
		event &= ~TACHO_KEV_64;
	if (event >= QNX_EVENTS)
		return false;
	set->bits[event / 64] = UINT64_C(1) << (event % 64);
	return true;
}

static bool number_of_int(uint32_t event, const uint32_t *words, uint32_t nr, uint32_t *class_,
			  uint32_t *n)
{
	/* 1 entry, 2 exit, 3 and 4 of a handler, 5 and 6 with addresses of 64 bits */
	static const uint8_t classes[] = { 0, QNX_INT_ENTER, QNX_INT_EXIT,
		QNX_INT_HANDLER_ENTER, QNX_INT_HANDLER_EXIT, QNX_INT_ENTER,
		QNX_INT_HANDLER_ENTER };
	uint32_t at;

	if (!event || event >= sizeof(classes))
		return false;
	*class_ = classes[event];
	at = *class_ == QNX_INT_HANDLER_ENTER;	/* its process comes first */
	*n = at < nr && words[at] < QNX_EVENTS ? words[at] : QNX_EVENTS - 1;
	return true;
}

static bool number_of_thread(uint32_t event, uint32_t *class_, uint32_t *n)
{
	if (event >= TACHO_KEV_PROCESS) {
		*class_ = QNX_PROCESS;
		*n = event / TACHO_KEV_PROCESS - 1;
	} else if (event >= 2 * TACHO_KEV_VTHREAD) {
		return false;
	} else {
		*class_ = event >= TACHO_KEV_VTHREAD ? QNX_VTHREAD : QNX_THREAD;
		*n = event % TACHO_KEV_VTHREAD;
	}
	return true;
}

bool qnx_number_of(uint32_t code, const uint32_t *words, uint32_t nr, uint32_t *class_,
		   uint32_t *n)
{
	static const uint8_t classes[TACHO_KEV_NR_CLASSES] = {
		[TACHO_KEV_CONTROL] = QNX_CONTROL, [TACHO_KEV_SYSTEM] = QNX_SYSTEM,
		[TACHO_KEV_USER] = QNX_USER, [TACHO_KEV_COMM] = QNX_COMM,
		[TACHO_KEV_QUIP] = QNX_QUIP, [TACHO_KEV_SEC] = QNX_SEC,
		[TACHO_KEV_QVM] = QNX_QVM, [TACHO_KEV_PMU] = QNX_PMU,
	};
	uint32_t c = TACHO_KEV_CLASS(code), e = TACHO_KEV_EVENT(code);

	if (c == TACHO_KEV_INT)
		return number_of_int(e, words, nr, class_, n);
	if (c == TACHO_KEV_PR_TH)
		return number_of_thread(e, class_, n);
	if (c == TACHO_KEV_KER_CALL) {
		e &= ~TACHO_KEV_64;
		*class_ = e < TACHO_KEV_CALL_EXIT ? QNX_KERCALL_ENTER :
			  e < TACHO_KEV_CALL_INT ? QNX_KERCALL_EXIT : QNX_KERCALL_INT;
		*n = e % TACHO_KEV_CALL_EXIT;
		return true;
	}
	if (c >= TACHO_KEV_NR_CLASSES || !classes[c])
		return false;
	*class_ = classes[c];
	*n = c == TACHO_KEV_SYSTEM ? e & ~TACHO_KEV_64 : e;
	return true;
}

/* ---- questions ---- */

bool qnx_class_has_who(uint32_t class_)
{
	switch (class_) {
	case QNX_KERCALL:
	case QNX_KERCALL_ENTER:
	case QNX_KERCALL_EXIT:
	case QNX_KERCALL_INT:
	case QNX_THREAD:
	case QNX_VTHREAD:
	case QNX_SYSTEM:
	case QNX_COMM:
		return true;
	default:
		return false;
	}
}

bool qnx_state_wants(const struct qnx_state *s, uint32_t class_, uint32_t event, int32_t pid,
		     int32_t tid)
{
	const struct qnx_class *c;

	if (class_ == QNX_CONTROL)
		return true;
	if (class_ >= QNX_CLASSES || event >= QNX_EVENTS)
		return false;
	c = &s->class_[class_];
	return qnx_bit(c->on, event) && qnx_who_is(&c->who, pid, tid) &&
	       qnx_who_is(&c->event[event], pid, tid);
}
