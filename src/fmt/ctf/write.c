// SPDX-License-Identifier: MIT
#include "fmt/ctf/write.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/text.h"
#include "base/write.h"
#include "fmt/ctf/canon.h"
#include "fmt/ctf/layout.h"
#include "fmt/ctf/tsdl.h"

#define IDS		65536u
#define STANDINS_MAX	4096u
#define STANDIN_SLOTS	(2 * STANDINS_MAX)	/* of the hash, a power of two */
#define TYPES_ARENA_MAX	((size_t)1 << 30)
#define METADATA_MAX	((size_t)256 << 20)

/* Everything about the event types of one stream id. */
struct class {
	const struct tacho_canon **canon;	/* [IDS] */
	uint64_t standin[STANDIN_SLOTS];	/* id << 32 | base << 16 | size */
	uint32_t nr_standins;
	uint32_t next_standin;		/* ids are taken from the top */
	struct tacho_buf text;		/* all of the types file */
	size_t written;			/* of text, to the present directory */
	int fd;
};

/* One file of packets. */
struct out {
	uint32_t stream_id;
	uint64_t instance;
	int fd;
	uint64_t size;
	uint64_t dropped;	/* records of this stream that were left out */
	uint64_t told;		/* events_discarded of the last packet, all traces */
	uint64_t reported_before;	/* of them, in traces before this one */
	uint64_t end;		/* timestamp_end of the last packet */
	char name[40];
};

struct tacho_ctf_writer {
	char *dir;
	int dirfd, extras;
	uint8_t uuid[16];
	struct tacho_ctf_clock clock;
	char clock_kind[24];
	struct tacho_buf env_tsdl, env_info, pairs;
	char *session;
	struct tacho_arena arena;
	struct class *class[2];
	struct tacho_buf events;	/* event blocks of the metadata */
	bool stale;			/* metadata on disk lacks something */
	struct out *out;
	size_t nr_outs;
	struct tacho_buf scratch;
	uint64_t lost, bytes;
};

/* ---- files --------------------------------------------------------------- */

/*
 * Replaces a file in one step: a reader sees the old text or the new one.  The
 * name of the new file starts with a dot, which CTF readers pass over.
 */
static int replace_file(int dirfd, const char *name, const struct iovec *part,
			int nr)
{
	char tmp[64];
	int fd, err = 0;

	(void)snprintf(tmp, sizeof(tmp), ".%s.new", name);
	fd = openat(dirfd, tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	for (int i = 0; i < nr && !err; i++)
		err = tacho_write_all(fd, part[i].iov_base, part[i].iov_len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dirfd, tmp, dirfd, name))
		err = -errno;
	if (err)
		unlinkat(dirfd, tmp, 0);
	return err;
}

static int cannot_write(const struct tacho_ctf_writer *w, const char *name,
			int err, struct tacho_diag *d)
{
	return tacho_diag(d, err, 0, "cannot write '%s/%s': %s", w->dir, name,
			  strerror(-err));
}

static int write_info(struct tacho_ctf_writer *w, const char *state,
		      struct tacho_diag *d)
{
	struct tacho_buf b;
	struct iovec part;
	int err;

	tacho_buf_init(&b, TACHO_CTF_INFO_MAX);
	tacho_buf_printf(&b, TACHO_CTF_MAGIC_LINE "version: %s\nstate: %s\n"
			 "byte_order: %s\nuuid: ", TACHO_VERSION, state,
			 __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? "le" : "be");
	for (int i = 0; i < 16; i++)
		tacho_buf_put_hex(&b, w->uuid[i], 2);
	tacho_buf_printf(&b, "\nclock: %s\nfreq: %" PRIu64 "\n"
			 "pair: %" PRIu64 " %" PRIu64 "\n", w->clock.kind,
			 w->clock.freq, w->clock.ticks, w->clock.realtime);
	tacho_buf_put(&b, w->pairs.data, w->pairs.len);
	if (w->session && !strcmp(state, "open"))
		tacho_buf_printf(&b, "session: %s\n", w->session);
	tacho_buf_put(&b, w->env_info.data, w->env_info.len);
	err = tacho_buf_error(&b);
	part = (struct iovec){ b.data, b.len };
	if (!err)
		err = replace_file(w->extras, "info", &part, 1);
	tacho_buf_release(&b);
	return err ? cannot_write(w, TACHO_CTF_EXTRAS "/info", err, d) : 0;
}

