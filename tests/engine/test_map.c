// SPDX-License-Identifier: MIT
/*
 * The table of a histogram: alone, with threads, with processes that are killed,
 * cleared while it is written, and made of garbage.  All of it with the shared counters
 * alone, with copies for one CPU only, and with copies for all.
 */
#include "unit/test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/inject.h"
#include "engine/map.h"

/* Copies of the counters that the tests below ask for. */
static uint32_t cpus;
/* Whether the map is this thread's alone. */
static bool alone;

static uint64_t random_state = 88172645463325252u;

static uint64_t random_u64(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

static void *shared(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		SKIP("no memory to share");
	return p;
}

/* Exactly as much memory as the map needs, so that ASan sees one byte more. */
static void *make(struct tacho_map *map, const struct tacho_map_geometry *g,
		  size_t *size)
{
	void *mem;

	*size = tacho_map_bytes(g);
	if (posix_memalign(&mem, 64, *size))
		abort();
	memset(mem, 0, *size);
	tacho_map_init(mem, g);
	map->alone = true;
	CHECK_EQ(tacho_map_view(map, mem, *size, g), 0);
	CHECK(!map->alone);
	map->alone = alone;
	return mem;
}

static void hit(const struct tacho_map *map, const void *key, uint64_t sum)
{
	struct tacho_map_elt *e = tacho_map_insert(map, key);
	struct tacho_map_counters c;

	if (!e)
		return;
	c = tacho_map_at(map, e);
	tacho_map_add(&c, 0, 1);
	if (map->g.nr_sums)
		tacho_map_add(&c, 1, sum);
}

static uint32_t entries(const struct tacho_map *map)
{
	uint32_t pos = 0, nr = 0;

	while (tacho_map_next(map, &pos))
		nr++;
	return nr;
}

static void test_geometry(void)
{
	static const struct {
		struct tacho_map_geometry g;
		bool good;
	} table[] = {
		{ { 2, 8, 0, 0, 0, 0 }, true },
		{ { 131072, 384, 16, 64, 64, 0 }, true },
		{ { 1, 8, 0, 0, 0, 0 }, false },
		{ { 0, 8, 0, 0, 0, 0 }, false },
		{ { 3, 8, 0, 0, 0, 0 }, false },
		{ { 262144, 8, 0, 0, 0, 0 }, false },
		{ { 128, 0, 0, 0, 0, 0 }, false },
		{ { 128, 12, 0, 0, 0, 0 }, false },
		{ { 128, 392, 0, 0, 0, 0 }, false },
		{ { 128, 8, 17, 0, 0, 0 }, false },
		{ { 128, 8, 0, 65, 0, 0 }, false },
		{ { 128, 8, 0, 0, 65, 0 }, false },
		{ { 131072, 384, 16, 64, 64, TACHO_MAP_CPUS_MAX }, true },
		{ { 2, 8, 0, 0, 0, TACHO_MAP_CPUS_MAX + 1 }, false },
		{ { 2, 8, 0, 0, 0, UINT32_MAX }, false },
	};
	struct tacho_map_geometry other = { 4, 8, 1, 0, 0, cpus };
	struct tacho_map_geometry g = { 2, 8, 1, 0, 0, cpus };
	struct tacho_map map;
	size_t size;
	void *mem;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++)
		test_check(!!tacho_map_bytes(&table[i].g) == table[i].good,
			   __FILE__, __LINE__, "geometry %zu", i);
	mem = make(&map, &g, &size);
	CHECK_EQ(tacho_map_view(&map, mem, size, NULL), 0);
	CHECK(tacho_map_view(&map, mem, size, &other) < 0);
	/* how many copies there are is the map's business */
	other = g;
	other.nr_cpus = cpus + 7;
	CHECK_EQ(tacho_map_view(&map, mem, size, &other), 0);
	CHECK_EQ(map.g.nr_cpus, cpus);
	CHECK(tacho_map_view(&map, mem, size - 1, &g) < 0);
	CHECK(tacho_map_view(&map, mem, 64, &g) < 0);
	CHECK(tacho_map_view(&map, mem, 0, &g) < 0);
	((struct tacho_map_head *)mem)->magic ^= 1;
	CHECK(tacho_map_view(&map, mem, size, &g) < 0);
	free(mem);
}

