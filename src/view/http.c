// SPDX-License-Identifier: MIT
/* Requests and answers over libmicrohttpd. */
#include "view/http.h"

#include <errno.h>
#include <inttypes.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/atomic.h"
#include "base/json.h"
#include "base/scan.h"
#include "view/listen.h"

#define CONNECTIONS	64u
#define IDLE_SECONDS	30u
#define CONNECTION_MEM	((size_t)32 << 10)
#define HOST_MAX	300u

static const char policy[] =
	"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
	"font-src 'self'; connect-src 'self'; worker-src 'self'; base-uri 'none'; "
	"form-action 'none'; frame-ancestors 'none'";

struct view_http {
	struct view_http_config config;
	struct view_listen listen;
	struct MHD_Daemon *daemon;
	char token[VIEW_TOKEN_LEN + 1];
	struct tacho_buf address;
	pthread_mutex_t lock;
	pthread_cond_t none_kept;
	uint32_t kept;			/* requests that wait for view_answer(); under lock */
	uint32_t ending;		/* atomic */
};

struct view_request {
	struct view_http *http;
	struct MHD_Connection *connection;
	char *path;
	bool post, called, later, keep, packed;
	unsigned int status;
	const char *type;
	const void *bytes;		/* NULL: out */
	size_t len;
	struct tacho_buf body, out;
};

/* ---- who may ask ---- */

/* In the same time wherever they differ. */
static bool is_token(const struct view_http *h, const char *s)
{
	unsigned int differ = 0;
	size_t i;

	for (i = 0; i < VIEW_TOKEN_LEN && s[i]; i++)
		differ |= (unsigned int)(s[i] ^ h->token[i]);
	return i == VIEW_TOKEN_LEN && s[i] == '/' && !differ;
}

static const char *header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Whether a page of another site made this request, or a name that it bound to our address. */
static bool is_foreign(const struct view_http *h, struct MHD_Connection *c)
{
	const char *host = header(c, MHD_HTTP_HEADER_HOST);
	const char *origin = header(c, MHD_HTTP_HEADER_ORIGIN);
	const char *scheme = h->config.cert ? "https://" : "http://";

	if (!host || !view_listen_is_host(&h->listen, host))
		return true;
	if (!origin)
		return false;
	if (strncmp(origin, scheme, strlen(scheme)))
		return true;
	return strcmp(origin + strlen(scheme), host) != 0;
}

/* The status that a request is refused with at once; 0: it is for the handler. */
static unsigned int refuse(const struct view_http *h, struct MHD_Connection *c, const char *url,
			   const char *method)
{
	const char *type = header(c, MHD_HTTP_HEADER_CONTENT_TYPE);

	if (url[0] != '/' || !is_token(h, url + 1) || is_foreign(h, c))
		return MHD_HTTP_NOT_FOUND;
	if (!strcmp(method, MHD_HTTP_METHOD_GET) || !strcmp(method, MHD_HTTP_METHOD_HEAD))
		return 0;
	if (strcmp(method, MHD_HTTP_METHOD_POST))
		return MHD_HTTP_METHOD_NOT_ALLOWED;
	/* what a form of another page cannot send */
	return type && !strncmp(type, "application/json", 16) ? 0 : MHD_HTTP_UNSUPPORTED_MEDIA_TYPE;
}

/* ---- a request ---- */

const char *view_path(const struct view_request *r)
{
	return r->path;
}

bool view_is_post(const struct view_request *r)
{
	return r->post;
}

const char *view_body(const struct view_request *r, size_t *len)
{
	*len = r->body.len;
	return r->body.len ? r->body.data : "";
}

const char *view_word(const struct view_request *r, const char *name)
{
	return MHD_lookup_connection_value(r->connection, MHD_GET_ARGUMENT_KIND, name);
}

bool view_number(const struct view_request *r, const char *name, uint64_t *v)
{
	const char *word = view_word(r, name);

	return word && tacho_scan_whole(word, strlen(word), 10, v);
}

/* ---- an answer ---- */

struct tacho_buf *view_out(struct view_request *r)
{
	return &r->out;
}

void view_status(struct view_request *r, unsigned int status)
{
	r->status = status;
}

void view_type(struct view_request *r, const char *type)
{
	r->type = type;
}

void view_keep(struct view_request *r)
{
	r->keep = true;
}

void view_packed(struct view_request *r)
{
	r->packed = true;
}

void view_static(struct view_request *r, const void *bytes, size_t len)
{
	r->bytes = bytes;
	r->len = len;
}

