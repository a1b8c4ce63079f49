/* SPDX-License-Identifier: MIT */
/*
 * out.h - a lot of text to one file descriptor, written in large pieces.
 *
 * A reader that goes away (`| head`) is no failure: `closed` says that
 * nothing more is wanted.
 */
#ifndef TACHO_CLI_OUT_H
#define TACHO_CLI_OUT_H

#include <stdbool.h>

#include "base/buf.h"

/*
 * cli_out_end - the last step of a program (cli/stdout.h).
 *
 * Returns ret; or, where some of the text is lost, CLI_FAILED with a message.
 */
int cli_out_end(int ret);

struct cli_out {
	struct tacho_buf buf;	/* append here, then call cli_out_more() */
	int fd;
	const char *name;	/* for messages */
	bool closed;		/* the reader has seen enough */
};

#define CLI_OUT_PIECE	((size_t)256 << 10)

/* name is borrowed. */
void cli_out_init(struct cli_out *o, int fd, const char *name);

/* Writes all that is in the buffer.  CLI_OK, or CLI_FAILED with a message. */
int cli_out_flush(struct cli_out *o);

/* Frees the buffer; the descriptor stays open. */
void cli_out_release(struct cli_out *o);

/* To be called after each line: writes when there is enough. */
static inline int cli_out_more(struct cli_out *o)
{
	if (tacho_likely(o->buf.len < CLI_OUT_PIECE && !o->buf.err))
		return 0;
	return cli_out_flush(o);
}

#endif