/* Every element's number, and room for what each CPU counts for it. */
static void check_places(const struct tacho_map_geometry *g)
{
	size_t size = tacho_map_bytes(g);
	unsigned char *mem = mmap(NULL, size, PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const unsigned char *end = mem + size;
	uint32_t bad = 0, step = g->entries > 4096 ? 4095 : 1;
	struct tacho_map map;

	if (mem == MAP_FAILED)
		return;
	tacho_map_init(mem, g);
	CHECK_EQ(tacho_map_view(&map, mem, size, g), 0);
	for (uint32_t i = 0; i < g->entries; i += step) {
		const void *e = map.elt + (size_t)i * map.elt_size;

		bad += tacho_map_number(&map, e) != i;
		for (uint32_t cpu = 0; cpu < g->nr_cpus; cpu++) {
			uint64_t *w = tacho_map_of_cpu(&map, cpu, i);

			bad += (uintptr_t)w % 8 || (unsigned char *)w < map.cpus ||
			       (unsigned char *)(w + 1 + g->nr_sums) > end;
			if (i == 0)
				bad += (uintptr_t)w % 64 != 0;
		}
	}
	if (!CHECK_EQ(bad, 0))
		printf("# %u entries, key of %u, %u sums, %u variables, %u texts\n",
		       g->entries, g->key_size, g->nr_sums, g->nr_vars, g->nr_texts);
	munmap(mem, size);
}

static void test_places(void)
{
	struct tacho_map_geometry large = { 131072, 384, 16, 64, 64, cpus };

	for (uint32_t key = 8; key <= TACHO_MAP_KEY_MAX; key += 40)
		for (uint32_t sums = 0; sums <= 16; sums += 3)
			for (uint32_t vars = 0; vars <= 64; vars += 9)
				check_places(&(struct tacho_map_geometry){
					64, key, sums, vars, vars % 5, cpus });
	check_places(&large);
}

/* Against a plain array: every key's count and sum, with each size of key. */
static void test_keys(void)
{
	static const uint32_t sizes[] = { 8, 16, 24, 264, 384 };

	for (size_t s = 0; s < TACHO_ARRAY_SIZE(sizes); s++) {
		struct tacho_map_geometry g = { 512, sizes[s], 1, 0, 0, cpus };
		uint64_t count[300] = { 0 }, sum[300] = { 0 };
		uint64_t key[TACHO_MAP_KEY_MAX / 8] = { 0 };
		struct tacho_map map;
		size_t size;
		void *mem = make(&map, &g, &size);

		for (int i = 0; i < 20000; i++) {
			uint32_t k = (uint32_t)(random_u64() % 300);
			uint64_t v = random_u64();

			key[sizes[s] / 8 - 1] = k;
			hit(&map, key, v);
			count[k]++;
			sum[k] += v;
		}
		for (uint32_t k = 0; k < 300; k++) {
			struct tacho_map_elt *e;

			key[sizes[s] / 8 - 1] = k;
			e = tacho_map_find(&map, key);
			if (!CHECK(e != NULL))
				continue;
			CHECK(!memcmp(tacho_map_key(e), key, sizes[s]));
			CHECK_EQ(tacho_map_hitcount(&map, e), count[k]);
			CHECK_EQ(tacho_map_sum(&map, e, 0), sum[k]);
		}
		CHECK_EQ(entries(&map), 300);
		CHECK_EQ(tacho_map_hits(&map), 20000);
		CHECK_EQ(map.head->drops, 0);
		key[sizes[s] / 8 - 1] = 300;
		CHECK(!tacho_map_find(&map, key));
		CHECK_EQ(entries(&map), 300);
		free(mem);
	}
}

static void test_u64(void)
{
	struct tacho_map_geometry g = { 128, 8, 0, 0, 0, cpus };
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);

	for (uint64_t k = 0; k < 128; k++) {
		uint64_t key = k << 52;
		struct tacho_map_elt *e = tacho_map_insert_u64(&map, key);

		CHECK(e && e == tacho_map_insert(&map, &key));
		CHECK(e == tacho_map_insert_u64(&map, key));
	}
	CHECK_EQ(entries(&map), 128);
	CHECK(!tacho_map_insert_u64(&map, 1));
	CHECK_EQ(map.head->drops, 1);
	free(mem);
}

