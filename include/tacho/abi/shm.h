/* SPDX-License-Identifier: MIT */
/*
 * abi/shm.h - the files that traced processes and tools share, in the run-time
 * directory.  Each has a fixed layout.  Offsets, never pointers.  Native-endian;
 * one machine, one boot (a recovered directory is read on the machine's
 * own architecture, and `signature` rejects any other layout).
 *
 *	DIR/registry			struct tacho_registry: session bit -> directory
 *	DIR/proc/<pid>.<pidns>		struct tacho_proc: one traced process
 *	DIR/sessions/<name>/control	struct tacho_control, then lanes
 *	DIR/sessions/<name>/types	struct tacho_types: the event types recorded
 *	DIR/sessions/<name>/commands	struct tacho_commands: filters, triggers, ...
 *	DIR/sessions/<name>/hist.<series>.<type>	a histogram, engine/map.h
 *	DIR/sessions/<name>/buf.<lane>.<id>	sub-buffers, each a struct tacho_packet
 *	DIR/sessions/<name>/settings	text: the settings made in its mounted tree
 *
 * A session's directory can be elsewhere (a disk that survives a machine crash);
 * the registry has its path.
 *
 * Who writes what
 *	Tools change registry, rules, pid lists and commands while they hold flock()
 *	on DIR/registry, which a kill releases.  Traced processes never lock.
 *	They write their own proc file, lanes and buffers by the protocol of
 *	src/ring/ring.h, the type table by compare-and-swap, histograms by the
 *	protocol of src/engine/map.h, and single words: the remaining count of a
 *	trigger, a soft switch, the session's state (traceon, traceoff), a request.
 *
 * Trust
 *	All processes that may record into the session can write a file (mode
 *	0600: one owner).  Readers do not trust it: each value is copied, checked
 *	against the file's size, then used.
 */
#ifndef TACHO_ABI_SHM_H
#define TACHO_ABI_SHM_H

#include "tacho/abi/record.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TACHO_SESSIONS_MAX	64	/* bits of a state word */
#define TACHO_LANES_MAX		2048	/* CPUs, fallback and late lanes */
#define TACHO_BUFFERS_MAX	64	/* per lane: ids 0..63 */
#define TACHO_RULES_MAX		512
#define TACHO_PIDS_MAX		1024
#define TACHO_TASKS_MAX		4096	/* power of two */
#define TACHO_NAME_MAX		64	/* session name, NUL included */
#define TACHO_PATH_MAX		176
#define TACHO_RULE_MAX		120
#define TACHO_EVENTS_MAX	65535	/* types of a session, events of a process */
#define TACHO_COMMANDS_MAX	256
#define TACHO_SOFT_MAX		64
#define TACHO_COMMAND_TEXT	2048	/* bytes of a command, NUL included */

/*
 * The first 16 bytes of every file.  `magic` is the kind; `signature` is
 * computed from the sizes of all structs here, so that two builds with
 * different layouts reject each other.
 */
struct tacho_file_head {
	uint64_t magic;
	uint32_t signature;	/* tacho_abi_signature() */
	uint32_t ready;		/* 1 when the rest is valid; stored last, release */
};

#define TACHO_MAGIC_REGISTRY	UINT64_C(0x7274734f48434154)	/* "TACHOstr" */
#define TACHO_MAGIC_PROC	UINT64_C(0x7270704f48434154)
#define TACHO_MAGIC_CONTROL	UINT64_C(0x6c74634f48434154)
#define TACHO_MAGIC_TYPES	UINT64_C(0x7079744f48434154)
#define TACHO_MAGIC_COMMANDS	UINT64_C(0x646d634f48434154)

/* ---- registry ---------------------------------------------------------- */

enum tacho_slot_state {
	TACHO_SLOT_FREE = 0,
	TACHO_SLOT_MAKING = 1,	/* a tool creates or destroys it, under flock */
	TACHO_SLOT_LIVE = 2,
};

struct tacho_slot {
	uint32_t state;		/* enum tacho_slot_state; LIVE is stored with release */
	uint32_t generation;	/* counts the sessions that used this bit */
	char name[TACHO_NAME_MAX];
	char path[TACHO_PATH_MAX];	/* the session's directory, absolute */
	uint64_t pad;
};

