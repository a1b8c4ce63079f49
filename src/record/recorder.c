// SPDX-License-Identifier: MIT
#include "record/recorder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/bytes.h"
#include "base/inject.h"
#include "fmt/ctf/layout.h"
#include "tracefs/pump.h"
#include "kdata/symbols.h"
#include "kdata/syscalls.h"
#include "tracefs/tracefs.h"
#include "ring/read.h"
#include "session/objects.h"
#include "sys/clock.h"
#include "sys/cpu.h"

/* With a kernel to poll, program lanes are checked this often. */
#define MIXED_WAIT_MS	10
/* How often a recorder that may be killed checks which objects programs have loaded. */
#define OBJECTS_NS	UINT64_C(1000000000)
/* New threads looked up in /proc per step. */
#define LOOK_PER_STEP	64

struct lane {
	struct tacho_ring_reader rd;
	bool open;
	bool past_frozen;	/* the frozen buffer is read, the current one follows */
	uint64_t lost;		/* reported in packets so far */
	uint64_t lost_before;	/* reported by the recorder before this one */
	uint64_t seq;		/* of the last packet written */
	uint64_t next_event;	/* number of the record after it */
};

struct tacho_recorder {
	struct tacho_recorder_config cfg;
	struct tacho_ctf_writer *w;
	char dir[4096];		/* as requested */
	char chunk[4200];	/* being written */
	uint32_t nr_chunk;
	uint32_t first_chunk;	/* oldest that is kept */
	uint64_t chunk_began;	/* CLOCK_MONOTONIC, ns */
	uint32_t nr_types;	/* program types announced */
	uint64_t objects;	/* bytes of the session's objects copied */
	uint64_t objects_next;	/* when they are read again */
	struct lane *lane;
	uint32_t nr_lanes;
	struct tacho_ktypes ktypes;
	struct tacho_ktasks own_tasks;
	struct tacho_ktasks *tasks;	/* these, or the history's */
	struct tacho_kernel_pump *pump;
	uint64_t asked[65536 / 64];		/* kernel ids that were looked up */
	uint64_t kseq[TACHO_LANES_MAX];		/* packets per CPU */
	uint64_t kfirst[TACHO_LANES_MAX];	/* records per CPU */
	uint64_t klost[TACHO_LANES_MAX];
	uint64_t unwritten;	/* of a snapshot, after a failure */
	struct tacho_recorder_stats st;
	int failed;		/* error of writing a packet of a lane */
	uint64_t kept;		/* records of that packet, which the session still has */
	bool draining;		/* the last chance to write the kernel's events */
	int kernel_failed;	/* error of writing them */
	struct tacho_diag *d;	/* of the step that runs, for the kernel's sink */
};

static bool rotates(const struct tacho_recorder *rec)
{
	return rec->cfg.rotate || rec->cfg.rotate_bytes || rec->cfg.rotate_ns || rec->cfg.keep;
}

static uint64_t now_ns(void)
{
	return tacho_now_ns(CLOCK_MONOTONIC);
}

/* ---- tables of the trace ---- */

/* Announces the program types that appeared since the last time. */
static int write_types(struct tacho_recorder *rec, struct tacho_diag *d)
{
	const struct tacho_view *v = &rec->cfg.session->view;
	char full[TACHO_RULE_MAX * 2];
	const char *text, *line;
	uint32_t len;

	while ((text = tacho_types_text(v, rec->nr_types + 1, &len))) {
		char *colon;
		int err;

		rec->nr_types++;
		tacho_type_text_name(text, len, full, sizeof(full));
		colon = strchr(full, ':');
		line = memchr(text, '\n', len);
		if (!colon || !line)
			continue;
		*colon = '\0';
		line++;
		err = tacho_ctf_writer_type(rec->w, TACHO_STREAM_PROGRAM,
					    rec->nr_types, full, colon + 1, line,
					    len - (size_t)(line - text), d);
		/* an invalid type of a broken program affects only its own events */
		if (err && err != -EINVAL)
			return err;
		if (err && d)
			*d = (struct tacho_diag){ 0 };
	}
	return 0;
}

