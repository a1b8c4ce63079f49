// SPDX-License-Identifier: MIT
/* Data about the own process for hits: call stack, strings, thread name. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/atomic.h"
#include "runtime/maps.h"
#include "runtime/actions.h"

/* Frames are mostly small: one system call finds several. */
#define WINDOW	512u
#define PAGE	4096u

size_t tacho_memory_copy(uint64_t addr, void *to, size_t size)
{
	size_t page = PAGE - (addr & (PAGE - 1));
	struct iovec local = { to, size < page ? size : page };
	struct iovec remote = { (void *)(uintptr_t)addr, local.iov_len };
	ssize_t n = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);

	return n > 0 ? (size_t)n : 0;
}

/* A recent copy of a part of the stack. */
struct window {
	uint64_t from;
	size_t len;
	uint64_t word[WINDOW / 8];
};

/* Reads the frame record at fp: the caller's frame and return address. */
static bool read_frame(struct window *w, uint64_t fp, uint64_t frame[2])
{
	for (int i = 0; i < 2; i++) {
		uint64_t at = fp + (uint64_t)i * 8;

		if (at < w->from || at - w->from >= w->len) {
			w->from = at;
			w->len = tacho_memory_copy(at, w->word, sizeof(w->word)) &
				 ~(size_t)7;
		}
		if (!w->len)
			return false;
		frame[i] = w->word[(at - w->from) / 8];
	}
	return true;
}

uint32_t tacho_stack_walk(const struct runtime_place *place, uint64_t *addr,
			  uint32_t max)
{
	uint64_t fp = (uint64_t)(uintptr_t)place->frame;
	struct window w = { .len = 0 };
	uint64_t frame[2];
	int saved = errno;
	uint32_t n = 0;

	if (place->pc)
		addr[n++] = (uint64_t)(uintptr_t)place->pc;
	if (!tacho_attach_may_map() || !read_frame(&w, fp, frame))
		goto out;
	/* the first record is libtacho's: its address is pc */
	while (n < max && frame[0] > fp && !(frame[0] & 7)) {
		fp = frame[0];
		if (!read_frame(&w, fp, frame) || !frame[1])
			break;
		addr[n++] = frame[1];
	}
out:
	errno = saved;
	return n;
}

/* ---- names ---- */

static bool own_comm(void *unused, int32_t pid, char comm[16])
{
	int saved = errno;
	bool ok = pid == tacho_self.tid && !prctl(PR_GET_NAME, comm);

	(void)unused;
	errno = saved;
	return ok;
}

static long read_string(uint64_t addr, char *to, size_t size)
{
	size_t at = 0;

	while (at < size) {
		size_t n = tacho_memory_copy(addr + at, to + at, size - at);
		const char *end = n ? memchr(to + at, '\0', n) : NULL;

		if (!n)
			return -1;
		if (end)
			return end - to;
		at += n;
	}
	return (long)size;
}

static long own_string(uint64_t addr, char *to, size_t size)
{
	int saved = errno;
	long n = tacho_attach_may_map() ? read_string(addr, to, size) : -1;

	errno = saved;
	return n;
}

static long user_string(void *unused, int32_t pid, uint64_t addr, char *to,
			size_t size)
{
	(void)unused;
	(void)pid;
	return own_string(addr, to, size);
}

/* A program's `char *` is an address in its own memory. */
static long pointer_string(void *unused, uint64_t addr, char *to, size_t size)
{
	(void)unused;
	return own_string(addr, to, size);
}

/*
 * A function that does not exist in this process has no addresses.  An object that is loaded
 * later may have it.
 */
static bool own_function(void *unused, const char *name, struct tacho_symbol *sym)
{
	(void)unused;
	*sym = (struct tacho_symbol){ .name = name };
	tacho_store_relaxed(&tacho_runtime.functions, 1);
	if (!tacho_function_find(name, &sym->start, &sym->end))
		sym->start = sym->end = UINT64_MAX;
	return true;
}

static bool own_symbol(void *unused, uint64_t addr, struct tacho_symbol *sym)
{
	(void)unused;
	*sym = (struct tacho_symbol){ .name = "" };
	tacho_store_relaxed(&tacho_runtime.functions, 1);
	if (!tacho_function_at(addr, &sym->start, &sym->end))
		sym->start = sym->end = UINT64_MAX;
	return true;
}

const struct tacho_names tacho_probe_names = {
	.symbol = own_symbol,
	.find_symbol = own_function,
	.comm = own_comm,
	.user_string = user_string,
	.kernel_string = pointer_string,
};