TACHO_ABI_ASSERT(sizeof(struct tacho_slot) == 256, "registry slot");

/* A failure in a program that had no file to count it in: src/session/remark.h. */
struct tacho_remark {
	uint64_t seq;		/* odd while written; even and not 0: valid */
	uint64_t last;		/* CLOCK_REALTIME of the last time, ns */
	uint64_t times;
	int32_t pid;		/* the process, the last time */
	char comm[16];
	char text[212];
};

TACHO_ABI_ASSERT(sizeof(struct tacho_remark) == 256, "remark");

#define TACHO_REMARKS_MAX	16

struct tacho_registry {
	struct tacho_file_head head;
	uint32_t remarks;	/* slots of remarks allocated */
	uint32_t pad0;
	uint64_t pad[29];
	struct tacho_slot slot[TACHO_SESSIONS_MAX];
	struct tacho_remark remark[TACHO_REMARKS_MAX];
};

/* ---- one traced process ------------------------------------------------- */

/*
 * A sparse file of fixed size, mapped once at full length; blocks are
 * allocated (never merely touched) before they are used.  The parts:
 *
 *	head	struct tacho_proc, one page
 *	state	struct tacho_proc_state [TACHO_EVENTS_MAX + 1]
 *	entry	struct tacho_proc_event [TACHO_EVENTS_MAX + 1]
 *	text	type texts (see struct tacho_types), appended
 *	seat	for children that cannot make a file: struct tacho_seats
 *
 * Index 0 is never used.  nr_events is stored with release after the entry.
 * Tools set and clear bits in state words, and write nothing else.
 */

/*
 * The sessions that use one event, a bit for each session.  The site reads only
 * `wanted`.  A bit of `program` is set before that of `wanted` and cleared
 * after it, so that no hit of an event that only has triggers is recorded.
 */
struct tacho_proc_state {
	/* the site fires: enabled, has a trigger, or is the target of one */
	uint64_t wanted;
	uint64_t program;	/* there are commands for it: a hit takes the slow path */
};

/*
 * A program that dropped privileges (setuid, chroot) can no longer create files, nor can its
 * children, but they inherit its mapping.  A child without a file therefore takes a seat in
 * the file of its ancestor: its own head and state words.  It maps the words over
 * those of its parent, at the addresses that its sites read.  src/runtime/procmap.c.
 *
 *	seat i	one word, in the head page of the file: pid | state << 32
 *		struct tacho_proc and state words, at TACHO_PROC_SEAT(i)
 *
 * The child takes a seat that is free, or whose process has ended, by compare-and-swap.
 * Tools free the seats of ended processes.  Entries and texts are those of the file.  A
 * child that cannot map memory (seccomp), or has too many events for a seat, takes only
 * the seat's word and is switched with its parent.  So is a child for which no seat is
 * left; tools do not see it.
 */
enum tacho_seat_state {
	TACHO_SEAT_FREE = 0,
	TACHO_SEAT_TAKING = 1,
	TACHO_SEAT_LIVE = 2,	/* it has its own head and state words */
	TACHO_SEAT_SHARED = 3,	/* it uses the words of its parent */
};

#define TACHO_SEATS_MAX		256
#define TACHO_SEAT_STRIDE	65536u
#define TACHO_SEAT_EVENTS	((TACHO_SEAT_STRIDE - 4096u) / 16u - 1)
#define TACHO_SEAT_WORD(pid, state) \
	((uint64_t)(uint32_t)(pid) | (uint64_t)(state) << 32)

struct tacho_proc {
	struct tacho_file_head head;
	int32_t pid;
	uint32_t nr_events;	/* entries 1..nr_events are valid */
	uint64_t start_time;	/* field 22 of /proc/<pid>/stat */
	uint64_t pidns;		/* inode of /proc/self/ns/pid */
	uint32_t text_used;
	uint32_t flags;		/* enum tacho_proc_flag */
	char comm[16];
	char exe[256];		/* path of the program, cut if longer */
	/* failures inside the process, for `tacho status` */
	uint64_t lost_events;	/* events that could not be registered: too many, or no memory */
	uint64_t lost_map;	/* sessions that could not be mapped */
	uint64_t lost_program;	/* commands that could not be compiled here */
	uint64_t lost_stack;	/* call stacks not walked or written, mappings not dumped */
	uint64_t unseated;	/* forked children for which no seat was left */
};

