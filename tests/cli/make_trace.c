// SPDX-License-Identifier: MIT
/*
 * make_trace KIND DIR - traces of which every byte is known.
 *
 *	small	programs on one CPU and the kernel on another, every kind of
 *		field, a loss of 5 events before the third event of programs
 *	rotated	DIR/0001 and DIR/0002: the same type under two ids
 *	many	20,000 events on two CPUs
 *	wakes	a program's event and the kernel's sched_wakeup, of which LKST knows one
 *	lkst	not a directory but a log file of LKST: every kind of block, losses
 *	stacks	kernel events on two CPUs with call stacks behind them, of which some
 *		are nested, lost, or another's: see stacks.sh
 *	waits	20 spans of a client that waits for a server, which waits for a timer, a CPU
 *		and a disk: see put_waits()
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "fmt/ctf/write.h"
#include "fmt/lkst/log.h"

#define SECOND		UINT64_C(1000000000)
#define START		(1000 * SECOND)
#define REALTIME	(UINT64_C(1795184000) * SECOND)

#define COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char app_open[] = COMMON
	"\tfield:int fd;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] path;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 bytes;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"fd=%d path=%s bytes=%llu\", REC->fd, __get_str(path), REC->bytes\n";
static const char app_kinds[] = COMMON
	"\tfield:signed char small;\toffset:8;\tsize:1;\tsigned:1;\n"
	"\tfield:bool yes;\toffset:9;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned short list[3];\toffset:10;\tsize:6;\tsigned:0;\n"
	"\tfield:void * where;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:char name[8];\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:u64 big;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"small=%d name=%s\", REC->small, REC->name\n";
static const char wake[] = COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d prio=%d\", REC->comm, REC->pid, REC->prio\n";

struct lane {
	struct tacho_buf b;
	struct tacho_packet p;
};

static struct tacho_ctf_writer *w;
static struct tacho_diag d;

static int failed(void)
{
	fprintf(stderr, "make_trace: %s\n", d.text);
	return 1;
}

static int begin(const char *dir)
{
	struct tacho_ctf_info info = {
		.uuid = { 1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13, 14, 15, 16 },
		.clock = "mono", .clock_freq = SECOND, .ticks = START,
		.realtime = REALTIME,
	};

	return tacho_ctf_writer_new(&w, dir, &info, &d) ||
	       tacho_ctf_writer_env(w, "hostname", "box", &d) ||
	       tacho_ctf_writer_env(w, "command", "server --port 80", &d);
}

static int type(uint32_t stream, uint32_t id, const char *system,
		const char *name, const char *text)
{
	return tacho_ctf_writer_type(w, stream, id, system, name, text,
				     strlen(text), &d);
}

static void lane_init(struct lane *l, uint32_t stream, uint32_t cpu)
{
	*l = (struct lane){ .p = { .stream_id = stream, .cpu_id = cpu,
				   .stream_instance_id = cpu } };
	tacho_buf_init(&l->b, (size_t)1 << 20);
}

/* common_flags and common_preempt_count are `flags`, low byte first. */
static void put(struct lane *l, uint64_t time, uint32_t id, unsigned int flags,
		int32_t pid, const void *payload, size_t len)
{
	size_t size = (16 + len + 7) & ~(size_t)7;
	unsigned char head[16] = { 0 }, pad[8] = { 0 };

	if (!l->p.events++)
		l->p.timestamp_begin = START + time;
	l->p.timestamp_end = START + time;
	tacho_put_u64(head, tacho_record_word(START + time, size));
	tacho_put_u16(head + 8, (uint16_t)id);
	tacho_put_u16(head + 10, (uint16_t)flags);
	tacho_put_u32(head + 12, (uint32_t)pid);
	tacho_buf_put(&l->b, head, 16);
	tacho_buf_put(&l->b, payload, len);
	tacho_buf_put(&l->b, pad, size - 16 - len);
}

static int flush(struct lane *l)
{
	int err = tacho_ctf_writer_packet(w, &l->p, l->b.data, l->b.len, &d);

	tacho_buf_reset(&l->b);
	l->p.event_first += l->p.events;
	l->p.events = 0;
	l->p.packet_seq_num++;
	return err;
}

