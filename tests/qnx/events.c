// SPDX-License-Identifier: MIT
/* What is recorded: classes, events, forms, processes, handlers, modes. */
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>

#include "compat/qnx/state.h"
#include "qnx/api.h"

#define USER	_NTO_TRACE_USER
#define SYSTEM	_NTO_TRACE_SYSTEM
#define SYSTEM_INDEX	(_TRACE_SYSTEM_C >> 10)

static void test_inserters(void)
{
	static const uint32_t words[] = { 1, 2, 3 };

	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTSUSEREVENT, 7, 0x11, 0x22), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 8, words, 3), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTCUSEREVENT, 8, words, 1), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 9, "hello, world"), 0);
	/* of the event's number the lower ten bits count */
	CHECK_EQ(trace_logi(0x400 + 10, 1, 0xffffffff), 0);
	CHECK_EQ(trace_logf(11, "%d and %s", 5, "more"), (int)sizeof("5 and more"));
	CHECK_EQ(trace_nlogf(12, 10, "%s", "abcdefghijklmnop"), 10);
	CHECK_EQ(trace_logb(13, "\1\2\3\4\5\6\7\10\11", 9), 0);
	CHECK_EQ(trace_logb(14, "\1\2\3\4\5", 5), 0);
	CHECK_STR(test_text(),
		  "user:event_7 d0=0x11 d1=0x22;"
		  "user:event_8_data data=01 00 00 00 02 00 00 00 03 00 00 00 00 00 00 00;"
		  "user:event_8 d0=0x1 d1=0x0;"
		  "user:event_9_text hello, world;"
		  "user:event_10 d0=0x1 d1=0xffffffff;"
		  "user:event_11_text 5 and more;"
		  "user:event_12_text abcdefghi;"
		  "user:event_13_data data=01 02 03 04 05 06 07 08 09 00 00 00 00 00 00 00;"
		  "user:event_14 d0=0x4030201 d1=0x5;");
}

/* Strings are cut behind 127 characters. */
static void test_long(void)
{
	char text[300], want[300];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTUSRSTREVENT, 1, text), 0);
	(void)snprintf(want, sizeof(want), "user:event_1_text %.127s;", text);
	CHECK_STR(test_text(), want);
}

static void test_other_classes(void)
{
	static const uint32_t words[] = { 42, 1, 0x1000, 0, 0x2000, 0 };
	char want[400];

	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDALLCLASSES), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, SYSTEM_INDEX,
			    _NTO_TRACE_SYS_FUNC_ENTER, 0x10, 0x20), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTCCLASSEVENT, SYSTEM_INDEX,
			    _NTO_TRACE_SYS_MUNMAP, words, 5), 0);
	CHECK_EQ(trace_logbc(_TRACE_COMM_C, _NTO_TRACE_COMM_SMSG, words, 8), 0);
	CHECK_EQ(trace_func_enter((void *)0x123456789a, (void *)0x1), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTEVENT, _TRACE_USER_C | 5, 0, 6, 7), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTEVENT, _TRACE_STRUCT_CB | _TRACE_USER_C | 5, 9, 6, 7),
		 0);
	(void)snprintf(want, sizeof(want), "%s", test_text());
	CHECK(strstr(want, "system:func_enter thisfn=0x10 call_site=0x20;"));
	CHECK(strstr(want, "system:munmap pid=42 "));
	CHECK(strstr(want, "comm:"));
	CHECK(strstr(want, "system:func_enter_64 thisfn=0x123456789a call_site=0x1;"));
	CHECK(strstr(want, "user:event_5 d0=0x6 d1=0x7;kev:orphan header=0x40001805 stamp=0x9 "
		     "d0=0x6 d1=0x7;"));
	CHECK_EQ(trace_here(), 0);
	CHECK_EQ(trace_func_exit((void *)0x1, (void *)0x2), 0);
	CHECK(strstr(test_text(), "system:func_exit_64 thisfn=0x1 call_site=0x2;"));
}

static void insert_all(void)
{
	for (int i = 1; i <= 3; i++)
		CHECK_EQ(trace_logi(i, 0, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, SYSTEM_INDEX,
			    _NTO_TRACE_SYS_FUNC_ENTER, 0, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, SYSTEM_INDEX,
			    _NTO_TRACE_SYS_FUNC_EXIT, 0, 0), 0);
}

#define U(n)	"user:event_" #n " d0=0x0 d1=0x0;"
#define ENTER	"system:func_enter thisfn=0x0 call_site=0x0;"
#define EXIT	"system:func_exit thisfn=0x0 call_site=0x0;"

