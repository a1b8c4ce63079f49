// SPDX-License-Identifier: MIT
#include "view/density.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct taking {
	struct view_density *density;
	struct tacho_source *source;
	const char *part;		/* of the last packet */
	uint64_t discarded;		/* of this part, until its last packet */
};

static struct view_density_cpu *cpu_get(struct view_density *v, uint32_t cpu)
{
	struct view_density_cpu *list, *c;

	for (uint32_t i = 0; i < v->nr_cpus; i++)
		if (v->cpu[i].cpu == cpu)
			return &v->cpu[i];
	list = reallocarray(v->cpu, v->nr_cpus + 1, sizeof(*list));
	if (!list)
		return NULL;
	v->cpu = list;
	c = &list[v->nr_cpus++];
	c->cpu = cpu;
	c->events = calloc(v->nr_buckets, sizeof(*c->events));
	c->lost = calloc(v->nr_buckets, sizeof(*c->lost));
	return c->events && c->lost ? c : NULL;
}

/* The bucket of a time; times outside of the trace count at its ends. */
static uint32_t bucket_of(const struct view_density *v, uint64_t time)
{
	uint64_t i = time > v->from ? (time - v->from) / v->width : 0;

	return i < v->nr_buckets ? (uint32_t)i : v->nr_buckets - 1;
}

/* Spreads n events over [begin, end]. */
static void spread(const struct view_density *v, double *bucket, uint64_t begin, uint64_t end,
		   double n)
{
	uint32_t first = bucket_of(v, begin), last = bucket_of(v, end);
	double span = (double)(end - begin) + 1;

	for (uint32_t i = first; i <= last; i++) {
		uint64_t from = i == first ? begin : v->from + i * v->width;
		uint64_t to = i == last ? end + 1 : v->from + (i + 1) * v->width;

		bucket[i] += n * (double)(to - from) / span;
	}
}

static int take_packet(void *arg, const struct tacho_packet_info *packet)
{
	struct taking *t = arg;
	const struct tacho_packet *head = &packet->head;
	struct view_density_cpu *c = cpu_get(t->density, head->cpu_id);
	uint64_t begin = tacho_clock_ns(&t->source->clock, head->timestamp_begin);
	uint64_t end = tacho_clock_ns(&t->source->clock, head->timestamp_end);
	uint64_t before = t->part && !strcmp(t->part, packet->part) ? t->discarded : 0;

	if (!c)
		return -ENOMEM;
	t->part = packet->part;
	t->discarded = head->events_discarded;
	if (head->events_discarded > before)
		c->lost[bucket_of(t->density, begin)] += head->events_discarded - before;
	if (end < begin)	/* still being written, or damaged */
		end = begin;
	spread(t->density, c->events, begin, end, head->events);
	return 0;
}

int view_density_make(struct view_density *v, struct tacho_stream *stream, uint64_t begin,
		      uint64_t end, uint32_t nr_buckets, struct tacho_diag *d)
{
	struct tacho_source *source;
	int err = 0;

	*v = (struct view_density){ .from = begin, .nr_buckets = nr_buckets };
	v->width = end > begin ? (end - begin) / nr_buckets + 1 : 1;
	for (uint32_t i = 0; !err && (source = tacho_stream_source(stream, i)); i++) {
		struct taking t = { .density = v, .source = source };

		if (source->ops->packets)
			err = source->ops->packets(source, take_packet, &t);
	}
	if (!err)
		return 0;
	view_density_release(v);
	return err == -ENOMEM ? tacho_no_memory(d) :
	       tacho_diag(d, err, 0, "cannot read the packets of the trace: %s", strerror(-err));
}

void view_density_release(struct view_density *v)
{
	for (uint32_t i = 0; i < v->nr_cpus; i++) {
		free(v->cpu[i].events);
		free(v->cpu[i].lost);
	}
	free(v->cpu);
	*v = (struct view_density){ .nr_cpus = 0 };
}
