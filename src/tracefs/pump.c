/* SPDX-License-Identifier: MIT */
#include "tracefs/pump.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kdata/convert.h"
#include "tracefs/reader.h"
#include "sys/clock.h"

#define BATCHES_PER_STEP	4	/* of one CPU, so that other CPUs are read, too */
#define LOOKS_PER_STEP		64	/* threads looked up in /proc */
#define BATCH_FULL		(TACHO_KERNEL_BATCH - TACHO_RECORD_MAX)
#define SPAN_MAX		(UINT64_C(1) << (TACHO_TIME_BITS - 1))

/* One CPU. */
struct lane {
	struct tacho_kreader reader;
	uint64_t last;		/* time of the last record */
	uint64_t lost;		/* not yet passed to the sink */
	uint64_t overwritten;	/* in `lost` or passed on; and so on */
	uint64_t dropped;
	uint64_t damaged;
	uint64_t seen;		/* events found in sub-buffers */
	uint64_t unread;
};

struct tacho_kernel_pump {
	struct tacho_kernel_pump_config config;
	const struct tacho_ktypes *types;
	struct tacho_kernel_pump_stats stats;
	struct lane *lanes;
	struct pollfd *polls;
	uint32_t nr;
	uint32_t clock;		/* the instance's: TACHO_CLOCK_TSC or _MONO */
	bool overwrite;
	bool more;		/* the last step left events unread */
	int32_t last_pid;

	/* the batch being filled; empty between lanes */
	unsigned char *memory;
	unsigned char *records;
	uint32_t len, events;
	uint64_t begin;
};

int tacho_kernel_pump_new(struct tacho_kernel_pump **pump,
			  const struct tacho_kernel *k,
			  const struct tacho_ktypes *types,
			  const struct tacho_kernel_pump_config *config,
			  struct tacho_diag *d)
{
	const struct tacho_kernel_info *info = tacho_kernel_info(k);
	uint32_t nr = config->nr_cpus, left, i;
	struct tacho_kernel_pump *p;
	int ret;

	*pump = NULL;
	if (config->first_cpu >= info->nr_cpus)
		return tacho_diag(d, -EINVAL, 0, "there is no CPU %u",
				  config->first_cpu);
	left = info->nr_cpus - config->first_cpu;
	if (!nr || nr > left)
		nr = left;
	p = calloc(1, sizeof(*p));
	if (!p)
		goto nomem;
	p->config = *config;
	p->types = types;
	p->overwrite = info->overwrite;
	p->clock = info->clock_is_tsc ? TACHO_CLOCK_TSC : TACHO_CLOCK_MONO;
	p->last_pid = -1;
	p->lanes = calloc(nr, sizeof(*p->lanes));
	p->polls = calloc(nr, sizeof(*p->polls));
	p->memory = malloc(TACHO_KERNEL_HEAD + BATCH_FULL +
			   TACHO_KCONVERT_ROOM + TACHO_KERNEL_TAIL);
	if (!p->lanes || !p->polls || !p->memory)
		goto nomem;
	p->records = p->memory + TACHO_KERNEL_HEAD;
	for (i = 0; i < nr; i++, p->nr++) {
		ret = tacho_kreader_open(&p->lanes[i].reader, k,
					 config->first_cpu + i,
					 config->map ? TACHO_KREADER_MAP : 0,
					 d);
		if (ret < 0) {
			tacho_kernel_pump_free(p);
			return ret;
		}
		p->polls[i].fd = p->lanes[i].reader.fd;
		p->polls[i].events = POLLIN;
		p->stats.mapped = p->lanes[i].reader.map;
	}
	*pump = p;
	return 0;
nomem:
	tacho_kernel_pump_free(p);
	return tacho_diag(d, -ENOMEM, 0, "no memory");
}

void tacho_kernel_pump_free(struct tacho_kernel_pump *pump)
{
	uint32_t i;

	if (!pump)
		return;
	for (i = 0; i < pump->nr; i++)
		tacho_kreader_close(&pump->lanes[i].reader);
	free(pump->lanes);
	free(pump->polls);
	free(pump->memory);
	free(pump);
}

static int flush(struct tacho_kernel_pump *p, struct lane *l)
{
	struct tacho_kernel_batch b = {
		.cpu = l->reader.cpu,
		.len = p->len,
		.records = p->records,
		.events = p->events,
		.time_begin = p->events ? p->begin : l->last,
		.time_end = l->last,
		.lost = l->lost,
	};
	int ret;

	if (!b.events && !b.lost)
		return 0;
	p->stats.events += b.events;
	p->stats.bytes += b.len;
	p->stats.batches++;
	p->len = 0;
	p->events = 0;
	l->lost = 0;
	ret = p->config.sink(p->config.arg, &b);
	return ret < 0 ? ret : 0;
}

