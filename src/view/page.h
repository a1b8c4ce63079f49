/* SPDX-License-Identifier: MIT */
/* page.h - the files of the page, as the build packed them (web/meson.build). */
#ifndef TACHO_VIEW_PAGE_H
#define TACHO_VIEW_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct view_file {
	const char *type;
	const unsigned char *bytes;	/* gzip */
	size_t len;
};

/* The file of a path ("" is the page itself); false: there is none, or the page was not built. */
bool view_page_file(const char *path, struct view_file *file);

#endif