static void test_full(void)
{
	struct tacho_map_geometry g = { 128, 16, 1, 0, 0, cpus };
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);

	for (uint64_t k = 0; k < 1000; k++)
		hit(&map, (uint64_t[2]){ k, ~k }, 1);
	for (uint64_t k = 0; k < 128; k++)
		hit(&map, (uint64_t[2]){ k, ~k }, 1);
	CHECK_EQ(entries(&map), 128);
	CHECK_EQ(map.head->drops, 1000 - 128);
	CHECK_EQ(tacho_map_hits(&map), 256);
	tacho_map_clear(&map);
	CHECK_EQ(entries(&map), 0);
	CHECK_EQ(map.head->drops, 0);
	CHECK_EQ(tacho_map_hits(&map), 0);
	for (uint64_t k = 500; k < 628; k++)
		hit(&map, (uint64_t[2]){ k, ~k }, 7);
	CHECK_EQ(entries(&map), 128);
	CHECK_EQ(tacho_map_hits(&map), 128);
	for (uint64_t k = 500; k < 628; k++) {
		struct tacho_map_elt *e =
			tacho_map_find(&map, (uint64_t[2]){ k, ~k });

		CHECK(e && tacho_map_sum(&map, e, 0) == 7);
	}
	free(mem);
}

static void test_vars(void)
{
	struct tacho_map_geometry g = { 2, 8, 0, 64, 2, cpus };
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);
	struct tacho_map_elt *e = tacho_map_insert(&map, &(uint64_t){ 5 });
	uint64_t v = 99;

	if (!CHECK(e != NULL))
		return;
	for (uint32_t i = 0; i < 64; i++)
		CHECK(!tacho_map_var_get(&map, e, i, &v) && v == 99);
	for (uint32_t i = 0; i < 64; i += 3)
		tacho_map_var_set(&map, e, i, i * 7);
	for (uint32_t i = 0; i < 64; i++)
		CHECK(tacho_map_var_get(&map, e, i, &v) == (i % 3 == 0) &&
		      (i % 3 || v == i * 7));
	CHECK(tacho_map_var_take(&map, e, 63, &v) && v == 441);
	CHECK(!tacho_map_var_take(&map, e, 63, &v));
	CHECK(!tacho_map_var_get(&map, e, 63, &v));
	CHECK(tacho_map_var_get(&map, e, 60, &v) && v == 420);
	tacho_map_var_set(&map, e, 63, 1);
	CHECK(tacho_map_var_get(&map, e, 63, &v) && v == 1);
	memset(tacho_map_text(&map, e, 0), 'a', TACHO_MAP_TEXT);
	memset(tacho_map_text(&map, e, 1), 'b', TACHO_MAP_TEXT);
	CHECK(tacho_map_var_get(&map, e, 63, &v) && v == 1);
	CHECK_EQ(tacho_map_text(&map, e, 0)[TACHO_MAP_TEXT - 1], 'a');
	free(mem);
}

/* ---- counters ---- */

/* All is empty; what CPUs counted before is taken off. */
static void check_empty(const struct tacho_map *map)
{
	uint32_t bad = 0;

	for (uint32_t i = 0; i <= map->slot_mask; i++)
		bad += map->slot[i] != 0;
	for (uint32_t i = 0; i < map->g.entries; i++) {
		unsigned char *at = map->elt + (size_t)i * map->elt_size;
		struct tacho_map_elt *e = (void *)at;

		for (uint32_t k = 0; k <= map->g.nr_sums; k++)
			bad += tacho_map_counter(map, e, k) != 0;
		for (uint32_t k = 0; k < map->elt_size; k++)
			bad += at[k] && (map->g.nr_cpus == 0 ||
					 k < map->g.key_size || k >= map->set);
	}
	CHECK_EQ(bad, 0);
	CHECK_EQ(map->head->drops, 0);
	CHECK_EQ(tacho_map_hits(map), 0);
}

static bool has_copies(void)
{
#ifdef TACHO_HAVE_RSEQ
	return tacho_rseq_cpu(tacho_rseq_area()) < cpus;
#else
	return false;
#endif
}

