// SPDX-License-Identifier: MIT
/* trace_marker and trace_marker_raw; and writing records by hand. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/scan.h"
#include "event/type.h"
#include "compat/ftrace/nodes.h"
#include "compat/ftrace/store.h"
#include "ring/write.h"
#include "sys/cpu.h"
#include "tacho/abi/record.h"

#define MARKER_MAX	1024	/* bytes of a marker that are kept; as 6.12 */
#define RAW_MAX		3072	/* of a raw one; more is refused */
#define STATUS_MAX	((size_t)64 << 10)

const char tree_print_text[] =
	TREE_PRINT "\n" TACHO_COMMON_FIELDS
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:__data_loc char[] buf;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"%ps: %s\", (void *)REC->ip, __get_str(buf)\n";

static const char raw_text[] =
	"ftrace:raw_data\n" TACHO_COMMON_FIELDS
	"\tfield:unsigned int id;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] buf;\toffset:12;\tsize:4;\tsigned:0;\n"
	"\nprint fmt: \"id:%04x %s\", REC->id, __print_hex(__get_dynamic_array(buf), "
	"__get_dynamic_array_len(buf))\n";

/* The process of a thread; itself if that cannot be found out. */
static int32_t process_of(int32_t tid)
{
	char path[48];
	struct tacho_buf b;
	uint64_t n = (uint32_t)tid;

	(void)snprintf(path, sizeof(path), "/proc/%d/status", tid);
	tacho_buf_init(&b, STATUS_MAX);
	if (!tacho_buf_read_file(&b, path))
		(void)tacho_scan_after(tacho_buf_str(&b), NULL, "\nTgid:\t", INT32_MAX, &n);
	tacho_buf_release(&b);
	return (int32_t)n;
}

/* The writer of a marker: its name, and the CPU on which it waits for the answer; -1: not known. */
struct writer {
	char comm[16];
	int cpu;
};

/*
 * A thread's `stat` to text: its length, or -1.  A thread that writes one marker usually writes
 * more, so the file stays open.  After the thread has ended the file is empty, even if its id is
 * reused.
 */
static ssize_t read_stat(struct tree_inst *inst, int32_t tid, char *text, size_t size)
{
	struct tree_stat_file *file = &inst->stat[(uint32_t)tid % TREE_STATS];
	char path[48];
	ssize_t n = -1;

	if (file->tid == tid)
		n = pread(file->fd, text, size, 0);
	if (n > 0)
		return n;
	if (file->tid)
		close(file->fd);
	(void)snprintf(path, sizeof(path), "/proc/%d/stat", tid);
	file->fd = open(path, O_RDONLY | O_CLOEXEC);
	file->tid = file->fd < 0 ? 0 : tid;
	return file->tid ? pread(file->fd, text, size, 0) : -1;
}

/* Parses "TID (COMM) STATE ...": the CPU is the 39th word. */
static void find_writer(struct tree_inst *inst, struct writer *w, int32_t tid)
{
	char text[1024];
	const char *comm, *end;
	ssize_t n = read_stat(inst, tid, text, sizeof(text) - 1);
	uint64_t cpu;
	size_t len;

	*w = (struct writer){ .cpu = -1 };
	if (n <= 0)
		return;
	text[n] = '\0';
	comm = strchr(text, '(');
	end = comm ? strrchr(comm, ')') : NULL;
	len = end ? (size_t)(end - ++comm) : 0;
	memcpy(w->comm, comm ? comm : "", len < 15 ? len : 15);
	for (int i = 2; end && i < 39; i++)
		end = strchr(end + 1, ' ');
	end = end ? end + 1 : "";
	if (!tacho_scan_digits(&end, NULL, 10, INT32_MAX, &cpu))
		w->cpu = (int)cpu;
}

