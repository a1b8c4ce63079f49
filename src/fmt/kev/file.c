// SPDX-License-Identifier: MIT
#include "fmt/kev/file.h"

#include <byteswap.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/text.h"

#define READ_SIZE	((size_t)64 << 10)
#define KEY_MAX		64u
/* Slots that are looked at to tell what a file is. */
#define LOOK_SLOTS	64u

long tacho_kev_file_read(const struct tacho_kev_file *f, uint64_t at, void *to,
			 size_t n)
{
	size_t got = 0;

	if (at >= f->size)
		return 0;
	if (n > f->size - at)
		n = (size_t)(f->size - at);
	if (f->memory) {
		memcpy(to, f->memory + at, n);
		return (long)n;
	}
	while (got < n) {
		ssize_t r = pread(f->fd, (char *)to + got, n - got,
				  (off_t)(at + got));

		if (r < 0 && errno == EINTR)
			continue;
		if (r < 0)
			return got ? (long)got : -errno;
		if (!r)
			break;
		got += (size_t)r;
	}
	return (long)got;
}

/* ---- slots or not ---------------------------------------------------------------- */

static bool header_plausible(uint32_t h)
{
	uint32_t event = TACHO_KEV_EVENT(h);

	if (TACHO_KEV_FLAGS(h) & ~2u)
		return false;
	switch (TACHO_KEV_CLASS(h)) {
	case TACHO_KEV_CONTROL:
		return event == 1 || event == 2 || event == 4 || event == 8;
	case TACHO_KEV_KER_CALL:
		return (event & 0x1ff) < 384;
	case TACHO_KEV_INT:
		return event >= 1 && event <= 7;
	case TACHO_KEV_PR_TH:
		return event < TACHO_KEV_PROCESS ||
		       (event % TACHO_KEV_PROCESS == 0 &&
			event <= 5 * TACHO_KEV_PROCESS);
	case TACHO_KEV_SYSTEM:
		return (event & 0x1ff) - 1 < 0x20;
	case TACHO_KEV_USER:
	case TACHO_KEV_QUIP:
		return true;
	case TACHO_KEV_COMM:
		return event < 12;
	case TACHO_KEV_SEC:
	case TACHO_KEV_QVM:
		return event < 8;
	case TACHO_KEV_PMU:
		return event < 2;
	default:
		return false;
	}
}

bool tacho_kev_plausible(const unsigned char *p, size_t n, bool swap)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t h = tacho_load_u32(p + i * TACHO_KEV_SLOT);

		if (!header_plausible(swap ? bswap_32(h) : h))
			return false;
	}
	return n != 0;
}

/* 0: slots of this machine's order, 1: of the other, -1: neither. */
static int order_of(const struct tacho_kev_file *f, uint64_t at)
{
	unsigned char slots[LOOK_SLOTS * TACHO_KEV_SLOT];
	long n = tacho_kev_file_read(f, at, slots, sizeof(slots));
	size_t nr = n > 0 ? (size_t)n / TACHO_KEV_SLOT : 0;

	if (tacho_kev_plausible(slots, nr, false))
		return 0;
	return tacho_kev_plausible(slots, nr, true) ? 1 : -1;
}

/* ---- attributes ------------------------------------------------------------------ */

static void problem(struct tacho_kev_file *f, uint64_t offset, const char *text)
{
	if (f->nr_problems < TACHO_KEV_PROBLEMS)
		f->problem[f->nr_problems++] =
			(struct tacho_kev_problem){ offset, text };
}

static bool key_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
	       (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
}

/* The length of an attribute's key at s, where TRACE_ stands; 0: it is none. */
static uint32_t key_len(const char *s, size_t len)
{
	size_t n = strlen(TACHO_KEV_PREFIX), i = n;

	if (len < n || memcmp(s, TACHO_KEV_PREFIX, n))
		return 0;
	while (i < len && i - n < KEY_MAX && key_char(s[i]))
		i++;
	if (i == n || len - i < 2 || memcmp(s + i, TACHO_KEV_POSTFIX, 2))
		return 0;
	return (uint32_t)(i - n);
}

/* Where the next attribute begins at or after `from`; len: nowhere. */
static size_t next_attr(const char *s, size_t len, size_t from)
{
	while (from < len) {
		const char *p = memmem(s + from, len - from, TACHO_KEV_PREFIX,
				       strlen(TACHO_KEV_PREFIX));
		if (!p)
			return len;
		from = (size_t)(p - s);
		if (key_len(p, len - from))
			return from;
		from++;
	}
	return len;
}

