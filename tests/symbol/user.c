// SPDX-License-Identifier: MIT
/* Calls the library: user ROUNDS. */
#include <stdlib.h>

int lib_twice(int value);
int lib_sum(const int *list, int nr);

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10, list[] = { 1, 2, 3 }, t = 0;

	for (int i = 0; i < rounds; i++)
		t += lib_twice(i) + lib_sum(list, 3);
	return !t;
}
