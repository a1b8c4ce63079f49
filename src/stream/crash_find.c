// SPDX-License-Identifier: MIT
#include "stream/crash_find.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "ring/ring.h"

#define PAGE		4096u
#define PLACES_MAX	(1u << 20)
#define SESSIONS_MAX	1024u
/* Bounds the work for a corrupt list of files: this many steps, and one for each page. */
#define LOOKS_MIN	65536u
#define CONTROL_LOOKS	((uint32_t)(sizeof(struct tacho_control) / PAGE))

/* Candidate places, by address. */
struct places {
	uint64_t *addr;
	uint32_t nr;
};

struct find {
	struct tacho_crash_found *f;
	const struct tacho_image *m;
	struct places types;
	uint64_t looks;		/* remaining steps */
};

/* Room for one more of an array that grows by doubling, or NULL. */
static void *grow(void *array, uint32_t nr, size_t size)
{
	if (nr >= PLACES_MAX)
		return NULL;
	return nr & (nr - 1) ? array : reallocarray(array, nr ? 2 * (size_t)nr : 1, size);
}

static int add_place(struct places *p, uint64_t addr)
{
	uint64_t *a = grow(p->addr, p->nr, sizeof(*a));

	if (!a)
		return -ENOMEM;
	p->addr = a;
	a[p->nr++] = addr;
	return 0;
}

/* ---- sessions ---- */

/* 1: h is the head of a file of this kind; 0: it is not; -EPROTO: of another version. */
static int head_is(const void *h, uint64_t magic)
{
	struct tacho_file_head head;

	memcpy(&head, h, sizeof(head));
	if (head.magic != magic || head.ready != 1)
		return 0;
	return head.signature == tacho_abi_signature() ? 1 : -EPROTO;
}

static bool geometry_right(const struct tacho_control *c)
{
	uint64_t lanes = (uint64_t)c->nr_cpus + c->nr_fallback + c->nr_late;

	return lanes && lanes <= TACHO_LANES_MAX && c->sub_shift >= TACHO_SUB_SHIFT_MIN &&
	       c->sub_shift <= TACHO_SUB_SHIFT_MAX && memchr(c->name, '\0', sizeof(c->name));
}

static bool have_uuid(const struct tacho_crash_found *f, const uint8_t *uuid)
{
	for (uint32_t i = 0; i < f->nr; i++)
		if (!memcmp(f->session[i].ctl->uuid, uuid, 16))
			return true;
	return false;
}

/* Adds the session with the control block at addr; dir: of its file, or "". */
static int add_session(struct find *s, uint64_t addr, const char *dir, size_t dir_len)
{
	struct tacho_crash_found *f = s->f;
	struct tacho_control *ctl = malloc(sizeof(*ctl));
	ssize_t n = ctl ? tacho_image_read(s->m, addr, ctl, sizeof(*ctl)) : -ENOMEM;
	struct tacho_crash_session *p;
	int is = n == sizeof(*ctl) ? head_is(ctl, TACHO_MAGIC_CONTROL) : 0;

	f->others += is == -EPROTO;
	if (n < 0 || is != 1 || !geometry_right(ctl) || have_uuid(f, ctl->uuid)) {
		free(ctl);
		return n < 0 ? (int)n : 0;
	}
	p = grow(f->session, f->nr, sizeof(*p));
	if (!p) {
		free(ctl);
		return -ENOMEM;
	}
	f->session = p;
	p += f->nr++;
	*p = (struct tacho_crash_session){ .control = addr, .types = TACHO_CRASH_NONE,
					    .ctl = ctl };
	if (dir_len < sizeof(p->dir))
		memcpy(p->dir, dir, dir_len);
	return 0;
}

/* ---- packets ---- */

/* C3: whether a packet header is valid for this session. */
static bool packet_right(const struct tacho_control *c, const struct tacho_packet *p)
{
	uint64_t bits = UINT64_C(8) << c->sub_shift;

	return p->magic == TACHO_PACKET_MAGIC && !memcmp(p->uuid, c->uuid, 16) &&
	       p->stream_id < 2 && p->stream_instance_id <
	       (uint64_t)c->nr_cpus + c->nr_fallback + c->nr_late &&
	       p->content_size <= bits && p->content_size % 8 == 0 &&
	       (!p->content_size || p->timestamp_end >= p->timestamp_begin);
}

static int add_packet(struct tacho_crash_session *s, uint64_t addr,
		      const struct tacho_packet *head, int32_t buffer)
{
	struct tacho_crash_packet *p = grow(s->packet, s->nr_packets, sizeof(*p));

	if (!p)
		return -ENOMEM;
	s->packet = p;
	p[s->nr_packets++] = (struct tacho_crash_packet){ addr, *head, buffer };
	return 0;
}

