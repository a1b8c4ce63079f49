/* SPDX-License-Identifier: MIT */
/* fixture.h - a session's rings without a session: for tests of src/ring. */
#ifndef TACHO_TESTS_RING_FIXTURE_H
#define TACHO_TESTS_RING_FIXTURE_H

#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "ring/check.h"
#include "ring/read.h"
#include "ring/write.h"
#include "sys/cpu.h"
#include "sys/mapping.h"

struct fixture {
	char path[64];
	int dirfd;
	struct tacho_control *ctl;
	size_t size;
	struct tacho_ring ring;
};

/* Makes a directory in /dev/shm with a control file and started lanes. */
static inline void fixture_make_cpus(struct fixture *f, uint32_t sub_shift,
				     uint32_t nr_subs, uint32_t flags,
				     uint32_t cpus)
{
	void *map;
	int fd;

	strcpy(f->path, "/dev/shm/tacho-test.XXXXXX");
	if (!mkdtemp(f->path))
		abort();
	f->dirfd = open(f->path, O_RDONLY | O_DIRECTORY);
	f->size = TACHO_CONTROL_SIZE(cpus + 2);
	fd = tacho_shm_create(f->dirfd, "control", f->size);
	if (fd < 0 || tacho_shm_allocate(fd, 0, f->size) ||
	    tacho_shm_map(fd, f->size, true, true, &map))
		abort();
	close(fd);
	f->ctl = map;
	f->ctl->nr_cpus = cpus;
	f->ctl->nr_fallback = 2;
	f->ctl->sub_shift = sub_shift;
	f->ctl->nr_subs = nr_subs;
	f->ctl->flags = flags;
	f->ctl->clock = tacho_clock_default();
	f->ctl->state = TACHO_STATE_RECORDING;
	if (tacho_ring_attach(&f->ring, f->ctl, f->path, false))
		abort();
	for (uint32_t lane = 0; lane < cpus; lane++)
		if (tacho_ring_add_buffer(&f->ring, lane, 0, nr_subs,
					  flags & TACHO_SESSION_OVERWRITE ?
					  TACHO_BUFFER_OVERWRITE : 0) ||
		    tacho_ring_start(&f->ring, lane, 0))
			abort();
	tacho_ring_run(&f->ring, true);
}

static inline void fixture_make(struct fixture *f, uint32_t sub_shift,
				uint32_t nr_subs, uint32_t flags)
{
	fixture_make_cpus(f, sub_shift, nr_subs, flags, tacho_cpu_possible());
}

/* Whether this process writes to the lanes of CPUs at all. */
static inline bool fixture_has_rseq(void)
{
	return tacho_rseq_self() != NULL;
}

/* Moves this thread to one CPU for good; 0 or -1. */
static inline int fixture_pin(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set);
}

/* The lane that this thread, pinned to `cpu`, writes to; begun. */
static inline uint32_t fixture_lane(struct fixture *f, unsigned int cpu)
{
	struct tacho_ring *r = &f->ring;
	uint32_t lane = cpu;

	if (fixture_pin(cpu))
		abort();
	if (!fixture_has_rseq() || cpu >= r->nr_cpus)
		lane = r->nr_cpus + (uint32_t)gettid() % r->nr_fallback;
	if (tacho_ring_add_buffer(r, lane, 0, f->ctl->nr_subs,
				  f->ctl->flags & TACHO_SESSION_OVERWRITE ?
				  TACHO_BUFFER_OVERWRITE : 0) ||
	    tacho_ring_start(r, lane, 0))
		abort();
	return lane;
}

/* Buffers made so far, over all lanes: calls fn for each. */
static inline void fixture_each_buffer(struct fixture *f,
				       void (*fn)(void *arg, uint32_t lane,
						  uint32_t id), void *arg)
{
	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&f->ring); lane++)
		for (uint32_t id = 0; id < TACHO_BUFFERS_MAX; id++)
			if (tacho_ring_map(&f->ring, lane, id))
				fn(arg, lane, id);
}

static inline void fixture_add_written(void *arg, uint32_t lane, uint32_t id)
{
	struct fixture *f = ((void **)arg)[0];
	uint64_t *sum = ((void **)arg)[1];

	*sum += tacho_ring_written(&f->ring, lane, id);
}

/* Records committed to all buffers of all lanes. */
static inline uint64_t fixture_written(struct fixture *f)
{
	uint64_t sum = 0;
	void *arg[] = { f, &sum };

	fixture_each_buffer(f, fixture_add_written, arg);
	return sum;
}

/* Records that writers lost in all lanes. */
static inline uint64_t fixture_lost(struct fixture *f)
{
	uint64_t sum = 0;

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(&f->ring); lane++)
		sum += tacho_ring_lost(&f->ring, lane);
	return sum;
}

static inline void fixture_drop(struct fixture *f)
{
	DIR *list = opendir(f->path);
	const struct dirent *e;

	/* what a killed process left half made too */
	while (list && (e = readdir(list)))
		(void)unlinkat(f->dirfd, e->d_name, 0);
	if (list)
		closedir(list);
	tacho_ring_detach(&f->ring);
	tacho_shm_unmap(f->ctl, f->size);
	close(f->dirfd);
	(void)rmdir(f->path);
}

#endif
