// SPDX-License-Identifier: MIT
/*
 * damage_test - traces that were cut, flipped or made to harm, and disks that are full.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/test.h"
#include "fmt/ctf/read.h"
#include "fmt/ctf/repair.h"
#include "stream/stream.h"
#include "synth.h"
#include "tmpdir.h"

#define PACKETS		3u
#define PER_PACKET	5u

static const char seq_format[] = SYNTH_COMMON
	"\tfield:u64 seq;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] s;\toffset:16;\tsize:4;\tsigned:0;\n\n"
	"print fmt: \"%llu\", REC->seq\n";

static void put_seq(struct synth *s, uint64_t seq)
{
	unsigned char b[12 + 8] = { 0 };

	tacho_put_u64(b, seq);
	tacho_put_u32(b + 8, 20 | (uint32_t)(seq % 8) << 16);
	memset(b + 12, 'x', seq % 8);
	s->time += 100;
	synth_put(s, 5, 77, b, 12 + seq % 8);
}

static struct tacho_ctf_writer *seq_writer(const char *dir)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_ctf_writer *w = NULL;
	struct tacho_diag d = { 0 };

	if (!CHECK_EQ(tacho_ctf_writer_new(&w, dir, &info, &d), 0) ||
	    !CHECK_EQ(tacho_ctf_writer_type(w, 0, 5, "t", "seq", seq_format,
					    sizeof(seq_format) - 1, &d), 0)) {
		printf("# %s\n", d.text);
		exit(test_done());
	}
	return w;
}

/* A small trace; its stream file's bytes in *file. */
static void small_trace(const char *dir, struct tacho_buf *file)
{
	struct tacho_ctf_writer *w = seq_writer(dir);
	struct synth s;
	char path[500];

	synth_init(&s, TACHO_STREAM_PROGRAM, 0);
	for (uint32_t i = 0; i < PACKETS; i++) {
		for (uint32_t j = 0; j < PER_PACKET; j++)
			put_seq(&s, i * PER_PACKET + j);
		CHECK_EQ(synth_flush(&s, w, NULL), 0);
	}
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);
	tacho_buf_release(&s.records);
	tacho_buf_init(file, 1 << 20);
	(void)snprintf(path, sizeof(path), "%s/program_0", dir);
	CHECK_EQ(tacho_buf_read_file(file, path), 0);
}

struct result {
	uint32_t records;
	uint64_t seqs;		/* bit n: record n was seen */
	uint64_t damaged;
	bool wrong;		/* order or value that cannot be */
};

/* Reads bytes as a stream file, with the types of the trace in dir. */
static struct result read_bytes(const char *dir, const void *p, size_t len)
{
	struct tacho_ctf_info info = synth_info();
	struct tacho_stream *s = tacho_stream_new(0);
	struct tacho_source *source;
	struct tacho_record r;
	struct result res = { 0 };
	char path[500];
	uint64_t seq;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/tacho/types.program", dir);
	fd = open(path, O_RDONLY);
	if (!CHECK_EQ(tacho_ctf_open_memory(&source, p, len, info.uuid, fd, 0), 0))
		exit(test_done());
	CHECK_EQ(tacho_stream_add_take(s, source), 0);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		const struct tacho_field *f = tacho_type_find(r.type, "seq");

		res.records++;
		if (!tacho_record_int(&r, f, &seq) || seq >= 64)
			res.wrong = true;
		else
			res.seqs |= UINT64_C(1) << seq;
		if (res.records > 1000)
			break;
	}
	res.damaged = source->damaged;
	tacho_stream_close(s);
	close(fd);
	return res;
}

/* Ends of whole packets and records, from the bytes of the good file. */
static uint32_t whole_records(const struct tacho_buf *file, size_t len)
{
	uint32_t n = 0;
	size_t at = 0;

	while (at < file->len) {
		size_t end = at + tacho_load_u64(file->data + at +
			offsetof(struct tacho_packet, packet_size)) / 8;
		size_t rec = at + sizeof(struct tacho_packet);

		while (rec < end) {
			rec += tacho_record_size(tacho_load_u64(file->data + rec));
			if (rec <= len)
				n++;
		}
		at = end;
	}
	return n;
}

static void test_truncation(const char *dir, const struct tacho_buf *file)
{
	for (size_t len = 0; len <= file->len; len++) {
		/* a copy of exactly that size, so that reading beyond shows */
		char *copy = malloc(len ? len : 1);
		uint32_t want = whole_records(file, len);
		struct result r;
		bool clean = false;

		memcpy(copy, file->data, len);
		r = read_bytes(dir, copy, len);
		free(copy);
		for (size_t at = 0; at <= len; ) {
			clean = at == len;
			if (at == file->len)
				break;
			at += tacho_load_u64(file->data + at +
				offsetof(struct tacho_packet, packet_size)) / 8;
		}
		if (!CHECK_EQ(r.records, want) || !CHECK(!r.wrong) ||
		    !CHECK_EQ(r.damaged, !clean)) {
			printf("# at length %zu\n", len);
			break;
		}
	}
}

