// SPDX-License-Identifier: MIT
/* Making an index: items into edges, edges into the log, commits. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "index/edge.h"
#include "index/root.h"

#define CACHE		64u			/* blocks */
#define EDGES_MAX	((size_t)40 << 20)	/* bytes of edges in memory */
#define STATE_MAX	((size_t)1 << 30)

#define EVERY		8192u			/* records from checkpoint to checkpoint */
#define SHARE		120u			/* thousandths of the trace */
#define STATE_SHARE	20u			/* of those: checkpoints */
#define FREE		((uint64_t)64 << 10)	/* with the whole share: of small traces */
#define COMMIT_PART	16u			/* a commit is at most this part of the log */
#define COMMIT_MIN	((uint64_t)1 << 20)
#define LOOK_EVERY	32u			/* leaves between two looks at the share */

#define CPUS_MAX	65536u

enum { TRACKS, LOSSES, NR_TABLES };

/* Which edges are in memory: by number in a table, the index in builder.edge + 1. */
struct homes {
	uint32_t *edge;
	uint32_t room;
};

struct index_builder {
	struct index_config config;
	struct index_log log;
	struct index_root root;
	struct index_slot slot;		/* of the last commit */
	struct index_now now;
	char *path, *new_path;		/* new_path: as long as it has not its name yet */
	int err;
	bool finishing;			/* what comes out now belongs to tails */
	struct homes home[NR_TABLES][INDEX_NR_TREES];
	struct index_edge **edge;	/* NULL: free */
	uint32_t nr_edges, room_edges, hand;
	uint32_t *free_edge;
	uint32_t nr_free;
	size_t room;			/* bytes of all edges */
	uint32_t *loss_of_cpu;		/* index in root.losses + 1 */
	uint32_t nr_loss_cpus, loss_unknown;
	uint64_t looked;		/* items at the last look at the share */
	uint64_t committed, commit_size;
	/* all that index_build_due() and _save() use, with config: of the model's thread */
	struct {
		uint64_t next;		/* record */
		uint64_t bytes;		/* of all states */
		uint64_t len;		/* of the last one */
	} saves;
};

static int fail(struct index_builder *b, int err)
{
	if (!b->err)
		b->err = err;
	return b->err;
}

static struct index_table *table_of(struct index_builder *b, uint64_t tree, unsigned int which)
{
	return tree & 1 ? &b->root.losses : which ? &b->root.tails : &b->root.tracks;
}

/* ---- edges in memory ---- */

static uint32_t *home_of(struct index_builder *b, uint64_t tree, unsigned int which)
{
	struct homes *h = &b->home[tree & 1][which];
	uint32_t i = (uint32_t)(tree >> 1), room = h->room ? h->room : 256;
	uint32_t *edge;

	if (tacho_likely(i < h->room))
		return &h->edge[i];
	while (room <= i)
		room = room > UINT32_MAX / 2 ? UINT32_MAX : room * 2;
	edge = reallocarray(h->edge, room, sizeof(*edge));
	if (!edge)
		return NULL;
	memset(edge + h->room, 0, (room - h->room) * sizeof(*edge));
	h->edge = edge;
	h->room = room;
	return &h->edge[i];
}

static int write_edge(struct index_builder *b, struct index_edge *e)
{
	struct index_entry *entry;
	uint64_t ref;
	int err;

	if (!e->dirty)
		return 0;
	ref = index_edge_put(e, &b->log, &err);
	if (!err)
		err = index_table_get(table_of(b, e->tree, e->which), &b->log,
				      (uint32_t)(e->tree >> 1), true, &entry);
	if (!err)
		entry->edge = ref;
	return err;
}

static void free_edge(struct index_builder *b, uint32_t i)
{
	struct index_edge *e = b->edge[i];

	b->room -= e->room;
	b->home[e->tree & 1][e->which].edge[e->tree >> 1] = 0;
	index_edge_release(e);
	free(e);
	b->edge[i] = NULL;
	b->free_edge[b->nr_free++] = i;
}

