// SPDX-License-Identifier: MIT
/*
 * LKST's operations as plain functions: each with what it returns, and each errno of the
 * specification provoked.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/hook.h"
#include "compat/lkst/lkst.h"
#include "compat/lkst/priv.h"
#include "ring/write.h"
#include "unit/test.h"

#define RECORD		LKST_SIZEOF_LKST_EVENT_RECORD
#define LKST_ARRAY	2000	/* more than any buffer here holds */

static struct tacho_lkst l;
static int here;		/* the CPU this runs on */

static void begin(void)
{
	const struct tacho_lkst_config cfg = { .session = "lkst-test", .buffer_size = 65536 };
	struct tacho_diag d = { 0 };

	CHECK_EQ(tacho_lkst_open(&l, &cfg, &d), 0);
	if (d.err) {
		printf("# %s\n", d.text);
		exit(test_done());
	}
}

static void end(void)
{
	CHECK_EQ(tacho_lkst_destroy(&l, NULL), 0);
}

static void pin(void)
{
	cpu_set_t set;

	here = lkst_cpu_is(&l, sched_getcpu()) ? sched_getcpu() : -1;
	if (here < 0) {	/* all in plain lanes: they are there when they were written to */
		const struct lkst_record r = { .etype = LKST_ETYPE_LKST_ERROR };

		(void)tacho_lkst_entry(&l, &r);
		here = (int)l.session.view.ring.nr_cpus;
		while (here < (int)lkst_nr_cpus(&l) && !lkst_cpu_is(&l, here))
			here++;
		return;
	}
	CPU_ZERO(&set);
	CPU_SET(here, &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* Records events of a type: args are numbers from `from` on. */
static void log_events(uint16_t etype, uint64_t from, int n)
{
	struct lkst_record r = { .etype = etype };

	for (int i = 0; i < n; i++) {
		r.arg[0] = from + (uint64_t)i;
		r.arg[3] = ~r.arg[0];
		CHECK_EQ(tacho_lkst_entry(&l, &r), 0);
	}
}

/* A maskset that records one type, and overruns by `overrun`. */
static int own_maskset(const char *name, int etype, lkst_evhandler_id id,
		       lkst_evhandler_id overrun)
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { LKST_MASKSET_ID_VOID, LKST_MASKSET_SIZE(2), b };
	int err;

	strcpy(b->name, name);
	b->len = 2;
	b->entry[0] = (struct lkst_maskset_entry){ etype, id };
	b->entry[1] = (struct lkst_maskset_entry){ LKST_ETYPE_LKST_BUFF_OVFLOW, overrun };
	err = tacho_lkst_maskset_write(&l, &p);
	free(b);
	return err ? err : p.id;
}

/* ---- status ---- */

static void test_status(void)
{
	struct lkst_trc_status st;

	CHECK_EQ(tacho_lkst_status(&l, NULL), -EINVAL);
	CHECK_EQ(tacho_lkst_status(&l, &st), 0);
	CHECK_EQ(st.current_maskset_id, LKST_MASKSET_ID_RDEFAULT);
	CHECK_EQ(st.maskset_num, 3);
	CHECK_EQ(st.evhandler_num, 3);
	CHECK(st.online_cpu & 1ul);
	CHECK_EQ(st.write_buf[here], 0);
	CHECK_EQ(st.read_buf[here], LKST_BUFFER_ID_VOID);
	CHECK_EQ(st.write_buf[LKST_CPU_MAX - 1], LKST_BUFFER_ID_VOID);
	CHECK_EQ(st.static_buffer_recid, 1);	/* LKST_INIT */
	CHECK(st.static_buffer_size >= RECORD);
}

static void test_start_stop(void)
{
	struct lkst_trc_status st;
	int id;

	CHECK_EQ(tacho_lkst_stop(&l), 0);
	CHECK_EQ(tacho_lkst_stop(&l), 0);	/* what was saved stays */
	CHECK_EQ(tacho_lkst_status(&l, &st), 0);
	CHECK_EQ(st.current_maskset_id, LKST_MASKSET_ID_RNOTHING);
	CHECK_EQ(tacho_lkst_maskset_set(&l, LKST_MASKSET_ID_RALL), -EBUSY);
	CHECK_EQ(tacho_lkst_start(&l), 0);
	CHECK_EQ(tacho_lkst_start(&l), 0);
	CHECK_EQ(tacho_lkst_status(&l, &st), 0);
	CHECK_EQ(st.current_maskset_id, LKST_MASKSET_ID_RDEFAULT);

	/* the saved one was deleted */
	id = own_maskset("short-lived", 0x100, LKST_EVHANDLER_ID_LOG, 0);
	CHECK(id > 2);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)id), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, (uint32_t)id), -EBUSY);
	CHECK_EQ(tacho_lkst_stop(&l), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, (uint32_t)id), 0);
	CHECK_EQ(tacho_lkst_start(&l), 0);
	CHECK_EQ(tacho_lkst_status(&l, &st), 0);
	CHECK_EQ(st.current_maskset_id, LKST_MASKSET_ID_RDEFAULT);
}

/* ---- masksets ---- */

