/* SPDX-License-Identifier: MIT */
/*
 * bench_lkst [TYPE...] - LKST with a pump, for as long as standard input is open.
 *
 * Records by the maskset RDEFAULT, or by one of these event types (0x010 ...), in the run-time
 * directory and the session that the environment names.  Prints two lines of JSON: the
 * tracepoints that are on, as soon as it records; at the end what was recorded.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "compat/lkst/lkst.h"
#include "compat/lkst/pump_priv.h"
#include "ring/read.h"

static struct tacho_lkst lkst;

static void fail(const char *text)
{
	fprintf(stderr, "bench_lkst: %s\n", text);
	exit(1);
}

static void select_types(char **types, int n)
{
	static struct lkst_maskset_body body = { .name = "bench" };
	struct lkst_maskset_param p = {
		.id = LKST_MASKSET_ID_VOID, .maskset_size = sizeof(body), .maskset = &body,
	};

	for (body.len = 0; body.len < n; body.len++)
		body.entry[body.len] = (struct lkst_maskset_entry){
			(int)strtol(types[body.len], NULL, 0), LKST_EVHANDLER_ID_LOG };
	if (tacho_lkst_maskset_write(&lkst, &p) || tacho_lkst_maskset_set(&lkst, p.id))
		fail("cannot select these event types");
}

static int put_point(uint32_t etype, const char *point, bool by_default, void *arg)
{
	const struct lkst_state *s = lkst.state;

	(void)by_default;
	if (point && lkst_state_handler(s, s->current, etype) != LKST_EVHANDLER_ID_VOID)
		printf("%s\"%s\"", (*(int *)arg)++ ? ", " : "", point);
	return 0;
}

static uint64_t written(void)
{
	struct tacho_ring *r = &lkst.session.view.ring;
	uint64_t sum = 0;

	for (uint32_t lane = 0; lane < tacho_ring_nr_lanes(r); lane++)
		sum += tacho_ring_written(r, lane, 0);
	return sum;
}

static uint64_t overwritten(void)
{
	struct lkst_pump_file f;
	uint64_t sum = 0;

	if (lkst_pump_file_open(&f, false))
		return 0;
	for (uint32_t i = 0; i < f.head->nr_cpus; i++)
		sum += f.head->slot[i].overwritten;
	lkst_pump_file_close(&f);
	return sum;
}

int main(int argc, char **argv)
{
	const struct tacho_lkst_config config = { .buffer_size = 8 << 20 };
	struct tacho_lkst_pump *pump;
	struct tacho_diag d = { 0 };
	char c;
	int n = 0;

	if (tacho_lkst_open(&lkst, &config, &d))
		fail(d.text);
	if (argc > 1)
		select_types(argv + 1, argc - 1);
	if (tacho_lkst_pump_start(&pump, &lkst, &d)) {
		(void)tacho_lkst_destroy(&lkst, NULL);
		fail(d.text);
	}
	printf("[");
	(void)tacho_lkst_kernel_each(put_point, &n);
	printf("]\n");
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &c, 1) > 0)
		;
	(void)tacho_lkst_pump_once(&lkst);
	printf("{\"events\": %llu, \"overwritten\": %llu}\n", (unsigned long long)written(),
	       (unsigned long long)overwritten());
	tacho_lkst_pump_stop(pump);
	if (tacho_lkst_destroy(&lkst, &d))
		fail(d.text);
	return 0;
}
