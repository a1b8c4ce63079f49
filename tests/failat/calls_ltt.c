// SPDX-License-Identifier: MIT
/* calls_ltt: LTT's calls, in a program that goes on whatever they say. */
#include <ltt/trace.h>

#include "tried.h"

int main(void)
{
	trace_event_mask mask = 0;
	long id;

	TRY(trace_attach());
	id = TRY(trace_create_event("cache", "key %d", CUSTOM_EVENT_FORMAT_TYPE_STR, ""));
	TRY(trace_std_formatted_event((int)id, 7));
	TRY(trace_raw_event((int)id, 4, "abc"));
	TRY(trace_user_event((int)id, 4, "def"));
	TRY(trace_get_event_mask(&mask));
	TRY(trace_set_event_mask(mask));
	trace_destroy_event((int)id);
	TRY(trace_detach());
	return 0;
}
