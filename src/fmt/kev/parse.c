// SPDX-License-Identifier: MIT
#include <byteswap.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/kev/kev.h"

/* A combine event whose end has not come. */
struct tacho_kev_open {
	uint32_t key;		/* header without struct */
	uint32_t stamp;
	uint64_t time, offset;
	uint32_t words, room;
	unsigned char *data;
};

#define HALF	0x80000000u

static uint32_t word(const struct tacho_kev_parser *p, const void *from)
{
	uint32_t v = tacho_load_u32(from);

	return p->swap ? bswap_32(v) : v;
}

struct tacho_kev_parser *tacho_kev_parser_new(bool swap)
{
	struct tacho_kev_parser *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->swap = swap;
	p->open = calloc(TACHO_KEV_OPEN_MAX, sizeof(*p->open));
	if (!p->open) {
		free(p);
		return NULL;
	}
	return p;
}

void tacho_kev_parser_reset(struct tacho_kev_parser *p)
{
	for (uint32_t i = 0; i < p->nr_open; i++)
		free(p->open[i].data);
	memset(p->open, 0, TACHO_KEV_OPEN_MAX * sizeof(*p->open));
	memset(p->cpu, 0, sizeof(p->cpu));
	p->any_timed = false;
	p->nr_open = 0;
}

void tacho_kev_parser_free(struct tacho_kev_parser *p)
{
	if (!p)
		return;
	tacho_kev_parser_reset(p);
	free(p->open);
	free(p->out);
	free(p);
}

/* ---- time -------------------------------------------------------------------- */

/* The TIME event that is to come has the low half `low`; see first_event(). */
void tacho_kev_parser_seed(struct tacho_kev_parser *p, uint32_t cpu, uint32_t msb,
			   uint32_t lsb)
{
	struct tacho_kev_cpu *c = &p->cpu[cpu];

	c->high = (uint64_t)msb << 32;
	c->low = lsb;
	c->timed = true;
	if (!p->any_timed)
		p->any = c->high | lsb;
	p->any_timed = true;
}

static uint64_t high_of(uint64_t time)
{
	return time >> 32 << 32;
}

/*
 * An event before the CPU's first TIME event: a larger low half is of the round before.
 * Before or after another CPU's it may as well be: it is near it.
 */
static void first_event(const struct tacho_kev_parser *p, struct tacho_kev_cpu *c,
			uint32_t stamp)
{
	if (!c->timed && p->any_timed)
		c->high = high_of(tacho_kev_near_time(p->any, stamp));
	else if (c->timed && stamp > c->low && c->high)
		c->high -= UINT64_C(1) << 32;
	c->seen = true;
	c->low = stamp;
}

/* The first TIME event there is, and it comes late: now the other CPUs have a time. */
static void first_time(struct tacho_kev_parser *p)
{
	for (uint32_t i = 0; i < TACHO_KEV_CPUS; i++) {
		struct tacho_kev_cpu *c = &p->cpu[i];

		if (c->seen && !c->timed)
			c->high = high_of(tacho_kev_near_time(p->any, c->low));
	}
}

uint64_t tacho_kev_time_slow(struct tacho_kev_parser *p, uint32_t header,
			     uint32_t stamp, const unsigned char *data,
			     const char **problem)
{
	struct tacho_kev_cpu *c = &p->cpu[TACHO_KEV_CPU(header)];
	uint64_t before;

	if (!c->seen)
		first_event(p, c, stamp);
	before = c->high | c->low;
	if (TACHO_KEV_CODE(header) == TACHO_KEV_TIME) {
		c->high = (uint64_t)word(p, data) << 32;
		c->timed = true;
		if ((c->high | stamp) < before)
			*problem = "a TIME event goes back in time";
		p->any = c->high | stamp;
		if (!p->any_timed)
			first_time(p);
		p->any_timed = true;
	} else if (c->low > stamp && c->low - stamp >= HALF) {
		c->high += UINT64_C(1) << 32;
		*problem = "the cycles go round without a TIME event";
	} else if (stamp < c->low) {
		*problem = "time goes back on a CPU";
	}
	c->low = stamp;
	return c->high | stamp;
}

/* ---- combine events ------------------------------------------------------------- */

static struct tacho_kev_open *find_open(struct tacho_kev_parser *p, uint32_t header,
					uint32_t stamp)
{
	for (uint32_t i = p->nr_open; i--; )
		if (p->open[i].stamp == stamp &&
		    p->open[i].key == TACHO_KEV_KEY(header))
			return &p->open[i];
	return NULL;
}

/* Makes it the event and takes it off the list. */
static void hand_out(struct tacho_kev_parser *p, struct tacho_kev_open *o,
		     enum tacho_kev_event_kind kind, const char *problem,
		     struct tacho_kev_event *ev)
{
	uint32_t at = (uint32_t)(o - p->open);