/* Writes and frees edges that were not used for a turn, until there is room. */
static int evict(struct index_builder *b)
{
	while (b->room > b->config.memory) {
		uint32_t i = b->hand;
		struct index_edge *e = b->edge[i];
		int err;

		b->hand = (b->hand + 1) % b->nr_edges;
		if (!e)
			continue;
		if (e->used) {
			e->used = false;
			continue;
		}
		err = write_edge(b, e);
		if (err)
			return err;
		free_edge(b, i);
	}
	return 0;
}

static int place_edge(struct index_builder *b, uint32_t *i)
{
	uint32_t room = b->room_edges ? b->room_edges * 2 : 256;
	struct index_edge **edge;
	uint32_t *list;

	if (b->nr_free) {
		*i = b->free_edge[--b->nr_free];
		return 0;
	}
	if (b->nr_edges == b->room_edges) {
		list = reallocarray(b->free_edge, room, sizeof(*list));
		if (list)
			b->free_edge = list;
		edge = reallocarray(b->edge, room, sizeof(struct index_edge *));
		if (edge)
			b->edge = edge;
		if (!list || !edge)
			return -ENOMEM;
		b->room_edges = room;
	}
	*i = b->nr_edges++;
	b->edge[*i] = NULL;
	return 0;
}

static enum index_form form_of(uint64_t tree, uint32_t kind)
{
	if (tree & 1)
		return INDEX_LOSSES;
	return kind == MODEL_STATE || kind == MODEL_RUNNING ? INDEX_FOLLOWS :
	       kind == MODEL_COUNTER ? INDEX_VALUES : INDEX_SLICES;
}

static int load_edge(struct index_builder *b, uint64_t tree, unsigned int which, uint32_t *home)
{
	struct index_edge *e = calloc(1, sizeof(*e));
	struct index_entry *entry;
	uint32_t i, kind;
	int err = e ? place_edge(b, &i) : -ENOMEM;

	if (err) {
		free(e);
		return err;
	}
	b->edge[i] = e;
	e->tree = tree;
	e->which = (uint8_t)which;
	e->used = true;
	*home = i + 1;
	err = index_table_get(table_of(b, tree, INDEX_TREE), &b->log, (uint32_t)(tree >> 1), false,
			      &entry);
	kind = err ? 0 : entry->kind;
	e->form = form_of(tree, kind);
	if (!err && which)
		err = index_table_get(&b->root.tails, &b->log, (uint32_t)(tree >> 1), false,
				      &entry);
	if (!err && entry->edge)
		err = index_edge_get(e, &b->log, entry->edge);
	e->room = index_edge_room(e);
	b->room += e->room;
	if (err)
		free_edge(b, i);
	return err;
}

static int find_edge(struct index_builder *b, uint64_t tree, struct index_edge **e)
{
	unsigned int which = b->finishing ? INDEX_TAIL : INDEX_TREE;
	uint32_t *home;
	int err = 0;

	if (tree >> 1 >= table_of(b, tree, which)->nr)
		return -EINVAL;
	home = home_of(b, tree, which);
	if (!home)
		return -ENOMEM;
	if (tacho_unlikely(!*home)) {
		if (b->room > b->config.memory)
			err = evict(b);
		if (!err)
			err = load_edge(b, tree, which, home);
		if (err)
			return err;
	}
	*e = b->edge[*home - 1];
	return 0;
}

/* ---- the share ---- */

/* How much may be written as far as the trace was read; more or fewer leaves lose their items. */
static void look(struct index_builder *b, const struct index_place *place)
{
	uint64_t trace, size = index_log_size(&b->log), share = b->config.share;

	b->looked = b->root.items;
	if (!b->config.trace_bytes)
		return;
	trace = b->config.trace_bytes(b->config.arg, place);
	b->root.trace_bytes = trace;
	b->now.allowed = trace / 1000 * share + FREE * share / SHARE;
	if (size > b->now.allowed / 100 * 95)
		b->now.near = b->now.near ? b->now.near * 2 : INDEX_LEAF / 2;
	else if (size < b->now.allowed / 100 * 90)
		b->now.near /= 2;
	if (b->now.near > UINT32_MAX)
		b->now.near = UINT32_MAX;
}

