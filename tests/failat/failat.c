// SPDX-License-Identifier: MIT
/*
 * failat.c - preloaded: lets the n-th call of a kind fail.
 *
 *	FAILAT=KIND:N		which call fails; "count:0": none, they are counted
 *	FAILAT_REPORT=FILE	what happened: "fired", or at the end lines "KIND CALLS"
 *	FAILAT_WHO=NAME		only in the program of this name
 *	FAILAT_FRAMES=1		the report says where the call came from
 *	FAILAT_ALARM=SECONDS	ends the program when it takes longer
 *
 * Kinds are alloc (ENOMEM), mmap (ENOMEM), open (EMFILE), full (ENOSPC: writes and
 * whatever else needs room), eio (writes and syncs), short (half of what was to be
 * written is), read (EIO), task (EAGAIN: threads and processes).
 *
 * What the C library allocates for its callers (strdup, stdio's buffers, getline)
 * is counted, too: it calls malloc by its name.  What it opens and writes for
 * them is not, so fopen, fflush and their like are calls of their own here.
 *
 * A device is no disk: writes to it do not fail.
 * Messages are never hindered: writes to descriptor 2 do not count.
 */
#undef _FILE_OFFSET_BITS	/* would make one function of open() and open64() */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum kind { NONE, ALLOC, MMAP, OPEN, FULL, EIO_, SHORT, READ, TASK, COUNT };

static const char *const kind_name[] = {
	"none", "alloc", "mmap", "open", "full", "eio", "short", "read", "task",
	"count",
};

static enum kind kind;		/* NONE until the constructor has run */
static long nth;
static atomic_long calls[COUNT];
static const char *report;
static int frames;

/* Not by open() and write(): those are ours. */
static void say(const char *text)
{
	int fd = (int)syscall(SYS_openat, AT_FDCWD, report,
			      O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	if (fd < 0)
		return;
	(void)!syscall(SYS_write, fd, text, strlen(text));
	if (frames && text[0] == 'f') {
		void *at[48];
		enum kind was = kind;

		kind = NONE;
		backtrace_symbols_fd(at, backtrace(at, 48), fd);
		kind = was;
	}
	(void)syscall(SYS_close, fd);
}

static int fails(enum kind k)
{
	int err = errno;

	if ((k != kind && kind != COUNT) || atomic_fetch_add(&calls[k], 1) + 1 != nth)
		return 0;
	say("fired\n");
	errno = err;
	return 1;
}

static int fails_with(enum kind k, int err)
{
	if (!fails(k))
		return 0;
	errno = err;
	return 1;
}

/* What needs room on a disk, and what fails when the disk does. */
static int no_room(void)
{
	return fails_with(FULL, ENOSPC);
}

/* No disk: what is written there is an answer to somebody, or all of it or nothing. */
static int is_device(int fd)
{
	struct stat st;

	return ((kind >= FULL && kind <= SHORT) || kind == COUNT) && !fstat(fd, &st) && S_ISCHR(st.st_mode);
}

static int no_write(int fd)
{
	if (is_device(fd))
		return 0;
	return fd != STDERR_FILENO && (no_room() || fails_with(EIO_, EIO));
}

static __attribute__((constructor)) void failat_begin(void)
{
	const char *what = getenv("FAILAT"), *who = getenv("FAILAT_WHO");
	const char *colon = what ? strchr(what, ':') : NULL;

	report = getenv("FAILAT_REPORT");
	if (!colon || !report || (who && strcmp(who, program_invocation_short_name)))
		return;
	if (getenv("FAILAT_ALARM"))
		alarm((unsigned int)atoi(getenv("FAILAT_ALARM")));
	frames = getenv("FAILAT_FRAMES") != NULL;
	if (frames) {
		void *at[2];

		(void)backtrace(at, 2);		/* loads what it needs */
	}
	nth = atol(colon + 1);
	for (int k = ALLOC; k <= COUNT; k++)
		if (strlen(kind_name[k]) == (size_t)(colon - what) &&
		    !strncmp(kind_name[k], what, (size_t)(colon - what)))
			kind = (enum kind)k;
}

static __attribute__((destructor)) void failat_end(void)
{
	char text[40];

	if (kind != COUNT)
		return;
	kind = NONE;
	for (int k = ALLOC; k < COUNT; k++) {
		(void)snprintf(text, sizeof(text), "%s %ld\n", kind_name[k],
			       atomic_load(&calls[k]));
		say(text);
	}
}

#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
	enum kind was = kind;
	void *p;

	kind = NONE;	/* dlsym() may allocate */
	p = dlsym(RTLD_NEXT, name);
	kind = was;
	if (!p)
		abort();
	return p;
}

