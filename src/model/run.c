// SPDX-License-Identifier: MIT
/* One record: its CPU, then the actions of its type. */
#include <errno.h>
#include <string.h>

#include "base/compiler.h"
#include "model/model_priv.h"

static const struct model_plan *plan_of(struct model *m, const struct tacho_record *r)
{
	struct model_plan *plan = tacho_hashmap_get(&m->plans, tacho_hashmap_key(r->type));

	if (tacho_likely(plan != NULL))
		return plan;
	plan = model_plan_make(m, r->type, r->source == TACHO_STREAM_KERNEL);
	if (!plan || tacho_hashmap_set(&m->plans, tacho_hashmap_key(r->type), plan)) {
		(void)model_fail(m, -ENOMEM);
		return NULL;
	}
	return plan;
}

/* Where a record of LKST has the number of its event (fmt/lkst/record.h); programs' numbers. */
#define LKST_NUMBER_AT		56
#define LKST_PROGRAM_FIRST	0x100
#define LKST_PROGRAM_LAST	0x1ff

/* A log of LKST has events of the kernel and of programs in one stream. */
static bool is_lkst_kernel(const struct tacho_record *r)
{
	uint16_t number;

	if (r->len < LKST_NUMBER_AT + sizeof(number))
		return false;
	memcpy(&number, (const unsigned char *)r->raw + LKST_NUMBER_AT, sizeof(number));
	return number < LKST_PROGRAM_FIRST || number > LKST_PROGRAM_LAST;
}

static void run(struct model *m, const struct model_action *a)
{
	switch (a->verb) {
	case MODEL_SWITCH:
		model_switch(m, a);
		break;
	case MODEL_WAKING:
	case MODEL_WAKEUP:
		model_wake(m, a);
		break;
	case MODEL_WAKER:
		model_waker(m, a);
		break;
	case MODEL_SET_STATE:
		model_set_state(m, a);
		break;
	case MODEL_FORK:
		model_fork(m, a);
		break;
	case MODEL_EXIT:
		model_exit(m, a);
		break;
	case MODEL_RENAME:
		model_rename(m, a);
		break;
	case MODEL_BEGIN:
	case MODEL_CONTINUE:
	case MODEL_FINISH:
		if (a->object == MODEL_ON_DEVICE || a->object == MODEL_ON_SPAN)
			model_overlap(m, a);
		else
			model_nested(m, a);
		break;
	case MODEL_COUNT:
		model_count(m, a);
		break;
	case MODEL_MARK:
		model_mark(m, a);
		break;
	case MODEL_SEND:
	case MODEL_RECEIVE:
		model_message(m, a);
		break;
	case MODEL_NR_VERBS:
		break;
	}
}

int model_record(struct model *m, const struct tacho_record *r)
{
	const struct model_plan *plan;

	if (m->err)
		return m->err;
	m->r = r;
	m->time = r->time;
	m->record = m->stats.records++;
	if (!m->record)
		m->stats.first = r->time;
	/* a live source may deliver a late one: time does not go back here */
	if (m->time < m->stats.last)
		m->time = m->stats.last;
	m->stats.last = m->time;
	plan = plan_of(m, r);
	if (!plan)
		return m->err;
	m->from_program = !plan->is_kernel && !(plan->is_lkst && is_lkst_kernel(r));
	m->here = model_cpu_enter(m);
	m->stats.used += plan->first != NULL;
	for (const struct model_action *a = plan->first; a && !m->err; a = a->next)
		run(m, a);
	return m->err;
}
