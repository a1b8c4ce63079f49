/* SPDX-License-Identifier: MIT */
/*
 * objects.h - a session's file `objects`: the code mappings of its processes (LTTng: state dump).
 *
 * A recorded call stack consists of addresses, which readers resolve.  The recorded process only
 * writes its mapped files to this file.  A ring would overwrite this information.  The file is
 * append-only text:
 *
 *	process PID TICKS
 *	object START END OFFSET ID PATH
 *	...
 *	end N
 *	child PID PARENT TICKS
 *
 * A block lists all executable mappings of process PID from TICKS of the session's clock on,
 * until its next block: N lines with numbers in hexadecimal (PID, TICKS and N in decimal).
 * OFFSET is that of START in the file.  ID identifies the file, even if PATH now names another
 * one:
 *
 *	b:HEX		the build id, read from memory
 *	f:SIZE:S.NS	a file without one: its size and time of modification
 *	-		not known
 *
 * PATH extends to the end of the line, as in /proc/PID/maps.  A block is written completely
 * before the first record that needs it:
 *	* when a session's first command that needs stacks or functions is compiled,
 *	* at the first use of an event type with a pointer,
 *	* when an object with events is loaded,
 *	* when a stack contains an object that was not announced yet.
 * A reused process id, and a program that is replaced by exec, begin with a new block, so the
 * time decides which block applies to an address.  A forked child begins with the mappings of its
 * parent.
 *
 * A block without an end, or with another number of lines, is incomplete: from then on the
 * mappings of that process are unknown.
 */
#ifndef TACHO_SESSION_OBJECTS_H
#define TACHO_SESSION_OBJECTS_H

/* In the session's directory, and among a trace's tables. */
#define TACHO_OBJECTS		"objects"

/* Maximum size of the file, enough for about 16,000 processes. */
#define TACHO_OBJECTS_MAX	((size_t)64 << 20)

#endif
