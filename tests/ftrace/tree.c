// SPDX-License-Identifier: MIT
/*
 * The mounted tree as plain functions, without FUSE: whatever is opened, read and
 * written, it answers with a number and goes on; and so it does to many at once.
 *
 * tree [kernel]: with the kernel's events, or with those of programs only.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/buf.h"
#include "compat/ftrace/tree.h"
#include "ring/write.h"
#include "session/session.h"
#include "unit/test.h"

#define NR_ERRNO	4096
#define JUNK		70000

static bool with_kernel;
static char name[40];		/* of the session, and of the instance in the kernel */
static char own[60];		/* "/instances/NAME" */

/* An event of a program, as a session knows it that has recorded one. */
static const char hit_text[] =
	"test:hit\nformat:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
	"\tfield:int number;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned char small;\toffset:12;\tsize:1;\tsigned:0;\n"
	"\tfield:char fixed[8];\toffset:16;\tsize:8;\tsigned:1;\n"
	"\tfield:__data_loc char[] text;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long wide;\toffset:32;\tsize:8;\tsigned:0;\n"
	"\nprint fmt: \"number=%d small=%u fixed=%s text=%s wide=%lu\", REC->number, "
	"REC->small, REC->fixed, __get_str(text), REC->wide\n";

static struct tacho_tree_caller me(void)
{
	return (struct tacho_tree_caller){ .pid = getpid(), .nonblock = true };
}

/* ---- one file ---- */

static int open_one(struct tacho_tree *t, const char *path, int flags,
		    struct tacho_tree_file **f)
{
	struct tacho_tree_caller c = me();

	return tacho_tree_open_file(t, path, flags, &c, f);
}

/* The text of a file; freed by who asks. */
static char *read_all(struct tacho_tree *t, const char *path)
{
	struct tacho_tree_caller c = me();
	struct tacho_tree_file *f;
	struct tacho_buf b;
	char part[1000], *text;
	ssize_t n = -1;

	tacho_buf_init(&b, (size_t)64 << 20);
	if (!open_one(t, path, O_RDONLY, &f)) {
		while ((n = tacho_tree_read(f, part, sizeof(part), b.len, &c)) > 0)
			tacho_buf_put(&b, part, (size_t)n);
		tacho_tree_close_file(f);
	}
	text = n == 0 || n == -EAGAIN ? strdup(tacho_buf_str(&b)) : strdup("(unreadable)");
	tacho_buf_release(&b);
	return text;
}

static bool has(struct tacho_tree *t, const char *path, const char *words)
{
	char *text = read_all(t, path);
	bool there = strstr(text, words);

	free(text);
	return there;
}

/* Whether the kernel's event is there of our being called so; others may be, too. */
static bool has_rename(struct tacho_tree *t, const char *path, const char *comm)
{
	char *text = read_all(t, path), *rest = text, *line, us[48], new[32];
	bool there = false;

	(void)snprintf(us, sizeof(us), " task_rename: pid=%d ", gettid());
	(void)snprintf(new, sizeof(new), " newcomm=%s ", comm);
	while (!there && (line = strsep(&rest, "\n")))
		there = strstr(line, us) && strstr(line, new);
	free(text);
	return there;
}

static ssize_t write_bytes(struct tacho_tree *t, const char *path, int flags,
			   const char *bytes, size_t len)
{
	struct tacho_tree_caller c = me();
	struct tacho_tree_file *f;
	ssize_t n = open_one(t, path, O_WRONLY | flags, &f);

	if (n)
		return n;
	n = tacho_tree_write(f, bytes, len, &c);
	tacho_tree_close_file(f);
	return n;
}

/* 0, or what is wrong. */
static int put(struct tacho_tree *t, const char *path, const char *text)
{
	size_t len = strlen(text);
	ssize_t n = write_bytes(t, path, O_APPEND, text, len);

	return n == (ssize_t)len ? 0 : (int)n;
}

/* ---- opening and closing ---- */

static struct tacho_tree *make_tree_of(const char *session, uint64_t buffer_size)
{
	const struct tacho_tree_config config = {
		.session = session, .buffer_size = buffer_size, .no_kernel = !with_kernel,
		.uid = 7, .gid = 8,
	};
	struct tacho_diag d = { 0 };
	struct tacho_tree *t = NULL;

	if (!CHECK_EQ(tacho_tree_open(&t, &config, &d), 0))
		printf("# %s\n", d.text);
	return t;
}

static struct tacho_tree *make_tree(const char *session)
{
	return make_tree_of(session, 65536);
}

/* A session of the tree's, as another tool opens it. */
static void open_session(struct tacho_dir *dir, struct tacho_session *s)
{
	CHECK_EQ(tacho_dir_open(dir, false, NULL), 0);
	CHECK_EQ(tacho_session_open(s, dir, name, NULL), 0);
}

static void add_hit_type(void)
{
	struct tacho_session s;
	struct tacho_dir dir;

	open_session(&dir, &s);
	CHECK(tacho_types_add(&s.view, hit_text, sizeof(hit_text) - 1) > 0);
	tacho_session_close(&s);
	tacho_dir_close(&dir);
}

static int count_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* ---- everything that is there ---- */

struct walk {
	struct tacho_tree *t;
	const char *dir;
	void (*file)(struct tacho_tree *t, const char *path);
	uint32_t dirs, files;
};

/* Of the kernel's 2,000 events the files of some; directories of all. */
static bool is_passed_over(const char *dir, const char *entry)
{
	uint32_t sum = 0;

	if (!with_kernel || strncmp(dir, "/events/", 8) || !strcmp(dir, "/events/test") ||
	    !strcmp(dir, "/events/sched"))
		return false;
	for (const char *at = entry; *at; at++)
		sum = sum * 31 + (unsigned char)*at;
	return sum % 256;
}

/* An event of the kernel that somebody else made, and took away since it was listed. */
static bool is_gone(struct tacho_tree *t, const char *path)
{
	struct tacho_tree_stat st;

	return with_kernel && !strncmp(path, "/events/", 8) &&
	       strncmp(path, "/events/test", 12) && strncmp(path, "/events/sched", 13) &&
	       tacho_tree_stat(t, path, &st) == -ENOENT;
}

static int visit(const char *entry, const struct tacho_tree_stat *entry_st, void *arg)
{
	bool is_dir = S_ISDIR(entry_st->mode);
	struct walk *w = arg, below;
	struct tacho_tree_stat st;
	char path[600];

	(void)snprintf(path, sizeof(path), "%s/%s", strcmp(w->dir, "/") ? w->dir : "",
		       entry);
	if (is_gone(w->t, path))
		return 0;
	if (!CHECK_EQ(tacho_tree_stat(w->t, path, &st), 0))
		printf("# %s\n", path);
	/* the list says what stat(2) does */
	CHECK_EQ(st.ino, entry_st->ino);
	CHECK_EQ(st.mode, entry_st->mode);
	CHECK_EQ(st.may_go, entry_st->may_go);
	CHECK_EQ(st.uid, 7);
	CHECK_EQ(st.gid, 8);
	CHECK_EQ(st.mode & 077, 0);
	if (!is_dir) {
		w->files++;
		if (w->file)
			w->file(w->t, path);
		return 0;
	}
	w->dirs++;
	if (is_passed_over(w->dir, entry))
		return 0;
	below = *w;
	below.dir = path;
	CHECK(!tacho_tree_list(w->t, path, visit, &below) || is_gone(w->t, path));
	w->dirs = below.dirs;
	w->files = below.files;
	return 0;
}

static struct walk walk_all(struct tacho_tree *t,
			    void (*file)(struct tacho_tree *t, const char *path))
{
	struct walk w = { .t = t, .dir = "/", .file = file };

	CHECK_EQ(tacho_tree_list(t, "/", visit, &w), 0);
	return w;
}

/* Files of the kernel's top, which are everybody's. */
static bool is_everybodys(const char *path)
{
	return strstr(path, "probe_events") || !strcmp(path, "/dynamic_events");
}