static void test_maskset_read(void)
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { LKST_MASKSET_ID_VOID, sizeof(*b), b };
	bool found = false;

	CHECK_EQ(tacho_lkst_maskset_read(&l, NULL), -EINVAL);
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), 0);
	CHECK_EQ(p.id, LKST_MASKSET_ID_RDEFAULT);
	CHECK_STR(b->name, "RDEFAULT");
	for (int i = 0; i < b->len; i++) {
		CHECK(!i || b->entry[i].event_type > b->entry[i - 1].event_type);
		CHECK(b->entry[i].event_type < LKST_ETYPE_LOCK_FIRST ||
		      b->entry[i].event_type > LKST_ETYPE_LOCK_LAST);
		found |= b->entry[i].event_type == LKST_ETYPE_LKST_BUFF_OVFLOW &&
			 b->entry[i].id == LKST_EVHANDLER_ID_BUFFER_SHIFT_DW;
	}
	CHECK(found);
	p.id = LKST_MASKSET_ID_RNOTHING;
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), 0);
	CHECK_EQ(b->len, 0);
	p.id = LKST_MASKSET_ID_RALL;
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), 0);
	CHECK_EQ(b->len, LKST_NR_ETYPES);
	/* all of it, or nothing */
	p.maskset_size = LKST_MASKSET_SIZE(LKST_NR_ETYPES) - 1;
	b->len = 0;
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), -EINVAL);
	CHECK_EQ(b->len, 0);
	p.maskset_size = LKST_MASKSET_SIZE(LKST_NR_ETYPES);
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), 0);
	CHECK_EQ(b->len, LKST_NR_ETYPES);
	p.maskset_size = LKST_MASKSET_SIZE(0) - 1;
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), -EINVAL);
	p.maskset_size = sizeof(*b);
	p.id = 77;
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), -EINVAL);
	p.id = 0;
	p.maskset = NULL;
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), -EINVAL);
	free(b);
}

static int write_with(const char *name, lkst_maskset_id id, int etype, int handler, int len)
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { id, LKST_MASKSET_SIZE(2), b };
	int err;

	memset(b->name, 'x', sizeof(b->name));
	memcpy(b->name, name, strnlen(name, sizeof(b->name) - 1) + 1);
	b->len = len;
	b->entry[0].event_type = b->entry[1].event_type = etype;
	b->entry[0].id = b->entry[1].id = handler;
	err = tacho_lkst_maskset_write(&l, &p);
	free(b);
	return err;
}

static void test_maskset_write_errors(void)
{
	const int log = LKST_EVHANDLER_ID_LOG;
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { 5, sizeof(*b), b };

	CHECK_EQ(tacho_lkst_maskset_write(&l, NULL), -EINVAL);
	CHECK_EQ(write_with("a", LKST_MASKSET_ID_RNOTHING, 0x10, log, 1), -EINVAL);
	CHECK_EQ(write_with("a", LKST_MASKSET_ID_RALL, 0x10, log, 1), -EINVAL);
	CHECK_EQ(write_with("a", LKST_MASKSET_MAX, 0x10, log, 1), -EINVAL);
	CHECK_EQ(write_with("", 5, 0x10, log, 1), -EINVAL);
	CHECK_EQ(write_with("RALL", 5, 0x10, log, 1), -EINVAL);
	CHECK_EQ(write_with("a", 5, 0x200, log, 1), -EINVAL);
	CHECK_EQ(write_with("a", 5, 0xeff, log, 1), -EINVAL);
	CHECK_EQ(write_with("a", 5, 0x1000, log, 1), -EINVAL);
	CHECK_EQ(write_with("a", 5, -1, log, 1), -EINVAL);
	CHECK_EQ(write_with("a", 5, 0x10, 0x1000, 1), -EINVAL);
	CHECK_EQ(write_with("a", 5, 0x10, -1, 1), -EINVAL);
	CHECK_EQ(write_with("a", 5, 0x10, 0x20, 1), -EINVAL);	/* nobody registered it */
	CHECK_EQ(write_with("a", 5, 0x10, log, 3), -EINVAL);	/* size says two */
	CHECK_EQ(write_with("a", 5, 0x10, log, -1), -EINVAL);
	p.maskset_size = LKST_MASKSET_SIZE(0) - 1;
	CHECK_EQ(tacho_lkst_maskset_write(&l, &p), -EINVAL);
	p.maskset_size = sizeof(*b);
	memset(b->name, 'x', sizeof(b->name));			/* no end */
	CHECK_EQ(tacho_lkst_maskset_write(&l, &p), -EINVAL);

	/* RDEFAULT can be written, also when it is selected */
	p.id = LKST_MASKSET_ID_RDEFAULT;
	CHECK_EQ(tacho_lkst_maskset_read(&l, &p), 0);
	CHECK_EQ(tacho_lkst_maskset_write(&l, &p), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, LKST_MASKSET_ID_RDEFAULT), -EINVAL);
	p.id = 5;

	/* locks, and a daemon that is woken */
	strcpy(b->name, "locks");
	b->len = 2;
	b->entry[0] = (struct lkst_maskset_entry){ 0x08f, log };
	b->entry[1] = (struct lkst_maskset_entry){ LKST_ETYPE_LKST_BUFF_OVFLOW,
						   LKST_EVHANDLER_ID_BUFFER_SHIFT_DW };
	CHECK_EQ(tacho_lkst_maskset_write(&l, &p), -EINVAL);
	b->entry[0].id = LKST_EVHANDLER_ID_VOID;
	CHECK_EQ(tacho_lkst_maskset_write(&l, &p), 0);
	b->entry[0].id = log;
	b->entry[1].id = LKST_EVHANDLER_ID_BUFFER_SHIFT;
	CHECK_EQ(tacho_lkst_maskset_write(&l, &p), 0);		/* and replaced */
	CHECK_EQ(tacho_lkst_maskset_delete(&l, 5), 0);
	free(b);
}