static void test_classes(void)
{
	test_anew(8);
	insert_all();
	CHECK_STR(test_text(), "");
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, SYSTEM), 0);
	insert_all();
	CHECK_STR(test_text(), ENTER EXIT);
	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDEVENT, USER, 2), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDEVENT, SYSTEM, _NTO_TRACE_SYS_FUNC_EXIT), 0);
	insert_all();
	CHECK_STR(test_text(), U(2) EXIT);
	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDALLCLASSES), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_DELEVENT, USER, 2), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_DELCLASS, SYSTEM), 0);
	insert_all();
	CHECK(strstr(test_text(), U(1)));
	CHECK(strstr(test_text(), U(3)));
	CHECK(!strstr(test_text(), U(2)));
	CHECK(!strstr(test_text(), ENTER));
	/* stopped, nothing is recorded, and all of it goes on afterwards */
	CHECK_EQ(TraceEvent(_NTO_TRACE_STOP), 0);
	CHECK_EQ(trace_logi(4, 0, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_STARTNOSTATE), 0);
	CHECK_EQ(trace_logi(5, 0, 0), 0);
	CHECK(!strstr(test_text(), U(4)));
	CHECK(strstr(test_text(), U(5)));
}

static void insert_system(void)
{
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, SYSTEM_INDEX,
			    _NTO_TRACE_SYS_FUNC_ENTER, 0, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_INSERTSCLASSEVENT, SYSTEM_INDEX,
			    _NTO_TRACE_SYS_FUNC_EXIT, 0, 0), 0);
}

static void *insert_in_thread(void *arg)
{
	(void)arg;
	insert_system();
	return NULL;
}

static void in_thread(void)
{
	pthread_t t;

	CHECK_EQ(pthread_create(&t, NULL, insert_in_thread, NULL), 0);
	CHECK_EQ(pthread_join(t, NULL), 0);
}

static void test_who(void)
{
	int me = getpid(), other = getppid();

	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, SYSTEM), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETCLASSPID, SYSTEM, other), 0);
	insert_system();
	CHECK_STR(test_text(), "");
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETCLASSPID, SYSTEM, me), 0);
	insert_system();
	CHECK_STR(test_text(), ENTER EXIT);
	/* the main thread's number is the process's; a pid takes the tid away */
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETCLASSTID, SYSTEM, me, me), 0);
	in_thread();
	CHECK_STR(test_text(), ENTER EXIT);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETCLASSPID, SYSTEM, me), 0);
	in_thread();
	CHECK_STR(test_text(), ENTER EXIT ENTER EXIT);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETCLASSTID, SYSTEM, me, me), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_CLRCLASSTID, SYSTEM), 0);
	in_thread();
	CHECK_STR(test_text(), ENTER EXIT ENTER EXIT ENTER EXIT);
	CHECK_EQ(TraceEvent(_NTO_TRACE_CLRCLASSPID, SYSTEM), 0);

	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, SYSTEM), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETEVENTPID, SYSTEM, _NTO_TRACE_SYS_FUNC_EXIT, other), 0);
	insert_system();
	CHECK_STR(test_text(), ENTER);
	/* filters stay when classes go */
	CHECK_EQ(TraceEvent(_NTO_TRACE_DELALLCLASSES), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, SYSTEM), 0);
	insert_system();
	CHECK_STR(test_text(), ENTER ENTER);
	CHECK_EQ(TraceEvent(_NTO_TRACE_CLREVENTPID, SYSTEM, _NTO_TRACE_SYS_FUNC_EXIT), 0);
	insert_system();
	CHECK_STR(test_text(), ENTER ENTER ENTER EXIT);
}

/* ---- handlers ---- */

static int seen, answer_class = 1, answer_event = 1;
static uint32_t last_header, last_word;

static int class_handler(event_data_t *data)
{
	seen++;
	last_header = data->header;
	last_word = data->el_num > 1 ? data->data_array[1] : 0;
	CHECK_EQ(data->feature[_NTO_TRACE_FIPID], getpid());
	/* what a handler inserts is recorded, and not asked about */
	if (data->area)
		(*(int *)data->area)++;
	return answer_class;
}

static int event_handler(event_data_t *data)
{
	(void)data;
	return answer_event;
}

