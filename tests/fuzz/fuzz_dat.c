// SPDX-License-Identifier: MIT
/* fuzz_dat - any bytes as a trace.dat. */
#include <stdlib.h>

#include "fmt/tracedat/read.h"
#include "fuzz/stream.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_diag d = { 0 };
	struct tacho_source *source;
	struct tacho_stream *s = tacho_stream_new(0);

	if (!s)
		return 0;
	if (tacho_dat_open_memory(&source, data, size, 0, &d)) {
		/* every refusal has its sentence */
		if (!d.err || !d.text[0])
			abort();
		tacho_stream_close(s);
		return 0;
	}
	if (tacho_stream_add_take(s, source))
		abort();
	fuzz_stream(s, fuzz_chosen(data, size));
	tacho_stream_close(s);
	return 0;
}