static void read_oddly(struct tacho_tree *t, const char *path)
{
	static const struct {
		size_t size;
		uint64_t offset;
	} reads[] = {
		{ 1, 0 }, { 1, 1 }, { 7, 2 }, { 4095, 9 }, { 4096, 4104 }, { 3, 1 },
		{ 65536, 0 }, { 1, UINT64_C(1) << 40 }, { 100, INT64_MAX }, { 0, 0 },
	};
	struct tacho_tree_caller c = me();
	struct tacho_tree_file *f;
	char *to = malloc(65536);

	if (open_one(t, path, O_RDONLY | O_NONBLOCK, &f)) {
		free(to);
		return;
	}
	for (size_t i = 0; i < sizeof(reads) / sizeof(reads[0]); i++) {
		ssize_t n = tacho_tree_read(f, to, reads[i].size, reads[i].offset, &c);

		if (!CHECK(n > -NR_ERRNO && n <= (ssize_t)reads[i].size))
			printf("# %s: %zd\n", path, n);
	}
	(void)tacho_tree_poll(f);
	tacho_tree_close_file(f);
	free(to);
}

/* Every mode: 0, or a refusal that open(2) may give. */
static void open_file(struct tacho_tree *t, const char *path)
{
	static const int modes[] = {
		O_RDONLY, O_WRONLY, O_RDWR, O_RDONLY | O_TRUNC, O_WRONLY | O_TRUNC,
		O_RDWR | O_TRUNC, O_WRONLY | O_APPEND, O_RDWR | O_NONBLOCK,
	};
	struct tacho_tree_caller c = me();

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		bool reads = (modes[i] & O_ACCMODE) != O_WRONLY;
		struct tacho_tree_file *f;
		char byte;
		int err;

		if (modes[i] & O_TRUNC && is_everybodys(path))
			continue;
		err = open_one(t, path, modes[i], &f);
		if (!CHECK(!err || err == -EINVAL || err == -EACCES || err == -EPERM ||
			   err == -EBUSY || err == -ENODEV))
			printf("# %s: %d\n", path, err);
		if (err)
			continue;
		if (!reads)
			CHECK_EQ(tacho_tree_read(f, &byte, 1, 0, &c), -EBADF);
		else if ((modes[i] & O_ACCMODE) == O_RDONLY)
			CHECK_EQ(tacho_tree_write(f, "1", 1, &c), -EBADF);
		tacho_tree_close_file(f);
	}
	read_oddly(t, path);
	CHECK_EQ(tacho_tree_truncate(t, path), 0);
}

static void test_everything(void)
{
	struct tacho_tree *t = make_tree(name);
	struct walk w;

	add_hit_type();
	w = walk_all(t, open_file);
	CHECK(w.files > 60);
	CHECK(w.dirs > 5);
	tacho_tree_close(t, true);
}

/* ---- names ---- */

static const struct {
	const char *path;
	int err;
} names[] = {
	{ "/", 0 }, { "//", 0 }, { "/trace", 0 }, { "/trace/", 0 }, { "//trace", 0 },
	{ "/nothing", -ENOENT }, { "/trace/x", -ENOTDIR }, { "/..", -ENOENT },
	{ "/events/..", -ENOENT }, { "/events/test/../enable", -ENOENT },
	{ "/events", 0 }, { "/events/test", 0 }, { "/events/test/hit", 0 },
	{ "/events/test/hit/enable", 0 }, { "/events/test/hit/enable/x", -ENOTDIR },
	{ "/events/test/hit/nothing", -ENOENT }, { "/events/test/miss", -ENOENT },
	{ "/events/none", -ENOENT }, { "/events/none/x/enable", -ENOENT },
	{ "/events/enable", 0 }, { "/events/test/enable", 0 },
	{ "/events/test/hit/hit/hit", -ENOENT }, { "/options/raw", 0 },
	{ "/options/none", -ENOENT }, { "/options/raw/x", -ENOTDIR },
	{ "/per_cpu/cpu0", 0 }, { "/per_cpu/cpu0/trace", 0 },
	{ "/per_cpu/cpu99999", -ENOENT }, { "/per_cpu/cpu-1", -ENOENT },
	{ "/per_cpu/cpu", -ENOENT }, { "/per_cpu/cpu18446744073709551616", -ENOENT },
	{ "/per_cpu/gpu0", -ENOENT }, { "/per_cpu/cpu0/none", -ENOENT },
	{ "/instances", 0 }, { "/instances/none", -ENOENT },
	{ "/instances/none/trace", -ENOENT }, { own, -ENOENT },
};

static void test_names(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_stat st;
	struct tacho_tree_file *f;
	char path[9000] = "/";

	add_hit_type();
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!CHECK_EQ(tacho_tree_stat(t, names[i].path, &st), names[i].err))
			printf("# %s\n", names[i].path);
	/* names that are too long for anything */
	memset(path + 1, 'x', sizeof(path) - 2);
	CHECK_EQ(tacho_tree_stat(t, path, &st), -ENOENT);
	memcpy(path, "/events/", 8);
	CHECK_EQ(tacho_tree_stat(t, path, &st), -ENOENT);
	memcpy(path, "/events/test/", 13);
	CHECK_EQ(tacho_tree_stat(t, path, &st), -ENOENT);
	memcpy(path, "/instances/", 11);
	CHECK_EQ(tacho_tree_stat(t, path, &st), -ENOENT);
	CHECK_EQ(open_one(t, "/events", O_RDONLY, &f), -EISDIR);
	CHECK_EQ(open_one(t, "/", O_RDONLY, &f), -EISDIR);
	CHECK_EQ(open_one(t, "/nothing", O_RDONLY, &f), -ENOENT);
	CHECK_EQ(tacho_tree_list(t, "/trace", visit, NULL), -ENOTDIR);
	CHECK_EQ(tacho_tree_list(t, "/nothing", visit, NULL), -ENOENT);
	CHECK_EQ(tacho_tree_truncate(t, "/events"), -EISDIR);
	CHECK_EQ(tacho_tree_truncate(t, "/nothing"), -ENOENT);
	tacho_tree_close(t, true);
}

/* ---- junk ---- */

static char junk_page[JUNK];

static const struct {
	const char *bytes;
	size_t len;
} junk[] = {
	{ "", 0 }, { "\0", 1 }, { "\0\0\0abc", 6 }, { "\xff\xfe\x80\n", 4 },
	{ "../../etc/passwd\n", 17 }, { "a/b:c/../d", 10 }, { "!", 1 }, { " \n\t ", 4 },
	{ "hist:", 5 }, { "!hist:keys=", 11 }, { "hist:keys=number:", 17 },
	{ "-1", 2 }, { "99999999999999999999999999\n", 27 }, { "0x", 2 },
	{ "%s%n%d", 6 }, { "number == ", 10 }, { "(((((((((((", 11 }, { "*", 1 },
	{ "[", 1 }, { "a b c d e f", 11 }, { "\"", 1 }, { "1\n1\n1\n", 6 },
	{ junk_page, 4095 }, { junk_page, 4096 }, { junk_page, 4097 }, { junk_page, JUNK },
};

static void write_junk(struct tacho_tree *t, const char *path)
{
	struct tacho_tree_caller c = me();
	struct tacho_tree_file *f;

	/* each time it is closed the buffers are made anew */
	if (is_everybodys(path) || strstr(path, "free_buffer"))
		return;
	if (open_one(t, path, O_WRONLY, &f))
		return;
	for (size_t i = 0; i < sizeof(junk) / sizeof(junk[0]); i++) {
		ssize_t n = tacho_tree_write(f, junk[i].bytes, junk[i].len, &c);

		if (!CHECK(n > -NR_ERRNO && n <= (ssize_t)junk[i].len))
			printf("# %s: %zd of junk %zu\n", path, n, i);
	}
	tacho_tree_close_file(f);
}

/* It records, filters and shows as before. */
static void check_alive(struct tacho_tree *t)
{
	CHECK_EQ(put(t, "/tracing_on", "1"), 0);
	CHECK_EQ(put(t, "/options/markers", "1"), 0);
	CHECK_EQ(put(t, "/options/context-info", "1"), 0);
	CHECK_EQ(put(t, "/trace_marker", "still here\n"), 0);
	CHECK(has(t, "/trace", ": still here\n"));
	CHECK_EQ(put(t, "/events/test/hit/filter", "number > 3"), 0);
	CHECK(has(t, "/events/test/hit/filter", "number > 3\n"));
	CHECK_EQ(put(t, "/events/test/hit/filter", "0"), 0);
	CHECK(has(t, "/events/test/hit/filter", "none\n"));
}

