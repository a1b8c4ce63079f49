/* SPDX-License-Identifier: MIT */
/*
 * index.h - what the model found in a trace, kept in a file.
 *
 * A model (model/model.h) must read a whole trace to know its intervals.  The index is written
 * during one such pass.  Afterwards any range of any track is answered from it: summed up at any
 * width, or listed item by item; and a model can be continued in the middle of the trace.
 *
 * 1. What is in it
 *	table	the tracks, as the model announced them; where the tree of each begins
 *	leaf	INDEX_LEAF items of one track, in the order in which the model gave them (of their
 *		ends): times, names, states, flags, depths, threads.  What only records know is
 *		not there: numbers of records, wakers.  Flows are not indexed
 *	node	INDEX_FAN parts, each of which sums up a leaf or a node of the level below: first
 *		begin, last end, time in each state, the longest item; minimum, maximum, sum and
 *		last of values; lost records
 *	checkpoint	the model's state (model_save()) between two records
 *	root	the identity of the trace, and where all that is
 *
 *	Each track has a tree of leaves and nodes.  Leaves and nodes are written when they are
 *	full, and then never change.  At most one leaf and one node of each level are not full:
 *	the *edge* of the tree.  Lost records have a tree for each CPU.
 *
 *	Items that did not end by themselves, but because the trace did (model_finish()), are in a
 *	second tree, the track's *tail*.  If the trace grows they go on, so a builder that is
 *	continued begins without tails.
 *
 * 2. The file: a log
 *	format.h has the bytes.  Blocks of at most 32 KiB, each with its length, its place and a
 *	checksum.  They are only appended.  Full leaves and nodes are written as they become full;
 *	a node has the places of its children.  A *commit* writes the edges, what changed of the
 *	tables, and a root that refers to all of it.  The only bytes of the file that change are
 *	two slots at its beginning, which say in turn where the newest root is.
 *
 *	L1	What a root refers to lies before it, is on the disk before a slot refers to the
 *		root, and never changes.  A slot has a checksum: if the newer one is torn, the
 *		older one holds.  What is behind the root of the valid slot does not exist.
 *	L2	What did not change since the last commit is not written again.  The builder
 *		commits by itself when the log has grown by COMMIT_PART (16) times the size of the
 *		last commit; so these commits cost 1/16 of the file.
 *	L3	A new index has the name PATH.new until its first commit.  So what is called PATH
 *		has a root, and a reader that has the old file open keeps it.
 *	L4	One writer: a lock on the file.  Readers need none.
 *
 *	A builder that dies loses what came after its last commit.  The next one continues behind
 *	the end of the file, or begins again.
 *
 * 3. Packed items
 *	leaf.h.  Three to five bytes an item: the time since the last one in as few bytes as it
 *	has, a code for what it is from a table at the leaf's beginning, and, where items do not
 *	follow each other without gap as states and `running` do (J1, J2), the duration.
 *	A gap where none should be takes 9 bytes more.
 *
 * 4. Questions
 *	Q1  index_buckets()	a range in equal buckets: times, counts, the longest,
 *				losses.  Parts that lie within a bucket are taken whole, others
 *				are opened
 *	Q2  index_items()	the items of a track that touch a range
 *	Q3  index_seek()	the checkpoint before a time, for what only the records say
 *
 *	An item touches [a, b) if begin < b and end > a, or if a <= begin < b.  Items come in the
 *	order of their ends, and a part knows its first begin.  So apart from one leaf at the
 *	range's begin, Q2 reads only leaves with an item that touches the range: O(log n +
 *	answer).  Q1 reads the leaves that an edge of a bucket cuts: O(buckets * log n).  Both
 *	give what a scan over all items gives; but sums of doubles depend on the order in which
 *	they are added.
 *
 * 5. Size
 *	At most `share` thousandths (120) of the bytes of the trace that were read, and 64
 *	KiB.  Checkpoints have 20 of these: one is taken every 8 Ki records, or later.  When more
 *	than 95 % of the share is used, those leaves are written *without items* whose items lie
 *	within the fewest records; when all is used, every leaf.  Their part stays in the
 *	node.  Q2 then reads the trace again (index_set_again()), from the checkpoint before.  Q1
 *	spreads such a leaf over the buckets that share it, and says for how many items it did
 *	(`rough`).
 *	Nodes, tables and names are always written: half a byte an item, and some 100
 *	bytes for a thread that lives briefly.
 *
 * 6. Growing traces
 *	A root has the model's state after the last record that is in it.  A builder of a trace
 *	that has grown begins with that: restore the model, read on.  The records that come later
 *	must not be earlier than those that were there: for a session that is written at the same
 *	time, read up to its horizon only.
 *
 * 7. Whose it is
 *	The root has for each file of the trace its name, its size, and a hash of its first and
 *	last 4 KiB up to that size; and a hash of the rules.  An index of another trace, of other
 *	rules or of another version of the format is -ESTALE: it is not used, and not replaced
 *	unless that is asked for.  A trace that has grown still has its index, of what it was.
 *
 * 8. Nothing in it is trusted
 *	Every offset, count and length is checked where it is read.  Each leaf and node says which
 *	tree and level it belongs to, so there is no cycle.  What is damaged is -EBADMSG, and then
 *	the index answers nothing more.
 *
 * 9. Memory
 *	The builder keeps 40 MiB of edges (`memory`), 4 bytes for each track, 5 MiB of the
 *	tables, the address of each name, and the state of the model while it is saved.  Edges
 *	that got no item for long are written, and read again when one comes.  A reader keeps 32
 *	MiB of blocks, and the names that it was asked for.
 *
 * Threads: a builder and each reader are used by one thread at a time; different ones are
 * independent.  One exception: a model and its builder may have a thread each, see "Two threads".
 */