/* Writes the types of the kernel from the first-th on. */
static int write_kernel_types(struct tacho_recorder *rec, uint32_t first, struct tacho_diag *d)
{
	const struct tacho_ktypes *t = &rec->ktypes;

	for (uint32_t i = first; i < t->nr; i++) {
		const struct tacho_type *type = t->list[i].type;
		int err = tacho_ctf_writer_type(rec->w, TACHO_STREAM_KERNEL,
						type->id, type->system, type->name,
						t->list[i].text,
						t->list[i].text_len, d);

		if (err)
			return err;
	}
	return 0;
}

/* For a snapshot: an event may have been disabled since it was recorded. */
static void load_kernel_type(void *arg, uint32_t id)
{
	struct tacho_recorder *rec = arg;
	uint32_t known = rec->ktypes.nr;

	if (id >= 65536 || rec->asked[id / 64] >> id % 64 & 1)
		return;
	rec->asked[id / 64] |= UINT64_C(1) << id % 64;
	if (!tacho_kernel_load_type(rec->cfg.kernel, &rec->ktypes, id) && !rec->kernel_failed)
		rec->kernel_failed = write_kernel_types(rec, known, rec->d);
}

/* Thread names: from the session's table, the kernel's, and /proc. */
static int write_tasks(struct tacho_recorder *rec, struct tacho_diag *d)
{
	struct tacho_buf b;
	struct tacho_task task;
	int err;

	for (uint32_t i = 0; rec->cfg.session && i < TACHO_TASKS_MAX; i++) {
		struct tacho_ktask *t;

		if (!tacho_tasks_get(rec->cfg.session->view.ctl, i, &task))
			continue;
		tacho_ktasks_add(rec->tasks, task.tid);
		t = tacho_ktasks_find(rec->tasks, task.tid);
		if (!t)
			continue;
		t->tgid = task.tgid;
		if (!t->comm[0])
			tacho_ktasks_name(rec->tasks, task.tid, task.comm,
					  sizeof(task.comm));
	}
	tacho_buf_init(&b, (size_t)1 << 28);
	for (uint32_t i = 0; i < rec->tasks->nr; i++) {
		const struct tacho_ktask *t = &rec->tasks->list[i];

		if (t->comm[0])
			tacho_buf_printf(&b, "%d %d %.*s\n", t->pid, t->tgid,
					 TACHO_KTASK_COMM, t->comm);
	}
	err = tacho_buf_error(&b);
	if (err)
		(void)tacho_diag(d, err, 0, "no memory for the names of threads");
	else
		err = tacho_ctf_writer_text(rec->w, "cmdlines", b.data, b.len, d);
	tacho_buf_release(&b);
	return err;
}

/* Strings that the kernel's events point to. */
static int write_printk_formats(struct tacho_recorder *rec, struct tacho_diag *d)
{
	struct tacho_tracefs fs;
	struct tacho_buf b;
	int err;

	if (tacho_tracefs_open(&fs, 0, NULL))
		return 0;
	tacho_buf_init(&b, (size_t)16 << 20);
	/* without them events show the strings' addresses */
	err = tacho_tracefs_read(fs.dirfd, "printk_formats", &b, NULL);
	err = err || !b.len ? 0 :
	      tacho_ctf_writer_text(rec->w, "printk_formats", b.data, b.len, d);
	tacho_buf_release(&b);
	tacho_tracefs_close(&fs);
	return err;
}

/*
 * Copies new entries of the table of objects: entries older than a record are written before its
 * packet.
 */
static int write_objects(struct tacho_recorder *rec, struct tacho_diag *d)
{
	char path[TACHO_PATH_MAX + 16];
	struct tacho_buf b;
	struct stat st;
	int err = 0;

	(void)snprintf(path, sizeof(path), "%s/" TACHO_OBJECTS,
		       rec->cfg.session->path);
	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (uint64_t)st.st_size == rec->objects)
		return 0;
	tacho_buf_init(&b, TACHO_OBJECTS_MAX + 4096);
	/* missing names do not stop recording */
	if (!tacho_buf_read_file(&b, path))
		err = tacho_ctf_writer_text(rec->w, TACHO_OBJECTS, b.data, b.len, d);
	if (!err)
		rec->objects = b.len;
	tacho_buf_release(&b);
	return err;
}

