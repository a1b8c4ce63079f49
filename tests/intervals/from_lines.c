// SPDX-License-Identifier: MIT
/*
 * from_lines DIR - a trace of the lines on standard input, in order of time.
 *
 *	TIME CPU THREAD take ID		shop:take, a program's
 *	TIME CPU THREAD done ID		shop:done
 *	TIME CPU THREAD other ID	shop:other
 *	TIME CPU THREAD stack ADDRESS	tacho:user_stack with one address
 *	TIME CPU THREAD switch OUT STATE IN	sched:sched_switch, the kernel's
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tacho/sink.h>

struct id {
	uint64_t id;
};

struct change {
	int32_t prev_pid;
	int32_t next_pid;
	int64_t prev_state;
	char prev_comm[16];
	char next_comm[16];
};

static const struct tacho_member id_members[] = {
	TACHO_MEMBER(struct id, id, "u64 id", 0),
};

static const struct tacho_member stack_members[] = {
	TACHO_MEMBER(struct id, id, "u64 caller[1]", 0),
};

static const struct tacho_member change_members[] = {
	TACHO_MEMBER(struct change, prev_pid, "pid_t prev_pid", 1),
	TACHO_MEMBER(struct change, next_pid, "pid_t next_pid", 1),
	TACHO_MEMBER(struct change, prev_state, "long prev_state", 1),
	TACHO_MEMBER(struct change, prev_comm, "char prev_comm[16]", 0),
	TACHO_MEMBER(struct change, next_comm, "char next_comm[16]", 0),
};

enum { TAKE, DONE, OTHER, STACK, SWITCH, NR };

static const struct {
	const char *word, *name;
	uint32_t source;
	const struct tacho_member *member;
	size_t nr;
} events[NR] = {
	{ "take", "shop:take", TACHO_STREAM_PROGRAM, id_members, 1 },
	{ "done", "shop:done", TACHO_STREAM_PROGRAM, id_members, 1 },
	{ "other", "shop:other", TACHO_STREAM_PROGRAM, id_members, 1 },
	{ "stack", "tacho:user_stack", TACHO_STREAM_PROGRAM, stack_members, 1 },
	{ "switch", "sched:sched_switch", TACHO_STREAM_KERNEL, change_members, 5 },
};

static struct tacho_error error;

static void check(int err)
{
	if (!err)
		return;
	fprintf(stderr, "from_lines: %d %s\n", err, error.text);
	exit(1);
}

/* Threads are named by their numbers: "t1000". */
static void name_thread(char name[16], int32_t thread)
{
	(void)snprintf(name, 16, thread ? "t%d" : "swapper", thread);
}

static int put(struct tacho_sink *sink, const struct tacho_type *const type[NR], const char *line)
{
	unsigned long long time, id;
	struct change c = { 0 };
	struct id value;
	long long state;
	unsigned int cpu;
	int thread, at;
	char word[16];

	if (sscanf(line, "%llu %u %d %15s %n", &time, &cpu, &thread, word, &at) != 4)
		return -1;
	if (!strcmp(word, "switch")) {
		if (sscanf(line + at, "%d %lld %d", &c.prev_pid, &state, &c.next_pid) != 3)
			return -1;
		c.prev_state = state;
		name_thread(c.prev_comm, c.prev_pid);
		name_thread(c.next_comm, c.next_pid);
		return tacho_sink_put_event(sink, type[SWITCH], time, cpu, thread, &c, sizeof(c));
	}
	for (int i = 0; i < SWITCH; i++) {
		if (strcmp(word, events[i].word))
			continue;
		if (sscanf(line + at, "%llu", &id) != 1)
			return -1;
		value.id = id;
		return tacho_sink_put_event(sink, type[i], time, cpu, thread, &value,
					    sizeof(value));
	}
	return -1;
}

int main(int argc, char **argv)
{
	const struct tacho_type *type[NR];
	struct tacho_stream *stream;
	struct tacho_sink *sink;
	char line[256];

	if (argc != 2)
		return 2;
	check(tacho_stream_define(&stream, &error));
	for (int i = 0; i < NR; i++)
		check(tacho_stream_define_struct(stream, events[i].source, events[i].name,
						 events[i].member, events[i].nr, &type[i], &error));
	check(tacho_sink_open(&sink, stream, argv[1], NULL, &error));
	while (fgets(line, sizeof(line), stdin)) {
		int err = put(sink, type, line);

		if (err) {
			fprintf(stderr, "from_lines: %d at %s", err, line);
			return 1;
		}
	}
	check(tacho_sink_finish(sink, NULL, &error));
	tacho_stream_close(stream);
	return 0;
}