#ifndef TACHO_INDEX_INDEX_H
#define TACHO_INDEX_INDEX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"
#include "model/model.h"

#define INDEX_LEAF	64u	/* items of a leaf */
#define INDEX_FAN	16u	/* parts of a node */

/* ---- whose it is (identity.c) ---- */

/* One file of a trace, as far as it was read. */
struct index_file {
	const char *name;	/* within the trace; "" for a trace of one file */
	uint64_t size;
	uint32_t hash;		/* index_hash_fd() up to size */
};

struct index_identity {
	const struct index_file *file;
	uint32_t nr_files;
	uint32_t rules;		/* hash of model_rules_text() */
	/*
	 * For an identity that an index is compared with: the hash of a file up to a size that it
	 * had earlier, smaller than now.  0 or a negative errno.  NULL: no file may have grown.
	 */
	int (*hash_at)(void *arg, uint32_t file, uint64_t size, uint32_t *hash);
	void *arg;
};

/* The hash of a file up to a size.  0; -ENODATA: it is shorter; another negative errno. */
int index_hash_fd(int fd, uint64_t size, uint32_t *hash);

/* ---- making one (build.c) ----
 *
 *	index_build_new()		with a state: model_restore(), else model_new()
 *	  before each record that is later than the last one, and before the first:
 *	index_build_tick()
 *	model_record()			index_build_ops take what comes out
 *	index_build_commit()		of a live session: whenever readers shall see more
 *	  at the end of the trace:
 *	index_build_finish()		instead of model_finish()
 *	index_build_commit()
 *	index_build_free()
 *
 * A builder is used with one model; it may be freed before the model only.
 */

struct index_builder;

/* Between two records. */
struct index_place {
	uint64_t time;		/* tacho_stream_seek() */
	uint64_t skip;		/* records from there on that were read before; 0 at checkpoints */
	uint64_t record;	/* the number that the next record has */
};

struct index_config {
	const char *path;		/* of the file */
	/*
	 * Bytes of the trace up to a place: section 5.  NULL: no limit.  It depends on nothing else
	 * that changes: with two threads both call it.
	 */
	uint64_t (*trace_bytes)(void *arg, const struct index_place *place);
	void *arg;
	uint32_t checkpoint_every;	/* records; 0: 8,192 */
	uint32_t share;			/* thousandths of the trace's bytes; 0: 120 */
	/* model_save(): appends the model's state.  NULL: there are no checkpoints. */
	int (*save)(const struct model *m, struct tacho_buf *out);
	bool replace;			/* a file that is there and cannot be continued */
	size_t memory;			/* bytes of edges in memory; 0: 40 MiB */
};