static int write_metadata(struct tacho_ctf_writer *w, struct tacho_diag *d)
{
	struct tacho_buf head;
	struct iovec part[2];
	int err;

	tacho_buf_init(&head, METADATA_MAX);
	tacho_tsdl_head(&head, w->uuid, &w->clock, tacho_buf_str(&w->env_tsdl));
	err = tacho_buf_error(&head);
	part[0] = (struct iovec){ head.data, head.len };
	part[1] = (struct iovec){ w->events.data, w->events.len };
	if (!err)
		err = replace_file(w->dirfd, "metadata", part, 2);
	tacho_buf_release(&head);
	if (err)
		return cannot_write(w, "metadata", err, d);
	w->stale = false;
	return 0;
}

/* Appends what is new to a types file; on failure cuts it back. */
static int write_types(struct tacho_ctf_writer *w, uint32_t stream_id,
		       struct tacho_diag *d)
{
	struct class *k = w->class[stream_id];
	char name[32];
	int err = 0;

	if (k->written == k->text.len)
		return 0;
	(void)snprintf(name, sizeof(name), "types.%s",
		       tacho_ctf_stream_name(stream_id));
	if (k->fd < 0)
		k->fd = openat(w->extras, name, O_WRONLY | O_CREAT | O_APPEND |
			       O_CLOEXEC, 0644);
	if (k->fd < 0)
		err = -errno;
	else
		err = tacho_write_all(k->fd, k->text.data + k->written,
				k->text.len - k->written);
	if (err) {
		if (k->fd >= 0 && ftruncate(k->fd, (off_t)k->written))
			return cannot_write(w, name, -errno, d);
		return cannot_write(w, name, err, d);
	}
	k->written = k->text.len;
	return 0;
}

/* Everything that a reader needs for the packets to come. */
static int flush_types(struct tacho_ctf_writer *w, struct tacho_diag *d)
{
	int err = write_types(w, TACHO_STREAM_PROGRAM, d);

	if (!err)
		err = write_types(w, TACHO_STREAM_KERNEL, d);
	if (!err && w->stale)
		err = write_metadata(w, d);
	return err;
}

/* ---- life ---------------------------------------------------------------- */

