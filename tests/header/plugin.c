/* SPDX-License-Identifier: MIT */
/* A library with the program's events as its own. */
#define CREATE_TRACE_POINTS
#include "sample_trace.h"

int sample_evaluated;

__attribute__((visibility("default"))) void plugin_request(unsigned int id);

void plugin_request(unsigned int id)
{
	trace_request_start(id, "/plugin");
}
