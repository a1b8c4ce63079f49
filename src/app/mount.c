// SPDX-License-Identifier: MIT
#include "app/mount.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scan.h"
#include "session/session.h"

#define WAIT_MS	5000	/* umount waits so long for the server's end */

/* ---- which mounts there are -------------------------------------------------- */

/* "4711"; 0: something else. */
static pid_t pid_of(const char *text)
{
	uint64_t pid;

	return tacho_scan_digits(&text, NULL, 10, INT32_MAX, &pid) ? 0 : (pid_t)pid;
}

/* The process that serves the directory, by the name of its mount; 0: none of ours, or -errno. */
static pid_t server_of(const char *dir)
{
	FILE *f = setmntent("/proc/self/mounts", "r");
	const struct mntent *m;
	pid_t pid = 0;

	if (!f)
		return -errno;
	while ((m = getmntent(f)))
		if (!strcmp(m->mnt_dir, dir) && !strncmp(m->mnt_fsname, "tacho:", 6))
			pid = pid_of(m->mnt_fsname + 6);
	if (ferror(f))
		pid = -EIO;
	endmntent(f);
	return pid;
}

static int fail_mounts(int err, struct tacho_diag *d)
{
	return tacho_diag(d, err, 0, "cannot read the list of mounts: %s", strerror(-err));
}

enum server {
	SERVER_ANSWERS,
	SERVER_DEAD,	/* it was killed: nothing in it can be used, not even by open files */
	SERVER_SILENT,	/* a caller waits */
};

/* The status of a child, in time; -1: it was not, and the child is gone. */
static int wait_for_child(pid_t pid)
{
	struct pollfd p = { .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	bool in_time = p.fd < 0 || poll(&p, 1, WAIT_MS) != 0;
	int status;

	if (p.fd >= 0)
		close(p.fd);
	/* what a server has read and not answered ends for no signal: it is not waited for */
	if (!in_time)
		(void)kill(pid, SIGKILL);
	if (waitpid(pid, &status, in_time ? 0 : WNOHANG) <= 0 || !in_time || !WIFEXITED(status))
		return -1;
	return WEXITSTATUS(status);
}

/* A child asks: a server that is stopped does not answer. */
static enum server ask_server(const char *dir)
{
	struct statvfs st;
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* a reader of our output does not wait for the child */
		for (int fd = 0; fd <= STDERR_FILENO; fd++)
			close(fd);
		/* what stat(2) tells may be known from before */
		_exit(statvfs(dir, &st) && errno == ENOTCONN);
	}
	if (pid < 0)
		return SERVER_ANSWERS;
	status = wait_for_child(pid);
	return status < 0 ? SERVER_SILENT : status ? SERVER_DEAD : SERVER_ANSWERS;
}

static int fail_silent(const char *dir, struct tacho_diag *d)
{
	int pid = (int)server_of(dir);

	return tacho_diag(d, -ETIMEDOUT, 0, "the server of '%s', process %d, does not answer: "
			  "'kill -CONT %d' if it is stopped, 'kill -KILL %d' if that does not "
			  "help, then 'tacho umount %s'", dir, pid, pid, pid, dir);
}

/* The directory above a path, as the list of mounts has it, and the path in it; NULL: none. */
static char *path_in_above(const char *arg)
{
	size_t len = strlen(arg);
	char *copy, *slash, *above, *full = NULL;
	const char *name;

	while (len > 1 && arg[len - 1] == '/')
		len--;
	copy = strndup(arg, len);
	if (!copy)
		return NULL;
	slash = strrchr(copy, '/');
	name = slash ? slash + 1 : copy;
	above = NULL;
	if (*name && strcmp(name, ".") && strcmp(name, "..")) {
		name = strdup(name);
		if (slash)
			slash[slash == copy] = '\0';
		above = realpath(slash ? copy : ".", NULL);
		if (above && name &&
		    asprintf(&full, "%s/%s", above[1] ? above : "", name) < 0)
			full = NULL;
		free((char *)(uintptr_t)name);
	}
	free(above);
	free(copy);
	return full;
}

/*
 * A path as the list of mounts has it; NULL, and errno.  What is mounted there cannot be asked when
 * its server is gone or stopped; what is above it, and a link to it, can.
 */
static char *full_path(const char *arg)
{
	char link[PATH_MAX], *full = path_in_above(arg), *above;
	ssize_t n = full && server_of(full) <= 0 ? readlink(full, link, sizeof(link) - 1) : -1;

	if (full && server_of(full) > 0)
		return full;
	if (n > 0) {
		link[n] = '\0';
		above = strrchr(full, '/');
		*above = '\0';
		if (*link == '/' || asprintf(&above, "%s/%s", full, link) < 0)
			above = strdup(link);
		free(full);
		full = above ? path_in_above(above) : NULL;
		free(above);
		if (full && server_of(full) > 0)
			return full;
	}
	free(full);
	return realpath(arg, NULL);
}

/* ---- before a mount ----------------------------------------------------------- */

/*
 * 1 or 0, or -errno without memory or descriptors.  A directory that we may not read counts
 * as empty: mounting reports the rest.
 */
static int is_empty(const char *path)
{
	DIR *dir = opendir(path);
	const struct dirent *e;
	bool empty = true;

	if (!dir && tacho_no_room_here(-errno))
		return -errno;
	while (dir && empty && (e = readdir(dir)))
		empty = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..");
	if (dir)
		closedir(dir);
	return empty;
}