/* One flipped bit: nothing crashes, and the other packets are all there. */
static void test_flips(const char *dir, const struct tacho_buf *file)
{
	uint64_t third = tacho_load_u64(file->data +
			offsetof(struct tacho_packet, packet_size)) / 8;

	third += tacho_load_u64(file->data + third +
			offsetof(struct tacho_packet, packet_size)) / 8;
	for (size_t bit = 0; bit < third * 8; bit++) {
		char *copy = malloc(file->len);
		struct result r;

		memcpy(copy, file->data, file->len);
		copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		r = read_bytes(dir, copy, file->len);
		free(copy);
		/* the third packet is untouched */
		if (!CHECK((r.seqs >> 2 * PER_PACKET & 31) == 31)) {
			printf("# bit %zu of byte %zu: %llx\n", bit % 8, bit / 8,
			       (unsigned long long)r.seqs);
			break;
		}
	}
}

static void test_many_flips(const char *dir, const struct tacho_buf *file)
{
	uint64_t seed = 7;

	for (int i = 0; i < 3000; i++) {
		char *copy = malloc(file->len);
		struct result r;

		memcpy(copy, file->data, file->len);
		for (int n = (int)(test_random(&seed) % 20); n >= 0; n--) {
			uint64_t bit = test_random(&seed) % (file->len * 8);

			copy[bit / 8] = (char)(copy[bit / 8] ^ 1 << bit % 8);
		}
		r = read_bytes(dir, copy, file->len);
		free(copy);
		if (!CHECK(r.records <= 1000))
			break;
	}
}

static void test_hostile_headers(const char *dir, const struct tacho_buf *file)
{
	static const struct {
		size_t at;
		const char *what;
	} words[] = {
		{ offsetof(struct tacho_packet, content_size), "content" },
		{ offsetof(struct tacho_packet, packet_size), "packet" },
		{ offsetof(struct tacho_packet, timestamp_begin), "begin" },
		{ offsetof(struct tacho_packet, timestamp_end), "end" },
		{ offsetof(struct tacho_packet, cpu_id), "cpu, events" },
	};
	static const uint64_t values[] = {
		0, 1, 7, 8, 63, 64, 95 * 8, 96 * 8, 97 * 8, 104 * 8, 1 << 20,
		UINT32_MAX, (uint64_t)UINT32_MAX << 32, INT64_MAX,
		UINT64_MAX - 63, UINT64_MAX - 7, UINT64_MAX,
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(words); i++)
		for (size_t v = 0; v < TACHO_ARRAY_SIZE(values); v++) {
			char *copy = malloc(file->len);
			struct result r;

			memcpy(copy, file->data, file->len);
			tacho_put_u64(copy + words[i].at, values[v]);
			r = read_bytes(dir, copy, file->len);
			free(copy);
			/* the last packet is found again whatever the first says */
			if (!CHECK((r.seqs >> 2 * PER_PACKET & 31) == 31))
				printf("# %s = %llx\n", words[i].what,
				       (unsigned long long)values[v]);
		}
}

/* A writer that is given rubbish writes what is good and counts the rest. */
static void test_hostile_records(void)
{
	const char *dir = tmpdir_path("hostile");
	struct tacho_ctf_writer *w = seq_writer(dir);
	struct tacho_stream *stream;
	struct tacho_stream_info info;
	struct tacho_record r;
	struct tacho_diag d = { 0 };
	struct synth s;
	uint32_t n = 0;

	synth_init(&s, TACHO_STREAM_PROGRAM, 0);
	put_seq(&s, 1);
	s.time += 10;
	synth_put(&s, 999, 1, "12345678", 8);	/* no such type */
	put_seq(&s, 2);
	/* a length that points beyond the record */
	put_seq(&s, 3);
	tacho_put_u32(s.records.data + s.records.len - 8, 20 | 60000u << 16);
	put_seq(&s, 4);
	s.time += 10;
	synth_put(&s, 5, 1, "short", 4);	/* shorter than its fixed part */
	put_seq(&s, 5);
	tacho_put_u64(s.records.data + s.records.len - 32, 0);	/* no size */
	CHECK_EQ(synth_flush(&s, w, &d), 0);
	put_seq(&s, 6);
	CHECK_EQ(synth_flush(&s, w, &d), 0);
	CHECK_EQ(tacho_ctf_writer_lost(w), 2);
	CHECK_EQ(tacho_ctf_writer_close(w, &d), 0);
	tacho_buf_release(&s.records);

	CHECK_EQ(tacho_stream_open(&stream, dir, TACHO_STREAM_STRICT, NULL), 0);
	while (tacho_stream_next(stream, &r) == TACHO_STREAM_RECORD)
		n++;
	CHECK_EQ(n, 6);
	CHECK_EQ(tacho_stream_error(stream)->err, 0);
	CHECK_EQ(tacho_stream_get_info(stream, &info), 0);
	CHECK_EQ(info.discarded, 2);
	tacho_stream_close(stream);
	if (!system("babeltrace2 --version >/dev/null 2>&1")) {
		char cmd[700];

		(void)snprintf(cmd, sizeof(cmd),
			       "test `babeltrace2 %s 2>/dev/null | wc -l` = 6",
			       dir);
		CHECK_EQ(system(cmd), 0);
	}
}

