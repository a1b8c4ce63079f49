/* SPDX-License-Identifier: MIT */
/*
 * Events of a program and of the kernel in the same buffers, whoever pumps when.  Needs root and
 * tracefs, else skipped.
 *
 *	both flight | queue | beside [SEED]
 *
 * One thread on one CPU makes numbered events of both kinds, so their order and the buffer that was
 * written are known.  Others' events of these types take places in buffers, and are not known.
 */
#include "lkst/pump.h"
#include "compat/lkst/priv.h"
#include "ring/read.h"

#define SIZE		4096
#define ROOM		(SIZE / LKST_SIZEOF_LKST_EVENT_RECORD)
#define SPARE		16	/* a buffer may show that many more */
#define BUFFERS		4
#define EVENTS_MAX	200000
#define LOG_TYPE	0x100
#define SHIFT_TYPE	0x101

/* Turns are counted from 1; which one an event is of, by its number. */
static uint32_t turn_of[EVENTS_MAX];
static uint32_t nr_events, turn = 1;
/* the last turn of each buffer, and the first event of each turn */
static uint32_t last_turn[BUFFERS], first_of[EVENTS_MAX];
static int now_in, cpu;

/* Of calls that nobody makes, of each mode its own, with a number; they do nothing. */
static int kernel_type;

static uint32_t seed;

static uint32_t any(uint32_t below)
{
	seed = seed * 1664525u + 1013904223u;
	return (uint32_t)((uint64_t)seed * below >> 32);
}

/* ---- what happens ---- */

static void program_event(uint32_t type)
{
	const struct lkst_record r = { .etype = (uint16_t)type, .arg = { nr_events } };

	turn_of[nr_events++] = turn;
	CHECK_EQ(tacho_lkst_entry(&lkst, &r), 0);
}

static void kernel_event(void)
{
	turn_of[nr_events] = turn;
	if (kernel_type == LKST_ETYPE_IPC_SHMDT)
		(void)syscall(SYS_shmdt, (long)nr_events++);
	else if (kernel_type == LKST_ETYPE_IPC_SEMOP)
		(void)syscall(SYS_semop, (long)nr_events++, NULL, 0L);
	else
		(void)syscall(SYS_msgsnd, (long)nr_events++, 0L, 0L, 0L);
}

static void begin_turn(int id)
{
	now_in = id;
	last_turn[id] = ++turn;
	first_of[turn] = nr_events;
}

/* By a tool, or by an event: then nobody pumps before. */
static void go_on(void)
{
	int to = (now_in + 1) % BUFFERS;

	if (any(2)) {
		program_event(SHIFT_TYPE);
	} else {
		to = (now_in + 1 + (int)any(BUFFERS - 1)) % BUFFERS;
		CHECK_EQ(tacho_lkst_buffer_jump(&lkst, &(struct lkst_buffer_jumpparam){ cpu, to }),
			 0);
	}
	begin_turn(to);
}

static void events(uint32_t n)
{
	bool mixed = any(2), kernel = any(2);

	for (; n && nr_events < EVENTS_MAX; n--) {
		if (mixed ? any(2) : kernel)
			kernel_event();
		else
			program_event(LOG_TYPE);
	}
}

/* ---- what is shown ---- */

static bool is_mine(const struct lkst_record *r)
{
	return r->thread == gettid() &&
	       (r->etype == LOG_TYPE || r->etype == SHIFT_TYPE ||
		r->etype == kernel_type);
}

static void check_order(void)
{
	for (size_t i = 1; i < nr_records; i++) {
		CHECK(records[i - 1].ticks <= records[i].ticks);
		CHECK(records[i - 1].recid < records[i].recid);
	}
}

/* Of a turn the last events, all of them, as many as there is room for; and none of another. */
static void check_buffer(int id)
{
	uint32_t of = last_turn[id], next = 0, mine = 0, end;

	nr_records = 0;
	read_buffer(cpu, id, 1u << 20);
	check_order();
	for (size_t i = 0; i < nr_records; i++) {
		uint32_t number = (uint32_t)records[i].arg[0];

		if (!is_mine(&records[i]))
			continue;
		CHECK(number < nr_events);
		CHECK_EQ(turn_of[number], of);
		CHECK(!mine || number == next);
		next = number + 1;
		mine++;
	}
	if (!of) {
		CHECK_EQ(mine, 0);
		return;
	}
	for (end = first_of[of]; end < nr_events && turn_of[end] == of; end++)
		;
	CHECK_EQ(mine ? next : end, end);
	/* what is missing had to go */
	if (mine < end - first_of[of])
		CHECK(nr_records >= ROOM);
	if (id == now_in)
		CHECK(nr_records <= ROOM + SPARE);
}

