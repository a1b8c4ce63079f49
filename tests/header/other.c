/* SPDX-License-Identifier: MIT */
/* A second file of the program: uses events, defines none. */
#include "sample_trace.h"
#include "other.h"

void other_request(unsigned int id, const char *path)
{
	trace_request_start(id, path);
}