static void test_junk(void)
{
	struct tacho_tree *t = make_tree(name);

	memset(junk_page, 'x', sizeof(junk_page));
	add_hit_type();
	(void)walk_all(t, write_junk);
	(void)put(t, "/options/raw", "0");
	for (int i = 0; i < 4; i++) {
		static const char *const shows[] = { "raw", "hex", "bin", "fields" };
		char path[40];

		(void)snprintf(path, sizeof(path), "/options/%s", shows[i]);
		CHECK_EQ(put(t, path, "0"), 0);
	}
	check_alive(t);
	CHECK_EQ(write_bytes(t, "/error_log", O_TRUNC, "", 0), 0);
	tacho_tree_close(t, true);
}

/* ---- what is refused ---- */

static const struct {
	const char *path, *text;
	int err;
	const char *log;	/* words of error_log; or NULL: empty */
} refused[] = {
	{ "/tracing_on", "maybe", -EINVAL, NULL },
	{ "/tracing_on", "", -EINVAL, NULL },
	{ "/trace_clock", "sundial", -EINVAL, NULL },
	{ "/current_tracer", "function", -EINVAL, NULL },
	{ "/buffer_size_kb", "0", -EINVAL, NULL },
	{ "/buffer_size_kb", "-1", -EINVAL, NULL },
	{ "/buffer_percent", "101", -EINVAL, NULL },
	{ "/saved_cmdlines_size", "0", -EINVAL, NULL },
	{ "/saved_cmdlines_size", "32769", -EINVAL, NULL },
	{ "/tracing_thresh", "much", -EINVAL, NULL },
	{ "/trace_options", "nonsense", -EINVAL, NULL },
	{ "/options/raw", "2", -EINVAL, NULL },
	{ "/set_event", "none:none", -EINVAL, NULL },
	{ "/set_event", "none", -EINVAL, NULL },
	{ "/set_event", "none:*", 0, NULL },
	{ "/set_event", "!none:", 0, NULL },
	{ "/set_event", "no-ne:*", -EINVAL, NULL },
	{ "/set_event", "0none:*", -EINVAL, NULL },
	{ "/set_event", "te*:hit", -EINVAL, NULL },
	{ "/set_event", "test:h?t", -EINVAL, NULL },
	{ "/set_event", "!test:[h]it", -EINVAL, NULL },
	{ "/set_event", "*", -EINVAL, NULL },
	{ "/set_event", "*:hit", 0, NULL },
	{ "/set_event", "!test:*", 0, NULL },
	{ "/set_event_pid", "me", -EINVAL, NULL },
	{ "/set_event_notrace_pid", "me", -EINVAL, NULL },
	{ "/events/enable", "2", -EINVAL, NULL },
	{ "/events/test/hit/enable", "on", -EINVAL, NULL },
	{ "/events/test/hit/filter", "nummer == 3", -EINVAL, "Field not found" },
	{ "/events/test/hit/filter", "number == ", -EINVAL, "^" },
	{ "/events/test/hit/trigger", "hist:keys=nummer", -EINVAL, "Couldn't find field" },
	{ "/events/test/hit/trigger", "explode", -EINVAL, NULL },
	{ "/events/test/hit/trigger", "!traceon", 0, NULL },
	{ "/events/test/hit/inject", "number", -EINVAL, NULL },
	{ "/events/test/hit/inject", "=3", -EINVAL, NULL },
	{ "/events/test/hit/inject", "nummer=3", -ENOENT, NULL },
	{ "/events/test/hit/inject", "number='3'", -EINVAL, NULL },
	{ "/events/test/hit/inject", "text=3", -EINVAL, NULL },
	{ "/events/test/hit/inject", "text=\"open", -EINVAL, NULL },
	{ "/events/test/hit/inject", "number=3x", -EINVAL, NULL },
	{ "/events/test/hit/inject", "wide=-1", -EINVAL, NULL },
	{ "/events/test/hit/inject", "wide=18446744073709551616", -ERANGE, NULL },
	{ "/events/test/hit/inject", "wide=0x10000000000000000", -ERANGE, NULL },
	{ "/events/test/hit/inject", "wide=99999999999999999999x", -ERANGE, NULL },
	{ "/events/test/hit/inject", "number=9223372036854775808", -ERANGE, NULL },
	{ "/events/test/hit/inject", "number=-9223372036854775809", -ERANGE, NULL },
	{ "/events/test/hit/inject", "number=-", -EINVAL, NULL },
	{ "/events/test/hit/inject", "number=--5", -EINVAL, NULL },
	{ "/events/test/hit/inject", "number=-+5", -EINVAL, NULL },
	{ "/events/test/hit/inject", "number=+5", -EINVAL, NULL },
	{ "/events/test/hit/inject", "number=0x", -EINVAL, NULL },
	{ "/events/test/hit/inject", "number=08", -EINVAL, NULL },
	{ "/events/test/hit/inject", "number=0b1", -EINVAL, NULL },
	{ "/synthetic_events", "made int", -EINVAL, "synthetic_events" },
	{ "/snapshot", "x", -EINVAL, NULL },
	{ "/per_cpu/cpu0/snapshot", "1", -EINVAL, NULL },
	{ "/trace_marker_raw", "abc", -EINVAL, NULL },
};

static void test_refused(void)
{
	struct tacho_tree *t = make_tree(name);

	add_hit_type();
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		char *log;

		CHECK_EQ(write_bytes(t, "/error_log", O_TRUNC, "", 0), 0);
		if (!CHECK_EQ(put(t, refused[i].path, refused[i].text), refused[i].err))
			printf("# '%s' to %s\n", refused[i].text, refused[i].path);
		log = read_all(t, "/error_log");
		if (!CHECK(refused[i].log ? strstr(log, refused[i].log) != NULL : !*log))
			printf("# '%s' to %s: %s\n", refused[i].text, refused[i].path, log);
		free(log);
	}
	tacho_tree_close(t, true);
}

/* ---- inject, hist_debug and the small files ---- */

static void test_inject(void)
{
	struct tacho_tree *t = make_tree(name);
	const char *file = "/events/test/hit/inject";

	add_hit_type();
	CHECK_EQ(put(t, file, "number=-5 small=0xff fixed='abcdefghij' wide=010\n"), 0);
	CHECK(has(t, "/trace", "hit: number=-5 small=255 fixed=abcdefg text= wide=8\n"));
	CHECK_EQ(put(t, file, "number=-0x7 small=010 wide=18446744073709551615"), 0);
	CHECK(has(t, "/trace", "hit: number=-7 small=8 fixed= text= wide=18446744073709551615\n"));
	CHECK_EQ(put(t, file, "text=\"a b\" number = 7 number=8 common_pid=4711"), 0);
	CHECK(has(t, "/trace", "-4711 "));
	CHECK(has(t, "/trace", "hit: number=8 small=0 fixed= text=a b wide=0\n"));
	/* its filter counts, whether it is enabled or not does not */
	CHECK_EQ(put(t, "/events/test/hit/filter", "number == 1"), 0);
	CHECK_EQ(put(t, file, "number=2 text='no'"), 0);
	CHECK_EQ(put(t, file, "number=1 text='yes'"), 0);
	CHECK(has(t, "/trace", "text=yes"));
	CHECK(!has(t, "/trace", "text=no"));
	CHECK_EQ(put(t, "/tracing_on", "0"), 0);
	CHECK_EQ(put(t, file, "number=1 text='off'"), 0);
	CHECK(!has(t, "/trace", "text=off"));
	tacho_tree_close(t, true);
}

static void test_small_files(void)
{
	struct tacho_tree *t = make_tree(name);
	char text[40];

	add_hit_type();
	CHECK_EQ(put(t, "/tracing_thresh", "250"), 0);
	CHECK(has(t, "/tracing_thresh", "250\n"));
	CHECK_EQ(put(t, "/set_event_notrace_pid", "5 4 5"), 0);
	CHECK_EQ(put(t, "/set_event_notrace_pid", "3"), 0);
	CHECK(has(t, "/set_event_notrace_pid", "3\n4\n5\n"));
	CHECK_EQ(write_bytes(t, "/set_event_notrace_pid", O_TRUNC, "", 0), 0);
	CHECK(!has(t, "/set_event_notrace_pid", "3"));
	CHECK_EQ(put(t, "/events/test/hit/inject", "common_pid=1"), 0);
	CHECK_EQ(put(t, "/events/test/hit/inject", "common_pid=2"), 0);
	CHECK(has(t, "/saved_cmdlines", "1 "));
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/names"), 0);
	CHECK_EQ(put(t, "/instances/names/trace_marker", "mine"), 0);
	(void)snprintf(text, sizeof(text), "%d tacho-tree", getpid());
	CHECK_EQ(prctl(PR_SET_NAME, "tacho-tree"), 0);
	CHECK_EQ(put(t, "/instances/names/trace_marker", "mine"), 0);
	CHECK(has(t, "/saved_cmdlines", text));
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/names"), 0);
	CHECK_EQ(put(t, "/saved_cmdlines_size", "1"), 0);
	CHECK(!has(t, "/saved_cmdlines", "1 systemd\n1"));
	tacho_tree_close(t, true);
}

