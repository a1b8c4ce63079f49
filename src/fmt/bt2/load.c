// SPDX-License-Identifier: MIT
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmt/bt2/bt2.h"

#define MODULE	"libtacho-bt2.so"

/* Loads the module from one directory; it stays loaded. */
static const struct tacho_bt2_module *load(const char *dir)
{
	char path[4096];
	void *handle;
	int n = snprintf(path, sizeof(path), "%s/" MODULE, dir);

	if (n < 0 || (size_t)n >= sizeof(path))
		return NULL;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	return handle ? dlsym(handle, "tacho_bt2_module") : NULL;
}

int tacho_bt2_open(struct tacho_source **source, const char *dir,
		   unsigned int flags, struct tacho_diag *d)
{
	const char *where = secure_getenv("TACHO_MODULE_DIR");
	const struct tacho_bt2_module *m = where ? load(where) : NULL;

	*source = NULL;
	if (!m)
		m = load(TACHO_MODULE_DIR);
	if (!m)
		return tacho_diag(d, -ENOTSUP, 0,
			"'%.80s' is a CTF trace of another tracer, and the module that reads those (" MODULE ", needs libbabeltrace2) is not installed",
			dir);
	if (strncmp(m->version, TACHO_VERSION, sizeof(m->version)) ||
	    m->source_size != sizeof(struct tacho_source) ||
	    m->type_size != sizeof(struct tacho_type))
		return tacho_diag(d, -ENOTSUP, 0,
			"the module " MODULE " is of another version of tacho than this program");
	return m->open(source, dir, flags, d);
}