static int add(struct index_builder *b, struct index_edge *e, const struct index_item *item)
{
	uint32_t room = index_leaf_room(&e->leaf);
	int err = index_edge_add(e, &b->log, &b->now, item);

	b->root.items += e->which == INDEX_TREE;
	b->root.tail_items += e->which == INDEX_TAIL;
	if (room != index_leaf_room(&e->leaf) || !e->leaf.nr) {
		b->room -= e->room;
		e->room = index_edge_room(e);
		b->room += e->room;
	}
	if (tacho_unlikely(b->root.items - b->looked >= LOOK_EVERY * INDEX_LEAF))
		look(b, &(struct index_place){ .time = b->now.time, .record = b->now.record });
	return err ? fail(b, err) : 0;
}

/* The edge for items of a form. */
static struct index_edge *edge_for(struct index_builder *b, uint64_t tree, enum index_form form)
{
	struct index_edge *e;
	int err = b->err ? b->err : find_edge(b, tree, &e);

	if (!err && e->form != form)
		err = -EINVAL;
	if (err)
		(void)fail(b, err);
	return err ? NULL : e;
}

static int add_to(struct index_builder *b, uint64_t tree, enum index_form form,
		  const struct index_item *item)
{
	struct index_edge *e = edge_for(b, tree, form);

	return e ? add(b, e, item) : b->err;
}

/* ---- what a model hands out ---- */

static int name(struct index_builder *b, const char *text, uint32_t *number)
{
	int err = b->err ? b->err : index_names_add(&b->root.names, &b->log, text, number);

	return err ? fail(b, err) : 0;
}

static int put_track(void *arg, const struct model_track *t)
{
	struct index_builder *b = arg;
	struct index_entry *entry;
	uint32_t number;
	int err = name(b, t->name, &number);

	if (err)
		return err;
	if (t->id > b->root.tracks.nr)
		return fail(b, -EINVAL);
	if (t->id == b->root.tracks.nr)
		err = index_table_add(&b->root.tracks, &b->log, &entry);
	else
		err = index_table_get(&b->root.tracks, &b->log, t->id, true, &entry);
	if (err)
		return fail(b, err);
	entry->parent = t->parent;
	entry->kind = t->kind;
	entry->number = t->number;
	entry->name = number;
	if (b->finishing && b->root.tails.nr < b->root.tracks.nr)
		err = index_table_resize(&b->root.tails, b->root.tracks.nr);
	return err ? fail(b, err) : 0;
}

static uint32_t class_of(const struct model_slice *s)
{
	return s->thread ? MODEL_RUNS : !strcmp(s->category, "idle") ? MODEL_IDLE : MODEL_UNKNOWN;
}

static int put_slice(void *arg, const struct model_slice *s)
{
	struct index_builder *b = arg;
	struct index_item item = {
		.begin = s->begin, .end = s->end,
		.what.v = { [INDEX_FLAGS] = s->flags, [INDEX_DEPTH] = s->depth,
			    [INDEX_FROM] = s->from, [INDEX_TO] = s->to },
	};
	struct index_edge *e;

	int err = name(b, s->name, &item.what.v[INDEX_NAME]);

	if (!err)
		err = find_edge(b, (uint64_t)s->track * 2, &e);
	if (!err && e->form == INDEX_VALUES)
		err = -EINVAL;
	if (err)
		return fail(b, err);
	if (e->form == INDEX_FOLLOWS) {
		item.what.v[INDEX_CATEGORY] = class_of(s);
		item.what.v[INDEX_FROM] = s->thread;
	} else if (name(b, s->category, &item.what.v[INDEX_CATEGORY])) {
		return b->err;
	}
	return add(b, e, &item);
}

