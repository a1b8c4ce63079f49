// SPDX-License-Identifier: MIT
/* Ten spans, with a line in each: something for a live session. */
#include <tacho/marker.h>
#include <tacho/printk.h>

int main(void)
{
	for (int i = 1; i <= 10; i++) {
		TACHO_SPAN("round");
		tacho_printk("round %d", i);
	}
	return 0;
}
