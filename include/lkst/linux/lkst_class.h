/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst_class.h> - event handlers as devices, with files (specification 4.7.2.3.6).
 *
 * Each is a directory class/lkst/NAME of the mounted tree with the files id, name and
 * ctrl.
 */
#ifndef LKST_CLASS_H
#define LKST_CLASS_H

#include <linux/lkst_evhandler.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LKST_EVHANDLER_NAME	LKST_EVHANDLER_NAME_LEN

/* The kernel's; not used. */
struct class_device {
	void *class_data;
};

struct lkst_eh_device {
	char name[LKST_EVHANDLER_NAME];
	int id;
	lkst_evhandler_func evhandler;
	lkst_evhandler_ctrl_func evhandler_ctrl;
	/*
	 * Gets the data written to ctrl, followed by NUL.  Returns its bytes, or a negative errno.
	 */
	ssize_t (*ctrl_store)(struct lkst_eh_device *, const char *, size_t);
	/* Fills a page with the contents of ctrl.  Returns its bytes, or a negative errno. */
	ssize_t (*ctrl_show)(struct lkst_eh_device *, char *);
	/* The registration's own; `class` is a keyword of C++. */
#ifdef __cplusplus
	struct class_device class_dev;
#else
	struct class_device class;
#endif
};

#define LKST_EH_DEV(name)	lkst_eh_device_##name

#define LKST_EH_DEV_DEF(ehname, evh, evh_ctl, cstore, cshow)		\
	struct lkst_eh_device LKST_EH_DEV(ehname) = {			\
		#ehname, LKST_EVHANDLER_ID_VOID, evh, evh_ctl, cstore, cshow, { 0 }, \
	}

/* As lkst_evhandler_register(), with files.  The id, or a negative errno. */
int lkst_eh_device_register(struct lkst_eh_device *ehdev);
void lkst_eh_device_unregister(struct lkst_eh_device *ehdev);

#ifdef __cplusplus
}
#endif

#endif
