/* SPDX-License-Identifier: MIT */
#include "tracefs/instance.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scan.h"
#include "base/text.h"
#include "tracefs/instance_priv.h"
#include "sys/process.h"

#define PREFIX		"tacho-"
#define KEPT		"tacho."
#define NAME_SHOWN	24	/* longer session names are cut and hashed */
#define SMALL_FILE	((size_t)64 << 10)

/* ---- sweep ----------------------------------------------------------------- */

/* The number that ends at *end and begins after a '-'; *end moves to the '-'. */
static bool number_before(const char *s, const char **end, uint64_t *v)
{
	const char *digits, *after = *end;

	while (*end > s && (*end)[-1] >= '0' && (*end)[-1] <= '9')
		--*end;
	digits = *end;
	if (digits == s || digits[-1] != '-')
		return false;
	--*end;
	return !tacho_scan_digits(&digits, after, 10, UINT64_MAX, v);
}

/* Whether `name` is an instance of tacho whose creator is gone. */
static bool is_orphan(const char *name)
{
	const char *end = name + strlen(name);
	uint64_t pid, start, now;
	int ret;

	if (strncmp(name, PREFIX, strlen(PREFIX)) != 0 ||
	    !number_before(name, &end, &start) ||
	    !number_before(name, &end, &pid) || pid > INT32_MAX)
		return false;
	ret = tacho_process_start((int32_t)pid, &now);
	return ret ? ret == -ESRCH : now != start;
}

int tacho_kernel_sweep(const struct tacho_tracefs *t, struct tacho_diag *d)
{
	struct dirent *e;
	int fd, n = 0;
	DIR *dir;

	fd = openat(t->dirfd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return tacho_diag(d, -errno, 0,
				  "cannot open 'instances' in tracefs: %s",
				  strerror(errno));
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return tacho_diag(d, -ENOMEM, 0, "no memory");
	}
	while ((e = readdir(dir)))
		if (is_orphan(e->d_name) &&
		    !unlinkat(fd, e->d_name, AT_REMOVEDIR))
			n++;
	closedir(dir);
	return n;
}

/* ---- find ------------------------------------------------------------------ */

/* The part of a session's name that is in an instance's name. */
static void show_name(const char *name, char shown[NAME_SHOWN + 1])
{
	size_t len = strlen(name);

	if (len <= NAME_SHOWN)
		memcpy(shown, name, len + 1);
	else
		snprintf(shown, NAME_SHOWN + 1, "%.15s.%08x", name,
			 (unsigned int)tacho_hash(name, len, 0));
}

/* Whether an instance's directory is the kept one for `shown`, or that of a living recorder. */
static bool is_named(const char *dir, const char *shown)
{
	size_t len = strlen(PREFIX) + strlen(shown);
	const char *end = dir + strlen(dir);
	uint64_t pid, start;

	if (!strncmp(dir, KEPT, strlen(KEPT)))
		return !strcmp(dir + strlen(KEPT), shown);
	return !strncmp(dir, PREFIX, strlen(PREFIX)) &&
	       !strncmp(dir + strlen(PREFIX), shown, strlen(shown)) &&
	       number_before(dir, &end, &start) && number_before(dir, &end, &pid) &&
	       end == dir + len && !is_orphan(dir);
}