static void test_full_disk(void)
{
	char dir[450], cmd[700];
	const char *mnt = tmpdir_path("full");
	struct tacho_ctf_writer *w;
	struct tacho_stream *stream;
	struct tacho_stream_info info;
	struct tacho_record r;
	struct tacho_diag d = { 0 };
	struct synth s;
	uint64_t seq = 0, written = 0, lost_at_first, n = 0, lost = 0;

	if (mkdir(mnt, 0700) || mount("tacho", mnt, "tmpfs", 0, "size=160k")) {
		printf("# no right to mount a tmpfs: a full disk is not tried\n");
		return;
	}
	(void)snprintf(dir, sizeof(dir), "%s/trace", mnt);
	w = seq_writer(dir);
	synth_init(&s, TACHO_STREAM_PROGRAM, 0);
	for (;;) {
		while (s.records.len < 10000)
			put_seq(&s, seq++);
		if (synth_flush(&s, w, &d))
			break;
		written = seq;
	}
	CHECK_EQ(d.err, -ENOSPC);
	lost_at_first = seq - written;
	(void)snprintf(cmd, sizeof(cmd),
		"cannot write '%s/program_0': No space left on device; %llu events are not in the trace",
		dir, (unsigned long long)lost_at_first);
	CHECK_STR(d.text, cmd);
	CHECK_EQ(tacho_ctf_writer_lost(w), lost_at_first);
	/* room again: the next packet says what is missing before it */
	CHECK_EQ(mount("tacho", mnt, "tmpfs", MS_REMOUNT, "size=400k"), 0);
	put_seq(&s, seq);
	CHECK_EQ(synth_flush(&s, w, NULL), 0);
	CHECK_EQ(tacho_ctf_writer_close(w, NULL), 0);
	tacho_buf_release(&s.records);

	CHECK_EQ(tacho_stream_open(&stream, dir, TACHO_STREAM_STRICT, NULL), 0);
	while (tacho_stream_next(stream, &r) == TACHO_STREAM_RECORD) {
		n++;
		lost += r.lost;
		if (r.lost)
			CHECK_EQ(n, written + 1);
	}
	CHECK_EQ(n, written + 1);
	CHECK_EQ(lost, lost_at_first);
	CHECK_EQ(tacho_stream_get_info(stream, &info), 0);
	CHECK_EQ(info.discarded, lost_at_first);
	CHECK_EQ(info.damaged, 0);
	tacho_stream_close(stream);
	if (!system("babeltrace2 --version >/dev/null 2>&1")) {
		(void)snprintf(cmd, sizeof(cmd),
			"babeltrace2 %s 2>&1 >/dev/null | grep -q 'discarded %llu events'",
			dir, (unsigned long long)lost_at_first);
		CHECK_EQ(system(cmd), 0);
	}
	CHECK_EQ(umount(mnt), 0);
}

/* Writes until it is killed: packets, and a new type with every tenth. */
static void write_for_ever(const char *dir)
{
	struct tacho_ctf_writer *w = seq_writer(dir);
	struct synth s;
	char name[16];

	synth_init(&s, TACHO_STREAM_PROGRAM, 0);
	for (uint64_t seq = 0, packets = 0;; packets++) {
		if (packets % 10 == 0) {
			(void)snprintf(name, sizeof(name), "more%u",
				       (unsigned int)packets / 10);
			(void)tacho_ctf_writer_type(w, 0, 10 + (uint32_t)packets / 10,
				"t", name, seq_format, sizeof(seq_format) - 1, NULL);
		}
		while (s.records.len < 30000)
			put_seq(&s, seq++);
		if (synth_flush(&s, w, NULL))
			_exit(1);
	}
}