/* 1, 0, or a negative errno. */
static int is_empty(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int empty = 1, err = -errno;
	struct dirent *e;

	if (!dir) {
		if (fd >= 0)
			close(fd);
		return err;
	}
	while ((e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			empty = 0;
	closedir(dir);
	return empty;
}

/* Makes and opens the directory and its subdirectory. */
static int make_dirs(const char *dir, int *dirfd, int *extras,
		     struct tacho_diag *d)
{
	bool made = !mkdir(dir, 0755);
	int err = 0, empty;

	*extras = -1;
	*dirfd = -1;
	if (!made && errno != EEXIST)
		return tacho_diag(d, -errno, 0, "cannot make directory '%s': %s",
				  dir, strerror(errno));
	*dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (*dirfd < 0)
		return tacho_diag(d, -errno, 0, "cannot open '%s': %s", dir,
				  strerror(errno));
	empty = made ? 1 : is_empty(*dirfd);
	if (empty < 0)
		err = tacho_diag(d, empty, 0, "cannot read directory '%s': %s", dir,
				 strerror(-empty));
	else if (!empty)
		err = tacho_diag(d, -EEXIST, 0, "'%s' exists and is not empty", dir);
	else if (mkdirat(*dirfd, TACHO_CTF_EXTRAS, 0755))
		err = tacho_diag(d, -errno, 0, "cannot make directory '%s/%s': %s",
				 dir, TACHO_CTF_EXTRAS, strerror(errno));
	if (!err)
		*extras = openat(*dirfd, TACHO_CTF_EXTRAS,
				 O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!err && *extras < 0)
		err = tacho_diag(d, -errno, 0, "cannot open '%s/%s': %s", dir,
				 TACHO_CTF_EXTRAS, strerror(errno));
	if (err) {
		close(*dirfd);
		*dirfd = -1;
	}
	return err;
}

static void close_files(struct tacho_ctf_writer *w)
{
	for (size_t i = 0; i < w->nr_outs; i++)
		if (w->out[i].fd >= 0)
			close(w->out[i].fd);
	for (int i = 0; i < 2; i++) {
		if (w->class[i] && w->class[i]->fd >= 0) {
			close(w->class[i]->fd);
			w->class[i]->fd = -1;
		}
	}
	if (w->extras >= 0)
		close(w->extras);
	if (w->dirfd >= 0)
		close(w->dirfd);
	w->extras = w->dirfd = -1;
}

static void writer_free(struct tacho_ctf_writer *w)
{
	close_files(w);
	for (int i = 0; i < 2; i++) {
		if (!w->class[i])
			continue;
		free(w->class[i]->canon);
		tacho_buf_release(&w->class[i]->text);
		free(w->class[i]);
	}
	tacho_buf_release(&w->env_tsdl);
	tacho_buf_release(&w->env_info);
	tacho_buf_release(&w->pairs);
	tacho_buf_release(&w->events);
	tacho_buf_release(&w->scratch);
	tacho_arena_release(&w->arena);
	free(w->out);
	free(w->session);
	free(w->dir);
	free(w);
}

static struct class *class_new(void)
{
	struct class *k = calloc(1, sizeof(*k));

	if (!k)
		return NULL;
	k->fd = -1;
	k->next_standin = IDS - 1;
	tacho_buf_init(&k->text, METADATA_MAX);
	k->canon = calloc(IDS, sizeof(*k->canon));
	if (!k->canon) {
		free(k);
		return NULL;
	}
	return k;
}

static struct tacho_ctf_writer *writer_alloc(const char *dir,
					     const struct tacho_ctf_info *info)
{
	struct tacho_ctf_writer *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->dirfd = w->extras = -1;
	tacho_buf_init(&w->env_tsdl, TACHO_CTF_INFO_MAX);
	tacho_buf_init(&w->env_info, TACHO_CTF_INFO_MAX);
	tacho_buf_init(&w->pairs, TACHO_CTF_INFO_MAX);
	tacho_buf_init(&w->events, METADATA_MAX);
	tacho_buf_init(&w->scratch, (size_t)1 << 30);
	tacho_arena_init(&w->arena, TYPES_ARENA_MAX);
	w->dir = strdup(dir);
	w->session = info->session ? strdup(info->session) : NULL;
	w->class[0] = class_new();
	w->class[1] = class_new();
	if (!w->dir || (info->session && !w->session) || !w->class[0] ||
	    !w->class[1]) {
		writer_free(w);
		return NULL;
	}
	memcpy(w->uuid, info->uuid, sizeof(w->uuid));
	(void)snprintf(w->clock_kind, sizeof(w->clock_kind), "%s",
		       info->clock ? info->clock : "mono");
	w->clock = (struct tacho_ctf_clock){ .kind = w->clock_kind,
		.freq = info->clock_freq ? info->clock_freq : TACHO_NS_PER_S,
		.ticks = info->ticks, .realtime = info->realtime };
	w->stale = true;
	return w;
}

static int make_uuid(uint8_t uuid[16])
{
	static const uint8_t none[16];

	if (memcmp(uuid, none, 16))
		return 0;
	if (getrandom(uuid, 16, 0) != 16)
		return -EIO;
	uuid[6] = (uint8_t)((uuid[6] & 0x0f) | 0x40);
	uuid[8] = (uint8_t)((uuid[8] & 0x3f) | 0x80);
	return 0;
}

static int first_env(struct tacho_ctf_writer *w, struct tacho_diag *d)
{
	struct utsname u;
	const char *slash = strrchr(w->dir, '/');
	const char *pairs[][2] = {
		{ "hostname", u.nodename }, { "domain", "tacho" },
		{ "sysname", u.sysname }, { "release", u.release },
		{ "version", u.version }, { "machine", u.machine },
		{ "tracer_name", "tacho" }, { "tracer_version", TACHO_VERSION },
		{ "trace_name", slash ? slash + 1 : w->dir },
	};

	if (uname(&u))
		return tacho_diag(d, -errno, 0, "cannot name this machine: %s",
				  strerror(errno));
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(pairs); i++) {
		int err = tacho_ctf_writer_env(w, pairs[i][0], pairs[i][1], d);

		if (err)
			return err;
	}
	return 0;
}

int tacho_ctf_writer_new(struct tacho_ctf_writer **writer, const char *dir,
			 const struct tacho_ctf_info *info,
			 struct tacho_diag *d)
{
	struct tacho_ctf_writer *w = writer_alloc(dir, info);
	int err;

	*writer = NULL;
	if (!w)
		return tacho_no_memory(d);
	err = make_uuid(w->uuid);
	if (err)
		tacho_diag(d, err, 0, "cannot make a UUID: %s", strerror(-err));
	if (!err)
		err = make_dirs(dir, &w->dirfd, &w->extras, d);
	if (!err)
		err = first_env(w, d);
	if (!err)
		err = write_info(w, "open", d);
	if (!err)
		err = write_metadata(w, d);
	if (err) {
		writer_free(w);
		return err;
	}
	*writer = w;
	return 0;
}

int tacho_ctf_writer_close(struct tacho_ctf_writer *w, struct tacho_diag *d)
{
	int err;

	if (!w)
		return 0;
	err = flush_types(w, d);
	if (!err)
		err = write_info(w, "closed", d);
	writer_free(w);
	return err;
}

/* ---- facts --------------------------------------------------------------- */

static bool is_identifier(const char *s)
{
	if (!*s || (*s >= '0' && *s <= '9'))
		return false;
	for (; *s; s++) {
		int c = *s | 0x20;

		if (!(c >= 'a' && c <= 'z') && !(*s >= '0' && *s <= '9') &&
		    *s != '_')
			return false;
	}
	return true;
}

int tacho_ctf_writer_env(struct tacho_ctf_writer *w, const char *name,
			 const char *value, struct tacho_diag *d)
{
	int err;

	if (!is_identifier(name))
		return tacho_diag(d, -EINVAL, 0, "'%s' is no name", name);
	tacho_tsdl_env(&w->env_tsdl, name, value);
	tacho_buf_printf(&w->env_info, "env.%s: ", name);
	for (; *value; value++)
		tacho_buf_putc(&w->env_info, *value == '\n' ? ' ' : *value);
	tacho_buf_putc(&w->env_info, '\n');
	w->stale = true;
	err = tacho_buf_error(&w->env_tsdl);
	if (!err)
		err = tacho_buf_error(&w->env_info);
	if (err)
		return tacho_diag(d, err, 0, "the environment is too long");
	return 0;
}

int tacho_ctf_writer_pair(struct tacho_ctf_writer *w, uint64_t ticks,
			  uint64_t realtime, struct tacho_diag *d)
{
	tacho_buf_printf(&w->pairs, "pair: %" PRIu64 " %" PRIu64 "\n", ticks,
			 realtime);
	/* a long recording may fill the room: the pairs so far are enough */
	return write_info(w, "open", d);
}

int tacho_ctf_writer_text(struct tacho_ctf_writer *w, const char *name,
			  const char *text, size_t len, struct tacho_diag *d)
{
	static const char *const names[] = { "kallsyms", "cmdlines", "syscalls",
					     "printk_formats", "objects",
					     "lkst_etypes" };
	struct iovec part = { .iov_len = len };
	int err;

	/* iovec is not const; the text is only read */
	memcpy(&part.iov_base, &text, sizeof(text));
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(names); i++) {
		if (strcmp(names[i], name))
			continue;
		err = replace_file(w->extras, name, &part, 1);
		return err ? cannot_write(w, name, err, d) : 0;
	}
	return tacho_diag(d, -EINVAL, 0, "there is no table '%s'", name);
}