/*
 * index_build_new - begin an index, or continue one.
 *
 * identity: of the trace as it is now.  If there is an index of it, or of its beginning, with the
 * model's state, that is continued: the state is appended to *state (initialised by the caller),
 * and *place says where to read on.  Otherwise *state stays empty and *place is the trace's
 * beginning.
 *
 * Returns 0; -EBUSY: another process writes it; -ESTALE: it is another trace's, of another
 * version or of other rules, -EEXIST: it is no index, both unless config->replace; -ENOMEM;
 * another errno of the file.  All with d.
 */
int index_build_new(struct index_builder **builder, const struct index_config *config,
		    const struct index_identity *identity, struct tacho_buf *state,
		    struct index_place *place, struct tacho_diag *d);

/* What a model made from now on hands out: its config.ops and arg. */
extern const struct model_ops index_build_ops;	/* arg: the builder */

/*
 * index_build_tick - before a record that is later than all before, and before the first one.
 *
 * place: its time and number; skip is not looked at.  Takes a checkpoint and commits when it is
 * time to.  Cheap otherwise.
 * Returns 0 or a negative errno: the builder has failed, see index_build_error().
 */
int index_build_tick(struct index_builder *b, struct model *m, const struct index_place *place);

/*
 * Two threads: one has the model, the other the builder.  index_build_tick() is in two parts then:
 *
 *	of the model		before each record, as index_build_tick(): if its number is not
 *				below index_build_due(), index_build_save()
 *	of the builder		index_build_at() for each place that was before a record, with the
 *				state if one was due; index_build_ops for what the records
 *				from there on gave
 *
 * They touch nothing in common.  If the other thread gets all that in the order in which the first
 * made it, the file is the one that index_build_tick() makes, byte for byte.  A place that was
 * not due may be left out if no item came before the next one.  Before any other function the
 * other thread must have come to the end, the last place included.
 */

/* What index_build_save() hands over. */
struct index_state {
	bool taken;		/* false: the share of the states was used up */
	int err;		/* of saving it; index_build_at() reports it */
	struct model_stats stats;
	struct tacho_buf bytes;
};

void index_state_init(struct index_state *state);
void index_state_release(struct index_state *state);

/* The number of the record from which on a state is due. */
uint64_t index_build_due(const struct index_builder *b);

/* Before a record from which on one is due; state was initialised, and may have an older one. */
void index_build_save(struct index_builder *b, const struct model *m,
		      const struct index_place *place, struct index_state *state);

/* state: NULL where none was due.  Returns as index_build_tick(). */
int index_build_at(struct index_builder *b, const struct index_place *place,
		   const struct index_state *state);

/*
 * index_build_finish - the trace ends here: saves the model's state, then model_finish().
 *
 * After it only index_build_commit() and index_build_free().  Returns as model_finish().
 */
int index_build_finish(struct index_builder *b, struct model *m);

/*
 * index_build_commit - write and sync all that the model handed out.
 *
 * identity: the trace as far as it was read.  After index_build_finish() the index is complete
 * until the trace grows; else what is open in the model is not in it.
 * Returns 0 or a negative errno, with d; then the last commit holds.
 */
int index_build_commit(struct index_builder *b, const struct model *m,
		       const struct index_identity *identity, struct tacho_diag *d);

/* Why index_build_ops, index_build_tick() or _finish() failed.  0: they did not. */
int index_build_error(const struct index_builder *b, struct tacho_diag *d);

/* Without a commit nothing is left of a new index. */
void index_build_free(struct index_builder *b);

/* ---- reading one (read.c, query.c) ---- */

struct index;

/*
 * index_open - the last commit of a file.
 *
 * identity: of the trace as it is now.  The index may be of its beginning: index_info().
 *
 * Returns 0; -ENOENT; -ESTALE: of another trace, version or other rules; -EBADMSG: damaged, or no
 * index; -ENOMEM; another errno.  All with d.
 */
int index_open(struct index **index, const char *path, const struct index_identity *identity,
	       struct tacho_diag *d);
void index_close(struct index *index);