static void put_open(struct lane *l, uint64_t time, uint32_t id, int32_t pid,
		     int fd, const char *path, uint64_t bytes)
{
	unsigned char b[128] = { 0 };
	size_t n = strlen(path) + 1;

	tacho_put_u32(b, (uint32_t)fd);
	tacho_put_u32(b + 4, (uint32_t)(24 | n << 16));
	tacho_put_u64(b + 8, bytes);
	memcpy(b + 16, path, n);
	put(l, time, id, 0, pid, b, 16 + n);
}

static void put_kinds(struct lane *l, uint64_t time, int32_t pid)
{
	unsigned char b[32] = { 0xf9, 1, 1, 0, 2, 0, 3, 0 };

	tacho_put_u64(b + 8, UINT64_C(0xffff888001020304));
	memcpy(b + 16, "a\"b\n\033[1", 8);
	tacho_put_u64(b + 24, UINT64_MAX);
	put(l, time, 2, 0, pid, b, 32);
}

static void put_wake(struct lane *l, uint64_t time, unsigned int flags,
		     int32_t pid, const char *comm, int32_t whom)
{
	unsigned char b[24] = { 0 };

	memcpy(b, comm, strlen(comm));
	tacho_put_u32(b + 16, (uint32_t)whom);
	tacho_put_u32(b + 20, 120);
	put(l, time, 1, flags, pid, b, 24);
}

static int finish(void)
{
	static const char tasks[] = "1000 1000 server\n1001 1000 wor\"ker x\n";
	int err = tacho_ctf_writer_text(w, "cmdlines", tasks, strlen(tasks), &d);

	if (!err)
		err = tacho_ctf_writer_close(w, &d);
	return err;
}

static int small(const char *dir)
{
	struct lane prog, kern;

	if (begin(dir) || type(0, 1, "app", "open", app_open) ||
	    type(0, 2, "app", "kinds", app_kinds) ||
	    type(1, 1, "sched", "sched_wakeup", wake))
		return failed();
	lane_init(&prog, 0, 0);
	lane_init(&kern, 1, 1);
	put_open(&prog, 100, 1, 1000, 3, "/etc/passwd", 42);
	put_kinds(&prog, 1500000, 1001);
	put_wake(&kern, 700, 0x0100, 0, "server", 1000);
	put_wake(&kern, 2500000, 0x1219, 1001, "kworker/0:1", 77);
	put_wake(&kern, 2000000499, 0x00c5, 99999, "who's?\001", 1000);
	if (flush(&prog))
		return failed();
	prog.p.events_discarded = 5;
	put_open(&prog, 1250000000, 1, 1000, -1, "/tmp/\303\244 b", 0);
	put_open(&prog, 3000000000, 1, 1001, 4, "", UINT64_MAX);
	if (flush(&prog) || flush(&kern) || finish())
		return failed();
	tacho_buf_release(&prog.b);
	tacho_buf_release(&kern.b);
	return 0;
}

static int wakes(const char *dir)
{
	static const char wake_on[] = COMMON
		"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
		"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
		"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
		"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
		"print fmt: \"pid=%d\", REC->pid\n";
	struct lane prog, kern;

	if (begin(dir) || type(0, 1, "app", "open", app_open) ||
	    type(1, 1, "sched", "sched_wakeup", wake_on))
		return failed();
	lane_init(&prog, 0, 0);
	lane_init(&kern, 1, 1);
	put_open(&prog, 100, 1, 1000, 3, "/etc/passwd", 42);
	for (uint32_t i = 0; i < 300; i++) {
		unsigned char b[28] = "server";

		tacho_put_u32(b + 16, 1000 + i);
		tacho_put_u32(b + 20, 120);
		tacho_put_u32(b + 24, i % 4);
		put(&kern, 1000 * (uint64_t)i, 1, i % 2 ? 0x08 : 0, i % 3 ? 1001 : 0, b, 28);
	}
	kern.p.events_discarded = 6;
	if (flush(&prog) || flush(&kern) || finish())
		return failed();
	tacho_buf_release(&prog.b);
	tacho_buf_release(&kern.b);
	return 0;
}

