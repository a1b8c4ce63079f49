// SPDX-License-Identifier: MIT
#include "fmt/tracedat/file.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fmt/tracedat/layout.h"

#define PAGE_MIN	512u
#define PAGE_MAX	(4u << 20)

uint16_t tacho_dat_u16(const struct tacho_dat_file *f, const void *p)
{
	uint16_t v = tacho_load_u16(p);

	return f->swap ? bswap_16(v) : v;
}

uint32_t tacho_dat_u32(const struct tacho_dat_file *f, const void *p)
{
	uint32_t v = tacho_load_u32(p);

	return f->swap ? bswap_32(v) : v;
}

uint64_t tacho_dat_u64(const struct tacho_dat_file *f, const void *p)
{
	uint64_t v = tacho_load_u64(p);

	return f->swap ? bswap_64(v) : v;
}

int tacho_dat_file_read(const struct tacho_dat_file *f, uint64_t at, void *to,
			size_t n)
{
	char *o = to;

	if (at > f->size || n > f->size - at)
		return -ENODATA;
	if (f->memory) {
		memcpy(to, f->memory + at, n);
		return 0;
	}
	while (n) {
		ssize_t got = pread(f->fd, o, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -ENODATA;
		o += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

/* ---- a block --------------------------------------------------------------- */

void tacho_dat_in_init(struct tacho_dat_in *in, const struct tacho_dat_file *f,
		       uint64_t at)
{
	in->file = f;
	in->bytes = NULL;
	in->pos = at;
	in->end = f->size;
	in->why = at > f->size ? "it ends too early" : NULL;
	in->no_memory = false;
	in->window_at = 0;
	in->window_len = 0;
}

static void in_fail(struct tacho_dat_in *in, const char *why)
{
	if (!in->why)
		in->why = why;
}

/* Brings bytes from pos on into the window; how many are there. */
static size_t in_window(struct tacho_dat_in *in)
{
	uint64_t n = in->end - in->pos;

	if (in->pos >= in->window_at &&
	    in->pos - in->window_at < in->window_len)
		return (size_t)(in->window_at + in->window_len - in->pos);
	if (n > sizeof(in->window))
		n = sizeof(in->window);
	if (tacho_dat_file_read(in->file, in->pos, in->window, (size_t)n))
		return 0;
	in->window_at = in->pos;
	in->window_len = (uint32_t)n;
	return (size_t)n;
}

void tacho_dat_in_bytes(struct tacho_dat_in *in, void *to, size_t n)
{
	char *o = to;

	if (in->why || n > in->end - in->pos) {
		in_fail(in, "it ends too early");
		memset(to, 0, n);
		return;
	}
	if (in->bytes) {
		memcpy(to, in->bytes + in->pos, n);
		in->pos += n;
		return;
	}
	while (n) {
		size_t part = in_window(in);

		if (!part) {
			in_fail(in, "it cannot be read");
			memset(o, 0, n);
			return;
		}
		if (part > n)
			part = n;
		memcpy(o, in->window + (in->pos - in->window_at), part);
		o += part;
		n -= part;
		in->pos += part;
	}
}

uint16_t tacho_dat_in_u16(struct tacho_dat_in *in)
{
	unsigned char b[2];

	tacho_dat_in_bytes(in, b, sizeof(b));
	return tacho_dat_u16(in->file, b);
}

uint32_t tacho_dat_in_u32(struct tacho_dat_in *in)
{
	unsigned char b[4];

	tacho_dat_in_bytes(in, b, sizeof(b));
	return tacho_dat_u32(in->file, b);
}

uint64_t tacho_dat_in_u64(struct tacho_dat_in *in)
{
	unsigned char b[8];

	tacho_dat_in_bytes(in, b, sizeof(b));
	return tacho_dat_u64(in->file, b);
}

void tacho_dat_in_skip(struct tacho_dat_in *in, uint64_t n)
{
	if (in->why || n > in->end - in->pos)
		in_fail(in, "it ends too early");
	else
		in->pos += n;
}

void tacho_dat_in_text(struct tacho_dat_in *in, struct tacho_buf *out,
		       uint64_t n)
{
	char *to;

	if (in->why || n > in->end - in->pos) {
		in_fail(in, "it ends too early");
		return;
	}
	if (!n)
		return;
	to = tacho_buf_reserve(out, (size_t)n);
	if (!to) {
		in->no_memory = tacho_buf_error(out) == -ENOMEM;
		in_fail(in, "a text in it is too long");
		return;
	}
	tacho_dat_in_bytes(in, to, (size_t)n);
	if (!in->why)
		tacho_buf_commit(out, (size_t)n);
}

void tacho_dat_in_string(struct tacho_dat_in *in, char *to, size_t room)
{
	for (size_t n = 0; n < room; n++) {
		tacho_dat_in_bytes(in, to + n, 1);
		if (!to[n])
			return;
	}
	to[room - 1] = '\0';
	in_fail(in, "a name in it is too long");
}

static int in_decode(struct tacho_dat_in *in, uint64_t at,
		     struct tacho_buf *hold, struct tacho_diag *d)
{
	const struct tacho_dat_file *f = in->file;
	uint32_t packed = tacho_dat_in_u32(in), len = tacho_dat_in_u32(in);
	struct tacho_buf raw;
	long n = -EBADMSG;
	char *to;

	if (!f->codec)
		return tacho_diag(d, -EINVAL, at, "'%s' is damaged: a section is compressed, the file is not",
				  f->path);
	tacho_buf_init(&raw, TACHO_DAT_BLOCK_MAX);
	tacho_buf_init(hold, TACHO_DAT_BLOCK_MAX);
	tacho_dat_in_text(in, &raw, packed);
	to = in->why ? NULL : tacho_buf_reserve(hold, len ? len : 1);
	if (to)
		n = tacho_dat_decode(f->codec, raw.data, raw.len, to, len);
	tacho_buf_release(&raw);
	if (in->why)
		return tacho_diag(d, tacho_dat_in_err(in), at, "'%s' is damaged: the section at byte %llu: %s",
				  f->path, (unsigned long long)at, in->why);
	if (!to)
		return tacho_diag(d, tacho_buf_error(hold) == -ENOMEM ? -ENOMEM : -EFBIG, at,
				  "cannot read '%s': the section at byte %llu takes more than %zu MiB",
				  f->path, (unsigned long long)at,
				  TACHO_DAT_BLOCK_MAX >> 20);
	if (n < 0)
		return tacho_diag(d, n == -ENOMEM ? -ENOMEM : -EINVAL, at,
				  "'%s' is damaged: the section at byte %llu cannot be decompressed",
				  f->path, (unsigned long long)at);
	tacho_buf_commit(hold, (size_t)n);
	in->bytes = (const unsigned char *)hold->data;
	in->pos = 0;
	in->end = hold->len;
	return 0;
}

int tacho_dat_in_section(struct tacho_dat_in *in,
			 const struct tacho_dat_file *f, uint64_t at,
			 uint32_t id, struct tacho_buf *hold,
			 struct tacho_diag *d)
{
	uint32_t found, flags;
	uint64_t size;

	tacho_buf_init(hold, TACHO_DAT_BLOCK_MAX);
	tacho_dat_in_init(in, f, at);
	found = tacho_dat_in_u16(in);
	flags = tacho_dat_in_u16(in);
	(void)tacho_dat_in_u32(in);	/* its description */
	size = tacho_dat_in_u64(in);
	if (in->why)
		return tacho_diag(d, -EINVAL, at, "'%s' is cut off: a section should begin at byte %llu",
				  f->path, (unsigned long long)at);
	if (found != id)
		return tacho_diag(d, -EINVAL, at, "'%s' is damaged: section %u at byte %llu should be %u",
				  f->path, found, (unsigned long long)at, id);
	if (size < in->end - in->pos)
		in->end = in->pos + size;
	return flags & TACHO_DAT_COMPRESSED ? in_decode(in, at, hold, d) : 0;
}

/* ---- the beginning ----------------------------------------------------------- */

static int codec_open(struct tacho_dat_file *f, const char *name,
		      struct tacho_diag *d)
{
	int err;

	if (!strcmp(name, "none"))
		return 0;
	err = tacho_dat_codec_new(&f->codec, name);
	if (err == -ENOTSUP)
		return tacho_diag(d, err, 0, "'%s' is compressed with %s, which this build of tacho lacks; 'trace-cmd convert --compression none' unpacks it",
				  f->path, name);
	if (err == -ENOMEM)
		return tacho_diag(d, err, 0, "out of memory");
	if (err)
		return tacho_diag(d, err, 0, "'%s' is compressed with '%s', which tacho does not know",
				  f->path, name);
	return 0;
}

static int read_begin(struct tacho_dat_file *f, struct tacho_diag *d)
{
	char magic[TACHO_DAT_MAGIC_LEN], version[4], name[32] = "none", text[32];
	unsigned char flags[2];
	struct tacho_dat_in in;

	tacho_dat_in_init(&in, f, 0);
	tacho_dat_in_bytes(&in, magic, sizeof(magic));
	if (in.why || memcmp(magic, TACHO_DAT_MAGIC, sizeof(magic)))
		return tacho_diag(d, -EINVAL, 0, "'%s' is not a trace.dat file",
				  f->path);
	tacho_dat_in_string(&in, version, sizeof(version));
	if (!in.why && strcmp(version, "6") && strcmp(version, "7"))
		return tacho_diag(d, -ENOTSUP, sizeof(magic), "'%s' is a trace.dat of version '%s'; tacho reads 6 and 7",
				  f->path, version);
	f->version = (uint32_t)(version[0] - '0');
	tacho_dat_in_bytes(&in, flags, 2);
	f->big = flags[0] != 0;
	f->swap = f->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	f->page_size = tacho_dat_in_u32(&in);
	if (f->version >= TACHO_DAT_VERSION_7) {
		tacho_dat_in_string(&in, name, sizeof(name));
		tacho_dat_in_string(&in, text, sizeof(text));
		f->options = tacho_dat_in_u64(&in);
	}
	if (in.why)
		return tacho_diag(d, -EINVAL, in.pos, "cannot read '%s': %s",
				  f->path, in.why);
	if (!tacho_dat_page_size_good(f->page_size))
		return tacho_diag(d, -EINVAL, 0, "'%s' is damaged: pages of %u bytes",
				  f->path, f->page_size);
	f->body = in.pos;
	return codec_open(f, name, d);
}

bool tacho_dat_page_size_good(uint32_t size)
{
	return size >= PAGE_MIN && size <= PAGE_MAX && !(size & (size - 1));
}

int tacho_dat_file_open(struct tacho_dat_file *f, const char *path,
			const void *memory, size_t len, struct tacho_diag *d)
{
	struct stat st;

	*f = (struct tacho_dat_file){ .fd = -1, .memory = memory, .size = len };
	f->path = strdup(path);
	if (!f->path)
		return tacho_no_memory(d);
	if (!memory) {
		f->fd = open(path, O_RDONLY | O_CLOEXEC);
		if (f->fd < 0 || fstat(f->fd, &st))
			return tacho_diag(d, -errno, 0, "cannot open '%s': %s",
					  path, strerror(errno));
		f->size = (uint64_t)st.st_size;
	}
	return read_begin(f, d);
}

void tacho_dat_file_close(struct tacho_dat_file *f)
{
	tacho_dat_codec_free(f->codec);
	if (f->fd >= 0)
		close(f->fd);
	free(f->path);
}
