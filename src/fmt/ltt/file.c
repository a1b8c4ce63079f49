// SPDX-License-Identifier: MIT
#include "fmt/ltt/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/ltt/custom.h"
#include "fmt/ltt/size22.h"

/* How much of the beginning is looked at to tell one layout from another. */
#define LOOK_MAX	65536u

uint16_t tacho_ltt_u16(const struct tacho_ltt_file *f, const void *p)
{
	uint16_t v = tacho_load_u16(p);

	return f->swap ? __builtin_bswap16(v) : v;
}

uint32_t tacho_ltt_u32(const struct tacho_ltt_file *f, const void *p)
{
	uint32_t v = tacho_load_u32(p);

	return f->swap ? __builtin_bswap32(v) : v;
}

uint64_t tacho_ltt_mask(const struct tacho_ltt_file *f, const void *p)
{
	uint64_t v = tacho_load_u64(p);

	if (tacho_ltt_is_22(f->layout))
		return le64toh(v);
	return f->swap ? __builtin_bswap64(v) : v;
}

int tacho_ltt_file_read(const struct tacho_ltt_file *f, uint64_t at, void *to,
			size_t n)
{
	size_t done = 0;

	if (at > f->size || n > f->size - at)
		return -EIO;
	if (f->fd < 0) {
		memcpy(to, f->data + at, n);
		return 0;
	}
	while (done < n) {
		ssize_t k = pread(f->fd, (char *)to + done, n - done,
				  (off_t)(at + done));

		if (k < 0 && errno == EINTR)
			continue;
		if (k <= 0)
			return k ? -errno : -EIO;
		done += (size_t)k;
	}
	return 0;
}

/* ---- the beginning ----------------------------------------------------------------- */

static bool magic_at(const unsigned char *p, size_t len, size_t at, bool *swap)
{
	uint32_t v;

	if (len < at + 4)
		return false;
	v = tacho_load_u32(p + at);
	*swap = v != TRACER_MAGIC_NUMBER;
	return v == TRACER_MAGIC_NUMBER ||
	       v == __builtin_bswap32(TRACER_MAGIC_NUMBER);
}

bool tacho_ltt_magic(const void *data, size_t len)
{
	const unsigned char *p = data;
	bool swap;

	return (magic_at(p, len, LTT_MAGIC_AT, &swap) && p[4] == TRACE_BUFFER_START) ||
	       (magic_at(p, len, LTT_22_MAGIC_AT, &swap) && p[0] == TRACE_BUFFER_START);
}

/* The START struct at p, by the layout that is known so far. */
static void take_start(struct tacho_ltt_file *f, const unsigned char *p)
{
	struct tacho_ltt_shape shape;
	const struct tacho_ltt_elem *e = shape.elem;
	bool is_22 = tacho_ltt_is_22(f->layout);
	uint64_t v[12];

	tacho_ltt_shape(&shape, f->layout, false, TRACE_START);
	for (size_t i = 0; i < 12; i++)
		v[i] = tacho_ltt_get(&e[i], p, f->swap);
	f->arch = (uint32_t)v[1];
	f->variant = (uint32_t)v[2];
	f->system = (uint32_t)v[3];
	f->s390 = f->arch == TRACE_ARCH_TYPE_S390;
	f->buffer_size = (uint32_t)v[is_22 ? 6 : 4];
	f->major = (uint32_t)v[is_22 ? 4 : 5];
	f->minor = (uint32_t)v[is_22 ? 5 : 6];
	f->use_tsc = v[is_22 ? 10 : 7];
	f->cpu = is_22 ? UINT32_MAX : (uint32_t)v[8];
	f->flight = v[is_22 ? 11 : 9];
	f->log_cpu = is_22 && v[9];
	f->event_mask = tacho_ltt_mask(f, p + e[is_22 ? 7 : 10].at);
	f->details_mask = tacho_ltt_mask(f, p + e[is_22 ? 8 : 11].at);
}

/* ---- which layout ------------------------------------------------------------------ */

size_t tacho_ltt_size_22(const struct tacho_ltt_file *f, const unsigned char *p,
			 size_t left, enum tacho_ltt_layout layout, bool cpu)
{
	size_t head = LTT_22_HEAD, size;
	struct tacho_ltt_shape shape;
	uint32_t id;

	if (left < LTT_22_HEAD + LTT_22_TAIL)
		return 0;
	if (cpu) {
		head++;
		p++;
	}
	id = p[0];
	if (id > TRACE_MAX || left < head + LTT_22_TAIL)
		return 0;
	size = head + LTT_22_TAIL;
	if (!(f->details_mask >> id & 1))
		return size;
	tacho_ltt_shape(&shape, layout, f->s390, id);
	size += shape.size;
	if (left < size)
		return 0;
	p += LTT_22_HEAD;
	if (id == TRACE_FILE_SYSTEM && (p[0] == TRACE_FILE_SYSTEM_EXEC ||
					p[0] == TRACE_FILE_SYSTEM_OPEN))
		size += (size_t)tacho_ltt_u32(f, p + 5) + 1;
	else if (id == TRACE_CUSTOM)
		size += tacho_ltt_u32(f, p + 4);
	return size;
}

/* How many records of 2.2 in a row have the size that this layout gives. */
static unsigned int votes_22(const struct tacho_ltt_file *f, const unsigned char *p,
			     size_t end, enum tacho_ltt_layout layout)
{
	size_t at = LTT_22_MAGIC_AT - LTT_22_HEAD, size;
	unsigned int votes = 0;

	/* START never has its CPU */
	at += LTT_22_HEAD + sizeof(struct trace_start32) + LTT_22_TAIL;
	for (; at < end; at += size, votes++) {
		size = tacho_ltt_size_22(f, p + at, end - at, layout, f->log_cpu);
		if (!size || size > end - at ||
		    tacho_ltt_u16(f, p + at + size - LTT_22_TAIL) != size)
			break;
	}
	return votes;
}

