// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "fmt/bt2/bt2.h"

#define MODULE		"libtacho-bt2.so"
#define BUILD_DIR	"/src/fmt"	/* below the directory that tacho is built in */

/* Where it was looked for, and what the loader said of one that is there. */
struct search {
	const struct tacho_bt2_module *module;
	char why[160];
};

/* Loads the module from one directory, unless it is found; it stays loaded. */
static void look_in(struct search *s, const char *dir)
{
	char path[4096];
	void *handle;
	int n = snprintf(path, sizeof(path), "%s/" MODULE, dir);

	if (s->module || n < 0 || (size_t)n >= sizeof(path) || access(path, F_OK))
		return;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (handle)
		s->module = dlsym(handle, "tacho_bt2_module");
	else
		(void)snprintf(s->why, sizeof(s->why), "%s", dlerror());
}

/*
 * A tool that lies where it was built has its module below it.  Not for a program
 * with more rights than its user, who could have made a link to it elsewhere.
 */
static void look_beside(struct search *s)
{
	char path[4096];
	ssize_t n;
	char *slash;

	if (getauxval(AT_SECURE))
		return;
	n = readlink("/proc/self/exe", path, sizeof(path) - sizeof(BUILD_DIR));
	if (n <= 0)
		return;
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (!slash)
		return;
	memcpy(slash, BUILD_DIR, sizeof(BUILD_DIR));
	look_in(s, path);
}

static int no_module(const struct search *s, const char *dir, struct tacho_diag *d)
{
	if (*s->why)
		return tacho_diag(d, -ENOTSUP, 0,
			"'%.60s' is a CTF trace of another tracer, and the module that reads those cannot be loaded: %s",
			dir, s->why);
	return tacho_diag(d, -ENOTSUP, 0,
		"'%.60s' is a CTF trace of another tracer; the module that reads those, " MODULE ", is neither in %.60s nor in $TACHO_MODULE_DIR: it is made when tacho is built with libbabeltrace2-dev",
		dir, TACHO_MODULE_DIR);
}

int tacho_bt2_open(struct tacho_source **source, const char *dir,
		   unsigned int flags, struct tacho_diag *d)
{
	const char *where = secure_getenv("TACHO_MODULE_DIR");
	struct search s = { .module = NULL };
	const struct tacho_bt2_module *m;

	*source = NULL;
	if (where)
		look_in(&s, where);
	look_beside(&s);
	look_in(&s, TACHO_MODULE_DIR);
	m = s.module;
	if (!m)
		return no_module(&s, dir, d);
	if (strncmp(m->version, TACHO_VERSION, sizeof(m->version)) ||
	    m->source_size != sizeof(struct tacho_source) ||
	    m->type_size != sizeof(struct tacho_type))
		return tacho_diag(d, -ENOTSUP, 0,
			"the module " MODULE " is of another version of tacho than this program");
	return m->open(source, dir, flags, d);
}