/* ---- directories ---- */

static void test_directories(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_file *f, *g;
	struct tacho_tree_stat st;
	char longest[200] = "/instances/";

	memset(longest + 11, 'n', 100);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/one"), 0);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/one"), -EEXIST);
	CHECK_EQ(tacho_tree_mkdir(t, own), -EEXIST);
	CHECK_EQ(tacho_tree_stat(t, "/instances/a b", &st), -ENOENT);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/a b"), -EINVAL);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/.."), -EINVAL);
	CHECK_EQ(tacho_tree_mkdir(t, longest), -ENAMETOOLONG);
	CHECK_EQ(tacho_tree_mkdir(t, "/one"), -EPERM);
	CHECK_EQ(tacho_tree_mkdir(t, "/events/one"), -EPERM);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances"), -EPERM);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/one/two"), -EPERM);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/one/events"), -EPERM);
	CHECK_EQ(tacho_tree_rmdir(t, "/events"), -EPERM);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances"), -EPERM);
	CHECK_EQ(tacho_tree_rmdir(t, "/"), -EPERM);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/none"), -ENOENT);
	CHECK_EQ(tacho_tree_rmdir(t, own), -ENOENT);
	CHECK_EQ(tacho_tree_stat(t, "/instances/one/instances", &st), -ENOENT);
	CHECK_EQ(open_one(t, "/instances/one/trace", O_RDONLY, &f), 0);
	CHECK_EQ(open_one(t, "/instances/one/events/enable", O_RDWR, &g), 0);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/one"), -EBUSY);
	tacho_tree_close_file(f);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/one"), -EBUSY);
	tacho_tree_close_file(g);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/one"), 0);
	CHECK_EQ(tacho_tree_stat(t, "/instances/one", &st), -ENOENT);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/one"), 0);
	tacho_tree_close(t, true);
	t = make_tree(name);
	/* what a tree has made goes with it */
	CHECK_EQ(tacho_tree_stat(t, "/instances/one", &st), -ENOENT);
	tacho_tree_close(t, true);
}

/* README names no file that is not there. */
static void test_readme(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_stat st;
	char *text = read_all(t, "/README"), path[80];
	uint32_t n = 0;

	for (char *at = text; (at = strstr(at, "\n  ")); at++) {
		size_t len = strspn(at + 3, "abcdefghijklmnopqrstuvwxyz_");

		if (!len || at[3 + len] != '\t')
			continue;
		(void)snprintf(path, sizeof(path), "/%.*s", (int)len, at + 3);
		if (!CHECK_EQ(tacho_tree_stat(t, path, &st), 0))
			printf("# %s\n", path);
		n++;
	}
	CHECK(n > 15);
	CHECK_EQ(strstr(text, "tracing_cpumask") != NULL,
		 tacho_tree_stat(t, "/tracing_cpumask", &st) == 0);
	free(text);
	tacho_tree_close(t, true);
}

static void *close_late(void *file)
{
	usleep(300000);
	tacho_tree_close_file(file);
	return NULL;
}

/* The release of a file comes after its close(2), and rmdir waits for it; but for no file in use. */
static void test_remove_closed(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_caller c = { .pid = 1 };
	struct tacho_tree_file *f;
	pthread_t thread;
	char text[16];

	CHECK_EQ(tacho_tree_mkdir(t, "/instances/late"), 0);
	CHECK_EQ(open_one(t, "/instances/late/tracing_on", O_RDONLY, &f), 0);
	tacho_tree_flush(f);
	CHECK(tacho_tree_read(f, text, sizeof(text), 0, &c) > 0);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/late"), -EBUSY);
	tacho_tree_flush(f);
	tacho_tree_flush(f);
	CHECK_EQ(pthread_create(&thread, NULL, close_late, f), 0);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/late"), 0);
	CHECK_EQ(pthread_join(thread, NULL), 0);
	tacho_tree_close(t, true);
}

static void test_attributes(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_stat st;

	CHECK_EQ(tacho_tree_chmod(t, "/trace", 0644), 0);
	CHECK_EQ(tacho_tree_chown(t, "/trace", UINT32_MAX, 99), 0);
	CHECK_EQ(tacho_tree_stat(t, "/trace", &st), 0);
	CHECK_EQ(st.mode, S_IFREG | 0644);
	CHECK_EQ(st.uid, 7);
	CHECK_EQ(st.gid, 99);
	CHECK_EQ(tacho_tree_chmod(t, "/events", 0755), 0);
	CHECK_EQ(tacho_tree_stat(t, "/events", &st), 0);
	CHECK_EQ(st.mode, S_IFDIR | 0755);
	CHECK_EQ(tacho_tree_chmod(t, "/nothing", 0644), -ENOENT);
	CHECK_EQ(tacho_tree_chown(t, "/nothing", 1, 1), -ENOENT);
	CHECK_EQ(tacho_tree_stat(t, "/trace_pipe", &st), 0);
	CHECK_EQ(st.mode & 0777, 0400);
	tacho_tree_close(t, true);
}

/* An instance that is made again is a new one. */
static void test_attributes_of_gone(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_stat st;

	CHECK_EQ(tacho_tree_mkdir(t, "/instances/one"), 0);
	CHECK_EQ(tacho_tree_chmod(t, "/instances/one/trace", 0666), 0);
	CHECK_EQ(tacho_tree_chmod(t, "/instances/one", 0777), 0);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/one"), 0);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/one"), 0);
	CHECK_EQ(tacho_tree_stat(t, "/instances/one/trace", &st), 0);
	CHECK_EQ(st.mode & 0777, 0600);
	CHECK_EQ(tacho_tree_stat(t, "/instances/one", &st), 0);
	CHECK_EQ(st.mode & 0777, 0700);
	tacho_tree_close(t, true);
}

/* ---- waiting ---- */

static bool third_time(void *arg)
{
	return ++*(int *)arg >= 3;
}

static void test_waiting(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_file *f;
	struct tacho_tree_caller c = me();
	char text[300];
	int asked = 0;

	CHECK_EQ(open_one(t, "/trace_pipe", O_RDONLY, &f), 0);
	CHECK(tacho_tree_is_stream(f));
	CHECK_EQ(tacho_tree_read(f, text, sizeof(text), 0, &c), -EAGAIN);
	c = (struct tacho_tree_caller){ .pid = getpid(), .interrupted = third_time,
					.arg = &asked };
	CHECK_EQ(tacho_tree_read(f, text, sizeof(text), 0, &c), -EINTR);
	CHECK(asked >= 3);
	c = me();
	CHECK_EQ(put(t, "/buffer_percent", "0"), 0);
	CHECK_EQ(tacho_tree_poll(f) & POLLIN, 0);
	CHECK_EQ(put(t, "/trace_marker", "wake"), 0);
	CHECK_EQ(tacho_tree_poll(f) & POLLIN, POLLIN);
	CHECK(tacho_tree_read(f, text, sizeof(text), 0, &c) > 0);
	CHECK_EQ(tacho_tree_poll(f) & POLLIN, 0);
	tacho_tree_close_file(f);
	tacho_tree_close(t, true);
}

