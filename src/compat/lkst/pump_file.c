// SPDX-License-Identifier: MIT
/* DIR/lkst.pump: the events in progress of a killed pump, and the pump's owner. */
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "compat/lkst/pump_priv.h"
#include "session/dir.h"
#include "session/shared.h"
#include "sys/cpu.h"
#include "sys/mapping.h"

#define WAKE_FILE	"lkst.wake"
#define STRIDE		(LKST_PUMP_PAGE + 4096)		/* a page, and what readers may look at */

static uint64_t pages_at(uint32_t nr_cpus)
{
	return TACHO_ALIGN_UP(sizeof(struct lkst_pump_head) +
			      nr_cpus * sizeof(struct lkst_pump_slot), 4096);
}

static uint64_t size_for(uint32_t nr_cpus)
{
	return pages_at(nr_cpus) + nr_cpus * STRIDE;
}

static void fill(void *file, uint64_t size)
{
	struct lkst_pump_head *h = file;

	h->layout = (uint32_t)size;
	h->nr_cpus = tacho_cpu_possible();
}

static bool fits(const void *file, uint64_t size)
{
	const struct lkst_pump_head *h = file;

	return h->layout == (uint32_t)size && h->nr_cpus <= TACHO_LANES_MAX &&
	       size_for(h->nr_cpus) == size;
}

/* Populated: the kernel's copy into it must not have to wait for memory. */
static const struct tacho_shared shared = {
	.name = "lkst.pump", .magic = LKST_PUMP_MAGIC, .min_size = sizeof(struct lkst_pump_head),
	.populate = true, .fill = fill, .fits = fits,
};

static int open_file(struct lkst_pump_file *f, bool create)
{
	void *file;
	int err = tacho_shared_map(&shared, create ? size_for(tacho_cpu_possible()) : 0, &file,
				   &f->fd);

	if (err)
		return err;
	f->head = file;
	f->size = size_for(f->head->nr_cpus);
	f->pages = pages_at(f->head->nr_cpus);
	return 0;
}

int lkst_pump_file_open(struct lkst_pump_file *f, bool create)
{
	char path[TACHO_PATH_MAX];
	int err;

	*f = (struct lkst_pump_file){ .dirfd = -1, .fd = -1 };
	err = tacho_dir_path(path, sizeof(path));
	if (err)
		return err;
	f->dirfd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->dirfd < 0)
		return -errno;
	err = open_file(f, create);
	if (err)
		lkst_pump_file_close(f);
	return err;
}

void lkst_pump_file_close(struct lkst_pump_file *f)
{
	if (f->head)
		tacho_shm_unmap(f->head, f->size);
	if (f->fd >= 0)
		close(f->fd);
	if (f->dirfd >= 0)
		close(f->dirfd);
	*f = (struct lkst_pump_file){ .dirfd = -1, .fd = -1 };
}

unsigned char *lkst_pump_page(const struct lkst_pump_file *f, uint32_t cpu)
{
	return (unsigned char *)f->head + f->pages + cpu * STRIDE;
}

int lkst_pump_file_own(const struct lkst_pump_file *f)
{
	struct lkst_owner *owner = &f->head->owner;
	bool taken;

	while (flock(f->fd, LOCK_EX))
		if (errno != EINTR)
			return -errno;
	taken = lkst_owner_lives(owner);
	if (!taken) {
		struct lkst_owner me = lkst_owner_of(gettid());

		tacho_store_relaxed(&owner->start, me.start);
		tacho_store_release(&owner->pid, me.pid);	/* [lkst-owner] */
	}
	(void)flock(f->fd, LOCK_UN);
	return taken ? -EBUSY : 0;
}

void lkst_pump_file_disown(const struct lkst_pump_file *f)
{
	tacho_store_release(&f->head->owner.pid, 0);	/* [lkst-owner] */
}

int lkst_pump_file_listen(const struct lkst_pump_file *f)
{
	int fd;

	if (mkfifoat(f->dirfd, WAKE_FILE, 0600) && errno != EEXIST)
		return -errno;
	/* also for writing: so that it does not end when a writer leaves */
	fd = openat(f->dirfd, WAKE_FILE, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
	return fd < 0 ? -errno : fd;
}

void lkst_pump_file_wake(const struct lkst_pump_file *f)
{
	/* also for reading: a pump that ends in between must not send us SIGPIPE */
	int fd = openat(f->dirfd, WAKE_FILE, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0)
		return;
	/* full: it is about to look */
	(void)!write(fd, "", 1);
	close(fd);
}

void lkst_pump_end(struct tacho_lkst *l)
{
	struct lkst_pump_file f;

	(void)l;
	if (lkst_pump_file_open(&f, false))
		return;
	(void)tacho_add_seq_cst(&f.head->end, 1);
	lkst_pump_file_wake(&f);
	lkst_pump_file_close(&f);
}
