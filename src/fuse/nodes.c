// SPDX-License-Identifier: MIT
/* Which files the kernel knows, by number. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "fuse/mount_priv.h"

#define FIRST_SLOTS	4096u	/* a power of two */

static struct tacho_fuse_node **slot_of(struct tacho_fuse_mount *m,
					const struct tacho_fuse_node *parent,
					const char *name)
{
	uint64_t h = tacho_hash(name, strlen(name), (uintptr_t)parent >> 4);

	return &m->slot[h & (m->nr_slots - 1)];
}

static const char *name_of(const struct tacho_fuse_node *node)
{
	return strrchr(node->path, '/') + 1;
}

static struct tacho_fuse_node *new_node(struct tacho_fuse_node *parent, const char *path)
{
	struct tacho_fuse_node *node = calloc(1, sizeof(*node) + strlen(path) + 1);

	if (!node)
		return NULL;
	memcpy(node->path, path, strlen(path) + 1);
	pthread_mutex_init(&node->opening, NULL);
	pthread_mutex_init(&node->lock, NULL);
	node->parent = parent;
	node->refs = 1;
	if (parent)
		parent->refs++;
	return node;
}

static void free_node(struct tacho_fuse_node *node)
{
	pthread_mutex_destroy(&node->opening);
	pthread_mutex_destroy(&node->lock);
	free(node->text);
	free(node);
}

int tacho_fuse_nodes_init(struct tacho_fuse_mount *m)
{
	m->nr_slots = FIRST_SLOTS;
	m->slot = calloc(m->nr_slots, sizeof(struct tacho_fuse_node *));
	m->root = new_node(NULL, "/");
	return m->slot && m->root ? 0 : -ENOMEM;
}

/* The kernel forgets nothing when it is unmounted: what is there goes. */
void tacho_fuse_nodes_release(struct tacho_fuse_mount *m)
{
	for (uint32_t i = 0; m->slot && i < m->nr_slots; i++)
		for (struct tacho_fuse_node *n = m->slot[i], *next; n; n = next) {
			next = n->next;
			free_node(n);
		}
	free(m->slot);
	if (m->root)
		free_node(m->root);
}

struct tacho_fuse_node *tacho_fuse_node(struct tacho_fuse_mount *m, fuse_ino_t ino)
{
	return ino == FUSE_ROOT_ID ? m->root : (struct tacho_fuse_node *)(uintptr_t)ino;
}

fuse_ino_t tacho_fuse_ino(const struct tacho_fuse_mount *m,
			  const struct tacho_fuse_node *node)
{
	return node == m->root ? FUSE_ROOT_ID : (fuse_ino_t)(uintptr_t)node;
}

bool tacho_fuse_path(const struct tacho_fuse_node *parent, const char *name, char *path,
		     size_t size)
{
	int n = snprintf(path, size, "%s/%s", parent->path[1] ? parent->path : "", name);

	return n > 0 && (size_t)n < size;
}

/* Under m->lock. */
static struct tacho_fuse_node *find(struct tacho_fuse_mount *m,
				    const struct tacho_fuse_node *parent, const char *name)
{
	struct tacho_fuse_node *n = *slot_of(m, parent, name);

	while (n && (n->gone || n->parent != parent || strcmp(name_of(n), name)))
		n = n->next;
	return n;
}

/* Under m->lock. */
static void unhash(struct tacho_fuse_mount *m, struct tacho_fuse_node *node)
{
	struct tacho_fuse_node **at = slot_of(m, node->parent, name_of(node));

	while (*at != node)
		at = &(*at)->next;
	*at = node->next;
	m->nr_nodes--;
}

/* Under m->lock: twice the slots, or as many as before if there is no memory. */
static void grow(struct tacho_fuse_mount *m)
{
	struct tacho_fuse_node **old = m->slot, **more = calloc(2 * (size_t)m->nr_slots,
								 sizeof(*more));
	uint32_t nr = m->nr_slots;

	if (!more)
		return;
	m->slot = more;
	m->nr_slots *= 2;
	for (uint32_t i = 0; i < nr; i++)
		for (struct tacho_fuse_node *n = old[i], *next; n; n = next) {
			struct tacho_fuse_node **at = slot_of(m, n->parent, name_of(n));

			next = n->next;
			n->next = *at;
			*at = n;
		}
	free(old);
}

/* Under m->lock. */
static struct tacho_fuse_node *make(struct tacho_fuse_mount *m,
				    struct tacho_fuse_node *parent, const char *name)
{
	struct tacho_fuse_node *node, **at;
	char path[TACHO_FUSE_PATH];

	if (!tacho_fuse_path(parent, name, path, sizeof(path)))
		return NULL;
	if (m->nr_nodes >= m->nr_slots)
		grow(m);
	node = new_node(parent, path);
	if (!node)
		return NULL;
	at = slot_of(m, parent, name);
	node->next = *at;
	*at = node;
	m->nr_nodes++;
	return node;
}

struct tacho_fuse_node *tacho_fuse_node_get(struct tacho_fuse_mount *m,
					    struct tacho_fuse_node *parent,
					    const char *name)
{
	struct tacho_fuse_node *node;

	pthread_mutex_lock(&m->lock);
	node = find(m, parent, name);
	if (node)
		node->refs++;
	else
		node = make(m, parent, name);
	pthread_mutex_unlock(&m->lock);
	return node;
}

void tacho_fuse_node_put(struct tacho_fuse_mount *m, struct tacho_fuse_node *node,
			 uint64_t refs)
{
	pthread_mutex_lock(&m->lock);
	while (node != m->root) {
		struct tacho_fuse_node *parent = node->parent;

		node->refs -= refs;
		if (node->refs)
			break;
		unhash(m, node);
		free_node(node);
		node = parent;
		refs = 1;
	}
	pthread_mutex_unlock(&m->lock);
}

void tacho_fuse_node_gone(struct tacho_fuse_mount *m, struct tacho_fuse_node *parent,
			  const char *name)
{
	struct tacho_fuse_node *node;

	pthread_mutex_lock(&m->lock);
	node = find(m, parent, name);
	if (node)
		node->gone = true;
	pthread_mutex_unlock(&m->lock);
}
