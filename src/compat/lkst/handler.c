// SPDX-License-Identifier: MIT
/* Event handlers for tools: the list, and requests to their processes. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/atomic.h"
#include "compat/lkst/lkst.h"
#include "compat/lkst/service.h"

/* A copy of an entry; false: there is no such handler now. */
static bool get(const struct tacho_lkst *l, uint32_t id, struct lkst_handler *h)
{
	const struct lkst_handler *shared;

	if (!id || id >= LKST_NR_HANDLERS)
		return false;
	shared = &l->state->handler[id];
	if (!tacho_load_acquire(&shared->ready))	/* [described] */
		return false;
	memcpy(h, shared, sizeof(*h));
	h->name[sizeof(h->name) - 1] = '\0';
	return lkst_owner_lives(&shared->owner);
}

int tacho_lkst_handler_list(struct tacho_lkst *l, struct lkst_evhandler_listparam *p)
{
	struct lkst_handler h;
	size_t room, n = 0;

	if (!p || !p->listent || p->listent_size < sizeof(*p->listent))
		return -EINVAL;
	room = p->listent_size / sizeof(*p->listent);
	for (uint32_t id = 1; id < LKST_NR_HANDLERS && n < room; id++) {
		if (!get(l, id, &h))
			continue;
		p->listent[n].id = (lkst_evhandler_id)id;
		memcpy(p->listent[n++].name, h.name, sizeof(h.name));
	}
	/* the rest says that there are no more */
	memset(p->listent + n, 0, (room - n) * sizeof(*p->listent));
	return 0;
}

int tacho_lkst_handler_get_id(struct tacho_lkst *l, const char *name)
{
	struct lkst_handler h;

	if (!name || !*name ||
	    strnlen(name, LKST_EVHANDLER_NAME_LEN) == LKST_EVHANDLER_NAME_LEN)
		return -EINVAL;
	for (uint32_t id = 1; id < LKST_NR_HANDLERS; id++)
		if (get(l, id, &h) && !strcmp(h.name, name))
			return (int)id;
	return LKST_EVHANDLER_ID_VOID;
}

/* ---- asking ---- */

static int connect_to(const struct tacho_lkst *l, int32_t pid)
{
	const struct timeval wait = { .tv_sec = LKST_REQUEST_MS / 1000 };
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" LKST_SERVICE_NAME,
		       l->dir.fd, pid);
	/* the queue of a service that is busy may be full */
	(void)setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
	if (connect(fd, (struct sockaddr *)&a, sizeof(a))) {
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

/* Sends m and waits for the answer, which replaces it. */
static int ask_socket(int fd, struct lkst_message *m)
{
	const size_t head = offsetof(struct lkst_message, data);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n;
	int got;

	if (send(fd, m, head + m->request.size, MSG_NOSIGNAL) < 0)
		return -errno;
	do
		got = poll(&p, 1, LKST_REQUEST_MS);
	while (got < 0 && errno == EINTR);
	if (got != 1)
		return -ETIMEDOUT;
	n = recv(fd, m, sizeof(*m), 0);
	if (n < (ssize_t)head || m->answer.size != (size_t)n - head)
		return -EPIPE;
	return 0;
}

/* -ENODEV: no process answers. */
static int ask(const struct tacho_lkst *l, uint32_t id, struct lkst_message *m)
{
	struct lkst_handler h;
	int fd, err;

	if (!get(l, id, &h) || h.owner.pid <= 0)
		return -ENODEV;
	m->request.magic = LKST_REQUEST_MAGIC;
	m->request.id = id;
	fd = connect_to(l, h.owner.pid);
	if (fd < 0)
		return -ENODEV;
	err = ask_socket(fd, m);
	close(fd);
	return err ? -ENODEV : 0;
}

int tacho_lkst_handler_ctrl(struct tacho_lkst *l, struct lkst_evhandler_ctrl_param *p)
{
	struct lkst_message m;
	struct lkst_handler h;

	if (!p || p->id < 0 || p->bufsize > LKST_EVHANDLER_CTRL_MAX || (!p->buf && p->bufsize) ||
	    !get(l, (uint32_t)p->id, &h) || !(h.flags & LKST_HANDLER_CTRL))
		return -EINVAL;
	memset(&m.request, 0, sizeof(m.request));
	m.request.kind = LKST_REQUEST_CTRL;
	m.request.size = (uint32_t)p->bufsize;
	m.request.null = !p->buf;
	if (p->bufsize)
		memcpy(m.data, p->buf, p->bufsize);
	if (ask(l, (uint32_t)p->id, &m) || m.answer.err || m.answer.size != p->bufsize)
		return -EINVAL;
	if (p->bufsize)
		memcpy(p->buf, m.data, p->bufsize);
	p->ret = m.answer.ret;
	return 0;
}

ssize_t tacho_lkst_handler_show(struct tacho_lkst *l, uint32_t id, char *page, size_t size)
{
	struct lkst_message m = { .request = { .kind = LKST_REQUEST_SHOW } };
	int err = ask(l, id, &m);

	if (!err)
		err = m.answer.err;
	if (err)
		return err;
	if (m.answer.size > size)
		m.answer.size = (uint32_t)size;
	memcpy(page, m.data, m.answer.size);
	return m.answer.size;
}

ssize_t tacho_lkst_handler_store(struct tacho_lkst *l, uint32_t id, const char *text, size_t len)
{
	struct lkst_message m = { .request = { .kind = LKST_REQUEST_STORE } };
	int err;

	if (len > sizeof(m.data))
		return -EINVAL;
	m.request.size = (uint32_t)len;
	memcpy(m.data, text, len);
	err = ask(l, id, &m);
	if (!err)
		err = m.answer.err;
	return err ? err : m.answer.ret;
}
