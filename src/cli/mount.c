// SPDX-License-Identifier: MIT
/* mount, umount: the control files of tracefs for programs and the kernel. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <grp.h>
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

#include "base/text.h"
#include "cli/cli.h"
#include "session/session.h"
#ifdef TACHO_HAVE_FUSE
#include "fuse/mount.h"
#endif

#define WAIT_MS	5000	/* umount waits so long for the server's end */

static const char mount_usage[] =
"usage: tacho mount [OPTION]... DIR\n"
"\n"
"Mounts a directory that looks and works like /sys/kernel/tracing, with the\n"
"events of all traced programs and of the kernel in one tree.\n"
"\n"
"  -s, --session NAME    show this session at the top, and create it if it does\n"
"                        not exist (default: tracing).  Others are in instances/\n"
"  -b, --buffer SIZE     buffer size per CPU of new sessions (default: 2M)\n"
"  -o, --options LIST    gid=GROUP: a group may also use the files;\n"
"                        allow_other: modes apply to other users;\n"
"                        nonempty: also over a directory with files\n"
"      --no-kernel       show program events only\n"
"      --keep            do not destroy sessions created here at the end\n"
"  -f, --foreground      stay in the foreground\n"
"  -q, --quiet           print no notes on stderr\n"
"      --json            accepted and ignored: there is no output\n"
"  -h, --help            print this help\n"
"\n"
"Unmount it with 'tacho umount DIR'.\n";

static const char umount_usage[] =
"usage: tacho umount DIR\n"
"\n"
"Unmounts a directory that 'tacho mount DIR' has mounted.\n"
"\n"
"  -q, --quiet           print no notes on stderr\n"
"      --json            accepted and ignored: there is no output\n"
"  -h, --help            print this help\n";

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
			pid = (pid_t)atoi(m->mnt_fsname + 6);
	if (ferror(f))
		pid = -EIO;
	endmntent(f);
	return pid;
}

static int fail_mounts(int err)
{
	return cli_fail("cannot read the list of mounts: %s", strerror(-err));
}

enum server {
	SERVER_ANSWERS,
	SERVER_DEAD,	/* it was killed: nothing in it can be used, whoever still has it open */
	SERVER_SILENT,	/* whoever asks it waits */
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

/* A child asks: a server that is stopped answers nobody. */
static enum server ask_server(const char *dir)
{
	struct statvfs st;
	pid_t pid = fork();
	int status;

