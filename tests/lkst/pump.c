/* SPDX-License-Identifier: MIT */
/*
 * Kernel events in LKST's buffers: who pumps, masksets that are switched, pumps that are killed.
 * Needs root and tracefs, else skipped.
 *
 *	pump switching | killed | two | handlers | behind | refused
 */
#include "lkst/pump.h"

/* ---- a program that makes numbered system calls ---- */

struct caller {
	uint64_t calls;		/* done; the last number + 1 */
	uint64_t limit;		/* makes none beyond */
	uint32_t stop;
};

static struct caller *caller;
static pid_t caller_pid;

/* Makes calls that only tests with few calls make: others' do not fill the buffers. */
static bool rare;

/* Number i is an argument of each; none does anything.  Other tests may run, too. */
static void call_with(uint64_t i)
{
	if (rare) {
		(void)syscall(SYS_msgctl, (long)i, -1L, (long)getppid());
		return;
	}
	(void)syscall(SYS_semctl, -1L, (long)i, 0L, 0L);
	(void)syscall(SYS_shmctl, (long)i, -1L, NULL);
}

static void start_caller(void)
{
	caller = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (caller == MAP_FAILED)
		die("mmap", -errno);
	caller_pid = fork();
	if (caller_pid)
		return;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* files of an instance that are open here would keep it from being removed */
	(void)close_range(3, ~0u, 0);
	while (!tacho_load_relaxed(&caller->stop)) {
		uint64_t i = caller->calls;

		if (i >= tacho_load_relaxed(&caller->limit)) {
			(void)usleep(100);
			continue;
		}
		call_with(i);
		tacho_store_release(&caller->calls, i + 1);
	}
	_exit(0);
}