static uint64_t babeltrace_lines(const char *dir)
{
	char cmd[700];
	uint64_t n = 0;
	FILE *f;
	int c;

	(void)snprintf(cmd, sizeof(cmd), "babeltrace2 %s 2>/dev/null", dir);
	f = popen(cmd, "r");
	while (f && (c = fgetc(f)) != EOF)
		n += c == '\n';
	if (f)
		pclose(f);
	return n;
}

/* Whenever the writer is killed: a readable trace, at most one packet torn. */
static void test_killed_writer(void)
{
	bool babeltrace = !system("babeltrace2 --version >/dev/null 2>&1");
	uint64_t seed = 11;
	uint32_t torn = 0;

	for (int round = 0; round < 40; round++) {
		const char *dir = tmpdir_path("killed");
		struct tacho_stream *s;
		struct tacho_stream_info info;
		struct tacho_record r;
		uint64_t n = 0, seq;
		uint32_t repaired;
		pid_t pid = fork();

		if (!pid)
			write_for_ever(dir);
		usleep((useconds_t)(3000 + test_random(&seed) % 12000));
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		/* killed before there was a trace at all */
		if (tacho_stream_open(&s, dir, 0, NULL)) {
			char path[500];

			(void)snprintf(path, sizeof(path), "%s/program_0", dir);
			CHECK(access(path, F_OK));
			tmpdir_remove(dir);
			continue;
		}
		while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
			if (!tacho_record_int(&r, tacho_type_find(r.type, "seq"), &seq) ||
			    seq != n)
				break;
			n++;
		}
		CHECK_EQ(tacho_stream_next(s, &r), TACHO_STREAM_END);
		CHECK_EQ(tacho_stream_get_info(s, &info), 0);
		CHECK(info.damaged <= 1);
		tacho_stream_close(s);
		/* repaired, the same records are there for everybody */
		CHECK_EQ(tacho_ctf_repair(dir, &repaired, NULL), 0);
		CHECK_EQ(repaired, info.damaged);
		torn += repaired;
		CHECK_EQ(tacho_stream_open(&s, dir, TACHO_STREAM_STRICT, NULL), 0);
		for (seq = 0; tacho_stream_next(s, &r) == TACHO_STREAM_RECORD; seq++)
			;
		CHECK_EQ(seq, n);
		CHECK_EQ(tacho_stream_error(s)->err, 0);
		tacho_stream_close(s);
		if (babeltrace && (repaired || round % 10 == 0))
			CHECK_EQ(babeltrace_lines(dir), n);
		tmpdir_remove(dir);
	}
	printf("# %u of 40 killed while they wrote a packet\n", torn);
}

/* A file cut at any byte is whole again after repair, and loses nothing. */
static void test_repair(void)
{
	const char *dir = tmpdir_path("repair");
	struct tacho_buf file;
	char path[500];

	small_trace(dir, &file);
	(void)snprintf(path, sizeof(path), "%s/program_0", dir);
	for (size_t len = 0; len <= file.len; len++) {
		struct tacho_stream *s;
		struct tacho_record r;
		uint32_t repaired, n = 0;
		int fd = open(path, O_WRONLY | O_TRUNC);

		CHECK_EQ(write(fd, file.data, len), len);
		close(fd);
		CHECK_EQ(tacho_ctf_repair(dir, &repaired, NULL), 0);
		CHECK_EQ(tacho_stream_open(&s, dir, TACHO_STREAM_STRICT, NULL), 0);
		while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
			n++;
		CHECK_EQ(tacho_stream_error(s)->err, 0);
		CHECK_EQ(n, whole_records(&file, len));
		tacho_stream_close(s);
		if (len % 97 == 0 && n &&
		    !system("babeltrace2 --version >/dev/null 2>&1"))
			CHECK_EQ(babeltrace_lines(dir), n);
	}
	tacho_buf_release(&file);
}

int main(int argc, char **argv)
{
	struct tacho_buf file;
	const char *dir;

	test_args(argc, argv);
	tmpdir_make();
	dir = tmpdir_path("small");
	small_trace(dir, &file);
	CHECK_EQ(read_bytes(dir, file.data, file.len).records,
		 PACKETS * PER_PACKET);
	TEST(test_truncation(dir, &file));
	TEST(test_flips(dir, &file));
	TEST(test_many_flips(dir, &file));
	TEST(test_hostile_headers(dir, &file));
	tacho_buf_release(&file);
	TEST(test_hostile_records());
	TEST(test_full_disk());
	TEST(test_killed_writer());
	TEST(test_repair());
	return test_done();
}
