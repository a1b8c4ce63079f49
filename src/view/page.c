// SPDX-License-Identifier: MIT
#include "view/page.h"

#include <string.h>

#ifdef TACHO_PAGE
/* The build says which files these are; the assembler takes them in as they are. */
#define FILE_BYTES(name, path)							\
	__asm__(".section .rodata\n"						\
		".balign 16\n"							\
		".globl view_page_" #name "\n"					\
		".hidden view_page_" #name "\n"					\
		"view_page_" #name ":\n"					\
		".incbin \"" path "\"\n"					\
		".globl view_page_" #name "_end\n"				\
		".hidden view_page_" #name "_end\n"				\
		"view_page_" #name "_end:\n"					\
		".byte 0\n"							\
		".previous\n");							\
	extern const unsigned char view_page_##name[], view_page_##name##_end[]

FILE_BYTES(html, TACHO_PAGE "/index.html.gz");
FILE_BYTES(js, TACHO_PAGE "/main.js.gz");
FILE_BYTES(css, TACHO_PAGE "/main.css.gz");
FILE_BYTES(icon, TACHO_PAGE "/icon.svg.gz");

bool view_page_file(const char *path, struct view_file *file)
{
	static const struct {
		const char *path, *type;
		const unsigned char *begin, *end;
	} files[] = {
		{ "", "text/html; charset=utf-8", view_page_html, view_page_html_end },
		{ "main.js", "text/javascript; charset=utf-8", view_page_js, view_page_js_end },
		{ "main.css", "text/css; charset=utf-8", view_page_css, view_page_css_end },
		{ "icon.svg", "image/svg+xml", view_page_icon, view_page_icon_end },
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strcmp(files[i].path, path))
			continue;
		*file = (struct view_file){ files[i].type, files[i].begin,
					    (size_t)(files[i].end - files[i].begin) };
		return true;
	}
	return false;
}
#else
bool view_page_file(const char *path, struct view_file *file)
{
	(void)path;
	(void)file;
	return false;
}
#endif
