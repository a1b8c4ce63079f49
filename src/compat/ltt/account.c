// SPDX-License-Identifier: MIT
#include "compat/ltt/account.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CALLS	256

struct calls {
	uint64_t nr[CALLS], us[CALLS];
};

struct process {
	int32_t pid, ppid;
	uint64_t syscalls, traps, read, written;
	uint64_t code_us, run_us, io_us;
	uint64_t since;		/* runs since; 0: it does not */
	uint64_t in_code;	/* is in its own code since; 0: it is not */
	uint64_t io_since;	/* waits for I/O since; 0: it does not */
	uint32_t depth;		/* of system calls, traps and interrupts */
	uint32_t call;		/* it is in, + 1; 0: none */
	uint64_t call_since;
	struct calls *calls;	/* NULL: it made none */
};

enum count { SCHED, TICKS, SYS_IN, SYS_OUT, TRAP_IN, TRAP_OUT, IRQ_IN, IRQ_OUT, BH, EXPIRED,
	     ALLOC, FREED, OUT, IN, NR_COUNTS };

struct ltt_account {
	uint64_t events, begin, end;
	uint64_t count[NR_COUNTS];
	struct process **process;	/* in the order in which they were met */
	uint32_t nr, room;
	struct tacho_hashmap by_pid;	/* pid + 1 */
};

struct ltt_account *ltt_account_new(void)
{
	return calloc(1, sizeof(struct ltt_account));
}

void ltt_account_free(struct ltt_account *a)
{
	if (!a)
		return;
	for (uint32_t i = 0; i < a->nr; i++) {
		free(a->process[i]->calls);
		free(a->process[i]);
	}
	free(a->process);
	tacho_hashmap_release(&a->by_pid);
	free(a);
}

static struct process *process_of(struct ltt_account *a, int32_t pid)
{
	uint64_t key = (uint32_t)pid + UINT64_C(1);
	struct process *p = tacho_hashmap_get(&a->by_pid, key);

	if (p || pid < 0)
		return p;
	if (a->nr == a->room) {
		uint32_t room = a->room ? a->room * 2 : 64;
		struct process **list = reallocarray(a->process, room, sizeof(*list));

		if (!list)
			return NULL;
		a->process = list;
		a->room = room;
	}
	p = calloc(1, sizeof(*p));
	if (!p || tacho_hashmap_set(&a->by_pid, key, p)) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->ppid = pid ? 0 : -1;
	a->process[a->nr++] = p;
	return p;
}

/* ---- counting ------------------------------------------------------------------------ */

static int count_of(const struct tacho_ltt_seen *seen)
{
	static const struct {
		uint8_t id, sub, count;
	} known[] = {
		{ TRACE_SCHEDCHANGE, 0, SCHED }, { TRACE_KERNEL_TIMER, 0, TICKS },
		{ TRACE_SYSCALL_ENTRY, 0, SYS_IN }, { TRACE_SYSCALL_EXIT, 0, SYS_OUT },
		{ TRACE_TRAP_ENTRY, 0, TRAP_IN }, { TRACE_TRAP_EXIT, 0, TRAP_OUT },
		{ TRACE_IRQ_ENTRY, 0, IRQ_IN }, { TRACE_IRQ_EXIT, 0, IRQ_OUT },
		{ TRACE_SOFT_IRQ, TRACE_SOFT_IRQ_BOTTOM_HALF, BH },
		{ TRACE_TIMER, TRACE_TIMER_EXPIRED, EXPIRED },
		{ TRACE_MEMORY, TRACE_MEMORY_PAGE_ALLOC, ALLOC },
		{ TRACE_MEMORY, TRACE_MEMORY_PAGE_FREE, FREED },
		{ TRACE_NETWORK, TRACE_NETWORK_PACKET_OUT, OUT },
		{ TRACE_NETWORK, TRACE_NETWORK_PACKET_IN, IN },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(known); i++)
		if (known[i].id == seen->id && known[i].sub == seen->sub)
			return known[i].count;
	return -1;
}

static void leave_code(struct process *p, uint64_t us)
{
	if (p->in_code)
		p->code_us += us - p->in_code;
	p->in_code = 0;
}

static void enter_kernel(struct process *p, uint64_t us)
{
	if (!p->depth++)
		leave_code(p, us);
}

static void exit_kernel(struct process *p, uint64_t us)
{
	if (p->depth && --p->depth)
		return;
	if (p->since)
		p->in_code = us;
}