static void test_handlers(void)
{
	int area = 0;
	event_data_t data = { .area = &area };

	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASSEVHANDLER, USER, class_handler, &data), 0);
	CHECK_EQ(trace_logi(1, 0, 0x99), 0);
	CHECK_EQ(seen, 1);
	CHECK_EQ(area, 1);
	CHECK_EQ(last_header & 0x7fff, _TRACE_USER_C | 1);
	CHECK_EQ(last_word, 0x99);
	answer_class = 0;
	CHECK_EQ(trace_logi(2, 0, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, USER, 3, event_handler, &data), 0);
	CHECK_EQ(trace_logi(3, 0, 0), 0);
	answer_class = 1;
	answer_event = 0;
	CHECK_EQ(trace_logi(3, 0, 0), 0);
	CHECK_EQ(trace_logi(4, 0, 0), 0);
	answer_event = 1;
	CHECK_EQ(trace_logi(3, 0, 1), 0);
	CHECK_STR(test_text(), "user:event_1 d0=0x0 d1=0x99;" U(4) "user:event_3 d0=0x0 d1=0x1;");
	answer_class = 0;
	CHECK_EQ(TraceEvent(_NTO_TRACE_DELCLASSEVHANDLER, USER), 0);
	CHECK_ERR(TraceEvent(_NTO_TRACE_DELCLASSEVHANDLER, USER), EFAULT);
	CHECK_EQ(TraceEvent(_NTO_TRACE_DELEVENTHANDLER, USER, 3), 0);
	CHECK_EQ(trace_logi(5, 0, 0), 0);
	CHECK(strstr(test_text(), U(5)));
	for (int i = 0; i < 128; i++)
		CHECK_EQ(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, USER, i, event_handler, NULL), 0);
	/* one of them anew is no further one */
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, USER, 5, event_handler, NULL), 0);
	CHECK_ERR(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, USER, 128, event_handler, NULL), ENOMEM);
	for (int i = 0; i < 128; i++)
		CHECK_EQ(TraceEvent(_NTO_TRACE_DELEVENTHANDLER, USER, i), 0);
	CHECK_ERR(TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, USER, 1, NULL, NULL), EFAULT);
}

/* Handlers that come and go while events are inserted: each has its own data, its own event. */
static int mine[3], mixed, called, over;

static int first_handler(event_data_t *data)
{
	(void)tacho_add_relaxed(&called, 1);
	(void)tacho_add_relaxed(&mixed, data->area != &mine[0]);
	return 1;
}

static int second_handler(event_data_t *data)
{
	(void)tacho_add_relaxed(&mixed, data->area != &mine[1]);
	return 1;
}

static int other_handler(event_data_t *data)
{
	(void)data;
	(void)tacho_add_relaxed(&mixed, 1);
	return 1;
}

static void *insert_until_over(void *arg)
{
	cpu_set_t all;

	memset(&all, 0xff, sizeof(all));
	(void)sched_setaffinity(0, sizeof(all), &all);
	while (!tacho_load_relaxed(&over))
		(void)trace_logi(1, 0, 0);
	return arg;
}

static void test_handlers_change(void)
{
	event_data_t data[3] = { { .area = &mine[0] }, { .area = &mine[1] }, { .area = NULL } };
	pthread_t t;

	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	CHECK_EQ(pthread_create(&t, NULL, insert_until_over, NULL), 0);
	for (int i = 0; i < 100000 || !tacho_load_relaxed(&called); i++) {
		(void)TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, USER, 1, first_handler, &data[0]);
		(void)TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, USER, 1, second_handler, &data[1]);
		(void)TraceEvent(_NTO_TRACE_DELEVENTHANDLER, USER, 1);
		(void)TraceEvent(_NTO_TRACE_ADDEVENTHANDLER, USER, 2, other_handler, &data[2]);
		(void)TraceEvent(_NTO_TRACE_DELEVENTHANDLER, USER, 2);
	}
	tacho_store_relaxed(&over, 1);
	CHECK_EQ(pthread_join(t, NULL), 0);
	CHECK_EQ(mixed, 0);
}

/* ---- modes ---- */

/* More events than the buffers hold, then the last one. */
static const char *overfill(bool ring)
{
	(void)TraceEvent(_NTO_TRACE_STOP);
	(void)TraceEvent(_NTO_TRACE_DEALLOCBUFFER);
	CHECK_EQ(TraceEvent(ring ? _NTO_TRACE_SETRINGMODE : _NTO_TRACE_SETLINEARMODE), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ALLOCBUFFER, 2, NULL), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_DELALLCLASSES), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_START), 0);
	CHECK_EQ(trace_logi(1, 0, 0), 0);
	for (unsigned i = 0; i < 100000; i++)
		(void)trace_logi(2, 0, i);
	CHECK_EQ(trace_logi(3, 0, 0), 0);
	return test_text();
}

/* The first and the last of them, on however many CPUs the test ran. */
static bool holds(const char *type)
{
	struct tacho_stream *s;
	struct tacho_record r;
	bool has = false;

	CHECK_EQ(tacho_stream_open(&s, test_session, 0, NULL), 0);
	while (tacho_stream_next(s, &r) == TACHO_STREAM_RECORD)
		has |= !strcmp(tacho_type_name(r.type), type);
	tacho_stream_close(s);
	return has;
}

static void on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((size_t)sched_getcpu(), &set);
	CHECK_EQ(sched_setaffinity(0, sizeof(set), &set), 0);
}

