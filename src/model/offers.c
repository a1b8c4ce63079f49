// SPDX-License-Identifier: MIT
/* What the events of a trace can become. */
#include <errno.h>
#include <string.h>

#include "model/model_priv.h"

/* Whether a word is one of a list: "syscall|kercall". */
static bool is_one_of(const char *word, const char *list)
{
	size_t len = strlen(word);

	for (const char *s = list; s; s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL)
		if (strcspn(s, "|") == len && !memcmp(s, word, len))
			return true;
	return false;
}

static bool gives(const struct model_action *a, enum model_offer what, const char *categories)
{
	switch (what) {
	case MODEL_OFFERS_RUNNING:
		return a->verb == MODEL_SWITCH ||
		       (a->verb == MODEL_SET_STATE && a->state == MODEL_RUNS);
	case MODEL_OFFERS_WAKING:
		return a->verb == MODEL_WAKING || a->verb == MODEL_WAKEUP ||
		       (a->verb == MODEL_SET_STATE && a->state == MODEL_RUNNABLE);
	case MODEL_OFFERS_WAKER:
		return a->verb == MODEL_WAKING || a->verb == MODEL_WAKEUP ||
		       a->verb == MODEL_WAKER;
	case MODEL_OFFERS_BEGINS:
		return (a->verb == MODEL_BEGIN || a->verb == MODEL_CONTINUE) &&
		       is_one_of(a->category, categories);
	case MODEL_OFFERS_ENDS:
		return a->verb == MODEL_FINISH && is_one_of(a->category, categories);
	}
	return false;
}

int model_offers(struct model *m, enum model_offer what, const char *categories)
{
	const struct tacho_type *type;

	for (uint32_t i = 0; (type = tacho_stream_type(m->stream, i)); i++) {
		const struct model_plan *plan = model_plan_make(m, type, true);

		/* a name that found no memory would look like one that does not fit */
		if (!plan || m->err)
			return -ENOMEM;
		for (const struct model_action *a = plan->first; a; a = a->next)
			if (gives(a, what, categories))
				return 1;
	}
	return 0;
}
