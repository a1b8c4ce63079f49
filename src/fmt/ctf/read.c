// SPDX-License-Identifier: MIT
#include "fmt/ctf/read.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "fmt/ctf/layout.h"
#include "fmt/ctf/packets.h"
#include "fmt/ctf/types.h"

/*
 * Memory: the windows of all parts together stay below this, and a window
 * is never smaller than its minimum unless a record needs more.
 */
#define WINDOWS_MAX	((size_t)32 << 20)
#define WINDOW_MAX	((size_t)256 << 10)
#define WINDOW_MIN	((size_t)8 << 10)
#define PARTS_MAX	65536u
#define KEEP_FDS	256u	/* more files than this are opened for each read */
#define TYPES_ARENA_MAX	((size_t)1 << 30)

struct ctf_source {
	struct tacho_source source;
	int dirfd, extras;
	uint8_t uuid[16];
	struct tacho_arena arena;
	struct tacho_ctf_types types[TACHO_NR_STREAM_IDS];
};

static void ctf_close(struct tacho_source *source)
{
	struct ctf_source *s = (struct ctf_source *)source;

	for (uint32_t i = 0; i < source->nr_parts; i++)
		tacho_ctf_part_free((struct tacho_ctf_part *)source->part[i]);
	for (int i = 0; i < TACHO_NR_STREAM_IDS; i++)
		tacho_ctf_types_release(&s->types[i]);
	tacho_arena_release(&s->arena);
	if (s->extras >= 0)
		close(s->extras);
	if (s->dirfd >= 0)
		close(s->dirfd);
	tacho_source_release(source);
	free(s);
}

static const struct tacho_type *ctf_type(struct tacho_source *source,
					 uint32_t stream_id, uint32_t id)
{
	struct ctf_source *s = (struct ctf_source *)source;

	return tacho_ctf_types_get(&s->types[stream_id], source, id);
}

static void ctf_load_types(struct tacho_source *source)
{
	struct ctf_source *s = (struct ctf_source *)source;

	for (uint32_t i = 0; i < TACHO_NR_STREAM_IDS; i++)
		for (uint32_t id = 0; id < s->types[i].nr; id++)
			(void)tacho_ctf_types_get(&s->types[i], source, id);
}

static int ctf_info(struct tacho_source *source,
		    struct tacho_stream_info *info)
{
	for (uint32_t i = 0; i < source->nr_parts; i++) {
		struct tacho_ctf_part *p = (struct tacho_ctf_part *)source->part[i];
		const struct tacho_ctf_totals *t = &p->totals;
		uint64_t begin, end;
		int err = tacho_ctf_scan(p);

		if (err)
			return err;
		info->events += t->events;
		info->discarded += t->discarded;
		info->packets += t->packets;
		info->bytes += t->bytes;
		if (!t->packets)
			continue;
		begin = tacho_clock_ns(&source->clock, t->begin);
		end = tacho_clock_ns(&source->clock, t->end);
		if (!info->begin || begin < info->begin)
			info->begin = begin;
		if (end > info->end)
			info->end = end;
	}
	return 0;
}

static int ctf_text(struct tacho_source *source, const char *name,
		    struct tacho_buf *out)
{
	int dirfd = ((struct ctf_source *)source)->extras;

	/* a trace without the folder of extras has no such text */
	return dirfd < 0 ? -ENOENT : tacho_buf_read_fileat(out, dirfd, name);
}

/* ---- several readers ------------------------------------------------------- */

static int ctf_scan(struct tacho_part *part)
{
	return tacho_ctf_scan((struct tacho_ctf_part *)part);
}

static uint64_t ctf_unscanned(const struct tacho_part *part)
{
	const struct tacho_ctf_part *p = (const struct tacho_ctf_part *)part;

	return p->totals.counted ? 0 : p->file_size;
}

static int ctf_spans(struct tacho_source *source, bool timed,
		     int (*fn)(void *arg, const struct tacho_span *span), void *arg)
{
	int err = 0;

	(void)timed;	/* what headers say costs nothing more */
	for (uint32_t i = 0; i < source->nr_parts && !err; i++)
		err = tacho_ctf_spans((struct tacho_ctf_part *)source->part[i], i, fn, arg);
	return err;
}

/* Types, marks and the directories are the other source's. */
static void view_close(struct tacho_source *source)
{
	for (uint32_t i = 0; i < source->nr_parts; i++) {
		struct tacho_ctf_part *p = (struct tacho_ctf_part *)source->part[i];

		p->mark = NULL;
		tacho_ctf_part_free(p);
	}
	memset(source->table, 0, sizeof(source->table));
	tacho_source_release(source);
	free(source);
}