uint64_t tacho_ctf_writer_lost(const struct tacho_ctf_writer *w)
{
	return w->lost;
}

uint64_t tacho_ctf_writer_bytes(const struct tacho_ctf_writer *w)
{
	return w->bytes;
}

/* Carries a table over to the next directory: a link costs nothing. */
static void carry_text(int from, int to, const char *name)
{
	struct tacho_buf b;
	struct iovec part;

	if (!linkat(from, name, to, name, 0) || errno == ENOENT)
		return;
	tacho_buf_init(&b, (size_t)64 << 20);
	if (!tacho_buf_read_fileat(&b, from, name)) {
		part = (struct iovec){ b.data, b.len };
		(void)replace_file(to, name, &part, 1);
	}
	tacho_buf_release(&b);
}

int tacho_ctf_writer_rotate(struct tacho_ctf_writer *w, const char *dir,
			    struct tacho_diag *d)
{
	int dirfd, extras, err;
	char *name = strdup(dir);

	if (!name)
		return tacho_no_memory(d);
	err = flush_types(w, d);
	if (!err)
		err = make_dirs(dir, &dirfd, &extras, d);
	if (err) {
		free(name);
		return err;
	}
	/* recording continues even if the old trace cannot be marked as closed */
	(void)write_info(w, "closed", NULL);
	carry_text(w->extras, extras, "kallsyms");
	carry_text(w->extras, extras, "cmdlines");
	carry_text(w->extras, extras, "syscalls");
	carry_text(w->extras, extras, "printk_formats");
	carry_text(w->extras, extras, "objects");
	close_files(w);
	free(w->dir);
	w->dir = name;
	w->dirfd = dirfd;
	w->extras = extras;
	w->bytes = 0;
	w->stale = true;
	for (size_t i = 0; i < w->nr_outs; i++) {
		w->out[i].fd = -1;
		w->out[i].size = 0;
		/* each trace counts its own loss */
		w->out[i].reported_before = w->out[i].told;
	}
	for (int i = 0; i < 2; i++)
		w->class[i]->written = 0;
	err = write_info(w, "open", d);
	return err ? err : flush_types(w, d);
}

