// SPDX-License-Identifier: MIT
/*
 * gen_trace [events] [dir] [KiB] - makes a trace for benchmarks: two lanes, seven
 * events of 16 bytes payload for one with a string, packets of 256 KiB, or of so many.
 */
#include <stdio.h>
#include <stdlib.h>

#include "synth.h"

#define SUB_KIB	256

static const char thin[] = SYNTH_COMMON
	"\tfield:int fd;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned int count;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 bytes;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"fd=%d count=%u bytes=%llu\", REC->fd, REC->count, REC->bytes\n";
static const char named[] = SYNTH_COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:0;\n"
	"\tfield:int prio;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:__data_loc char[] name;\toffset:28;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"comm=%s prio=%d name=%s\", REC->comm, REC->prio, __get_str(name)\n";

static void put(struct synth *s, uint64_t i)
{
	unsigned char b[64] = { 0 };

	s->time = SYNTH_TICKS + i * 230;
	if (i % 8 != 7) {
		tacho_put_u32(b, (uint32_t)(i % 64) - 4);
		tacho_put_u32(b + 4, (uint32_t)i);
		tacho_put_u64(b + 8, i * 4096);
		synth_put(s, 1, 1000 + (int32_t)(i % 7), b, 16);
	} else {
		memcpy(b, "worker/3", 9);
		tacho_put_u32(b + 16, 120);
		tacho_put_u32(b + 20, 32 | 14 << 16);
		memcpy(b + 24, "request-queue", 14);
		synth_put(s, 2, 1000 + (int32_t)(i % 7), b, 24 + 14);
	}
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	const char *dir = argc > 2 ? argv[2] : "gen-trace";
	size_t sub = (argc > 3 ? strtoull(argv[3], NULL, 10) : SUB_KIB) << 10;
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w;
	struct tacho_diag d = { 0 };
	struct synth lane[2];
	int err;

	err = tacho_ctf_writer_new(&w, dir, &info, &d);
	if (!err)
		err = tacho_ctf_writer_type(w, 0, 1, "bench", "thin", thin,
					    sizeof(thin) - 1, &d);
	if (!err)
		err = tacho_ctf_writer_type(w, 0, 2, "bench", "named", named,
					    sizeof(named) - 1, &d);
	synth_init(&lane[0], TACHO_STREAM_PROGRAM, 0);
	synth_init(&lane[1], TACHO_STREAM_PROGRAM, 1);
	for (uint64_t i = 0; i < events && !err; i++) {
		/* bursts of five on each lane, so that merging is real work */
		struct synth *s = &lane[i / 5 % 2];

		put(s, i);
		if (s->records.len > sub - 256)
			err = synth_flush(s, w, &d);
	}
	for (int i = 0; i < 2 && !err; i++)
		err = synth_flush(&lane[i], w, &d);
	for (int i = 0; i < 2; i++)
		tacho_buf_release(&lane[i].records);
	if (!err)
		err = tacho_ctf_writer_close(w, &d);
	if (err)
		fprintf(stderr, "gen_trace: %s\n", d.text);
	return !!err;
}