#define TACHO_PROC_SEATS_OFF	2048u	/* of the seats' words */

#define TACHO_PROC_STATE_OFF	4096u
#define TACHO_PROC_ENTRY_OFF	(TACHO_PROC_STATE_OFF + 16u * (TACHO_EVENTS_MAX + 1))
#define TACHO_PROC_TEXT_OFF	(TACHO_PROC_ENTRY_OFF + 16u * (TACHO_EVENTS_MAX + 1))
#define TACHO_PROC_TEXT_MAX	(64u << 20)
#define TACHO_PROC_SEAT(i) \
	(TACHO_PROC_TEXT_OFF + TACHO_PROC_TEXT_MAX + (i) * TACHO_SEAT_STRIDE)
#define TACHO_PROC_SIZE		TACHO_PROC_SEAT(TACHO_SEATS_MAX)

enum tacho_proc_flag {
	TACHO_PROC_SANDBOXED = 1,	/* it had a seccomp filter when it began */
};

enum tacho_proc_event_flag {
	TACHO_PROC_EVENT_GONE = 1,	/* its object was dlclose'd; it may be loaded again */
};

struct tacho_proc_event {
	uint32_t text;		/* offset in the text part */
	uint32_t text_len;
	uint32_t flags;		/* enum tacho_proc_event_flag */
	uint32_t name_len;	/* length of "system:name" at the start of the text */
};

TACHO_ABI_ASSERT(sizeof(struct tacho_proc) <= TACHO_PROC_SEATS_OFF, "proc head");
TACHO_ABI_ASSERT(TACHO_PROC_SEATS_OFF + 8 * TACHO_SEATS_MAX <= TACHO_PROC_STATE_OFF, "seats");
TACHO_ABI_ASSERT(sizeof(struct tacho_proc_event) == 16, "proc entry");
TACHO_ABI_ASSERT(sizeof(struct tacho_proc_state) == 16, "state words");

/* ---- the event types of a session --------------------------------------- */

/*
 * Append-only, lock-free, and safe against a kill at any instruction:
 *	1. text_used is advanced with fetch-and-add, which reserves the room;
 *	2. the text is written there;
 *	3. slots are compared from the start; the first one that is 0 is taken
 *	   with compare-and-swap.  If another process took it first, its text
 *	   is compared like the others, and the search continues.
 * The slot's index is the event's id (common_type) in this session.  A killed
 * process leaves at most some unused text.
 *
 * A type text is "system:name\n" and then a kernel `format` file without its
 * "name:" and "ID:" lines:
 *
 *	format:
 *		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
 *		...
 *
 *	print fmt: "...", REC->...
 */
struct tacho_type_slot {
	uint32_t text;		/* offset in the text part, multiple of 8; 0: free */
	uint32_t text_len;
};

struct tacho_types {
	struct tacho_file_head head;
	uint64_t text_used;	/* bytes reserved, from 8 on */
	uint64_t text_ready;	/* bytes whose blocks are allocated */
	uint64_t lost;		/* types rejected: the table or the text is full */
	uint64_t pad[3];
	/* struct tacho_type_slot as one word: text | len << 32 */
	uint64_t slot[TACHO_EVENTS_MAX + 1];
};

#define TACHO_TYPES_TEXT_OFF	TACHO_ABI_PAGE_UP(sizeof(struct tacho_types))
#define TACHO_TYPES_TEXT_MAX	(64u << 20)
/* A program's core dump excludes the text from here on. */
#define TACHO_TYPES_TEXT_DUMPED	(4u << 20)
#define TACHO_TYPES_SIZE	(TACHO_TYPES_TEXT_OFF + TACHO_TYPES_TEXT_MAX)
#define TACHO_ABI_PAGE_UP(x)	(((x) + 4095u) & ~UINT64_C(4095))

/* ---- the commands of a session ------------------------------------------- */

