// SPDX-License-Identifier: MIT
/* The thread that follows: it drains the kernel while engines have something to do. */
#include <errno.h>
#include <time.h>

#include "base/atomic.h"
#include "compat/ftrace/nodes.h"
#include "compat/ftrace/store.h"

/* The n-th instance, with a reference; NULL: there is none. */
static struct tree_inst *nth(struct tacho_tree *tree, uint32_t n)
{
	struct tree_inst *inst;

	pthread_mutex_lock(&tree->lock);
	inst = tree->insts;
	while (inst && n--)
		inst = inst->next;
	if (inst)
		inst->refs++;
	pthread_mutex_unlock(&tree->lock);
	return inst;
}

static void *pump(void *arg)
{
	const struct timespec pause = { .tv_nsec = TREE_PUMP_MS * 1000000 };
	struct tacho_tree *tree = arg;
	struct tree_inst *inst;

	while (!tacho_load_relaxed(&tree->pump_stop)) {
		for (uint32_t i = 0; (inst = nth(tree, i)); i++) {
			pthread_mutex_lock(&inst->lock);
			if (tree_engine_busy(inst))
				(void)tree_store_drain(inst);
			tree_sync_on(inst);
			tree_follow_snapshot(inst);
			pthread_mutex_unlock(&inst->lock);
			tree_inst_put(inst);
		}
		tree_insts_look(tree);
		(void)nanosleep(&pause, NULL);
	}
	return NULL;
}

int tree_pump_start(struct tacho_tree *tree)
{
	int err = pthread_create(&tree->pump, NULL, pump, tree);

	tree->pumping = !err;
	return -err;
}

void tree_pump_stop(struct tacho_tree *tree)
{
	if (!tree->pumping)
		return;
	tacho_store_relaxed(&tree->pump_stop, true);
	(void)pthread_join(tree->pump, NULL);
	tree->pumping = false;
}
