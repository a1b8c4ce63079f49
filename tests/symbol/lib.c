// SPDX-License-Identifier: MIT
/* A shared library: one function twice by name, a local one, an alias. */
int lib_twice(int value);
int lib_alias(int value) __attribute__((alias("lib_twice")));
int lib_sum(const int *list, int nr);

__attribute__((noinline)) static int local_add(int a, int b)
{
	__asm__ volatile("" : "+r" (a));
	return a + b;
}

__attribute__((noinline)) int lib_twice(int value)
{
	return local_add(value, value);
}

/* The name that a C++ compiler gives app::order::take(int, char const*). */
int _ZN3app5order4takeEiPKc(int nr, const char *name);
/* Begins like one, and is none. */
int _Z_no(int value);

__attribute__((noinline)) int _ZN3app5order4takeEiPKc(int nr, const char *name)
{
	return local_add(nr, *name);
}

__attribute__((noinline)) int _Z_no(int value)
{
	return local_add(value, 3);
}

__attribute__((noinline)) int lib_sum(const int *list, int nr)
{
	int sum = 0;

	for (int i = 0; i < nr; i++)
		sum = local_add(sum, list[i]);
	return sum;
}