/* A session that another tool destroys while its files are open. */
static void test_destroyed(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_caller c = { .pid = getpid() };
	struct tacho_tree_file *pipe, *trace, *enable;
	struct tacho_tree_stat st;
	struct tacho_session s;
	struct tacho_dir dir;
	char text[4096];

	CHECK_EQ(tacho_tree_mkdir(t, "/instances/one"), 0);
	CHECK_EQ(open_one(t, "/instances/one/trace_pipe", O_RDONLY, &pipe), 0);
	CHECK_EQ(open_one(t, "/instances/one/trace", O_RDWR, &trace), 0);
	CHECK_EQ(open_one(t, "/instances/one/tracing_on", O_RDWR, &enable), 0);
	CHECK_EQ(put(t, "/instances/one/trace_marker", "before"), 0);
	CHECK_EQ(tacho_dir_open(&dir, false, NULL), 0);
	CHECK_EQ(tacho_session_open(&s, &dir, "one", NULL), 0);
	CHECK_EQ(tacho_session_destroy(&s, NULL), 0);
	/* whoever waits is told the end, whatever was there before */
	while (tacho_tree_read(pipe, text, sizeof(text), 0, &c) > 0)
		;
	(void)tacho_tree_read(trace, text, sizeof(text), 0, &c);
	CHECK(tacho_tree_write(enable, "1", 1, &c) < 0);
	CHECK_EQ(put(t, "/instances/one/trace_marker", "after"), -ENOENT);
	CHECK_EQ(tacho_tree_stat(t, "/instances/one", &st), -ENOENT);
	CHECK_EQ(tacho_tree_rmdir(t, "/instances/one"), -ENOENT);
	CHECK_EQ(tacho_tree_mkdir(t, "/instances/one"), 0);
	CHECK_EQ(put(t, "/instances/one/trace_marker", "anew"), 0);
	CHECK(has(t, "/instances/one/trace", "anew"));
	tacho_tree_close_file(pipe);
	tacho_tree_close_file(trace);
	tacho_tree_close_file(enable);
	tacho_dir_close(&dir);
	tacho_tree_close(t, true);
}

/* ---- two trees of one session ---- */

static void test_two_trees(void)
{
	struct tacho_tree *a = make_tree(name), *b = make_tree(name);

	add_hit_type();
	CHECK_EQ(put(a, "/events/test/hit/enable", "1"), 0);
	CHECK(has(b, "/events/test/hit/enable", "1"));
	CHECK_EQ(put(b, "/events/test/hit/filter", "number == 3"), 0);
	CHECK(has(a, "/events/test/hit/filter", "number == 3"));
	CHECK_EQ(put(a, "/trace_marker", "of a"), 0);
	CHECK(has(b, "/trace", "of a"));
	tacho_tree_close(b, true);
	/* b did not make the session, so it goes on */
	CHECK_EQ(put(a, "/trace_marker", "goes on"), 0);
	CHECK(has(a, "/trace", "goes on"));
	tacho_tree_close(a, true);
}

/* ---- many at once ---- */

#define ROUNDS	60

struct crew {
	struct tacho_tree *t;
	uint32_t wrong;
};

static void must(struct crew *c, bool holds)
{
	if (!holds)
		tacho_add_relaxed(&c->wrong, 1);
}

static void *write_markers(void *arg)
{
	struct crew *c = arg;

	for (int i = 0; i < 4 * ROUNDS; i++) {
		int err = put(c->t, "/trace_marker", "marker of a crew\n");

		must(c, !err || err == -EBADF);
	}
	return NULL;
}

static void *write_hits(void *arg)
{
	struct crew *c = arg;

	for (int i = 0; i < 4 * ROUNDS; i++)
		must(c, !put(c->t, "/events/test/hit/inject", "number=3 text='crew'"));
	return NULL;
}

static void *read_trace(void *arg)
{
	struct crew *c = arg;

	for (int i = 0; i < ROUNDS / 4; i++)
		free(read_all(c->t, i % 2 ? "/trace" : "/per_cpu/cpu0/trace"));
	return NULL;
}

static void *read_pipe(void *arg)
{
	struct tacho_tree_caller caller = me();
	struct crew *c = arg;
	struct tacho_tree_file *f;
	char text[2000];

	if (open_one(c->t, "/trace_pipe", O_RDONLY, &f))
		return NULL;
	for (int i = 0; i < 4 * ROUNDS; i++) {
		ssize_t n = tacho_tree_read(f, text, sizeof(text), 0, &caller);

		must(c, n == -EAGAIN || n > 0);
	}
	tacho_tree_close_file(f);
	return NULL;
}

static void *read_pages(void *arg)
{
	struct tacho_tree_caller caller = me();
	struct crew *c = arg;
	struct tacho_tree_file *f;
	char page[4096];

	if (open_one(c->t, "/per_cpu/cpu0/trace_pipe_raw", O_RDONLY, &f)) {
		must(c, false);
		return NULL;
	}
	for (int i = 0; i < ROUNDS; i++) {
		ssize_t n = tacho_tree_read(f, page, sizeof(page), 0, &caller);

		must(c, n == -EAGAIN || n > 0);
		must(c, !put(c->t, "/trace_clock", i % 8 ? "global" : "x86-tsc"));
	}
	tacho_tree_close_file(f);
	return NULL;
}

static void *set_triggers(void *arg)
{
	struct crew *c = arg;

	for (int i = 0; i < ROUNDS; i++) {
		int err = put(c->t, "/events/test/hit/trigger",
			      "hist:keys=number:vals=wide if number > 1");

		must(c, !err || err == -EEXIST);
		free(read_all(c->t, "/events/test/hit/trigger"));
		free(read_all(c->t, "/events/test/hit/hist"));
		(void)put(c->t, "/events/test/hit/trigger",
			  "!hist:keys=number:vals=wide if number > 1");
	}
	return NULL;
}

static void *switch_events(void *arg)
{
	const char *kernel = with_kernel ? "sched:sched_switch" : "test:hit";
	struct crew *c = arg;

	for (int i = 0; i < ROUNDS; i++) {
		must(c, !put(c->t, "/events/test/enable", i % 2 ? "1" : "0"));
		must(c, !put(c->t, "/set_event", kernel));
		free(read_all(c->t, "/set_event"));
		must(c, !put(c->t, "/events/test/hit/filter", i % 2 ? "number > 1" : "0"));
		must(c, !put(c->t, "/options/raw", i % 2 ? "1" : "0"));
	}
	return NULL;
}

static void *take_snapshots(void *arg)
{
	struct crew *c = arg;

	for (int i = 0; i < ROUNDS / 4; i++) {
		must(c, !put(c->t, "/snapshot", "1"));
		free(read_all(c->t, "/snapshot"));
		must(c, write_bytes(c->t, "/trace", O_TRUNC, "", 0) == 0);
	}
	return NULL;
}

static void *resize(void *arg)
{
	struct crew *c = arg;

	for (int i = 0; i < ROUNDS / 2; i++) {
		must(c, !put(c->t, "/buffer_size_kb", i % 2 ? "64" : "128"));
		free(read_all(c->t, "/buffer_size_kb"));
		free(read_all(c->t, "/per_cpu/cpu0/stats"));
	}
	return NULL;
}

static void *make_instances(void *arg)
{
	struct crew *c = arg;
	struct tacho_tree_stat st;

	for (int i = 0; i < ROUNDS / 8; i++) {
		must(c, !tacho_tree_mkdir(c->t, "/instances/crew"));
		must(c, !tacho_tree_stat(c->t, "/instances/crew/trace", &st));
		must(c, !put(c->t, "/instances/crew/trace_marker", "crew"));
		must(c, !tacho_tree_chmod(c->t, "/instances/crew/trace", 0640));
		must(c, !tacho_tree_rmdir(c->t, "/instances/crew"));
	}
	return NULL;
}

static int no_entry(const char *entry, const struct tacho_tree_stat *st, void *arg)
{
	(void)entry;
	(void)st;
	(void)arg;
	return 0;
}

static void *look_around(void *arg)
{
	struct crew *c = arg;
	struct tacho_tree_stat st;

	for (int i = 0; i < ROUNDS; i++) {
		must(c, !tacho_tree_list(c->t, "/", no_entry, NULL));
		must(c, !tacho_tree_list(c->t, "/events", no_entry, NULL));
		must(c, !tacho_tree_list(c->t, "/instances", no_entry, NULL));
		must(c, !tacho_tree_stat(c->t, "/events/test/hit/enable", &st));
		free(read_all(c->t, "/error_log"));
		free(read_all(c->t, "/saved_cmdlines"));
	}
	return NULL;
}

