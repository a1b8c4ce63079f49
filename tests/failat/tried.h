/* SPDX-License-Identifier: MIT */
/* tried.h - a call that fails is made again: what came of it then is printed. */
#include <errno.h>
#include <stdio.h>

#define TRY(call) __extension__ ({					\
	long came_ = (long)(call);					\
									\
	if (came_ < 0) {						\
		fprintf(stderr, "%s: %ld\n", #call, came_);			\
		came_ = (long)(call);					\
	}								\
	printf("%s: %ld\n", #call, came_);					\
	came_; })
