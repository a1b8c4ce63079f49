// SPDX-License-Identifier: MIT
/* One record: its CPU, then the actions of its type. */
#include <errno.h>

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
	m->from_program = !plan->is_kernel;
	m->here = model_cpu_enter(m);
	m->stats.used += plan->first != NULL;
	for (const struct model_action *a = plan->first; a && !m->err; a = a->next)
		run(m, a);
	return m->err;
}