static void test_many_at_once(void)
{
	static void *(*const work[])(void *arg) = {
		write_markers, write_markers, write_hits, read_trace, read_trace, read_pipe,
		read_pipe, read_pages, set_triggers, set_triggers, switch_events,
		take_snapshots, resize, make_instances, look_around,
	};
	enum { NR = sizeof(work) / sizeof(work[0]) };
	struct crew c = { .t = make_tree(name) };
	pthread_t thread[NR];

	add_hit_type();
	for (int i = 0; i < NR; i++)
		CHECK_EQ(pthread_create(&thread[i], NULL, work[i], &c), 0);
	for (int i = 0; i < NR; i++)
		CHECK_EQ(pthread_join(thread[i], NULL), 0);
	CHECK_EQ(c.wrong, 0);
	CHECK_EQ(put(c.t, "/options/raw", "0"), 0);
	check_alive(c.t);
	tacho_tree_close(c.t, true);
}

/* ---- the last record ---- */

/* The engine gets the kernel's records a moment later: they are what they were made as. */
static void test_last_record(void)
{
	static const char *const off[][3] = {
		{ "/events/task/task_rename/enable", "0", "tacho-enable" },
		{ "/events/task/enable", "0", "tacho-task" },
		{ "/set_event", "!task:task_rename", "tacho-set" },
	};
	struct tacho_tree *t = make_tree(name);

	if (with_kernel)
		CHECK_EQ(put(t, "/events/task/task_rename/trigger", "hist:keys=newcomm"), 0);
	for (uint32_t i = 0; with_kernel && i < sizeof(off) / sizeof(off[0]); i++) {
		const char *comm = off[i][2];

		CHECK_EQ(prctl(PR_SET_NAME, "tacho-other"), 0);
		CHECK_EQ(put(t, "/events/task/task_rename/enable", "1"), 0);
		CHECK_EQ(prctl(PR_SET_NAME, comm), 0);
		CHECK_EQ(put(t, off[i][0], off[i][1]), 0);
		CHECK(has_rename(t, "/trace", comm));
		CHECK(!has_rename(t, "/trace", "tacho-other"));
		CHECK(has(t, "/events/task/task_rename/hist", comm));
	}
	tacho_tree_close(t, true);
}

/* ---- a synthetic event that is in use ---- */

/* Programs' histograms use it, the kernel's events may, too: it stays for both. */
static void test_synth_in_use(void)
{
	struct tacho_tree *t = make_tree(name);

	add_hit_type();
	CHECK_EQ(put(t, "/synthetic_events", "made int what"), 0);
	CHECK_EQ(put(t, "/events/test/hit/trigger",
		     "hist:keys=number:x=number:onchange($x).trace(made,number)"), 0);
	CHECK_EQ(put(t, "/synthetic_events", "!made"), -EBUSY);
	if (with_kernel) {
		CHECK_EQ(put(t, "/events/task/task_rename/trigger",
			     "hist:keys=pid:x=common_timestamp:onchange($x).trace(made,pid)"), 0);
		CHECK_EQ(put(t, "/events/synthetic/made/enable", "1"), 0);
		CHECK_EQ(prctl(PR_SET_NAME, "tacho-one"), 0);
		CHECK_EQ(prctl(PR_SET_NAME, "tacho-two"), 0);
		CHECK(has(t, "/trace", " made: what="));
		CHECK_EQ(put(t, "/events/task/task_rename/trigger",
			     "!hist:keys=pid:x=common_timestamp:onchange($x)."
			     "trace(made,pid)"), 0);
		CHECK_EQ(put(t, "/events/synthetic/made/enable", "0"), 0);
	}
	CHECK_EQ(put(t, "/events/test/hit/trigger",
		     "!hist:keys=number:x=number:onchange($x).trace(made,number)"), 0);
	CHECK_EQ(put(t, "/synthetic_events", "!made"), 0);
	tacho_tree_close(t, true);
}

/* ---- event probes ---- */

static const struct {
	const char *text;
	int err;
	const char *log;	/* what error_log says; NULL: nothing */
} eprobes[] = {
	{ "e:grp/one test.hit n=$number:s32 t=$text:string", 0, NULL },
	{ "e:grp/one test.hit", -EEXIST, "Given group/event name is already used by" },
	{ "e:test/hit test.hit", -EEXIST, "Given group/event name is already used by" },
	{ "e:grp/two grp.one", -ENODEV, "Attached event does not exist" },
	{ "e:grp/two test.miss", -ENODEV, "Attached event does not exist" },
	{ "e:grp/two test.hit a=$none", -EINVAL, "Invalid $-variable specified" },
	{ "e:grp/two test.hit a=$number:u7", -EINVAL, "Unknown type is specified" },
	{ "e:grp/two test.hit if none > 1", -EINVAL, "event filter parse error: error: Field" },
	{ "e:grp/two", -EINVAL, NULL }, { "e", -EINVAL, NULL },
	{ "-:grp/none", -ENOENT, NULL }, { "-:", -EINVAL, NULL },
	{ "e:synthetic/two test/hit $number $wide:x32 if number > 1", 0, NULL },
	{ "e test.hit", 0, NULL },
};

static void define_eprobes(struct tacho_tree *t)
{
	for (size_t i = 0; i < sizeof(eprobes) / sizeof(eprobes[0]); i++) {
		CHECK_EQ(write_bytes(t, "/error_log", O_TRUNC, "", 0), 0);
		if (!CHECK_EQ(put(t, "/dynamic_events", eprobes[i].text), eprobes[i].err))
			printf("# %s\n", eprobes[i].text);
		if (eprobes[i].log)
			CHECK(has(t, "/error_log", eprobes[i].log));
		else
			CHECK(!has(t, "/error_log", "error:"));
	}
}

/* With the kernel's, the file has probes of others, which a truncation removes, too. */
static void remove_eprobes(struct tacho_tree *t)
{
	static const char *const left[] = { "grp/one", "grp/late", "synthetic/two", "eprobes/hit" };
	char text[64];

	if (!with_kernel) {
		CHECK_EQ(write_bytes(t, "/dynamic_events", O_TRUNC, "", 0), 0);
		CHECK(!has(t, "/dynamic_events", "e:"));
	}
	for (size_t i = 0; with_kernel && i < sizeof(left) / sizeof(left[0]); i++) {
		(void)snprintf(text, sizeof(text), "-:%s", left[i]);
		CHECK_EQ(put(t, "/dynamic_events", text), 0);
		(void)snprintf(text, sizeof(text), "e:%s ", left[i]);
		CHECK(!has(t, "/dynamic_events", text));
	}
}

static void test_eprobes(void)
{
	static const char listed[] =
		"e:grp/one test.hit n=$number:s32 t=$text:string\n"
		"e:synthetic/two test.hit arg1=$number arg2=$wide:x32\n"
		"e:eprobes/hit test.hit\n";
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_stat st;

	add_hit_type();
	define_eprobes(t);
	CHECK(has(t, "/dynamic_events", listed));
	CHECK(has(t, "/events/grp/one/format", "__data_loc char[] t;\toffset:12;"));
	CHECK(has(t, "/events/eprobes/hit/format", "signed:1;\n\n\nprint fmt: \"\"\n"));
	CHECK(has(t, "/available_events", "synthetic:two\n"));
	/* what is made in a group that is on is off */
	CHECK_EQ(put(t, "/events/grp/enable", "1"), 0);
	CHECK_EQ(put(t, "/dynamic_events", "e:grp/late test.hit"), 0);
	CHECK(has(t, "/events/grp/late/enable", "0\n"));
	CHECK(has(t, "/events/grp/one/enable", "1\n"));
	CHECK(has(t, "/events/test/hit/enable", "0*\n"));
	CHECK_EQ(put(t, "/dynamic_events", "-:grp/one"), -EBUSY);
	if (!with_kernel)
		CHECK_EQ(write_bytes(t, "/dynamic_events", O_TRUNC, "", 0), -EBUSY);
	CHECK(has(t, "/dynamic_events", listed));
	CHECK_EQ(put(t, "/set_event", "!grp:one"), 0);
	CHECK(has(t, "/events/test/hit/enable", "0\n"));
	/* a trigger on it is a use, a filter is none */
	CHECK_EQ(put(t, "/events/grp/one/trigger", "hist:keys=n"), 0);
	CHECK_EQ(put(t, "/events/grp/one/filter", "n > 5"), 0);
	CHECK_EQ(put(t, "/dynamic_events", "!e:grp/one"), -EBUSY);
	CHECK_EQ(put(t, "/events/grp/one/trigger", "!hist:keys=n"), 0);
	CHECK_EQ(put(t, "/dynamic_events", "-:grp/one test.miss"), -ENOENT);
	CHECK_EQ(put(t, "/dynamic_events", "-:one test/hit n=$number:s32 t=$text:string"), 0);
	CHECK_EQ(tacho_tree_stat(t, "/events/grp/one", &st), -ENOENT);
	CHECK_EQ(put(t, "/dynamic_events", "e:grp/one test.hit x=$small"), 0);
	CHECK(has(t, "/events/grp/one/filter", "none\n"));
	CHECK(has(t, "/events/grp/one/format", "u64 x;"));
	CHECK(!has(t, "/events/grp/one/format", " t;"));
	remove_eprobes(t);
	CHECK_EQ(tacho_tree_stat(t, "/events/grp", &st), -ENOENT);
	tacho_tree_close(t, true);
}

