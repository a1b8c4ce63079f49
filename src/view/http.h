/* SPDX-License-Identifier: MIT */
/*
 * http.h - requests and answers: what libmicrohttpd does for us, and who may ask (view.h,
 * section 3).
 *
 *	view_http_new()		a socket, a token, an address
 *	view_http_start()	from now on requests come to the handler
 *	view_http_free()
 *
 * A request
 *	The handler is called by the serving thread when the whole request is there.  It fills
 *	in the answer and returns; or it keeps the request (view_later()), and another thread
 *	fills in the answer and calls view_answer().  A request that is kept is answered exactly
 *	once: view_http_free() waits for it.
 *
 *	A request that is not for us (token, host, method, size) never comes to the handler.
 *
 * Threads: view_http_start() makes one, with all signals blocked.
 */
#ifndef TACHO_VIEW_HTTP_H
#define TACHO_VIEW_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/diag.h"

#define VIEW_TOKEN_LEN	22u		/* 128 bits in base64url */
#define VIEW_BODY_MAX	65536u
#define VIEW_ANSWER_MAX	((size_t)64 << 20)

struct view_http;
struct view_request;

struct view_http_config {
	const char *listen;	/* "ADDRESS:PORT", "PORT", "unix:PATH"; NULL: a free port of 127.0.0.1 */
	const char *cert, *key;	/* PEM texts; NULL: no TLS, loopback addresses only */
	void (*handler)(void *arg, struct view_request *r);
	void *arg;
};

/*
 * Returns 0; -EPERM: not a loopback address, and no TLS; or another negative errno; with d.
 */
int view_http_new(struct view_http **http, const struct view_http_config *config,
		  struct tacho_diag *d);
/* Returns 0, or a negative errno with d. */
int view_http_start(struct view_http *http, struct tacho_diag *d);
void view_http_free(struct view_http *http);

/* The address for people: "http://127.0.0.1:4711/TOKEN/". */
const char *view_http_address(const struct view_http *http);

/* ---- a request ---- */

/* What follows the token in its path: "", "api/trace", "main.js". */
const char *view_path(const struct view_request *r);
bool view_is_post(const struct view_request *r);
/* The body of a POST, NUL-terminated. */
const char *view_body(const struct view_request *r, size_t *len);

/* A word of the query string, or NULL. */
const char *view_word(const struct view_request *r, const char *name);
/* As a number; false: there is none, or it is not one. */
bool view_number(const struct view_request *r, const char *name, uint64_t *v);

/* ---- an answer ---- */

/* Where its bytes go.  Of JSON unless view_type() says otherwise; 200 unless view_status() does. */
struct tacho_buf *view_out(struct view_request *r);
void view_status(struct view_request *r, unsigned int status);
void view_type(struct view_request *r, const char *type);
/* The answer never changes: the browser may keep it. */
void view_keep(struct view_request *r);
/* The bytes are gzip's. */
void view_packed(struct view_request *r);
/* Bytes that outlive the request, instead of view_out(). */
void view_static(struct view_request *r, const void *bytes, size_t len);

/* Replaces the answer by {"error": TEXT}.  offset: in what was sent, or UINT64_MAX: none. */
void view_error(struct view_request *r, unsigned int status, uint64_t offset,
		const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* In the handler: the request is kept. */
void view_later(struct view_request *r);
/* Any thread: the answer of a kept request is complete. */
void view_answer(struct view_request *r);
/* Any thread, of a kept request: the client has gone, or the server ends. */
bool view_is_gone(const struct view_request *r);

#endif