static void test_maskset_list(void)
{
	struct lkst_maskset_listent e[LKST_MASKSET_MAX];
	struct lkst_maskset_listparam p = { 0, sizeof(e), e };
	char name[LKST_MASKSET_NAME_LEN];
	int n = 0, id;

	CHECK_EQ(tacho_lkst_maskset_list(&l, NULL), -EINVAL);
	while ((void)snprintf(name, sizeof(name), "mine%d", n),
	       (id = own_maskset(name, 0x101, LKST_EVHANDLER_ID_LOG, 0)) >= 0) {
		CHECK_EQ(id, n + 3);
		CHECK_EQ(tacho_lkst_maskset_get_id(&l, name), id);
		n++;
	}
	CHECK_EQ(id, -EBUSY);			/* no free id */
	CHECK_EQ(n, LKST_MASKSET_MAX - 3);
	CHECK_EQ(tacho_lkst_maskset_list(&l, &p), 0);
	CHECK_EQ(p.current_id, LKST_MASKSET_ID_RDEFAULT);
	for (int i = 0; i < LKST_MASKSET_MAX; i++)
		CHECK_EQ(e[i].id, i);
	CHECK_STR(e[1].name, "RALL");
	CHECK_STR(e[3].name, "mine0");
	CHECK_EQ(e[3].len, 1);
	memset(e, 0x55, sizeof(e));
	p.listent_size = LKST_MASKSET_LISTENT_SIZE(2) + 5;
	CHECK_EQ(tacho_lkst_maskset_list(&l, &p), 0);
	CHECK_EQ(e[1].id, 1);
	CHECK_EQ(e[2].id, 0x55);
	p.listent_size = 3;
	CHECK_EQ(tacho_lkst_maskset_list(&l, &p), -EINVAL);
	p.listent = NULL;
	CHECK_EQ(tacho_lkst_maskset_list(&l, &p), -EINVAL);
	for (int i = 3; i < LKST_MASKSET_MAX; i++)
		CHECK_EQ(tacho_lkst_maskset_delete(&l, (uint32_t)i), 0);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ(tacho_lkst_maskset_delete(&l, i), -EINVAL);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, 3), -EINVAL);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, LKST_MASKSET_ID_VOID), -EINVAL);
	CHECK_EQ(tacho_lkst_maskset_set(&l, 3), -EINVAL);
	CHECK_EQ(tacho_lkst_maskset_set(&l, LKST_MASKSET_ID_VOID), -EINVAL);
	CHECK_EQ(tacho_lkst_maskset_get_id(&l, "mine0"), LKST_MASKSET_ID_VOID);
	CHECK_EQ(tacho_lkst_maskset_get_id(&l, ""), -EINVAL);
	CHECK_EQ(tacho_lkst_maskset_get_id(&l, NULL), -EINVAL);
}

/* ---- buffers ---- */

static int list(struct lkst_buffer_listparam *p, struct lkst_buffer_listent *e, int n)
{
	memset(p, 0, sizeof(*p));
	p->cpu = here;
	p->listent = e;
	p->listent_num = n;
	return tacho_lkst_buffer_list(&l, p);
}

static int create(lkst_buffer_id id, int cpu, size_t size, lkst_buffer_id next)
{
	struct lkst_buffer_param p = { .id = id, .next = next, .cpu = cpu, .size = size };
	int err = tacho_lkst_buffer_create(&l, &p);

	if (!err)
		CHECK_EQ(p.result_size, size & ~(size_t)4095);
	return err ? err : p.id;
}

static int delete(lkst_buffer_id id, int cpu)
{
	const struct lkst_buffer_delparam p = { cpu, id };

	return tacho_lkst_buffer_delete(&l, &p);
}

static int link_to(lkst_buffer_id id, lkst_buffer_id next)
{
	const struct lkst_buffer_linkparam p = { here, id, next };

	return tacho_lkst_buffer_link(&l, &p);
}

static int jump(lkst_buffer_id id)
{
	const struct lkst_buffer_jumpparam p = { here, id };

	return tacho_lkst_buffer_jump(&l, &p);
}

/* From now on only what this test tells of is recorded: the kernel's events would shift. */
static void be_quiet(void)
{
	int id = own_maskset("quiet", LKST_ETYPE_LKST_ERROR, LKST_EVHANDLER_ID_LOG, 0);

	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)id), 0);
}

static int quiet(void)
{
	return tacho_lkst_maskset_get_id(&l, "quiet");
}