	if (!pid) {
		/* whoever waits for our output does not wait for the child */
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

static int fail_silent(const char *dir)
{
	int pid = (int)server_of(dir);

	return cli_fail("the server of '%s', process %d, does not answer: 'kill -CONT %d' if it "
			"is stopped, 'kill -KILL %d' if that does not help, then 'tacho umount "
			"%s'", dir, pid, pid, pid, dir);
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

#ifdef TACHO_HAVE_FUSE

enum { OPT_NO_KERNEL = CLI_OPT_FIRST, OPT_KEEP };

static const struct option options[] = {
	CLI_COMMON_OPTIONS,
	{ "session", required_argument, NULL, 's' },
	{ "buffer", required_argument, NULL, 'b' },
	{ "options", required_argument, NULL, 'o' },
	{ "no-kernel", no_argument, NULL, OPT_NO_KERNEL },
	{ "keep", no_argument, NULL, OPT_KEEP },
	{ "foreground", no_argument, NULL, 'f' },
	{ NULL, 0, NULL, 0 },
};

struct job {
	struct tacho_tree_config tree;
	struct tacho_mount_config mount;
	bool foreground, keep, nonempty;
	int ready_fd;		/* background: the starter waits for a byte */
};

static int set_group(struct job *j, const char *name)
{
	const struct group *g = getgrnam(name);
	uint64_t gid;

	if (g)
		gid = g->gr_gid;
	else if (tacho_parse_u64(name, 0, UINT32_MAX - 1, &gid))
		return cli_usage("there is no group '%s'", name);
	j->tree.gid = (uint32_t)gid;
	j->tree.gid_reads = true;
	j->mount.others = true;
	return -1;
}

/* "-o a,b=c"; -1: go on. */
static int set_options(struct job *j, char *list)
{
	char *save = NULL;

	for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		int ret = -1;

		if (!strncmp(w, "gid=", 4))
			ret = set_group(j, w + 4);
		else if (!strcmp(w, "allow_other"))
			j->mount.others = true;
		else if (!strcmp(w, "nonempty"))
			j->nonempty = true;
		else
			return cli_usage("there is no mount option '%s': gid=GROUP, "
					 "allow_other, nonempty", w);
		if (ret >= 0)
			return ret;
	}
	return -1;
}

/* -1: go on; else the exit status. */
static int parse(struct job *j, int argc, char **argv)
{
	bool json = false;
	int opt, ret;

	while ((opt = getopt_long(argc, argv, "hqs:b:o:f", options, NULL)) != -1) {
		ret = -1;
		switch (opt) {
		case 's':
			j->tree.session = optarg;
			break;
		case 'b':
			if (tacho_parse_size(optarg, &j->tree.buffer_size))
				return cli_usage("'%s' is no size", optarg);
			break;
		case 'o':
			ret = set_options(j, optarg);
			break;
		case 'f':
			j->foreground = true;
			break;
		case OPT_NO_KERNEL:
			j->tree.no_kernel = true;
			break;
		case OPT_KEEP:
			j->keep = j->tree.keep = true;
			break;
		default:
			ret = cli_common(opt, &json);
		}
		if (ret >= 0)
			return ret;
	}
	if (argc - optind != 1)
		return cli_usage("name one directory to mount on");
	j->mount.dir = argv[optind];
	return -1;
}

static void tell_starter(void *arg)
{
	struct job *j = arg;

	if (j->ready_fd < 0)
		return;
	(void)!write(j->ready_fd, "", 1);
	close(j->ready_fd);
	j->ready_fd = -1;
	(void)!freopen("/dev/null", "w", stderr);
}

static int serve(struct job *j)
{
	struct tacho_diag d = { 0 };
	struct tacho_tree *tree;
	int err = tacho_tree_open(&tree, &j->tree, &d);

	if (err)
		return cli_fail_diag(&d);
	if (tacho_tree_without(tree) && !j->tree.no_kernel)
		cli_note("no kernel events: %s", tacho_tree_without(tree));
	j->mount.ready = tell_starter;
	j->mount.arg = j;
	err = tacho_mount_run(tree, &j->mount, &d);
	tacho_tree_close(tree, !j->keep);
	return err ? cli_fail_diag(&d) : CLI_OK;
}

/* The child serves; this process ends when it is mounted, or not. */
static int in_background(struct job *j)
{
	int fd[2], status = 0;
	char byte;
	ssize_t n;
	pid_t pid;

	if (pipe(fd))
		return cli_fail("cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return cli_fail("cannot fork: %s", strerror(errno));
	if (!pid) {
		close(fd[0]);
		j->ready_fd = fd[1];
		(void)setsid();
		(void)!chdir("/");
		(void)!freopen("/dev/null", "r", stdin);
		(void)!freopen("/dev/null", "w", stdout);
		_exit(serve(j));
	}
	close(fd[1]);
	do
		n = read(fd[0], &byte, 1);
	while (n < 0 && errno == EINTR);
	close(fd[0]);
	if (n == 1)
		return CLI_OK;
	(void)waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : CLI_FAILED;
}

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

static int fail_dead(const char *dir)
{
	return cli_fail("the server of what is mounted on '%s' is gone: 'tacho umount %s' "
			"first", dir, dir);
}

/* Whether a directory can be mounted on: CLI_OK, or a message. */
static int check_dir(const struct job *j, const char *dir)
{
	pid_t server = server_of(dir);
	struct stat st;
	int empty;

	if (server < 0)
		return fail_mounts(server);
	if (server)
		switch (ask_server(dir)) {
		case SERVER_DEAD:
			return fail_dead(dir);
		case SERVER_SILENT:
			return fail_silent(dir);
		case SERVER_ANSWERS:
		default:
			return cli_fail("a tacho is mounted on '%s' already: 'tacho umount %s' "
					"unmounts it", dir, dir);
		}
	if (stat(dir, &st))
		return cli_fail("cannot mount on '%s': %s", dir, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return cli_fail("cannot mount on '%s': it is not a directory", dir);
	empty = j->nonempty ? 1 : is_empty(dir);
	if (empty < 0)
		return cli_fail("cannot open '%s': %s", dir, strerror(-empty));
	if (!empty)
		return cli_fail("'%s' is not empty: its files would be hidden, which '-o "
				"nonempty' allows", dir);
	return CLI_OK;
}

static int run_mount(int argc, char **argv)
{
	struct job j = { .ready_fd = -1 };
	char *dir;
	int ret;

	j.tree.uid = getuid();
	j.tree.gid = getgid();
	ret = parse(&j, argc, argv);
	if (ret >= 0)
		return ret;
	/* the server leaves the working directory */
	dir = full_path(j.mount.dir);
	if (!dir)
		return cli_fail("cannot mount on '%s': %s", j.mount.dir,
				strerror(errno));
	j.mount.dir = dir;
	ret = check_dir(&j, dir);
	if (!ret)
		ret = j.foreground ? serve(&j) : in_background(&j);
	free(dir);
	return ret;
}

#else

static int run_mount(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return cli_fail("this tacho was built without libfuse3: install libfuse3-dev and "
			"build it again");
}

#endif

/* Until the server has put its things away, so that the next mount begins anew. */
static void wait_for_server(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	if (pidfd < 0)
		return;
	if (poll(&p, 1, WAIT_MS) == 0)
		cli_note("it is unmounted; its server is still busy");
}

/* Others than root need libfuse's helper. */
static int helper(const char *dir)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execlp("fusermount3", "fusermount3", "-u", dir, (char *)NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		return cli_fail("cannot unmount '%s': %s", dir, strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return cli_fail("cannot unmount '%s': fusermount3 is missing (package "
				"fuse3)", dir);
	return WIFEXITED(status) && !WEXITSTATUS(status) ? CLI_OK : CLI_FAILED;
}

static int unmount_errno(const char *dir)
{
	if (errno == EINVAL || errno == ENOENT)
		return cli_fail("nothing is mounted on '%s'", dir);
	if (errno == EBUSY)
		return cli_fail("'%s' is in use: close its files and leave the directory, "
				"'fuser -vm %s' tells who", dir, dir);
	return cli_fail("cannot unmount '%s': %s", dir, strerror(errno));
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

/* Nobody has put the sessions away. */
static void tell_left(void)
{
	struct left l = { "" };
	struct tacho_dir dir;

	if (tacho_dir_open(&dir, false, NULL))
		return;
	(void)tacho_sessions_each(&dir, add_left, &l);
	tacho_dir_close(&dir);
	if (*l.names)
		cli_note("its server was killed: what it recorded stays; 'tacho mount' goes on with "
			 "it, 'tacho destroy%s' ends it", l.names);
}

/* dir has a server; fd is it, -1: it is gone. */
static int unmount_dir(const char *dir, int fd)
{
	enum server server = ask_server(dir);
	int flags = UMOUNT_NOFOLLOW, ret = CLI_OK;

	if (server == SERVER_SILENT)
		return fail_silent(dir);
	if (umount2(dir, server == SERVER_DEAD ? flags | MNT_DETACH : flags))
		ret = errno == EPERM ? helper(dir) : unmount_errno(dir);
	if (ret == CLI_OK)
		wait_for_server(fd);
	if (ret == CLI_OK && server == SERVER_DEAD)
		tell_left();
	return ret;
}

static int unmount(const char *arg)
{
	char *dir = full_path(arg);
	pid_t pid = dir ? server_of(dir) : tacho_no_room_here(-errno) ? -errno : 0;
	int fd = pid > 0 ? open_server(pid) : -1;
	int ret;

	if (pid > 0)
		ret = unmount_dir(dir, fd);
	else if (pid < 0)
		ret = fail_mounts(pid);
	else
		ret = cli_fail("no tacho is mounted on '%s'", arg);
	if (fd >= 0)
		close(fd);
	free(dir);
	return ret;
}

static int run_umount(int argc, char **argv)
{
	static const struct option common[] = {
		CLI_COMMON_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	bool json = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "hq", common, NULL)) != -1) {
		int ret = cli_common(opt, &json);

		if (ret >= 0)
			return ret;
	}
	if (argc - optind != 1)
		return cli_usage("name the directory to unmount");
	return unmount(argv[optind]);
}

const struct cli_verb cli_mount = {
	.name = "mount",
	.summary = "mount the kernel's tracing files, for programs and kernel",
	.usage = mount_usage,
	.run = run_mount,
};

const struct cli_verb cli_umount = {
	.name = "umount",
	.summary = "remove a mount",
	.usage = umount_usage,
	.run = run_umount,
};