static void choose_22(struct tacho_ltt_file *f, const unsigned char *p, size_t end)
{
	static const enum tacho_ltt_layout others[] = { TACHO_LTT_22_MV32,
							TACHO_LTT_22_MV64 };
	enum tacho_ltt_layout best = f->arch > 7 ? TACHO_LTT_22_MV64 : TACHO_LTT_22_32;
	unsigned int most = votes_22(f, p, end, best);

	for (size_t i = 0; i < 2; i++) {
		unsigned int n = votes_22(f, p, end, others[i]);

		if (n > most) {
			most = n;
			best = others[i];
		}
	}
	f->layout = best;
}

/* Whether the third record declares the event that says so. */
static bool is_made(const struct tacho_ltt_file *f, const unsigned char *p, size_t len)
{
	static const char type[] = LTT_EMBED_MADE, form[] = LTT_EMBED_FORM;
	size_t at = LTT_MAGIC_AT - LTT_HEAD, type_at = 4, form_at = 128;

	at += tacho_ltt_u16(f, p + at + 6) + LTT_HEAD;
	return !tacho_ltt_is_22(f->layout) && at < len &&
	       len - at >= sizeof(struct trace_new_event64) &&
	       p[at - LTT_HEAD + 4] == TRACE_NEW_EVENT &&
	       !memcmp(p + at + type_at, type, sizeof(type)) &&
	       !memcmp(p + at + form_at, form, sizeof(form));
}

/* ---- opening ----------------------------------------------------------------------- */

static int refuse(struct tacho_ltt_file *f, struct tacho_diag *d, uint64_t at,
		  const char *what)
{
	return tacho_diag(d, -EINVAL, at, "'%s' is not an LTT trace: %s", f->path,
			  what);
}

static int check_start(struct tacho_ltt_file *f, uint64_t at, struct tacho_diag *d)
{
	uint32_t want = tacho_ltt_is_22(f->layout) ? 2 : 3;

	if (f->major != 2 || f->minor != want)
		return tacho_diag(d, -ENOTSUP, at, "'%s' is of LTT's version %u.%u (byte "
				  "%u); 2.2 and 2.3 can be read", f->path, f->major,
				  f->minor, (unsigned int)at);
	if (f->buffer_size < LTT_BUFFER_MIN || f->buffer_size > LTT_BUFFER_MAX)
		return tacho_diag(d, -EINVAL, at, "'%s': its START record (byte %u) says "
				  "buffers of %u bytes; %u to %u can be", f->path,
				  (unsigned int)at, f->buffer_size, LTT_BUFFER_MIN,
				  LTT_BUFFER_MAX);
	return 0;
}

static int take_beginning(struct tacho_ltt_file *f, struct tacho_diag *d)
{
	size_t len = f->size < LOOK_MAX ? (size_t)f->size : LOOK_MAX, at;
	unsigned char *p = malloc(len + 1);
	int err = p ? tacho_ltt_file_read(f, 0, p, len) : -ENOMEM;

	if (err) {
		free(p);
		return tacho_diag(d, err, 0, "cannot read '%s': %s", f->path,
				  strerror(-err));
	}
	if (magic_at(p, len, LTT_MAGIC_AT, &f->swap) && p[4] == TRACE_BUFFER_START) {
		f->layout = TACHO_LTT_64;
		at = LTT_MAGIC_AT;
	} else if (magic_at(p, len, LTT_22_MAGIC_AT, &f->swap) &&
		   p[0] == TRACE_BUFFER_START) {
		f->layout = TACHO_LTT_22_32;
		at = LTT_22_MAGIC_AT;
	} else {
		err = refuse(f, d, 0, "its first two records are not BUFFER_START and "
			     "START");
		free(p);
		return err;
	}
	if (len - at < sizeof(struct trace_start64)) {
		err = refuse(f, d, len, "it ends inside its START record");
	} else {
		/* what is needed next has one place in both flavours */
		take_start(f, p + at);
		err = check_start(f, at, d);
		if (len > f->buffer_size)
			len = f->buffer_size;
		if (tacho_ltt_is_22(f->layout))
			choose_22(f, p, len);
		take_start(f, p + at);
		f->made = is_made(f, p, len);
	}
	free(p);
	return err;
}

int tacho_ltt_file_layout(struct tacho_ltt_file *f, enum tacho_ltt_layout layout)
{
	unsigned char start[sizeof(struct trace_start64)];
	int err = tacho_ltt_file_read(f, LTT_MAGIC_AT, start, sizeof(start));

	f->layout = layout;
	if (!err)
		take_start(f, start);
	return err;
}

static int open_fd(struct tacho_ltt_file *f, struct tacho_diag *d)
{
	struct stat st;

	f->fd = open(f->path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st))
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", f->path,
				  strerror(errno));
	f->size = (uint64_t)st.st_size;
	return 0;
}

int tacho_ltt_file_open(struct tacho_ltt_file *f, const char *path,
			const void *data, size_t len, struct tacho_diag *d)
{
	int err = 0;

	*f = (struct tacho_ltt_file){ .fd = -1, .data = data, .size = len,
				      .path = strdup(path) };
	if (!f->path)
		return tacho_no_memory(d);
	if (!data)
		err = open_fd(f, d);
	if (!err)
		err = take_beginning(f, d);
	if (err)
		tacho_ltt_file_release(f);
	return err;
}

void tacho_ltt_file_release(struct tacho_ltt_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	free((char *)(uintptr_t)f->path);
	f->fd = -1;
	f->path = NULL;
}