/* ---- memory ---- */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

EXPORT void *malloc(size_t size)
{
	return fails_with(ALLOC, ENOMEM) ? NULL : __libc_malloc(size);
}

EXPORT void *calloc(size_t n, size_t size)
{
	return fails_with(ALLOC, ENOMEM) ? NULL : __libc_calloc(n, size);
}

EXPORT void *realloc(void *p, size_t size)
{
	return fails_with(ALLOC, ENOMEM) ? NULL : __libc_realloc(p, size);
}

EXPORT void *reallocarray(void *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total)) {
		errno = ENOMEM;
		return NULL;
	}
	return realloc(p, total);
}

EXPORT void *memalign(size_t align, size_t size)
{
	return fails_with(ALLOC, ENOMEM) ? NULL : __libc_memalign(align, size);
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

EXPORT int posix_memalign(void **p, size_t align, size_t size)
{
	void *m = memalign(align, size);

	if (!m)
		return ENOMEM;
	*p = m;
	return 0;
}

EXPORT void *mmap(void *p, size_t len, int prot, int flags, int fd, off_t at)
{
	return fails_with(MMAP, ENOMEM) ? MAP_FAILED :
	       (void *)syscall(SYS_mmap, p, len, prot, flags, fd, at);
}

EXPORT void *mmap64(void *p, size_t len, int prot, int flags, int fd, off_t at)
{
	return mmap(p, len, prot, flags, fd, at);
}

/* ---- descriptors ---- */

static int do_open(int dir, const char *path, int flags, mode_t mode)
{
	return fails_with(OPEN, EMFILE) ? -1 :
	       (int)syscall(SYS_openat, dir, path, flags, mode);
}

#define MODE(flags, mode) do {						\
	if ((flags) & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY))) {		\
		va_list ap;						\
		va_start(ap, flags);					\
		mode = va_arg(ap, mode_t);				\
		va_end(ap);						\
	}								\
} while (0)

#define OPEN_AT_CWD(name)						\
EXPORT int name(const char *path, int flags, ...)			\
{									\
	mode_t mode = 0;						\
									\
	MODE(flags, mode);						\
	return do_open(AT_FDCWD, path, flags, mode);			\
}
OPEN_AT_CWD(open)
OPEN_AT_CWD(open64)

#define OPEN_AT(name)							\
EXPORT int name(int dir, const char *path, int flags, ...)		\
{									\
	mode_t mode = 0;						\
									\
	MODE(flags, mode);						\
	return do_open(dir, path, flags, mode);				\
}
OPEN_AT(openat)
OPEN_AT(openat64)

EXPORT FILE *fopen(const char *path, const char *mode)
{
	return fails_with(OPEN, EMFILE) ? NULL : REAL(fopen)(path, mode);
}

EXPORT FILE *fopen64(const char *path, const char *mode)
{
	return fopen(path, mode);
}

EXPORT DIR *opendir(const char *path)
{
	return fails_with(OPEN, EMFILE) ? NULL : REAL(opendir)(path);
}

EXPORT int dup(int fd)
{
	return fails_with(OPEN, EMFILE) ? -1 : (int)syscall(SYS_dup, fd);
}

EXPORT int pipe2(int fd[2], int flags)
{
	return fails_with(OPEN, EMFILE) ? -1 : (int)syscall(SYS_pipe2, fd, flags);
}

EXPORT int pipe(int fd[2])
{
	return pipe2(fd, 0);
}

EXPORT int memfd_create(const char *name, unsigned int flags)
{
	return fails_with(OPEN, EMFILE) ? -1 : (int)syscall(SYS_memfd_create, name, flags);
}

EXPORT int epoll_create1(int flags)
{
	return fails_with(OPEN, EMFILE) ? -1 : (int)syscall(SYS_epoll_create1, flags);
}

EXPORT int eventfd(unsigned int value, int flags)
{
	return fails_with(OPEN, EMFILE) ? -1 : (int)syscall(SYS_eventfd2, value, flags);
}

EXPORT int timerfd_create(clockid_t clock, int flags)
{
	return fails_with(OPEN, EMFILE) ? -1 : (int)syscall(SYS_timerfd_create, clock, flags);
}

EXPORT int socket(int domain, int type, int protocol)
{
	return fails_with(OPEN, EMFILE) ? -1 :
	       (int)syscall(SYS_socket, domain, type, protocol);
}

/* ---- writing ---- */

static size_t cut(int fd, size_t len)
{
	return fd != STDERR_FILENO && len > 1 && !is_device(fd) && fails(SHORT) ? len / 2 : len;
}