int tacho_kernel_find(const struct tacho_tracefs *t, const char *name,
		      char instance[TACHO_KERNEL_INSTANCE_MAX])
{
	char shown[NAME_SHOWN + 1];
	struct dirent *e;
	int fd, ret = -ENOENT;
	DIR *dir;

	fd = openat(t->dirfd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	show_name(name, shown);
	while (ret != -EEXIST && (e = readdir(dir))) {
		if (strlen(e->d_name) >= TACHO_KERNEL_INSTANCE_MAX ||
		    !is_named(e->d_name, shown))
			continue;
		memcpy(instance, e->d_name, strlen(e->d_name) + 1);
		ret = ret == -ENOENT ? 0 : -EEXIST;
	}
	closedir(dir);
	return ret;
}

/* ---- create ------------------------------------------------------------------ */

/* Computes the part of a session's name that is in the instance's name; returns 0 or -EINVAL. */
static int shown_name(const char *name, char shown[NAME_SHOWN + 1])
{
	if (!name || !*name || strchr(name, '/') || strchr(name, '\n'))
		return -EINVAL;
	show_name(name, shown);
	return 0;
}

static int make_name(struct tacho_kernel *k, const struct tacho_kernel_config *c,
		     struct tacho_diag *d)
{
	char shown[NAME_SHOWN + 1];
	uint64_t start;
	int ret;

	if (shown_name(c->name, shown))
		return tacho_diag(d, -EINVAL, 0,
				  "'%s' cannot be the name of an instance",
				  c->name ? c->name : "");
	if (c->keep) {
		snprintf(k->info.instance, sizeof(k->info.instance), KEPT "%s",
			 shown);
		return 0;
	}
	ret = tacho_process_start(getpid(), &start);
	if (ret < 0)
		return tacho_diag(d, ret, 0, "cannot read '/proc/self/stat'");
	snprintf(k->info.instance, sizeof(k->info.instance),
		 PREFIX "%s-%d-%llu", shown, (int)getpid(),
		 (unsigned long long)start);
	return 0;
}

static int make_directory(struct tacho_kernel *k, bool keep, struct tacho_diag *d)
{
	char path[96];
	int fd;

	snprintf(path, sizeof(path), "instances/%s", k->info.instance);
	if (mkdirat(k->tracefs.dirfd, path, 0700) == 0) {
		k->made = true;
	} else if (keep && errno == EEXIST) {
		k->info.found = true;
	} else {
		if (errno == EACCES || errno == EPERM)
			return tacho_diag(d, -errno, 0,
				"cannot make an instance in '%s': run as root",
				k->tracefs.path);
		return tacho_diag(d, -errno, 0,
				  "cannot make '%s' in tracefs: %s", path,
				  strerror(errno));
	}
	fd = openat(k->tracefs.dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", path,
				  strerror(errno));
	k->dirfd = fd;
	/* Kept open: it prevents removal by sweeps. */
	k->on_fd = openat(fd, "tracing_on", O_WRONLY | O_CLOEXEC);
	if (k->on_fd < 0)
		return tacho_diag(d, -errno, 0,
				  "cannot open 'tracing_on' in '%s': %s", path,
				  strerror(errno));
	return 0;
}

/* Whether `wish` is one of the words in "a b [c] d". */
static bool offers(const char *text, const char *wish)
{
	size_t len = strlen(wish);
	const char *at;

	for (at = text; (at = strstr(at, wish)); at += len)
		if ((at == text || strchr(" [", at[-1])) &&
		    strchr(" ]\n", at[len]))
			return true;
	return false;
}

/* Whether "[word]" is in text: setting a clock empties the buffers. */
static bool chosen(const char *text, const char *word)
{
	const char *at = strchr(text, '[');
	size_t len = strlen(word);

	return at && !strncmp(at + 1, word, len) && at[1 + len] == ']';
}

static int set_clock(struct tacho_kernel *k, const struct tacho_kernel_config *c,
		     struct tacho_diag *d)
{
	const char *clock = "mono";
	struct tacho_buf text;
	int ret;

	tacho_buf_init(&text, SMALL_FILE);
	ret = tacho_tracefs_read(k->dirfd, "trace_clock", &text, d);
	if (!ret && !c->mono && offers(tacho_buf_str(&text), "x86-tsc"))
		clock = "x86-tsc";
	if (!ret && !chosen(tacho_buf_str(&text), clock))
		ret = tacho_tracefs_write(k->dirfd, "trace_clock", clock, false, d);
	tacho_buf_release(&text);
	if (ret < 0)
		return ret;
	snprintf(k->info.clock, sizeof(k->info.clock), "%s", clock);
	k->info.clock_is_tsc = clock[0] == 'x';
	return 0;
}

static int write_number(int dirfd, const char *path, uint64_t v,
			struct tacho_diag *d)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)v);
	return tacho_tracefs_write(dirfd, path, text, false, d);
}