static int packet_order(const void *a, const void *b)
{
	const struct tacho_packet *x = &((const struct tacho_crash_packet *)a)->head;
	const struct tacho_packet *y = &((const struct tacho_crash_packet *)b)->head;

	if (x->stream_instance_id != y->stream_instance_id)
		return x->stream_instance_id < y->stream_instance_id ? -1 : 1;
	if (x->timestamp_begin != y->timestamp_begin)
		return x->timestamp_begin < y->timestamp_begin ? -1 : 1;
	if (x->packet_seq_num != y->packet_seq_num)
		return x->packet_seq_num < y->packet_seq_num ? -1 : 1;
	/* of two copies, keeps the later one: it has more records, or is closed */
	if (x->content_size != y->content_size)
		return x->content_size > y->content_size ? -1 : 1;
	return 0;
}

static bool same_packet(const struct tacho_crash_packet *a, const struct tacho_crash_packet *b)
{
	return a->head.stream_instance_id == b->head.stream_instance_id &&
	       a->head.timestamp_begin == b->head.timestamp_begin &&
	       a->head.packet_seq_num == b->head.packet_seq_num &&
	       (a->buffer == b->buffer || a->buffer < 0 || b->buffer < 0);
}

/* C4 */
static void arrange(struct tacho_crash_session *s)
{
	uint32_t n = 0;

	if (s->nr_packets)
		qsort(s->packet, s->nr_packets, sizeof(*s->packet), packet_order);
	for (uint32_t i = 0; i < s->nr_packets; i++)
		if (!n || !same_packet(&s->packet[n - 1], &s->packet[i]))
			s->packet[n++] = s->packet[i];
	s->nr_packets = n;
}

/* ---- C1: by mapped files ---- */

/* Splits a path into directory and name; strips the kernel's mark of a removed file. */
static const char *split(const char *path, size_t *dir_len, size_t *name_len)
{
	static const char gone[] = " (deleted)";
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t n = strlen(name), g = sizeof(gone) - 1;

	if (n > g && !strcmp(name + n - g, gone))
		n -= g;
	*dir_len = (size_t)(name - path);
	*name_len = n;
	return name;
}

static bool name_is(const char *name, size_t len, const char *want)
{
	return len == strlen(want) && !memcmp(name, want, len);
}

static int sessions_by_name(struct find *s)
{
	int err = 0;

	for (uint32_t i = 0; i < s->m->nr_maps && !err && s->looks; i++) {
		const struct tacho_image_map *map = &s->m->map[i];
		size_t dir_len, len;
		const char *name = split(map->path, &dir_len, &len);

		if (map->offset || !name_is(name, len, "control"))
			continue;
		s->looks -= s->looks < CONTROL_LOOKS ? s->looks : CONTROL_LOOKS;
		if (s->f->nr < SESSIONS_MAX)
			err = add_session(s, map->addr, map->path, dir_len);
	}
	return err;
}

/* Adds the packets of one buffer's file, as far as it was mapped and is in the image. */
static int packets_of_map(struct find *s, struct tacho_crash_session *session,
			  const struct tacho_image_map *map, int32_t buffer)
{
	uint64_t step = UINT64_C(1) << session->ctl->sub_shift;
	int err = 0;

	for (uint64_t at = (step - map->offset % step) % step; at < map->len && !err && s->looks;
	     at += step, s->looks--) {
		struct tacho_packet head;
		ssize_t n = tacho_image_read(s->m, map->addr + at, &head, sizeof(head));

		if (n < (ssize_t)sizeof(head))
			return n < 0 ? (int)n : 0;
		if (packet_right(session->ctl, &head))
			err = add_packet(session, map->addr + at, &head, buffer);
	}
	return err;
}

/* Whether a mapping is in the file: a program can exclude a listed mapping. */
static bool file_there(const struct tacho_image *m, uint64_t addr, uint64_t magic)
{
	struct tacho_file_head head;

	return tacho_image_read(m, addr, &head, sizeof(head)) == sizeof(head) &&
	       head_is(&head, magic) == 1;
}

static int files_of_session(struct find *s, struct tacho_crash_session *session)
{
	int err = 0;

	for (uint32_t i = 0; i < s->m->nr_maps && !err; i++) {
		const struct tacho_image_map *map = &s->m->map[i];
		size_t dir_len, len;
		const char *name = split(map->path, &dir_len, &len);
		unsigned int lane, id;

		if (dir_len != strlen(session->dir) || memcmp(map->path, session->dir, dir_len))
			continue;
		if (!map->offset && session->types == TACHO_CRASH_NONE &&
		    name_is(name, len, "types") &&
		    file_there(s->m, map->addr, TACHO_MAGIC_TYPES))
			session->types = map->addr;
		else if (sscanf(name, "buf.%u.%u", &lane, &id) == 2 && id < TACHO_BUFFERS_MAX)
			err = packets_of_map(s, session, map, (int32_t)id);
	}
	return err;
}