/* On an event of the kernel, and on a synthetic one that is made of such. */
static void test_kernel_eprobes(void)
{
	struct tacho_tree *t = make_tree(name);

	if (!with_kernel) {
		CHECK_EQ(put(t, "/dynamic_events", "e task.task_rename"), -ENODEV);
		tacho_tree_close(t, true);
		return;
	}
	CHECK_EQ(put(t, "/synthetic_events", "made pid_t pid; char comm[16]"), 0);
	CHECK_EQ(put(t, "/dynamic_events", "e:tree_test/ren task.task_rename who=$pid:s32 "
		     "c=$newcomm:string if newcomm ~ \"tacho-*\""), 0);
	CHECK_EQ(put(t, "/dynamic_events", "e:tree_test/mad synthetic.made c=$comm:string"), 0);
	CHECK_EQ(put(t, "/synthetic_events", "!made"), -EBUSY);
	CHECK_EQ(put(t, "/events/task/task_rename/trigger", "hist:keys=pid:x=common_timestamp:"
		     "onchange($x).trace(made,pid,newcomm)"), 0);
	CHECK_EQ(put(t, "/events/tree_test/enable", "1"), 0);
	CHECK(has(t, "/events/task/task_rename/enable", "0*\n"));
	CHECK(has(t, "/events/synthetic/made/enable", "0*\n"));
	CHECK_EQ(put(t, "/events/tree_test/ren/trigger", "hist:keys=c"), 0);
	CHECK_EQ(prctl(PR_SET_NAME, "tacho-probe"), 0);
	CHECK_EQ(prctl(PR_SET_NAME, "other"), 0);
	CHECK(has(t, "/trace", " c=\"tacho-probe\"\n"));
	CHECK(has(t, "/trace", ": ren: (task.task_rename) who="));
	CHECK(has(t, "/trace", ": mad: (synthetic.made) c=\"tacho-probe\"\n"));
	CHECK(has(t, "/trace", ": mad: (synthetic.made) c=\"other\"\n"));
	CHECK(!has(t, "/trace", "task_rename: "));
	CHECK(!has(t, "/trace", " made: "));
	CHECK(has(t, "/events/tree_test/ren/hist", "{ c: tacho-probe "));
	CHECK(!has(t, "/events/tree_test/ren/hist", "{ c: other "));
	/* its own filter, too */
	CHECK_EQ(put(t, "/events/tree_test/mad/filter", "c == \"tacho-three\""), 0);
	CHECK_EQ(prctl(PR_SET_NAME, "tacho-two"), 0);
	CHECK_EQ(prctl(PR_SET_NAME, "tacho-three"), 0);
	CHECK(!has(t, "/trace", "(synthetic.made) c=\"tacho-two\""));
	CHECK(has(t, "/trace", "(synthetic.made) c=\"tacho-three\""));
	CHECK_EQ(put(t, "/events/tree_test/ren/trigger", "!hist:keys=c"), 0);
	CHECK_EQ(put(t, "/events/tree_test/enable", "0"), 0);
	CHECK(has(t, "/events/synthetic/made/enable", "0\n"));
	CHECK_EQ(put(t, "/dynamic_events", "-:tree_test/"), 0);
	tacho_tree_close(t, true);
}

/* ---- a snapshot that a program asks for ---- */

/* Of programs and of the kernel there is in it what there was when it was asked for. */
static void test_asked_snapshot(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_session s;
	struct tacho_dir dir;

	if (with_kernel)
		CHECK_EQ(put(t, "/events/task/task_rename/enable", "1"), 0);
	open_session(&dir, &s);
	CHECK_EQ(put(t, "/trace_marker", "before"), 0);
	CHECK_EQ(prctl(PR_SET_NAME, "kernel-before"), 0);
	tacho_view_snapshot(&s.view);
	CHECK_EQ(put(t, "/trace_marker", "behind"), 0);
	CHECK_EQ(prctl(PR_SET_NAME, "kernel-behind"), 0);
	CHECK(has(t, "/snapshot", ": before"));
	CHECK(!has(t, "/snapshot", ": behind"));
	CHECK(!has(t, "/trace", ": before"));
	CHECK(has(t, "/trace", ": behind"));
	if (with_kernel) {
		CHECK(has_rename(t, "/snapshot", "kernel-before"));
		CHECK(!has_rename(t, "/snapshot", "kernel-behind"));
		CHECK(!has_rename(t, "/trace", "kernel-before"));
		CHECK(has_rename(t, "/trace", "kernel-behind"));
	}
	CHECK_EQ(put(t, "/trace_marker", "later"), 0);
	CHECK(has(t, "/trace_pipe", ": behind"));
	CHECK(!has(t, "/trace_pipe", ": behind"));
	CHECK(!has(t, "/trace", ": later"));
	CHECK(has(t, "/snapshot", ": before"));
	CHECK_EQ(put(t, "/snapshot", "2"), 0);
	CHECK(!has(t, "/snapshot", ": before"));
	tacho_session_close(&s);
	tacho_dir_close(&dir);
	tacho_tree_close(t, true);
}

/* A marker, and an event of the kernel, called like this. */
static void leave(struct tacho_tree *t, const char *what)
{
	CHECK_EQ(put(t, "/trace_marker", what), 0);
	CHECK_EQ(prctl(PR_SET_NAME, what), 0);
}

/* Whether what leave() left is in one of the two, and not in the other. */
static void check_left(struct tacho_tree *t, const char *in, const char *not_in,
		       const char *what)
{
	char text[64];

	(void)snprintf(text, sizeof(text), ": %s\n", what);
	CHECK(has(t, in, text));
	CHECK(!has(t, not_in, text));
	if (!with_kernel)
		return;
	CHECK(has_rename(t, in, what));
	CHECK(!has_rename(t, not_in, what));
}

/*
 * Of several that are asked for one behind the other each is taken, whether somebody looked
 * in between or not: the buffers change sides with each.
 */
static void test_asked_snapshots(void)
{
	/* each begins a sub-buffer: room for them */
	struct tacho_tree *t = make_tree_of(name, (uint64_t)1 << 20);
	struct tacho_session s;
	struct tacho_dir dir;

	if (with_kernel)
		CHECK_EQ(put(t, "/events/task/task_rename/enable", "1"), 0);
	open_session(&dir, &s);
	leave(t, "first");
	tacho_view_snapshot(&s.view);
	leave(t, "second");
	tacho_view_snapshot(&s.view);
	leave(t, "third");
	check_left(t, "/trace", "/snapshot", "first");
	check_left(t, "/snapshot", "/trace", "second");
	check_left(t, "/trace", "/snapshot", "third");
	tacho_view_snapshot(&s.view);
	leave(t, "fourth");
	tacho_view_snapshot(&s.view);
	leave(t, "fifth");
	tacho_view_snapshot(&s.view);
	leave(t, "sixth");
	check_left(t, "/snapshot", "/trace", "first");
	check_left(t, "/trace", "/snapshot", "second");
	check_left(t, "/snapshot", "/trace", "third");
	check_left(t, "/trace", "/snapshot", "fourth");
	check_left(t, "/snapshot", "/trace", "fifth");
	check_left(t, "/trace", "/snapshot", "sixth");
	/* what was consumed on one side is, when that comes back */
	CHECK_EQ(put(t, "/snapshot", "2"), 0);
	CHECK_EQ(put(t, "/snapshot", "1"), 0);
	CHECK(!has(t, "/trace", ": fifth"));
	check_left(t, "/snapshot", "/trace", "sixth");
	tacho_session_close(&s);
	tacho_dir_close(&dir);
	tacho_tree_close(t, true);
}

