/* SPDX-License-Identifier: MIT */
/*
 * synth.h - records made up for tests: a packet is filled record by record in a
 * buffer and handed to the writer.
 */
#ifndef TACHO_TESTS_STREAM_SYNTH_H
#define TACHO_TESTS_STREAM_SYNTH_H

#include "base/buf.h"
#include "base/bytes.h"
#include "fmt/ctf/write.h"
#include "tacho/abi/record.h"

#define SYNTH_FREQ	UINT64_C(2294612000)
#define SYNTH_TICKS	UINT64_C(81237461239874)	/* ten hours up */
#define SYNTH_REALTIME	UINT64_C(1795184000123456789)

#define SYNTH_COMMON \
	"format:\n" \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n" \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n" \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

struct synth {
	struct tacho_buf records;
	struct tacho_packet packet;
	uint64_t time;
};

static inline struct tacho_ctf_info synth_info(void)
{
	return (struct tacho_ctf_info){
		.uuid = { 0x70, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13, 14, 15 },
		.clock = "x86-tsc", .clock_freq = SYNTH_FREQ,
		.ticks = SYNTH_TICKS, .realtime = SYNTH_REALTIME,
	};
}

static inline void synth_init(struct synth *s, uint32_t stream_id, uint32_t lane)
{
	*s = (struct synth){ .time = SYNTH_TICKS };
	tacho_buf_init(&s->records, (size_t)64 << 20);
	s->packet.stream_id = stream_id;
	s->packet.stream_instance_id = lane;
	s->packet.cpu_id = lane;
	s->packet.timestamp_begin = SYNTH_TICKS;
}

/* One record at s->time: payload is everything behind the common fields. */
static inline void synth_put(struct synth *s, uint32_t id, int32_t pid,
			     const void *payload, size_t len)
{
	struct tacho_common common = { .type = (uint16_t)id, .flags = 1,
				       .preempt_count = 2, .pid = pid };
	size_t size = (TACHO_RECORD_HEAD + len + 7) & ~(size_t)7;
	uint64_t word = tacho_record_word(s->time, size);
	char *to = tacho_buf_reserve(&s->records, size);

	if (!to)
		return;
	/* what lies between a record's end and its size has no meaning */
	memset(to, 0xa5, size);
	memcpy(to, &word, 8);
	memcpy(to + 8, &common, 8);
	if (len)
		memcpy(to + 16, payload, len);
	tacho_buf_commit(&s->records, size);
}

/* Hands the records over as one packet and begins the next. */
static inline int synth_flush(struct synth *s, struct tacho_ctf_writer *w,
			      struct tacho_diag *d)
{
	int err;

	s->packet.timestamp_end = s->time;
	err = tacho_ctf_writer_packet(w, &s->packet, s->records.data,
				      s->records.len, d);
	tacho_buf_reset(&s->records);
	s->packet.packet_seq_num++;
	s->packet.timestamp_begin = s->time;
	return err;
}

#endif