void view_error(struct view_request *r, unsigned int status, uint64_t offset,
		const char *fmt, ...)
{
	struct tacho_json j;
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->status = status;
	r->type = "application/json";
	r->keep = r->packed = false;
	r->bytes = NULL;
	tacho_buf_release(&r->out);
	tacho_buf_init(&r->out, VIEW_ANSWER_MAX);
	tacho_json_init(&j, &r->out);
	tacho_json_open(&j, '{');
	tacho_json_pair_str(&j, "error", text);
	if (offset != UINT64_MAX)
		tacho_json_pair_u64(&j, "offset", offset);
	tacho_json_close(&j, '}');
}

void view_later(struct view_request *r)
{
	pthread_mutex_lock(&r->http->lock);
	r->http->kept++;
	pthread_mutex_unlock(&r->http->lock);
	r->later = true;
	MHD_suspend_connection(r->connection);
}

void view_answer(struct view_request *r)
{
	struct view_http *h = r->http;

	MHD_resume_connection(r->connection);	/* r may be gone from here on */
	pthread_mutex_lock(&h->lock);
	if (!--h->kept)
		pthread_cond_broadcast(&h->none_kept);
	pthread_mutex_unlock(&h->lock);
}

bool view_is_gone(const struct view_request *r)
{
	const union MHD_ConnectionInfo *info;
	struct pollfd p = { .events = POLLRDHUP };

	if (tacho_load_relaxed(&r->http->ending))
		return true;
	info = MHD_get_connection_info(r->connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	if (!info)
		return false;
	p.fd = info->connect_fd;
	return poll(&p, 1, 0) == 1 && (p.revents & (POLLRDHUP | POLLHUP | POLLERR));
}

/* ---- libmicrohttpd's side ---- */

static void add_headers(struct MHD_Response *response, const struct view_request *r)
{
	static const char *const always[][2] = {
		{ "Content-Security-Policy", policy },
		{ "X-Content-Type-Options", "nosniff" },
		{ "Referrer-Policy", "no-referrer" },
		{ "Cross-Origin-Opener-Policy", "same-origin" },
		{ "Cross-Origin-Resource-Policy", "same-origin" },
	};

	for (size_t i = 0; i < sizeof(always) / sizeof(always[0]); i++)
		(void)MHD_add_response_header(response, always[i][0], always[i][1]);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, r->type);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
				      r->keep ? "private, max-age=31536000, immutable" :
						"no-store");
	if (r->packed)
		(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
}

static enum MHD_Result send_answer(struct view_request *r)
{
	const void *bytes = r->bytes ? r->bytes : r->out.len ? r->out.data : "";
	size_t len = r->bytes ? r->len : r->out.len;
	struct MHD_Response *response;
	enum MHD_Result ret;

	if (!r->bytes && tacho_buf_error(&r->out)) {
		view_error(r, MHD_HTTP_INTERNAL_SERVER_ERROR, UINT64_MAX,
			   "the answer is too large");
		bytes = r->out.len ? r->out.data : "";
		len = r->out.len;
	}
	response = MHD_create_response_from_buffer(len, (void *)(uintptr_t)bytes,
						   MHD_RESPMEM_PERSISTENT);
	if (!response)
		return MHD_NO;
	add_headers(response, r);
	ret = MHD_queue_response(r->connection, r->status, response);
	MHD_destroy_response(response);
	return ret;
}

static struct view_request *request_new(struct view_http *h, struct MHD_Connection *c,
					const char *url, const char *method)
{
	struct view_request *r = calloc(1, sizeof(*r));
	unsigned int status = refuse(h, c, url, method);

	if (!r)
		return NULL;
	r->http = h;
	r->connection = c;
	r->status = MHD_HTTP_OK;
	r->type = "application/json";
	r->post = !strcmp(method, MHD_HTTP_METHOD_POST);
	tacho_buf_init(&r->body, VIEW_BODY_MAX + 1);
	tacho_buf_init(&r->out, VIEW_ANSWER_MAX);
	r->path = strdup(status ? "" : url + 1 + VIEW_TOKEN_LEN + 1);
	if (!r->path) {
		free(r);
		return NULL;
	}
	if (status) {
		r->called = true;
		view_error(r, status, UINT64_MAX, status == MHD_HTTP_NOT_FOUND ?
			   "there is nothing here" : "send GET, or POST with a body of JSON");
	}
	return r;
}