EXPORT ssize_t write(int fd, const void *p, size_t len)
{
	return no_write(fd) ? -1 : syscall(SYS_write, fd, p, cut(fd, len));
}

EXPORT ssize_t pwrite(int fd, const void *p, size_t len, off_t at)
{
	return no_write(fd) ? -1 : syscall(SYS_pwrite64, fd, p, cut(fd, len), at);
}

EXPORT ssize_t pwrite64(int fd, const void *p, size_t len, off_t at)
{
	return pwrite(fd, p, len, at);
}

EXPORT ssize_t writev(int fd, const struct iovec *v, int n)
{
	if (no_write(fd))
		return -1;
	if (n && cut(fd, v->iov_len) != v->iov_len)
		return syscall(SYS_write, fd, v->iov_base, v->iov_len / 2);
	return syscall(SYS_writev, fd, v, n);
}

EXPORT ssize_t sendfile(int out, int in, off_t *at, size_t len)
{
	return no_write(out) ? -1 : syscall(SYS_sendfile, out, in, at, cut(out, len));
}

EXPORT ssize_t copy_file_range(int in, off_t *from, int out, off_t *to, size_t len,
			       unsigned int flags)
{
	return no_write(out) ? -1 :
	       syscall(SYS_copy_file_range, in, from, out, to, cut(out, len), flags);
}

EXPORT int fsync(int fd)
{
	return no_write(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

EXPORT int fdatasync(int fd)
{
	return no_write(fd) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

EXPORT int ftruncate(int fd, off_t size)
{
	return no_room() ? -1 : (int)syscall(SYS_ftruncate, fd, size);
}

EXPORT int ftruncate64(int fd, off_t size)
{
	return ftruncate(fd, size);
}

EXPORT int fallocate(int fd, int mode, off_t at, off_t len)
{
	return no_room() ? -1 : (int)syscall(SYS_fallocate, fd, mode, at, len);
}

EXPORT int fallocate64(int fd, int mode, off_t at, off_t len)
{
	return fallocate(fd, mode, at, len);
}

EXPORT int posix_fallocate(int fd, off_t at, off_t len)
{
	int err = errno, failed = no_room();

	errno = err;
	return failed ? ENOSPC : REAL(posix_fallocate)(fd, at, len);
}

EXPORT int posix_fallocate64(int fd, off_t at, off_t len)
{
	return posix_fallocate(fd, at, len);
}

EXPORT int mkdirat(int dir, const char *path, mode_t mode)
{
	return no_room() ? -1 : (int)syscall(SYS_mkdirat, dir, path, mode);
}

EXPORT int mkdir(const char *path, mode_t mode)
{
	return mkdirat(AT_FDCWD, path, mode);
}

EXPORT int renameat(int from, const char *a, int to, const char *b)
{
	return no_room() ? -1 : (int)syscall(SYS_renameat2, from, a, to, b, 0);
}

EXPORT int rename(const char *a, const char *b)
{
	return renameat(AT_FDCWD, a, AT_FDCWD, b);
}

EXPORT int linkat(int from, const char *a, int to, const char *b, int flags)
{
	return no_room() ? -1 : (int)syscall(SYS_linkat, from, a, to, b, flags);
}

EXPORT int link(const char *a, const char *b)
{
	return linkat(AT_FDCWD, a, AT_FDCWD, b, 0);
}

EXPORT int fflush(FILE *f)
{
	if (f && f != stderr && __fpending(f) && no_write(fileno(f)))
		return EOF;
	return REAL(fflush)(f);
}

EXPORT int fclose(FILE *f)
{
	int failed = f != stderr && __fwriting(f) && no_write(fileno(f));
	int err = errno, done = REAL(fclose)(f);

	if (!failed)
		return done;
	errno = err;
	return EOF;
}

/* ---- reading ---- */

EXPORT ssize_t read(int fd, void *p, size_t len)
{
	return fails_with(READ, EIO) ? -1 : syscall(SYS_read, fd, p, len);
}

EXPORT ssize_t pread(int fd, void *p, size_t len, off_t at)
{
	return fails_with(READ, EIO) ? -1 : syscall(SYS_pread64, fd, p, len, at);
}

EXPORT ssize_t pread64(int fd, void *p, size_t len, off_t at)
{
	return pread(fd, p, len, at);
}

/* ---- threads and processes ---- */

EXPORT int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*fn)(void *), void *arg)
{
	return fails(TASK) ? EAGAIN : REAL(pthread_create)(t, a, fn, arg);
}

EXPORT pid_t fork(void)
{
	return fails_with(TASK, EAGAIN) ? -1 : REAL(fork)();
}
