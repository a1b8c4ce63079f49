// SPDX-License-Identifier: MIT
#include "fmt/ctf/types.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"
#include "fmt/ctf/layout.h"

#define IDS		65536u
#define LINE_MAX_LEN	1024u
#define NAMES_MAX	((size_t)16 << 20)

static int make_room(struct tacho_ctf_types *t, uint32_t id)
{
	struct tacho_ctf_type_entry *e;
	uint32_t nr = t->nr ? t->nr : 64;

	if (id < t->nr)
		return 0;
	while (nr <= id)
		nr *= 2;
	e = reallocarray(t->entry, nr, sizeof(*e));
	if (!e)
		return -ENOMEM;
	memset(e + t->nr, 0, (nr - t->nr) * sizeof(*e));
	t->entry = e;
	t->nr = nr;
	return 0;
}

/*
 * One head line at [line, end), its text at offset `text` of the file.  Returns
 * the length of the text, or -EINVAL.
 */
static int64_t index_line(struct tacho_ctf_types *t, const char *line,
			  const char *end, uint64_t text)
{
	struct tacho_ctf_type_entry e = { .text = text, .known = true };
	const char *name, *name_end;
	uint64_t id, v;
	bool standin;

	if (tacho_scan_digits(&line, end, 10, IDS - 1, &id) || line == end || *line != ' ')
		return -EINVAL;
	name = line + 1;
	name_end = memchr(name, ' ', (size_t)(end - name));
	if (!name_end || !memchr(name, ':', (size_t)(name_end - name)))
		return -EINVAL;
	line = name_end + 1;
	standin = line < end && *line == '=';
	if (standin)
		line++;
	if (tacho_scan_digits(&line, end, 10, standin ? IDS - 1 : TACHO_CTF_FORMAT_MAX, &v) ||
	    line != end)
		return -EINVAL;
	e.base = standin ? (uint32_t)v : (uint32_t)id;
	e.len = standin ? 0 : (uint32_t)v;
	e.name = (uint32_t)t->names.len;
	tacho_buf_put(&t->names, name, (size_t)(name_end - name));
	tacho_buf_putc(&t->names, '\0');
	if (make_room(t, (uint32_t)id) || tacho_buf_error(&t->names))
		return -ENOMEM;
	if (!t->entry[id].known)
		t->entry[id] = e;
	return e.len;
}

static int index_file(struct tacho_ctf_types *t)
{
	char buf[LINE_MAX_LEN];
	off_t size = lseek(t->fd, 0, SEEK_END);
	uint64_t at = 0;

	if (size < 0)
		return -errno;
	while (at < (uint64_t)size) {
		ssize_t n = pread(t->fd, buf, sizeof(buf), (off_t)at);
		const char *nl = n > 0 ? memchr(buf, '\n', (size_t)n) : NULL;
		uint64_t text;
		int64_t len;

		if (n < 0)
			return -errno;
		if (!nl)
			return 0;
		text = at + (uint64_t)(nl + 1 - buf);
		len = index_line(t, buf, nl, text);
		if (len == -ENOMEM)
			return -ENOMEM;
		if (len < 0)
			return 0;
		at = text + (uint64_t)len;
	}
	return 0;
}

int tacho_ctf_types_open_take(struct tacho_ctf_types *t, int fd,
			      uint32_t stream_id, struct tacho_arena *arena)
{
	*t = (struct tacho_ctf_types){ .fd = fd, .stream_id = stream_id,
				       .arena = arena };
	tacho_buf_init(&t->names, NAMES_MAX);
	return fd < 0 ? 0 : index_file(t);
}

int tacho_ctf_types_open(struct tacho_ctf_types *t, int dirfd,
			 uint32_t stream_id, struct tacho_arena *arena)
{
	char name[32];
	int fd;

	(void)snprintf(name, sizeof(name), "types.%s",
		       tacho_ctf_stream_name(stream_id));
	fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0 && errno != ENOENT) {
		int err = -errno;

		(void)tacho_ctf_types_open_take(t, -1, stream_id, arena);
		return err;
	}
	return tacho_ctf_types_open_take(t, fd, stream_id, arena);
}

void tacho_ctf_types_release(struct tacho_ctf_types *t)
{
	if (t->fd >= 0)
		close(t->fd);
	free(t->entry);
	tacho_buf_release(&t->names);
}

/* Parses the text of an entry. */
static const struct tacho_type *parse(struct tacho_ctf_types *t,
				      struct tacho_source *source, uint32_t id)
{
	const struct tacho_ctf_type_entry *e = &t->entry[id];
	const char *full = t->names.data + e->name, *colon = strchr(full, ':');
	const struct tacho_type *type = NULL;
	struct tacho_diag d = { 0 };
	char *text = malloc((size_t)e->len + 1);
	char system[LINE_MAX_LEN];
	ssize_t n;

	if (!text)
		tacho_source_failed(source, -ENOMEM, full);
	if (!text || !colon)
		goto out;
	(void)snprintf(system, sizeof(system), "%.*s", (int)(colon - full), full);
	n = pread(t->fd, text, e->len, (off_t)e->text);
	if (n < 0)
		tacho_source_failed(source, -errno, "the type of an event");
	if (n == (ssize_t)e->len)
		type = tacho_type_parse(t->arena, system, colon + 1, id, text,
					e->len, &d);
out:
	free(text);
	return type;
}

const struct tacho_type *tacho_ctf_types_get(struct tacho_ctf_types *t,
					     struct tacho_source *source,
					     uint32_t id)
{
	const struct tacho_type *type;
	uint32_t base;

	if (id >= t->nr || !t->entry[id].known || t->entry[id].tried)
		return NULL;
	t->entry[id].tried = true;
	base = t->entry[id].base;
	if (base == id) {
		type = parse(t, source, id);
	} else {
		/* a stand-in for a stand-in would be a loop: refused */
		if (base >= t->nr || t->entry[base].base != base)
			return NULL;
		type = base < source->table[t->stream_id].nr ?
		       source->table[t->stream_id].type[base] : NULL;
		if (!type)
			type = tacho_ctf_types_get(t, source, base);
	}
	if (type && tacho_source_set_type(source, t->stream_id, id, type))
		return NULL;
	return type;
}