struct index_info {
	struct model_stats stats;	/* of what was read */
	uint64_t bytes;			/* of the file */
	uint64_t trace_bytes;		/* that were read, as config.trace_bytes() said */
	uint32_t nr_tracks, nr_checkpoints;
	bool finished;			/* all of the trace, as it is now */
	uint64_t items;			/* without flows */
	uint64_t packed;		/* of those, in full leaves with items */
};
void index_info(const struct index *index, struct index_info *info);

/*
 * index_track - tracks 0 to nr_tracks - 1.  The name is valid until index_close().
 *
 * Returns 0; -EINVAL: there is no such track; -EBADMSG; -ENOMEM; another errno.
 */
int index_track(struct index *index, uint32_t id, struct model_track *track);

/*
 * What items say of a bucket [a, b).  An item in several buckets counts in each, with the time
 * that it has there.
 *
 * covered, ns:
 *	states		by enum model_thread_state
 *	running		[MODEL_RUNS] threads, [MODEL_IDLE], [MODEL_UNKNOWN]
 *			Of both the sum is that part of the bucket in which the track lives
 *	other slices	[0] at depth 0, never more than the bucket; [1] at all greater depths
 *			together.  ([0] + [1]) / width of devices and spans: how many were open
 *			on average
 */
struct index_sum {
	uint64_t count;			/* items that touch it */
	uint64_t begins;		/* that begin in it: so each item in one bucket */
	uint64_t covered[MODEL_NR_STATES];
	uint64_t longest;		/* of all that touch it; its whole length.  0: none */
	uint64_t longest_begin;
	uint32_t longest_name;		/* index_name(); of a state: enum model_thread_state */
	uint64_t uncertain;		/* covered by uncertain items; of slices: at depth 0 */
	/* losses that end in it: on the CPU of a cpu, running, irq or softirq track, else on all */
	uint64_t lost;			/* records */
	uint64_t rough;			/* items of leaves without items, spread evenly */
	/* values: of those in it, NaN if there are none; `last` holds at its end */
	double min, max, sum, last;
};

/*
 * index_buckets - bucket i is [from + i * width, from + (i + 1) * width), for i < nr.
 *
 * Returns 0; -EINVAL: no such track, or times beyond 2^63; -EBADMSG; -ENOMEM; another
 * errno.  With d.
 */
int index_buckets(struct index *index, uint32_t track, uint64_t from, uint64_t width, uint32_t nr,
		  struct index_sum *bucket, struct tacho_diag *d);

/*
 * index_items - each item of a track that touches [from, to), in the order of their ends.
 *
 * To ops, as the model did; records are MODEL_NO_RECORD, wakers 0.  Tracks `machine` and `cpu`
 * have the losses: of all CPUs, one CPU after the other, or of that one and of those that are not
 * known.  ops may call index_track() and index_name() only.
 *
 * Returns 0; what an op returned; -ENODATA: some items are only in the trace, and there is no
 * `again`; what `again` returned; -ESTALE: the trace has changed; and as index_buckets().
 */
int index_items(struct index *index, uint32_t track, uint64_t from, uint64_t to,
		const struct model_ops *ops, void *arg, struct tacho_diag *d);

/*
 * index_set_again - what reads the trace where leaves have no items.
 *
 * again() gives to ops what a model hands out for `track` out of the records with first <= time
 * <= last: it seeks the checkpoint before `first`, and restores a model.  It ends when an op
 * returns a negative number (-ECANCELED when there is enough), and returns that.
 */
void index_set_again(struct index *index,
		     int (*again)(void *arg, uint32_t track, uint64_t first, uint64_t last,
				  const struct model_ops *ops, void *ops_arg), void *arg);

/*
 * index_seek - the newest checkpoint at which no record from `time` on was read.
 *
 * The model's state is appended to *state.  Returns 0; -ENOENT: read from the trace's beginning;
 * -EBADMSG; -ENOMEM; another errno, with d.
 */
int index_seek(struct index *index, uint64_t time, struct index_place *place,
	       struct tacho_buf *state, struct tacho_diag *d);

/* A name, valid until index_close().  NULL: there is no such name, or it cannot be read. */
const char *index_name(struct index *index, uint32_t name);

#endif