/* ---- types --------------------------------------------------------------- */

/* Takes back the tail of both texts when one of them did not fit. */
static int texts_check(struct tacho_ctf_writer *w, struct class *k,
		       size_t text_len, size_t events_len)
{
	int err = tacho_buf_error(&k->text);

	if (!err)
		err = tacho_buf_error(&w->events);
	if (err) {
		k->text.err = w->events.err = 0;
		k->text.len = text_len;
		w->events.len = events_len;
	}
	return err;
}

int tacho_ctf_writer_type(struct tacho_ctf_writer *w, uint32_t stream_id,
			  uint32_t id, const char *system, const char *name,
			  const char *format, size_t len, struct tacho_diag *d)
{
	struct class *k;
	const struct tacho_type *type;
	const struct tacho_canon *canon;
	size_t text_len, events_len;
	int err;

	if (stream_id > TACHO_STREAM_KERNEL || id >= IDS ||
	    len > TACHO_CTF_FORMAT_MAX || strpbrk(system, ": \n") ||
	    strpbrk(name, " \n"))
		return tacho_diag(d, -EINVAL, 0, "'%s:%s' cannot be written",
				  system, name);
	k = w->class[stream_id];
	if (k->canon[id] && k->canon[id]->type->id != id)
		return tacho_diag(d, -ENOSPC, 0, "type id %u is taken", id);
	if (k->canon[id])
		return 0;
	type = tacho_type_parse(&w->arena, system, name, id, format, len, d);
	if (!type)
		return d && d->err ? d->err : -EINVAL;
	canon = tacho_canon_new(&w->arena, type);
	if (!canon)
		return tacho_no_memory(d);
	text_len = k->text.len;
	events_len = w->events.len;
	tacho_buf_printf(&k->text, "%u %s:%s %zu\n", id, system, name, len);
	tacho_buf_put(&k->text, format, len);
	if (canon->kind != TACHO_CANON_NEVER)
		tacho_tsdl_event(&w->events, stream_id, id, type, 0);
	err = texts_check(w, k, text_len, events_len);
	if (err)
		return tacho_diag(d, err, 0, "too many event types");
	k->canon[id] = canon;
	w->stale = true;
	return 0;
}

/*
 * The id that stands in for a type at one size, made when it is first needed;
 * 0 when there are too many.
 */
static uint32_t standin(struct tacho_ctf_writer *w, uint32_t stream_id,
			const struct tacho_canon *canon, uint32_t size)
{
	struct class *k = w->class[stream_id];
	const struct tacho_type *type = canon->type;
	uint64_t key = (uint64_t)type->id << 16 | size;
	uint32_t i = (uint32_t)tacho_hash(&key, sizeof(key), 0);
	size_t text_len = k->text.len, events_len = w->events.len;
	uint32_t id;

	for (;; i++) {
		uint64_t entry = k->standin[i % STANDIN_SLOTS];

		if (!entry)
			break;
		if ((entry & 0xffffffff) == key)
			return (uint32_t)(entry >> 32);
	}
	while (k->next_standin && k->canon[k->next_standin])
		k->next_standin--;
	id = k->next_standin;
	if (!id || k->nr_standins == STANDINS_MAX)
		return 0;
	tacho_buf_printf(&k->text, "%u %s:%s =%u\n", id, type->system,
			 type->name, type->id);
	tacho_tsdl_event(&w->events, stream_id, id, type, size - 8);
	if (texts_check(w, k, text_len, events_len))
		return 0;
	k->canon[id] = canon;
	k->standin[i % STANDIN_SLOTS] = (uint64_t)id << 32 | key;
	k->nr_standins++;
	w->stale = true;
	return id;
}