static void test_buffer_table(void)
{
	struct lkst_buffer_listent e[LKST_BUFFER_MAX];
	struct lkst_buffer_listparam p;

	CHECK_EQ(tacho_lkst_buffer_create(&l, NULL), -EINVAL);
	CHECK_EQ(create(0, here, 8192, LKST_BUFFER_ID_VOID), -EINVAL);	/* is there */
	CHECK_EQ(create(LKST_BUFFER_MAX, here, 8192, LKST_BUFFER_ID_VOID), -EINVAL);
	CHECK_EQ(create(-2, here, 8192, LKST_BUFFER_ID_VOID), -EINVAL);
	CHECK_EQ(create(1, 9999, 8192, LKST_BUFFER_ID_VOID), -EINVAL);
	CHECK_EQ(create(1, -2, 8192, LKST_BUFFER_ID_VOID), -EINVAL);
	CHECK_EQ(create(1, here, 4095, LKST_BUFFER_ID_VOID), -EINVAL);
	CHECK_EQ(create(1, here, (size_t)LKST_BUFFER_SIZE_MAX + 4096, LKST_BUFFER_ID_VOID),
		 -EINVAL);
	CHECK_EQ(create(1, here, 8192, 1), -EINVAL);		/* next is itself */
	CHECK_EQ(create(1, here, 8192, LKST_BUFFER_MAX), -EINVAL);
	CHECK_EQ(create(1, here, 3 * 4096 + 17, 7), 1);		/* 7 is not there yet */
	CHECK_EQ(create(LKST_BUFFER_ID_VOID, here, 4096, 0), 2);
	CHECK_EQ(list(&p, e, LKST_BUFFER_MAX), 0);
	CHECK_EQ(p.buffer_num, 3);
	CHECK_EQ(p.write_buf, 0);
	CHECK_EQ(p.owner, PID_MAX + 1);
	CHECK_EQ(p.read_buf, LKST_BUFFER_ID_VOID);
	CHECK_EQ(e[0].id, 0);
	CHECK_EQ(e[0].size, 65536);
	CHECK_EQ(e[1].id, 1);
	CHECK_EQ(e[1].size, 3 * 4096);
	CHECK_EQ(e[1].next, 7);
	CHECK_EQ(e[2].next, 0);
	CHECK_EQ(e[2].write_offset, 0);
	CHECK_EQ(list(&p, e, 1), 0);
	CHECK_EQ(p.buffer_num, 3);
	CHECK_EQ(list(&p, NULL, 0), 0);
	CHECK_EQ(list(&p, NULL, 1), -EINVAL);
	CHECK_EQ(list(&p, e, -1), -EINVAL);
	CHECK_EQ(tacho_lkst_buffer_list(&l, NULL), -EINVAL);

	CHECK_EQ(link_to(1, 1), -EINVAL);
	CHECK_EQ(link_to(9, 1), -EINVAL);
	CHECK_EQ(link_to(1, LKST_BUFFER_MAX), -EINVAL);
	CHECK_EQ(link_to(1, LKST_BUFFER_ID_VOID), 0);
	CHECK_EQ(link_to(1, 2), 0);

	CHECK_EQ(delete(0, here), -EINVAL);
	CHECK_EQ(delete(9, here), -EINVAL);
	CHECK_EQ(delete(LKST_BUFFER_MAX, here), -EINVAL);
	CHECK_EQ(delete(1, 9999), -EINVAL);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, 9999), -EINVAL);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, here), -EINVAL);	/* 0 links to none */
	CHECK_EQ(jump(9), -EINVAL);
	CHECK_EQ(jump(1), 0);
	CHECK_EQ(delete(1, here), -EBUSY);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, here), 0);
	CHECK_EQ(list(&p, e, LKST_BUFFER_MAX), 0);
	CHECK_EQ(p.write_buf, 2);
	CHECK_EQ(delete(1, here), 0);
	CHECK_EQ(delete(1, here), -EINVAL);
	CHECK_EQ(jump(1), -EINVAL);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, here), 0);		/* 2 links to 0 */
	CHECK_EQ(delete(2, here), 0);
}

/* A ring's buffer that is used again, and all of them. */
static void test_buffer_many(void)
{
	static struct lkst_log_record r[LKST_ARRAY];
	struct lkst_log_buffer b = { .cpu = here, .id = 0, .buffer = r };
	struct lkst_buffer_listent e[LKST_BUFFER_MAX];
	struct lkst_buffer_listparam p;
	int n = 0, id;

	for (int i = 0; i < 300; i++) {
		CHECK_EQ(create(5, here, 4096, LKST_BUFFER_ID_VOID), 5);
		CHECK_EQ(jump(5), 0);
		log_events(LKST_ETYPE_LKST_ERROR, 0, 3);
		CHECK_EQ(jump(0), 0);
		CHECK_EQ(delete(5, here), 0);
	}
	CHECK_EQ(create(5, here, 4096, LKST_BUFFER_ID_VOID), 5);
	CHECK_EQ(list(&p, e, LKST_BUFFER_MAX), 0);
	CHECK_EQ(e[1].write_offset, 0);		/* not what a former one had */
	CHECK_EQ(delete(5, here), 0);
	while ((id = create(LKST_BUFFER_ID_VOID, -1, 4096, LKST_BUFFER_ID_VOID)) >= 0)
		n++;
	log_events(LKST_ETYPE_LKST_ERROR, 500, 3);
	CHECK_EQ(id, -ENOSPC);
	CHECK_EQ(n, LKST_BUFFER_MAX - 1);
	for (int i = 1; i < LKST_BUFFER_MAX; i++)
		CHECK_EQ(delete(i, -1), 0);
	CHECK_EQ(delete(1, -1), -EINVAL);
	/* which costs the buffer that is written nothing */
	b.read_size = sizeof(r);
	CHECK_EQ(tacho_lkst_buffer_read(&l, &b), 0);
	b.result_read_size /= sizeof(r[0]);
	CHECK(b.result_read_size >= 3 && r[b.result_read_size - 3].log_arg1 == 500);
}

