// SPDX-License-Identifier: MIT
/*
 * columns_bench LIBDUCKDB|- TRACE EVENTS|model:TABLE COLUMNS [SQL] - reads columns
 * (comma-separated) of a trace, and asks DuckDB ("t" is the table); '-': reads them only.  THREADS
 * in the environment: so many decode.  Prints JSON: seconds, user seconds, rows.
 */
#include <sys/resource.h>
#include <time.h>

#include "columns/duckdb.h"

static double seconds(const struct timespec *t)
{
	return (double)t->tv_sec + (double)t->tv_nsec / 1e9;
}

static double user_seconds(void)
{
	struct rusage u;

	(void)getrusage(RUSAGE_SELF, &u);
	return (double)u.ru_utime.tv_sec + (double)u.ru_utime.tv_usec / 1e6;
}

static int read_only(struct ArrowArrayStream *stream, int64_t *rows)
{
	struct ArrowArray batch;
	int err;

	while (!(err = stream->get_next(stream, &batch)) && batch.release) {
		*rows += batch.length;
		batch.release(&batch);
	}
	if (err)
		fprintf(stderr, "columns_bench: %s\n", stream->get_last_error(stream));
	return err;
}

static int ask(const char *library, struct ArrowArrayStream *stream, const char *sql,
	       struct timespec *start, double *user)
{
	struct duck d;
	const char *why = duck_open(&d, library);
	char *answer;

	if (why) {
		fprintf(stderr, "columns_bench: %s: %s\n", library, why);
		return 1;
	}
	/* loading the library is not what is measured */
	(void)clock_gettime(CLOCK_MONOTONIC, start);
	*user = user_seconds();
	if (d.arrow_scan(d.connection, "t", stream))
		return 1;
	answer = duck_ask(&d, sql);
	fprintf(stderr, "%s", answer);
	free(answer);
	return 0;
}

int main(int argc, char **argv)
{
	struct tacho_columns_config config;
	struct ArrowArrayStream stream;
	struct tacho_error error;
	struct timespec start, end;
	const char *names[64];
	int64_t rows = 0;
	double user;
	int err;

	if (argc < 5) {
		fprintf(stderr, "usage: columns_bench LIBDUCKDB|- TRACE EVENTS|model:TABLE "
			"COLUMNS [SQL]\n");
		return 2;
	}
	tacho_columns_config_init(&config);
	if (!strncmp(argv[3], "model:", 6))
		config.table = argv[3] + 6;
	else
		config.events = argv[3];
	config.columns = names;
	for (char *s = strtok(argv[4], ","); s && config.nr_columns < 64; s = strtok(NULL, ","))
		names[config.nr_columns++] = s;
	if (getenv("BATCH_ROWS"))
		config.batch_rows = (uint32_t)strtoul(getenv("BATCH_ROWS"), NULL, 10);
	if (getenv("THREADS"))
		config.threads = (uint32_t)strtoul(getenv("THREADS"), NULL, 10);
	if (tacho_columns_open(&stream, argv[2], &config, &error)) {
		fprintf(stderr, "columns_bench: %s\n", error.text);
		return 1;
	}
	(void)clock_gettime(CLOCK_MONOTONIC, &start);
	user = user_seconds();
	err = argc > 5 ? ask(argv[1], &stream, argv[5], &start, &user) : read_only(&stream, &rows);
	(void)clock_gettime(CLOCK_MONOTONIC, &end);
	printf("{\"seconds\": %.4f, \"user\": %.4f, \"rows\": %lld}\n",
	       seconds(&end) - seconds(&start), user_seconds() - user, (long long)rows);
	if (stream.release)
		stream.release(&stream);
	return err;
}
