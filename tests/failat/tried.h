/* SPDX-License-Identifier: MIT */
/*
 * tried.h - a call that fails is made again: what came of it then is printed.  One that is to fail
 * is made a third time when the second failure is another one.
 */
#include <errno.h>
#include <stdio.h>

#define TRY(call) __extension__ ({					\
	long came_ = (long)(call);					\
									\
	for (long last_ = 0; came_ < 0 && came_ != last_;) {		\
		last_ = came_;						\
		fprintf(stderr, "%s: %ld\n", #call, came_);		\
		came_ = (long)(call);					\
	}								\
	printf("%s: %ld\n", #call, came_);					\
	came_; })
