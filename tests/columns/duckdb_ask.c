// SPDX-License-Identifier: MIT
/*
 * duckdb_ask LIBDUCKDB TRACE EVENTS|model:TABLE SQL... - asks DuckDB about the events, or about a
 * table of the model, which are the table "e".  Prints each answer, a line with "--" after it.
 * THREADS in the environment: so many decode.
 *
 * duckdb_arrow_scan() hands all columns over, whichever a query reads, and the engine
 * takes them for those that it wants: so the table is filled from all of them, in their order.
 */
#include "duckdb.h"

int main(int argc, char **argv)
{
	struct tacho_columns_config config;
	struct ArrowArrayStream stream;
	struct tacho_error error;
	struct duck d;
	const char *why;

	if (argc < 4) {
		fprintf(stderr, "usage: duckdb_ask LIBDUCKDB TRACE EVENTS|model:TABLE SQL...\n");
		return 2;
	}
	why = duck_open(&d, argv[1]);
	if (why) {
		fprintf(stderr, "duckdb_ask: %s: %s\n", argv[1], why);
		return 1;
	}
	tacho_columns_config_init(&config);
	if (!strncmp(argv[3], "model:", 6))
		config.table = argv[3] + 6;
	else
		config.events = argv[3];
	if (getenv("THREADS"))
		config.threads = (uint32_t)strtoul(getenv("THREADS"), NULL, 10);
	config.batch_rows = 5000;	/* several batches */
	if (tacho_columns_open(&stream, argv[2], &config, &error)) {
		fprintf(stderr, "duckdb_ask: %s\n", error.text);
		return 1;
	}
	if (d.arrow_scan(d.connection, "t", &stream)) {
		fprintf(stderr, "duckdb_ask: DuckDB refuses the stream\n");
		return 1;
	}
	for (int i = 3; i < argc; i++) {
		char *answer = duck_ask(&d, i == 3 ? "create table e as select * from t" :
						     argv[i]);

		if (i > 3)
			printf("%s--\n", answer);
		else if (!strncmp(answer, "error", 5))
			fprintf(stderr, "duckdb_ask: %s\n", answer);
		free(answer);
	}
	duck_close(&d);
	if (stream.release)
		stream.release(&stream);
	return 0;
}
