// SPDX-License-Identifier: MIT
#include "cli/out.h"

#include <errno.h>
#include <string.h>

#include "base/write.h"
#include "cli/cli.h"
#include "cli/stdout.h"

/* A line may be long (64 KiB of data, each byte escaped), but not longer. */
#define OUT_MAX		(CLI_OUT_PIECE + ((size_t)4 << 20))

int cli_out_end(int ret)
{
	const char *why = cli_stdout_end();

	return why ? cli_fail("cannot write to stdout: %s", why) : ret;
}

void cli_out_init(struct cli_out *o, int fd, const char *name)
{
	*o = (struct cli_out){ .fd = fd, .name = name };
	tacho_buf_init(&o->buf, OUT_MAX);
}

void cli_out_release(struct cli_out *o)
{
	tacho_buf_release(&o->buf);
}

/* err: what failed before; 0: nothing. */
static int write_text(struct cli_out *o, const char *text, size_t len, int err)
{
	int write_err = o->closed ? 0 : tacho_write_all(o->fd, text, len);

	if (write_err == -EPIPE)
		o->closed = true;
	else if (write_err)
		err = write_err;
	return err ? cli_fail("cannot write to %s: %s", o->name, strerror(-err))
		   : CLI_OK;
}

int cli_out_flush(struct cli_out *o)
{
	int ret = write_text(o, o->buf.data, o->buf.len, tacho_buf_error(&o->buf));

	tacho_buf_reset(&o->buf);
	return ret;
}
