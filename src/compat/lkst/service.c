// SPDX-License-Identifier: MIT
/* The thread that answers other processes: service.h. */
#include "compat/lkst/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "compat/lkst/run.h"

#define BACKLOG	8
#define PAUSE_MS	50	/* before it is tried again */

/* Under the mutex. */
static int listener = -1;
static int32_t listener_pid;

static void name_of(char *to, size_t size, int32_t pid)
{
	(void)snprintf(to, size, "%s/" LKST_SERVICE_NAME, lkst_run.dir, pid);
}

/* The directory's path may be longer than a socket's address can be. */
static int bind_here(int fd, int32_t pid)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int dir = open(lkst_run.dir, O_PATH | O_DIRECTORY | O_CLOEXEC), err = 0;

	if (dir < 0)
		return -errno;
	(void)snprintf(a.sun_path, sizeof(a.sun_path), "/proc/self/fd/%d/" LKST_SERVICE_NAME, dir,
		       pid);
	/* left by one that had our pid before us */
	(void)unlink(a.sun_path);
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)))
		err = -errno;
	close(dir);
	return err;
}

static int make_listener(void)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return -errno;
	err = bind_here(fd, getpid());
	if (!err && listen(fd, BACKLOG))
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* ---- one request ---- */

static bool may(int fd)
{
	struct ucred u;
	socklen_t len = sizeof(u);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &u, &len) &&
	       (!u.uid || u.uid == geteuid());
}

/* Receives within the time that the client waits.  Bytes, or -1. */
static ssize_t receive(int fd, struct lkst_message *m)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (poll(&p, 1, LKST_REQUEST_MS) != 1)
		return -1;
	return recv(fd, m, sizeof(*m), MSG_DONTWAIT | MSG_TRUNC);
}

static void act(const struct lkst_request *q, char *data, struct lkst_answer *a)
{
	ssize_t n;
	int ret = 0;

	switch (q->kind) {
	case LKST_REQUEST_CTRL:
		a->err = lkst_serve_ctrl(q->id, q->null ? NULL : data, q->size, &ret);
		a->ret = ret;
		a->size = q->size;
		break;
	case LKST_REQUEST_SHOW:
		n = lkst_serve_show(q->id, data);
		a->err = n < 0 ? (int32_t)n : 0;
		a->size = n < 0 ? 0 : (uint32_t)n;
		break;
	case LKST_REQUEST_STORE:
		data[q->size] = '\0';
		n = lkst_serve_store(q->id, data, q->size);
		a->err = n < 0 ? (int32_t)n : 0;
		a->ret = n < 0 ? 0 : (int32_t)n;
		break;
	default:
		a->err = -EINVAL;
	}
}

static void serve(int fd)
{
	struct lkst_message m;
	char data[LKST_EVHANDLER_CTRL_MAX + 1];
	ssize_t n = may(fd) ? receive(fd, &m) : -1;
	struct lkst_request q;
	size_t head = offsetof(struct lkst_message, data);

	if (n < (ssize_t)head || n > (ssize_t)sizeof(m))
		return;
	q = m.request;
	if (q.magic != LKST_REQUEST_MAGIC || q.size > LKST_EVHANDLER_CTRL_MAX ||
	    (size_t)n != head + q.size)
		return;
	memset(data, 0, sizeof(data));
	memcpy(data, m.data, q.size);
	memset(&m.answer, 0, head);
	act(&q, data, &m.answer);
	memcpy(m.data, data, m.answer.size);
	(void)send(fd, &m, head + m.answer.size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Whether another try may do: a program that has no descriptors left now will have some. */
static bool passes(int err)
{
	switch (err) {
	case EMFILE:
	case ENFILE:
	case ENOBUFS:
	case ENOMEM:
		(void)poll(NULL, 0, PAUSE_MS);
		return true;
	default:
		return err == EINTR || err == ECONNABORTED;
	}
}

static void *run(void *arg)
{
	int fd = (int)(intptr_t)arg;

	for (;;) {
		int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC);

		if (client < 0 && !passes(errno))
			return NULL;
		if (client < 0)
			continue;
		serve(client);
		close(client);
	}
}

/* ---- its life ---- */

/* The program's signals are for its own threads. */
static int start_thread(int fd)
{
	pthread_attr_t attr;
	sigset_t all, saved;
	pthread_t t;
	int err = -pthread_attr_init(&attr);

	if (err)
		return err;
	sigfillset(&all);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	(void)pthread_sigmask(SIG_SETMASK, &all, &saved);
	err = -pthread_create(&t, &attr, run, (void *)(intptr_t)fd);
	(void)pthread_sigmask(SIG_SETMASK, &saved, NULL);
	(void)pthread_attr_destroy(&attr);
	return err;
}

int lkst_service_start(void)
{
	int fd, err;

	if (listener >= 0)
		return 0;
	fd = make_listener();
	if (fd < 0)
		return fd;
	err = start_thread(fd);
	if (err) {
		close(fd);
		return err;
	}
	listener = fd;
	listener_pid = getpid();
	return 0;
}

/* What the parent listens on is its own. */
void lkst_service_fork(void)
{
	if (listener >= 0)
		close(listener);
	listener = -1;
}

__attribute__((destructor)) static void service_end(void)
{
	char path[TACHO_PATH_MAX + 32];

	if (listener < 0 || listener_pid != getpid())
		return;
	name_of(path, sizeof(path), listener_pid);
	(void)unlink(path);
}
