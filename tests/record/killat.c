// SPDX-License-Identifier: MIT
/*
 * killat N COMMAND...: runs a command and kills it (SIGKILL) on its way into its
 * N-th system call after the exec, not its children.  Exit status: 99 when it was killed,
 * else the command's (128 + signal when it died of another one); 98 when
 * processes cannot be traced here.
 *
 * Everything that outlives a process is changed by system calls or by stores to shared
 * memory between two of them: so all N together are all the states that a
 * killed tool can leave behind, but for the stores.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

static int traced_child(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL))
		return 98;
	raise(SIGSTOP);
	execvp(argv[0], argv);
	return 97;
}

int main(int argc, char **argv)
{
	unsigned long at = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
	unsigned long entries = 0;
	int status, sig = 0;
	int entering = 0;
	pid_t pid;

	if (!at)
		return 97;
	pid = fork();
	if (!pid)
		_exit(traced_child(argv + 2));
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return WIFEXITED(status) ? WEXITSTATUS(status) : 97;
	if (ptrace(PTRACE_SETOPTIONS, pid, NULL,
		   (void *)(PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC |
			    PTRACE_O_EXITKILL)))
		return 98;
	ptrace(PTRACE_CONT, pid, NULL, NULL);
	for (;;) {
		if (waitpid(pid, &status, 0) != pid)
			return 97;
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return WTERMSIG(status) == SIGKILL && entries >= at ?
			       99 : 128 + WTERMSIG(status);
		sig = 0;
		if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
			entering = !entering;
			if (entering && ++entries == at) {
				kill(pid, SIGKILL);
				continue;
			}
		} else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			entering = 1;	/* its exit comes next */
		} else {
			sig = WSTOPSIG(status);
		}
		ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)sig);
	}
}
