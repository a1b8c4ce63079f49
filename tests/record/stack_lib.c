// SPDX-License-Identifier: MIT
/* A library without events of its own, called ENTER: linked, or loaded later. */
void ENTER(void (*fn)(void));

__attribute__((noinline, visibility("default"))) void ENTER(void (*fn)(void))
{
	fn();			/* LINE enter */
	__asm__ volatile("" ::: "memory");
}