static const struct tacho_source_ops view_ops = {
	.format = "tacho",
	.close = view_close,
	.fill = tacho_ctf_fill,
	.seek = tacho_ctf_seek,
	.only = tacho_ctf_only,
	.text = ctf_text,
};

static bool view_part(struct ctf_source *v, const struct tacho_ctf_part *of, uint32_t readers,
		      uint32_t nr_parts)
{
	struct tacho_ctf_part *p = calloc(1, sizeof(*p));

	if (!p)
		return false;
	*p = *of;
	p->part = (struct tacho_part){ .horizon = 0 };
	p->fd = -1;
	p->win = NULL;
	p->win_len = 0;
	p->in_packet = false;
	p->win_room = of->win_room / readers / 4096 * 4096;
	p->lasting = nr_parts * (uint64_t)of->win_room <= WINDOWS_MAX / readers;
	if (p->lasting)
		p->win_room = of->win_room;
	if (p->win_room < WINDOW_MIN)
		p->win_room = of->win_room < WINDOW_MIN ? of->win_room : WINDOW_MIN;
	p->keep_fd = of->memory || nr_parts * (uint64_t)readers <= KEEP_FDS;
	if (!tacho_source_add_part(&v->source, &p->part))
		return true;
	free(p);
	return false;
}

static struct tacho_source *ctf_view(struct tacho_source *source, uint32_t readers)
{
	struct ctf_source *s = (struct ctf_source *)source, *v = calloc(1, sizeof(*v));

	if (!v)
		return NULL;
	tacho_source_init(&v->source, &view_ops, source->flags);
	v->source.of = source;
	v->source.clock = source->clock;
	v->source.recording = source->recording;
	memcpy(v->source.table, source->table, sizeof(source->table));
	v->dirfd = s->dirfd;
	v->extras = s->extras;
	for (uint32_t i = 0; i < source->nr_parts; i++)
		if (!view_part(v, (struct tacho_ctf_part *)source->part[i], readers,
			       source->nr_parts)) {
			view_close(&v->source);
			return NULL;
		}
	return &v->source;
}

static const struct tacho_source_ops ctf_ops = {
	.format = "tacho",
	.close = ctf_close,
	.fill = tacho_ctf_fill,
	.seek = tacho_ctf_seek,
	.place = tacho_ctf_place,
	.packets = tacho_ctf_packets,
	.type = ctf_type,
	.load_types = ctf_load_types,
	.info = ctf_info,
	.scan = ctf_scan,
	.unscanned = ctf_unscanned,
	.spans = ctf_spans,
	.view = ctf_view,
	.text = ctf_text,
};

/* ---- info ---------------------------------------------------------------- */

struct info {
	bool have_uuid, have_pair;
	uint64_t freq, ticks, realtime;
};

static bool read_hex(const char *s, size_t len, uint8_t *to, size_t n)
{
	if (len != 2 * n)
		return false;
	for (size_t i = 0; i < 2 * n; i++) {
		int c = s[i], v;

		if (c >= '0' && c <= '9')
			v = c - '0';
		else if (c >= 'a' && c <= 'f')
			v = c - 'a' + 10;
		else
			return false;
		to[i / 2] = (uint8_t)(to[i / 2] << 4 | v);
	}
	return true;
}

/* "a" or "a b"; the number of values. */
static int read_numbers(const char *s, size_t len, uint64_t v[2])
{
	char text[48];
	char *blank;

	if (len >= sizeof(text))
		return 0;
	memcpy(text, s, len);
	text[len] = '\0';
	blank = strchr(text, ' ');
	if (blank)
		*blank = '\0';
	if (tacho_parse_u64(text, 0, UINT64_MAX, &v[0]))
		return 0;
	if (!blank)
		return 1;
	return tacho_parse_u64(blank + 1, 0, UINT64_MAX, &v[1]) ? 0 : 2;
}

static int info_line(struct ctf_source *s, struct info *info, const char *key,
		     size_t key_len, const char *value, size_t len)
{
	const char *order =
		__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be";
	uint64_t v[2];
	int err;

#define IS(name) (key_len == sizeof(name) - 1 && !memcmp(key, name, key_len))
	if (IS("byte_order") && (len != 2 || memcmp(value, order, 2)))
		return -ENOTSUP;
	if (IS("uuid"))
		info->have_uuid = read_hex(value, len, s->uuid, 16);
	if (IS("freq") && read_numbers(value, len, v) == 1)
		info->freq = v[0];
	if (IS("pair") && !info->have_pair &&
	    read_numbers(value, len, v) == 2) {
		info->have_pair = true;
		info->ticks = v[0];
		info->realtime = v[1];
	}
#undef IS
	if (key_len > 4 && !memcmp(key, "env.", 4)) {
		key += 4;
		key_len -= 4;
	}
	err = tacho_facts_set(&s->source.facts, key, key_len, value, len);
	return err;
}

