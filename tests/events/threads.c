// SPDX-License-Identifier: MIT
/* Many threads, signal handlers and children use the same and other events. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "base/atomic.h"
#include "events_test.h"

#define THREADS	4
#define ROUNDS	20000	/* at least; more as long as there are few signals */
#define ROUNDS_MAX	100000
#define SIGNALS	300

static struct trace_event_file *file;
static int wrong;	/* what the threads found; CHECK() is for one thread */
static int signals;	/* that were handled */
static int ended;	/* threads */
static uint64_t rounds[THREADS];

#define THREAD_CHECK(cond) \
	((void)((cond) || tacho_add_relaxed(&wrong, 1)))

static void trace_one(u64 who, u64 nr)
{
	struct synth_event_trace_state st;

	if (nr % 2) {
		THREAD_CHECK(!synth_event_trace(file, 2, who, nr));
		return;
	}
	THREAD_CHECK(!synth_event_trace_start(file, &st));
	THREAD_CHECK(!synth_event_add_val("nr", nr, &st));
	THREAD_CHECK(!synth_event_add_val("who", who, &st));
	THREAD_CHECK(!synth_event_trace_end(&st));
}

static void on_signal(int sig)
{
	(void)sig;
	THREAD_CHECK(!synth_event_trace(file, 2, THREADS,
					tacho_load_relaxed(&signals)));
	(void)tacho_add_relaxed(&signals, 1);
}

static void *trace_all(void *arg)
{
	uint64_t who = (uintptr_t)arg, nr = 0;

	while (nr < ROUNDS ||
	       (nr < ROUNDS_MAX && tacho_load_relaxed(&signals) < SIGNALS))
		trace_one(who, nr++);
	rounds[who] = nr;
	while (tacho_load_relaxed(&signals) < SIGNALS)
		(void)sched_yield();
	(void)tacho_add_relaxed(&ended, 1);
	return NULL;
}

/* Makes and deletes an event of its own, and fights for one with the others. */
static void *create_all(void *arg)
{
	static const struct synth_field_desc f[] = { { "int", "a" } };
	char name[20];

	(void)snprintf(name, sizeof(name), "own%d", (int)(uintptr_t)arg);
	for (int i = 0; i < 50; i++) {
		struct trace_event_file *mine;
		int err;

		THREAD_CHECK(!synth_event_create(name, f, 1, NULL));
		mine = trace_get_event_file("many", "synthetic", name);
		if (IS_ERR(mine)) {
			THREAD_CHECK(false);
			continue;
		}
		THREAD_CHECK(!trace_array_set_clr_event(mine->tr, "synthetic", name,
							true));
		THREAD_CHECK(!synth_event_trace(mine, 1, i));
		THREAD_CHECK(!trace_array_set_clr_event(mine->tr, "synthetic", name,
							false));
		trace_put_event_file(mine);
		THREAD_CHECK(!synth_event_delete(name));
		err = synth_event_create("ours", f, 1, NULL);
		THREAD_CHECK(!err || err == -EEXIST);
		err = synth_event_delete("ours");
		THREAD_CHECK(!err || err == -ENOENT || err == -EBUSY);
	}
	return NULL;
}

/* Runs fn in all threads, which get signals while they are about it, or none. */
static void run_threads(void *(*fn)(void *arg), int sig)
{
	pthread_t t[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, fn, (void *)i), 0);
	for (int i = 0; sig && tacho_load_relaxed(&ended) < THREADS; i++)
		(void)pthread_kill(t[i % THREADS], sig);
	for (int i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_join(t[i], NULL), 0);
	CHECK_EQ(wrong, 0);
}

/* Events that found no place in the session, as it has counted them. */
static uint64_t count_lost(void)
{
	struct tacho_session_counts c = { 0 };
	struct tacho_session s;
	struct tacho_dir dir;

	if (!CHECK_EQ(tacho_dir_open(&dir, false, NULL), 0))
		return 0;
	if (CHECK_EQ(tacho_session_open(&s, &dir, "many", NULL), 0)) {
		tacho_session_count(&s, &c);
		tacho_session_close(&s);
	}
	tacho_dir_close(&dir);
	return c.lost_full + c.lost_big + c.lost_busy;
}

