// SPDX-License-Identifier: MIT
/* Lists: status, masksets, event handlers, buffers. */
#include "cli/lkst/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "compat/lkst/pump.h"

int each_cpu(struct tacho_lkst *l, int (*fn)(struct tacho_lkst *l, int cpu, void *arg),
	     void *arg)
{
	struct lkst_trc_status st;
	int err = tacho_lkst_status(l, &st), ret = 0;

	if (err)
		return tool_failed(err, "get the status");
	for (int cpu = 0; !ret && cpu < LKST_CPU_MAX; cpu++)
		if (st.write_buf[cpu] != LKST_BUFFER_ID_VOID)
			ret = fn(l, cpu, arg);
	return ret;
}

static void put_id(int32_t id)
{
	if (id == LKST_BUFFER_ID_VOID)
		printf("%8s", "-");
	else
		printf("%8d", id);
}

/* ---- status ---- */

/* A maskset that is deleted meanwhile has none. */
static int maskset_name(struct tacho_lkst *l, uint32_t id, char name[LKST_MASKSET_NAME_LEN])
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { (lkst_maskset_id)id, sizeof(*b), b };
	int err = b ? tacho_lkst_maskset_read(l, &p) : -ENOMEM;

	*name = '\0';
	if (!err)
		memcpy(name, b->name, LKST_MASKSET_NAME_LEN);
	free(b);
	return err == -EINVAL ? 0 : err;
}

static int count_buffers(struct tacho_lkst *l, int cpu, void *arg)
{
	struct lkst_buffer_listparam p = { .cpu = cpu };

	int err = tacho_lkst_buffer_list(l, &p);

	if (err)
		return tool_failed(err, "list the buffers of CPU %d", cpu);
	*(int *)arg += p.buffer_num;
	return 0;
}

int show_status(struct tacho_lkst *l)
{
	char name[LKST_MASKSET_NAME_LEN];
	struct lkst_trc_status st;
	int err = tacho_lkst_status(l, &st), buffers = 0;

	if (!err)
		err = maskset_name(l, st.current_maskset_id, name);
	if (err)
		return tool_failed(err, "get the status");
	if (each_cpu(l, count_buffers, &buffers))
		return TOOL_FAILED;
	printf("tracing           %s\n", l->state->stopped ? "stopped" : "running");
	printf("maskset           %u %s\n", st.current_maskset_id,
	       name);
	printf("masksets          %d\n", st.maskset_num);
	printf("event handlers    %d\n", st.evhandler_num);
	printf("buffers           %d\n", buffers);
	printf("static buffer     %d records, %zu bytes\n", st.static_buffer_recid,
	       st.static_buffer_size);
	printf("CPUs online       0x%lx\n\n", st.online_cpu);
	printf("%4s%8s%8s\n", "CPU", "write", "read");
	for (int c = 0; c < LKST_CPU_MAX; c++) {
		if (st.write_buf[c] == LKST_BUFFER_ID_VOID)
			continue;
		printf("%4d", c);
		put_id(st.write_buf[c]);
		put_id(st.read_buf[c]);
		putchar('\n');
	}
	return TOOL_OK;
}

/* ---- masksets, handlers ---- */

int show_masksets(struct tacho_lkst *l)
{
	struct lkst_maskset_listent e[LKST_MASKSET_MAX];
	struct lkst_maskset_listparam p = { 0, sizeof(e), e };
	struct lkst_trc_status st;
	int err = tacho_lkst_status(l, &st);

	if (!err)
		err = tacho_lkst_maskset_list(l, &p);
	if (err)
		return tool_failed(err, "list the masksets");
	printf("%5s  %-32s%8s\n", "ID", "NAME", "ENTRIES");
	for (int i = 0; i < st.maskset_num && i < LKST_MASKSET_MAX; i++)
		printf("%c%4u  %-32.31s%8d\n", e[i].id == p.current_id ? '*' : ' ', e[i].id,
		       e[i].name, e[i].len);
	return TOOL_OK;
}

int show_handlers(struct tacho_lkst *l)
{
	struct lkst_evhandler_listparam p = { 0 };
	struct lkst_trc_status st;
	int err = tacho_lkst_status(l, &st);

	if (err)
		return tool_failed(err, "get the status");
	p.listent_size = LKST_EVHANDLER_LISTENT_SIZE(st.evhandler_num);
	p.listent = calloc((size_t)st.evhandler_num, sizeof(*p.listent));
	err = p.listent ? tacho_lkst_handler_list(l, &p) : -ENOMEM;
	if (err) {
		free(p.listent);
		return tool_failed(err, "list the event handlers");
	}
	printf("%5s  %s\n", "ID", "NAME");
	for (int i = 0; i < st.evhandler_num && p.listent[i].id; i++)
		printf("0x%03x  %.31s\n", (unsigned int)p.listent[i].id, p.listent[i].name);
	free(p.listent);
	return TOOL_OK;
}

/* ---- buffers ---- */

static void put_buffer(const struct lkst_buffer_listparam *p,
		       const struct lkst_buffer_listent *e, bool verbose)
{
	printf("%3d%c", p->cpu, e->id == p->write_buf ? '*' : ' ');
	put_id(e->id);
	put_id(e->next);
	printf("%12zu%12d", e->size, e->write_offset);
	if (verbose) {
		printf("%12d", e->baseid);
		put_id(e->rq_prev);
		put_id(e->rq_next);
	}
	putchar('\n');
}

static void put_queue(const struct lkst_buffer_listparam *p)
{
	printf("     read queue:");
	put_id(p->rq_head);
	printf(" ..");
	put_id(p->rq_tail);
	if (p->owner == PID_MAX + 1)
		printf("  owner: none\n");
	else
		printf("  owner: %d, in buffer %d at %d\n", (int)p->owner, p->read_buf,
		       p->read_pos);
}

static int show_cpu(struct tacho_lkst *l, int cpu, void *arg)
{
	struct lkst_buffer_listent e[TACHO_BUFFERS_MAX];
	struct lkst_buffer_listparam p = { .cpu = cpu, .listent_num = TACHO_BUFFERS_MAX,
					   .listent = e };
	int err = tacho_lkst_buffer_list(l, &p);

	if (err == -EINVAL)
		return tool_fail(TOOL_FAILED, "there is no CPU %d, or it has no buffers", cpu);
	if (err)
		return tool_failed(err, "list the buffers of CPU %d", cpu);
	for (int i = 0; i < p.buffer_num; i++)
		put_buffer(&p, &e[i], *(bool *)arg);
	if (*(bool *)arg)
		put_queue(&p);
	return TOOL_OK;
}

int show_buffers(struct tacho_lkst *l, int cpu, bool verbose)
{
	(void)tacho_lkst_pump_once(l);
	printf("%3s %8s%8s%12s%12s", "CPU", "ID", "NEXT", "SIZE", "OFFSET");
	if (verbose)
		printf("%12s%8s%8s", "BASE", "RQ-PREV", "RQ-NEXT");
	putchar('\n');
	return cpu >= 0 ? show_cpu(l, cpu, &verbose) : each_cpu(l, show_cpu, &verbose);
}