/* ---- C2: by scanning all pages ---- */

static int look_for_sessions(uint64_t addr, const unsigned char *page, void *arg)
{
	struct find *s = arg;
	uint64_t magic = tacho_load_u64(page);

	if (magic == TACHO_MAGIC_CONTROL)
		return add_session(s, addr, "", 0);
	if (magic == TACHO_MAGIC_TYPES && head_is(page, magic) == 1)
		return add_place(&s->types, addr);
	return 0;
}

static int look_for_packets(uint64_t addr, const unsigned char *page, void *arg)
{
	struct find *s = arg;
	struct tacho_packet head;
	int err = 0;

	if (tacho_load_u32(page) != TACHO_PACKET_MAGIC)
		return 0;
	memcpy(&head, page, sizeof(head));
	for (uint32_t i = 0; i < s->f->nr && !err; i++)
		if (packet_right(s->f->session[i].ctl, &head))
			err = add_packet(&s->f->session[i], addr, &head, -1);
	return err;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a < b ? b - a : a - b;
}

static uint64_t nearest(const struct places *p, uint64_t addr)
{
	uint64_t best = TACHO_CRASH_NONE;

	for (uint32_t i = 0; i < p->nr; i++)
		if (!i || distance(p->addr[i], addr) < distance(best, addr))
			best = p->addr[i];
	return best;
}

static int by_pages(struct find *s)
{
	int err = tacho_image_scan(s->m, sizeof(struct tacho_file_head), look_for_sessions, s);

	if (!err && s->f->nr)
		err = tacho_image_scan(s->m, sizeof(struct tacho_packet), look_for_packets, s);
	for (uint32_t i = 0; i < s->f->nr; i++)
		s->f->session[i].types = nearest(&s->types, s->f->session[i].control);
	return err;
}

/* ---- other files of the run-time directory ---- */

/* The length of "DIR/" in "DIR/sessions/NAME/". */
static size_t run_dir_len(const char *dir)
{
	size_t n = strlen(dir);

	for (int i = 0; i < 2 && n; i++)
		for (n--; n && dir[n - 1] != '/'; n--)
			;
	return n;
}

struct look {
	uint64_t magic, addr;
};

static int look_for_file(uint64_t addr, const unsigned char *page, void *arg)
{
	struct look *l = arg;

	if (head_is(page, l->magic) != 1)
		return 0;
	l->addr = addr;
	return 1;
}

bool tacho_crash_find_file(const struct tacho_image *m, const struct tacho_crash_session *session,
			   const char *name, uint64_t magic, uint64_t *addr, uint64_t *len)
{
	size_t want_len = run_dir_len(session->dir), dir_len, n;
	struct look l = { .magic = magic };

	for (uint32_t i = 0; want_len && i < m->nr_maps; i++) {
		const struct tacho_image_map *map = &m->map[i];
		const char *found = split(map->path, &dir_len, &n);

		if (map->offset || dir_len != want_len ||
		    memcmp(map->path, session->dir, dir_len) || !name_is(found, n, name) ||
		    !file_there(m, map->addr, magic))
			continue;
		*addr = map->addr;
		*len = map->len;
		return true;
	}
	if (want_len || tacho_image_scan(m, sizeof(struct tacho_file_head), look_for_file, &l) != 1)
		return false;
	*addr = l.addr;
	*len = UINT64_MAX;
	return true;
}

/* ---- all ---- */

int tacho_crash_find(struct tacho_crash_found *f, const struct tacho_image *m)
{
	struct find s = { .f = f, .m = m, .looks = LOOKS_MIN + m->size / PAGE * 4 };
	int err;

	*f = (struct tacho_crash_found){ 0 };
	err = sessions_by_name(&s);
	for (uint32_t i = 0; i < f->nr && !err; i++)
		err = files_of_session(&s, &f->session[i]);
	if (!err && !f->nr) {
		f->others = 0;
		err = by_pages(&s);
	}
	for (uint32_t i = 0; i < f->nr; i++)
		arrange(&f->session[i]);
	free(s.types.addr);
	if (err)
		tacho_crash_found_release(f);
	return err;
}

void tacho_crash_found_release(struct tacho_crash_found *f)
{
	for (uint32_t i = 0; i < f->nr; i++) {
		free(f->session[i].ctl);
		free(f->session[i].packet);
	}
	free(f->session);
	*f = (struct tacho_crash_found){ 0 };
}
