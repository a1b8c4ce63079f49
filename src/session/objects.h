/* SPDX-License-Identifier: MIT */
/*
 * objects.h - a session's file `objects`: which code lay where in which process.
 *
 * A recorded call stack is addresses.  What they mean is found out by whoever reads
 * them: the process that is recorded only says, in this file, which files it has
 * mapped.  A ring would forget that.  The file is text, and is appended to:
 *
 *	process PID TICKS
 *	object START END OFFSET ID PATH
 *	...
 *	end N
 *	child PID PARENT TICKS
 *
 * Such a block is all that is mapped executable in process PID from TICKS of the
 * session's clock on, until its next block: N lines with numbers in hexadecimal
 * (PID, TICKS and N in decimal).  OFFSET is that of START in the file.  ID says which
 * file it was, whatever PATH is by now:
 *
 *	b:HEX		the build id, read from memory
 *	f:SIZE:S.NS	a file without one: its size and time of modification
 *	-		not known
 *
 * PATH goes to the end of the line, as in /proc/PID/maps.  A block is written in one
 * piece, before the first record that needs it, when a session's first command
 * that asks for stacks or functions is compiled or its first event with a pointer
 * is met, when an object with events is loaded, and when a stack goes through an object that was
 * not told yet.  A process id that is used again, and a program that is replaced by exec, begin
 * with a block of their own, so time tells whose an address is.  A forked child
 * begins with what its parent had.
 *
 * A block that has no end, or another number of lines, was cut off: of that
 * process nothing is known from then on.
 */
#ifndef TACHO_SESSION_OBJECTS_H
#define TACHO_SESSION_OBJECTS_H

/* In the session's directory, and among a trace's tables. */
#define TACHO_OBJECTS		"objects"

/* A file is not made larger than this: some 16,000 processes. */
#define TACHO_OBJECTS_MAX	((size_t)64 << 20)

#endif