static int read_number(int dirfd, const char *path, uint64_t *v)
{
	struct tacho_buf text;
	int ret;

	tacho_buf_init(&text, SMALL_FILE);
	ret = tacho_buf_read_fileat(&text, dirfd, path);
	if (!ret) {
		const char *digits = tacho_buf_str(&text);

		*v = 0;
		(void)tacho_scan_digits(&digits, NULL, 10, UINT64_MAX, v);
	}
	tacho_buf_release(&text);
	return ret;
}

/*
 * Large sub-buffers mean fewer calls and fewer packets.  Kernels before 6.8
 * have pages only.
 */
static int set_buffer(struct tacho_kernel *k,
		      const struct tacho_kernel_config *c, struct tacho_diag *d)
{
	uint64_t sub = c->subbuf_size ? c->subbuf_size : 64 << 10;
	uint64_t size = c->buffer_size ? c->buffer_size : 4 << 20;
	uint64_t kb = 0;
	int ret;

	k->info.subbuf_size = (uint32_t)sysconf(_SC_PAGESIZE);
	if (sub > 64 << 10)
		sub = 64 << 10;
	write_number(k->dirfd, "buffer_subbuf_size_kb",
		     sub < 1024 ? 1 : sub >> 10, NULL);
	if (!read_number(k->dirfd, "buffer_subbuf_size_kb", &kb) && kb &&
	    kb <= 1024)
		k->info.subbuf_size = (uint32_t)kb << 10;
	ret = write_number(k->dirfd, "buffer_size_kb",
			   size < 1024 ? 1 : size >> 10, d);
	if (ret < 0)
		return ret;
	k->info.buffer_size = size;
	if (!read_number(k->dirfd, "per_cpu/cpu0/buffer_size_kb", &kb) && kb)
		k->info.buffer_size = kb << 10;
	write_number(k->dirfd, "buffer_percent",
		     c->wake_percent ? c->wake_percent : 25, NULL);
	ret = tacho_kernel_set_option(k, "overwrite", c->overwrite, d);
	k->info.overwrite = c->overwrite;
	return ret;
}

static int read_layout(struct tacho_kernel *k, struct tacho_diag *d)
{
	struct tacho_buf text;
	int ret;

	tacho_buf_init(&text, SMALL_FILE);
	ret = tacho_tracefs_read(k->dirfd, "events/header_page", &text, d);
	if (!ret)
		ret = tacho_kpage_layout_parse(&k->info.layout, text.data,
					       text.len, d);
	tacho_buf_release(&text);
	return ret;
}

static int count_cpus(struct tacho_kernel *k, struct tacho_diag *d)
{
	char path[48];
	uint32_t n;

	for (n = 0; n < 8192; n++) {
		snprintf(path, sizeof(path), "per_cpu/cpu%u", n);
		if (faccessat(k->dirfd, path, F_OK, 0) < 0)
			break;
	}
	k->info.nr_cpus = n;
	return n ? 0 : tacho_diag(d, -ENODEV, 0,
				  "'per_cpu' in tracefs has no buffers");
}

static int prepare(struct tacho_kernel *k, const struct tacho_kernel_config *c,
		   struct tacho_diag *d)
{
	int ret = tacho_kernel_stop(k, d);

	if (!ret)
		ret = set_clock(k, c, d);
	return ret ? ret : set_buffer(k, c, d);
}

/* Uses an existing instance without changing it. */
static int adopt(struct tacho_kernel *k, const struct tacho_kernel_config *c,
		 struct tacho_diag *d)
{
	uint64_t kb = 0, on = 0;
	int ret = set_clock(k, c, d);

	if (ret)
		return ret;
	k->info.subbuf_size = (uint32_t)sysconf(_SC_PAGESIZE);
	if (!read_number(k->dirfd, "buffer_subbuf_size_kb", &kb) && kb && kb <= 1024)
		k->info.subbuf_size = (uint32_t)kb << 10;
	if (!read_number(k->dirfd, "per_cpu/cpu0/buffer_size_kb", &kb))
		k->info.buffer_size = kb << 10;
	k->info.overwrite = c->overwrite;
	k->on = !read_number(k->dirfd, "tracing_on", &on) && on;
	return 0;
}