static void end_call(struct process *p, uint64_t us)
{
	if (p->call)
		p->calls->us[p->call - 1] += us - p->call_since;
	p->call = 0;
}

static int change(struct ltt_account *a, const struct tacho_ltt_seen *seen, uint64_t us)
{
	struct process *out = process_of(a, (int32_t)seen->v.v[0]);
	struct process *in = process_of(a, (int32_t)seen->v.v[1]);

	if (!in || !out)
		return seen->v.v[0] > INT32_MAX || seen->v.v[1] > INT32_MAX ? 0 : -ENOMEM;
	if (out->since)
		out->run_us += us - out->since;
	leave_code(out, us);
	out->since = 0;
	in->since = us;
	if (!in->depth)
		in->in_code = us;
	return 0;
}

static void file_event(struct process *p, const struct tacho_ltt_seen *seen, uint64_t us)
{
	uint32_t n = (uint32_t)seen->v.v[1];

	switch (seen->sub) {
	case TRACE_FILE_SYSTEM_READ:
		p->read += n;
		break;
	case TRACE_FILE_SYSTEM_WRITE:
		p->written += n;
		break;
	case TRACE_FILE_SYSTEM_BUF_WAIT_START:
		if (!p->io_since)
			p->io_since = us;
		break;
	case TRACE_FILE_SYSTEM_BUF_WAIT_END:
		if (p->io_since)
			p->io_us += us - p->io_since;
		p->io_since = 0;
		break;
	default:
		break;
	}
}

static int begin_call(struct process *p, const struct tacho_ltt_seen *seen, uint64_t us)
{
	p->syscalls++;
	p->call = 0;
	if (seen->bare)
		return 0;
	if (!p->calls)
		p->calls = calloc(1, sizeof(*p->calls));
	if (!p->calls)
		return -ENOMEM;
	p->call = (uint32_t)(seen->v.v[0] & (CALLS - 1)) + 1;
	p->call_since = us;
	p->calls->nr[p->call - 1]++;
	return 0;
}

static int process_event(struct process *p, const struct tacho_ltt_seen *seen, uint64_t us)
{
	int err = 0;

	switch (seen->id) {
	case TRACE_SYSCALL_ENTRY:
		err = begin_call(p, seen, us);
		enter_kernel(p, us);
		break;
	case TRACE_TRAP_ENTRY:
		p->traps++;
		enter_kernel(p, us);
		break;
	case TRACE_IRQ_ENTRY:
		enter_kernel(p, us);
		break;
	case TRACE_SYSCALL_EXIT:
		end_call(p, us);
		exit_kernel(p, us);
		break;
	case TRACE_TRAP_EXIT:
	case TRACE_IRQ_EXIT:
		exit_kernel(p, us);
		break;
	case TRACE_FILE_SYSTEM:
		file_event(p, seen, us);
		break;
	default:
		break;
	}
	return err;
}

int ltt_account_event(struct ltt_account *a, const struct tacho_record *r,
		      const struct tacho_ltt_seen *seen, bool frame)
{
	uint64_t us = r->time / 1000;
	struct process *p;
	int count, err;

	if (!a->begin || us < a->begin)
		a->begin = us;
	if (us > a->end)
		a->end = us;
	if (frame)
		return 0;
	a->events++;
	count = seen->known ? count_of(seen) : -1;
	if (count >= 0)
		a->count[count]++;
	if (!seen->known)
		return 0;
	if (seen->id == TRACE_SCHEDCHANGE)
		return seen->bare ? 0 : change(a, seen, us);
	p = process_of(a, r->pid);
	if (!p)
		return r->pid < 0 ? 0 : -ENOMEM;
	err = process_event(p, seen, us);
	if (seen->id == TRACE_PROCESS && seen->sub == TRACE_PROCESS_FORK && !seen->bare) {
		struct process *child = process_of(a, (int32_t)seen->v.v[0]);

		if (child)
			child->ppid = r->pid;
	}
	return err;
}

/* ---- printing ------------------------------------------------------------------------ */

static void put_time(struct tacho_buf *out, const char *what, uint64_t us)
{
	tacho_buf_printf(out, "%s: (%" PRIu64 ", %" PRIu64 ") ", what, us / 1000000,
			 us % 1000000);
}

static void put_share(struct tacho_buf *out, const char *what, uint64_t us,
		      uint64_t whole)
{
	tacho_buf_puts(out, "\t\t");
	put_time(out, what, us);
	tacho_buf_printf(out, "=> %2.2f %% \n",
			 whole ? 100.0 * (double)us / (double)whole : 0.0);
}

