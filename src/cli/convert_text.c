// SPDX-License-Identifier: MIT
/* Lines of text, as 'tacho report' prints them, and JSON lines. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/convert.h"
#include "cli/out.h"

struct text_out {
	struct cli_convert *c;
	struct tacho_line *line;
	struct cli_out out;
	bool is_file;		/* not stdout, a pipe or a device */
};

/* "-" is stdout.  The descriptor, or -1 with a message. */
static int open_file(const char *path, bool *is_file)
{
	bool named = strcmp(path, "-");
	int fd = named ? open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666) :
		 fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	struct stat st;

	if (fd < 0 || fstat(fd, &st)) {
		cli_fail("cannot write '%s': %s", path, strerror(errno));
		return -1;
	}
	*is_file = named && S_ISREG(st.st_mode);
	if (!*is_file || !st.st_size)
		return fd;
	close(fd);
	cli_fail("'%s' exists and is not empty; remove it or choose another name",
		 path);
	return -1;
}

static int begin(struct cli_convert *c, void **writer)
{
	struct text_out *o;
	int fd, ret = cli_lines_check(&c->lines, c->trace.stream, false);

	if (ret != CLI_OK)
		return ret;
	o = calloc(1, sizeof(*o));
	if (o)
		o->line = tacho_line_new(c->trace.stream, &c->lines.config);
	if (!o || !o->line) {
		free(o);
		return cli_fail("out of memory");
	}
	if (c->filter.first)
		tacho_line_zero(o->line, c->filter.first);
	fd = open_file(c->out, &o->is_file);
	if (fd < 0) {
		tacho_line_free(o->line);
		free(o);
		return CLI_FAILED;
	}
	o->c = c;
	cli_out_init(&o->out, fd, c->out);
	*writer = o;
	return CLI_OK;
}

static int begin_json(struct cli_convert *c, void **writer)
{
	c->lines.config.format = TACHO_LINE_JSON;
	return begin(c, writer);
}

static int written(struct text_out *o, size_t before)
{
	o->c->bytes += o->out.buf.len - before;
	return cli_out_more(&o->out);
}

static int lost(void *writer, const struct tacho_record *r)
{
	struct text_out *o = writer;
	size_t before = o->out.buf.len;

	/* a line is behind another: what is lost at the end is a remark's business */
	if (!r->type)
		return CLI_OK;
	tacho_line_lost(o->line, r, &o->out.buf);
	return written(o, before);
}

static int record(void *writer, const struct tacho_record *r)
{
	struct text_out *o = writer;
	size_t before = o->out.buf.len;

	tacho_line_put(o->line, r, &o->out.buf);
	return written(o, before);
}

static int end(void *writer, bool good)
{
	struct text_out *o = writer;
	int ret = good ? cli_out_flush(&o->out) : CLI_FAILED;

	if (close(o->out.fd) && ret == CLI_OK)
		ret = cli_fail("cannot write '%s': %s", o->c->out, strerror(errno));
	/* a file whose end is missing does not tell so */
	if (ret != CLI_OK && o->is_file)
		(void)unlink(o->c->out);
	cli_out_release(&o->out);
	tacho_line_free(o->line);
	free(o);
	return ret;
}

const struct cli_format cli_format_text = {
	.name = "text", .extensions = " .txt .text .log ", .clock = CLI_CLOCK_NONE, .stream = true,
	.begin = begin, .lost = lost, .record = record, .end = end,
};

const struct cli_format cli_format_json = {
	.name = "json", .extensions = " .json .jsonl .ndjson ", .clock = CLI_CLOCK_NONE, .stream = true,
	.begin = begin_json, .lost = lost, .record = record, .end = end,
};