static int write_kernel_tables(struct tacho_recorder *rec, struct tacho_diag *d)
{
	struct tacho_buf b;
	int err = 0;

	tacho_buf_init(&b, (size_t)1 << 28);
	/* hidden addresses do not prevent recording */
	if (!rec->cfg.no_kallsyms && !tacho_symbols_snapshot(&b, NULL))
		err = tacho_ctf_writer_text(rec->w, "kallsyms", b.data, b.len, d);
	tacho_buf_reset(&b);
	tacho_syscalls_text(&b);
	if (!err)
		err = tacho_ctf_writer_text(rec->w, "syscalls", b.data, b.len, d);
	tacho_buf_release(&b);
	return err ? err : write_printk_formats(rec, d);
}

/* ---- program lanes ---- */

/* The buffer that lane nr is read from; TACHO_BUFFERS_MAX: none yet. */
static uint32_t buffer_of(const struct tacho_recorder *rec, uint32_t nr,
			  bool *frozen)
{
	const struct tacho_ring *r = &rec->cfg.session->view.ring;
	struct tacho_lane *lane = tacho_ring_lane(r, nr);
	uint64_t c = tacho_load_acquire(&lane->cursor);
	uint32_t id;

	*frozen = false;
	if (!c || c == TACHO_CURSOR_DEAD)
		return TACHO_BUFFERS_MAX;
	if (rec->lane[nr].past_frozen ||
	    !(rec->cfg.snapshot || rec->cfg.everything))
		return tacho_cursor_id(c);
	id = tacho_ring_frozen(r, nr);
	*frozen = id < TACHO_BUFFERS_MAX;
	if (*frozen)
		return id;
	return tacho_cursor_id(c);
}

/* Opens a lane's reader once there is something to read. */
static int open_lane(struct tacho_recorder *rec, uint32_t nr)
{
	struct tacho_ring *r = &rec->cfg.session->view.ring;
	struct lane *l = &rec->lane[nr];
	uint64_t from = 0;
	bool frozen;
	uint32_t id;
	int err;

	if (l->open)
		return 0;
	id = buffer_of(rec, nr, &frozen);
	if (id >= TACHO_BUFFERS_MAX)
		return -ENOENT;
	if (nr < rec->cfg.nr_resume)
		from = rec->cfg.resume[nr];
	else if (r->ctl->flags & TACHO_SESSION_OVERWRITE)
		from = TACHO_READ_OLDEST;
	err = tacho_ring_reader_init(&l->rd, r, nr, id,
				     !rec->cfg.snapshot && !rec->cfg.everything,
				     from);
	l->open = !err;
	l->past_frozen = !frozen;
	return err;
}

/* A dead session's lane: from its frozen buffer on to the current one. */
static bool next_buffer(struct tacho_recorder *rec, struct lane *l)
{
	if (!rec->cfg.everything || !l->open || l->past_frozen)
		return false;
	tacho_ring_reader_release(&l->rd);
	l->open = false;
	l->past_frozen = true;
	return true;
}

/* a - b, or 0 if a trace reported more loss than the session. */
static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* False: nothing of the packet must be written. */
static bool cut(const struct tacho_recorder *rec, struct tacho_history_slice *slice)
{
	return !rec->cfg.to || tacho_history_cut(slice, 0, rec->cfg.to);
}