/* Which word is written, and what all of them say. */
static void test_counters(void)
{
	struct tacho_map_geometry g = { 16, 8, 2, 0, 0, cpus };
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);
	struct tacho_map_elt *e;
	struct tacho_map_counters c;

	tacho_map_insert(&map, &(uint64_t){ 4 });
	e = tacho_map_insert(&map, &(uint64_t){ 5 });
	if (!CHECK(e != NULL))
		return;
	c = tacho_map_at(&map, e);
	CHECK(c.shared == tacho_map_shared(&map, e, 0));
	if (c.own)
		CHECK(c.own == tacho_map_of_cpu(&map, c.cpu, 1));
	/* a huge number, and one that makes it wrap */
	tacho_map_add(&c, 2, UINT64_MAX - 1);
	CHECK_EQ(tacho_map_sum(&map, e, 1), UINT64_MAX - 1);
	tacho_map_add(&c, 2, 5);
	CHECK_EQ(tacho_map_sum(&map, e, 1), 3);
	/* as if on another CPU by now: the shared word, and nothing is lost */
	*c.shared = 0;
	if (c.own)
		*c.own = 10;
	c.cpu = 1u << 30;
	tacho_map_add(&c, 0, 32);
	CHECK_EQ(*c.shared, 32);
	CHECK_EQ(tacho_map_hitcount(&map, e), c.own ? 42 : 32);
	/* words that wrap each by itself */
	*c.shared = UINT64_MAX - 4;
	CHECK_EQ(tacho_map_hitcount(&map, e), c.own ? 5 : UINT64_MAX - 4);
	CHECK_EQ(tacho_map_sum(&map, e, 0), 0);
	tacho_map_clear(&map);
	CHECK_EQ(tacho_map_hitcount(&map, e), 0);
	CHECK_EQ(tacho_map_sum(&map, e, 1), 0);
	CHECK_EQ(tacho_map_hits(&map), 0);
	free(mem);
}

/* A clear leaves CPUs' words alone: only their own CPU may write to them. */
static void test_clear_own(void)
{
	struct tacho_map_geometry g = { 64, 16, 2, 1, 0, cpus };
	struct tacho_map map;
	size_t size, bytes;
	void *mem = make(&map, &g, &size);
	unsigned char *copy;

	bytes = cpus * map.cpu_stride;
	copy = malloc(bytes + 1);
	for (uint64_t k = 0; k < 64; k++)
		hit(&map, (uint64_t[2]){ k, 0 }, k * k);
	/* other CPUs', too, and of elements not taken again below */
	for (size_t i = 0; i < bytes; i += 8)
		*(uint64_t *)(void *)(map.cpus + i) = random_u64();
	if (bytes)
		memcpy(copy, map.cpus, bytes);
	for (int round = 0; round < 3; round++) {
		tacho_map_clear(&map);
		check_empty(&map);
		CHECK(!bytes || !memcmp(copy, map.cpus, bytes));
	}
	for (uint64_t k = 9; k < 14; k++)
		hit(&map, (uint64_t[2]){ k, 0 }, k);
	CHECK_EQ(tacho_map_hits(&map), 5);
	for (uint64_t k = 9; k < 14; k++) {
		struct tacho_map_elt *e =
			tacho_map_find(&map, (uint64_t[2]){ k, 0 });

		CHECK(e && tacho_map_sum(&map, e, 0) == k &&
		      tacho_map_sum(&map, e, 1) == 0);
	}
	free(copy);
	free(mem);
}

/* Undisturbed hits, most of them, are in the CPU's own words. */
static void test_own(void)
{
	struct tacho_map_geometry g = { 16, 8, 1, 0, 0, cpus };
	uint64_t shared_hits = 0, own_hits = 0;
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);

	for (int i = 0; i < 1000000 && (i < 1000 || (has_copies() && !own_hits)); i++) {
		struct tacho_map_counters c = tacho_map_insert_at_u64(&map, 7);
		uint64_t before;

		if (!c.shared)
			break;
		before = *c.shared;
		tacho_map_add(&c, 0, 1);
		tacho_map_add(&c, 1, 3);
		shared_hits += *c.shared - before;
		own_hits += *c.shared == before;
	}
	CHECK(shared_hits + own_hits >= 1000);
	CHECK_EQ(tacho_map_hits(&map), shared_hits + own_hits);
	if (!cpus)
		CHECK_EQ(own_hits, 0);
	else if (has_copies())
		CHECK(own_hits > 0);
	free(mem);
}

static const struct tacho_map *disturbed;
static volatile uint64_t disturbances;

static void on_alarm(int sig)
{
	(void)sig;
	hit(disturbed, (uint64_t[2]){ 1, 2 }, 5);
	disturbances++;
}

/* A handler that counts where the interrupted hit counts. */
static void test_signals(void)
{
	struct itimerval often = { { 0, 50 }, { 0, 50 } }, never = { { 0, 0 }, { 0, 0 } };
	struct tacho_map_geometry g = { 16, 16, 1, 0, 0, cpus };
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);
	uint64_t n = 0;

	disturbed = &map;
	disturbances = 0;
	signal(SIGALRM, on_alarm);
	setitimer(ITIMER_REAL, &often, NULL);
	while (n < 500000 || disturbances < 200) {
		hit(&map, (uint64_t[2]){ 1, 2 }, 3);
		n++;
	}
	setitimer(ITIMER_REAL, &never, NULL);
	signal(SIGALRM, SIG_IGN);
	CHECK_EQ(tacho_map_hits(&map), n + disturbances);
	CHECK_EQ(tacho_map_sum(&map, tacho_map_find(&map, (uint64_t[2]){ 1, 2 }), 0),
		 3 * n + 5 * disturbances);
	free(mem);
}