/* BUFFER_READ says the same. */
static void check_read(int id)
{
	struct lkst_log_record *to = calloc(nr_records + 1, sizeof(*to));
	struct lkst_log_buffer p = {
		.cpu = cpu, .id = id, .read_size = nr_records * sizeof(*to), .buffer = to,
	};

	if (to && nr_records) {
		CHECK_EQ(tacho_lkst_buffer_read(&lkst, &p), 0);
		CHECK_EQ(p.result_read_size, p.read_size);
		for (size_t i = 0; i < nr_records; i++) {
			CHECK_EQ(to[i].posix.log_event_type, records[i].etype);
			CHECK_EQ(to[i].log_arg1, records[i].arg[0]);
			CHECK_EQ(to[i].posix.log_recid, records[i].recid);
		}
	}
	free(to);
}

static void set_up(bool shifts)
{
	const int types[] = { LOG_TYPE, kernel_type, LKST_ETYPE_LKST_LOST };
	union {
		struct lkst_maskset_body body;
		char bytes[LKST_MASKSET_SIZE(8)];
	} set = { .body = { .name = "both", .len = 4 + shifts } };
	struct lkst_maskset_param p = {
		.id = LKST_MASKSET_ID_VOID, .maskset_size = sizeof(set), .maskset = &set.body,
	};
	cpu_set_t one;

	open_lkst(SIZE);
	if (!lkst_cpu_is(&lkst, 0))
		SKIP("without restartable sequences a thread has no CPU's buffer");
	cpu = sched_getcpu();
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
	for (int i = 0; i < 3; i++)
		set.body.entry[i] = (struct lkst_maskset_entry){ types[i], LKST_EVHANDLER_ID_LOG };
	set.body.entry[3] = (struct lkst_maskset_entry){ SHIFT_TYPE,
							 LKST_EVHANDLER_ID_BUFFER_SHIFT };
	if (shifts)
		set.body.entry[4] = (struct lkst_maskset_entry){
			LKST_ETYPE_LKST_BUFF_OVFLOW, LKST_EVHANDLER_ID_BUFFER_SHIFT };
	CHECK_EQ(tacho_lkst_maskset_write(&lkst, &p), 0);
	for (int id = 1; id < BUFFERS; id++) {
		struct lkst_buffer_param made = {
			.id = id, .next = (id + 1) % BUFFERS, .cpu = -1, .size = SIZE,
		};

		CHECK_EQ(tacho_lkst_buffer_create(&lkst, &made), 0);
	}
	CHECK_EQ(tacho_lkst_buffer_link(&lkst, &(struct lkst_buffer_linkparam){ cpu, 0, 1 }), 0);
	CHECK_EQ(tacho_lkst_maskset_set(&lkst, p.id), 0);
	records = calloc(1u << 20, sizeof(*records));
	begin_turn(0);
}

static int flight(void)
{
	struct tacho_diag d = { 0 };

	kernel_type = LKST_ETYPE_IPC_SHMDT;
	set_up(false);
	for (int round = 0; round < 400; round++) {
		switch (any(8)) {
		case 0:
			go_on();
			break;
		case 1:
			(void)tacho_lkst_pump_once(&lkst);
			break;
		case 2:
			(void)tacho_lkst_pump_once(&lkst);
			for (int id = 0; id < BUFFERS; id++)
				check_buffer(id);
			check_read(BUFFERS - 1);
			break;
		default:
			events(any(any(3) ? ROOM : 4 * ROOM));
		}
	}
	(void)tacho_lkst_pump_once(&lkst);
	for (int id = 0; id < BUFFERS; id++)
		check_buffer(id);
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	return test_done();
}

/* ---- the read queue: each event once, or counted ---- */

static uint8_t had[EVENTS_MAX];
static uint64_t nr_read, nr_missed, nr_others;