/* ---- packets ------------------------------------------------------------- */

/* What a walk over the records of a packet found. */
struct walk {
	struct tacho_ctf_writer *w;
	uint32_t stream_id;
	const unsigned char *from;	/* the caller's records */
	bool copied;		/* scratch holds the records, not `from` */
	size_t len;		/* bytes of good records */
	uint32_t pad;		/* bytes after the last record's last field */
	uint32_t events;
	uint64_t dropped;
	uint64_t first, last;	/* times */
};

/* Goes over from taking records as they are to copying them. */
static void walk_copy(struct walk *k)
{
	if (k->copied)
		return;
	tacho_buf_reset(&k->w->scratch);
	tacho_buf_put(&k->w->scratch, k->from, k->len);
	k->copied = true;
}

static void walk_count(struct walk *k, uint64_t time, uint32_t raw_end)
{
	if (!k->events++)
		k->first = time;
	k->last = time;
	k->pad = TACHO_ALIGN_UP(raw_end, 8u) - raw_end;
}

/* A record that is not canonical: rewritten, or under a stand-in's id. */
static bool walk_rewrite(struct walk *k, const struct tacho_canon *canon,
			 const unsigned char *rec, uint64_t time)
{
	struct tacho_buf *out = &k->w->scratch;
	uint64_t word = tacho_load_u64(rec);
	uint32_t size = tacho_record_size(word), id, end;

	walk_copy(k);
	end = tacho_canon_rewrite(canon, word, rec + 8, out);
	if (!end) {
		id = standin(k->w, k->stream_id, canon, size);
		if (!id)
			return false;
		tacho_buf_put(out, rec, size);
		if (!tacho_buf_error(out))
			tacho_put_u16(out->data + out->len - size + 8,
				      (uint16_t)id);
		end = size - 8;
	}
	k->len = out->len;
	walk_count(k, time, end);
	return true;
}

static int walk_records(struct walk *k, size_t len, uint64_t time)
{
	const struct tacho_canon **table = k->w->class[k->stream_id]->canon;
	size_t at = 0;

	while (len - at >= TACHO_RECORD_HEAD) {
		const unsigned char *rec = k->from + at;
		uint64_t word = tacho_load_u64(rec);
		uint32_t size = tacho_record_size(word), end = 0;
		const struct tacho_canon *canon = table[tacho_load_u16(rec + 8)];

		if (size < TACHO_RECORD_HEAD || size % 8 || size > len - at)
			break;
		at += size;
		time = tacho_record_time(word, time);
		/* a stand-in's id in the input would be taken for its base */
		if (canon && canon->type->id == tacho_load_u16(rec + 8))
			end = tacho_canon_end(canon, rec + 8, size);
		else
			canon = NULL;
		if (tacho_likely(end)) {
			if (k->copied)
				tacho_buf_put(&k->w->scratch, rec, size);
			k->len += size;
			walk_count(k, time, end);
		} else if (!canon || !walk_rewrite(k, canon, rec, time)) {
			walk_copy(k);
			k->dropped++;
		}
	}
	/* the rest is not a record; the number of lost records is unknown */
	if (at < len)
		k->dropped++;
	return k->copied ? tacho_buf_error(&k->w->scratch) : 0;
}

static struct out *find_out(struct tacho_ctf_writer *w,
			    const struct tacho_packet *p)
{
	struct out *o;

	for (size_t i = 0; i < w->nr_outs; i++)
		if (w->out[i].instance == p->stream_instance_id &&
		    w->out[i].stream_id == p->stream_id)
			return &w->out[i];
	if (!(w->nr_outs & (w->nr_outs - 1))) {
		o = reallocarray(w->out, w->nr_outs ? 2 * w->nr_outs : 1,
				 sizeof(*o));
		if (!o)
			return NULL;
		w->out = o;
	}
	o = &w->out[w->nr_outs++];
	*o = (struct out){ .stream_id = p->stream_id, .fd = -1,
			   .instance = p->stream_instance_id };
	(void)snprintf(o->name, sizeof(o->name), "%s_%" PRIu64,
		       tacho_ctf_stream_name(p->stream_id), o->instance);
	return o;
}