static void end_caller(void)
{
	tacho_store_relaxed(&caller->stop, 1);
	while (waitpid(caller_pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Lets it make n more calls, and waits for them. */
static void call_more(uint64_t n)
{
	uint64_t limit = caller->limit + n;

	tacho_store_relaxed(&caller->limit, limit);
	while (tacho_load_acquire(&caller->calls) < limit)
		(void)usleep(100);
}

static const int sem_type[] = { LKST_ETYPE_IPC_SEMCTL, LKST_ETYPE_LKST_LOST, -1 };
static const int msg_type[] = { LKST_ETYPE_IPC_MSGCTL, LKST_ETYPE_LKST_LOST, -1 };
static const int shm_type[] = { LKST_ETYPE_IPC_SHMCTL, LKST_ETYPE_LKST_LOST, -1 };

static bool is_call(const struct lkst_record *r, uint64_t *number)
{
	if (r->thread != caller_pid)
		return false;
	*number = r->etype == LKST_ETYPE_IPC_SEMCTL ? r->arg[1] : r->arg[0];
	return r->etype == LKST_ETYPE_IPC_SEMCTL || r->etype == LKST_ETYPE_IPC_SHMCTL ||
	       r->etype == LKST_ETYPE_IPC_MSGCTL;
}

/* How often each number was recorded. */
static uint8_t *count_calls(void)
{
	uint8_t *seen = calloc(caller->calls + 1, 1);
	uint64_t n;

	for (size_t i = 0; seen && i < nr_records; i++) {
		if (!is_call(&records[i], &n))
			continue;
		if (n < caller->calls)
			seen[n] = (uint8_t)(seen[n] + (seen[n] < 255));
		else
			test_check(0, __FILE__, __LINE__, "call %llu was never made",
				   (unsigned long long)n);
	}
	return seen;
}

/* ---- masksets are switched while events come ---- */

#define SWITCHES	40	/* fewer than are remembered */

/* What was selected at a time: by the state's own memory of it. */
static uint32_t selected_at(uint64_t ticks)
{
	const struct lkst_state *s = lkst.state;
	uint64_t current = s->current;

	for (uint64_t i = s->nr_switches; i > 0; i--) {
		if (ticks >= s->switched[(i - 1) % LKST_SWITCHES].ticks)
			break;
		current = s->switched[(i - 1) % LKST_SWITCHES].current;
	}
	return lkst_current_id(current);
}

static void check_switched(uint32_t sem, uint32_t shm)
{
	uint64_t number, missing = 0, twice = 0;
	uint8_t *seen = count_calls();
	size_t calls = 0;

	for (size_t i = 0; i < nr_records; i++) {
		if (!is_call(&records[i], &number))
			continue;
		calls++;
		CHECK_EQ(selected_at(records[i].ticks),
			 records[i].etype == LKST_ETYPE_IPC_SEMCTL ? sem : shm);
	}
	for (uint64_t n = 0; n < caller->calls; n++) {
		missing += !seen[n];
		twice += seen[n] > 1;
	}
	printf("# %zu calls recorded, %llu not, %llu twice\n", calls,
	       (unsigned long long)missing, (unsigned long long)twice);
	/* a number is two calls: a switch may come between them */
	CHECK(missing + twice <= SWITCHES + 2 + lost_events());
	CHECK(calls > 0);
	free(seen);
}

static int switching(void)
{
	struct tacho_lkst_pump *pump;
	struct tacho_diag d = { 0 };
	uint32_t sem, shm;

	open_lkst(32 << 20);
	select_types("shm", shm_type, LKST_EVHANDLER_ID_LOG);
	shm = lkst_current_id(lkst.state->current);
	select_types("sem", sem_type, LKST_EVHANDLER_ID_LOG);
	sem = lkst_current_id(lkst.state->current);
	CHECK_EQ(tacho_lkst_pump_start(&pump, &lkst, &d), 0);
	start_caller();
	caller->limit = 100;
	for (int i = 0; i < SWITCHES; i++) {
		/* it goes on meanwhile */
		tacho_store_relaxed(&caller->limit, caller->limit + 500);
		(void)usleep(1000);
		CHECK_EQ(tacho_lkst_maskset_set(&lkst, i & 1 ? sem : shm), 0);
	}
	call_more(0);
	end_caller();
	read_all(0);
	check_switched(sem, shm);
	tacho_lkst_pump_stop(pump);
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	return test_done();
}

/* ---- a pump that is killed, and its successor ---- */

#define KILLS_MAX	300
#define FULL_WANTED	5	/* kills that left something in a slot */

static pid_t start_pump(void)
{
	struct tacho_lkst_pump *pump;
	struct tacho_lkst l;
	int ready[2];
	char c = 0;
	pid_t pid;

	if (pipe(ready))
		die("pipe", -errno);
	pid = fork();
	if (!pid) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (tacho_lkst_open(&l, NULL, NULL) || tacho_lkst_pump_start(&pump, &l, NULL))
			_exit(1);
		(void)!write(ready[1], "y", 1);
		for (;;)
			(void)pause();
	}
	close(ready[1]);
	CHECK(read(ready[0], &c, 1) == 1 && c == 'y');
	close(ready[0]);
	return pid;
}

static bool slots_are_full(void)
{
	struct lkst_pump_file f;
	bool full = false;

	if (lkst_pump_file_open(&f, false))
		return false;
	for (uint32_t i = 0; i < f.head->nr_cpus; i++)
		full |= f.head->slot[i].len && tacho_load_u64(lkst_pump_page(&f, i));
	lkst_pump_file_close(&f);
	return full;
}

/* Kills it while it is in the middle of something, as far as luck has it. */
static bool kill_pump(unsigned int round)
{
	pid_t pump = start_pump();
	struct lkst_pump_file f;

	if (!lkst_pump_file_open(&f, false)) {
		lkst_pump_file_wake(&f);
		lkst_pump_file_close(&f);
	}
	(void)usleep(round * 37 % 1500);
	(void)kill(pump, SIGKILL);
	while (waitpid(pump, NULL, 0) < 0 && errno == EINTR)
		;
	return slots_are_full();
}

static int killed(void)
{
	uint32_t kills = 0, full = 0;
	struct tacho_diag d = { 0 };
	uint64_t missing = 0, twice = 0;
	uint8_t *seen;

	open_lkst(64 << 20);
	select_types("sem", sem_type, LKST_EVHANDLER_ID_LOG);
	start_caller();
	for (; kills < KILLS_MAX && full < FULL_WANTED; kills++) {
		call_more(1000);
		full += kill_pump(kills);
	}
	call_more(100);
	end_caller();
	printf("# %u kills, %u of them with events in its hands, %llu calls\n", kills, full,
	       (unsigned long long)caller->calls);
	read_all(0);
	CHECK(full > 0);
	seen = count_calls();
	for (uint64_t n = 0; n < caller->calls; n++) {
		missing += !seen[n];
		twice += seen[n] > 1;
	}
	/* on a busy machine the kernel may run over: it says how far */
	printf("# %llu calls are missing, %llu there twice; the kernel overwrote %llu\n",
	       (unsigned long long)missing, (unsigned long long)twice,
	       (unsigned long long)lost_events());
	CHECK(missing <= lost_events());
	CHECK_EQ(twice, 0);
	free(seen);
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	return test_done();
}

/* ---- two pumps ---- */

static int two(void)
{
	struct tacho_lkst_pump *pump, *second;
	struct tacho_diag d = { 0 };
	struct tacho_tracefs t;
	pid_t other;

	rare = true;
	open_lkst(4 << 20);
	select_types("msg", msg_type, LKST_EVHANDLER_ID_LOG);
	CHECK_EQ(tacho_lkst_pump_start(&pump, &lkst, &d), 0);
	CHECK_EQ(tacho_lkst_pump_start(&second, &lkst, &d), -EBUSY);
	CHECK(!second && strstr(d.text, "pumps"));
	start_caller();
	for (int i = 0; i < 20; i++) {
		uint8_t *seen;

		call_more(10);
		/* the other one has moved all that was there */
		CHECK_EQ(tacho_lkst_pump_once(&lkst), -EBUSY);
		read_all(0);
		seen = count_calls();
		for (uint64_t n = 0; n < caller->calls; n++)
			CHECK_EQ(seen[n], 1);
		free(seen);
	}
	tacho_lkst_pump_stop(pump);
	CHECK_EQ(tacho_lkst_pump_once(&lkst), 0);
	/* another process has it; this one asks for all at the end, and gets it */
	other = start_pump();
	call_more(10);
	CHECK_EQ(tacho_lkst_pump_once(&lkst), -EBUSY);
	/* it lets go of the instance when the session ends */
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	CHECK(!tacho_tracefs_open(&t, 0, &d) && !tacho_kernel_is_kept(&t, session_name));
	tacho_tracefs_close(&t);
	(void)kill(other, SIGKILL);
	(void)waitpid(other, NULL, 0);
	end_caller();
	return test_done();
}

/* ---- handlers ---- */

static uint64_t handled[5];

static void count_it(void *hook, int type, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t e)
{
	(void)hook;
	if (type == LKST_ETYPE_IPC_MSGCTL && b == (lkst_arg_t)-1 && c == (lkst_arg_t)getpid() &&
	    !e)
		handled[a < 4 ? a : 4]++;
}

/*
 * Whether this process's msgctl() is in buffer 0, which was left then; or in the next one, if
 * another test's came first.
 */
static bool was_shifted(void)
{
	for (int id = 0; id < 2; id++) {
		read_all(id);
		for (size_t i = 0; i < nr_records; i++)
			if (records[i].etype == LKST_ETYPE_IPC_MSGCTL &&
			    records[i].thread == getpid())
				return tacho_lane_buffer(
					tacho_ring_lane(&lkst.session.view.ring, records[i].cpu),
					lkst.state->cpu[records[i].cpu].buffer[0].ring)->saved;
	}
	return false;
}

/* Records the event, leaves the buffer it is in, and is killed before it can say that it did. */
static void die_behind(void *hook, int type, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c, lkst_arg_t e)
{
	struct lkst_hookrec *rec = hook;

	rec->record(rec, (uint32_t)type, (const uint64_t[4]){ a, b, c, e });
	(void)lkst_shift_here(lkst.state, &lkst.session.view, (uint32_t)sched_getcpu(), false,
			      false);
	(void)kill(getpid(), SIGKILL);
}

/* Events of the buffers 0 and 1 that are there twice. */
static size_t there_twice(void)
{
	size_t twice = 0;

	read_all(0);
	for (int cpu = 0; cpu < (int)lkst.session.view.ring.nr_cpus; cpu++)
		read_buffer(cpu, 1, 1u << 20);
	for (size_t i = 0; i < nr_records; i++)
		for (size_t k = 0; k < i; k++)
			twice += records[i].ticks == records[k].ticks &&
				 records[i].thread == records[k].thread &&
				 records[i].etype == records[k].etype;
	return twice;
}

static int killed_behind(void)
{
	struct lkst_buffer_param made = {
		.id = 1, .next = LKST_BUFFER_ID_VOID, .cpu = -1, .size = 65536,
	};
	struct tacho_diag d = { 0 };
	struct lkst_handler *h;
	uint64_t found = 0, n;
	int status = 0;
	pid_t pid;

	rare = true;
	open_lkst(1 << 20);
	h = &lkst.state->handler[LKST_EVHANDLER_ID_USER];
	h->owner = lkst_owner_of(getpid());
	memcpy(h->name, "die_behind", 11);
	tacho_store_release(&h->ready, 1);
	CHECK_EQ(tacho_lkst_buffer_create(&lkst, &made), 0);
	for (uint32_t c = 0; c < lkst.session.view.ring.nr_cpus; c++)
		CHECK_EQ(tacho_lkst_buffer_link(&lkst, &(struct lkst_buffer_linkparam){
			 (int)c, 0, 1 }), 0);
	select_types("user", msg_type, LKST_EVHANDLER_ID_USER);
	start_caller();
	call_more(20);
	end_caller();
	pid = fork();
	if (!pid) {
		lkst_local_handler_set(LKST_EVHANDLER_ID_USER, die_behind);
		_exit(tacho_lkst_pump_once(&lkst) != 0);
	}
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
	CHECK_EQ(there_twice(), 0);
	for (size_t i = 0; i < nr_records; i++)
		found += is_call(&records[i], &n);
	CHECK_EQ(found, 20);
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	return test_done();
}

static int handlers(void)
{
	struct lkst_buffer_param made = {
		.id = 1, .next = LKST_BUFFER_ID_VOID, .cpu = -1, .size = 65536,
	};
	struct tacho_diag d = { 0 };
	struct lkst_handler *h;
	uint8_t *seen;
	uint64_t n;

	rare = true;
	open_lkst(4 << 20);
	h = &lkst.state->handler[LKST_EVHANDLER_ID_USER];
	h->owner = lkst_owner_of(getpid());
	memcpy(h->name, "count_it", 9);
	tacho_store_release(&h->ready, 1);
	lkst_local_handler_set(LKST_EVHANDLER_ID_USER, count_it);
	select_types("user", msg_type, LKST_EVHANDLER_ID_USER);
	start_caller();
	call_more(4);
	CHECK_EQ(tacho_lkst_pump_once(&lkst), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(handled[i], 1);
	CHECK_EQ(handled[4], 0);
	read_all(0);
	for (size_t i = 0; i < nr_records; i++)
		CHECK(!is_call(&records[i], &n));
	/* no function in this process: recorded */
	lkst_local_handler_set(LKST_EVHANDLER_ID_USER, NULL);
	call_more(1);
	read_all(0);
	seen = count_calls();
	CHECK_EQ(seen[4], 1);
	free(seen);
	/* a handler that shifts, on the CPU of the event: its buffer has been left */
	CHECK_EQ(tacho_lkst_buffer_create(&lkst, &made), 0);
	for (uint32_t c = 0; c < lkst.session.view.ring.nr_cpus; c++) {
		const struct lkst_buffer_linkparam link = { (int)c, 0, 1 };

		CHECK_EQ(tacho_lkst_buffer_link(&lkst, &link), 0);
	}
	end_caller();
	select_types("shift", msg_type, LKST_EVHANDLER_ID_BUFFER_SHIFT);
	(void)syscall(SYS_msgctl, -1L, 0L, NULL);
	CHECK(was_shifted());
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	return test_done();
}

/* ---- who may not ---- */

static int refused(void)
{
	struct tacho_lkst_pump *pump;
	struct tacho_diag d = { 0 };

	if (chown(directory, OTHER_UID, OTHER_UID) || setresgid(OTHER_UID, OTHER_UID, OTHER_UID) ||
	    setresuid(OTHER_UID, OTHER_UID, OTHER_UID))
		die("cannot become another user", -errno);
	/* the owner of the directory has LKST, without the kernel */
	open_lkst(1 << 20);
	CHECK(tacho_lkst_kernel_set(&lkst, lkst.state->current, 0, &d) < 0);
	printf("# %s\n", d.text);
	CHECK(strstr(d.text, "root") != NULL);
	memset(&d, 0, sizeof(d));
	CHECK(tacho_lkst_pump_start(&pump, &lkst, &d) < 0 && !pump && *d.text);
	printf("# %s\n", d.text);
	CHECK(tacho_lkst_pump_once(&lkst) < 0);
	CHECK_EQ(tacho_lkst_destroy(&lkst, &d), 0);
	return test_done();
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {
		{ "switching", switching }, { "killed", killed }, { "two", two },
		{ "handlers", handlers }, { "behind", killed_behind }, { "refused", refused },
	};
	struct tacho_tracefs t;
	struct tacho_diag d = { 0 };

	if (geteuid())
		SKIP("not root");
	if (tacho_tracefs_open(&t, TACHO_TRACEFS_MOUNT, &d))
		SKIP(d.text);
	tacho_tracefs_close(&t);
	for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++)
		if (argc == 2 && !strcmp(argv[1], modes[i].name)) {
			int ret = in_its_own(modes[i].name, modes[i].run);

			remove_tree(AT_FDCWD, directory);
			return ret;
		}
	fprintf(stderr, "usage: pump switching|killed|two|handlers|behind|refused\n");
	return 2;
}
