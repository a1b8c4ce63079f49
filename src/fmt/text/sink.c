// SPDX-License-Identifier: MIT
/* Lines of text, as 'tacho report' prints them, and JSON lines. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/write.h"
#include "fmt/sink.h"
#include "fmt/text/line.h"

/* So much text is written at once; a line may be long (64 KiB of data, each byte escaped). */
#define PIECE		((size_t)256 << 10)
#define LINE_MAX_BYTES	((size_t)4 << 20)

struct text_sink {
	struct tacho_sink sink;		/* first */
	struct tacho_line *line;
	struct tacho_line_config lines;
	struct tacho_buf text;
	int fd;
	bool is_file;		/* not stdout, a pipe or a device */
};

static struct text_sink *text(struct tacho_sink *sink)
{
	return (struct text_sink *)sink;
}

/* "-" is stdout. */
static int open_file(struct text_sink *o)
{
	const char *path = o->sink.config.path;
	bool named = strcmp(path, "-");
	int fd = named ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) :
		 fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	struct stat st;
	int err = 0;

	o->fd = fd;
	if (fd < 0 || fstat(fd, &st))
		err = tacho_diag(&o->sink.diag, -errno, 0, "cannot write '%s': %s", path,
				 strerror(errno));
	else
		o->is_file = named && S_ISREG(st.st_mode);
	if (o->is_file && st.st_size)
		err = tacho_diag(&o->sink.diag, -EEXIST, 0, "'%s' exists and is not empty; "
				 "remove it or choose another name", path);
	if (err && fd >= 0)
		close(fd);
	return err;
}

static int begin(struct tacho_sink *sink)
{
	struct text_sink *o = text(sink);
	struct tacho_line_config *config = &o->lines;
	int err;

	*config = (struct tacho_line_config){ .format = TACHO_LINE_FTRACE };
	if (sink->config.lines)
		*config = *sink->config.lines;
	if (sink->format->variant == TACHO_LINE_JSON)
		config->format = TACHO_LINE_JSON;
	err = tacho_line_check(config, sink->config.stream, &sink->diag);
	if (err)
		return err;
	o->line = tacho_line_new(sink->config.stream, config);
	if (!o->line)
		return tacho_sink_no_memory(sink);
	if (sink->config.first)
		tacho_line_zero(o->line, sink->config.first);
	tacho_buf_init(&o->text, PIECE + LINE_MAX_BYTES);
	err = open_file(o);
	if (err)
		tacho_line_free(o->line);
	return err;
}

/* err: what failed before; 0: nothing. */
static int write_text(struct text_sink *o, const char *data, size_t len, int err)
{
	int write_err = o->sink.closed ? 0 : tacho_write_all(o->fd, data, len);

	o->sink.closed |= write_err == -EPIPE;
	if (write_err && write_err != -EPIPE)
		err = write_err;
	return err ? tacho_diag(&o->sink.diag, err, 0, "cannot write to %s: %s",
				o->sink.config.path, strerror(-err)) : 0;
}

static int flush(struct text_sink *o)
{
	int err = write_text(o, o->text.data, o->text.len, tacho_buf_error(&o->text));

	tacho_buf_reset(&o->text);
	return err;
}

static struct tacho_line *line(struct tacho_sink *sink, struct tacho_line_config *config)
{
	*config = text(sink)->lines;
	return text(sink)->line;
}

static int text_of(struct tacho_sink *sink, const char *data, size_t len)
{
	struct text_sink *o = text(sink);
	int err = flush(o);

	sink->bytes += len;
	return err ? err : write_text(o, data, len, 0);
}

static int written(struct text_sink *o, size_t before)
{
	o->sink.bytes += o->text.len - before;
	if (tacho_likely(o->text.len < PIECE && !o->text.err))
		return 0;
	return flush(o);
}

static int lost(struct tacho_sink *sink, const struct tacho_record *r)
{
	struct text_sink *o = text(sink);
	size_t before = o->text.len;

	/* a line stands before another: what is lost at the end is the caller's remark */
	if (!r->type)
		return 0;
	tacho_line_lost(o->line, r, &o->text);
	return written(o, before);
}

static int record(struct tacho_sink *sink, const struct tacho_record *r)
{
	struct text_sink *o = text(sink);
	size_t before = o->text.len;

	tacho_line_put(o->line, r, &o->text);
	return written(o, before);
}

static int end(struct tacho_sink *sink, bool good)
{
	struct text_sink *o = text(sink);
	int err = good ? flush(o) : 0;

	if (close(o->fd) && !err)
		err = tacho_diag(&sink->diag, -errno, 0, "cannot write '%s': %s",
				 sink->config.path, strerror(errno));
	/* a file whose end is missing does not show it */
	if ((err || !good) && o->is_file)
		(void)unlink(sink->config.path);
	tacho_buf_release(&o->text);
	tacho_line_free(o->line);
	return err;
}

const struct tacho_sink_format tacho_sink_text = {
	.name = "text", .extensions = " .txt .text .log ", .variant = TACHO_LINE_FTRACE,
	.clock = TACHO_SINK_NO_CLOCK, .pipe = true, .size = sizeof(struct text_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
	.line = line, .text = text_of,
};

const struct tacho_sink_format tacho_sink_json = {
	.name = "json", .extensions = " .json .jsonl .ndjson ", .variant = TACHO_LINE_JSON,
	.clock = TACHO_SINK_NO_CLOCK, .pipe = true, .size = sizeof(struct text_sink),
	.begin = begin, .lost = lost, .record = record, .end = end,
	.line = line, .text = text_of,
};