static int write_lane(struct tacho_recorder *rec, struct lane *l,
		      const struct tacho_history_slice *slice, struct tacho_diag *d)
{
	struct tacho_packet head = slice->head;
	uint64_t refused;
	int err;

	head.events_discarded = less(head.events_discarded, l->lost_before);
	refused = tacho_ctf_writer_lost(rec->w);
	/* the types first: a reader of the packet must find them */
	err = write_types(rec, d);
	if (!err)
		err = tacho_ctf_writer_packet(rec->w, &head, slice->data,
					      slice->len, d);
	TACHO_INJECT(recorder_packet);
	/*
	 * later packets must not be written either: a resuming recorder continues at the end of
	 * the trace
	 */
	rec->failed = err;
	if (err) {
		rec->kept = tacho_ctf_writer_lost(rec->w) - refused;
		return err;
	}
	l->lost = head.events_discarded;
	l->seq = head.packet_seq_num;
	l->next_event = head.event_first + head.events;
	rec->st.events += head.events;
	return 0;
}

/* Reads a lane until it is empty; returns 1 if it had records. */
static int step_lane(struct tacho_recorder *rec, uint32_t nr, struct tacho_diag *d)
{
	struct lane *l = &rec->lane[nr];
	struct tacho_chunk chunk;
	int any = 0, opened;

	if (rec->failed)
		return rec->failed;
	opened = open_lane(rec, nr);
	/* a lane that cannot be read for lack of memory may have records */
	if (tacho_no_room_here(opened))
		return rec->failed = tacho_diag(d, opened, 0, "cannot read the buffer of lane "
						"%u: %s", nr, strerror(-opened));
	if (opened)
		return 0;
	/* bounded, so that one busy lane does not starve the others */
	for (int i = 0; i < 64; i++) {
		int got = tacho_ring_read(&l->rd, &chunk);
		struct tacho_history_slice slice;
		int err;

		if (got <= 0)
			return next_buffer(rec, l) ? 1 : any;
		any = 1;
		slice = (struct tacho_history_slice){ chunk.head, chunk.data, chunk.len };
		err = cut(rec, &slice) ? write_lane(rec, l, &slice, d) : 0;
		if (err)
			return err;
	}
	return any;
}

/*
 * At the end: losses after a lane's last packet are reported by a packet without records, unless
 * packets can no longer be written.
 */
static int settle_lane(struct tacho_recorder *rec, uint32_t nr, bool write,
		       struct tacho_diag *d)
{
	struct tacho_ring *r = &rec->cfg.session->view.ring;
	struct lane *l = &rec->lane[nr];
	uint64_t lost = less(tacho_ring_lost(r, nr), l->lost_before);
	struct tacho_packet head = {
		.stream_id = TACHO_STREAM_PROGRAM,
		.stream_instance_id = nr,
		.cpu_id = tacho_ring_cpu(r, nr),
		.packet_seq_num = l->seq,
		.event_first = l->next_event,
	};

	if (l->open) {
		lost += l->rd.overwritten;
		head.packet_seq_num = l->rd.seq;
		head.event_first = l->rd.next_event == TACHO_READ_OLDEST ?
				   0 : l->rd.next_event;
		rec->st.damaged += l->rd.damaged;
	}
	rec->st.lost += lost;
	if (lost == l->lost || !write)
		return 0;
	head.events_discarded = lost;
	head.timestamp_begin = tacho_clock_read(r->clock);
	head.timestamp_end = head.timestamp_begin;
	return tacho_ctf_writer_packet(rec->w, &head, NULL, 0, d);
}

/* ---- the kernel ---- */

static int write_kernel(struct tacho_recorder *rec,
			const struct tacho_history_slice *slice)
{
	struct tacho_packet head = slice->head;
	uint32_t cpu = head.cpu_id < TACHO_LANES_MAX ? head.cpu_id :
		       TACHO_LANES_MAX - 1;
	int err;

	head.packet_seq_num = rec->kseq[cpu];
	head.event_first = rec->kfirst[cpu];
	head.events_discarded = rec->klost[cpu];
	err = tacho_ctf_writer_packet(rec->w, &head, slice->data, slice->len, rec->d);
	if (err)
		return err;
	rec->kseq[cpu]++;
	rec->kfirst[cpu] += head.events;
	rec->st.events += head.events;
	rec->st.kernel_events += head.events;
	return 0;
}

