/* SPDX-License-Identifier: MIT */
/*
 * keep.c - a program that records itself to disk all the time, and counts while it does.
 *
 *	cc -I. keep.c -o keep $(pkg-config --cflags --libs tacho tacho-session) -lpthread
 *	./keep TRACES
 *
 * One thread writes the records to the directory TRACES, which must be empty or not exist; a
 * new trace is begun there half way.  The programs of the session, here only this one, count
 * their events in a histogram, which is printed in the end.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>

#include <tacho/session.h>

#define CREATE_TRACE_POINTS
#include "hello_trace.h"

static int failed(const char *what, const struct tacho_error *error)
{
	fprintf(stderr, "keep: cannot %s: %s\n", what, error->text);
	return 1;
}

static void note(void *arg, const char *text)
{
	(void)arg;
	fprintf(stderr, "keep: %s\n", text);
}

/* The thread that writes.  It ends at tacho_ctl_recording_stop(), or when it cannot write. */
static void *write_records(void *arg)
{
	struct tacho_ctl_recording *rec = arg;

	if (tacho_ctl_recording_run(rec) < 0)
		failed("record", tacho_ctl_recording_error(rec));
	return NULL;
}

static void work(struct tacho_ctl_recording *rec)
{
	for (int round = 0; round < 100; round++) {
		trace_greet(round, round % 3 ? "world" : "kernel");
		if (round == 50)
			tacho_ctl_recording_rotate(rec);
	}
}

/* Prints a histogram, a line for each row. */
static int print_hist(struct tacho_ctl_hist *hist, void *arg)
{
	struct tacho_ctl_hist_column column;
	struct tacho_ctl_hist_info info;
	struct tacho_ctl_hist_cell cell;

	(void)arg;
	tacho_ctl_hist_get_info(hist, &info);
	printf("%s: %" PRIu64 " events\n", tacho_ctl_hist_event(hist), info.hits);
	for (uint32_t row = 0; row < info.nr_rows; row++)
		for (uint32_t i = 0; i < info.nr_columns; i++) {
			if (tacho_ctl_hist_get_column(hist, i, &column) < 0 ||
			    tacho_ctl_hist_get_cell(hist, row, i, &cell) < 0)
				return -1;
			printf("%s=%s%s", column.name, cell.text,
			       i + 1 < info.nr_columns ? " " : "\n");
		}
	return 0;
}

static int print_hists(const char *session)
{
	struct tacho_error error;
	struct tacho_ctl *ctl;
	int err = tacho_ctl_open(&ctl, session, &error);

	if (err < 0)
		return failed("open the session", &error);
	err = tacho_ctl_each_hist(ctl, TACHO_CTL_PROGRAMS, NULL, print_hist, NULL);
	if (err < 0)
		failed("read the histograms", tacho_ctl_error(ctl));
	tacho_ctl_close(ctl);
	return err < 0;
}

static int record(struct tacho_ctl_recording *rec)
{
	struct tacho_ctl_recording_status status;
	pthread_t writer;
	int ret;

	if (tacho_ctl_recording_start(rec) < 0)
		return failed("start", tacho_ctl_recording_error(rec));
	if (pthread_create(&writer, NULL, write_records, rec)) {
		fprintf(stderr, "keep: cannot start a thread\n");
		return 1;
	}
	work(rec);
	tacho_ctl_recording_stop(rec);
	pthread_join(writer, NULL);
	ret = print_hists(tacho_ctl_recording_name(rec));
	if (tacho_ctl_recording_finish(rec) < 0)
		return failed("write the rest", tacho_ctl_recording_error(rec));
	tacho_ctl_recording_get_status(rec, &status);
	printf("%" PRIu64 " records written, %" PRIu64 " lost\n", status.events, status.lost);
	return ret;
}

int main(int argc, char **argv)
{
	static const char *const events[] = { "hello:*" };
	static const struct tacho_ctl_recording_control triggers[] = {
		{ "hello:greet", "hist:keys=whom:vals=round:sort=whom" },
	};
	struct tacho_ctl_recording_config config;
	struct tacho_ctl_recording *rec;
	struct tacho_error error;
	int ret;

	if (argc < 2) {
		fprintf(stderr, "usage: keep TRACES\n");
		return 2;
	}
	tacho_ctl_recording_config_init(&config);
	config.output = argv[1];
	config.flags = TACHO_CTL_RECORDING_ROTATE;
	config.events = events;
	config.nr_events = 1;
	config.triggers = triggers;
	config.nr_triggers = 1;
	config.buffer_size = 1 << 20;
	config.note = note;
	if (tacho_ctl_recording_open(&rec, &config, &error) < 0)
		return failed("prepare", &error);
	ret = record(rec);
	if (tacho_ctl_recording_close(rec, &error) < 0)
		return failed("end", &error);
	return ret;
}
