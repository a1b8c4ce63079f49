// SPDX-License-Identifier: MIT
/*
 * fuzz_model - any bytes as a trace of LTT or QNX, through the model.
 *
 * Whatever the trace says, the invariants of model/model.h hold.
 */
#include <stdlib.h>

#include "fmt/kev/read.h"
#include "fmt/ltt/read.h"
#include "fuzz/stream.h"
#include "intervals/check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct model_rules *rules;

static struct tacho_source *open_source(const uint8_t *data, size_t size)
{
	struct tacho_diag d = { 0 };
	struct tacho_source *source;
	bool kev = data[0] & 1;

	data++;
	size--;
	if (kev ? tacho_kev_open_memory(&source, data, size, 0, &d) :
		  tacho_ltt_open_memory(&source, data, size, 0, &d))
		return NULL;
	return source;
}

static void run(struct tacho_stream *s)
{
	struct model_check check = { 0 };
	struct model_config config = { s, rules, &model_check_ops, &check };
	struct tacho_diag d = { 0 };
	struct tacho_record r;
	struct model *m;

	if (model_new(&m, &config, &d))
		abort();
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		if (model_record(m, &r))
			abort();
	if (model_finish(m))
		abort();
	model_check_end(&check, model_stats(m));
	model_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_source *source = size ? open_source(data, size) : NULL;
	struct tacho_stream *s;

	if (!source)
		return 0;
	if (!rules && model_rules_new(&rules, NULL))
		abort();
	s = tacho_stream_new(0);
	if (!s || tacho_stream_add_take(s, source))
		abort();
	run(s);
	tacho_stream_close(s);
	return 0;
}
