// SPDX-License-Identifier: MIT
/* Allocating shared memory: what is not there is an error, and takes none of the machine's. */
#include "test.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "sys/mapping.h"

static uint64_t memory(void)
{
	struct sysinfo info;

	return sysinfo(&info) ? 0 : ((uint64_t)info.totalram + info.totalswap) * info.mem_unit;
}

/* A file in memory that is `size` bytes long and has none of them. */
static int sparse(uint64_t size)
{
	int fd = memfd_create("test", MFD_CLOEXEC);

	CHECK(fd >= 0 && !ftruncate(fd, (off_t)size));
	return fd;
}

static uint64_t blocks(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? UINT64_MAX : (uint64_t)st.st_blocks * 512;
}

static void test_allocate(void)
{
	uint64_t size = UINT64_C(1) << 20;
	int fd = sparse(size);

	errno = 5;
	CHECK_EQ(tacho_shm_allocate(fd, 0, size), 0);
	CHECK_EQ(errno, 5);
	CHECK_EQ(blocks(fd), size);
	close(fd);
}

/* The kernel would allocate until it has to kill a process. */
static void test_more_than_there_is(void)
{
	uint64_t size = memory() * 2;
	int fd = sparse(size);

	errno = 5;
	CHECK_EQ(tacho_shm_allocate(fd, 0, size), -ENOSPC);
	CHECK_EQ(errno, 5);
	CHECK_EQ(blocks(fd), 0);
	CHECK_EQ(tacho_shm_allocate(fd, 0, 1 << 16), 0);
	CHECK_EQ(tacho_shm_allocate(fd, 1 << 16, size - (1 << 16)), -ENOSPC);
	close(fd);
}

/* On a machine that cannot say how much is free, the kernel decides. */
static void test_no_descriptor_left(void)
{
	struct rlimit before, none;
	uint64_t size = UINT64_C(128) << 20;
	int fd = sparse(size);

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
	CHECK_EQ(tacho_shm_allocate(fd, 0, size), 0);
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
	close(fd);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	TEST(test_allocate());
	TEST(test_more_than_there_is());
	TEST(test_no_descriptor_left());
	return test_done();
}
