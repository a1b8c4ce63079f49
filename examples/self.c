/* SPDX-License-Identifier: MIT */
/*
 * self.c - a program that records itself and, at the same time, the kernel.
 *
 *	cc -I. self.c -o self $(pkg-config --cflags --libs tacho tacho-session tacho-stream)
 *	./self TRACE [KERNEL-EVENT]		./self /tmp/self-trace sched:sched_switch
 *
 * It creates a session for its own events, works, writes a snapshot to the directory TRACE
 * (which must be empty or not exist) and prints the records of that.  If it may not use the
 * kernel's tracing, it says why and goes on without.
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include <tacho/session.h>
#include <tacho/stream.h>

#define CREATE_TRACE_POINTS
#include "hello_trace.h"

static int failed(const char *what, const struct tacho_error *error)
{
	fprintf(stderr, "self: cannot %s: %s\n", what, error->text);
	return 1;
}

static void work(void)
{
	for (int round = 0; round < 5; round++) {
		trace_greet(round, "myself");
		usleep(1000);
	}
}

/* Events of this process only; those of the kernel are a bonus. */
static int choose(struct tacho_ctl *ctl, const char *kernel_event)
{
	const int32_t self = getpid();

	if (tacho_ctl_enable(ctl, TACHO_CTL_PROGRAMS, "hello:*", NULL) < 0 ||
	    tacho_ctl_filter(ctl, TACHO_CTL_PROGRAMS, "hello:greet", "round != 2", NULL) < 0)
		return -1;
	if (kernel_event &&
	    tacho_ctl_enable(ctl, TACHO_CTL_KERNEL, kernel_event, NULL) < 0)
		fprintf(stderr, "self: without the kernel: %s\n", tacho_ctl_error(ctl)->text);
	return tacho_ctl_set_pids(ctl, &self, 1, false);
}

static int record(struct tacho_ctl *ctl, const char *trace, const char *kernel_event)
{
	struct tacho_ctl_status status;

	if (choose(ctl, kernel_event) < 0 || tacho_ctl_start(ctl) < 0)
		return -1;
	work();
	if (tacho_ctl_stop(ctl) < 0 || tacho_ctl_get_status(ctl, &status) < 0)
		return -1;
	printf("attempted %" PRIu64 ", written %" PRIu64 ", discarded %" PRIu64 "\n",
	       status.programs.attempted, status.programs.written, status.programs.discarded);
	return tacho_ctl_snapshot(ctl, trace, NULL);
}

static int show(const char *trace)
{
	struct tacho_error error;
	struct tacho_stream *s;
	struct tacho_record r;
	int status;

	if (tacho_stream_open(&s, trace, 0, &error) < 0)
		return failed("read the trace", &error);
	while ((status = tacho_stream_next(s, &r)) == TACHO_STREAM_RECORD) {
		char text[256];

		tacho_record_text(s, &r, text, sizeof(text));
		printf("%s:%s: %s\n", tacho_type_system(r.type), tacho_type_name(r.type), text);
	}
	if (status == TACHO_STREAM_ERROR)
		failed("read the trace", tacho_stream_error(s));
	tacho_stream_close(s);
	return status == TACHO_STREAM_ERROR;
}

int main(int argc, char **argv)
{
	struct tacho_ctl_config config;
	struct tacho_error error;
	struct tacho_ctl *ctl;
	char name[32];
	int err;

	if (argc < 2) {
		fprintf(stderr, "usage: self TRACE [KERNEL-EVENT]\n");
		return 2;
	}
	snprintf(name, sizeof(name), "self-%d", (int)getpid());
	tacho_ctl_config_init(&config);
	config.name = name;
	config.flags = TACHO_CTL_STOPPED;
	config.buffer_size = 1 << 20;
	if (tacho_ctl_create(&ctl, &config, &error) < 0)
		return failed("create a session", &error);
	err = record(ctl, argv[1], argc > 2 ? argv[2] : NULL);
	if (err < 0)
		failed("record", tacho_ctl_error(ctl));
	if (tacho_ctl_destroy(ctl, &error) < 0)
		failed("destroy the session", &error);
	return err < 0 ? 1 : show(argv[1]);
}