/*
 * Filters, triggers and definitions of synthetic events and event probes, as text.
 * Each traced process compiles them for itself (src/runtime/actions.h), so nothing in this
 * file is executed.
 *
 *	Tools edit under the registry's lock: seq odd, edit, seq even.  A command's
 *	text is stored before its state (release).  Slots are reused; `serial` is the order
 *	in which commands were set, and is part of the names of their histograms.
 *	seq also changes when rules or pids change, because actions are compiled from both.
 *	Blocks of command[0..nr-1] are allocated; the following ones are holes.
 */
enum tacho_command_state {
	TACHO_COMMAND_FREE = 0,
	TACHO_COMMAND_LIVE = 1,
};

enum tacho_command_kind {
	TACHO_COMMAND_FILTER = 1,	/* text "0": no filter, overrides earlier ones */
	TACHO_COMMAND_TRIGGER = 2,
	TACHO_COMMAND_SYNTH = 3,	/* event: "synthetic:<name>" */
	/*
	 * An event probe; event: "<group>:<name>", text: "SYSTEM.EVENT ARG... [if FILTER]".
	 * `series` is the id of its type, whose text has an empty line after its name.
	 */
	TACHO_COMMAND_EPROBE = 4,
};

enum tacho_command_flag {
	TACHO_COMMAND_PAUSED = 1,	/* a histogram that does not count */
	TACHO_COMMAND_HIDDEN = 2,	/* created for another command: `owner` */
};

/* An event that enable_event or disable_event triggers target. */
struct tacho_soft {
	char event[TACHO_RULE_MAX];	/* "system:event"; "": a free slot */
	uint32_t disabled;		/* 1: not recorded.  Written by its triggers and by tools */
	uint32_t users;			/* triggers that target it; written by tools */
};

struct tacho_command {
	uint32_t state;		/* enum tacho_command_state */
	uint32_t kind;		/* enum tacho_command_kind */
	uint64_t left;		/* hits left, UINT64_MAX: no limit.  Processes decrement it */
	uint32_t serial;	/* from 1, in the order in which they were set */
	uint32_t flags;		/* enum tacho_command_flag */
	uint32_t soft;		/* its target is soft[soft - 1]; 0: it has none */
	uint32_t series;	/* for hist: its maps are hist.<series>.<type> */
	uint32_t owner;		/* serial */
	uint32_t pad;
	char event[TACHO_RULE_MAX];	/* "system:event", each part a glob */
	char text[TACHO_COMMAND_TEXT];	/* as set by the user; ends with NUL */
};

struct tacho_commands {
	struct tacho_file_head head;
	uint32_t seq;		/* odd while a tool edits */
	uint32_t nr;		/* slots ever used */
	uint32_t serials;	/* commands ever set */
	uint32_t pad0;
	/* counted by processes */
	uint64_t too_deep;	/* synthetic events generated by synthetic events, and so on */
	uint64_t lost_map;	/* histograms that could not be created or mapped */
	uint64_t pad1[2];
	struct tacho_soft soft[TACHO_SOFT_MAX];
	struct tacho_command command[TACHO_COMMANDS_MAX];
};

TACHO_ABI_ASSERT(sizeof(struct tacho_soft) == 128, "soft");
TACHO_ABI_ASSERT(sizeof(struct tacho_command) % 8 == 0, "command");

/* ---- a session ------------------------------------------------------------ */

enum tacho_session_flag {
	TACHO_SESSION_OVERWRITE = 1,	/* flight recorder: old sub-buffers are overwritten */
	TACHO_SESSION_FORK = 2,		/* children of listed pids are listed too */
	TACHO_SESSION_PERSIST = 4,	/* the directory is on a disk (tacho create --dir) */
	TACHO_SESSION_ENDED = 8,	/* stopped permanently: no trigger starts it again */
	TACHO_SESSION_LINKED = 16,	/* linked buffers, its owner's: no snapshot, no resizing */
};

enum tacho_session_state {
	TACHO_STATE_STOPPED = 0,
	TACHO_STATE_RECORDING = 1,
	TACHO_STATE_DEAD = 2,		/* destroyed: writers unmap it */
};