/* Splits the header's text; *end is after HEADER_END's "::". */
static int split(struct tacho_kev_file *f, struct tacho_diag *d)
{
	const char *s = f->head.data;
	size_t len = f->head.len, at = next_attr(s, len, 0);
	struct tacho_kev_attr *p;

	while (at < len) {
		uint32_t key = (uint32_t)(at + strlen(TACHO_KEV_PREFIX));
		uint32_t n = key_len(s + at, len - at);
		uint32_t value = key + n + 2;

		if (f->nr_attrs == TACHO_KEV_ATTRS_MAX)
			return tacho_diag(d, -EINVAL, at, "'%s': its header has more than %u attributes",
					  f->path, TACHO_KEV_ATTRS_MAX);
		p = reallocarray(f->attr, (size_t)f->nr_attrs + 1, sizeof(*p));
		if (!p)
			return tacho_no_memory(d);
		f->attr = p;
		at = next_attr(s, len, value);
		p[f->nr_attrs++] = (struct tacho_kev_attr){
			key, n, value, (uint32_t)at - value };
	}
	return 0;
}

/* Reads the file up to HEADER_END. */
static int read_head(struct tacho_kev_file *f, struct tacho_diag *d)
{
	size_t look = 0, n = strlen(TACHO_KEV_END);
	const char *p = NULL;

	while (!p) {
		char *to = tacho_buf_reserve(&f->head, READ_SIZE);
		long got = to ? tacho_kev_file_read(f, f->head.len, to, READ_SIZE) : 0;

		if (got < 0)
			return tacho_diag(d, (int)got, 0, "cannot read '%s': %s",
					  f->path, strerror((int)-got));
		if (!got)
			return tacho_diag(d, tacho_buf_error(&f->head) == -ENOMEM ? -ENOMEM :
					  -EINVAL, f->head.len,
					  "'%s': its header has no TRACE_HEADER_END in the first %zu bytes",
					  f->path, f->head.len);
		tacho_buf_commit(&f->head, (size_t)got);
		p = memmem(f->head.data + look, f->head.len - look, TACHO_KEV_END, n);
		look = f->head.len > n ? f->head.len - n : 0;
	}
	f->head.len = (size_t)(p - f->head.data) + n;
	return split(f, d);
}

const char *tacho_kev_attr(const struct tacho_kev_file *f, const char *key,
			   uint32_t *len)
{
	size_t n = strlen(key);

	for (uint32_t i = 0; i < f->nr_attrs; i++) {
		const struct tacho_kev_attr *a = &f->attr[i];

		if (a->key_len == n && !memcmp(f->head.data + a->key, key, n)) {
			*len = a->value_len;
			return f->head.data + a->value;
		}
	}
	*len = 0;
	return NULL;
}

bool tacho_kev_attr_number(const struct tacho_kev_file *f, const char *key,
			   uint64_t *value)
{
	const char *v;
	char text[24];
	uint32_t len;

	v = tacho_kev_attr(f, key, &len);
	while (v && len && (*v == ' ' || *v == '\t')) {
		v++;
		len--;
	}
	while (v && len && (v[len - 1] == ' ' || !v[len - 1]))
		len--;
	if (!v || !len || len >= sizeof(text))
		return false;
	memcpy(text, v, len);
	text[len] = '\0';
	return !tacho_parse_u64(text, 0, UINT64_MAX, value);
}

static uint64_t offset_of(const struct tacho_kev_file *f, const char *key)
{
	uint32_t len;
	const char *v = tacho_kev_attr(f, key, &len);

	return v ? (uint64_t)(v - f->head.data) : 0;
}

/* ---- what they say ----------------------------------------------------------------- */

static int take_version(struct tacho_kev_file *f, struct tacho_diag *d)
{
	uint64_t major, minor;

	if (!tacho_kev_attr_number(f, "VER_MAJOR", &major) ||
	    !tacho_kev_attr_number(f, "VER_MINOR", &minor)) {
		problem(f, offset_of(f, "VER_MAJOR"),
			"the header has no version; 1.01 is taken");
		return 0;
	}
	if (major != 1 || !minor)
		return tacho_diag(d, -ENOTSUP, offset_of(f, "VER_MAJOR"),
				  "'%s': version %llu.%02llu of the format is not known, only 1.01 and up",
				  f->path, (unsigned long long)major,
				  (unsigned long long)minor);
	return 0;
}

static void take_release(struct tacho_kev_file *f)
{
	uint32_t len;
	const char *v = tacho_kev_attr(f, "SYS_RELEASE", &len);

	f->release = TACHO_KEV_710;
	if (v && !tacho_kev_release_of(v, len, &f->release))
		problem(f, offset_of(f, "SYS_RELEASE"),
			"SYS_RELEASE is unknown; using the numbers of 7.1");
}

static void take_clock(struct tacho_kev_file *f)
{
	if (tacho_kev_attr_number(f, "CYCLES_PER_SEC", &f->freq) && f->freq)
		return;
	f->freq = UINT64_C(1000000000);
	problem(f, offset_of(f, "CYCLES_PER_SEC"),
		"CYCLES_PER_SEC is no number; a cycle is taken for a nanosecond");
}

