/* SPDX-License-Identifier: MIT */
/*
 * synthetic.c - an event that the program defines while it runs.
 *
 *	cc synthetic.c -o synthetic $(pkg-config --cflags --libs tacho-events)
 *	TACHO_SESSION=mine ./synthetic		tacho report session:mine
 */
#include <stdint.h>
#include <stdio.h>

#include <tacho/events.h>

int main(void)
{
	static const struct synth_field_desc fields[] = {
		{ "pid_t",	"worker" },
		{ "char[16]",	"task" },
		{ "u64",	"nanoseconds" },
	};
	struct trace_event_file *file;
	int err;

	err = synth_event_create("job_done", fields, 3, THIS_MODULE);
	if (err) {
		fprintf(stderr, "synthetic: cannot define the event: error %d\n", -err);
		return 1;
	}
	file = trace_get_event_file(NULL, "synthetic", "job_done");
	if (IS_ERR(file)) {
		fprintf(stderr, "synthetic: cannot find the event: error %ld\n", -PTR_ERR(file));
		return 1;
	}
	err = trace_array_set_clr_event(file->tr, "synthetic", "job_done", true);
	for (uint64_t i = 1; !err && i <= 3; i++) {
		u64 values[3] = { 100 + i, (u64)(uintptr_t)"resize", i * 1000 };

		err = synth_event_trace_array(file, values, 3);
	}
	trace_array_set_clr_event(file->tr, "synthetic", "job_done", false);
	trace_put_event_file(file);
	synth_event_delete("job_done");
	return err != 0;
}
