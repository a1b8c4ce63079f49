// SPDX-License-Identifier: MIT
/* The program that the tests probe: prog ROUNDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mark.h"

struct item {
	int sku;
	unsigned int flags : 3;
	int price : 12;
	double weight;
};

struct order {
	int id;
	char customer[16];
	const char *note;
	struct item item[4];
	struct order *next;
};

struct big {
	long a[5];
};

struct pair {
	int a, b;
};

const char *volatile greeting = "hello";
volatile int counter = 7;
/* counted up while somebody records the marker; in the file, not in .bss */
__attribute__((section(".probes"))) volatile unsigned short mark_wanted = 0;

__attribute__((noinline))
int checkout(int id, const char *name, struct order *order)
{
	int sum = 0;

	for (int i = 0; i < 4; i++)
		sum += order->item[i].price;	/* line 5 of checkout */
	counter++;
	return sum + id + name[0];
}

__attribute__((noinline))
const char *order_name(struct order *o)
{
	return o->customer;
}

__attribute__((noinline))
long order_mix(double d, struct pair p, struct big b, short s, float f, long q1,
	       long q2, long q3, long q4, long q5, char last)
{
	return (long)d + p.a + b.a[4] + s + (long)f + q1 + q2 + q3 + q4 + q5 +
	       last;
}

__attribute__((noinline))
struct big order_big(int n)
{
	struct big b = { { n, 0, 0, 0, n + 1 } };

	return b;
}

static inline __attribute__((always_inline)) int tiny(int v)
{
	__asm__ volatile("nop" : : "r" (v));
	return v * 3;
}

__attribute__((noinline))
int order_count(int n)
{
	int r = tiny(n);

	__asm__ volatile("" : "+r" (r));
	r += tiny(r + 1);
	MARK(prog, counted, r, greeting);
	return r;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 10;
	struct order o = { .id = 5, .customer = "alice", .note = "fragile" };
	struct pair p = { 1, 2 };
	struct big b = { { 1, 2, 3, 4, 5 } };
	int wanted = 0;
	long t = 0;

	for (int i = 0; i < 4; i++) {
		o.item[i].sku = 100 + i;
		o.item[i].flags = (unsigned int)i;
		o.item[i].price = 10 * i;
	}
	o.next = &o;
	for (int i = 0; i < rounds; i++) {
		o.id = i;
		t += checkout(i, i % 2 ? "bob" : "eve", &o);
		t += order_name(&o)[0];
		t += order_mix(1.5, p, b, (short)-7, 2.5f, 1, 2, 3, 4, 5, 'x');
		t += order_count(i) + order_big(i).a[0];
		wanted += mark_wanted != 0;
	}
	printf("%ld %d\n", t, wanted);
	return 0;
}