/* ---- records ---- */

static size_t read_all(lkst_buffer_id id, struct lkst_log_record *to, size_t max)
{
	struct lkst_log_buffer b = { .cpu = here, .id = id, .read_size = max * sizeof(*to),
				     .buffer = to };

	CHECK_EQ(tacho_lkst_buffer_read(&l, &b), 0);
	CHECK_EQ(b.buf_ver, LKST_BUF_VER);
	CHECK(b.cpu_freq && b.tsc && b.xtime.tv_sec && *b.arch);
	CHECK_EQ(b.result_read_size % sizeof(*to), 0);
	return b.result_read_size / sizeof(*to);
}

static void test_records(void)
{
	static struct lkst_log_record r[2000];
	int id = own_maskset("user", 0x123, LKST_EVHANDLER_ID_LOG, 0);
	struct lkst_log_buffer b = { .cpu = here, .id = 0, .buffer = r };
	struct timespec now;
	size_t n;

	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)id), 0);
	CHECK_EQ(create(1, here, 65536, LKST_BUFFER_ID_VOID), 1);
	CHECK_EQ(jump(1), 0);
	log_events(0x123, 1000, 20);
	log_events(0x124, 5000, 20);		/* masked */
	CHECK_EQ(tacho_lkst_entry(&l, &(struct lkst_record){ .etype = 0x300 }), -EINVAL);
	n = read_all(1, r, 2000);
	CHECK_EQ(n, 20);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	for (size_t i = 0; i < n; i++) {
		CHECK_EQ(r[i].posix.log_magic, LKST_MAGIC);
		CHECK_EQ(r[i].posix.log_recid, r[0].posix.log_recid + (int)i);
		CHECK_EQ(r[i].posix.log_size, 32);
		CHECK_EQ(r[i].posix.log_format, PXLOG_BINARY);
		CHECK_EQ(r[i].posix.log_event_type, 0x123);
		CHECK_EQ(r[i].posix.log_facility, LOG_KERN);
		CHECK_EQ(r[i].posix.log_severity, LOG_DEBUG);
		CHECK_EQ(r[i].posix.log_uid, geteuid());
		CHECK_EQ(r[i].posix.log_gid, getegid());
		CHECK_EQ(r[i].posix.log_pid, getpid());
		CHECK_EQ(r[i].posix.log_pgrp, getpgrp());
		CHECK_EQ(r[i].posix.log_thread, gettid());
		/* in a plain lane, whichever CPU it was */
		CHECK(r[i].posix.log_processor == here ||
		      here >= (int)l.session.view.ring.nr_cpus);
		CHECK(llabs((long long)r[i].posix.log_time.tv_sec - now.tv_sec) < 600);
		CHECK_EQ(r[i].log_arg1, 1000 + i);
		CHECK_EQ(r[i].log_arg4, ~(uint64_t)(1000 + i));
	}
	CHECK_EQ(read_all(1, r, 7), 7);
	CHECK_EQ(r[6].log_arg1, 1006);

	/* errors */
	CHECK_EQ(tacho_lkst_buffer_read(&l, NULL), -EINVAL);
	CHECK_EQ(tacho_lkst_buffer_read(&l, &b), -EINVAL);	/* read_size 0 */
	b.read_size = sizeof(r[0]) - 1;
	CHECK_EQ(tacho_lkst_buffer_read(&l, &b), -EINVAL);
	b.read_size = sizeof(r[0]);
	b.buffer = NULL;
	CHECK_EQ(tacho_lkst_buffer_read(&l, &b), -EINVAL);
	b.buffer = r;
	b.id = 9;
	CHECK_EQ(tacho_lkst_buffer_read(&l, &b), -EINVAL);
	b.id = LKST_BUFFER_ID_VOID;
	CHECK_EQ(tacho_lkst_buffer_read(&l, &b), -EINVAL);	/* of a CPU, there is none */

	/* the static buffer */
	b.cpu = -1;
	b.read_size = 5 * sizeof(r[0]) + 7;
	CHECK_EQ(tacho_lkst_buffer_read(&l, &b), 0);
	CHECK(b.result_read_size >= sizeof(r[0]) && b.result_read_size <= 5 * sizeof(r[0]));
	CHECK_EQ(r[0].posix.log_event_type, LKST_ETYPE_LKST_INIT);

	CHECK_EQ(jump(0), 0);
	CHECK_EQ(delete(1, here), 0);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)quiet()), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, (uint32_t)id), 0);
}

