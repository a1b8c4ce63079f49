// SPDX-License-Identifier: MIT
/*
 * make_sql DIR - makes a trace that has what tests of SQL ask for: two CPUs with twenty packets
 * each of programs and of the kernel, losses, fields of all kinds, and names that clash.
 *
 * A round takes 10 us and has the same events each time; ROUNDS of them make a packet.
 *
 *	program, CPU 0	shop:order		tid 1000 + round % 4 (1000: process of all)
 *	program, CPU 1	other:order, app:thread
 *	kernel, CPU 0	sched:sched_switch, raw_syscalls:sys_enter, raw_syscalls:sys_exit
 *	kernel, CPU 1	sched:sched_waking, sched:sched_switch
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stream/synth.h"

#define PACKETS		20
#define ROUNDS		50
#define ROUND_NS	10000u
#define TICKS		UINT64_C(1000000000000)
#define REALTIME	UINT64_C(1795184000000000000)	/* 2026-11-20 14:13:20 UTC */

enum { ORDER = 1, OTHER = 2, THREAD = 3, SWITCH = 301, WAKING = 302, ENTER = 21, EXIT = 22 };

static const char order[] = SYNTH_COMMON
	"\tfield:int id;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] customer;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:double price;\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:int tags[3];\toffset:24;\tsize:12;\tsigned:1;\n"
	"\tfield:unsigned int state;\toffset:36;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned int mode;\toffset:40;\tsize:4;\tsigned:0;\n"
	"\tfield:int pid;\toffset:44;\tsize:4;\tsigned:1;\n"
	"\tfield:u64 big;\toffset:48;\tsize:8;\tsigned:0;\n"
	"\tfield:bool paid;\toffset:56;\tsize:1;\tsigned:0;\n\n"
	"print fmt: \"id=%d customer=%s state=%s mode=%s\", REC->id, __get_str(customer), "
	"__print_symbolic(REC->state, { 0, \"new\" }, { 1, \"paid\" }, { 2, \"sent\" }), "
	"__print_flags(REC->mode, \"|\", { 1, \"gift\" }, { 2, \"express\" })\n";
static const char other[] = SYNTH_COMMON
	"\tfield:int id;\toffset:8;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"id=%d\", REC->id\n";
static const char sched_switch[] = SYNTH_COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n"
	"\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"prev_comm=%s prev_pid=%d prev_state=%s ==> next_comm=%s next_pid=%d\", "
	"REC->prev_comm, REC->prev_pid, __print_symbolic(REC->prev_state, { 0, \"R\" }, "
	"{ 1, \"S\" }, { 2, \"D\" }), REC->next_comm, REC->next_pid\n";
static const char waking[] = SYNTH_COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, REC->prio, "
	"REC->target_cpu\n";
static const char sys_enter[] = SYNTH_COMMON
	"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:unsigned long args[6];\toffset:16;\tsize:48;\tsigned:0;\n\n"
	"print fmt: \"NR %ld\", REC->id\n";
static const char sys_exit[] = SYNTH_COMMON
	"\tfield:long id;\toffset:8;\tsize:8;\tsigned:1;\n"
	"\tfield:long ret;\toffset:16;\tsize:8;\tsigned:1;\n\n"
	"print fmt: \"NR %ld = %ld\", REC->id, REC->ret\n";

static const char tasks[] = "1000 1000 server\n1001 1000 worker\n1002 1000 worker\n"
			    "1003 1000 worker\n2000 2000 cron\n";
static const char symbols[] = "ffffffff81000000 T vfs_read\nffffffff81000100 T vfs_write\n";
static const char calls[] = "0 read\n1 write\n";

static void at(struct synth *s, uint64_t round, uint32_t ns)
{
	s->time = TICKS + round * ROUND_NS + ns;
}

static void put_order(struct synth *s, uint64_t i)
{
	unsigned char b[72] = { 0 };
	double price = 0.5 * (double)(i % 10);
	const char *customer = i % 2 ? "alice" : "bob";

	tacho_put_u32(b, (uint32_t)i);
	tacho_put_u32(b + 4, 64u | 6u << 16);
	memcpy(b + 8, &price, 8);
	for (uint32_t k = 0; k < 3; k++)
		tacho_put_u32(b + 16 + 4 * k, (uint32_t)i % 5 + k - 1);
	tacho_put_u32(b + 28, (uint32_t)i % 4);
	tacho_put_u32(b + 32, (uint32_t)i % 6);
	tacho_put_u32(b + 36, 77);
	tacho_put_u64(b + 40, UINT64_MAX - i);
	b[48] = i % 3 == 0;
	strcpy((char *)b + 56, customer);
	at(s, i, 0);
	synth_put(s, ORDER, 1000 + (int32_t)(i % 4), b, 56 + 6);
}

static void put_other(struct synth *s, uint64_t i)
{
	unsigned char b[8] = { 0 };

	tacho_put_u32(b, (uint32_t)i);
	at(s, i, 1000);
	synth_put(s, OTHER, 2000, b, 4);
	at(s, i, 1500);
	synth_put(s, THREAD, 2000, b, 4);
}