static int set_up(struct tacho_kernel *k, const struct tacho_kernel_config *c,
		  struct tacho_diag *d)
{
	int ret;

	ret = make_name(k, c, d);
	if (ret < 0)
		return ret;
	ret = make_directory(k, c->keep, d);
	if (ret < 0)
		return ret;
	ret = k->info.found ? adopt(k, c, d) : prepare(k, c, d);
	if (ret < 0)
		return ret;
	ret = read_layout(k, d);
	if (ret < 0)
		return ret;
	/* Not in every kernel; /proc has the same for living threads. */
	tacho_kernel_set_option(k, "record-tgid", true, NULL);
	return count_cpus(k, d);
}

static int remove_directory(const struct tacho_tracefs *t, const char *instance)
{
	char path[96];
	int try;

	snprintf(path, sizeof(path), "instances/%s", instance);
	/* A file that was just closed may not be released yet. */
	for (try = 0; unlinkat(t->dirfd, path, AT_REMOVEDIR) < 0; try++) {
		if (errno != EBUSY || try == 100)
			return -errno;
		usleep(1000);
	}
	return 0;
}

/* Closes and frees all; removes what was made. */
static int release(struct tacho_kernel *k, bool remove)
{
	int ret = 0;

	if (k->on_fd >= 0) {
		if (remove)
			(void)!write(k->on_fd, "0", 1);
		close(k->on_fd);
	}
	if (k->dirfd >= 0)
		close(k->dirfd);
	if (remove)
		ret = remove_directory(&k->tracefs, k->info.instance);
	tacho_tracefs_close(&k->tracefs);
	tacho_arena_release(&k->arena);
	free(k->enabled);
	free(k);
	return ret;
}

int tacho_kernel_create(struct tacho_kernel **kp,
			const struct tacho_kernel_config *config,
			struct tacho_diag *d)
{
	struct tacho_kernel *k = calloc(1, sizeof(*k));
	int ret;

	*kp = NULL;
	if (!k)
		return tacho_diag(d, -ENOMEM, 0, "no memory");
	k->dirfd = -1;
	k->on_fd = -1;
	tacho_arena_init(&k->arena, (size_t)64 << 20);
	ret = tacho_tracefs_open(&k->tracefs, TACHO_TRACEFS_MOUNT, d);
	if (ret < 0)
		goto fail;
	tacho_kernel_sweep(&k->tracefs, NULL);
	ret = set_up(k, config, d);
	if (ret < 0)
		goto fail;
	*kp = k;
	return 0;
fail:
	(void)release(k, k->made);
	return ret;
}

/* ---- recording ----------------------------------------------------- */

bool tacho_kernel_is_kept(const struct tacho_tracefs *t, const char *name)
{
	char shown[NAME_SHOWN + 1], path[96];

	if (shown_name(name, shown))
		return false;
	snprintf(path, sizeof(path), "instances/" KEPT "%s", shown);
	return !faccessat(t->dirfd, path, F_OK, 0);
}