static int parse_info(struct ctf_source *s, struct info *info, const char *text,
		      size_t len)
{
	const char *end = text + len;

	while (text < end) {
		const char *nl = memchr(text, '\n', (size_t)(end - text));
		const char *colon;
		int err;

		if (!nl)
			break;
		colon = memchr(text, ':', (size_t)(nl - text));
		if (colon && nl - colon >= 2 && colon[1] == ' ') {
			err = info_line(s, info, text, (size_t)(colon - text),
					colon + 2, (size_t)(nl - colon - 2));
			if (err)
				return err;
		}
		text = nl + 1;
	}
	return 0;
}

static int read_info(struct ctf_source *s, const char *dir,
		     struct tacho_diag *d)
{
	const size_t magic = sizeof(TACHO_CTF_MAGIC_LINE) - 1;
	struct info info = { 0 };
	struct tacho_buf b;
	int err;

	tacho_buf_init(&b, TACHO_CTF_INFO_MAX);
	err = tacho_buf_read_fileat(&b, s->extras, "info");
	if (err) {
		tacho_diag(d, err, 0, "cannot read '%s/%s/info': %s", dir,
			   TACHO_CTF_EXTRAS, strerror(-err));
	} else if (b.len < magic || memcmp(b.data, TACHO_CTF_MAGIC_LINE, magic)) {
		err = tacho_diag(d, -EINVAL, 0, "'%s' is not a tacho trace of version 1",
				 dir);
	} else {
		err = parse_info(s, &info, b.data, b.len);
		if (err == -ENOTSUP)
			tacho_diag(d, err, 0, "'%s' has the other byte order", dir);
		else if (err)
			tacho_diag(d, err, 0, "cannot read '%s/%s/info': %s", dir,
				   TACHO_CTF_EXTRAS, strerror(-err));
		else if (!info.have_uuid)
			err = tacho_diag(d, -EINVAL, 0, "'%s/%s/info' has no uuid",
					 dir, TACHO_CTF_EXTRAS);
	}
	tacho_buf_release(&b);
	if (!err) {
		tacho_clock_map_init(&s->source.clock, info.freq, info.ticks,
				     info.realtime);
		s->source.recording = tacho_hash(s->uuid, sizeof(s->uuid), 0) | 1;
	}
	return err;
}

/* ---- opening ------------------------------------------------------------- */

static struct tacho_ctf_part *part_new(struct ctf_source *s, const char *name,
				       uint64_t size)
{
	struct tacho_ctf_part *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	/* is_stream_name() is true of short names only */
	(void)snprintf(p->name, sizeof(p->name), "%.63s", name);
	p->dirfd = s->dirfd;
	p->fd = -1;
	p->file_size = size;
	p->win_room = WINDOW_MIN;
	p->stop = UINT64_MAX;
	memcpy(p->uuid, s->uuid, 16);
	if (tacho_source_add_part(&s->source, &p->part)) {
		free(p);
		return NULL;
	}
	return p;
}

static bool is_stream_name(const char *name)
{
	if (!strncmp(name, "program_", 8))
		name += 8;
	else if (!strncmp(name, "kernel_", 7))
		name += 7;
	else
		return false;
	return *name && strspn(name, "0123456789") == strlen(name) &&
	       strlen(name) < 21;
}