/* A terminal buffer goes round: the last ones are there, and each lap is told. */
static void test_overrun(void)
{
	static struct lkst_log_record r[2000];
	const int room = 8192 / RECORD, rounds = 5;
	int id = own_maskset("round", 0x123, LKST_EVHANDLER_ID_LOG, LKST_EVHANDLER_ID_LOG);
	uint64_t before = l.state->cpu[here].overruns;
	size_t n, told = 0;

	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)id), 0);
	CHECK_EQ(create(1, here, 8192, LKST_BUFFER_ID_VOID), 1);
	CHECK_EQ(jump(1), 0);
	log_events(0x123, 0, rounds * room + room / 2);
	n = read_all(1, r, 2000);
	CHECK_EQ(n, room);
	for (size_t i = 0; i < n; i++)
		told += r[i].posix.log_event_type == LKST_ETYPE_LKST_BUFF_OVFLOW;
	CHECK_EQ(told, 1);
	CHECK_EQ(r[n - 1].log_arg1, rounds * room + room / 2 - 1);
	CHECK_EQ(l.state->cpu[here].overruns - before, rounds);
	CHECK_EQ(jump(0), 0);
	CHECK_EQ(delete(1, here), 0);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)quiet()), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, (uint32_t)id), 0);
}

/* A ring of three: what one holds is what was written in its turn, and the queue has their order. */
static void test_shift_on_overrun(void)
{
	static struct lkst_log_record r[2000];
	struct lkst_buffer_listent e[LKST_BUFFER_MAX];
	struct lkst_buffer_srmodparam sp = { .cpu = here, .mode = LKST_READ_MODE_STD };
	const int room = 4096 / RECORD;
	int id = own_maskset("shift", 0x123, LKST_EVHANDLER_ID_LOG,
			     LKST_EVHANDLER_ID_BUFFER_SHIFT_DW);
	struct lkst_buffer_listparam p;
	uint32_t wake = l.state->wake;
	ssize_t got, all = 0;
	uint64_t next = 0;

	for (int i = 1; i <= 3; i++)
		CHECK_EQ(create(i, here, 4096, i % 3 + 1), i);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)id), 0);
	CHECK_EQ(jump(1), 0);
	sp.cpu = 9999;
	CHECK_EQ(tacho_lkst_setrmod(&l, &sp, getpid()), -EINVAL);
	sp.cpu = here;
	sp.mode = LKST_READ_MODE_RAW;
	CHECK_EQ(tacho_lkst_setrmod(&l, &sp, getpid()), -EINVAL);
	CHECK_EQ(tacho_lkst_setrmod(&l, NULL, getpid()), -EINVAL);
	CHECK_EQ(tacho_lkst_read(&l, r, sizeof(r), getpid()), -EBUSY);
	sp.mode = LKST_READ_MODE_STD;
	CHECK_EQ(tacho_lkst_setrmod(&l, &sp, getpid()), 0);
	CHECK_EQ(tacho_lkst_setrmod(&l, &sp, getpid()), 0);
	CHECK_EQ(tacho_lkst_setrmod(&l, &sp, getppid()), -EBUSY);
	CHECK_EQ(tacho_lkst_read(&l, r, sizeof(r[0]) - 1, getpid()), -EINVAL);
	/* buffer 0 was left when 1 was jumped to, if it holds anything */
	while (tacho_lkst_read(&l, r, sizeof(r), getpid()) > 0)
		;
	CHECK_EQ(tacho_lkst_read(&l, r, sizeof(r), getpid()), -EAGAIN);

	log_events(0x123, 0, 2 * room + room / 2);	/* 1 and 2 full, in 3 */
	CHECK_EQ(list(&p, e, LKST_BUFFER_MAX), 0);
	CHECK_EQ(p.write_buf, 3);
	CHECK_EQ(p.owner, getpid());
	CHECK_EQ(p.rq_head, 1);
	CHECK_EQ(p.rq_tail, 2);
	CHECK_EQ(e[1].rq_next, 2);
	CHECK_EQ(e[2].rq_prev, 1);
	CHECK_EQ(e[3].rq_next, LKST_BUFFER_ID_VOID);
	CHECK(e[3].write_offset > 0);
	CHECK(l.state->wake > wake);

	got = tacho_lkst_read(&l, r, 10 * sizeof(r[0]), getpid());
	CHECK_EQ(got, 10 * sizeof(r[0]));
	CHECK_EQ(list(&p, e, LKST_BUFFER_MAX), 0);
	CHECK_EQ(p.read_buf, 1);
	CHECK_EQ(p.read_pos, 10 * RECORD);
	CHECK_EQ(p.rq_head, 2);
	CHECK_EQ(delete(1, here), -EBUSY);		/* being read */
	for (all = 0; got > 0; got = tacho_lkst_read(&l, r + all, sizeof(r[0]) * 50, getpid()))
		all += got / (ssize_t)sizeof(r[0]);
	for (ssize_t i = 0; i < all; i++)
		if (r[i].posix.log_event_type == 0x123)
			CHECK_EQ(r[i].log_arg1, next++);
	CHECK(next >= 2 * (uint64_t)room - 2 && next < 2 * (uint64_t)room + room / 2);

	/* who is dead owns nothing */
	if (!fork())
		_exit(tacho_lkst_setrmod(&l, &sp, getpid()) != -EBUSY);
	CHECK_EQ((wait(&id), id), 0);
	tacho_lkst_unset_rmod(&l, getpid());
	if (!fork()) {
		int err = tacho_lkst_setrmod(&l, &sp, getpid());

		_exit(err != 0);
	}
	CHECK_EQ((wait(&id), id), 0);
	CHECK_EQ(tacho_lkst_setrmod(&l, &sp, getpid()), 0);
	tacho_lkst_unset_rmod(&l, getpid());

	CHECK_EQ(jump(0), 0);
	for (int i = 1; i <= 3; i++)
		CHECK_EQ(delete(i, here), 0);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)quiet()), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l,
		 (uint32_t)tacho_lkst_maskset_get_id(&l, "shift")), 0);
}

