/* SPDX-License-Identifier: MIT */
/*
 * frame.h - what lies at an address of a program: one frame of its call stack.
 *
 * Streams hand addresses out as they were recorded.  Whoever knows what was mapped
 * there (resolve/resolve.h) is asked through struct tacho_frames.
 */
#ifndef TACHO_STREAM_FRAME_H
#define TACHO_STREAM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "tacho/stream.h"

struct tacho_frame {
	const char *function;	/* NULL: not known */
	uint64_t offset;	/* in the function */
	uint64_t size;		/* of the function; 0: not known */
	const char *file;	/* source, as the compiler was told; or NULL */
	uint32_t line;
	const char *object;	/* path of the file that was mapped; NULL: none */
	uint64_t object_offset;	/* in that file */
};

struct tacho_frames {
	void *arg;		/* handed to the call */
	/*
	 * The frame of a return address in a program's record.  False: nothing is
	 * known; frame is all NULL then.
	 */
	bool (*frame)(void *arg, const struct tacho_record *r, uint64_t addr,
		      struct tacho_frame *frame);
};

/*
 * A frame as a line of a stack has it:
 *
 *	function+0x1a (file.c:33)
 *	function+0x1a [library.so]	no source line is known
 *	/path/library.so[+0x1234]	no function is; as the kernel's userstacktrace,
 *					but the offset is the file's
 *	<00007f00deadbeef>		no file is
 */
void tacho_frame_put(const struct tacho_frame *frame, uint64_t addr,
		     struct tacho_buf *out);

/* What is behind the last '/'. */
const char *tacho_frame_base(const char *path);

#endif
