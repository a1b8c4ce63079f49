// SPDX-License-Identifier: MIT
/*
 * No memory: each call is made with its first, second, ... allocation failing, until none of
 * them does.  What failed has left nothing behind, and says -ENOMEM.
 */
#include "events_test.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAVE_SANITIZER
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define HAVE_SANITIZER
#endif
#endif

#if defined(__GLIBC__) && !defined(HAVE_SANITIZER)

/* glibc's own; the ones here are found first, by the libraries too. */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);

static long left = -1;		/* allocations until one fails; < 0: none does */
static unsigned long failed;

static bool fails(void)
{
	if (left < 0 || left--)
		return false;
	failed++;
	errno = ENOMEM;
	return true;
}

__attribute__((visibility("default"))) void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

__attribute__((visibility("default"))) void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

__attribute__((visibility("default"))) void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

static struct trace_event_file *file;
static struct trace_array *tr;
static struct synth_event_trace_state state;

static int do_create(void)
{
	static const struct synth_field_desc f[] = {
		{ "int", "a" }, { "char[256]", "b" }, { "char[256]", "c" },
		{ "char[256]", "d" }, { "char[256]", "e" },
	};

	return synth_event_create("event", f, ARRAY_SIZE(f), NULL);
}

static int do_get_file(void)
{
	file = trace_get_event_file("named", "synthetic", "event");
	return PTR_ERR_OR_ZERO(file);
}

static int do_get_array(void)
{
	tr = trace_array_get_by_name("named", NULL);
	return tr ? 0 : -errno;
}

static int do_enable(void)
{
	return trace_array_set_clr_event(tr, "synthetic", "event", true);
}

static int do_start(void)
{
	return synth_event_trace_start(file, &state);
}

/*
 * Makes one allocation after the other fail, at least the first `least`.  A call may also do
 * without: then it is undone and made again, until it meets no failure.
 */
static void with_faults(const char *name, int (*call)(void), void (*undo)(void),
			unsigned long least)
{
	unsigned long before;
	int err;

	failed = 0;
	for (long n = 0; n < 200; n++) {
		before = failed;
		left = n;
		err = call();
		left = -1;
		if (failed == before)
			break;
		if (!err)
			undo();
		else if (!CHECK_EQ(err, -ENOMEM))
			printf("# %s, allocation %ld\n", name, n);
	}
	printf("# %s: %lu allocations\n", name, failed);
	CHECK_EQ(failed, before);
	CHECK_EQ(err, 0);
	CHECK(failed >= least);
}

static void undo_create(void)
{
	CHECK_EQ(synth_event_delete("event"), 0);
}

static void undo_get_file(void)
{
	trace_put_event_file(file);
}

static void undo_get_array(void)
{
	trace_array_put(tr);
	CHECK_EQ(trace_array_destroy(tr), 0);
}

static void undo_enable(void)
{
	CHECK_EQ(trace_array_set_clr_event(tr, "synthetic", "event", false), 0);
}

static void undo_start(void)
{
	CHECK_EQ(synth_event_trace_end(&state), 0);
}

/* Whether the allocator here is the one that is called (valgrind brings its own). */
static bool can_fail(void)
{
	/* compilers know what malloc() does; not so, who is behind a pointer */
	void *(*volatile allocate)(size_t size) = malloc;
	void *p;

	left = 0;
	p = allocate(1);
	left = -1;
	free(p);
	return !p;
}

static void test_faults(void)
{
	with_faults("trace_array_get_by_name", do_get_array, undo_get_array, 1);
	with_faults("synth_event_create", do_create, undo_create, 10);
	with_faults("trace_get_event_file", do_get_file, undo_get_file, 1);
	with_faults("trace_array_set_clr_event", do_enable, undo_enable, 0);
	CHECK_EQ(synth_event_trace(file, 5, 1, (u64)"b", (u64)"c", (u64)"d", (u64)"e"), 0);
	with_faults("synth_event_trace_start", do_start, undo_start, 1);
	CHECK_EQ(synth_event_add_val("e", (u64)"later", &state), 0);
	CHECK_EQ(synth_event_trace_end(&state), 0);
#ifndef TACHO_TINY	/* its sub-buffers are too small for such events */
	CHECK_SESSION("named", "synthetic:event: a=1, b=b, c=c, d=d, e=e\n"
		      "synthetic:event: a=0, b=, c=, d=, e=later\n");
#endif
	drop_event(file, "event");
	trace_array_put(tr);
	CHECK_EQ(trace_array_destroy(tr), 0);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	if (!can_fail())
		SKIP("the allocator cannot be replaced here");
	test_begin();
	TEST(test_faults());
	return test_done();
}

#else

int main(void)
{
	SKIP("the allocator cannot be replaced here");
}

#endif