enum tacho_clock {
	TACHO_CLOCK_TSC = 0,		/* x86 rdtsc, aarch64 cntvct_el0 */
	TACHO_CLOCK_MONO = 1,		/* CLOCK_MONOTONIC, ns */
	TACHO_CLOCK_BOOT = 2,		/* CLOCK_BOOTTIME, ns */
};

#define TACHO_REQUEST_TIMES	4u	/* snapshots whose times are kept */

/* A clock snapshot, to convert ticks to real time. */
struct tacho_clock_pair {
	uint64_t ticks;		/* of the session's clock */
	uint64_t realtime;	/* CLOCK_REALTIME, ns since 1970 */
};

/* One line of `enable` or `disable`, applied in order; the last match wins. */
struct tacho_rule {
	uint32_t enable;	/* 1 or 0 */
	uint16_t group;		/* common to rules that were set as one word; 0: none */
	uint16_t matched;	/* a traced process has had such an event, and sets this */
	char glob[TACHO_RULE_MAX];	/* "system:event", each part a glob */
};

/* A thread that has recorded: the process of a common_pid.  Written by the thread. */
struct tacho_task {
	uint64_t seq;		/* odd while written; even and not 0: valid */
	int32_t tid;
	int32_t tgid;
	char comm[16];
};

/*
 * A lane is a ring of rings: the buffers of one CPU (lanes 0..nr_cpus-1,
 * written by restartable sequences), of writers without rseq (the fallback
 * lanes after them, written under `lock`), or of records of a CPU that are written later
 * than they occurred (the late lanes at the end).  The protocol is in src/ring/ring.h.
 */
struct tacho_lane {
	uint64_t cursor;	/* committed position, see src/ring/ring.h */
	uint64_t fast_until;	/* clock value at which writers take the slow path; 0: stopped */
	uint64_t lock;		/* fallback and late lanes: tid | pidns << 32; 0: free */
	uint64_t pad0[5];

	/* records discarded, by reason */
	uint64_t lost_full;	/* no room, in discard mode */
	uint64_t lost_big;	/* the record does not fit in a sub-buffer */
	uint64_t lost_busy;	/* no lane was free, or its buffer could not be mapped */
	uint64_t pad1[5];

	/* written by tools, under the registry's lock: src/ring/ring.h section 9 */
	uint64_t moves;		/* incremented before a tool changes a buffer that is not current */
	uint32_t home;		/* first id of the pair in use, when the cursor is gone */
	uint32_t pad2;
	uint64_t pad3[6];
	uint64_t pad4[8];
};

TACHO_ABI_ASSERT(sizeof(struct tacho_lane) == 256, "lane");

enum tacho_buffer_flag {
	TACHO_BUFFER_MADE = 1,		/* its file exists and is allocated */
	TACHO_BUFFER_OVERWRITE = 2,	/* overwrite mode (otherwise discard mode) */
	TACHO_BUFFER_FROZEN = 4,	/* shifted out: readable, no longer written */
};

/*
 * The open sub-buffer of a buffer, by the parity of its number: a copy of its header for
 * writers, which never read a buffer's memory.
 */
struct tacho_open {
	uint64_t seq;		/* packet_seq_num */
	uint64_t first;		/* event_first */
	uint64_t begin;		/* timestamp_begin */
};

/* A buffer of a lane: an id, the id of the next one, shift and jump. */
struct tacho_buffer {
	uint64_t saved;		/* the lane's cursor when it was shifted out */
	uint32_t flags;		/* enum tacho_buffer_flag */
	uint32_t next;		/* id to shift to; its own id: no shift */
	uint32_t nr_subs;	/* sub-buffers, a power of two */
	uint32_t pad0;
	/* packet_seq_num of the first sub-buffer since it was shifted in */
	uint64_t begins;	/* while it is written */
	uint64_t began;		/* since it was shifted out */
	uint64_t floor;		/* sub-buffers [0, floor) were not moved here */
	uint64_t pad1[2];

	uint64_t consumed;	/* sub-buffers [0, consumed) were released by the reader */
	struct tacho_open open[2];
	uint64_t pad2;
};

TACHO_ABI_ASSERT(sizeof(struct tacho_buffer) == 128, "buffer");

