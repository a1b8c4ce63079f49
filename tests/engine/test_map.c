// SPDX-License-Identifier: MIT
/*
 * The table of a histogram: alone, with threads, with processes that are killed,
 * cleared while it is written, and made of garbage.
 */
#include "unit/test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/inject.h"
#include "engine/map.h"

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
	CHECK_EQ(tacho_map_view(map, mem, *size, g), 0);
	return mem;
}

static void hit(const struct tacho_map *map, const void *key, uint64_t sum)
{
	struct tacho_map_elt *e = tacho_map_insert(map, key);

	if (!e)
		return;
	tacho_add_relaxed(tacho_map_hitcount(map, e), 1);
	if (map->g.nr_sums)
		tacho_add_relaxed(tacho_map_sum(map, e, 0), sum);
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
		{ { 2, 8, 0, 0, 0 }, true },
		{ { 131072, 384, 16, 64, 64 }, true },
		{ { 1, 8, 0, 0, 0 }, false },
		{ { 0, 8, 0, 0, 0 }, false },
		{ { 3, 8, 0, 0, 0 }, false },
		{ { 262144, 8, 0, 0, 0 }, false },
		{ { 128, 0, 0, 0, 0 }, false },
		{ { 128, 12, 0, 0, 0 }, false },
		{ { 128, 392, 0, 0, 0 }, false },
		{ { 128, 8, 17, 0, 0 }, false },
		{ { 128, 8, 0, 65, 0 }, false },
		{ { 128, 8, 0, 0, 65 }, false },
	};
	struct tacho_map_geometry other = { 4, 8, 1, 0, 0 };
	struct tacho_map_geometry g = { 2, 8, 1, 0, 0 };
	struct tacho_map map;
	size_t size;
	void *mem;

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(table); i++)
		test_check(!!tacho_map_bytes(&table[i].g) == table[i].good,
			   __FILE__, __LINE__, "geometry %zu", i);
	mem = make(&map, &g, &size);
	CHECK_EQ(tacho_map_view(&map, mem, size, NULL), 0);
	CHECK(tacho_map_view(&map, mem, size, &other) < 0);
	CHECK(tacho_map_view(&map, mem, size - 1, &g) < 0);
	CHECK(tacho_map_view(&map, mem, 64, &g) < 0);
	CHECK(tacho_map_view(&map, mem, 0, &g) < 0);
	((struct tacho_map_head *)mem)->magic ^= 1;
	CHECK(tacho_map_view(&map, mem, size, &g) < 0);
	free(mem);
}

/* Against a plain array: every key's count and sum, with each size of key. */
static void test_keys(void)
{
	static const uint32_t sizes[] = { 8, 16, 24, 264, 384 };

	for (size_t s = 0; s < TACHO_ARRAY_SIZE(sizes); s++) {
		struct tacho_map_geometry g = { 512, sizes[s], 1, 0, 0 };
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
			CHECK_EQ(*tacho_map_hitcount(&map, e), count[k]);
			CHECK_EQ(*tacho_map_sum(&map, e, 0), sum[k]);
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
	struct tacho_map_geometry g = { 128, 8, 0, 0, 0 };
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
	struct tacho_map_geometry g = { 128, 16, 1, 0, 0 };
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

		CHECK(e && *tacho_map_sum(&map, e, 0) == 7);
	}
	free(mem);
}

static void test_vars(void)
{
	struct tacho_map_geometry g = { 2, 8, 0, 64, 2 };
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
		uint64_t key[2], v;
		struct tacho_map_elt *e;

		x = x * 6364136223846793005u + 1442695040888963407u;
		key[0] = x >> 33 & 0xffff;
		key[0] %= KEYS;
		key[1] = ~key[0];
		e = tacho_map_insert(w->map, key);
		if (!e)
			continue;
		tacho_add_relaxed(tacho_map_hitcount(w->map, e), 1);
		tacho_add_relaxed(tacho_map_sum(w->map, e, 0), x);
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
	struct tacho_map_geometry g = { 128, 16, 1, 1, 0 };
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
		CHECK_EQ(*tacho_map_hitcount(&map, e), count);
		CHECK_EQ(*tacho_map_sum(&map, e, 0), sum);
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
	for (int round = 0; round < 20; round++) {
		struct tacho_map_geometry g = { 4096, 16, 1, 0, 0 };
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
			CHECK_EQ(*tacho_map_sum(&map, e, 0), THREADS);
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
	struct tacho_map_geometry g = { 256, 16, 1, 0, 0 };
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
	/* nobody writes: a clear makes it as new */
	tacho_map_clear(&map);
	for (size_t i = sizeof(struct tacho_map_head); i < size; i++)
		if (((unsigned char *)mem)[i] && !CHECK_EQ(i, 0))
			break;
	for (uint64_t k = 0; k < 256; k++)
		hit(&map, (uint64_t[2]){ k, ~k }, 2);
	CHECK_EQ(entries(&map), 256);
	CHECK_EQ(tacho_map_hits(&map), 256);
	CHECK_EQ(map.head->drops, 0);
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
	struct tacho_map_geometry g = { 256, 16, 1, 0, 0 };
	struct tacho_map map;
	size_t size;
	void *mem = make(&map, &g, &size);

	cleared_map = &map;
	for (uint64_t k = 0; k < 5; k++)
		hit(&map, (uint64_t[2]){ k, ~k }, 1);
	tacho_inject_hook = hit_meanwhile;
	tacho_map_clear(&map);
	tacho_inject_hook = NULL;
	for (size_t i = sizeof(struct tacho_map_head); i < size; i++)
		if (((unsigned char *)mem)[i] && !CHECK_EQ(i, 0))
			break;
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

/*
 * Writers fork, hit and are killed, again and again.  Every finished hit is in the
 * map or in drops; each kill costs one hit and one element at most.
 */
static void test_kills(void)
{
	struct tacho_map_geometry g = { 1024, 16, 1, 0, 0 };
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
		sums += *tacho_map_sum(&map, e, 0);
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
	struct tacho_map_elt *e;
	uint32_t pos = 0, nr = 0;

	for (int i = 0; i < 40; i++) {
		for (uint32_t k = 0; k < map->g.key_size / 8; k++)
			key[k] = random_u64() % 3;
		e = i % 2 ? tacho_map_insert(map, key) : tacho_map_find(map, key);
		if (!e)
			continue;
		tacho_add_relaxed(tacho_map_hitcount(map, e), 1);
		for (uint32_t k = 0; k < map->g.nr_sums; k++)
			tacho_add_relaxed(tacho_map_sum(map, e, k), 1);
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
		{ 2, 8, 0, 0, 0 }, { 64, 16, 2, 3, 1 }, { 128, 384, 16, 64, 2 },
		{ 4096, 8, 1, 0, 0 },
	};

	for (size_t s = 0; s < TACHO_ARRAY_SIZE(shapes); s++) {
		struct tacho_map map, again;
		size_t size;
		unsigned char *mem = make(&map, &shapes[s], &size);

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

int main(void)
{
	test_geometry();
	test_keys();
	test_u64();
	test_full();
	test_vars();
	test_threads();
	test_races();
	test_clear();
	test_clear_points();
	test_kills();
	test_hostile();
	return test_done();
}
