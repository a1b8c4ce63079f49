// SPDX-License-Identifier: MIT
#include "event/context.h"

enum {
	IRQS_OFF = 0x01,
	NEED_RESCHED_LAZY = 0x02,
	NEED_RESCHED = 0x04,
	HARDIRQ = 0x08,
	SOFTIRQ = 0x10,
	PREEMPT_RESCHED = 0x20,
	NMI = 0x40,
	BH_OFF = 0x80,
};

static char resched_letter(unsigned int flags)
{
	static const char letter[8] = ".nlbpNLB";

	return letter[(flags & NEED_RESCHED ? 1 : 0) |
		      (flags & NEED_RESCHED_LAZY ? 2 : 0) |
		      (flags & PREEMPT_RESCHED ? 4 : 0)];
}

static char irq_letter(unsigned int flags)
{
	if (flags & NMI)
		return flags & HARDIRQ ? 'Z' : 'z';
	if (flags & HARDIRQ)
		return flags & SOFTIRQ ? 'H' : 'h';
	return flags & SOFTIRQ ? 's' : '.';
}

char *tacho_context_some(char *to, unsigned int flags, unsigned int count)
{
	static const char hex[] = ".123456789abcdef";

	*to++ = flags & IRQS_OFF ? (flags & BH_OFF ? 'D' : 'd') :
		flags & BH_OFF ? 'b' : '.';
	*to++ = resched_letter(flags);
	*to++ = irq_letter(flags);
	*to++ = hex[count & 0xf];
	*to++ = hex[count >> 4 & 0xf];
	return to;
}