/* Process ids.  Edited like rules; children that are followed add themselves. */
struct tacho_pids {
	uint32_t nr;
	uint32_t pad;
	int32_t pid[TACHO_PIDS_MAX];
};

struct tacho_control {
	struct tacho_file_head head;
	char name[TACHO_NAME_MAX];
	uint8_t uuid[16];
	uint32_t bit;		/* in state words; index in the registry */
	uint32_t generation;	/* of the registry slot */
	uint32_t flags;		/* enum tacho_session_flag */
	uint32_t clock;		/* enum tacho_clock */
	uint32_t nr_cpus;	/* lanes 0..nr_cpus-1 */
	uint32_t nr_fallback;	/* lanes nr_cpus..nr_cpus+nr_fallback-1 */
	uint32_t sub_shift;	/* log2 of the sub-buffer's bytes */
	uint32_t nr_subs;	/* default per buffer, a power of two */
	uint32_t nr_late;	/* late lanes after those, from CPU 0 on */
	uint32_t served;	/* of requested: requests that the recorder has answered */
	uint64_t clock_freq;	/* ticks per second */
	struct tacho_clock_pair start;
	int32_t owner;		/* pid of the recorder, 0: none */
	uint32_t dumps;		/* snapshots a flight recorder has written */
	char output[256];	/* the trace the recorder writes, if any */
	char kernel_instance[64];	/* its tracefs instance, "" for none */

	/* what the lanes' `fast_until` follow: src/ring/ring.h section 7 */
	uint32_t state __attribute__((aligned(64)));	/* enum tacho_session_state */
	uint32_t wanted;	/* readers waiting: wake them at a sub-buffer change */

	/*
	 * Number of snapshots requested by triggers; a futex word.  Before it is incremented,
	 * the time of the request is stored: as the latest, and in the slot by `asking`.
	 */
	uint32_t requested;
	uint32_t asking;
	uint64_t requested_at;	/* ticks: when the last one was; 0: not noted */
	/* of the last ones, by turn; 0: not noted */
	uint64_t requested_times[TACHO_REQUEST_TIMES];

	/* wake-up: futex word and counts, written at sub-buffer changes only */
	uint32_t wake __attribute__((aligned(64)));
	uint32_t pad1;

	/* edited like commands, with seq of struct tacho_commands */
	uint32_t nr_rules __attribute__((aligned(64)));
	uint32_t groups;	/* groups of rules ever used; written by tools */
	struct tacho_rule rule[TACHO_RULES_MAX];

	struct tacho_pids pids;		/* processes to trace; none: all */
	struct tacho_pids not_pids;	/* processes to exclude */

	struct tacho_task task[TACHO_TASKS_MAX];
};

#define TACHO_CONTROL_LANES_OFF	TACHO_ABI_PAGE_UP(sizeof(struct tacho_control))
/* A lane and its buffers; a power of two, because writers compute addresses by a shift. */
#define TACHO_LANE_SHIFT	14
#define TACHO_LANE_STRIDE	(1u << TACHO_LANE_SHIFT)
TACHO_ABI_ASSERT(sizeof(struct tacho_lane) + TACHO_BUFFERS_MAX *
		 sizeof(struct tacho_buffer) <= TACHO_LANE_STRIDE, "lane stride");
#define TACHO_CONTROL_SIZE(nr_lanes) \
	(TACHO_CONTROL_LANES_OFF + (uint64_t)(nr_lanes) * TACHO_LANE_STRIDE)

static inline uint32_t tacho_abi_signature(void)
{
	uint64_t h = 4;		/* version of the protocol */

	h = h * 31 + sizeof(struct tacho_registry);
	h = h * 31 + sizeof(struct tacho_proc);
	h = h * 31 + sizeof(struct tacho_proc_state);
	h = h * 31 + sizeof(struct tacho_types);
	h = h * 31 + sizeof(struct tacho_commands);
	h = h * 31 + sizeof(struct tacho_control);
	h = h * 31 + sizeof(struct tacho_lane);
	h = h * 31 + sizeof(struct tacho_buffer);
	h = h * 31 + sizeof(struct tacho_packet);
	return (uint32_t)(h ^ h >> 32);
}

#ifdef __cplusplus
}
#endif

#endif
