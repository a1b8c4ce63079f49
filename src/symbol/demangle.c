// SPDX-License-Identifier: MIT
/*
 * demangle.c - the names of C++ functions as in the source.
 *
 * Uses __cxa_demangle() of the C++ runtime (Itanium C++ ABI).  The runtime is loaded for the
 * first C++ name, so tacho is linked with neither the C++ runtime nor a demangling library.  A
 * machine without the runtime, which hardly has C++ programs, shows the names in the file.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "symbol/priv.h"

/* Returns memory of malloc(), or NULL; out and len are NULL. */
typedef char *(*demangle_fn)(const char *name, char *out, size_t *len, int *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static demangle_fn found;	/* the runtime's function, which stays loaded; or NULL */

/* Once in the process: objects of several threads need it. */
static void find_demangle(void)
{
	void *runtime = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (!runtime)
		runtime = dlopen("libc++abi.so.1", RTLD_NOW | RTLD_LOCAL);
	if (runtime) {
		void *symbol = dlsym(runtime, "__cxa_demangle");

		memcpy(&found, &symbol, sizeof(found));
	}
}

static const char *demangled(struct tacho_object *o, const char *name)
{
	const char *kept;
	char *text;

	(void)pthread_once(&once, find_demangle);
	text = found ? found(name, NULL, NULL, NULL) : NULL;
	kept = text ? tacho_arena_strndup(&o->arena, text, strlen(text)) : NULL;
	free(text);
	return kept ? kept : name;
}

const char *tacho_object_shown_name(struct tacho_object *o, const struct tacho_function *fn)
{
	size_t i = (size_t)(fn - o->function);

	if (strncmp(fn->name, "_Z", 2) != 0)
		return fn->name;
	if (!o->shown)
		o->shown = calloc(o->nr_functions, sizeof(*o->shown));
	if (!o->shown)
		return fn->name;
	if (!o->shown[i])
		o->shown[i] = demangled(o, fn->name);
	return o->shown[i];
}
