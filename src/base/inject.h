/* SPDX-License-Identifier: MIT */
/*
 * inject.h - named points at which a test can intervene.
 *
 * TACHO_INJECT(name) is nothing in a normal build.  Built with
 * -DTACHO_INJECT_POINTS it calls tacho_inject_hook (if set) with the point's
 * name, and the test decides: kill the process, fail, switch to another
 * writer, deliver a signal.  Without a test in the process,
 * TACHO_INJECT_KILL=point:n in its environment kills it at the n-th time.
 */
#ifndef TACHO_BASE_INJECT_H
#define TACHO_BASE_INJECT_H

#ifdef TACHO_INJECT_POINTS
extern void (*tacho_inject_hook)(const char *point);
#define TACHO_INJECT(name) \
	do { \
		if (tacho_inject_hook) \
			tacho_inject_hook(#name); \
	} while (0)
#else
#define TACHO_INJECT(name) do { } while (0)
#endif

#endif