static int put_state(void *arg, const struct model_state *s)
{
	struct index_item item = {
		.begin = s->begin, .end = s->end,
		.what.v = { [INDEX_NAME] = s->state, [INDEX_CATEGORY] = s->state,
			    [INDEX_FLAGS] = s->flags, [INDEX_DEPTH] = s->cpu + 1 },
	};

	return add_to(arg, (uint64_t)s->track * 2, INDEX_FOLLOWS, &item);
}

static int put_counter(void *arg, const struct model_counter *c)
{
	struct index_item item = { .begin = c->time, .end = c->time, .value = c->value };

	return add_to(arg, (uint64_t)c->track * 2, INDEX_VALUES, &item);
}

static int put_instant(void *arg, const struct model_instant *i)
{
	struct index_builder *b = arg;
	struct index_item item = {
		.begin = i->time, .end = i->time, .what.v = { [INDEX_IS_INSTANT] = 1 },
	};

	if (name(b, i->name, &item.what.v[INDEX_NAME]) ||
	    name(b, i->category, &item.what.v[INDEX_CATEGORY]))
		return b->err;
	return add_to(b, (uint64_t)i->track * 2, INDEX_SLICES, &item);
}

/* Where the number of a CPU's tree of losses is; 0: it has none.  NULL: no memory. */
static uint32_t *loss_of(struct index_builder *b, uint32_t cpu)
{
	uint32_t nr = b->nr_loss_cpus ? b->nr_loss_cpus : 64, *more;

	if (cpu == MODEL_NO_CPU)
		return &b->loss_unknown;
	if (cpu < b->nr_loss_cpus)
		return &b->loss_of_cpu[cpu];
	while (nr <= cpu)
		nr *= 2;
	more = reallocarray(b->loss_of_cpu, nr, sizeof(*more));
	if (!more)
		return NULL;
	memset(more + b->nr_loss_cpus, 0, (nr - b->nr_loss_cpus) * sizeof(*more));
	b->loss_of_cpu = more;
	b->nr_loss_cpus = nr;
	return &b->loss_of_cpu[cpu];
}

static bool is_cpu(uint32_t cpu)
{
	return cpu < CPUS_MAX || cpu == MODEL_NO_CPU;
}

static int put_loss(void *arg, const struct model_loss *l)
{
	struct index_builder *b = arg;
	struct index_item item = {
		.begin = l->begin, .end = l->end, .count = l->count,
		.what.v = { [INDEX_DEPTH] = l->source },
	};
	struct index_entry *entry;
	uint32_t *number;
	int err;

	if (!is_cpu(l->cpu))
		return fail(b, -EINVAL);
	number = loss_of(b, l->cpu);
	if (!number)
		return fail(b, -ENOMEM);
	if (!*number) {
		err = index_table_add(&b->root.losses, &b->log, &entry);
		if (err)
			return fail(b, err);
		entry->parent = l->cpu;
		*number = b->root.losses.nr;
	}
	return add_to(b, (uint64_t)(*number - 1) * 2 + 1, INDEX_LOSSES, &item);
}

const struct model_ops index_build_ops = {
	.track = put_track, .slice = put_slice, .state = put_state, .counter = put_counter,
	.loss = put_loss, .instant = put_instant,
};

/* ---- commits ---- */

void index_state_init(struct index_state *state)
{
	*state = (struct index_state){ .taken = false };
	tacho_buf_init(&state->bytes, STATE_MAX);
}

void index_state_release(struct index_state *state)
{
	tacho_buf_release(&state->bytes);
}

static void save(struct index_builder *b, const struct model *m, struct index_state *state)
{
	state->taken = true;
	state->stats = *model_stats(m);
	state->err = 0;
	tacho_buf_reset(&state->bytes);
	if (!b->config.save)
		return;
	state->err = b->config.save(m, &state->bytes);
	if (!state->err)
		state->err = tacho_buf_error(&state->bytes);
	b->saves.bytes += state->bytes.len;
	b->saves.len = state->bytes.len;
}

uint64_t index_build_due(const struct index_builder *b)
{
	return b->saves.next;
}