/* ---- threads ---- */

#define THREADS	4
#define HITS	60000
#define KEYS	97

struct worker {
	const struct tacho_map *map;
	uint64_t seed;
	uint64_t sum[KEYS], count[KEYS], taken;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t x = w->seed;

	for (int i = 0; i < HITS; i++) {
		struct tacho_map_counters c;
		struct tacho_map_elt *e;
		uint64_t key[2], v;

		x = x * 6364136223846793005u + 1442695040888963407u;
		key[0] = x >> 33 & 0xffff;
		key[0] %= KEYS;
		key[1] = ~key[0];
		e = tacho_map_insert(w->map, key);
		if (!e)
			continue;
		c = tacho_map_at(w->map, e);
		tacho_map_add(&c, 0, 1);
		tacho_map_add(&c, 1, x);
		w->count[key[0]]++;
		w->sum[key[0]] += x;
		if (i % 4 == 0)
			tacho_map_var_set(w->map, e, 0, key[0] + 1000);
		else if (tacho_map_var_take(w->map, e, 0, &v))
			w->taken += v == key[0] + 1000 ? 1 : 1000000000;
	}
	return NULL;
}

/* All at once insert the same keys: one element each, exact sums. */
static void test_threads(void)
{
	struct tacho_map_geometry g = { 128, 16, 1, 1, 0, cpus };
	struct worker w[THREADS];
	pthread_t t[THREADS];
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);
	uint64_t taken = 0;

	memset(w, 0, sizeof(w));
	for (int i = 0; i < THREADS; i++) {
		w[i].map = &map;
		w[i].seed = (uint64_t)i * 77 + 1;
		pthread_create(&t[i], NULL, work, &w[i]);
	}
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], NULL);
		taken += w[i].taken;
	}
	CHECK_EQ(entries(&map), KEYS);
	CHECK(taken > 0 && taken <= (uint64_t)THREADS * HITS / 4);
	for (uint64_t k = 0; k < KEYS; k++) {
		struct tacho_map_elt *e =
			tacho_map_find(&map, (uint64_t[2]){ k, ~k });
		uint64_t sum = 0, count = 0;

		for (int i = 0; i < THREADS; i++) {
			sum += w[i].sum[k];
			count += w[i].count[k];
		}
		if (!CHECK(e != NULL))
			continue;
		CHECK_EQ(tacho_map_hitcount(&map, e), count);
		CHECK_EQ(tacho_map_sum(&map, e, 0), sum);
	}
	CHECK_EQ(tacho_map_hits(&map) + map.head->drops, THREADS * HITS);
	free(mem);
}

static void *count_up(void *arg)
{
	struct worker *w = arg;

	/* one key after the other: every insertion is a race */
	for (uint64_t k = 0; k < 2048; k++)
		hit(w->map, (uint64_t[2]){ k, k * 3 }, 1);
	return NULL;
}

/* Two writers of one key: the loser's element must not be lost for good. */
static void test_races(void)
{
	for (int round = 0; round < 4; round++) {
		struct tacho_map_geometry g = { 4096, 16, 1, 0, 0, cpus };
		struct tacho_map map;
		size_t size;
		void *mem = make(&map, &g, &size);
		struct worker w = { .map = &map };
		pthread_t t[THREADS];
		uint32_t pos = 0;
		struct tacho_map_elt *e;

		for (int i = 0; i < THREADS; i++)
			pthread_create(&t[i], NULL, count_up, &w);
		for (int i = 0; i < THREADS; i++)
			pthread_join(t[i], NULL);
		CHECK_EQ(entries(&map), 2048);
		CHECK_EQ(tacho_map_hits(&map), 2048 * THREADS);
		CHECK_EQ(map.head->drops, 0);
		while ((e = tacho_map_next(&map, &pos)))
			CHECK_EQ(tacho_map_sum(&map, e, 0), THREADS);
		free(mem);
	}
}

/* ---- clearing while it is written ---- */

static bool stop;

static void *write_on(void *arg)
{
	struct worker *w = arg;
	uint64_t x = w->seed;

	while (!tacho_load_relaxed(&stop)) {
		uint64_t k;

		x = x * 6364136223846793005u + 1442695040888963407u;
		k = (x >> 40) % 500;
		hit(w->map, (uint64_t[2]){ k, ~k }, 1);
		tacho_add_relaxed(&w->taken, 1);
	}
	return NULL;
}