/* Counts events that cannot be converted as lost. */
static void damage(struct lane *l, uint64_t n)
{
	l->damaged += n;
	l->lost += n;
}

static void collect_task(struct tacho_kernel_pump *p,
		       const struct tacho_ktask_fields *f,
		       const unsigned char *raw, uint32_t len)
{
	struct tacho_ktasks *tasks = p->config.tasks;
	const char *comm;
	uint32_t i;
	size_t n;

	for (i = 0; i < f->nr; i++) {
		int32_t pid = (int32_t)tacho_load_u32(raw + f->pair[i].pid_off);

		if (f->mode == TACHO_KTASK_FORGET) {
			tacho_ktasks_forget(tasks, pid);
			continue;
		}
		if (f->mode == TACHO_KTASK_SEEN &&
		    tacho_ktasks_bit(tasks->named, pid))
			continue;
		comm = tacho_field_data(f->pair[i].comm, raw, len, &n);
		if (comm)
			tacho_ktasks_name(tasks, pid, comm, n);
	}
}

static TACHO_NOINLINE const struct tacho_kplan *
load_plan(struct tacho_kernel_pump *p, uint32_t id)
{
	const struct tacho_ktypes *types = p->types;

	if (p->config.load_type)
		p->config.load_type(p->config.arg, id);
	return id < types->nr_plans && types->plans[id].kind ? &types->plans[id] : NULL;
}

/*
 * Converts the events of the sub-buffer in l->reader to records.  This is the loop that
 * every event goes through, so it is one function: its state stays in registers, and what is
 * rare is after a call.
 */
static int take_events(struct tacho_kernel_pump *p, struct lane *l)
{
	const struct tacho_ktypes *types = p->types;
	const unsigned char *limit = l->reader.limit;
	struct tacho_ktasks *tasks = p->config.tasks;
	struct tacho_kpage page = l->reader.page;
	struct tacho_kevent ev;
	int more, ret;

	while ((more = tacho_kpage_next(&page, &ev)) > 0) {
		const struct tacho_kplan *plan;
		uint32_t id, size;
		int32_t pid;

		l->seen++;
		if (tacho_unlikely(ev.len < sizeof(struct tacho_common))) {
			damage(l, 1);
			continue;
		}
		id = tacho_load_u16(ev.raw);
		plan = tacho_likely(id < types->nr_plans && types->plans[id].kind) ?
		       &types->plans[id] : load_plan(p, id);
		if (tacho_unlikely(!plan)) {
			p->stats.unknown++;
			damage(l, 1);
			continue;
		}
		if (tacho_unlikely(ev.time < l->last)) {
			p->stats.backwards++;
			ev.time = l->last;
		}
		if (tacho_unlikely(p->len > BATCH_FULL ||
				   (p->len && ev.time - p->begin >= SPAN_MAX))) {
			ret = flush(p, l);
			if (ret < 0)
				return ret;
		}
		size = tacho_kconvert(types, plan, ev.time, ev.raw, ev.len,
				      limit, p->records + p->len);
		if (tacho_unlikely(!size)) {
			damage(l, 1);
			continue;
		}
		if (!p->len)
			p->begin = ev.time;
		l->last = ev.time;
		p->len += size;
		p->events++;
		if (!tasks)
			continue;
		pid = (int32_t)tacho_load_u32(ev.raw + 4);
		if (pid != p->last_pid) {
			p->last_pid = pid;
			tacho_ktasks_see(tasks, pid);
		}
		if (plan->task)
			collect_task(p, &types->tasks[plan->task - 1], ev.raw,
				   ev.len);
	}
	p->stats.bad_pages += more < 0;
	/* After damage no event can be found: the kernel's count gives the number. */
	l->reader.page = page;
	l->reader.page.pos = page.end;
	return 0;
}

/* Adds losses that the kernel reports and that were not counted before. */
static int count_lost(struct lane *l, struct tacho_kreader_stats *s)
{
	uint64_t dropped;
	int ret = tacho_kreader_stats(&l->reader, s);

	if (ret < 0)
		return ret;
	dropped = s->dropped + s->commit_overrun;
	if (dropped > l->dropped) {
		l->lost += dropped - l->dropped;
		l->dropped = dropped;
	}
	return 0;
}

static void count_overwritten(struct lane *l, uint64_t sum)
{
	if (sum > l->overwritten) {
		l->lost += sum - l->overwritten;
		l->overwritten = sum;
	}
}