#define RARE	"/events/syscalls/sys_enter_sched_rr_get_interval"

/* An event that hardly anybody else makes. */
static void hit_rare(void)
{
	struct timespec ts;

	CHECK_EQ(sched_rr_get_interval(0, &ts), 0);
}

/*
 * As in the kernel: one that a trigger takes without looking at the event is taken before that
 * is recorded; with a filter, behind.
 */
static void test_trigger_snapshot(void)
{
	char us[32], filter[64];
	struct tacho_tree *t;

	if (!with_kernel)
		return;
	(void)snprintf(us, sizeof(us), "-%d ", gettid());
	(void)snprintf(filter, sizeof(filter), "snapshot:1 if common_pid == %d", gettid());
	t = make_tree(name);
	if (put(t, RARE "/enable", "1")) {
		printf("# the kernel has no events of system calls\n");
		tacho_tree_close(t, true);
		return;
	}
	CHECK_EQ(put(t, RARE "/trigger", "snapshot:1"), 0);
	hit_rare();
	CHECK(has(t, "/trace", us));
	CHECK(!has(t, "/snapshot", us));
	CHECK_EQ(put(t, RARE "/trigger", "!snapshot"), 0);
	CHECK_EQ(put(t, RARE "/trigger", filter), 0);
	hit_rare();
	CHECK(!has(t, "/trace", us));
	CHECK(has(t, "/snapshot", us));
	CHECK_EQ(put(t, RARE "/trigger", "!snapshot"), 0);
	tacho_tree_close(t, true);
}

/* ---- reading from the middle ---- */

static void test_offsets(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_caller c = me();
	struct tacho_tree_file *f;
	char *text, part[100];
	size_t len;

	for (int i = 0; i < 200; i++)
		CHECK_EQ(put(t, "/trace_marker", "a line"), 0);
	CHECK_EQ(put(t, "/tracing_on", "0"), 0);
	text = read_all(t, "/trace");
	len = strlen(text);
	CHECK_EQ(open_one(t, "/trace", O_RDONLY, &f), 0);
	CHECK_EQ(tacho_tree_read(f, part, sizeof(part), len - 100, &c), 100);
	CHECK(!memcmp(part, text + len - 100, 100));
	CHECK_EQ(tacho_tree_read(f, part, sizeof(part), len, &c), 0);
	CHECK_EQ(tacho_tree_read(f, part, sizeof(part), len + 5000, &c), 0);
	CHECK_EQ(tacho_tree_read(f, part, sizeof(part), 50, &c), 100);
	CHECK(!memcmp(part, text + 50, 100));
	tacho_tree_close_file(f);
	free(text);
	tacho_tree_close(t, true);
}

/* ---- events that come and go in the kernel ---- */

/* Whoever sleeps is switched from. */
static void make_switches(struct tacho_tree *t)
{
	CHECK_EQ(put(t, "/events/sched/sched_switch/enable", "1"), 0);
	usleep(1000);
	CHECK_EQ(put(t, "/events/sched/sched_switch/enable", "0"), 0);
}

/* Types are read when records come: these are of an event that is off again. */
static void test_read_when_disabled(void)
{
	struct tacho_tree *t = make_tree(name);

	if (with_kernel) {
		make_switches(t);
		CHECK(has(t, "/trace", " sched_switch: "));
	}
	tacho_tree_close(t, true);
}

/* A pipe that was read from when the instance had nothing of the kernel. */
static void test_pipe_before_kernel(void)
{
	struct tacho_tree_caller c = me();
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_file *f;
	char text[2000];
	ssize_t n = -EAGAIN;

	CHECK_EQ(open_one(t, "/trace_pipe", O_RDONLY, &f), 0);
	CHECK_EQ(tacho_tree_read(f, text, sizeof(text), 0, &c), -EAGAIN);
	if (with_kernel) {
		make_switches(t);
		for (int i = 0; i < 10000 && n == -EAGAIN; i++) {
			n = tacho_tree_read(f, text, sizeof(text) - 1, 0, &c);
			usleep(1000);
		}
		CHECK(n > 0);
		text[n > 0 ? n : 0] = '\0';
		CHECK(strstr(text, " sched_switch: "));
	}
	tacho_tree_close_file(f);
	tacho_tree_close(t, true);
}

static void test_other_kernel_events(void)
{
	struct tacho_tree *t = make_tree(name);
	struct tacho_tree_stat st;
	char group[40], text[120], path[80];

	(void)snprintf(group, sizeof(group), "tree_test_%d", getpid());
	(void)snprintf(path, sizeof(path), "/events/%s/there", group);
	(void)snprintf(text, sizeof(text), "p:%s/there /bin/sh:0x40", group);
	add_hit_type();
	CHECK_EQ(tacho_tree_stat(t, "/events/test/hit", &st), 0);
	if (!put(t, "/uprobe_events", text)) {
		CHECK_EQ(tacho_tree_stat(t, path, &st), 0);
		CHECK_EQ(tacho_tree_stat(t, "/events/test/hit", &st), 0);
		(void)snprintf(text, sizeof(text), "-:%s/there", group);
		CHECK_EQ(put(t, "/uprobe_events", text), 0);
		CHECK_EQ(tacho_tree_stat(t, "/events/test/nothing", &st), -ENOENT);
		CHECK_EQ(tacho_tree_stat(t, path, &st), -ENOENT);
		CHECK_EQ(tacho_tree_stat(t, "/events/test/hit", &st), 0);
	} else if (with_kernel) {
		printf("# no uprobes here: the kernel's events stay as they are\n");
	}
	tacho_tree_close(t, true);
}

/* ---- the run ---- */

static bool kernel_is_there(void)
{
	struct tacho_tree *t = make_tree(name);
	const char *why = tacho_tree_without(t);
	static char text[400];

	if (why)
		(void)snprintf(text, sizeof(text), "no kernel events: %s", why);
	tacho_tree_close(t, true);
	if (why)
		SKIP(text);
	return !why;
}

static const struct {
	const char *what;
	void (*run)(void);
} tests[] = {
	{ "everything", test_everything },
	{ "names", test_names },
	{ "junk", test_junk },
	{ "refused", test_refused },
	{ "inject", test_inject },
	{ "small files", test_small_files },
	{ "directories", test_directories },
	{ "README", test_readme },
	{ "an instance whose files are closed", test_remove_closed },
	{ "attributes", test_attributes },
	{ "attributes of what is gone", test_attributes_of_gone },
	{ "waiting", test_waiting },
	{ "destroyed", test_destroyed },
	{ "two trees", test_two_trees },
	{ "many at once", test_many_at_once },
	{ "the last record", test_last_record },
	{ "a synthetic event in use", test_synth_in_use },
	{ "event probes", test_eprobes },
	{ "event probes on the kernel's events", test_kernel_eprobes },
	{ "a snapshot that was asked for", test_asked_snapshot },
	{ "several of them", test_asked_snapshots },
	{ "one that a trigger of the kernel's event takes", test_trigger_snapshot },
	{ "reading from the middle", test_offsets },
	{ "other events of the kernel", test_other_kernel_events },
	{ "read when it is disabled", test_read_when_disabled },
	{ "a pipe before the kernel's events", test_pipe_before_kernel },
};

static void without_leak(void (*run)(void))
{
	int fds = count_fds();

	run();
	if (!CHECK_EQ(count_fds(), fds))
		printf("# files are left open\n");
}

int main(int argc, char **argv)
{
	char dir[] = "/dev/shm/tacho-tree-XXXXXX", command[80];

	with_kernel = argc > 1 && !strcmp(argv[1], "kernel");
	test_args(argc - with_kernel, argv + with_kernel);
	if (!CHECK(mkdtemp(dir)))
		return test_done();
	setenv("TACHO_DIR", dir, 1);
	(void)snprintf(name, sizeof(name), "tree-test-%d", getpid());
	(void)snprintf(own, sizeof(own), "/instances/%s", name);
	if (!with_kernel || kernel_is_there()) {
		for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
			TEST_NAMED(tests[i].what, without_leak(tests[i].run));
	}
	(void)snprintf(command, sizeof(command), "rm -rf %s", dir);
	(void)!system(command);
	return test_done();
}