void index_build_save(struct index_builder *b, const struct model *m,
		      const struct index_place *place, struct index_state *state)
{
	const struct index_config *config = &b->config;

	b->saves.next += config->checkpoint_every;
	state->taken = false;
	if (!config->trace_bytes || b->saves.bytes + b->saves.len <=
	    config->trace_bytes(config->arg, place) / 1000 * config->share * STATE_SHARE / SHARE)
		save(b, m, state);
}

/* A state that was saved into the log. */
static int keep_state(struct index_builder *b, const struct index_state *state,
		      struct index_checkpoint *c)
{
	c->place = (struct index_place){ b->now.time, state->stats.records - b->now.record,
					 state->stats.records };
	c->len = 0;
	if (state->err || !state->bytes.len)
		return state->err;
	c->offset = index_log_put_blob(&b->log, state->bytes.data, state->bytes.len);
	c->len = state->bytes.len;
	return c->offset ? 0 : b->log.err;
}

/* What a root has of the model as it is. */
static int save_for_root(struct index_builder *b, const struct model *m)
{
	struct index_state state;
	int err;

	index_state_init(&state);
	save(b, m, &state);
	err = keep_state(b, &state, &b->root.state);
	b->root.stats = state.stats;
	index_state_release(&state);
	return err;
}

/* All that the next root refers to, and the root. */
static int write_root(struct index_builder *b)
{
	struct index_slot slot = { .sequence = b->slot.sequence + 1 };
	struct tacho_buf out;
	int err = 0;

	for (uint32_t i = 0; i < b->nr_edges && !err; i++)
		if (b->edge[i])
			err = write_edge(b, b->edge[i]);
	tacho_buf_init(&out, STATE_MAX);
	if (!err)
		err = index_root_put(&b->root, &b->log, &out);
	if (!err) {
		slot.offset = index_log_put_blob(&b->log, out.data, out.len);
		slot.len = (uint32_t)out.len;
		err = slot.offset ? index_log_sync(&b->log, &slot) : b->log.err;
	}
	tacho_buf_release(&out);
	if (!err)
		b->slot = slot;
	return err;
}

static int give_name(struct index_builder *b)
{
	if (!b->new_path)
		return 0;
	if (rename(b->new_path, b->path))
		return -errno;
	free(b->new_path);
	b->new_path = NULL;
	return 0;
}

/* The state was saved. */
static int commit(struct index_builder *b)
{
	uint64_t before = index_log_size(&b->log);
	int err;

	b->root.packed = b->now.packed;
	err = write_root(b);
	if (!err)
		err = give_name(b);
	if (err)
		return fail(b, err);
	b->committed = b->log.end;
	b->commit_size = b->committed - before;
	return 0;
}

int index_build_at(struct index_builder *b, const struct index_place *place,
		   const struct index_state *state)
{
	struct index_checkpoint c = { 0 };
	uint64_t grown;
	int err;

	b->now.time = place->time;
	b->now.record = place->record;
	if (tacho_likely(!state) || b->err)
		return b->err;
	look(b, place);
	if (!state->taken)
		return 0;
	err = keep_state(b, state, &c);
	if (!err && c.len)
		err = index_root_add_checkpoint(&b->root, &c);
	grown = index_log_size(&b->log) - b->committed;
	if (!err && grown >= COMMIT_MIN && grown / COMMIT_PART >= b->commit_size) {
		b->root.state = c;
		b->root.stats = state->stats;
		b->root.finished = false;
		err = commit(b);
	}
	return err ? fail(b, err) : 0;
}

int index_build_tick(struct index_builder *b, struct model *m, const struct index_place *place)
{
	struct index_state state;
	int err;

	if (tacho_likely(place->record < b->saves.next) || b->err)
		return index_build_at(b, place, NULL);
	index_state_init(&state);
	index_build_save(b, m, place, &state);
	err = index_build_at(b, place, &state);
	index_state_release(&state);
	return err;
}

int index_build_finish(struct index_builder *b, struct model *m)
{
	int err = b->err ? b->err : save_for_root(b, m);

	if (err)
		return fail(b, err);
	err = index_table_resize(&b->root.tails, b->root.tracks.nr);
	if (err)
		return fail(b, err);
	b->finishing = true;
	err = model_finish(m);
	return err ? fail(b, err) : 0;
}

