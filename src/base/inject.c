// SPDX-License-Identifier: MIT
#include "base/inject.h"

#include <stddef.h>

#ifdef TACHO_INJECT_POINTS
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/atomic.h"

void (*tacho_inject_hook)(const char *point);

/* $TACHO_INJECT_KILL=point:n */
static const char *kill_point;
static size_t kill_len;
static unsigned long kill_left;

static void kill_hook(const char *point)
{
	if (strlen(point) != kill_len || strncmp(point, kill_point, kill_len))
		return;
	if (tacho_sub_relaxed(&kill_left, 1) == 1)
		(void)raise(SIGKILL);
}

/* For programs whose code a test cannot change. */
__attribute__((constructor(101))) static void inject_from_environment(void)
{
	const char *text = getenv("TACHO_INJECT_KILL");
	const char *colon = text ? strchr(text, ':') : NULL;

	if (!colon)
		return;
	kill_point = text;
	kill_len = (size_t)(colon - text);
	kill_left = strtoul(colon + 1, NULL, 10);
	tacho_inject_hook = kill_hook;
}
#else
typedef int tacho_inject_is_off;	/* a source file must declare something */
#endif
