// SPDX-License-Identifier: MIT
/*
 * stacked - a traced program whose functions' names are asked for.
 *
 *	stacked COMMAND...	each argument is one command
 *	stacked -		commands from stdin; "ok" after each
 *
 * A remark "LINE name" marks the line that a frame of that name must show.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CREATE_TRACE_POINTS
#include "stack_trace.h"

void lib_enter(void (*fn)(void));
void outer(void);
void second(void);

static char *self;
static uint64_t steps;
static void *plugin;

/* What follows a call keeps it from becoming a jump. */
#define STAY()	__asm__ volatile("" ::: "memory")

__attribute__((noinline)) static void inner(void)
{
	trace_step(steps++);	/* LINE inner */
	STAY();
}

__attribute__((noinline)) void outer(void)
{
	inner();		/* LINE outer */
	STAY();
}

__attribute__((noinline)) void second(void)
{
	inner();		/* LINE second */
	STAY();
}

static void child(void)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		second();
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		exit(4);
}

/* "FILE FUNCTION": loads it, and calls its function. */
static void load(const char *arg)
{
	char file[4096], name[64];
	void (*enter)(void (*fn)(void));
	void *f;

	if (sscanf(arg, "%4000s %60s", file, name) != 2)
		exit(5);
	plugin = dlopen(file, RTLD_NOW);
	f = plugin ? dlsym(plugin, name) : NULL;
	if (!f) {
		fprintf(stderr, "stacked: %s\n", dlerror());
		exit(5);
	}
	memcpy(&enter, &f, sizeof(f));
	printf("%p\n", f);
	enter(outer);
	trace_call(f, steps);
}

static void run(char *line)
{
	if (!strcmp(line, "outer"))
		outer();
	else if (!strcmp(line, "second"))
		second();
	else if (!strcmp(line, "lib"))
		lib_enter(outer);
	else if (!strcmp(line, "call"))
		trace_call((void *)(uintptr_t)outer, 1);
	else if (!strcmp(line, "call2"))
		trace_call((char *)(uintptr_t)second + 1, 2);
	else if (!strcmp(line, "callib"))
		trace_call((void *)(uintptr_t)lib_enter, 3);
	else if (!strcmp(line, "nowhere"))
		trace_call((void *)(uintptr_t)16, 4);
	else if (!strcmp(line, "fork"))
		child();
	else if (!strncmp(line, "load ", 5))
		load(line + 5);
	else if (!strcmp(line, "unload"))
		dlclose(plugin);
	else if (!strncmp(line, "exec ", 5))
		execl(self, self, line + 5, (char *)NULL);
	else
		exit(6);
}

int main(int argc, char **argv)
{
	char line[8192];

	self = argv[0];
	for (int i = 1; i < argc && strcmp(argv[i], "-"); i++)
		run(argv[i]);
	while (argc > 1 && !strcmp(argv[argc - 1], "-") &&
	       fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		run(line);
		printf("ok\n");
		fflush(stdout);
	}
	return 0;
}