static int kernel_sink(void *arg, const struct tacho_kernel_batch *b)
{
	struct tacho_recorder *rec = arg;
	uint32_t cpu = b->cpu < TACHO_LANES_MAX ? b->cpu : TACHO_LANES_MAX - 1;
	struct tacho_history_slice slice = {
		.head = {
			.stream_id = TACHO_STREAM_KERNEL,
			.stream_instance_id = b->cpu,
			.cpu_id = b->cpu,
			.timestamp_begin = b->time_begin,
			.timestamp_end = b->time_end,
			.events = b->events,
		},
		.data = b->records,
		.len = b->len,
	};
	int err;

	if (!rec->cfg.flight)
		rec->klost[cpu] += b->lost;
	if (b->events && !cut(rec, &slice))
		return 0;
	err = write_kernel(rec, &slice);
	/* records that cannot be written now are lost; the writer counts them */
	if (err && rec->draining) {
		rec->kernel_failed = err;
		return 0;
	}
	return err;
}

/* ---- a history ---- */

static int write_slice(void *arg, const struct tacho_history_slice *slice)
{
	struct tacho_recorder *rec = arg;

	if (slice->head.stream_id == TACHO_STREAM_KERNEL)
		return write_kernel(rec, slice);
	return write_lane(rec, &rec->lane[slice->head.stream_instance_id], slice,
			  rec->d);
}

static int begin_kernel(struct tacho_recorder *rec, struct tacho_diag *d)
{
	struct tacho_kernel_pump_config c = {
		.sink = kernel_sink, .arg = rec, .tasks = rec->tasks,
		.load_type = rec->cfg.snapshot ? load_kernel_type : NULL,
	};
	int err;

	tacho_ktasks_scan(rec->tasks);
	err = tacho_kernel_load_types(rec->cfg.kernel, &rec->ktypes, d);
	if (!err)
		err = write_kernel_types(rec, 0, d);
	if (!err)
		err = write_kernel_tables(rec, d);
	if (err || rec->cfg.history)
		return err;
	err = tacho_kernel_pump_new(&rec->pump, rec->cfg.kernel, &rec->ktypes,
				    &c, d);
	if (!err)
		err = tacho_kernel_start(rec->cfg.kernel, d);
	return err;
}

/* ---- chunks ---- */

static void chunk_path(const struct tacho_recorder *rec, uint32_t nr, char *path,
		       size_t size)
{
	(void)snprintf(path, size, "%s/%04u", rec->dir, nr);
}

static void remove_files(const char *path)
{
	DIR *list = opendir(path);
	const struct dirent *e;

	while (list && (e = readdir(list)))
		if (e->d_name[0] != '.')
			(void)unlinkat(dirfd(list), e->d_name, 0);
	if (list)
		closedir(list);
}

/* Removes a whole chunk: the files of a trace, nothing else. */
static void remove_chunk(const char *path)
{
	char extras[4300];

	(void)snprintf(extras, sizeof(extras), "%s/%s", path, TACHO_CTF_EXTRAS);
	remove_files(extras);
	(void)rmdir(extras);
	remove_files(path);
	(void)rmdir(path);
}

int tacho_recorder_tell(struct tacho_recorder *rec, struct tacho_diag *d)
{
	int err = write_tasks(rec, d);

	if (!err && rec->cfg.session)
		err = write_objects(rec, d);
	return err;
}

static int rotate(struct tacho_recorder *rec, struct tacho_diag *d)
{
	char next[sizeof(rec->chunk)];
	int err = tacho_recorder_tell(rec, d);

	if (err)
		return err;
	chunk_path(rec, rec->nr_chunk + 1, next, sizeof(next));
	rec->st.bytes += tacho_ctf_writer_bytes(rec->w);
	err = tacho_ctf_writer_rotate(rec->w, next, d);
	if (err)
		return err;
	memcpy(rec->chunk, next, sizeof(next));
	rec->nr_chunk++;
	rec->st.chunks++;
	rec->chunk_began = now_ns();
	while (rec->cfg.keep && rec->nr_chunk - rec->first_chunk >= rec->cfg.keep) {
		chunk_path(rec, rec->first_chunk++, next, sizeof(next));
		remove_chunk(next);
	}
	return 0;
}

