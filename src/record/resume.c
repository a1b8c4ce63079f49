// SPDX-License-Identifier: MIT
#include "record/resume.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "fmt/ctf/layout.h"

/* Scans the complete packets of one stream file. */
static int scan_stream(struct tacho_resume *r, int dirfd, const char *name,
		       uint32_t lane)
{
	struct tacho_packet h;
	struct stat st;
	uint64_t at = 0, size, lost = 0;
	int fd = openat(dirfd, name, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	size = fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
	while (size - at >= sizeof(h) &&
	       pread(fd, &h, sizeof(h), (off_t)at) == (ssize_t)sizeof(h)) {
		uint64_t bytes = h.packet_size / 8;

		if (h.magic != TACHO_PACKET_MAGIC || bytes < sizeof(h) ||
		    bytes > size - at)
			break;
		if (h.event_first + h.events > r->next[lane])
			r->next[lane] = h.event_first + h.events;
		r->events += h.events;
		lost = h.events_discarded;
		at += bytes;
	}
	/* each chunk counts its own */
	r->lost[lane] += lost;
	r->torn += size - at;
	close(fd);
	if (lane >= r->nr)
		r->nr = lane + 1;
	return 0;
}

/* The value of "key: value" in the info text, cut into `to`. */
static void info_value(const char *text, const char *key, char *to, size_t size)
{
	size_t n = strlen(key);

	to[0] = '\0';
	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, key, n) || strncmp(line + n, ": ", 2))
			continue;
		(void)snprintf(to, size, "%.*s", (int)strcspn(line + n + 2, "\n"),
			       line + n + 2);
		return;
	}
}

static int read_info(const char *dir, struct tacho_buf *b, struct tacho_diag *d)
{
	char path[4200];
	int err;

	(void)snprintf(path, sizeof(path), "%s/%s/info", dir, TACHO_CTF_EXTRAS);
	tacho_buf_init(b, TACHO_CTF_INFO_MAX);
	err = tacho_buf_read_file(b, path);
	if (err && err != -ENOENT && err != -ENOTDIR) {
		tacho_buf_release(b);
		return tacho_diag(d, err, 0, "cannot read '%s': %s", path, strerror(-err));
	}
	if (err || strncmp(tacho_buf_str(b), TACHO_CTF_MAGIC_LINE,
			   strlen(TACHO_CTF_MAGIC_LINE))) {
		tacho_buf_release(b);
		return tacho_diag(d, err ? err : -EINVAL, 0,
				  "'%s' is not a trace that tacho recorded", dir);
	}
	return 0;
}

/* Removes the files in dir whose names begin with `prefix`; returns the number of other files. */
static int remove_files(const char *dir, const char *prefix, bool dry)
{
	DIR *list = opendir(dir);
	const struct dirent *e;
	const char *name;
	int others = 0;

	while (list && (e = readdir(list))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		/* a file is renamed from one with a dot before its name */
		name = e->d_name + (e->d_name[0] == '.');
		if (strncmp(name, prefix, strlen(prefix)))
			others++;
		else if (!dry)
			(void)unlinkat(dirfd(list), e->d_name, 0);
	}
	if (list)
		closedir(list);
	return others;
}

bool tacho_resume_begun(const char *dir)
{
	char extras[4300], info[4320], metadata[4300];
	struct stat st;

	(void)snprintf(extras, sizeof(extras), "%s/%s", dir, TACHO_CTF_EXTRAS);
	(void)snprintf(info, sizeof(info), "%s/info", extras);
	(void)snprintf(metadata, sizeof(metadata), "%s/metadata", dir);
	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) ||
	    (!access(info, F_OK) && !access(metadata, F_OK)))
		return false;
	return remove_files(dir, "metadata", true) == !access(extras, F_OK);
}

void tacho_resume_unbegin(const char *dir)
{
	char extras[4300];

	(void)snprintf(extras, sizeof(extras), "%s/%s", dir, TACHO_CTF_EXTRAS);
	(void)remove_files(extras, "", false);
	(void)rmdir(extras);
	(void)remove_files(dir, "metadata", false);
}

int tacho_resume_scan(struct tacho_resume *r, const char *dir,
		      struct tacho_diag *d)
{
	struct tacho_buf info;
	char session[sizeof(r->session)], state[16];
	const struct dirent *e;
	DIR *list;
	int err;