static bool all_wrote(struct worker *w, int nr)
{
	while (nr--)
		if (tacho_load_relaxed(&w[nr].taken) < 10000)
			return false;
	return true;
}

static void test_clear(void)
{
	struct tacho_map_geometry g = { 256, 16, 1, 0, 0, cpus };
	struct worker w[3];
	pthread_t t[3];
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);

	memset(w, 0, sizeof(w));
	for (int i = 0; i < 3; i++) {
		w[i].map = &map;
		w[i].seed = (uint64_t)i + 5;
		pthread_create(&t[i], NULL, write_on, &w[i]);
	}
	for (int i = 0; i < 3000 || !all_wrote(w, 3); i++) {
		uint32_t pos = 0, nr = 0;
		struct tacho_map_elt *e;

		tacho_map_clear(&map);
		while ((e = tacho_map_next(&map, &pos))) {
			CHECK(tacho_load_relaxed((const uint64_t *)
						 tacho_map_key(e)) < 500);
			nr++;
		}
		if (nr > 512)
			CHECK_EQ(nr, 512);
	}
	tacho_store_relaxed(&stop, true);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	tacho_store_relaxed(&stop, false);
	/* nobody writes: a clear makes it as new */
	tacho_map_clear(&map);
	check_empty(&map);
	for (uint64_t k = 0; k < 256; k++)
		hit(&map, (uint64_t[2]){ k, ~k }, 2);
	CHECK_EQ(entries(&map), 256);
	CHECK_EQ(tacho_map_hits(&map), 256);
	CHECK_EQ(map.head->drops, 0);
	free(mem);
}

/* ---- clearing, with writers that are paused, or are not ---- */

#define FEW	3	/* keys: each hit may meet the clear */

static uint32_t gate_shut, parked;

static void *write_gated(void *arg)
{
	struct worker *w = arg;

	for (uint64_t n = 0; !tacho_load_relaxed(&stop); n++) {
		uint64_t k = n % FEW;

		if (tacho_load_acquire(&gate_shut)) {
			tacho_add_seq_cst(&parked, 1);
			while (tacho_load_acquire(&gate_shut))
				(void)sched_yield();
			tacho_add_seq_cst(&parked, -1u);
		}
		/* said before it is done, so nobody counts more than was said */
		tacho_add_relaxed(&w->count[k], 1);
		hit(w->map, (uint64_t[2]){ k, ~k }, 1000);
	}
	return NULL;
}

static void shut_gate(void)
{
	tacho_store_release(&gate_shut, 1);
	while (tacho_load_acquire(&parked) != THREADS)
		(void)sched_yield();
}

static void open_gate(void)
{
	tacho_store_release(&gate_shut, 0);
	while (tacho_load_acquire(&parked))
		(void)sched_yield();
}

static uint64_t told(const struct worker *w, uint64_t k)
{
	uint64_t sum = 0;

	for (int i = 0; i < THREADS; i++)
		sum += tacho_load_relaxed(&w[i].count[k]);
	return sum;
}

/* Until all threads together have made n hits more. */
static void wait_hits(const struct worker *w, uint64_t n)
{
	uint64_t from = told(w, 0);

	while (told(w, 0) < from + n)
		(void)sched_yield();
}

static uint64_t all_told(const struct worker *w)
{
	return told(w, 0) + told(w, 1) + told(w, 2);
}

/* Cleared while writers are parked: their hits from there on are exact. */
static void clear_paused(const struct tacho_map *map, const struct worker *w)
{
	uint64_t before[FEW];

	tacho_map_clear(map);
	check_empty(map);
	for (uint64_t k = 0; k < FEW; k++)
		before[k] = told(w, k);
	open_gate();
	wait_hits(w, 300);
	shut_gate();
	for (uint64_t k = 0; k < FEW; k++) {
		struct tacho_map_elt *e =
			tacho_map_find(map, (uint64_t[2]){ k, ~k });
		uint64_t n = told(w, k) - before[k];

		if (!CHECK(e != NULL))
			continue;
		CHECK_EQ(tacho_map_hitcount(map, e), n);
		CHECK_EQ(tacho_map_sum(map, e, 0), 1000 * n);
	}
}

