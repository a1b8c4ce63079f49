// SPDX-License-Identifier: MIT
/*
 * All calls of <ltt/trace.h> and <ltt/tracer.h> at once, from several threads, over fork(), in a
 * trace that everybody changes.  What counts is that it comes to its end, and that an event
 * which is there is never said not to be.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/tracer.h>

#define ROUNDS	400
#define THREADS	6

static int lasting;
static atomic_int wrong, called;

static void check(int good)
{
	if (!good)
		atomic_fetch_add(&wrong, 1);
}

static void on_event(uint8_t id, void *event)
{
	(void)id;
	(void)event;
	atomic_fetch_add(&called, 1);
	/* it may come back */
	(void)trace_is_event_traced(TRACE_CUSTOM);
}

static void record_some(void)
{
	trace_schedchange s = { 1, 2, 3 };
	struct trace_named_file file = { { 3, 0 }, "name" };

	check(!trace_raw_event(lasting, 8, "12345678"));
	check(!trace_std_formatted_event(lasting, 7));
	check(!trace_event(TRACE_SCHEDCHANGE, &s));
	check(!trace_event(TRACE_SUB(TRACE_FILE_SYSTEM, TRACE_FILE_SYSTEM_OPEN), &file));
}

static void *records(void *arg)
{
	for (int i = 0; i < 10 * ROUNDS; i++)
		record_some();
	return arg;
}

static void *declares(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		int id = trace_create_event("short", "", CUSTOM_EVENT_FORMAT_TYPE_HEX, NULL);

		/* a process makes so many in all */
		if (id == -ENOMEM)
			break;
		check(id > 0 && !trace_raw_event(id, 2, "ab"));
		trace_destroy_event(id);
		check(trace_raw_event(id, 2, "ab") == -ENOMEDIUM);
		trace_reregister_custom_events();
	}
	return arg;
}

static void *commands(void *arg)
{
	trace_event_mask some = TRACE_EVENT_BIT(TRACE_CUSTOM), mask;
	int ret;

	for (int i = 0; i < ROUNDS / 4; i++) {
		ret = trace_set_event_mask(i % 2 ? some : TRACE_EVENT_MASK_ALL);
		check(!ret || ret == -ENODEV);
		ret = trace_control(TRACE_HANDLE, TRACER_CONFIG_DETAILS, (unsigned long)&some);
		check(!ret || ret == -ENODEV);
		ret = trace_control(TRACE_HANDLE, TRACER_CONFIG_PID, (unsigned long)getpid());
		check(!ret || ret == -ENODEV);
		ret = trace_control(TRACE_HANDLE, TRACER_CONFIG_DEFAULT, 0);
		check(!ret || ret == -ENODEV);
		ret = trace_get_event_mask(&mask);
		check(!ret || ret == -ENODEV);
	}
	return arg;
}

static void *calls_back(void *arg)
{
	for (int i = 0; i < ROUNDS; i++) {
		check(!trace_register_callback(on_event, TRACE_CUSTOM));
		check(!trace_unregister_callback(on_event, TRACE_CUSTOM));
	}
	return arg;
}

static void *forks(void *arg)
{
	for (int i = 0; i < ROUNDS / 20; i++) {
		pid_t pid = fork();
		int status = 0;

		if (!pid) {
			atomic_store(&wrong, 0);
			record_some();
			check(trace_create_event("child", "", 0, "") / 256 == getpid());
			(void)trace_set_event_mask(TRACE_EVENT_MASK_ALL);
			_exit(atomic_load(&wrong));
		}
		check(pid > 0 && waitpid(pid, &status, 0) == pid && !status);
	}
	return arg;
}

int main(void)
{
	static void *(*const what[THREADS])(void *) = {
		records, records, declares, commands, calls_back, forks,
	};
	pthread_t thread[THREADS];

	lasting = trace_create_event("lasting", "text %d", CUSTOM_EVENT_FORMAT_TYPE_STR, "");
	check(lasting > 0 && !trace_attach());
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, what[i], NULL))
			return 2;
	for (int i = 0; i < THREADS; i++)
		(void)pthread_join(thread[i], NULL);
	printf("%d wrong\n", atomic_load(&wrong));
	return atomic_load(&wrong) != 0;
}