static int lkst(const char *file)
{
	static const char types[] =
		"0x100\tNEW_EVENT\tuser added event\tdata1\tdata2\t\t\n"
		"0x040\tSYSTEM_CALL\tsystem_call_entry\tnumber\t\t\t100%: x\n"
		"0x1fe\tNEVER\tnot one: of them\t\\011\t\t\t\n";
	static const uint8_t uuid[16] = { 0xfe, 2, 3 };
	struct lkst_log_config config = {
		.freq = 2000000000, .tsc = 12345, .realtime = REALTIME, .arch = "k42",
		.uuid = uuid, .types = types, .types_len = sizeof(types) - 1,
	};
	struct lkst_log_writer *log;
	int err = lkst_log_create(&log, file, &config, &d);

	for (uint32_t i = 0; i < 2000 && !err; i++) {
		bool kernel = i % 3 == 0;
		struct lkst_record r = {
			.ticks = 2000000 + 1000 * (uint64_t)i - (kernel ? 50500 : 0),
			.arg = { i, UINT64_MAX - i, 0, i << 16 }, .recid = 1000000 + i,
			.thread = (int32_t)(1000 + i % 2), .uid = 1000, .gid = i % 7 ? 100 : UINT32_MAX,
			.pid = 1000, .pgrp = i % 5 ? 999 : -1, .cpu = i % 2,
			.etype = kernel ? 0x040 : i % 11 ? 0x100 : 0x123,
			.flags = kernel ? 0x12 : 0,
		};

		err = lkst_log_write(log, r.cpu, (int32_t)(i / 500) - 1, &r, 1,
				     i % 400 == 7 ? i : 0, &d);
	}
	if (!err)
		err = lkst_log_close(log, &d);
	return err ? failed() : 0;
}

static int rotated(const char *dir)
{
	struct lane l;

	for (uint32_t i = 1; i <= 2; i++) {
		char path[400];

		(void)snprintf(path, sizeof(path), "%s/%04u", dir, i);
		(void)mkdir(dir, 0777);
		if (begin(path) || type(0, i, "app", "open", app_open) ||
		    (i == 2 && type(0, 1, "app", "kinds", app_kinds)))
			return failed();
		lane_init(&l, 0, 0);
		for (uint64_t k = 0; k < 10; k++)
			put_open(&l, i * SECOND + k, i, 1000, (int)k, "x", i);
		if (flush(&l) || finish())
			return failed();
		tacho_buf_release(&l.b);
	}
	return 0;
}

static int many(const char *dir)
{
	struct lane l[2];

	if (begin(dir) || type(0, 1, "app", "open", app_open))
		return failed();
	lane_init(&l[0], 0, 0);
	lane_init(&l[1], 0, 1);
	for (uint64_t i = 0; i < 20000; i++) {
		struct lane *to = &l[i / 3 % 2];

		put_open(to, i * 1000, 1, 1000 + (int32_t)(i % 2), (int)i,
			 "some/where", i);
		if (to->b.len > 30000 && flush(to))
			return failed();
	}
	if (flush(&l[0]) || flush(&l[1]) || finish())
		return failed();
	tacho_buf_release(&l[0].b);
	tacho_buf_release(&l[1].b);
	return 0;
}

/* ---- stacks ---- */

static const char run[] = COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"pid=%d\", REC->pid\n";
static const char kernel_stack[] = COMMON
	"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc unsigned long[] caller;\toffset:12;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"<stack trace>\\n%s\", __get_stacktrace(caller)\n";
static const char symbols[] =
	"ffffffff81000100 t trace_event_raw_event_sched_wakeup\n"
	"ffffffff81000200 t __traceiter_sched_wakeup\n"
	"ffffffff81001000 T try_to_wake_up\n"
	"ffffffff81002000 T timer_fn\n"
	"ffffffff81003000 T do_work\n"
	"ffffffff81004000 T entry\t[mod]\n"
	"ffffffff81005000 T the_end\n";

#define TEXT		UINT64_C(0xffffffff81000000)
#define HARDIRQ		0x08
#define ID_RUN		2
#define ID_STACK	5

/* Offsets from TEXT, ended by 0; the first two of each stack are the tracer's. */
static void put_stack(struct lane *l, uint64_t time, unsigned int flags,
		      int32_t pid, const uint32_t *addr)
{
	unsigned char b[8 + 8 * 8] = { 0 };
	uint32_t n = 0;

	tacho_put_u64(b + 8, TEXT + 0x110);
	tacho_put_u64(b + 16, TEXT + 0x220);
	for (n = 2; *addr; addr++, n++)
		tacho_put_u64(b + 8 + 8 * n, TEXT + *addr);
	tacho_put_u32(b, n);
	tacho_put_u32(b + 4, 16 | n * 8 << 16);
	put(l, time, ID_STACK, flags, pid, b, 8 + 8 * n);
}

