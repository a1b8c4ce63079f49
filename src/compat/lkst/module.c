// SPDX-License-Identifier: MIT
/* Event handlers from shared objects, for a process that pumps the kernel's events. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "compat/lkst/hook.h"

typedef lkst_evhandler_func (*function_of)(lkst_evhandler_id id);

/* The functions that the object's liblkst has by now; how many are new here. */
static int take_all(function_of get)
{
	int n = 0;

	for (uint32_t id = LKST_EVHANDLER_ID_USER; id < LKST_NR_HANDLERS; id++) {
		lkst_evhandler_func fn = get((lkst_evhandler_id)id);

		n += fn && fn != lkst_local_handler(id);
		if (fn)
			lkst_local_handler_set(id, fn);
	}
	return n;
}

int lkst_module_load(const char *path, struct tacho_diag *d)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
	function_of get;
	void *symbol;

	if (object) {		/* it is there already */
		(void)dlclose(object);
		return 0;
	}
	object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!object)
		return tacho_diag(d, -ENOENT, 0, "cannot load '%s': %s", path, dlerror());
	symbol = dlsym(object, "lkst_handler_function");
	memcpy(&get, &symbol, sizeof(get));
	if (get && take_all(get))
		return 0;
	/* its constructors have run, and may have left threads: it is not unloaded */
	return tacho_diag(d, -EINVAL, 0, "'%s' registers no event handler; it is to call "
			  "lkst_evhandler_register() in a constructor", path);
}