static int open_out(struct tacho_ctf_writer *w, struct out *o)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC;

	if (o->fd >= 0)
		return 0;
	o->fd = openat(w->dirfd, o->name, flags, 0644);
	if (o->fd < 0 && (errno == EMFILE || errno == ENFILE)) {
		/* many lanes, few descriptors: the others open again */
		for (size_t i = 0; i < w->nr_outs; i++) {
			if (w->out[i].fd >= 0)
				close(w->out[i].fd);
			w->out[i].fd = -1;
		}
		o->fd = openat(w->dirfd, o->name, flags, 0644);
	}
	return o->fd < 0 ? -errno : 0;
}

/* Header and records in one call; a short write is gone on with. */
static int write_packet(int fd, const struct tacho_packet *p,
			const void *records, size_t len)
{
	struct iovec part[2] = {
		{ .iov_len = sizeof(*p) }, { .iov_len = len },
	};
	struct iovec *v = part;
	int nr = len ? 2 : 1;

	memcpy(&part[0].iov_base, &p, sizeof(p));
	memcpy(&part[1].iov_base, &records, sizeof(records));
	while (nr) {
		ssize_t n = writev(fd, v, nr);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EIO;
		for (; nr && (size_t)n >= v->iov_len; v++, nr--)
			n -= (ssize_t)v->iov_len;
		if (nr) {
			v->iov_base = (char *)v->iov_base + n;
			v->iov_len -= (size_t)n;
		}
	}
	return 0;
}

static struct tacho_packet finish_header(const struct tacho_ctf_writer *w,
					 const struct out *o,
					 const struct tacho_packet *given,
					 const struct walk *k)
{
	struct tacho_packet p = *given;
	uint64_t bytes = sizeof(p) + k->len;

	p.magic = TACHO_PACKET_MAGIC;
	memcpy(p.uuid, w->uuid, sizeof(p.uuid));
	p.events = k->events;
	p.content_size = (bytes - k->pad) * 8;
	p.packet_size = bytes * 8;
	p.events_discarded += o->dropped - o->reported_before;
	/*
	 * CTF readers insist that a stream's time never goes back: a packet
	 * begins where the one before it ended, if its records allow.
	 */
	if (p.timestamp_begin < o->end)
		p.timestamp_begin = k->events && k->first < o->end ? k->first :
								     o->end;
	if (k->events && p.timestamp_end < k->last)
		p.timestamp_end = k->last;
	if (p.timestamp_end < p.timestamp_begin)
		p.timestamp_end = p.timestamp_begin;
	return p;
}

int tacho_ctf_writer_packet(struct tacho_ctf_writer *w,
			    const struct tacho_packet *packet,
			    const void *records, size_t len,
			    struct tacho_diag *d)
{
	struct walk k = { .w = w, .stream_id = packet->stream_id,
			  .from = records };
	struct tacho_packet p;
	struct out *o;
	uint64_t handed;
	int err;

	if (packet->stream_id > TACHO_STREAM_KERNEL)
		return tacho_diag(d, -EINVAL, 0, "there is no stream %u",
				  packet->stream_id);
	o = find_out(w, packet);
	if (!o)
		return tacho_no_memory(d);
	err = walk_records(&k, len, packet->timestamp_begin);
	handed = k.events + k.dropped;
	w->lost += k.dropped;
	o->dropped += k.dropped;
	p = finish_header(w, o, packet, &k);
	if (!err)
		err = flush_types(w, NULL);
	if (!err)
		err = open_out(w, o);
	if (!err) {
		err = write_packet(o->fd, &p, k.copied ? w->scratch.data :
				   records, k.len);
		if (err && ftruncate(o->fd, (off_t)o->size))
			err = -errno;
	}
	if (err) {
		w->lost += k.events;
		o->dropped += k.events;
		return tacho_diag(d, err, 0,
			"cannot write '%s/%s': %s; %" PRIu64 " events are not in the trace",
			w->dir, o->name, strerror(-err), handed);
	}
	o->size += p.packet_size / 8;
	o->end = p.timestamp_end;
	o->told = p.events_discarded + o->reported_before;
	w->bytes += p.packet_size / 8;
	return 0;
}