int index_build_commit(struct index_builder *b, const struct model *m,
		       const struct index_identity *identity, struct tacho_diag *d)
{
	const struct model_stats *stats = model_stats(m);
	int err = b->err;

	index_identity_release(&b->root.identity);
	if (!err)
		err = index_identity_copy(&b->root.identity, identity);
	if (!err && !b->finishing)
		err = save_for_root(b, m);
	b->root.finished = b->finishing;
	if (!err) {
		look(b, &(struct index_place){ .time = stats->last, .record = stats->records });
		err = commit(b);
	}
	if (!err)
		return 0;
	(void)fail(b, err);
	return index_build_error(b, d);
}

/* ---- beginning ---- */

/* A file that this one writes alone, and that is still called so.  A descriptor or -errno. */
static int open_locked(const char *path, int flags)
{
	struct stat is, named;

	for (;;) {
		int fd = open(path, flags | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0644), err;

		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			err = errno == EWOULDBLOCK ? -EBUSY : -errno;
			(void)close(fd);
			return err;
		}
		if (!fstat(fd, &is) && !stat(path, &named) && is.st_ino == named.st_ino &&
		    is.st_dev == named.st_dev)
			return fd;
		(void)close(fd);
	}
}

/* The numbers of the trees of losses, of an index that is continued. */
static int find_losses(struct index_builder *b)
{
	struct index_entry *entry;
	uint32_t *number;
	int err = 0;

	for (uint32_t i = 0; i < b->root.losses.nr && !err; i++) {
		err = index_table_get(&b->root.losses, &b->log, i, false, &entry);
		if (err)
			return err;
		number = is_cpu(entry->parent) ? loss_of(b, entry->parent) : NULL;
		if (number)
			*number = i + 1;
		else
			err = is_cpu(entry->parent) ? -ENOMEM : -EBADMSG;
	}
	return err;
}

/* The last root of a file that is open becomes what the builder goes on with. */
static int go_on(struct index_builder *b, const struct index_identity *identity,
		 struct tacho_buf *state, struct index_place *place, struct tacho_diag *d)
{
	struct index_root *root = &b->root;
	struct stat st;
	int err = index_root_load(root, &b->log, &b->slot, identity, d);

	if (!err && !root->state.len)
		return tacho_diag(d, -EBADMSG, 0, "it cannot be continued");
	if (!err)
		err = index_log_blob(&b->log, root->state.offset, root->state.len, state);
	if (!err)
		err = find_losses(b);
	if (!err && fstat(b->log.fd, &st))
		err = -errno;
	if (err)
		return tacho_diag(d, err, 0, "it cannot be continued: %s", strerror(-err));
	/* what was closed at the end of the trace as it was is open again */
	index_table_release(&root->tails);
	root->tail_items = 0;
	for (uint32_t i = 0; i < root->nr_checkpoints; i++)
		b->saves.bytes += root->checkpoint[i].len;
	*place = root->state.place;
	b->now.time = place->time;
	b->now.record = place->record - place->skip;
	b->now.packed = root->packed;
	if ((uint64_t)st.st_size > b->log.end)
		b->log.end = (uint64_t)st.st_size;
	b->committed = b->log.end;
	return 0;
}

static int begin_new(struct index_builder *b, struct tacho_buf *state)
{
	int fd;

	index_log_release(&b->log);
	index_root_release(&b->root);
	index_root_init(&b->root);
	b->slot = (struct index_slot){ 0 };
	tacho_buf_reset(state);
	if (asprintf(&b->new_path, "%s.new", b->path) < 0) {
		b->new_path = NULL;
		return -ENOMEM;
	}
	fd = open_locked(b->new_path, O_CREAT);
	if (fd >= 0)
		return index_log_init(&b->log, fd, true, CACHE) ? -ENOMEM :
								 index_log_begin(&b->log);
	free(b->new_path);
	b->new_path = NULL;
	return fd;
}

