// SPDX-License-Identifier: MIT
/*
 * Symbols of the kernel, for the addresses in records.  Reading and sorting them
 * takes a fifth of a second, which is much for every `cat trace`: readers
 * of all instances share a table as long as it is young, and the same modules are there.
 */
#include <stdlib.h>
#include <string.h>

#include "compat/ftrace/priv.h"
#include "kdata/symbols.h"
#include "sys/clock.h"

#define TEXT_MAX	((size_t)24 << 20)
#define MODULES_MAX	((size_t)1 << 20)
#define YOUNG_NS	UINT64_C(10000000000)

struct tree_symbols {
	uint32_t refs;			/* tree->symbols_lock */
	uint64_t time;			/* ns: when they were read */
	struct tacho_symbols table;
	struct tacho_buf modules;	/* /proc/modules then */
};

static void put(struct tree_symbols *s)
{
	if (!s || --s->refs)
		return;
	tacho_symbols_release(&s->table);
	tacho_buf_release(&s->modules);
	free(s);
}

static struct tree_symbols *load(struct tacho_buf *modules)
{
	struct tree_symbols *s = calloc(1, sizeof(*s));
	struct tacho_buf text;

	if (!s)
		return NULL;
	s->refs = 1;
	s->time = tacho_now_ns(CLOCK_MONOTONIC);
	tacho_symbols_init(&s->table);
	s->modules = *modules;
	tacho_buf_init(modules, MODULES_MAX);
	tacho_buf_init(&text, TEXT_MAX);
	if (!tacho_symbols_snapshot(&text, NULL))
		(void)tacho_symbols_take(&s->table, &text);
	tacho_buf_release(&text);
	return s;
}

/* The table as it is, or a new one; under the lock. */
static struct tree_symbols *refresh(struct tacho_tree *tree)
{
	struct tree_symbols *s = tree->symbols, *fresh;
	struct tacho_buf modules;

	tacho_buf_init(&modules, MODULES_MAX);
	(void)tacho_buf_read_file(&modules, "/proc/modules");
	if (!s || tacho_now_ns(CLOCK_MONOTONIC) - s->time > YOUNG_NS ||
	    modules.len != s->modules.len ||
	    (modules.len && memcmp(modules.data, s->modules.data, modules.len))) {
		fresh = load(&modules);
		if (fresh) {
			put(s);
			tree->symbols = s = fresh;
		}
	}
	tacho_buf_release(&modules);
	return s;
}

struct tree_symbols *tree_symbols_get(struct tacho_tree *tree)
{
	struct tree_symbols *s;

	pthread_mutex_lock(&tree->symbols_lock);
	s = refresh(tree);
	if (s)
		s->refs++;
	pthread_mutex_unlock(&tree->symbols_lock);
	return s;
}

void tree_symbols_put(struct tacho_tree *tree, struct tree_symbols *s)
{
	pthread_mutex_lock(&tree->symbols_lock);
	put(s);
	pthread_mutex_unlock(&tree->symbols_lock);
}

const char *tree_symbol(const struct tree_symbols *s, uint64_t addr, uint64_t *start)
{
	return tacho_symbols_at(&s->table, addr, start);
}

bool tree_symbol_find(const struct tree_symbols *s, const char *name, uint64_t *start)
{
	return tacho_symbols_find(&s->table, name, start);
}

uint64_t tree_symbol_size(const struct tree_symbols *s, uint64_t start)
{
	return tacho_symbols_end(&s->table, start) - start;
}