static void put_run(struct lane *l, uint64_t time, int32_t pid)
{
	unsigned char b[4];

	tacho_put_u32(b, (uint32_t)pid);
	put(l, time, ID_RUN, 0, 0, b, 4);
}

static int put_stacks(struct lane cpu[2])
{
	static const uint32_t task[] = { 0x1010, 0x3020, 0x4030, 0 };
	static const uint32_t irq[] = { 0x1010, 0x2008, 0x4030, 0 };

	/* plain */
	put_wake(&cpu[0], 1000, 0, 10, "plain", 1);
	put_stack(&cpu[0], 1100, 0, 10, task);
	/* an interrupt's event and stack between the two */
	put_wake(&cpu[0], 2000, 0, 10, "outer", 2);
	put_wake(&cpu[0], 2010, HARDIRQ, 10, "inner", 3);
	put_stack(&cpu[0], 2020, HARDIRQ, 10, irq);
	put_stack(&cpu[0], 2030, 0, 10, task);
	/* the first one's was lost */
	put_wake(&cpu[0], 3000, 0, 11, "none", 4);
	put_wake(&cpu[0], 3100, 0, 11, "behind", 5);
	put_stack(&cpu[0], 3110, 0, 11, task);
	/* another CPU's is between */
	put_wake(&cpu[0], 4000, 0, 12, "left", 6);
	put_wake(&cpu[1], 4005, 0, 12, "right", 7);
	put_stack(&cpu[1], 4006, 0, 12, irq);
	put_stack(&cpu[0], 4010, 0, 12, task);
	/* what is between was lost, so the stack may be another's */
	put_wake(&cpu[0], 6000, 0, 16, "none", 8);
	if (flush(&cpu[0]))
		return -1;
	cpu[0].p.events_discarded = 2;
	put_stack(&cpu[0], 6010, 0, 16, task);
	/* another thread's */
	put_wake(&cpu[0], 6500, 0, 16, "none", 9);
	put_stack(&cpu[0], 6510, 0, 17, task);
	/* the other CPU takes the stack before it is there in the order of time */
	put_wake(&cpu[0], 8000, 0, 18, "taken", 50);
	put_run(&cpu[1], 8005, 50);
	put_stack(&cpu[0], 8010, 0, 18, task);
	/* the end */
	put_wake(&cpu[0], 9000, 0, 19, "none", 10);
	return flush(&cpu[0]) || flush(&cpu[1]);
}

static int stacks(const char *dir)
{
	struct lane cpu[2];

	if (begin(dir) || type(1, 1, "sched", "sched_wakeup", wake) ||
	    type(1, ID_RUN, "sched", "run", run) ||
	    type(1, ID_STACK, "ftrace", "kernel_stack", kernel_stack))
		return failed();
	lane_init(&cpu[0], 1, 0);
	lane_init(&cpu[1], 1, 1);
	if (put_stacks(cpu) ||
	    tacho_ctf_writer_text(w, "kallsyms", symbols, strlen(symbols), &d) ||
	    finish())
		return failed();
	tacho_buf_release(&cpu[0].b);
	tacho_buf_release(&cpu[1].b);
	return 0;
}

/* ---- waits ---- */

#define FIELD(at, text)	"\tfield:" text ";\toffset:" #at ";\tsize:4;\tsigned:1;\n"

enum { SWITCH = 1, WAKING, ENTER, LEAVE, ISSUE, COMPLETE, BEGIN = 1, END };

static const char mark[] = COMMON FIELD(8, "__data_loc char[] name")
	"\nprint fmt: \"%s\", __get_str(name)\n";