/* ---- what a reader misses ---- */

static ssize_t read_some(struct lkst_record *r, size_t max, struct lkst_read_from *from)
{
	return tacho_lkst_read_records(&l, r, max, getpid(), from);
}

/* All that is there; the events of type 0x123, and what was missed. */
static size_t read_rest(uint64_t *missed)
{
	static struct lkst_record r[100];
	struct lkst_read_from from;
	size_t found = 0;
	ssize_t n;

	*missed = 0;
	do {
		n = read_some(r, 100, &from);
		*missed += from.missed;
		for (ssize_t i = 0; i < n; i++)
			found += r[i].etype == 0x123;
	} while (n > 0);
	return found;
}

static uint64_t read_both(uint64_t *missed)
{
	size_t n = read_rest(missed);

	return n + *missed;
}

/* Full buffers follow each other in a ring of two, and do not tell: what is counted is exact. */
static void test_missed(void)
{
	struct lkst_buffer_srmodparam sp = { .cpu = here, .mode = LKST_READ_MODE_STD };
	int id = own_maskset("missed", 0x123, LKST_EVHANDLER_ID_LOG, LKST_EVHANDLER_ID_VOID);
	const int room = 4096 / RECORD;
	struct lkst_record r[8];
	struct lkst_read_from from;
	uint64_t missed;

	CHECK_EQ(create(4, here, 4096, 5), 4);
	CHECK_EQ(create(5, here, 4096, 4), 5);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)id), 0);
	CHECK_EQ(jump(4), 0);
	log_events(0x123, 0, 200);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, here), 0);
	CHECK_EQ(tacho_lkst_setrmod(&l, &sp, getpid()), 0);
	(void)read_rest(&missed);
	CHECK_EQ(missed, 0);			/* before SETRMOD */

	/* within a turn, and whole turns */
	log_events(0x123, 200, 3 * room);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, here), 0);
	CHECK_EQ(read_rest(&missed), room);
	CHECK_EQ(missed, 2 * room);
	for (int i = 0; i < 6; i++) {
		log_events(0x123, 0, 30);
		CHECK_EQ(tacho_lkst_buffer_shift(&l, here), 0);
	}
	/* 180 were written; a buffer was shifted out of twice in between */
	CHECK_EQ(read_both(&missed), 180);
	CHECK_EQ(missed, 150);

	/* overwritten under a reader, who has 8 of 30 */
	log_events(0x123, 0, 30);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, here), 0);
	CHECK_EQ(read_some(r, 8, &from), 8);
	CHECK_EQ(from.missed, 0);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, here), 0);
	log_events(0x123, 0, 5000);
	CHECK_EQ(tacho_lkst_buffer_shift(&l, here), 0);
	CHECK_EQ(read_both(&missed), 22 + 5000);
	CHECK_EQ(read_both(&missed), 0);
	tacho_lkst_unset_rmod(&l, getpid());

	CHECK_EQ(jump(0), 0);
	CHECK_EQ(delete(4, here), 0);
	CHECK_EQ(delete(5, here), 0);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)quiet()), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, (uint32_t)id), 0);
}

/* Records are numbered on beyond what recid can say. */
static void test_many(void)
{
	static struct lkst_log_record r[200];
	int id = own_maskset("many", 0x123, LKST_EVHANDLER_ID_LOG, LKST_EVHANDLER_ID_VOID);
	struct tacho_ring *ring = &l.session.view.ring;
	struct tacho_ring_buf *map;
	uint64_t cursor;

	CHECK_EQ(create(4, here, 65536, LKST_BUFFER_ID_VOID), 4);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)id), 0);
	CHECK_EQ(jump(4), 0);
	log_events(0x123, 0, 1);
	cursor = tacho_ring_lane(ring, (uint32_t)here)->cursor;
	map = tacho_ring_map(ring, (uint32_t)here, tacho_cursor_id(cursor));
	tacho_ring_sub(ring, map, cursor)->event_first += INT32_MAX - UINT64_C(10);
	log_events(0x123, 1, 99);
	CHECK_EQ(read_all(4, r, 200), 100);
	for (int i = 0; i < 100; i++)
		CHECK_EQ(r[i].log_arg1, i);
	CHECK_EQ(jump(0), 0);
	CHECK_EQ(delete(4, here), 0);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)quiet()), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, (uint32_t)id), 0);
}