static int part_order(const void *a, const void *b)
{
	const struct tacho_ctf_part *x = *(struct tacho_ctf_part *const *)a;
	const struct tacho_ctf_part *y = *(struct tacho_ctf_part *const *)b;
	size_t m = strlen(x->name), n = strlen(y->name);

	/* "kernel_2" before "kernel_10": within a kind, shorter is less */
	if (x->name[0] == y->name[0] && m != n)
		return m < n ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int add_files(struct ctf_source *s)
{
	int fd = openat(s->dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;
	int err = 0;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (!err && (e = readdir(dir))) {
		struct stat st;

		if (!is_stream_name(e->d_name) ||
		    fstatat(s->dirfd, e->d_name, &st, 0) || !S_ISREG(st.st_mode))
			continue;
		if (s->source.nr_parts == PARTS_MAX)
			err = -E2BIG;
		else if (!part_new(s, e->d_name, (uint64_t)st.st_size))
			err = -ENOMEM;
	}
	closedir(dir);
	return err;
}

/* Shares the memory out, and asks each file when it begins. */
static int prepare_parts(struct ctf_source *s)
{
	uint32_t nr = s->source.nr_parts;
	size_t room;
	int err = 0;

	if (!nr)
		return 0;
	qsort(s->source.part, nr, sizeof(s->source.part[0]), part_order);
	room = WINDOWS_MAX / nr / 4096 * 4096;
	if (room > WINDOW_MAX)
		room = WINDOW_MAX;
	if (room < WINDOW_MIN)
		room = WINDOW_MIN;
#ifdef TACHO_TINY
	room = 256;
#endif
	for (uint32_t i = 0; i < nr && !err; i++) {
		struct tacho_ctf_part *p =
			(struct tacho_ctf_part *)s->source.part[i];

		p->win_room = room;
		p->keep_fd = nr <= KEEP_FDS;
		err = tacho_ctf_first(p);
	}
	return err;
}

static struct ctf_source *source_new(unsigned int flags)
{
	struct ctf_source *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	tacho_source_init(&s->source, &ctf_ops, flags);
	tacho_arena_init(&s->arena, TYPES_ARENA_MAX);
	s->source.arena = &s->arena;
	s->dirfd = s->extras = -1;
	s->types[0].fd = s->types[1].fd = -1;
	return s;
}

static int open_types(struct ctf_source *s)
{
	int err = 0;

	for (uint32_t i = 0; i < TACHO_NR_STREAM_IDS && !err; i++)
		err = tacho_ctf_types_open(&s->types[i], s->extras, i, &s->arena);
	return err;
}

static int load(struct ctf_source *s, const char *dir, struct tacho_diag *d)
{
	struct tacho_buf tasks;
	int err;

	s->dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dirfd < 0)
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", dir,
				  strerror(errno));
	s->extras = openat(s->dirfd, TACHO_CTF_EXTRAS,
			   O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->extras < 0)
		return tacho_diag(d, -errno, 0, "cannot open '%s/%s': %s", dir,
				  TACHO_CTF_EXTRAS, strerror(errno));
	err = read_info(s, dir, d);
	if (err)
		return err;
	err = open_types(s);
	if (err)
		return tacho_diag(d, err, 0, "cannot read the types of '%s': %s",
				  dir, strerror(-err));
	err = add_files(s);
	if (!err)
		err = prepare_parts(s);
	if (err)
		return tacho_diag(d, err, 0, "cannot read directory '%s': %s",
				  dir, strerror(-err));
	tacho_buf_init(&tasks, (size_t)16 << 20);
	err = tacho_buf_read_fileat(&tasks, s->extras, "cmdlines");
	if (!err)
		err = tacho_facts_add_cmdlines(&s->source.facts, tasks.data,
					       tasks.len);
	tacho_buf_release(&tasks);
	/* without the file there are no names; one that is too long has none, too */
	if (err && err != -ENOENT && err != -EOVERFLOW)
		return tacho_diag(d, err, 0, "cannot read '%s/%s/cmdlines': %s",
				  dir, TACHO_CTF_EXTRAS, strerror(-err));
	return 0;
}

int tacho_ctf_open(struct tacho_source **source, const char *dir,
		   unsigned int flags, struct tacho_diag *d)
{
	struct ctf_source *s = source_new(flags);
	int err;

	*source = NULL;
	if (!s)
		return tacho_no_memory(d);
	err = load(s, dir, d);
	if (err) {
		ctf_close(&s->source);
		return err;
	}
	*source = &s->source;
	return 0;
}

int tacho_ctf_open_memory(struct tacho_source **source, const void *data,
			  size_t len, const uint8_t uuid[16], int types_fd,
			  unsigned int flags)
{
	struct ctf_source *s = source_new(flags);
	struct tacho_ctf_part *p;
	int err = -ENOMEM;

	*source = NULL;
	if (!s)
		return err;
	memcpy(s->uuid, uuid, 16);
	p = part_new(s, "memory", len);
	if (p) {
		p->memory = data;
		p->keep_fd = true;
		err = tacho_ctf_first(p);
	}
	for (uint32_t i = 0; i < TACHO_NR_STREAM_IDS && !err; i++) {
		int fd = types_fd < 0 ? -1 : fcntl(types_fd, F_DUPFD_CLOEXEC, 0);

		err = types_fd >= 0 && fd < 0 ? -errno :
		      tacho_ctf_types_open_take(&s->types[i], fd, i, &s->arena);
	}
	if (err) {
		ctf_close(&s->source);
		return err;
	}
	*source = &s->source;
	return 0;
}

bool tacho_ctf_is_trace(const char *dir)
{
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/%s/info", dir,
			 TACHO_CTF_EXTRAS);

	return n > 0 && (size_t)n < sizeof(path) && !access(path, F_OK);
}

bool tacho_ctf_sniff(const struct tacho_sniff *p)
{
	return p->type == S_IFDIR && tacho_ctf_is_trace(p->path);
}