/* Adds the events overwritten before a new sub-buffer. */
static int note_gap(struct tacho_kernel_pump *p, struct lane *l)
{
	struct tacho_kreader_stats s;
	int ret;

	if (!l->reader.fresh || !l->reader.page.lost)
		return 0;
	ret = flush(p, l);
	if (ret < 0)
		return ret;
	if (l->reader.page.lost > 0) {
		count_overwritten(l, l->overwritten +
				     (uint64_t)l->reader.page.lost);
		return 0;
	}
	ret = count_lost(l, &s);
	if (!ret)
		count_overwritten(l, s.overrun);
	return ret;
}

/* Returns the bytes taken, 0 when there was nothing, or a negative errno. */
static int take_one(struct tacho_kernel_pump *p, struct lane *l)
{
	size_t bytes;
	int ret;

	ret = tacho_kreader_next(&l->reader);
	if (ret == -EBADMSG) {
		p->stats.bad_pages++;
		return (int)l->reader.subbuf_size;
	}
	if (ret <= 0)
		return ret;
	ret = note_gap(p, l);
	if (ret < 0)
		return ret;
	bytes = (size_t)(l->reader.page.end - l->reader.page.pos);
	ret = take_events(p, l);
	return ret < 0 ? ret : (int)bytes + 1;
}

/*
 * Stops at events written after the step began: a recorder that records its own system calls
 * would never finish otherwise.  A short read does not mean the end: it may be the rest of a
 * sub-buffer that the writer has left since the previous step.
 */
static int take_lane(struct tacho_kernel_pump *p, struct lane *l, uint64_t began)
{
	uint32_t most = BATCHES_PER_STEP * TACHO_KERNEL_BATCH;
	struct tacho_kreader_stats s;
	uint32_t taken = 0;
	int ret;

	do {
		ret = take_one(p, l);
		if (ret < 0)
			return ret;
		taken += (uint32_t)ret;
	} while (ret && l->reader.page.time < began && taken < most);
	if (taken >= most)
		p->more = true;
	if (taken && !p->overwrite) {
		ret = count_lost(l, &s);
		if (ret < 0)
			return ret;
	}
	return flush(p, l);
}

int tacho_kernel_pump_step(struct tacho_kernel_pump *p, int timeout_ms)
{
	uint64_t began;
	uint32_t i;
	int ret;

	if (!p->more && timeout_ms &&
	    poll(p->polls, p->nr, timeout_ms) < 0 && errno != EINTR)
		return -errno;
	p->more = false;
	began = tacho_clock_read(p->clock);
	for (i = 0; i < p->nr; i++) {
		ret = take_lane(p, &p->lanes[i], began);
		if (ret < 0)
			return ret;
	}
	if (p->config.tasks)
		tacho_ktasks_look(p->config.tasks, LOOKS_PER_STEP);
	return p->more;
}

/*
 * A writer that was interrupted between reservation and commit leaves entries that cannot be read
 * yet; they become readable shortly.
 */
static int drain_lane(struct tacho_kernel_pump *p, struct lane *l)
{
	struct tacho_kreader_stats s;
	int ret, tries = 0;

	for (;;) {
		do
			ret = take_one(p, l);
		while (ret > 0);
		if (ret < 0)
			return ret;
		ret = count_lost(l, &s);
		if (ret < 0)
			return ret;
		if (!s.entries || ++tries == 1000)
			break;
		usleep(1000);
	}
	count_overwritten(l, s.overrun);
	if (s.read > l->seen) {
		damage(l, s.read - l->seen);
		l->seen = s.read;
	}
	l->lost += s.entries - l->unread;
	l->unread = s.entries;
	return flush(p, l);
}

int tacho_kernel_pump_drain(struct tacho_kernel_pump *p)
{
	uint32_t i;
	int ret;

	for (i = 0; i < p->nr; i++) {
		ret = drain_lane(p, &p->lanes[i]);
		if (ret < 0)
			return ret;
	}
	if (p->config.tasks)
		tacho_ktasks_look(p->config.tasks, UINT32_MAX);
	return 0;
}

void tacho_kernel_pump_stats(const struct tacho_kernel_pump *p,
			     struct tacho_kernel_pump_stats *s)
{
	uint32_t i;

	*s = p->stats;
	for (i = 0; i < p->nr; i++) {
		s->overwritten += p->lanes[i].overwritten;
		s->dropped += p->lanes[i].dropped;
		s->damaged += p->lanes[i].damaged;
		s->unread += p->lanes[i].unread;
	}
}