/* A reader of a buffer that is being written comes to an end: at what was there at first. */
static void test_written_while_read(void)
{
	static struct lkst_record r[300];
	int id = own_maskset("while", 0x123, LKST_EVHANDLER_ID_LOG, LKST_EVHANDLER_ID_VOID);
	struct lkst_span span = { 0 };
	size_t n, all = 0;

	CHECK_EQ(create(4, here, 8192, LKST_BUFFER_ID_VOID), 4);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)id), 0);
	CHECK_EQ(jump(4), 0);
	log_events(0x123, 0, 50);
	do {
		CHECK_EQ(tacho_lkst_records(&l, here, 4, &span, r + all, 20, &n), 0);
		all += n;
		log_events(0x123, 1000, 20);
	} while (n && all < 200);
	CHECK_EQ(all, 50);
	for (size_t i = 0; i < all; i++)
		CHECK_EQ(r[i].arg[0], i);
	/* nor what is written over what it has not read */
	span = (struct lkst_span){ 0 };
	CHECK_EQ(tacho_lkst_records(&l, here, 4, &span, r, 20, &n), 0);
	log_events(0x123, 2000, 5000);
	CHECK_EQ(tacho_lkst_records(&l, here, 4, &span, r, 300, &n), 0);
	CHECK_EQ(n, 0);
	CHECK_EQ(jump(0), 0);
	CHECK_EQ(delete(4, here), 0);
	CHECK_EQ(tacho_lkst_maskset_set(&l, (uint32_t)quiet()), 0);
	CHECK_EQ(tacho_lkst_maskset_delete(&l, (uint32_t)id), 0);
}

/* ---- the life of the session ---- */

static void test_reopen(void)
{
	const struct tacho_lkst_config cfg = { .session = "lkst-test", .look = true };
	struct tacho_lkst other;
	struct lkst_trc_status st;
	int id = own_maskset("kept", 0x123, LKST_EVHANDLER_ID_LOG, 0);

	CHECK_EQ(create(4, -1, 8192, LKST_BUFFER_ID_VOID), 4);
	CHECK_EQ(tacho_lkst_open(&other, &cfg, NULL), 0);
	CHECK_EQ(tacho_lkst_maskset_get_id(&other, "kept"), id);
	CHECK(lkst_buffer_at(&other, here, 4) != NULL);
	CHECK_EQ(tacho_lkst_status(&other, &st), 0);
	CHECK_EQ(st.maskset_num, 5);
	tacho_lkst_close(&other);
}

static void test_none(void)
{
	const struct tacho_lkst_config cfg = { .session = "lkst-test", .look = true };
	struct tacho_diag d = { 0 };
	struct tacho_lkst other;

	CHECK_EQ(tacho_lkst_open(&other, &cfg, &d), -ENOENT);
	CHECK(*d.text);
}

static void test_not_lksts(void)
{
	const struct tacho_session_config plain = { .name = "lkst-plain", .clock = -1,
						    .lane_size = 65536, .sub_size = 4096 };
	const struct tacho_lkst_config cfg = { .session = "lkst-plain" };
	struct tacho_session s;
	struct tacho_diag d = { 0 };
	struct tacho_lkst other;
	struct tacho_dir dir;

	CHECK_EQ(tacho_dir_open(&dir, true, NULL), 0);
	CHECK_EQ(tacho_session_create(&s, &dir, &plain, NULL), 0);
	CHECK_EQ(tacho_lkst_open(&other, &cfg, &d), -EEXIST);
	CHECK(strstr(d.text, "not LKST's") != NULL);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	tacho_dir_close(&dir);
}

/* Neither root nor the owner of the run-time directory. */
static void test_others(void)
{
	const struct tacho_lkst_config cfg = { .session = "lkst-test" };
	int status;

	if (geteuid())
		return;
	if (!fork()) {
		struct tacho_lkst other;

		_exit(setgid(65534) || setuid(65534) ||
		      tacho_lkst_open(&other, &cfg, NULL) != -EPERM);
	}
	CHECK_EQ((wait(&status), status), 0);
}

/* Snapshots and other sizes are not for LKST's session. */
static void test_linked(void)
{
	struct tacho_diag d = { 0 };

	CHECK_EQ(tacho_session_snapshot(&l.session, &d), -EBUSY);
	CHECK(strstr(d.text, "linked buffers") != NULL);
	CHECK_EQ(tacho_session_resize(&l.session, -1, 1 << 20, true, NULL), -EBUSY);
}

int main(int argc, char **argv)
{
	char dir[] = "/dev/shm/tacho-lkst.XXXXXX", cmd[64];

	test_args(argc, argv);
	if (!mkdtemp(dir) || setenv("TACHO_DIR", dir, 1))
		return 1;
	begin();
	pin();
	TEST(test_status());
	TEST(test_start_stop());
	TEST(test_maskset_read());
	TEST(test_maskset_write_errors());
	TEST(test_maskset_list());
	be_quiet();
	TEST(test_buffer_table());
	TEST(test_buffer_many());
	TEST(test_records());
	TEST(test_overrun());
	TEST(test_shift_on_overrun());
	TEST(test_missed());
	TEST(test_many());
	TEST(test_written_while_read());
	TEST(test_reopen());
	TEST(test_linked());
	TEST(test_others());
	end();
	TEST(test_none());
	TEST(test_not_lksts());
	begin();
	pin();
	TEST(test_status());
	end();
	(void)snprintf(cmd, sizeof(cmd), "rm -rf %s", dir);
	CHECK_EQ(system(cmd), 0);
	return test_done();
}
