// SPDX-License-Identifier: MIT
/* read_lkst FILE - what lkst_log_next() says of it, a line each; then its event types. */
#include <inttypes.h>
#include <stdio.h>

#include "fmt/lkst/log.h"

int main(int argc, char **argv)
{
	struct tacho_diag d = { 0 };
	struct lkst_log_info info;
	struct lkst_record r;
	struct lkst_log *log;
	int32_t buffer;
	int got;

	if (argc != 2 || lkst_log_open(&log, argv[1], &d)) {
		fprintf(stderr, "%s\n", argc != 2 ? "usage: read_lkst FILE" : d.text);
		return 1;
	}
	while ((got = lkst_log_next(log, &r, &buffer)) == 1)
		printf("%" PRIu64 " %u %u %d %" PRIu64 " %" PRIu64 " %u %d %#x %d\n", r.ticks,
		       r.etype, r.cpu, r.thread, r.arg[0], r.arg[1], r.recid, r.pid, r.flags,
		       buffer);
	lkst_log_info(log, &info);
	printf("freq %" PRIu64 " damaged %" PRIu64 " lost %" PRIu64 "\n", info.freq,
	       info.damaged, info.lost);
	if (info.types_len)
		fwrite(info.types, 1, info.types_len, stdout);
	if (got)
		fprintf(stderr, "%s\n", lkst_log_why(log)->text);
	lkst_log_free(log);
	return got ? 1 : 0;
}