/* Cleared while they write: no more is there than they can have done since. */
static void clear_written(const struct tacho_map *map, const struct worker *w)
{
	open_gate();
	for (int i = 0; i < 200; i++) {
		uint64_t before = all_told(w), hits;

		tacho_map_clear(map);
		hits = tacho_map_hits(map);
		/* a hit on its way was told of already: one for each thread */
		if (!CHECK(hits <= all_told(w) - before + THREADS))
			break;
	}
	shut_gate();
}

static void test_clear_exact(void)
{
	struct tacho_map_geometry g = { 16, 16, 1, 0, 0, cpus };
	struct worker w[THREADS];
	pthread_t t[THREADS];
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);

	memset(w, 0, sizeof(w));
	for (int i = 0; i < THREADS; i++) {
		w[i].map = &map;
		pthread_create(&t[i], NULL, write_gated, &w[i]);
	}
	wait_hits(w, 100);
	shut_gate();
	for (int round = 0; round < 4; round++) {
		clear_paused(&map, w);
		clear_written(&map, w);
	}
	tacho_store_relaxed(&stop, true);
	open_gate();
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	tacho_store_relaxed(&stop, false);
	free(mem);
}

#ifdef TACHO_INJECT_POINTS
static const struct tacho_map *cleared_map;

/* A writer that is as mean as can be: keys come at every point of a clear. */
static void hit_meanwhile(const char *point)
{
	uint64_t from = strcmp(point, "map_closed") ? 100 : 300;

	if (strcmp(point, "map_clear") && strcmp(point, "map_closed"))
		return;
	for (uint64_t k = from; k < from + 100; k++)
		hit(cleared_map, (uint64_t[2]){ k, ~k }, 1);
}
#endif

/* What is taken between a clear's first look and its closing is emptied as well. */
static void test_clear_points(void)
{
#ifdef TACHO_INJECT_POINTS
	struct tacho_map_geometry g = { 256, 16, 1, 0, 0, cpus };
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);

	cleared_map = &map;
	for (uint64_t k = 0; k < 5; k++)
		hit(&map, (uint64_t[2]){ k, ~k }, 1);
	tacho_inject_hook = hit_meanwhile;
	tacho_map_clear(&map);
	tacho_inject_hook = NULL;
	check_empty(&map);
	for (uint64_t k = 0; k < 256; k++)
		hit(&map, (uint64_t[2]){ k, ~k }, 2);
	CHECK_EQ(tacho_map_hits(&map), 256);
	CHECK_EQ(map.head->drops, 0);
	free(mem);
#endif
}

/* ---- processes that are killed ---- */

/* What a writer has claimed before and after each of its hits. */
struct claim {
	uint64_t begun, done;
};

static void child(void *mem, size_t size, struct claim *c, uint64_t seed)
{
	struct tacho_map map;

	if (tacho_map_view(&map, mem, size, NULL))
		_exit(1);
	for (uint64_t x = seed;;) {
		uint64_t k;

		x = x * 6364136223846793005u + 1442695040888963407u;
		k = (x >> 36) % 700;
		tacho_add_relaxed(&c->begun, 1);
		hit(&map, (uint64_t[2]){ k, ~k }, 1);
		tacho_add_relaxed(&c->done, 1);
	}
}

static void pause_us(long us)
{
	nanosleep(&(struct timespec){ .tv_nsec = us * 1000 }, NULL);
}

static uint64_t all_done(const struct claim *c)
{
	uint64_t n = 0;

	for (int i = 0; i < 4; i++)
		n += tacho_load_relaxed(&c[i].done);
	return n;
}

/*
 * Writers fork, hit and are killed, again and again.  Every finished hit is in the
 * map or in drops; each kill costs one hit and one element at most.
 */