static int rotate_if_due(struct tacho_recorder *rec, struct tacho_diag *d)
{
	const struct tacho_recorder_config *c = &rec->cfg;

	if ((c->rotate_bytes &&
	     tacho_ctf_writer_bytes(rec->w) >= c->rotate_bytes) ||
	    (c->rotate_ns && now_ns() - rec->chunk_began >= c->rotate_ns))
		return rotate(rec, d);
	return 0;
}

/* ---- begin, step, finish ---- */

static int begin_writer(struct tacho_recorder *rec, struct tacho_diag *d)
{
	const struct tacho_recorder_config *c = &rec->cfg;
	struct tacho_ctf_info info = {
		.clock = tacho_clock_name(c->clock),
		.clock_freq = c->clock_freq,
		.ticks = c->start.ticks,
		.realtime = c->start.realtime,
		.session = c->session ? c->session->path : NULL,
	};
	char cpus[16];
	int err;

	(void)snprintf(cpus, sizeof(cpus), "%u", tacho_cpu_count());
	if (c->uuid)
		memcpy(info.uuid, c->uuid, sizeof(info.uuid));
	if (rotates(rec)) {
		if (mkdir(rec->dir, 0777) < 0 && errno != EEXIST)
			return tacho_diag(d, -errno, 0, "cannot make '%s': %s",
					  rec->dir, strerror(errno));
		rec->nr_chunk = rec->first_chunk = 1;
		chunk_path(rec, 1, rec->chunk, sizeof(rec->chunk));
	} else {
		(void)snprintf(rec->chunk, sizeof(rec->chunk), "%s", rec->dir);
	}
	rec->chunk_began = now_ns();
	rec->st.chunks = 1;
	err = tacho_ctf_writer_new(&rec->w, rec->chunk, &info, d);
	if (!err)
		err = tacho_ctf_writer_env(rec->w, "cpus", cpus, d);
	if (!err && c->command)
		err = tacho_ctf_writer_env(rec->w, "command", c->command, d);
	if (!err && c->session)
		err = tacho_ctf_writer_env(rec->w, "session", c->session->name, d);
	return err;
}

static void release(struct tacho_recorder *rec)
{
	tacho_kernel_pump_free(rec->pump);
	for (uint32_t i = 0; i < rec->nr_lanes; i++)
		if (rec->lane[i].open)
			tacho_ring_reader_release(&rec->lane[i].rd);
	free(rec->lane);
	tacho_ktypes_release(&rec->ktypes);
	tacho_ktasks_release(&rec->own_tasks);
	free(rec);
}

int tacho_recorder_new(struct tacho_recorder **out,
		       const struct tacho_recorder_config *cfg,
		       struct tacho_diag *d)
{
	struct tacho_recorder *rec = calloc(1, sizeof(*rec));
	int err = 0;

	if (!rec)
		return tacho_no_memory(d);
	rec->cfg = *cfg;
	rec->tasks = cfg->history ? tacho_history_tasks(cfg->history) :
		     &rec->own_tasks;
	tacho_ktypes_init(&rec->ktypes);
	if (strlen(cfg->dir) >= sizeof(rec->dir))
		err = tacho_diag(d, -ENAMETOOLONG, 0, "the trace's path is longer "
				 "than %zu bytes", sizeof(rec->dir) - 1);
	(void)snprintf(rec->dir, sizeof(rec->dir), "%s", cfg->dir);
	if (cfg->session) {
		rec->nr_lanes = tacho_ring_nr_lanes(&cfg->session->view.ring);
		rec->lane = calloc(rec->nr_lanes, sizeof(*rec->lane));
	}
	if (tacho_ktasks_init(&rec->own_tasks) || (cfg->session && !rec->lane))
		err = tacho_no_memory(d);
	if (!rec->lane)
		rec->nr_lanes = 0;
	if (!err)
		err = begin_writer(rec, d);
	for (uint32_t i = 0; cfg->resume_lost && i < cfg->nr_resume &&
	     i < rec->nr_lanes; i++)
		rec->lane[i].lost_before = cfg->resume_lost[i];
	if (!err && cfg->kernel)
		err = begin_kernel(rec, d);
	if (err) {
		bool made = rec->w;

		(void)tacho_ctf_writer_close(rec->w, NULL);
		if (made)
			remove_chunk(rec->chunk);
		if (made && rotates(rec))
			(void)rmdir(rec->dir);
		release(rec);
		return err;
	}
	*out = rec;
	return 0;
}

