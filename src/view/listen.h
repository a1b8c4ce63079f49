/* SPDX-License-Identifier: MIT */
/* listen.h - the socket of the server, and the names under which it may be asked for. */
#ifndef TACHO_VIEW_LISTEN_H
#define TACHO_VIEW_LISTEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/buf.h"
#include "base/diag.h"

struct view_listen {
	int fd;				/* -1: none */
	struct sockaddr_storage addr;	/* that it is bound to */
	socklen_t len;
	bool loopback;			/* or a Unix socket */
	bool bound;			/* a Unix socket, whose file is ours to remove */
};

/*
 * text: "ADDRESS:PORT", "[V6]:PORT", "PORT" (of 127.0.0.1; 0: a free one), "unix:PATH"; NULL: "0".
 * 0; -EPERM when it is not of this machine alone and there is no TLS; or another negative
 * errno; with d.
 */
int view_listen_open(struct view_listen *l, const char *text, bool tls, struct tacho_diag *d);
void view_listen_close(struct view_listen *l);

/* Appends "http://127.0.0.1:4711", or "unix:PATH". */
void view_listen_address(const struct view_listen *l, bool tls, struct tacho_buf *out);

/* Whether a Host header names it.  A name that somebody else bound to our address does not. */
bool view_listen_is_host(const struct view_listen *l, const char *host);

#endif
