// SPDX-License-Identifier: MIT
#include "fmt/others.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/bt2/bt2.h"

#define LTT_MAGIC	0x00d6b7edu
#define LTTNG0_MAGIC_AT	16u
#define CTF_MAGIC	0x75d11d57u	/* of a packet of metadata */
#define CTF_MAJOR_AT	35u
#define HEAD		40u

static bool is_word(const unsigned char *p, uint32_t word)
{
	uint32_t v = tacho_load_u32(p);

	return v == word || v == __builtin_bswap32(word);
}

/* The beginning of a file; how many bytes of it there are. */
static size_t head_of(int dir, const char *name, unsigned char head[HEAD])
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, head, HEAD);

	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : (size_t)n;
}

/* ---- perf ---------------------------------------------------------------------------- */

bool tacho_perf_sniff(const struct tacho_sniff *p)
{
	return p->len >= 8 && (!memcmp(p->head, "PERFILE2", 8) ||
			       !memcmp(p->head, "2ELIFREP", 8));
}

int tacho_perf_refuse(struct tacho_source **source, const char *path, unsigned int flags,
		      struct tacho_diag *d)
{
	(void)flags;
	*source = NULL;
	return tacho_diag(d, -ENOTSUP, 0, "'%s' is a perf.data of perf, which cannot be read; "
			  "'perf data convert --to-ctf' makes a trace of it that can", path);
}

/* ---- LTTng 0.x ----------------------------------------------------------------------- */

static bool is_lttng0(const unsigned char *head, size_t len)
{
	return len >= LTTNG0_MAGIC_AT + 6 && is_word(head + LTTNG0_MAGIC_AT, LTT_MAGIC) &&
	       head[LTTNG0_MAGIC_AT + 4] < 10;
}

/* Of a file, or of one in a directory. */
static bool find_lttng0(const char *path, unsigned char head[HEAD])
{
	DIR *dir = opendir(path);
	struct dirent *e;
	bool found = false;

	if (!dir)
		return is_lttng0(head, head_of(AT_FDCWD, path, head));
	while (!found && (e = readdir(dir)))
		found = e->d_type != DT_DIR &&
			is_lttng0(head, head_of(dirfd(dir), e->d_name, head));
	closedir(dir);
	return found;
}

bool tacho_lttng0_sniff(const struct tacho_sniff *p)
{
	unsigned char head[HEAD];

	return p->type == S_IFDIR ? find_lttng0(p->path, head) : is_lttng0(p->head, p->len);
}

int tacho_lttng0_refuse(struct tacho_source **source, const char *path, unsigned int flags,
			struct tacho_diag *d)
{
	unsigned char head[HEAD] = { 0 };

	(void)flags;
	*source = NULL;
	(void)find_lttng0(path, head);
	return tacho_diag(d, -ENOTSUP, 0, "'%s' is a trace of LTTng 0.x, of format version %u.%u, "
			  "which cannot be read; of the Linux Trace Toolkit's, 2.2 and 2.3 can", path,
			  head[LTTNG0_MAGIC_AT + 4], head[LTTNG0_MAGIC_AT + 5]);
}

/* ---- CTF 2 --------------------------------------------------------------------------- */

static int look_for_ctf2(void *arg, const char *dir)
{
	unsigned char head[HEAD];
	char path[4096];
	size_t len;

	(void)snprintf(path, sizeof(path), "%s/metadata", dir);
	len = head_of(AT_FDCWD, path, head);
	if ((len && head[0] == 0x1e) ||
	    (len > CTF_MAJOR_AT && is_word(head, CTF_MAGIC) && head[CTF_MAJOR_AT] == 2))
		*(bool *)arg = true;
	return *(bool *)arg;
}

bool tacho_ctf2_sniff(const struct tacho_sniff *p)
{
	bool yes = false;

	if (p->type == S_IFDIR)
		(void)tacho_bt2_find(p->path, look_for_ctf2, &yes);
	return yes;
}

int tacho_ctf2_open(struct tacho_source **source, const char *dir, unsigned int flags,
		    struct tacho_diag *d)
{
	struct tacho_diag why = { 0 };
	int err = tacho_bt2_open(source, dir, flags, &why);

	if (!err || err == -ENOMEM) {
		*d = why;
		return err;
	}
	return tacho_diag(d, -ENOTSUP, 0, "'%s' is a CTF 2 trace, which libbabeltrace2 reads from version 2.1 on; the one "
			  "here does not", dir);
}
