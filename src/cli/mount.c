// SPDX-License-Identifier: MIT
/* mount, umount: the control files of tracefs for programs and the kernel. */
#include <errno.h>
#include <getopt.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/mount.h"
#include "base/text.h"
#include "cli/cli.h"
#ifdef TACHO_HAVE_FUSE
#include "fuse/mount.h"
#endif

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

static int run_mount(int argc, char **argv)
{
	struct job j = { .ready_fd = -1 };
	struct tacho_diag d = { 0 };
	char *dir;
	int ret;

	j.tree.uid = getuid();
	j.tree.gid = getgid();
	ret = parse(&j, argc, argv);
	if (ret >= 0)
		return ret;
	/* in full: the server leaves the working directory */
	if (app_mount_check(j.mount.dir, j.nonempty, &dir, &d))
		return cli_fail_diag(&d);
	j.mount.dir = dir;
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

static int run_umount(int argc, char **argv)
{
	static const struct option common[] = {
		CLI_COMMON_OPTIONS,
		{ NULL, 0, NULL, 0 },
	};
	struct tacho_diag d = { 0 };
	bool json = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "hq", common, NULL)) != -1) {
		int ret = cli_common(opt, &json);

		if (ret >= 0)
			return ret;
	}
	if (argc - optind != 1)
		return cli_usage("name the directory to unmount");
	if (!app_umount(argv[optind], &cli_observer, &d))
		return CLI_OK;
	/* else fusermount3 has said why */
	return d.err ? cli_fail_diag(&d) : CLI_FAILED;
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
