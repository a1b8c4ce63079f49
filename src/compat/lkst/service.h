/* SPDX-License-Identifier: MIT */
/*
 * service.h - control functions and ctrl files of handlers, for other processes.
 *
 * The process that registered a handler listens on DIR/lkst.<pid>, a socket of kind SEQPACKET.
 * A client connects, sends one request, receives one answer, and closes.
 *
 *	request		struct lkst_request, then `size` bytes: the communication area, or
 *			the text to store
 *	answer		struct lkst_answer, then `size` bytes: the area as the function left
 *			it, or the text shown
 *
 * Permission to connect: the directory belongs to its owner, and the service gets the client's
 * credentials from the kernel.
 */
#ifndef TACHO_COMPAT_LKST_SERVICE_H
#define TACHO_COMPAT_LKST_SERVICE_H

#include <stdint.h>
#include <linux/lkst_evhandler.h>

#define LKST_REQUEST_MAGIC	0x4b4c5251u
#define LKST_REQUEST_MS		5000	/* that a client waits for its answer */

enum lkst_request_kind {
	LKST_REQUEST_CTRL = 1,
	LKST_REQUEST_SHOW = 2,
	LKST_REQUEST_STORE = 3,
};

struct lkst_request {
	uint32_t magic;
	uint32_t kind;		/* enum lkst_request_kind */
	uint32_t id;		/* of the handler */
	uint32_t size;		/* bytes that follow */
	uint32_t null;		/* CTRL: there is no communication area */
};

struct lkst_answer {
	int32_t err;		/* 0, or a negative errno: the function was not called */
	int32_t ret;		/* what it returned */
	uint32_t size;		/* bytes that follow */
};

struct lkst_message {
	union {
		struct lkst_request request;
		struct lkst_answer answer;
	};
	char data[LKST_EVHANDLER_CTRL_MAX];
};

/* Name of a process's socket in the directory. */
#define LKST_SERVICE_NAME	"lkst.%d"

#endif