static void test_kills(void)
{
	struct tacho_map_geometry g = { 1024, 16, 1, 0, 0, cpus };
	size_t size = tacho_map_bytes(&g);
	struct claim *claim = shared(4 * sizeof(*claim));
	void *mem = shared(size);
	uint64_t begun = 0, done = 0, counted = 0, keys = 0, sums = 0;
	struct tacho_map_elt *e;
	struct tacho_map map;
	uint32_t pos = 0;
	pid_t pid[4];
	int kills = 0;

	tacho_map_init(mem, &g);
	CHECK_EQ(tacho_map_view(&map, mem, size, &g), 0);
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 4; i++) {
			pid[i] = fork();
			if (!pid[i])
				child(mem, size, &claim[i], random_u64() + (uint64_t)i);
		}
		pause_us((long)(random_u64() % 4000));
		/* on a busy machine they may not have run */
		while (all_done(claim) < 20 * ((uint64_t)round + 1))
			pause_us(100);
		for (int i = 0; i < 4; i++) {
			if (pid[i] < 0)
				continue;
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, 0);
			kills++;
		}
	}
	for (int i = 0; i < 4; i++) {
		begun += claim[i].begun;
		done += claim[i].done;
	}
	while ((e = tacho_map_next(&map, &pos))) {
		const uint64_t *key = tacho_map_key(e);

		CHECK(key[0] < 700 && key[1] == ~key[0]);
		CHECK(tacho_map_find(&map, key) == e);
		sums += tacho_map_sum(&map, e, 0);
		keys++;
	}
	counted = tacho_map_hits(&map) + map.head->drops;
	CHECK(begun - done <= (uint64_t)kills);
	CHECK(counted >= done && counted <= begun);
	CHECK(sums + map.head->drops >= done && sums <= tacho_map_hits(&map));
	CHECK(done > 1000);
	CHECK(keys <= 700);
	/* each kill may have cost an element, no more */
	CHECK((uint32_t)map.head->next <= keys + (uint64_t)kills + 4);
	munmap(mem, size);
	munmap(claim, 4 * sizeof(*claim));
}

/* ---- garbage ---- */

static void use(const struct tacho_map *map)
{
	uint64_t key[TACHO_MAP_KEY_MAX / 8], v;
	struct tacho_map_counters c;
	struct tacho_map_elt *e;
	uint32_t pos = 0, nr = 0;

	for (int i = 0; i < 40; i++) {
		for (uint32_t k = 0; k < map->g.key_size / 8; k++)
			key[k] = random_u64() % 3;
		e = i % 2 ? tacho_map_insert(map, key) : tacho_map_find(map, key);
		if (!e)
			continue;
		c = tacho_map_at(map, e);
		for (uint32_t k = 0; k <= map->g.nr_sums; k++)
			tacho_map_add(&c, k, 1);
		for (uint32_t k = 0; k < map->g.nr_vars; k++) {
			tacho_map_var_set(map, e, k, i);
			tacho_map_var_take(map, e, k, &v);
		}
		for (uint32_t k = 0; k < map->g.nr_texts; k++)
			memset(tacho_map_text(map, e, k), 'x', TACHO_MAP_TEXT);
	}
	while ((e = tacho_map_next(map, &pos)))
		nr++;
	CHECK(nr <= 2 * map->g.entries);
	tacho_map_hits(map);
}

/* Whatever others write into the map, nothing outside it is touched, and all ends. */
static void test_hostile(void)
{
	static const struct tacho_map_geometry shapes[] = {
		{ 2, 8, 0, 0, 0, 0 }, { 64, 16, 2, 3, 1, 0 }, { 128, 384, 16, 64, 2, 0 },
		{ 4096, 8, 1, 0, 0, 0 },
	};

	for (size_t s = 0; s < TACHO_ARRAY_SIZE(shapes); s++) {
		struct tacho_map_geometry g = shapes[s];
		struct tacho_map map, again;
		unsigned char *mem;
		size_t size;

		g.nr_cpus = cpus;
		mem = make(&map, &g, &size);

		for (int round = 0; round < 60; round++) {
			size_t from = round % 3 ? sizeof(struct tacho_map_head) : 0;

			for (int i = 0; i < 400; i++)
				mem[from + random_u64() % (size - from)] =
					(unsigned char)random_u64();
			if (round % 7 == 0)
				memset(mem + sizeof(struct tacho_map_head),
				       round * 37, shapes[s].entries * 16);
			use(&map);
			if (!tacho_map_view(&again, mem, size, NULL))
				use(&again);
			if (round % 10 == 9)
				tacho_map_clear(&map);
		}
		free(mem);
	}
}

static void test_single(void)
{
	test_keys();
	test_u64();
	test_full();
	test_vars();
	test_counters();
	test_clear_own();
}

static void test_all(void)
{
	test_geometry();
	test_places();
	test_single();
	alone = true;
	test_single();
	alone = false;
	test_own();
	test_signals();
	test_threads();
	test_races();
	test_clear();
	test_clear_exact();
	test_clear_points();
	test_kills();
	test_hostile();
}

int main(int argc, char **argv)
{
	uint32_t all = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);

	test_args(argc, argv);
	TEST_NAMED("no copies", test_all());
	/* those on other CPUs count in the shared words */
	cpus = 1;
	TEST_NAMED("a copy for one CPU", test_all());
	cpus = all > 1 ? all : 2;
	TEST_NAMED("a copy for each CPU", test_all());
	return test_done();
}
