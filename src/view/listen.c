// SPDX-License-Identifier: MIT
#include "view/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/scan.h"

#define BACKLOG		64
#define HOST_MAX	300

/* ---- addresses ---- */

static bool is_loopback(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;
	const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)(const void *)a;

	if (a->ss_family == AF_INET)
		return ntohl(v4->sin_addr.s_addr) >> 24 == 127;
	if (a->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
	return a->ss_family == AF_UNIX;
}

static unsigned int port_of(const struct sockaddr_storage *a)
{
	const struct sockaddr_in *v4 = (const struct sockaddr_in *)(const void *)a;

	return ntohs(v4->sin_port);	/* at the same place in both */
}

/* Splits "ADDRESS:PORT" into host (empty: loopback) and port. */
static int split(const char *text, char host[HOST_MAX], const char **port, struct tacho_diag *d)
{
	const char *colon = strrchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : 0;
	uint64_t v;

	*port = colon ? colon + 1 : text;
	if (!tacho_scan_whole(*port, strlen(*port), 10, &v) || v > 65535)
		return tacho_diag(d, -EINVAL, 0, "'%s' is not an address: give PORT, "
				  "ADDRESS:PORT or unix:PATH", text);
	if (len > 1 && text[0] == '[' && text[len - 1] == ']') {
		text++;
		len -= 2;
	}
	if (len >= HOST_MAX)
		return tacho_diag(d, -EINVAL, 0, "the address is too long");
	memcpy(host, text, len);
	host[len] = '\0';
	return 0;
}

static int resolve(struct view_listen *l, const char *text, struct tacho_diag *d)
{
	const struct addrinfo want = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	char host[HOST_MAX];
	struct addrinfo *found;
	const char *port;
	int err = split(text, host, &port, d);

	if (err)
		return err;
	err = getaddrinfo(host[0] ? host : "127.0.0.1", port, &want, &found);
	if (err)
		return tacho_diag(d, -EINVAL, 0, "there is no address '%s': %s", host,
				  gai_strerror(err));
	memcpy(&l->addr, found->ai_addr, found->ai_addrlen);
	l->len = found->ai_addrlen;
	freeaddrinfo(found);
	return 0;
}

/* ---- sockets ---- */

static int listen_inet(struct view_listen *l, const char *text, bool tls, struct tacho_diag *d)
{
	int err = resolve(l, text, d), one = 1;

	if (err)
		return err;
	l->loopback = is_loopback(&l->addr);
	if (!l->loopback && !tls)
		return tacho_diag(d, -EPERM, 0, "%s can be reached from other machines: give "
				  "--cert and --key, or listen on 127.0.0.1 and use "
				  "'ssh -L PORT:127.0.0.1:PORT HOST'", text);
	l->fd = socket(l->addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return tacho_diag(d, -errno, 0, "cannot make a socket: %s", strerror(errno));
	(void)setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	l->len = sizeof(l->addr);
	if (bind(l->fd, (const struct sockaddr *)&l->addr,
		 l->addr.ss_family == AF_INET ? sizeof(struct sockaddr_in) :
						sizeof(struct sockaddr_in6)) ||
	    listen(l->fd, BACKLOG) ||
	    getsockname(l->fd, (struct sockaddr *)&l->addr, &l->len))
		return tacho_diag(d, -errno, 0, "cannot listen on %s: %s", text, strerror(errno));
	return 0;
}

/* Removes a socket whose server is gone. */
static int remove_stale(const struct sockaddr_un *un, socklen_t len, struct tacho_diag *d)
{
	struct stat st;
	int fd, err = 0;

	if (lstat(un->sun_path, &st))
		return 0;
	if (!S_ISSOCK(st.st_mode))
		return tacho_diag(d, -EEXIST, 0, "%s is there and is no socket", un->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return tacho_diag(d, -errno, 0, "cannot make a socket: %s", strerror(errno));
	if (!connect(fd, (const struct sockaddr *)un, len))
		err = tacho_diag(d, -EADDRINUSE, 0, "somebody listens on %s", un->sun_path);
	else if (errno == ECONNREFUSED)
		(void)unlink(un->sun_path);
	close(fd);
	return err;
}

static int listen_unix(struct view_listen *l, const char *path, struct tacho_diag *d)
{
	struct sockaddr_un *un = (struct sockaddr_un *)(void *)&l->addr;
	size_t len = strlen(path);
	mode_t mask;
	int err, ret;

	if (!len || len >= sizeof(un->sun_path))
		return tacho_diag(d, -ENAMETOOLONG, 0, "the path of a socket has 1 to %zu bytes",
				  sizeof(un->sun_path) - 1);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, len + 1);
	l->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len + 1);
	l->loopback = true;
	err = remove_stale(un, l->len, d);
	if (err)
		return err;
	l->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return tacho_diag(d, -errno, 0, "cannot make a socket: %s", strerror(errno));
	mask = umask(0177);
	ret = bind(l->fd, (const struct sockaddr *)un, l->len);
	err = errno;
	(void)umask(mask);
	l->bound = !ret;
	if (ret || listen(l->fd, BACKLOG))
		return tacho_diag(d, ret ? -err : -errno, 0, "cannot listen on %s: %s", path,
				  strerror(ret ? err : errno));
	return 0;
}

int view_listen_open(struct view_listen *l, const char *text, bool tls, struct tacho_diag *d)
{
	*l = (struct view_listen){ .fd = -1 };
	if (!text)
		text = "0";
	return !strncmp(text, "unix:", 5) ? listen_unix(l, text + 5, d) :
					    listen_inet(l, text, tls, d);
}

void view_listen_close(struct view_listen *l)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)(const void *)&l->addr;

	if (l->fd >= 0)
		close(l->fd);
	if (l->bound)
		(void)unlink(un->sun_path);
	*l = (struct view_listen){ .fd = -1 };
}

/* ---- names ---- */

void view_listen_address(const struct view_listen *l, bool tls, struct tacho_buf *out)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)(const void *)&l->addr;
	char host[HOST_MAX] = "";

	if (l->addr.ss_family == AF_UNIX) {
		tacho_buf_printf(out, "unix:%s:", un->sun_path);
		return;
	}
	(void)getnameinfo((const struct sockaddr *)&l->addr, l->len, host, sizeof(host), NULL, 0,
			  NI_NUMERICHOST);
	tacho_buf_printf(out, l->addr.ss_family == AF_INET6 ? "%s://[%s]:%u" : "%s://%s:%u",
			 tls ? "https" : "http", host, port_of(&l->addr));
}

bool view_listen_is_host(const struct view_listen *l, const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost", "[::1]" };
	char text[HOST_MAX];

	if (!l->loopback)
		return true;	/* TLS: the certificate says who it is */
	if (l->addr.ss_family == AF_UNIX)
		return true;	/* no page of a browser can open it */
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(text, sizeof(text), "%s:%u", names[i], port_of(&l->addr));
		if (!strcasecmp(host, text))
			return true;
	}
	/* 127.0.0.2, as it was told to */
	(void)getnameinfo((const struct sockaddr *)&l->addr, l->len, text, 64, NULL, 0,
			  NI_NUMERICHOST);
	(void)snprintf(text + strlen(text), 16, ":%u", port_of(&l->addr));
	return !strcasecmp(host, text);
}