/* Reads all lanes once; returns 1 if there were records. */
static int step_lanes(struct tacho_recorder *rec, struct tacho_diag *d)
{
	int any = 0;

	for (uint32_t nr = 0; nr < rec->nr_lanes; nr++) {
		int got = step_lane(rec, nr, d);

		if (got < 0)
			return got;
		any |= got;
	}
	return any;
}

/* Sleeps until there are records, or for timeout_ms. */
static int wait_for_more(struct tacho_recorder *rec, int timeout_ms)
{
	struct tacho_control *ctl;

	if (rec->pump) {
		if (rec->cfg.session && timeout_ms > MIXED_WAIT_MS)
			timeout_ms = MIXED_WAIT_MS;
		return tacho_kernel_pump_step(rec->pump, timeout_ms);
	}
	ctl = rec->cfg.session->view.ctl;
	tacho_store_seq_cst(&ctl->wanted, 1);
	tacho_ring_wait(&rec->cfg.session->view.ring,
			(uint64_t)timeout_ms * 1000000);
	tacho_store_relaxed(&ctl->wanted, 0);
	return 0;
}

int tacho_recorder_step(struct tacho_recorder *rec, int timeout_ms,
			struct tacho_diag *d)
{
	int any = step_lanes(rec, d);
	int kernel = 0;

	rec->d = d;
	if (any >= 0 && rec->pump)
		kernel = tacho_kernel_pump_step(rec->pump, 0);
	if (any >= 0 && kernel >= 0 && !any && !kernel && timeout_ms)
		kernel = wait_for_more(rec, timeout_ms);
	if (any < 0 || kernel < 0) {
		int err = any < 0 ? any : kernel;

		return tacho_diag(d, err, 0, "cannot record: %s", strerror(-err));
	}
	tacho_ktasks_look(rec->tasks, LOOK_PER_STEP);
	if (rec->cfg.session && now_ns() >= rec->objects_next) {
		int err = write_objects(rec, d);

		if (err)
			return err;
		rec->objects_next = now_ns() + OBJECTS_NS;
	}
	if (rotates(rec)) {
		int err = rotate_if_due(rec, d);

		if (err)
			return err;
	}
	return any || kernel;
}

void tacho_recorder_stats(const struct tacho_recorder *rec,
			  struct tacho_recorder_stats *s)
{
	*s = rec->st;
	s->bytes += tacho_ctf_writer_bytes(rec->w);
	s->lost += tacho_ctf_writer_lost(rec->w);
	for (uint32_t i = 0; i < rec->nr_lanes; i++) {
		s->lost += tacho_ring_lost(&rec->cfg.session->view.ring, i);
		s->lost += rec->lane[i].rd.overwritten;
	}
	for (uint32_t i = 0; rec->pump && i < TACHO_LANES_MAX; i++)
		s->lost += rec->klost[i];
}

int tacho_recorder_rotate(struct tacho_recorder *rec, struct tacho_diag *d)
{
	if (!rotates(rec))
		return tacho_diag(d, -EINVAL, 0, "'%s' is one trace", rec->dir);
	return rotate(rec, d);
}

const char *tacho_recorder_dir(const struct tacho_recorder *rec)
{
	return rec->chunk;
}

/* Settles all lanes; returns err, an earlier error, if it is not 0. */
static int settle_lanes(struct tacho_recorder *rec, int err, struct tacho_diag *d)
{
	for (uint32_t nr = 0; nr < rec->nr_lanes; nr++) {
		int one = settle_lane(rec, nr, !err, d);

		err = err ? err : one;
	}
	return err;
}

