// SPDX-License-Identifier: MIT
/* Whose an index is. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "index/root.h"

#define PIECE		4096u		/* of each end of a file */
#define FILES_MAX	65536u

int index_hash_fd(int fd, uint64_t size, uint32_t *hash)
{
	unsigned char bytes[PIECE];
	uint32_t len = size < PIECE ? (uint32_t)size : PIECE;

	*hash = 0;
	for (unsigned int end = 0; end < 2; end++) {
		uint64_t at = end ? size - len : 0;

		for (uint32_t got = 0; got < len;) {
			ssize_t n = pread(fd, bytes + got, len - got, (off_t)(at + got));

			if (n < 0 && errno == EINTR)
				continue;
			if (n <= 0)
				return n < 0 ? -errno : -ENODATA;
			got += (uint32_t)n;
		}
		*hash = tacho_crc32c(*hash, bytes, len);
	}
	return 0;
}

void index_identity_release(struct index_identity *identity)
{
	for (uint32_t i = 0; identity->file && i < identity->nr_files; i++)
		free((char *)(uintptr_t)identity->file[i].name);
	free((void *)(uintptr_t)identity->file);
	*identity = (struct index_identity){ 0 };
}

int index_identity_copy(struct index_identity *to, const struct index_identity *from)
{
	struct index_file *file = calloc(from->nr_files + 1u, sizeof(*file));

	*to = (struct index_identity){ .file = file, .rules = from->rules };
	if (!file)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->nr_files; i++) {
		file[i] = from->file[i];
		file[i].name = strdup(from->file[i].name);
		to->nr_files++;
		if (!file[i].name) {
			index_identity_release(to);
			return -ENOMEM;
		}
	}
	return 0;
}

static void put(struct tacho_buf *out, uint64_t v)
{
	unsigned char bytes[INDEX_VARINT];

	tacho_buf_put(out, bytes, (size_t)(index_put(bytes, v) - bytes));
}

void index_identity_put(const struct index_identity *identity, struct tacho_buf *out)
{
	put(out, identity->rules);
	put(out, identity->nr_files);
	for (uint32_t i = 0; i < identity->nr_files; i++) {
		const struct index_file *f = &identity->file[i];

		put(out, f->size);
		put(out, f->hash);
		put(out, strlen(f->name));
		tacho_buf_puts(out, f->name);
	}
}

static int get_file(struct index_file *f, struct index_bytes *in)
{
	const unsigned char *name;
	uint64_t len;

	f->size = index_get(in);
	f->hash = index_get_u32(in);
	len = index_get(in);
	name = index_get_bytes(in, len);
	if (in->bad)
		return -EBADMSG;
	f->name = strndup((const char *)name, len);
	return f->name ? 0 : -ENOMEM;
}

int index_identity_get(struct index_identity *identity, struct index_bytes *in)
{
	struct index_file *file;
	uint32_t nr;
	int err;

	identity->rules = index_get_u32(in);
	nr = index_get_u32(in);
	if (in->bad || nr > FILES_MAX)
		return -EBADMSG;
	file = calloc(nr + 1u, sizeof(*file));
	if (!file)
		return -ENOMEM;
	identity->file = file;
	for (uint32_t i = 0; i < nr; i++) {
		err = get_file(&file[i], in);
		if (err)
			return err;
		identity->nr_files++;
	}
	return 0;
}

/* *at: where it probably is, then where it is. */
static const struct index_file *find(const struct index_identity *identity, const char *name,
				     uint32_t *at)
{
	if (*at < identity->nr_files && !strcmp(identity->file[*at].name, name))
		return &identity->file[*at];
	for (*at = 0; *at < identity->nr_files; ++*at)
		if (!strcmp(identity->file[*at].name, name))
			return &identity->file[*at];
	return NULL;
}

/* One file as it was, and as it is now. */
static int fits(const struct index_file *was, uint32_t at, const struct index_identity *now,
		bool *grown, struct tacho_diag *d)
{
	uint32_t hash;
	const struct index_file *is = find(now, was->name, &at);
	int err;

	if (!is)
		return tacho_diag(d, -ESTALE, 0, "it is of a trace that has a file %s", was->name);
	if (is->size < was->size)
		return tacho_diag(d, -ESTALE, 0, "the trace is shorter than the one it is of");
	hash = is->hash;
	if (is->size != was->size) {
		if (!now->hash_at)
			return tacho_diag(d, -ESTALE, 0, "the trace has another size");
		err = now->hash_at(now->arg, at, was->size, &hash);
		if (err)
			return tacho_diag(d, err, 0, "cannot read the trace: %s", strerror(-err));
		*grown = true;
	}
	if (hash != was->hash)
		return tacho_diag(d, -ESTALE, 0, "it is of another trace");
	return 0;
}

int index_identity_fits(const struct index_identity *was, const struct index_identity *now,
			bool *grown, struct tacho_diag *d)
{
	int err = 0;

	*grown = now->nr_files > was->nr_files;
	if (was->rules != now->rules)
		return tacho_diag(d, -ESTALE, 0, "it was made with other rules");
	for (uint32_t i = 0; i < was->nr_files && !err; i++)
		err = fits(&was->file[i], i, now, grown, d);
	return err;
}
