// SPDX-License-Identifier: MIT
/*
 * face_output_bench [RECORDS] - what a line of `trace` costs, in ns: one type with
 * four fields, many threads.
 */
#include <time.h>

#include "compat/ftrace/output.h"
#include "tacho/abi/record.h"
#include "unit/test.h"

static const char format[] =
	"name: sched_wakeup\nID: 5\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:int prio;\toffset:28;\tsize:4;\tsigned:1;\n"
	"\tfield:int target_cpu;\toffset:32;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"comm=%s pid=%d prio=%d target_cpu=%03d\", REC->comm, REC->pid, "
	"REC->prio, REC->target_cpu\n";

static const char *comm(void *arg, int32_t pid)
{
	(void)arg;
	return pid & 1 ? "worker" : "bash";
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
	uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	struct tacho_output_config config = {
		.options = TACHO_OUTPUT_DEFAULTS, .names = { .comm = comm },
		.in_ns = true,
	};
	struct { struct tacho_common common; char comm[16]; int32_t v[3]; } raw = {
		.comm = "kworker/0:1", .v = { 1234, 120, 1 },
	};
	struct tacho_output *o = tacho_output_new(&config);
	struct tacho_arena arena;
	struct tacho_record r = { .raw = &raw, .len = sizeof(raw) };
	struct tacho_diag d;
	struct tacho_buf out;
	uint64_t bytes = 0;
	double from;

	tacho_arena_init(&arena, (size_t)1 << 24);
	tacho_buf_init(&out, (size_t)1 << 24);
	r.type = tacho_type_parse(&arena, "sched", NULL, 0, format,
				  sizeof(format) - 1, &d);
	if (!o || !r.type)
		return 1;
	from = now();
	for (uint64_t i = 0; i < records; i++) {
		r.pid = 1000 + (int32_t)(i & 63);
		r.cpu = i & 1;
		r.ticks += 1234;
		tacho_output_put(o, &r, r.ticks, &out);
		if (out.len > 1 << 16) {
			bytes += out.len;
			tacho_buf_reset(&out);
		}
	}
	printf("%.1f ns a line, %.1f bytes\n", (now() - from) / (double)records,
	       (double)(bytes + out.len) / (double)records);
	tacho_output_free(o);
	tacho_buf_release(&out);
	tacho_arena_release(&arena);
	return 0;
}