int tacho_kernel_kept_each(const struct tacho_tracefs *t,
			   int (*fn)(const char *name, void *arg), void *arg)
{
	int fd = openat(t->dirfd, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int ret = 0;

	if (!dir) {
		ret = -errno;
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (e = readdir(dir)))
		if (!strncmp(e->d_name, KEPT, strlen(KEPT)))
			ret = fn(e->d_name + strlen(KEPT), arg);
	closedir(dir);
	return ret;
}

int tacho_kernel_remove_kept(const struct tacho_tracefs *t, const char *name)
{
	char shown[NAME_SHOWN + 1], instance[64];

	if (shown_name(name, shown))
		return -EINVAL;
	snprintf(instance, sizeof(instance), KEPT "%s", shown);
	return remove_directory(t, instance);
}

int tacho_kernel_destroy(struct tacho_kernel *k)
{
	return k ? release(k, k->made || k->info.found) : 0;
}

void tacho_kernel_leave(struct tacho_kernel *k)
{
	if (k)
		(void)release(k, false);
}

const struct tacho_kernel_info *tacho_kernel_info(const struct tacho_kernel *k)
{
	return &k->info;
}

int tacho_kernel_dirfd(const struct tacho_kernel *k)
{
	return k->dirfd;
}

const struct tacho_tracefs *tacho_kernel_tracefs(const struct tacho_kernel *k)
{
	return &k->tracefs;
}

const struct tacho_kernel_event *tacho_kernel_enabled(const struct tacho_kernel *k,
						      size_t i)
{
	return i < k->info.nr_enabled ? &k->enabled[i] : NULL;
}

static int switch_on(struct tacho_kernel *k, const char *digit,
		     struct tacho_diag *d)
{
	if (write(k->on_fd, digit, 1) == 1) {
		k->on = digit[0] == '1';
		return 0;
	}
	return tacho_diag(d, -errno, 0, "cannot write 'tracing_on' of '%s': %s",
			  k->info.instance, strerror(errno));
}

int tacho_kernel_start(struct tacho_kernel *k, struct tacho_diag *d)
{
	return switch_on(k, "1", d);
}

int tacho_kernel_stop(struct tacho_kernel *k, struct tacho_diag *d)
{
	return switch_on(k, "0", d);
}

int tacho_kernel_set_option(struct tacho_kernel *k, const char *name, bool on,
			    struct tacho_diag *d)
{
	char path[80];

	if (strchr(name, '/') || strlen(name) > 64)
		return tacho_diag(d, -EINVAL, 0, "'%s' is no trace option",
				  name);
	snprintf(path, sizeof(path), "options/%s", name);
	return tacho_tracefs_write(k->dirfd, path, on ? "1" : "0", false, d);
}

/* All threads of a process, each after a blank. */
static int put_threads(struct tacho_buf *list, int32_t pid)
{
	struct dirent *e;
	char path[48];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	dir = opendir(path);
	if (!dir)
		return errno == ENOENT ? -ESRCH : -errno;
	while ((e = readdir(dir))) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		tacho_buf_puts(list, e->d_name);
		tacho_buf_putc(list, ' ');
	}
	closedir(dir);
	return 0;
}

/*
 * Opening the file empties the list, and an empty list selects all processes: so recording stops
 * until the new list is written.
 */
static int replace_list(struct tacho_kernel *k, const char *path,
			const char *list, struct tacho_diag *d)
{
	bool on = k->on;
	int ret = 0, err;

	if (on)
		ret = tacho_kernel_stop(k, d);
	if (ret < 0)
		return ret;
	ret = tacho_tracefs_write(k->dirfd, path, list, false, d);
	if (on) {
		err = tacho_kernel_start(k, d);
		ret = ret < 0 ? ret : err;
	}
	return ret;
}

static int write_pids(struct tacho_kernel *k, const char *path,
		      const int32_t *pids, size_t n, struct tacho_diag *d)
{
	struct tacho_buf list;
	int ret = 0;
	size_t i;

	tacho_buf_init(&list, (size_t)16 << 20);
	for (i = 0; i < n; i++) {
		ret = put_threads(&list, pids[i]);
		if (ret < 0) {
			tacho_diag(d, ret, 0, "no process %d: %s",
				   (int)pids[i], strerror(-ret));
			goto out;
		}
	}
	ret = tacho_buf_error(&list);
	if (ret < 0)
		tacho_diag(d, ret, 0, "too many processes");
	else
		ret = replace_list(k, path, tacho_buf_str(&list), d);
out:
	tacho_buf_release(&list);
	return ret;
}

int tacho_kernel_set_pids(struct tacho_kernel *k, const int32_t *pids, size_t n,
			  bool follow, struct tacho_diag *d)
{
	int ret;

	/* First, so that a thread made while the list is read is not missed. */
	ret = tacho_kernel_set_option(k, "event-fork", n && follow, d);
	if (ret < 0)
		return ret;
	return write_pids(k, "set_event_pid", pids, n, d);
}

int tacho_kernel_set_not_pids(struct tacho_kernel *k, const int32_t *pids,
			      size_t n, struct tacho_diag *d)
{
	return write_pids(k, "set_event_notrace_pid", pids, n, d);
}