	*ev = (struct tacho_kev_event){
		.kind = kind, .header = o->key | (uint32_t)TACHO_KEV_CB << 30,
		.stamp = o->stamp, .time = o->time, .offset = o->offset,
		.words = o->words, .problem = problem, .problem_at = o->offset,
	};
	free(p->out);
	p->out = o->data;
	ev->data = p->out;
	p->nr_open--;
	memmove(o, o + 1, (p->nr_open - at) * sizeof(*o));
}

static bool append(struct tacho_kev_parser *p, struct tacho_kev_open *o,
		   const unsigned char *data)
{
	if (o->words + 2 > o->room) {
		uint32_t room = o->room ? 2 * o->room : 16;
		unsigned char *more = realloc(o->data, (size_t)4 * room);

		if (!more) {
			p->no_memory = true;
			return false;
		}
		o->data = more;
		o->room = room;
	}
	memcpy(o->data + (size_t)4 * o->words, data, 8);
	o->words += 2;
	return true;
}

/* A slot that belongs to nothing. */
static bool orphan(struct tacho_kev_parser *p, uint32_t header, uint32_t stamp,
		   const unsigned char *data, uint64_t offset, const char *problem,
		   struct tacho_kev_event *ev)
{
	memcpy(p->simple, data, 8);
	*ev = (struct tacho_kev_event){
		.kind = TACHO_KEV_ORPHAN, .header = header, .stamp = stamp,
		.time = p->cpu[TACHO_KEV_CPU(header)].high | stamp,
		.offset = offset, .data = p->simple, .words = 2,
		.problem = problem, .problem_at = offset,
	};
	return true;
}

static bool begin(struct tacho_kev_parser *p, uint32_t header, uint32_t stamp,
		  const unsigned char *data, uint64_t offset,
		  struct tacho_kev_event *ev)
{
	struct tacho_kev_open *o = find_open(p, header, stamp);
	const char *problem = NULL;
	bool out = false;
	uint64_t time;

	if (o) {
		hand_out(p, o, TACHO_KEV_UNFINISHED,
			 "a combine event begins again before its end", ev);
		out = true;
	} else if (p->nr_open == TACHO_KEV_OPEN_MAX) {
		hand_out(p, p->open, TACHO_KEV_UNFINISHED,
			 "a combine event has no end, and too many have begun since",
			 ev);
		out = true;
	}
	time = tacho_kev_time(p, header, stamp, data, &problem);
	o = &p->open[p->nr_open];
	*o = (struct tacho_kev_open){ .key = TACHO_KEV_KEY(header), .stamp = stamp,
				      .time = time, .offset = offset };
	if (!append(p, o, data))
		return out;
	p->nr_open++;
	/* errors of the time are reported with a later event */
	if (out && problem)
		ev->problem = problem;
	return out;
}

static bool go_on(struct tacho_kev_parser *p, uint32_t header, uint32_t stamp,
		  const unsigned char *data, uint64_t offset,
		  struct tacho_kev_event *ev)
{
	struct tacho_kev_open *o = find_open(p, header, stamp);
	bool end = TACHO_KEV_STRUCT(header) == TACHO_KEV_CE;

	if (!o)
		return orphan(p, header, stamp, data, offset,
			      end ? "the end of a combine event has no beginning" :
				    "a part of a combine event has no beginning", ev);
	if (!append(p, o, data))
		return false;
	if (end)
		hand_out(p, o, TACHO_KEV_WHOLE, NULL, ev);
	else if (o->words >= TACHO_KEV_WORDS_MAX)
		hand_out(p, o, TACHO_KEV_UNFINISHED,
			 "a combine event is longer than any can be", ev);
	else
		return false;
	return true;
}

bool tacho_kev_parse(struct tacho_kev_parser *p, const unsigned char *slot,
		     uint64_t offset, struct tacho_kev_event *ev)
{
	uint32_t header = word(p, slot), stamp = word(p, slot + 4);

	switch (TACHO_KEV_STRUCT(header)) {
	case TACHO_KEV_S:
		break;
	case TACHO_KEV_CB:
		return begin(p, header, stamp, slot + 8, offset, ev);
	default:
		return go_on(p, header, stamp, slot + 8, offset, ev);
	}
	*ev = (struct tacho_kev_event){
		.kind = TACHO_KEV_WHOLE, .header = header, .stamp = stamp,
		.offset = offset, .data = slot + 8, .words = 2, .problem_at = offset,
	};
	ev->time = tacho_kev_time(p, header, stamp, slot + 8, &ev->problem);
	return true;
}

bool tacho_kev_parse_end(struct tacho_kev_parser *p, struct tacho_kev_event *ev)
{
	if (!p->nr_open)
		return false;
	hand_out(p, p->open, TACHO_KEV_UNFINISHED, "a combine event has no end", ev);
	return true;
}