static void test_modes(void)
{
	(void)overfill(false);
	CHECK(holds("event_1"));
	CHECK(!holds("event_3"));
	(void)overfill(true);
	CHECK(!holds("event_1"));
	CHECK(holds("event_3"));
	CHECK_EQ(TraceEvent(_NTO_TRACE_STOP), 0);
	/* in the other mode what was recorded is still there */
	CHECK_EQ(TraceEvent(_NTO_TRACE_SETLINEARMODE), 0);
	CHECK(holds("event_3"));
	CHECK(!holds("event_1"));
}

static void test_query(void)
{
	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 0);
	CHECK_EQ(trace_logi(1, 0, 0), 0);
	CHECK_EQ(trace_logi(1, 0, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 2);
	CHECK_EQ(TraceEvent(_NTO_TRACE_FLUSHBUFFER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 0);
	CHECK_EQ(trace_logi(1, 0, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 1);
	CHECK_EQ(TraceEvent(_NTO_TRACE_SKIPBUFFER), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_OVERWRITEBUFFER), 0);
}

/* ---- anywhere ---- */

static void on_signal(int signo)
{
	(void)signo;
	/* numbers of which nobody has heard by now */
	(void)trace_logi(100, 1, 2);
	(void)trace_logb(101, "a text that is long", sizeof("a text that is long"));
}

static void *hammer(void *arg)
{
	for (int i = 0; i < 2000; i++)
		(void)trace_logi((int)(intptr_t)arg + i % 50, 0, 0);
	return NULL;
}

static void test_anywhere(void)
{
	pthread_t t[4];

	test_anew(64);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	CHECK(signal(SIGUSR1, on_signal) != SIG_ERR);
	errno = 1234;
	CHECK_EQ(raise(SIGUSR1), 0);
	CHECK_EQ(errno, 1234);
	CHECK(strstr(test_text(), "user:event_100 d0=0x1 d1=0x2;user:event_101_text a text that is "
		     "long;"));
	for (intptr_t i = 0; i < 4; i++)
		CHECK_EQ(pthread_create(&t[i], NULL, hammer, (void *)(200 + 25 * i)), 0);
	for (int i = 0; i < 4; i++)
		CHECK_EQ(pthread_join(t[i], NULL), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_QUERYEVENTS), 8002);
}

/* A child traces, too, and so does a process that was not there when the trace began. */
static void test_fork(void)
{
	pid_t child;
	int status = -1;

	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	fflush(stdout);
	child = fork();
	if (!child)
		_exit(trace_logi(300, 0, 0) || trace_logi(1, 0, 0));
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK_EQ(status, 0);
	CHECK_STR(test_text(), U(300) U(1));
}

static int hook_calls, hook_info;

static const struct sigevent *hook(int info)
{
	hook_calls++;
	hook_info = info;
	return NULL;
}

/* The state as it is for a moment while somebody frees the buffers. */
static void test_hook_while_freed(void)
{
	int calls = hook_calls, dirfd = open(test_dir, O_PATH | O_DIRECTORY);
	int fd = openat(dirfd, "qnx", O_RDWR);
	struct qnx_state *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	uint32_t was;

	CHECK(s != MAP_FAILED);
	was = s->nr_buffers;
	s->nr_buffers = 0;
	CHECK_EQ(TraceEvent(_NTO_TRACE_FLUSHBUFFER), 0);
	CHECK_EQ(hook_calls, calls);
	s->nr_buffers = was;
	CHECK_EQ(TraceEvent(_NTO_TRACE_FLUSHBUFFER), 0);
	CHECK_EQ(hook_calls, calls + 1);
	munmap(s, sizeof(*s));
	close(fd);
	close(dirfd);
}

static void test_hook(void)
{
	test_anew(8);
	CHECK_EQ(TraceEvent(_NTO_TRACE_ADDCLASS, USER), 0);
	CHECK_EQ(InterruptHookTrace(hook, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_FLUSHBUFFER), 0);
	CHECK_EQ(hook_calls, 1);
	/* more than a buffer, less than two */
	for (int i = 0; i < 1000; i++)
		(void)trace_logi(1, 0, 0);
	CHECK_EQ(hook_calls, 2);
	CHECK_EQ(_TRACE_GET_BUFFSEQ(hook_info), 1);
	test_hook_while_freed();
	CHECK_EQ(InterruptHookTrace(NULL, 0), 0);
	CHECK_EQ(TraceEvent(_NTO_TRACE_FLUSHBUFFER), 0);
	CHECK_EQ(hook_calls, 3);
}

int main(int argc, char **argv)
{
	test_begin(argc, argv);
	on_one_cpu();
	TEST(test_inserters());
	TEST(test_long());
	TEST(test_other_classes());
	TEST(test_classes());
	TEST(test_who());
	TEST(test_handlers());
	TEST(test_handlers_change());
	TEST(test_modes());
	TEST(test_query());
	TEST(test_anywhere());
	TEST(test_fork());
	TEST(test_hook());
	return test_end();
}