/* Where slots begin when the header does not say so: what looks like some. */
static uint64_t find_slots(const struct tacho_kev_file *f, uint64_t from)
{
	uint64_t end = f->size - from > READ_SIZE ? from + READ_SIZE : f->size;

	for (uint64_t at = from; at < end; at++)
		if (order_of(f, at) >= 0)
			return at;
	return from;
}

static void take_syspage(struct tacho_kev_file *f)
{
	uint64_t n = 0, left;
	uint32_t len;

	f->syspage = f->head.len;
	left = f->size - f->syspage;
	if (tacho_kev_attr(f, "SYSPAGE_LEN", &len) &&
	    !tacho_kev_attr_number(f, "SYSPAGE_LEN", &n)) {
		problem(f, offset_of(f, "SYSPAGE_LEN"),
			"SYSPAGE_LEN is no number; events are looked for");
		n = find_slots(f, f->syspage) - f->syspage;
	} else if (n > left) {
		problem(f, offset_of(f, "SYSPAGE_LEN"),
			"SYSPAGE_LEN is larger than the file; events are looked for");
		n = find_slots(f, f->syspage) - f->syspage;
	}
	f->syspage_len = n;
	f->slots = f->syspage + n;
}

static void take_order(struct tacho_kev_file *f)
{
	const bool here_big = htobe32(1) == 1;
	uint32_t len;
	bool little = tacho_kev_attr(f, "LITTLE_ENDIAN", &len);
	bool big = tacho_kev_attr(f, "BIG_ENDIAN", &len);
	int order;

	if (little != big && !tacho_kev_attr(f, "MIDDLE_ENDIAN", &len)) {
		f->big = big;
		return;
	}
	problem(f, offset_of(f, little ? "LITTLE_ENDIAN" : "MIDDLE_ENDIAN"),
		"the header does not say which byte order it is; the events do");
	order = order_of(f, f->slots);
	f->big = order == 1 ? !here_big : here_big;
}

static int take_head(struct tacho_kev_file *f, struct tacho_diag *d)
{
	int err = read_head(f, d);

	if (!err)
		err = take_version(f, d);
	if (err)
		return err;
	take_release(f);
	take_clock(f);
	take_syspage(f);
	take_order(f);
	return 0;
}

static int take_bare(struct tacho_kev_file *f, struct tacho_diag *d)
{
	int order = order_of(f, 0);

	if (order < 0)
		return tacho_diag(d, -EINVAL, 0, "'%s' is neither a QNX trace nor bare events of one",
				  f->path);
	f->bare = true;
	f->big = (htobe32(1) == 1) != (order == 1);
	f->freq = UINT64_C(1000000000);
	f->release = TACHO_KEV_710;
	return 0;
}

/* ---- open ------------------------------------------------------------------------ */

static int open_path(struct tacho_kev_file *f, const char *path,
		     struct tacho_diag *d)
{
	struct stat st;

	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st))
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", path,
				  strerror(errno));
	if (!S_ISREG(st.st_mode))
		return tacho_diag(d, -EINVAL, 0, "'%s' is not a regular file", path);
	f->size = (uint64_t)st.st_size;
	return 0;
}

static bool has_begin(const void *p, long n)
{
	size_t len = strlen(TACHO_KEV_BEGIN);

	/* the historic parser looks for it in the first 99 bytes */
	return n > 0 && memmem(p, (size_t)n < 99 ? (size_t)n : 99,
			       TACHO_KEV_BEGIN, len);
}

int tacho_kev_file_open(struct tacho_kev_file *f, const char *path,
			const void *memory, size_t len, struct tacho_diag *d)
{
	char begin[99];
	int err = 0;
	long n;

	*f = (struct tacho_kev_file){ .fd = -1, .memory = memory, .size = len };
	tacho_buf_init(&f->head, TACHO_KEV_HEAD_MAX);
	f->path = strdup(path);
	if (!f->path)
		return tacho_no_memory(d);
	if (!memory)
		err = open_path(f, path, d);
	if (err)
		return err;
	n = tacho_kev_file_read(f, 0, begin, sizeof(begin));
	err = has_begin(begin, n) ? take_head(f, d) : take_bare(f, d);
	f->swap = f->big != (htobe32(1) == 1);
	return err;
}

void tacho_kev_file_close(struct tacho_kev_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	tacho_buf_release(&f->head);
	free(f->attr);
	free(f->path);
}

bool tacho_kev_begins(const unsigned char *p, size_t n)
{
	size_t nr = n / TACHO_KEV_SLOT;

	if (nr > LOOK_SLOTS)
		nr = LOOK_SLOTS;
	return has_begin(p, (long)n) || tacho_kev_plausible(p, nr, false) ||
	       tacho_kev_plausible(p, nr, true);
}