/* Its name and process, if they are not known. */
static void note_task(struct tacho_view *v, const struct writer *w, int32_t tid)
{
	struct tacho_task known;

	if (*w->comm &&
	    (!tacho_tasks_find(v->ctl, tid, &known) || strcmp(known.comm, w->comm)))
		tacho_tasks_put(v->ctl, tid, process_of(tid), w->comm);
}

int tree_write_event(struct tree_inst *inst, const char *type_text, size_t type_len,
		     int32_t pid, void *raw, size_t len, uint32_t *cpu)
{
	struct tacho_view *v = &inst->session.view;
	int id = tacho_types_add(v, type_text, (uint32_t)type_len), err;
	struct tacho_cpu_saved saved;
	struct writer w;
	bool entered;

	if (id < 0)
		return id;
	find_writer(inst, &w, pid);
	note_task(v, &w, pid);
	tacho_put_u16(raw, (uint16_t)id);
	tacho_put_u32((char *)raw + 4, (uint32_t)pid);
	/* one that we may not be on, or that is not there any more: then here */
	entered = w.cpu >= 0 && w.cpu != sched_getcpu() &&
		  !tacho_cpu_enter((unsigned int)w.cpu, &saved);
	if (cpu)
		*cpu = (uint32_t)sched_getcpu();
	err = tacho_ring_write(&v->ring, raw, (len + 7) / 8);
	if (entered)
		tacho_cpu_leave(&saved);
	return err;
}

static bool is_on(struct tree_inst *inst)
{
	return tree_is_on(inst) && tree_option(inst, "markers");
}

/* "\n" at the end of each marker, as the kernel makes it. */
static ssize_t marker_store(struct tacho_tree_file *f, const char *text, size_t len,
			    const struct tacho_tree_caller *caller)
{
	size_t n = len < MARKER_MAX ? len : MARKER_MAX;
	uint64_t raw[(20 + MARKER_MAX + 2 + 7) / 8 + 1] = { 0 };
	char *to = (char *)raw;
	uint32_t cpu;
	int err;

	if (!tree_option(f->inst, "markers"))
		return -EINVAL;
	if (!is_on(f->inst))
		return -EBADF;
	tacho_put_u64(to + 8, TREE_MARKER_IP);
	memcpy(to + 20, text, n);
	if (!n || text[n - 1] != '\n')
		to[20 + n++] = '\n';
	n++;
	tacho_put_u32(to + 16, (uint32_t)(n << 16 | 20));
	err = tree_write_event(f->inst, tree_print_text, strlen(tree_print_text), caller->pid,
			       raw, 20 + n, &cpu);
	if (err)
		return -EBADF;
	len = len < MARKER_MAX ? len : MARKER_MAX;
	/* without the newline: it comes after the triggers in the kernel, too */
	tree_marked(f->inst, caller->pid, cpu, text, len);
	return (ssize_t)len;
}

static ssize_t raw_store(struct tacho_tree_file *f, const char *text, size_t len,
			 const struct tacho_tree_caller *caller)
{
	uint64_t raw[(16 + RAW_MAX + 7) / 8] = { 0 };
	char *to = (char *)raw;
	int err;

	if (!tree_option(f->inst, "markers"))
		return -EINVAL;
	if (len < 4 || len > RAW_MAX)
		return -EINVAL;
	if (!is_on(f->inst))
		return -EBADF;
	memcpy(to + 8, text, 4);
	memcpy(to + 16, text + 4, len - 4);
	tacho_put_u32(to + 12, (uint32_t)((len - 4) << 16 | 16));
	err = tree_write_event(f->inst, raw_text, sizeof(raw_text) - 1, caller->pid, raw,
			       16 + len - 4, NULL);
	return err ? -EBADF : (ssize_t)len;
}

const struct tree_node tree_marker_node = {
	.name = "trace_marker", .mode = 0220, .store = marker_store,
};

const struct tree_node tree_marker_raw_node = {
	.name = "trace_marker_raw", .mode = 0220, .store = raw_store,
};