static void take_body(struct view_request *r, const char *data, size_t len)
{
	if (r->called)
		return;
	if (r->body.len + len > VIEW_BODY_MAX) {
		r->called = true;
		view_error(r, MHD_HTTP_CONTENT_TOO_LARGE, UINT64_MAX,
			   "the body has more than %u bytes", VIEW_BODY_MAX);
		return;
	}
	tacho_buf_put(&r->body, data, len);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *len, void **own)
{
	struct view_http *h = arg;
	struct view_request *r = *own;

	(void)version;
	if (!r) {
		*own = request_new(h, c, url, method);
		return *own ? MHD_YES : MHD_NO;
	}
	if (*len) {
		take_body(r, data, *len);
		*len = 0;
		return MHD_YES;
	}
	if (!r->called) {
		r->called = true;
		(void)tacho_buf_str(&r->body);
		if (tacho_buf_error(&r->body))
			return MHD_NO;
		h->config.handler(h->config.arg, r);
		if (r->later)
			return MHD_YES;
	}
	return send_answer(r);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **own,
			 enum MHD_RequestTerminationCode code)
{
	struct view_request *r = *own;

	(void)arg;
	(void)c;
	(void)code;
	if (!r)
		return;
	tacho_buf_release(&r->body);
	tacho_buf_release(&r->out);
	free(r->path);
	free(r);
	*own = NULL;
}

/* ---- its life ---- */

static int make_token(struct view_http *h, struct tacho_diag *d)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
	unsigned char random[17] = { 0 };

	if (getrandom(random, 16, 0) != 16)
		return tacho_diag(d, -EIO, 0, "cannot get random bytes: %s", strerror(errno));
	for (unsigned int i = 0; i < VIEW_TOKEN_LEN; i++) {
		unsigned int bit = 6 * i, word;

		word = (unsigned int)random[bit / 8] << 8 | random[bit / 8 + (bit / 8 < 16)];
		h->token[i] = digits[word >> (10 - bit % 8) & 63];
	}
	return 0;
}

int view_http_new(struct view_http **http, const struct view_http_config *config,
		  struct tacho_diag *d)
{
	struct view_http *h = calloc(1, sizeof(*h));
	int err;

	if (!h)
		return tacho_no_memory(d);
	h->config = *config;
	h->listen.fd = -1;
	pthread_mutex_init(&h->lock, NULL);
	pthread_cond_init(&h->none_kept, NULL);
	tacho_buf_init(&h->address, 4096);
	err = make_token(h, d);
	if (!err)
		err = view_listen_open(&h->listen, config->listen, config->cert != NULL, d);
	if (!err) {
		view_listen_address(&h->listen, config->cert != NULL, &h->address);
		tacho_buf_printf(&h->address, "/%s/", h->token);
		(void)tacho_buf_str(&h->address);
		err = tacho_buf_error(&h->address) ? tacho_no_memory(d) : 0;
	}
	if (err) {
		view_http_free(h);
		return err;
	}
	*http = h;
	return 0;
}

int view_http_start(struct view_http *h, struct tacho_diag *d)
{
	const unsigned int flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME |
				   (h->config.cert ? MHD_USE_TLS : 0);
	const struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)h->config.cert },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)h->config.key },
		{ MHD_OPTION_END, 0, NULL },
	}, plain[] = { { MHD_OPTION_END, 0, NULL } };
	sigset_t all, old;

	if (h->config.cert && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		return tacho_diag(d, -ENOTSUP, 0, "this libmicrohttpd has no TLS");
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	h->daemon = MHD_start_daemon(flags, 0, NULL, NULL, on_request, h,
		MHD_OPTION_LISTEN_SOCKET, h->listen.fd,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, h,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, IDLE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEM,
		MHD_OPTION_ARRAY, h->config.cert ? tls : plain, MHD_OPTION_END);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!h->daemon)
		return tacho_diag(d, errno ? -errno : -EINVAL, 0, "cannot serve on %s: %s",
				  h->address.data, h->config.cert ?
				  "the certificate or its key is not good" : strerror(errno));
	h->listen.fd = -1;	/* libmicrohttpd closes it */
	return 0;
}

const char *view_http_address(const struct view_http *h)
{
	return h->address.data;
}

void view_http_free(struct view_http *h)
{
	if (!h)
		return;
	if (h->daemon) {
		tacho_store_relaxed(&h->ending, 1);
		pthread_mutex_lock(&h->lock);
		while (h->kept)
			pthread_cond_wait(&h->none_kept, &h->lock);
		pthread_mutex_unlock(&h->lock);
		MHD_stop_daemon(h->daemon);
	}
	view_listen_close(&h->listen);
	tacho_buf_release(&h->address);
	pthread_mutex_destroy(&h->lock);
	pthread_cond_destroy(&h->none_kept);
	free(h);
}