static void put_switch(struct synth *s, uint64_t i, uint32_t ns, bool begins)
{
	unsigned char b[56] = { 0 };

	memcpy(b, begins ? "swapper" : "server", 7);
	tacho_put_u32(b + 16, begins ? 0 : 1000);
	tacho_put_u64(b + 24, begins ? 0 : 1 + i % 2);
	memcpy(b + 32, begins ? "server" : "swapper", 7);
	tacho_put_u32(b + 48, begins ? 1000 : 0);
	at(s, i, ns);
	synth_put(s, SWITCH, begins ? 0 : 1000, b, 56);
}

static void put_call(struct synth *s, uint64_t i)
{
	unsigned char b[56] = { 0 };

	tacho_put_u64(b, i % 2);
	tacho_put_u64(b + 8, UINT64_C(0xffffffff81000010));
	at(s, i, 3000);
	synth_put(s, ENTER, 1000, b, 56);
	tacho_put_u64(b + 8, i % 7 ? i % 100 : UINT64_C(-11));
	at(s, i, 3500 + (uint32_t)(i % 1000));
	synth_put(s, EXIT, 1000, b, 16);
}

static void put_waking(struct synth *s, uint64_t i)
{
	unsigned char b[32] = { 0 };

	memcpy(b, "server", 6);
	tacho_put_u32(b + 16, 1000);
	tacho_put_u32(b + 20, 120);
	at(s, i, 1800);
	synth_put(s, WAKING, 2000, b, 28);
}

static void put_round(struct synth lane[4], uint64_t i)
{
	put_order(&lane[0], i);
	put_other(&lane[1], i);
	put_switch(&lane[2], i, 2000 + (uint32_t)(i % 500), true);
	put_call(&lane[2], i);
	put_switch(&lane[2], i, 5000, false);
	put_waking(&lane[3], i);
	put_switch(&lane[3], i, 7000, true);
}

#define TYPE(w, stream, id, system, name, text) \
	tacho_ctf_writer_type((w), (stream), (id), (system), (name), (text), strlen(text), d)

static int add_types(struct tacho_ctf_writer *w, struct tacho_diag *d)
{
	return TYPE(w, 0, ORDER, "shop", "order", order) ||
	       TYPE(w, 0, OTHER, "other", "order", other) ||
	       TYPE(w, 0, THREAD, "app", "thread", other) ||
	       TYPE(w, 1, SWITCH, "sched", "sched_switch", sched_switch) ||
	       TYPE(w, 1, WAKING, "sched", "sched_waking", waking) ||
	       TYPE(w, 1, ENTER, "raw_syscalls", "sys_enter", sys_enter) ||
	       TYPE(w, 1, EXIT, "raw_syscalls", "sys_exit", sys_exit);
}

static int add_packets(struct tacho_ctf_writer *w, struct tacho_diag *d)
{
	struct synth lane[4];
	int err = 0;

	for (uint32_t i = 0; i < 4; i++) {
		synth_init(&lane[i], i / 2, i % 2);
		lane[i].packet.timestamp_begin = TICKS;
	}
	for (uint64_t i = 0; i < PACKETS * ROUNDS && !err; i++) {
		put_round(lane, i);
		for (int k = 0; k < 4 && !err && i % ROUNDS == ROUNDS - 1; k++) {
			/* seven records of programs are lost in the fifth packet of CPU 1 */
			if (k == 1 && i / ROUNDS == 4)
				lane[k].packet.events_discarded = 7;
			err = synth_flush(&lane[k], w, d);
		}
	}
	for (int i = 0; i < 4; i++)
		tacho_buf_release(&lane[i].records);
	return err;
}

int main(int argc, char **argv)
{
	struct tacho_ctf_info info = {
		.uuid = { 0x71, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13, 14, 15 },
		.clock = "mono", .clock_freq = 1000000000, .ticks = TICKS,
		.realtime = REALTIME,
	};
	const char *dir = argc > 1 ? argv[1] : "sql-trace";
	struct tacho_ctf_writer *w = NULL;
	struct tacho_diag diag = { 0 }, *d = &diag;
	int err = tacho_ctf_writer_new(&w, dir, &info, d);

	if (!err)
		err = tacho_ctf_writer_env(w, "hostname", "box", d) || add_types(w, d) ||
		      add_packets(w, d) ||
		      tacho_ctf_writer_text(w, "cmdlines", tasks, strlen(tasks), d) ||
		      tacho_ctf_writer_text(w, "syscalls", calls, strlen(calls), d) ||
		      tacho_ctf_writer_text(w, "kallsyms", symbols, strlen(symbols), d);
	if (w && tacho_ctf_writer_close(w, d))
		err = 1;
	if (err)
		fprintf(stderr, "make_sql: %s\n", diag.text);
	return !!err;
}