static int waits_types(void)
{
	static const struct {
		uint32_t id;
		const char *system, *name, *text;
	} types[] = {
		{ SWITCH, "sched", "sched_switch", COMMON FIELD(8, "pid_t prev_pid")
		  FIELD(12, "pid_t next_pid") FIELD(16, "int prev_state") "\nprint fmt: \"\"\n" },
		{ WAKING, "sched", "sched_waking", COMMON FIELD(8, "pid_t pid")
		  "\nprint fmt: \"\"\n" },
		{ ENTER, "raw_syscalls", "sys_enter", COMMON FIELD(8, "int id")
		  "\nprint fmt: \"\"\n" },
		{ LEAVE, "raw_syscalls", "sys_exit", COMMON FIELD(8, "int id")
		  "\nprint fmt: \"\"\n" },
		{ ISSUE, "block", "block_rq_issue", COMMON FIELD(8, "int dev")
		  FIELD(12, "int sector") "\nprint fmt: \"\"\n" },
		{ COMPLETE, "block", "block_rq_complete", COMMON FIELD(8, "int dev")
		  FIELD(12, "int sector") "\nprint fmt: \"\"\n" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (type(1, types[i].id, types[i].system, types[i].name, types[i].text))
			return -1;
	return type(0, BEGIN, "marker", "begin", mark) || type(0, END, "marker", "end", mark) ?
	       -1 : 0;
}

/* us: time; the record's thread; three integers. */
static void put_ints(struct lane *l, uint64_t us, uint32_t id, unsigned int flags, int pid,
		     uint32_t x, uint32_t y, uint32_t z)
{
	unsigned char b[12];

	tacho_put_u32(b, x);
	tacho_put_u32(b + 4, y);
	tacho_put_u32(b + 8, z);
	put(l, 1000 * us, id, flags, pid, b, 12);
}

static void put_mark(struct lane *l, uint64_t us, uint32_t id, const char *name)
{
	unsigned char b[32] = { 0 };

	tacho_put_u32(b, (uint32_t)(12 | (strlen(name) + 1) << 16));
	memcpy(b + 4, name, strlen(name));
	put(l, 1000 * us, id, 0, 1000, b, 4 + strlen(name) + 1);
}

/* One span from t on: the client is 1000 on CPU 0; the server 1001 and others on CPU 1. */
static void put_waits(struct lane *prog, struct lane cpu[2], uint64_t t, uint32_t other)
{
	put_mark(prog, t, BEGIN, "order");
	put_ints(&cpu[0], t + 100, ENTER, 0, 1000, 202, 0, 0);		/* futex */
	put_ints(&cpu[0], t + 110, SWITCH, 0, 1000, 1000, 0, 1);
	put_ints(&cpu[1], t + 200, ENTER, 0, 1001, 230, 0, 0);		/* clock_nanosleep */
	put_ints(&cpu[1], t + 210, SWITCH, 0, 1001, 1001, other, 1);
	put_ints(&cpu[1], t + 2000, WAKING, HARDIRQ, (int)other, 1001, 0, 0);
	put_ints(&cpu[1], t + 3000, SWITCH, 0, (int)other, other, 1001, 1);
	put_ints(&cpu[1], t + 3010, LEAVE, 0, 1001, 230, 0, 0);
	put_ints(&cpu[1], t + 3100, ISSUE, 0, 1001, 8 << 20, 77, 0);
	put_ints(&cpu[1], t + 3110, SWITCH, 0, 1001, 1001, 0, 2);
	put_ints(&cpu[1], t + 4000, COMPLETE, HARDIRQ, 0, 8 << 20, 77, 0);
	put_ints(&cpu[1], t + 4001, WAKING, HARDIRQ, 0, 1001, 0, 0);
	put_ints(&cpu[1], t + 4010, SWITCH, 0, 0, 0, 1001, 0);
	put_ints(&cpu[1], t + 4100, WAKING, 0, 1001, 1000, 0, 0);
	put_ints(&cpu[0], t + 4120, SWITCH, 0, 0, 0, 1000, 0);
	put_ints(&cpu[0], t + 4130, LEAVE, 0, 1000, 202, 0, 0);
	put_mark(prog, t + 4300, END, "order");
}

static int waits(const char *dir)
{
	struct lane prog, cpu[2];

	if (begin(dir) || waits_types())
		return failed();
	lane_init(&prog, 0, 0);
	lane_init(&cpu[0], 1, 0);
	lane_init(&cpu[1], 1, 1);
	for (uint32_t i = 0; i < 20; i++)
		put_waits(&prog, cpu, 1 + 10000 * i, 2000 + i % 3);
	if (flush(&prog) || flush(&cpu[0]) || flush(&cpu[1]) || finish())
		return failed();
	tacho_buf_release(&prog.b);
	tacho_buf_release(&cpu[0].b);
	tacho_buf_release(&cpu[1].b);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "small"))
		return small(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "rotated"))
		return rotated(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "many"))
		return many(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "stacks"))
		return stacks(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "wakes"))
		return wakes(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "lkst"))
		return lkst(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "waits"))
		return waits(argv[2]);
	fprintf(stderr, "usage: make_trace small|rotated|many|stacks|wakes|lkst|waits DIR\n");
	return 2;
}
