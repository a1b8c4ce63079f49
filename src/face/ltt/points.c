// SPDX-License-Identifier: MIT
/*
 * The tracepoints.  A file of its own: their functions are called as LTT's structs
 * are.
 */
#define CREATE_TRACE_POINTS
#include "face/ltt/points.h"

#include "face/ltt/record.h"

bool ltt_new_event_is_on(void)
{
	return trace_new_event_enabled();
}

void ltt_record_new_event(uint32_t id, const char *type, const char *desc,
			  uint32_t format_type, const char *form)
{
	trace_new_event(id, type, desc, format_type, form);
}

void ltt_record_custom(uint32_t id, uint32_t size, const void *data)
{
	trace_custom(id, size, data);
}

void ltt_record_change_mask(uint64_t mask)
{
	trace_change_mask(mask);
}