	if (tacho_resume_begun(dir)) {
		r->begun = true;
		return 0;
	}
	err = read_info(dir, &info, d);
	if (err)
		return err;
	/* only open chunks count; another chunk may be closed already */
	info_value(tacho_buf_str(&info), "session", session, sizeof(session));
	if (session[0])
		memcpy(r->session, session, sizeof(session));
	info_value(tacho_buf_str(&info), "state", state, sizeof(state));
	r->known = true;
	r->open = r->open || strcmp(state, "closed");
	tacho_buf_release(&info);
	list = opendir(dir);
	if (!list)
		return tacho_diag(d, -errno, 0, "cannot read '%s': %s", dir,
				  strerror(errno));
	while ((e = readdir(list))) {
		char *end;
		unsigned long lane;

		if (strncmp(e->d_name, "program_", 8))
			continue;
		lane = strtoul(e->d_name + 8, &end, 10);
		if (end == e->d_name + 8 || *end || lane >= TACHO_LANES_MAX)
			continue;
		err = scan_stream(r, dirfd(list), e->d_name, (uint32_t)lane);
		if (err) {
			(void)tacho_diag(d, err, 0, "cannot read '%s/%s': %s", dir,
					 e->d_name, strerror(-err));
			break;
		}
	}
	closedir(list);
	return err;
}

/* The info text with `state: closed`. */
static void closed_info(const char *text, struct tacho_buf *out)
{
	const char *state = strstr(text, "\nstate: ");
	const char *rest = state ? strchr(state + 1, '\n') : NULL;

	if (!state) {
		tacho_buf_puts(out, text);
		tacho_buf_puts(out, "state: closed\n");
		return;
	}
	tacho_buf_put(out, text, (size_t)(state - text));
	tacho_buf_puts(out, "\nstate: closed");
	tacho_buf_puts(out, rest ? rest : "\n");
}

static int write_file(const char *path, const struct tacho_buf *b)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int err = 0;

	if (fd < 0)
		return -errno;
	for (size_t done = 0; done < b->len && !err; ) {
		ssize_t n = write(fd, b->data + done, b->len - done);

		if (n > 0)
			done += (size_t)n;
		else if (!n || errno != EINTR)
			err = n ? -errno : -EIO;
	}
	if (close(fd) && !err)
		err = -errno;
	return err;
}

int tacho_resume_close(const char *dir, struct tacho_diag *d)
{
	char path[4200], temp[4300];
	struct tacho_buf info, out;
	int err = read_info(dir, &info, d);

	if (err)
		return err;
	tacho_buf_init(&out, TACHO_CTF_INFO_MAX + 64);
	closed_info(tacho_buf_str(&info), &out);
	(void)snprintf(path, sizeof(path), "%s/%s/info", dir, TACHO_CTF_EXTRAS);
	(void)snprintf(temp, sizeof(temp), "%s.new", path);
	err = tacho_buf_error(&out);
	if (!err)
		err = write_file(temp, &out);
	if (!err && rename(temp, path) < 0)
		err = -errno;
	tacho_buf_release(&info);
	tacho_buf_release(&out);
	if (err)
		return tacho_diag(d, err, 0, "cannot write '%s': %s", path,
				  strerror(-err));
	return 0;
}

/* The number after the last chunk below dir; 0, with errno set, on error. */
static uint32_t next_chunk(const char *dir)
{
	DIR *list = opendir(dir);
	const struct dirent *e;
	uint32_t next = 1;

	if (!list)
		return 0;
	while ((e = readdir(list))) {
		char *end;
		unsigned long nr = strtoul(e->d_name, &end, 10);

		if (end != e->d_name && !*end && nr >= next && nr < UINT32_MAX)
			next = (uint32_t)nr + 1;
	}
	closedir(list);
	return next;
}

int tacho_resume_rotate(const char *dir, char *next, size_t size,
			struct tacho_diag *d)
{
	char temp[4200], first[4300], metadata[4200];
	uint32_t nr;

	(void)snprintf(metadata, sizeof(metadata), "%s/metadata", dir);
	(void)snprintf(temp, sizeof(temp), "%s.recover", dir);
	(void)snprintf(first, sizeof(first), "%s/0001", temp);
	if (!access(metadata, F_OK)) {
		/* a plain trace: it moves one level down, by two renames */
		if ((mkdir(temp, 0777) < 0 && errno != EEXIST) ||
		    rename(dir, first) < 0)
			return tacho_diag(d, -errno, 0, "cannot move '%s' to '%s': %s",
					  dir, first, strerror(errno));
	}
	if (access(dir, F_OK) && rename(temp, dir) < 0)
		return tacho_diag(d, -errno, 0, "cannot move '%s' to '%s': %s", temp,
				  dir, strerror(errno));
	nr = next_chunk(dir);
	if (!nr)
		return tacho_diag(d, -errno, 0, "cannot read '%s': %s", dir, strerror(errno));
	(void)snprintf(next, size, "%s/%04u", dir, nr);
	return 0;
}