/* Counts program records that could not be written to the trace. */
static uint64_t unread(const struct tacho_recorder *rec)
{
	struct tacho_session_counts n;
	uint64_t got = rec->st.events - rec->st.kernel_events;

	if (!rec->cfg.session || rec->cfg.flight || rec->cfg.nr_resume)
		return 0;
	tacho_session_count(rec->cfg.session, &n);
	return less(n.written, got);
}

/* A snapshot's records that are not written because writing failed: they are lost. */
static uint64_t count_unwritten(struct tacho_recorder *rec)
{
	struct tacho_chunk chunk;
	uint64_t n = 0;

	for (uint32_t nr = 0; nr < rec->nr_lanes; nr++) {
		if (open_lane(rec, nr))
			continue;
		while (tacho_ring_read(&rec->lane[nr].rd, &chunk) > 0)
			n += chunk.head.events;
	}
	return n;
}

/* Writes the remaining records of the session and the kernel. */
static int drain(struct tacho_recorder *rec, struct tacho_diag *d)
{
	int err = 0, got;

	do
		got = rec->failed ? rec->failed : step_lanes(rec, d);
	while (got > 0);
	err = got;
	if (err && rec->cfg.snapshot) {
		rec->unwritten = count_unwritten(rec);
		rec->st.lost += rec->unwritten;
		rec->kept = 0;
	}
	err = settle_lanes(rec, err, d);
	rec->d = d;
	rec->draining = true;
	if (rec->pump) {
		int stop = tacho_kernel_stop(rec->cfg.kernel, d);

		err = err ? err : stop;
		got = tacho_kernel_pump_drain(rec->pump);
		err = err ? err : got ? got : rec->kernel_failed;
		tacho_ktasks_finish(rec->tasks,
				    tacho_kernel_tracefs(rec->cfg.kernel)->dirfd);
	}
	return err;
}

/* All of a snapshot that is missing, not only what the first failed write had. */
static void tell_unwritten(const struct tacho_recorder *rec, struct tacho_diag *d)
{
	uint64_t n = rec->unwritten + tacho_ctf_writer_lost(rec->w);
	struct tacho_diag all = { 0 };

	if (!rec->unwritten || !d)
		return;
	tacho_diag(&all, d->err, 0, "cannot write '%s': %s; %" PRIu64 " events are not in the "
		   "trace", rec->dir, strerror(-d->err), n);
	*d = all;
}

/* The window of a history. */
static int write_history(struct tacho_recorder *rec, struct tacho_diag *d)
{
	const struct tacho_recorder_config *c = &rec->cfg;
	int err;

	rec->d = d;
	err = tacho_history_each(c->history, &c->window, write_slice, rec);
	err = settle_lanes(rec, err, d);
	rec->st.damaged += tacho_history_damaged(c->history);
	if (c->kernel)
		tacho_ktasks_finish(rec->tasks, tacho_kernel_tracefs(c->kernel)->dirfd);
	return err;
}

int tacho_recorder_finish(struct tacho_recorder *rec,
			  struct tacho_recorder_stats *s, struct tacho_diag *d)
{
	struct tacho_clock_pair end = tacho_clock_pair(rec->cfg.clock);
	int err = rec->cfg.history ? write_history(rec, d) : drain(rec, d);
	int one;

	one = write_tasks(rec, d);
	err = err ? err : one;
	if (rec->cfg.session) {
		one = write_types(rec, d);
		err = err ? err : one;
		one = write_objects(rec, d);
		err = err ? err : one;
	}
	one = tacho_ctf_writer_pair(rec->w, end.ticks, end.realtime, d);
	err = err ? err : one;
	for (uint32_t i = 0; rec->pump && i < TACHO_LANES_MAX; i++)
		rec->st.lost += rec->klost[i];
	rec->st.bytes += tacho_ctf_writer_bytes(rec->w);
	rec->st.lost += tacho_ctf_writer_lost(rec->w) - rec->kept;
	tell_unwritten(rec, d);
	if (err)
		rec->st.unread = unread(rec);
	if (s)
		*s = rec->st;
	one = tacho_ctf_writer_close(rec->w, d);
	err = err ? err : one;
	release(rec);
	return err;
}