/* Each writer's events are there in its order, and all of them, or counted as lost. */
static void check_order(void)
{
	struct tacho_stream *s;
	struct tacho_record r;
	uint64_t next[THREADS] = { 0 };
	uint64_t seen = 0, tried = (uint64_t)signals, lost = count_lost();

	if (!CHECK_EQ(tacho_stream_open(&s, "session:many", 0, NULL), 0))
		exit(1);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD) {
		uint64_t who = 0, nr = 0;

		if (strcmp(tacho_type_name(r.type), "shared") != 0)
			continue;
		seen++;
		CHECK(tacho_record_int(&r, tacho_type_find(r.type, "who"), &who));
		CHECK(tacho_record_int(&r, tacho_type_find(r.type, "nr"), &nr));
		/* handlers of two threads may have had the same number */
		if (!CHECK(who <= THREADS) || who == THREADS)
			continue;
		CHECK(nr >= next[who]);
		next[who] = nr + 1;
	}
	tacho_stream_close(s);
	for (int i = 0; i < THREADS; i++)
		tried += rounds[i];
	printf("# %llu tried, %llu lost\n", (unsigned long long)tried,
	       (unsigned long long)lost);
	CHECK_EQ(seen + lost, tried);
}

static void test_trace(void)
{
	static const struct synth_field_desc f[] = {
		{ "u8", "who" }, { "u32", "nr" },
	};
	const struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

	CHECK_EQ(synth_event_create("shared", f, 2, NULL), 0);
	file = enabled_file("many", "shared");
	CHECK_EQ(sigaction(SIGUSR1, &sa, NULL), 0);
	run_threads(trace_all, SIGUSR1);
	printf("# %d signals\n", signals);
	check_order();
}

/*
 * Sanitizers do not care for their allocator's locks over fork.  With them the
 * other thread takes ours, and allocates nothing.
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MAY_ALLOCATE	false
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define MAY_ALLOCATE	false
#endif
#endif
#ifndef MAY_ALLOCATE
#define MAY_ALLOCATE	true
#endif

static void *make_and_drop(void *arg)
{
	static const struct synth_field_desc f[] = { { "int", "a" } };
	const bool *stop = arg;

	while (!tacho_load_relaxed(stop)) {
		if (MAY_ALLOCATE)
			(void)synth_event_create("forked", f, 1, NULL);
		(void)synth_event_delete("forked");
	}
	return NULL;
}

/* A child can do all that its parent could, whatever other threads were about. */
static void test_fork(void)
{
	static bool stop;
	pthread_t t;

	CHECK_EQ(pthread_create(&t, NULL, make_and_drop, &stop), 0);
	for (int i = 0; i < 50; i++) {
		static const struct synth_field_desc f[] = { { "int", "a" } };
		pid_t pid = fork();
		int status = 0;

		if (!pid) {
			struct trace_event_file *mine;

			alarm(60);
			if (synth_event_create("childs", f, 1, NULL))
				_exit(1);
			mine = trace_get_event_file("many", "synthetic", "childs");
			if (IS_ERR(mine) || trace_array_set_clr_event(mine->tr,
					"synthetic", "childs", true) ||
			    synth_event_trace(mine, 1, 100 + i) ||
			    synth_event_trace(file, 2, 0, 4711))
				_exit(2);
			_exit(0);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		CHECK_EQ(status, 0);
	}
	tacho_store_relaxed(&stop, true);
	CHECK_EQ(pthread_join(t, NULL), 0);
}

static void check_children(void)
{
	static char text[1 << 20];
	char want[60];

	(void)session_text("many", text, sizeof(text));
	for (int i = 0; i < 50; i++) {
		(void)snprintf(want, sizeof(want), "synthetic:childs: a=%d\n", 100 + i);
		if (!CHECK(strstr(text, want)))
			printf("# child %d\n", i);
	}
	CHECK(strstr(text, "who=0, nr=4711\n"));
}

static void test_threads(void)
{
	make_session_of("many", 16 << 20);
	test_trace();
	run_threads(create_all, 0);
	end_session("many");
	make_session("many");
	CHECK_EQ(trace_array_set_clr_event(file->tr, "synthetic", "shared", true), 0);
	test_fork();
	check_children();
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	test_begin();
	TEST(test_threads());
	return test_done();
}
