// SPDX-License-Identifier: MIT
/* A program with call stacks: events that come from two functions. */
#include <tacho/printk.h>

__attribute__((noinline)) void inner(int i)
{
	tacho_printk("inner %d", i);
	__asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) void outer(int i)
{
	inner(i);
	tacho_printk("outer %d", i);
	__asm__ volatile("" ::: "memory");
}

int main(void)
{
	for (int i = 0; i < 10; i++)
		outer(i);
	inner(10);
	return 0;
}
