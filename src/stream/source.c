// SPDX-License-Identifier: MIT
#include "stream/source.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define TYPES_MAX	65536u
#define PRINTK_MAX	((size_t)16 << 20)

void tacho_source_init(struct tacho_source *source,
		       const struct tacho_source_ops *ops, unsigned int flags)
{
	*source = (struct tacho_source){ .ops = ops, .flags = flags };
	tacho_clock_map_init(&source->clock, TACHO_NS_PER_S, 0, 0);
	tacho_facts_init(&source->facts);
}

void tacho_source_release(struct tacho_source *source)
{
	for (int i = 0; i < TACHO_NR_STREAM_IDS; i++)
		free(source->table[i].type);
	for (int i = 0; i < TACHO_NR_STREAM_IDS; i++)
		free(source->wanted[i]);
	free(source->part);
	tacho_facts_release(&source->facts);
}

bool tacho_scope_has_cpu(const struct tacho_scope *scope, uint32_t cpu)
{
	if (!scope || !scope->nr_cpus)
		return true;
	for (uint32_t i = 0; i < scope->nr_cpus; i++)
		if (scope->cpu[i] == cpu)
			return true;
	return false;
}

int tacho_source_add_part(struct tacho_source *source, struct tacho_part *part)
{
	struct tacho_part **p;

	p = reallocarray(source->part, (size_t)source->nr_parts + 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	source->part = p;
	p[source->nr_parts++] = part;
	part->source = source;
	return 0;
}

int tacho_source_set_type(struct tacho_source *source, uint32_t stream_id,
			  uint32_t id, const struct tacho_type *type)
{
	struct tacho_type_table *t = &source->table[stream_id];

	if (id >= TYPES_MAX)
		return -EINVAL;
	if (id >= t->nr) {
		uint32_t nr = t->nr ? t->nr : 64;
		const struct tacho_type **p;

		while (nr <= id)
			nr *= 2;
		/* pages that are never accessed use no memory */
		p = calloc(nr, sizeof(*p));
		if (!p)
			return tacho_source_failed(source, -ENOMEM, "");
		if (t->nr)
			memcpy(p, t->type, t->nr * sizeof(*p));
		free(t->type);
		t->type = p;
		t->nr = nr;
	}
	t->type[id] = type;
	return 0;
}

int tacho_source_failed(struct tacho_source *source, int err, const char *what)
{
	source->failed = true;
	if (err == -ENOMEM)
		return tacho_diag(&source->diag, err, 0, "out of memory");
	return tacho_diag(&source->diag, err, 0, "cannot read %s of the recording: %s",
			  what, strerror(-err));
}

int tacho_source_check(struct tacho_source *source)
{
	const struct tacho_facts *f = &source->facts;

	if (f->no_memory || f->arena.no_memory ||
	    (source->arena && source->arena->no_memory))
		tacho_source_failed(source, -ENOMEM, "");
	return source->failed ? source->diag.err : 0;
}

bool tacho_source_table(struct tacho_source *source, const char *name, struct tacho_buf *text)
{
	int err = source->ops->text ? source->ops->text(source, name, text) : -ENOENT;

	if (err == -EIO)
		(void)tacho_source_damage(source, name, 0, "it cannot be read");
	else if (err && err != -ENOENT && err != -EOVERFLOW)
		tacho_source_failed(source, err, name);
	return !err;
}

int tacho_source_damage(struct tacho_source *source, const char *name,
			uint64_t offset, const char *what)
{
	if (tacho_source_check(source))
		return TACHO_STREAM_ERROR;
	source->damaged++;
	if (source->report)
		source->report(source->report_arg, name, offset, what);
	if (!(source->flags & TACHO_STREAM_STRICT))
		return TACHO_STREAM_RECORD;
	tacho_diag(&source->diag, -EINVAL, offset, "'%s' is damaged: %s", name,
		   what);
	return TACHO_STREAM_ERROR;
}

/* ---- tables that are read when they are needed ---------------------------------- */

static pthread_mutex_t tables = PTHREAD_MUTEX_INITIALIZER;

void tacho_source_share_table(struct tacho_source *view,
			      const struct tacho_symbols *(*load)(struct tacho_source *of))
{
	struct tacho_source *of = view->of;

	(void)pthread_mutex_lock(&tables);
	(void)load(of);		/* damage is counted there, once */
	if (of->failed) {
		view->failed = true;
		view->diag = of->diag;
	}
	(void)pthread_mutex_unlock(&tables);
}

static const struct tacho_symbols *load_strings(struct tacho_source *source)
{
	struct tacho_buf text;

	if (source->strings_tried)
		return NULL;
	source->strings_tried = true;
	tacho_buf_init(&text, PRINTK_MAX);
	if (tacho_source_table(source, "printk_formats", &text) &&
	    tacho_facts_take_printk(&source->facts, &text) == -ENOMEM)
		tacho_source_failed(source, -ENOMEM, "");
	tacho_buf_release(&text);
	return NULL;
}

const char *tacho_source_string(struct tacho_source *source, uint64_t addr)
{
	if (!source->strings_tried && source->of) {
		source->strings_tried = true;
		tacho_source_share_table(source, load_strings);
	} else if (!source->strings_tried) {
		(void)load_strings(source);
	}
	return tacho_facts_string(tacho_source_facts(source), addr);
}