/* A server is there already. */
static int fail_served(const char *dir, struct tacho_diag *d)
{
	switch (ask_server(dir)) {
	case SERVER_DEAD:
		return tacho_diag(d, -ENOTCONN, 0, "the server of what is mounted on '%s' is gone: "
				  "'tacho umount %s' first", dir, dir);
	case SERVER_SILENT:
		return fail_silent(dir, d);
	case SERVER_ANSWERS:
	default:
		return tacho_diag(d, -EBUSY, 0, "a tacho is mounted on '%s' already: 'tacho umount "
				  "%s' unmounts it", dir, dir);
	}
}

/* Whether a directory can be mounted on. */
static int check_dir(const char *dir, bool nonempty, struct tacho_diag *d)
{
	pid_t server = server_of(dir);
	struct stat st;
	int empty;

	if (server < 0)
		return fail_mounts(server, d);
	if (server)
		return fail_served(dir, d);
	if (stat(dir, &st))
		return tacho_diag(d, -errno, 0, "cannot mount on '%s': %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return tacho_diag(d, -ENOTDIR, 0, "cannot mount on '%s': it is not a directory",
				  dir);
	empty = nonempty ? 1 : is_empty(dir);
	if (empty < 0)
		return tacho_diag(d, empty, 0, "cannot open '%s': %s", dir, strerror(-empty));
	if (!empty)
		return tacho_diag(d, -ENOTEMPTY, 0, "'%s' is not empty: its files would be hidden, "
				  "which '-o nonempty' allows", dir);
	return 0;
}

int app_mount_check(const char *dir, bool nonempty, char **full, struct tacho_diag *d)
{
	int err;

	*full = full_path(dir);
	if (!*full)
		return tacho_diag(d, -errno, 0, "cannot mount on '%s': %s", dir, strerror(errno));
	err = check_dir(*full, nonempty, d);
	if (!err)
		return 0;
	free(*full);
	*full = NULL;
	return err;
}

/* ---- unmount ------------------------------------------------------------------ */

/* Until the server has put its things away, so that the next mount begins anew. */
static void wait_for_server(int pidfd, const struct tacho_observer *o)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	if (pidfd < 0)
		return;
	if (poll(&p, 1, WAIT_MS) == 0)
		tacho_observer_note(o, "it is unmounted; its server is still busy");
}

/* Others than root need libfuse's helper. */
static int helper(const char *dir, struct tacho_diag *d)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execlp("fusermount3", "fusermount3", "-u", dir, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return tacho_diag(d, -errno, 0, "cannot unmount '%s': %s", dir, strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return tacho_diag(d, -ENOENT, 0, "cannot unmount '%s': fusermount3 is missing "
				  "(package fuse3)", dir);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EPERM;
}

static int unmount_errno(const char *dir, int err, struct tacho_diag *d)
{
	if (err == -EINVAL || err == -ENOENT)
		return tacho_diag(d, err, 0, "nothing is mounted on '%s'", dir);
	if (err == -EBUSY)
		return tacho_diag(d, err, 0, "'%s' is in use: close its files and leave the "
				  "directory, 'fuser -vm %s' tells who", dir, dir);
	return tacho_diag(d, err, 0, "cannot unmount '%s': %s", dir, strerror(-err));
}

/* A process of that number may be another by now. */
static int open_server(pid_t pid)
{
	char path[40], comm[16] = "";
	FILE *f;

	(void)snprintf(path, sizeof(path), "/proc/%d/comm", (int)pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (!fgets(comm, sizeof(comm), f))
		comm[0] = '\0';
	(void)fclose(f);
	return strcmp(comm, "tacho\n") ? -1 : (int)syscall(SYS_pidfd_open, pid, 0);
}

struct left {
	char names[256];
};

static int add_left(const char *name, const char *path, void *arg)
{
	char file[TACHO_PATH_MAX + 32];
	struct left *l = arg;
	size_t len = strlen(l->names);

	(void)snprintf(file, sizeof(file), "%s/" TACHO_SESSION_SETTINGS, path);
	if (!access(file, F_OK))
		(void)snprintf(l->names + len, sizeof(l->names) - len, " %s", name);
	return 0;
}

/* The server did not end its sessions. */
static void tell_left(const struct tacho_observer *o)
{
	struct left l = { "" };
	struct tacho_dir dir;

	if (tacho_dir_open(&dir, false, NULL))
		return;
	(void)tacho_sessions_each(&dir, add_left, &l);
	tacho_dir_close(&dir);
	if (*l.names)
		tacho_observer_note(o, "its server was killed: what it recorded stays; 'tacho "
				    "mount' goes on with it, 'tacho destroy%s' ends it", l.names);
}

/* dir has a server; fd is it, -1: it is gone. */
static int unmount_dir(const char *dir, int fd, const struct tacho_observer *o,
		       struct tacho_diag *d)
{
	enum server server = ask_server(dir);
	int flags = UMOUNT_NOFOLLOW, err = 0;

	if (server == SERVER_SILENT)
		return fail_silent(dir, d);
	if (umount2(dir, server == SERVER_DEAD ? flags | MNT_DETACH : flags))
		err = errno == EPERM ? helper(dir, d) : unmount_errno(dir, -errno, d);
	if (!err)
		wait_for_server(fd, o);
	if (!err && server == SERVER_DEAD)
		tell_left(o);
	return err;
}

int app_umount(const char *arg, const struct tacho_observer *o, struct tacho_diag *d)
{
	char *dir = full_path(arg);
	pid_t pid = dir ? server_of(dir) : tacho_no_room_here(-errno) ? -errno : 0;
	int fd = pid > 0 ? open_server(pid) : -1;
	int err;

	if (pid > 0)
		err = unmount_dir(dir, fd, o, d);
	else if (pid < 0)
		err = fail_mounts(pid, d);
	else
		err = tacho_diag(d, -EINVAL, 0, "no tacho is mounted on '%s'", arg);
	if (fd >= 0)
		close(fd);
	free(dir);
	return err;
}