/* The file that is there: continued, or left alone, or, if *fresh, to be replaced. */
static int open_old(struct index_builder *b, const struct index_identity *identity,
		    struct tacho_buf *state, struct index_place *place, bool *fresh,
		    struct tacho_diag *d)
{
	struct tacho_diag why = { 0 };
	int fd = open_locked(b->path, 0), err;

	*fresh = fd == -ENOENT;
	if (fd < 0)
		return *fresh ? 0 : fd;
	err = index_log_init(&b->log, fd, true, CACHE);
	if (err)
		return err;
	err = index_log_check(&b->log);
	if (err == -EBADMSG && !b->config.replace)
		return tacho_diag(d, -EEXIST, 0, "%s is no index: it is left alone", b->path);
	if (!err || err == -ESTALE)
		err = go_on(b, identity, state, place, &why);
	/* a damaged one is of no use to anybody */
	*fresh = err == -EBADMSG || (err == -ESTALE && b->config.replace);
	if (*fresh)
		return 0;
	return err ? tacho_diag(d, err, 0, "cannot use the index %s: %s", b->path, why.text) : 0;
}

static int begin(struct index_builder *b, const struct index_identity *identity,
		 struct tacho_buf *state, struct index_place *place, struct tacho_diag *d)
{
	bool fresh;
	int err = open_old(b, identity, state, place, &fresh, d);

	if (!err && fresh) {
		*place = (struct index_place){ 0 };
		err = begin_new(b, state);
	}
	if (!err) {
		index_identity_release(&b->root.identity);
		err = index_identity_copy(&b->root.identity, identity);
	}
	b->now.allowed = b->config.trace_bytes ? b->log.end + FREE * b->config.share / SHARE :
						UINT64_MAX;
	b->looked = b->root.items;
	b->saves.next = place->record + b->config.checkpoint_every;
	return err;
}

int index_build_new(struct index_builder **builder, const struct index_config *config,
		    const struct index_identity *identity, struct tacho_buf *state,
		    struct index_place *place, struct tacho_diag *d)
{
	struct index_builder *b = calloc(1, sizeof(*b));
	int err;

	*place = (struct index_place){ 0 };
	if (!b)
		return tacho_no_memory(d);
	b->config = *config;
	b->config.checkpoint_every = config->checkpoint_every ? config->checkpoint_every : EVERY;
	b->config.memory = config->memory ? config->memory : EDGES_MAX;
	b->config.share = config->share ? config->share : SHARE;
	b->log.fd = -1;
	index_root_init(&b->root);
	b->path = strdup(config->path);
	err = b->path ? begin(b, identity, state, place, d) : -ENOMEM;
	if (!err) {
		*builder = b;
		return 0;
	}
	index_build_free(b);
	if (err == -EBUSY)
		return tacho_diag(d, err, 0, "the index %s is being written by another process",
				  config->path);
	return tacho_diag(d, err, 0, "cannot make the index %s: %s", config->path, strerror(-err));
}

int index_build_error(const struct index_builder *b, struct tacho_diag *d)
{
	return !b->err ? 0 : tacho_diag(d, b->err, 0, "cannot write the index %s: %s", b->path,
					strerror(-b->err));
}

void index_build_free(struct index_builder *b)
{
	if (!b)
		return;
	if (b->new_path)
		(void)unlink(b->new_path);
	else if (b->log.block && b->committed && b->log.end > b->committed)
		(void)!ftruncate(b->log.fd, (off_t)b->committed);
	for (uint32_t i = 0; i < b->nr_edges; i++)
		if (b->edge[i]) {
			index_edge_release(b->edge[i]);
			free(b->edge[i]);
		}
	for (uint32_t i = 0; i < NR_TABLES * INDEX_NR_TREES; i++)
		free(b->home[i / INDEX_NR_TREES][i % INDEX_NR_TREES].edge);
	free(b->edge);
	free(b->free_edge);
	free(b->loss_of_cpu);
	index_root_release(&b->root);
	index_log_release(&b->log);
	free(b->path);
	free(b->new_path);
	free(b);
}