static void drain(void)
{
	struct lkst_record some[64];
	struct lkst_read_from from;
	ssize_t n;

	do {
		n = tacho_lkst_read_records(&lkst, some, 64, getpid(), &from);
		nr_missed += from.missed;
		nr_read += n > 0 ? (uint64_t)n : 0;
		for (ssize_t i = 0; i < n; i++) {
			uint64_t number = some[i].arg[0];

			CHECK(!i || some[i - 1].ticks <= some[i].ticks);
			if (is_mine(&some[i]) && number < nr_events)
				had[number]++;
			nr_others += some[i].etype == kernel_type && !is_mine(&some[i]);
		}
	} while (n > 0);
}

/* All that was ever written on this CPU. */
static uint64_t written(void)
{
	struct tacho_ring *r = &lkst.session.view.ring;
	uint64_t n = 0;

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++)
		for (uint32_t id = 0; tacho_ring_cpu(r, lane) == (uint32_t)cpu &&
		     id < TACHO_BUFFERS_MAX; id++)
			n += tacho_ring_written(r, lane, id);
	return n;
}

static int read_all_of_it(bool pumps)
{
	struct lkst_buffer_srmodparam mode = { .mode = LKST_READ_MODE_STD };
	struct tacho_lkst_pump *pump = NULL;
	uint64_t before, lost = 0;
	struct tacho_diag d = { 0 };

	kernel_type = pumps ? LKST_ETYPE_IPC_MSGSND : LKST_ETYPE_IPC_SEMOP;
	set_up(true);
	mode.cpu = cpu;
	/* what the kernel recorded before the maskset was selected is not counted */
	(void)tacho_lkst_pump_once(&lkst);
	CHECK_EQ(tacho_lkst_setrmod(&lkst, &mode, getpid()), 0);
	CHECK_EQ(tacho_lkst_buffer_shift(&lkst, cpu), 0);
	drain();
	nr_read = nr_missed = nr_others = 0;
	before = written();
	if (pumps)
		CHECK_EQ(tacho_lkst_pump_start(&pump, &lkst, &d), 0);
	/* as many as there is room for until they are read: none goes */
	for (int round = 0; round < 60; round++) {
		events(any(ROOM / 2));
		if (!any(3))
			(void)tacho_lkst_pump_once(&lkst);
		drain();
	}
	CHECK_EQ(tacho_lkst_buffer_shift(&lkst, cpu), 0);
	drain();
	/* others' may have been too many */
	if (!nr_others)
		CHECK_EQ(nr_missed, 0);
	for (uint32_t i = 0; i < nr_events; i++)
		CHECK(had[i] == 1 || (nr_others && !had[i]));
	/* more than that */
	for (int round = 0; round < 60; round++) {
		events(any(any(4) ? ROOM : 8 * ROOM));
		if (!any(3))
			(void)tacho_lkst_pump_once(&lkst);
		if (any(2))
			drain();
	}
	CHECK_EQ(tacho_lkst_buffer_shift(&lkst, cpu), 0);
	drain();
	/* the buffer that is written has the event of the shift at most */
	for (int i = 0; i < 2; i++) {
		CHECK_EQ(tacho_lkst_buffer_shift(&lkst, cpu), 0);
		drain();
	}
	for (uint32_t i = 0; i < nr_events; i++) {
		CHECK(had[i] <= 1);
		lost += !had[i];
	}
	CHECK(pumps || lost > 0);
	CHECK(lost <= nr_missed);
	tacho_lkst_pump_stop(pump);
	CHECK_EQ(nr_read + nr_missed, written() - before);
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	return test_done();
}

static int queue(void)
{
	return read_all_of_it(false);
}

/* Somebody pumps all the time. */
static int beside(void)
{
	return read_all_of_it(true);
}

int main(int argc, char **argv)
{
	struct tacho_tracefs t;
	const char *mode;
	int failed;

	(void)setvbuf(stdout, NULL, _IONBF, 0);
	if (geteuid() || tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, NULL))
		SKIP("the kernel's events need root and tracefs");
	tacho_tracefs_close(&t);
	seed = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 0) : 1;
	mode = argc > 1 ? argv[1] : "flight";
	failed = in_its_own(mode, !strcmp(mode, "queue") ? queue : !strcmp(mode, "beside") ? beside :
			    flight);
	remove_tree(AT_FDCWD, directory);
	return failed;
}
