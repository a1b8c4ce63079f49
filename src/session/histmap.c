// SPDX-License-Identifier: MIT
#include "session/histmap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/inject.h"
#include "base/scan.h"
#include "base/digits.h"
#include "base/text.h"
#include "sys/mapping.h"

/* Upper bound of the size of a map of any geometry. */
#define SIZE_MAX_MAP	(UINT64_C(8) << 30)
/* Counters for each CPU only if all of the map is not larger. */
#define SIZE_MAX_CPUS	(UINT64_C(16) << 20)

/* "hist.<series>.<type>" */
static void put_name(char *to, const struct tacho_histmap *h)
{
	memcpy(to, "hist.", 5);
	to = tacho_digits(to + 5, h->series);
	*to++ = '.';
	to = tacho_digits(to, h->type);
	*to = '\0';
}

static int open_dir(const struct tacho_view *v)
{
	int fd = open(v->ring.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Maps the file fd and checks it. */
static int map_file(int fd, struct tacho_histmap *h,
		    const struct tacho_map_geometry *g)
{
	struct tacho_map check;
	struct stat st;
	int err;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= 0 || (uint64_t)st.st_size > SIZE_MAX_MAP)
		return -EPROTO;
	h->size = (uint64_t)st.st_size;
	err = tacho_shm_map(fd, h->size, true, false, &h->mem);
	if (err)
		return err;
	if (!tacho_map_view(&check, h->mem, h->size, g))
		return 0;
	tacho_shm_unmap(h->mem, h->size);
	return -EPROTO;
}

static int open_at(int dirfd, struct tacho_histmap *h,
		   const struct tacho_map_geometry *g)
{
	char name[48];
	int fd, err;

	put_name(name, h);
	fd = tacho_shm_open(dirfd, name);
	if (fd < 0)
		return fd;
	err = map_file(fd, h, g);
	close(fd);
	return err;
}

/* An empty map in a file called temp. */
static int make_temp(int dirfd, const char *temp,
		     const struct tacho_map_geometry *g)
{
	uint64_t size = TACHO_ABI_PAGE_UP(tacho_map_bytes(g));
	void *mem;
	int fd, err;

	(void)unlinkat(dirfd, temp, 0);
	fd = size ? tacho_shm_create(dirfd, temp, size) : -EINVAL;
	if (fd < 0)
		return fd;
	err = tacho_shm_allocate(fd, 0, size);
	if (!err)
		err = tacho_shm_map(fd, size, true, false, &mem);
	if (!err) {
		tacho_map_init(mem, g);
		tacho_shm_unmap(mem, size);
	}
	close(fd);
	return err;
}

/* Copies of the counters: one for each CPU of the session, where they fit. */
static uint32_t choose_cpus(const struct tacho_view *v,
			    const struct tacho_map_geometry *g)
{
	struct tacho_map_geometry with = *g;
	size_t size;

	with.nr_cpus = v->ring.nr_cpus;
	size = tacho_map_bytes(&with);
	return size && size <= SIZE_MAX_CPUS ? with.nr_cpus : 0;
}

static int make_at(const struct tacho_view *v, int dirfd,
		   const struct tacho_histmap *h,
		   const struct tacho_map_geometry *want)
{
	struct tacho_map_geometry g = *want;
	char name[48], temp[96];
	char *end;
	int err;

	put_name(name, h);
	memcpy(temp, "tmp.", 4);
	end = tacho_digits(temp + 4, (uint64_t)gettid());
	*end++ = '.';
	memcpy(end, name, strlen(name) + 1);
	g.nr_cpus = choose_cpus(v, &g);
	err = make_temp(dirfd, temp, &g);
	if (err == -ENOSPC && g.nr_cpus) {
		g.nr_cpus = 0;
		err = make_temp(dirfd, temp, &g);
	}
	TACHO_INJECT(histmap_made);
	if (!err && linkat(dirfd, temp, dirfd, name, 0) < 0 && errno != EEXIST)
		err = -errno;
	(void)unlinkat(dirfd, temp, 0);
	return err;
}

int tacho_histmap_make(const struct tacho_view *v, struct tacho_histmap *h,
		       const struct tacho_map_geometry *g)
{
	int saved = errno;
	int dirfd = open_dir(v);
	int err;

	if (dirfd < 0) {
		errno = saved;
		return dirfd;
	}
	err = open_at(dirfd, h, g);
	if (err == -ENOENT) {
		err = make_at(v, dirfd, h, g);
		if (!err)
			err = open_at(dirfd, h, g);
	}
	close(dirfd);
	errno = saved;
	return err;
}

int tacho_histmap_open(const struct tacho_view *v, struct tacho_histmap *h)
{
	int saved = errno;
	int dirfd = open_dir(v);
	int err = dirfd < 0 ? dirfd : open_at(dirfd, h, NULL);

	if (dirfd >= 0)
		close(dirfd);
	errno = saved;
	return err;
}

/* Scans decimal digits at *s; false: none, or too many. */
static bool take_number(const char **s, uint32_t *v)
{
	uint64_t n;

	if (tacho_scan_digits(s, NULL, 10, UINT32_MAX, &n))
		return false;
	*v = (uint32_t)n;
	return true;
}

bool tacho_histmap_parse(const char *name, struct tacho_histmap *h)
{
	if (strncmp(name, "hist.", 5))
		return false;
	name += 5;
	return take_number(&name, &h->series) && *name++ == '.' &&
	       take_number(&name, &h->type) && !*name;
}
