// SPDX-License-Identifier: MIT
/*
 * Calls of <ltt/trace.h> and <ltt/tracer.h> as its standard input says, one a line, for
 * ltt_calls.py; of each it prints what came back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ltt/tracer.h>

static int called;

static void on_event(uint8_t id, void *event)
{
	(void)event;
	called = called % 10000 * 100 + id;
}

/* "event ID SUB [A [B [C]]] [NAME]" */
static int do_event(char **word, int n)
{
	unsigned int id = (unsigned int)strtoul(word[1], NULL, 0);
	unsigned int sub = (unsigned int)strtoul(word[2], NULL, 0);
	unsigned long v[3] = { 0 };
	union {
		trace_syscall_entry call;
		trace_trap_entry trap;
		trace_irq_entry irq;
		trace_schedchange sched;
		trace_soft_irq soft;
		trace_process process;
		struct trace_named_file file;
		trace_timer timer;
		trace_memory memory;
		trace_socket socket;
		trace_ipc ipc;
		trace_network network;
	} s;

	/* holes of structs are not to be seen */
	memset(&s, 0xa5, sizeof(s));
	for (int i = 0; i < 3 && i + 3 < n; i++)
		v[i] = strtoul(word[i + 3], NULL, 0);
	switch (id) {
	case TRACE_SYSCALL_ENTRY:
		s.call.syscall_id = (uint8_t)v[0];
		s.call.address = v[1];
		break;
	case TRACE_TRAP_ENTRY:
		s.trap.trap_id = (uint16_t)v[0];
		s.trap.address = v[1];
		break;
	case TRACE_IRQ_ENTRY:
		s.irq = (trace_irq_entry){ (uint8_t)v[0], (uint8_t)v[1] };
		break;
	case TRACE_SCHEDCHANGE:
		s.sched = (trace_schedchange){ (uint32_t)v[0], (uint32_t)v[1], (uint32_t)v[2] };
		break;
	case TRACE_SOFT_IRQ:
	case TRACE_MEMORY:
		s.memory.event_data = v[0];
		break;
	case TRACE_PROCESS:
	case TRACE_SOCKET:
	case TRACE_IPC:
		s.process.event_data1 = (uint32_t)v[0];
		s.process.event_data2 = v[1];
		break;
	case TRACE_FILE_SYSTEM:
		s.file.file = (trace_file_system){ (uint32_t)v[0], (uint32_t)v[1] };
		s.file.name = n > 5 ? word[5] : NULL;
		break;
	case TRACE_TIMER:
		s.timer.event_sdata = (uint8_t)v[0];
		s.timer.event_data1 = (uint32_t)v[1];
		s.timer.event_data2 = (uint32_t)v[2];
		break;
	case TRACE_NETWORK:
		s.network.event_data = (uint32_t)v[0];
		break;
	default:
		return trace_event(TRACE_SUB(id, sub), NULL);
	}
	return trace_event(TRACE_SUB(id, sub), &s);
}

/* "mask HANDLE COMMAND HEX", "number HANDLE COMMAND": by pointer. */
static int by_pointer(char **word, int n)
{
	uint64_t v = n > 3 ? strtoull(word[3], NULL, 16) : 0;
	int ret = trace_control((unsigned int)atoi(word[1]), TRACER_COMMAND(atoi(word[2])),
				(unsigned long)&v);

	return n > 3 || ret ? ret : printf("%" PRIx64 "\n", v) < 0;
}

static int do_line(char **word, int n)
{
	trace_event_mask mask = 0;
	int ret;

	if (!strcmp(word[0], "event"))
		return do_event(word, n);
	if (!strcmp(word[0], "null"))
		return trace_event(TRACE_SCHEDCHANGE, NULL);
	if (!strcmp(word[0], "new"))
		return trace_create_event(word[1], "text %s", CUSTOM_EVENT_FORMAT_TYPE_STR, "");
	if (!strcmp(word[0], "raw"))
		return trace_raw_event(atoi(word[1]), (int)strlen(word[2]), word[2]);
	if (!strcmp(word[0], "control"))
		return trace_control((unsigned int)atoi(word[1]),
				     TRACER_COMMAND(atoi(word[2])), strtoul(word[3], NULL, 0));
	if (!strcmp(word[0], "pointer"))
		return by_pointer(word, n);
	if (!strcmp(word[0], "callback"))
		return trace_register_callback(on_event, (uint8_t)atoi(word[1]));
	if (!strcmp(word[0], "called"))
		return called;
	if (!strcmp(word[0], "attach"))
		return trace_attach();
	if (!strcmp(word[0], "set"))
		return trace_set_event_mask(strtoull(word[1], NULL, 16));
	if (!strcmp(word[0], "get")) {
		ret = trace_get_event_mask(&mask);
		return ret ? ret : printf("%" PRIx64 "\n", mask) < 0;
	}
	if (!strcmp(word[0], "traced"))
		return trace_is_event_traced(atoi(word[1]));
	if (!strcmp(word[0], "pid"))
		return getpid();
	return 9999;
}

int main(void)
{
	char line[9000];

	(void)setvbuf(stdout, NULL, _IOLBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		char *word[8] = { NULL }, *save = NULL;
		int n = 0;

		for (char *w = strtok_r(line, " \n", &save); w && n < 8;
		     w = strtok_r(NULL, " \n", &save))
			word[n++] = w;
		if (n)
			printf("= %d\n", do_line(word, n));
	}
	return 0;
}