static void put_calls(struct tacho_buf *out, const struct tacho_ltt_words *w,
		      const struct calls *c)
{
	tacho_buf_puts(out, "\t\tSystem call usage: \n");
	for (uint32_t i = 0; c && i < CALLS; i++) {
		const char *name = w->syscall ? w->syscall(w->arg, i) : NULL;
		char number[24];

		if (!c->nr[i])
			continue;
		(void)snprintf(number, sizeof(number), "ni_syscall %u", i);
		name = name ? name : number;
		tacho_buf_printf(out, "\t\t%s: %s %" PRIu64 " \t (%" PRIu64 ", %" PRIu64
				 ")\n", name, strlen(name) < 6 ? "\t\t" :
				 strlen(name) < 13 ? "\t" : "", c->nr[i],
				 c->us[i] / 1000000, c->us[i] % 1000000);
	}
}

static void put_process(struct tacho_buf *out, const struct tacho_ltt_words *w,
			const struct process *p, const char *name, uint64_t whole)
{
	tacho_buf_printf(out, "\tProcess (%d, %d)", p->pid, p->ppid);
	if (name)
		tacho_buf_printf(out, ": %s", name);
	tacho_buf_puts(out, ": \n");
	tacho_buf_printf(out, "\t\tNumber of system calls: %" PRIu64 " \n"
			 "\t\tNumber of traps: %" PRIu64 " \n"
			 "\t\tQuantity of data read from files: %" PRIu64 " \n"
			 "\t\tQuantity of data written to files: %" PRIu64 " \n",
			 p->syscalls, p->traps, p->read, p->written);
	put_share(out, "Time executing process code", p->code_us, whole);
	put_share(out, "Time running", p->run_us, whole);
	put_share(out, "Time waiting for I/O", p->io_us, whole);
	put_calls(out, w, p->calls);
}

static void put_details(const struct ltt_account *a, struct tacho_facts *facts,
			const struct tacho_ltt_words *w, struct tacho_buf *out)
{
	uint64_t whole = a->end - a->begin, code = 0, idle = 0;
	bool has_idle = false;
	struct calls *all = calloc(1, sizeof(*all));

	if (!all)
		out->err = -ENOMEM;
	tacho_buf_puts(out, "Analysis details: \n");
	for (uint32_t i = 0; i < a->nr; i++) {
		const struct process *p = a->process[i];

		put_process(out, w, p, tacho_facts_comm(facts, p->pid, NULL), whole);
		code += p->pid ? p->code_us : 0;
		idle += p->pid ? 0 : p->run_us;
		has_idle = has_idle || !p->pid;
		for (int k = 0; all && p->calls && k < CALLS; k++) {
			all->nr[k] += p->calls->nr[k];
			all->us[k] += p->calls->us[k];
		}
	}
	tacho_buf_puts(out, "\tSystem-wide:\n");
	put_share(out, "Total process time", code, whole);
	put_share(out, "Total system time", whole > code ? whole - code : 0, whole);
	if (has_idle)
		put_share(out, "System idle", idle, whole);
	if (all)
		put_calls(out, w, all);
	free(all);
}

void ltt_account_print(const struct ltt_account *a, struct tacho_facts *facts,
		       const struct tacho_ltt_words *words, bool details,
		       struct tacho_buf *out)
{
	static const char *const label[NR_COUNTS] = {
		"Scheduling changes", "Kernel timer tics", "System call entries",
		"System call exits", "Trap entries", "Trap exits", "IRQ entries",
		"IRQ exits", "Bottom halves", "Timer expiries", "Page allocations",
		"Page frees", "Packets Out", "Packets In",
	};

	put_time(out, "Trace start time", a->begin);
	tacho_buf_putc(out, '\n');
	put_time(out, "Trace end time", a->end);
	tacho_buf_putc(out, '\n');
	put_time(out, "Trace duration", a->end - a->begin);
	tacho_buf_puts(out, "\n\nNumber of occurences of:\n");
	tacho_buf_printf(out, "\tEvents: %" PRIu64 " \n", a->events);
	for (int i = 0; i < NR_COUNTS; i++)
		tacho_buf_printf(out, "\t%s: %" PRIu64 " \n", label[i], a->count[i]);
	tacho_buf_putc(out, '\n');
	if (details)
		put_details(a, facts, words, out);
	tacho_buf_putc(out, '\n');
}
