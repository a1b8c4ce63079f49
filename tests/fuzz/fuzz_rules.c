// SPDX-License-Identifier: MIT
/* fuzz_rules - any text as rules of the model: good rules print as they were, bad ones say why. */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tacho_buf once, twice;
	struct tacho_diag d = { 0 };
	struct model_rules *a, *b;

	if (model_rules_new(&a, &d) || model_rules_new(&b, &d))
		abort();
	tacho_buf_init(&once, (size_t)64 << 20);
	tacho_buf_init(&twice, (size_t)64 << 20);
	model_rules_text(b, &twice);
	if (model_rules_add(a, (const char *)data, size, &d)) {
		if (!d.text[0] || d.offset > size)
			abort();
		model_rules_text(a, &once);
		if (once.len != twice.len)
			abort();
	} else {
		/* what it prints are the same rules in front of the built-in ones */
		model_rules_text(a, &once);
		if (model_rules_add(b, once.data, once.len - twice.len, &d))
			abort();
		tacho_buf_reset(&twice);
		model_rules_text(b, &twice);
		if (once.len != twice.len || memcmp(once.data, twice.data, once.len))
			abort();
	}
	tacho_buf_release(&once);
	tacho_buf_release(&twice);
	model_rules_free(a);
	model_rules_free(b);
	return 0;
}
