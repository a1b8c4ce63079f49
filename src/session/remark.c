// SPDX-License-Identifier: MIT
#include "session/remark.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/atomic.h"

static uint64_t real_time(void)
{
	struct timespec t = { 0 };

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The slot of an equal note, or TACHO_REMARKS_MAX. */
static uint32_t find(const struct tacho_registry *reg, const char *comm, const char *text)
{
	struct tacho_remark r;
	uint32_t i;

	for (i = 0; i < TACHO_REMARKS_MAX; i++)
		if (tacho_remark_get(reg, i, &r) && !strncmp(r.comm, comm, sizeof(r.comm)) &&
		    !strncmp(r.text, text, sizeof(r.text) - 1))
			break;
	return i;
}

void tacho_remark(struct tacho_registry *reg, int32_t pid, const char *comm, const char *text)
{
	uint32_t i = find(reg, comm, text);
	int saved = errno;
	bool again = i < TACHO_REMARKS_MAX;
	struct tacho_remark *r;
	uint64_t seq;

	if (!again)
		i = tacho_add_relaxed(&reg->remarks, 1) % TACHO_REMARKS_MAX;
	r = &reg->remark[i];
	seq = tacho_load_relaxed(&r->seq);
	if (!(seq & 1) && tacho_cas_acq_rel(&r->seq, &seq, seq + 1)) {	/* [remark] */
		/* [remark] the odd number before what follows */
		tacho_fence_release();
		r->times = again ? r->times + 1 : 1;
		r->last = real_time();
		r->pid = pid;
		memset(r->comm, 0, sizeof(r->comm));
		memcpy(r->comm, comm, strnlen(comm, sizeof(r->comm) - 1));
		memset(r->text, 0, sizeof(r->text));
		memcpy(r->text, text, strnlen(text, sizeof(r->text) - 1));
		tacho_store_release(&r->seq, seq + 2);	/* [remark] */
	}
	errno = saved;
}

bool tacho_remark_get(const struct tacho_registry *reg, uint32_t i, struct tacho_remark *r)
{
	const struct tacho_remark *from = &reg->remark[i % TACHO_REMARKS_MAX];
	uint64_t seq = tacho_load_acquire(&from->seq);	/* [remark] */

	if (!seq || seq & 1)
		return false;
	*r = *from;
	r->comm[sizeof(r->comm) - 1] = '\0';
	r->text[sizeof(r->text) - 1] = '\0';
	tacho_fence_acquire();	/* [remark] */
	return tacho_load_relaxed(&from->seq) == seq;
}
