// SPDX-License-Identifier: MIT
/* Merges the tables of all of a stream's sources. */
#include <errno.h>
#include <string.h>

#include "session/objects.h"
#include "stream/stream.h"

int tacho_stream_tasks(const struct tacho_stream *s, struct tacho_facts *all)
{
	struct tacho_source *source;
	int err = 0;

	for (uint32_t i = 0; !err && (source = tacho_stream_source(s, i)); i++) {
		const struct tacho_facts *f = tacho_source_facts(source);

		for (size_t k = 0; k < f->nr_tasks && !err; k++)
			err = tacho_facts_add_task(all, f->task[k].pid,
						   f->task[k].tgid,
						   f->task[k].comm, 16);
	}
	/* a look-up sorts them and removes outdated entries */
	(void)tacho_facts_comm(all, 0, NULL);
	return err;
}

int tacho_source_objects(struct tacho_source *source, struct tacho_buf *out)
{
	tacho_buf_init(out, TACHO_OBJECTS_MAX + 4096);
	return source->ops->text ? source->ops->text(source, TACHO_OBJECTS, out) : -ENOENT;
}

int tacho_stream_objects(const struct tacho_stream *s, struct tacho_buf *out)
{
	struct tacho_source *source;
	int err;

	tacho_buf_init(out, 4 * TACHO_OBJECTS_MAX);
	for (uint32_t i = 0; (source = tacho_stream_source(s, i)); i++) {
		size_t before = out->len;

		if (source->ops->text && source->ops->text(source, TACHO_OBJECTS, out))
			out->len = before;	/* missing, or not known */
		tacho_buf_putc(out, '\n');
	}
	err = tacho_buf_error(out);
	if (err || !memmem(out->data, out->len, "\nprocess ", 9))
		tacho_buf_reset(out);
	return err == -ENOMEM ? err : 0;
}
