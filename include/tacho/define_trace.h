/* SPDX-License-Identifier: MIT */
/*
 * <tacho/define_trace.h> - define the events of a trace header.
 *
 * The last line of every trace header, outside its include guard.  It has an effect only
 * in the file that defines CREATE_TRACE_POINTS: there it includes the trace header once
 * for each stage of tacho/impl/stages.h.
 *
 *	TRACE_SYSTEM		the system of the events
 *	TRACE_INCLUDE_FILE	the trace header's name without .h (default: TRACE_SYSTEM)
 *	TRACE_INCLUDE_PATH	its directory, absolute or relative to a -I directory
 *				(default: a -I directory itself)
 *
 * No include guard: each trace header of a file includes it.
 */
#if defined(CREATE_TRACE_POINTS) && !defined(TACHO_DISABLE)

/* Trace headers that this one includes when it is included again are complete. */
#undef CREATE_TRACE_POINTS

#include "tacho/impl/object.h"
#include "tacho/impl/raw.h"

/*
 * With <> the search starts in the -I directories.  With "" it would start in this
 * file's directory and could find tacho's printk.h or stream.h instead of the user's.
 */
#define TACHO_HEADER__(path, file)	<path/file.h>
#define TACHO_HEADER_(path, file)	TACHO_HEADER__(path, file)
#define TACHO_PLAIN_HEADER__(file)	<file.h>
#define TACHO_PLAIN_HEADER_(file)	TACHO_PLAIN_HEADER__(file)
#ifdef TRACE_INCLUDE_PATH
#define TACHO_HEADER	TACHO_HEADER_(TRACE_INCLUDE_PATH, TRACE_INCLUDE_FILE)
#else
#define TACHO_HEADER	TACHO_PLAIN_HEADER_(TRACE_INCLUDE_FILE)
#endif

#define TRACE_HEADER_MULTI_READ

/* The stages make code that no user wrote; its style is of no concern to him. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wformat-zero-length"
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
#pragma GCC diagnostic ignored "-Wcast-qual"
#ifdef __clang__
#pragma GCC diagnostic ignored "-Wextra-semi"
#pragma GCC diagnostic ignored "-Wformat-pedantic"
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wc++11-narrowing"
#endif
#endif
#ifdef __cplusplus
#pragma GCC diagnostic ignored "-Wnarrowing"
#pragma GCC diagnostic ignored "-Wold-style-cast"
#pragma GCC diagnostic ignored "-Wignored-attributes"
#endif

/* Fields are aligned to at most 8, like the records they lie in. */
#pragma pack(push, 8)
#define TACHO_STAGE 1
#include "tacho/impl/stages.h"
#include TACHO_HEADER
#undef TACHO_STAGE
#pragma pack(pop)

#define TACHO_STAGE 2
#include "tacho/impl/stages.h"
#include TACHO_HEADER
#undef TACHO_STAGE

#define TACHO_STAGE 3
#include "tacho/impl/stages.h"
#include TACHO_HEADER
#undef TACHO_STAGE

#define TACHO_STAGE 4
#include "tacho/impl/stages.h"
#include TACHO_HEADER
#undef TACHO_STAGE

#define TACHO_STAGE 5
#include "tacho/impl/stages.h"
#include TACHO_HEADER
#undef TACHO_STAGE

#define TACHO_STAGE 6
#include "tacho/impl/stages.h"
#include TACHO_HEADER
#undef TACHO_STAGE

#define TACHO_STAGE 7
#include "tacho/impl/stages.h"
#include TACHO_HEADER
#undef TACHO_STAGE

#define TACHO_STAGE 9
#include "tacho/impl/stages.h"
#undef TACHO_STAGE

#pragma GCC diagnostic pop

/* Further trace headers of this file are declared again. */
#define TACHO_STAGE 0
#include "tacho/impl/stages.h"
#undef TACHO_STAGE

#undef TRACE_HEADER_MULTI_READ
#undef TACHO_HEADER
#undef TACHO_HEADER_
#undef TACHO_HEADER__
#undef TACHO_PLAIN_HEADER_
#undef TACHO_PLAIN_HEADER__

#define CREATE_TRACE_POINTS

#endif
