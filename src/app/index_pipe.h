/* SPDX-License-Identifier: MIT */
/*
 * index_pipe.h - a model and the builder of its index, each on a thread.
 *
 * The caller's thread reads the stream and has the model; the other one has the builder.  That is
 * about a third of the work, and the writing and syncing of the file.
 *
 *	app_index_pipe_new()	starts the thread
 *	app_index_pipe_ops	for the model: what it hands out is copied into the pipe
 *	app_index_pipe_tick()	instead of index_build_tick()
 *	app_index_pipe_end()	waits until the builder has all, and ends the thread.  From then on
 *				ops go to the builder at once, for index_build_finish()
 *	app_index_pipe_free()	ends the thread if it is there
 *
 * 1. The queue
 *	BATCHES batches of BATCH_WORDS words, used in turn.  `filled` and `taken` count those that
 *	were handed over and those that the builder is done with; batch n is n modulo
 *	BATCHES.
 *
 *	P1	taken <= filled < taken + BATCHES
 *	P2	batches taken to filled - 1 are the builder's, all others, and so the one with
 *		number filled, the model's.  Only the owner touches a batch
 *	P3	filled, taken, ended and err change under the lock
 *
 *	What it costs is bytes that go from one core's cache to another's: so entries are small.
 *	Items that most traces are full of have three to five words, without what an index does
 *	not keep (numbers of records, wakers); longer than 2^32 ns, or spans between threads, they
 *	are whole structs as all others are.  Strings are not copied: the model's live until
 *	model_free(), which comes after the end.  What the model's thread writes
 *	with each record is on cache lines of its own.
 *
 * 2. Places
 *	Not each record has items.  A place goes into the queue when an item comes after it,
 *	when a state is due, and at the end: what index.h ("Two threads") asks for.  So the builder
 *	gets what it would have got with one thread, and the file is the same, byte for byte.
 *
 * 3. States
 *	There is one, for the checkpoint or commit that is due: saved by the model's thread, and
 *	the builder's until it is done with the batch that refers to it (`state_until`).  That
 *	batch is handed over at once.  8 Ki records later, when the next one is due, it long
 *	has been.
 *
 * 4. Errors
 *	The first error of the builder stays in err: the builder gets nothing any more, and batches
 *	are thrown away, so the model's thread never waits in vain.  It finds out with the
 *	next batch, or at the end; index_build_error() has the text.
 *
 * Signals are blocked in the thread.
 */
#ifndef TACHO_APP_INDEX_PIPE_H
#define TACHO_APP_INDEX_PIPE_H

#include "index/index.h"

struct app_index_pipe;

/* NULL: no memory or no thread; one thread does it then. */
struct app_index_pipe *app_index_pipe_new(struct index_builder *builder);

extern const struct model_ops app_index_pipe_ops;	/* arg: the pipe */

/* Returns 0, or an error that the builder had. */
int app_index_pipe_tick(struct app_index_pipe *p, const struct model *m,
			const struct index_place *place);
int app_index_pipe_end(struct app_index_pipe *p);

/* Before the builder and the model are freed.  NULL: nothing. */
void app_index_pipe_free(struct app_index_pipe *p);

#endif
