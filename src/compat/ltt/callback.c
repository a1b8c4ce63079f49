// SPDX-License-Identifier: MIT
/* Callbacks, and events of the kernel's ids. */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "base/atomic.h"
#include "base/compiler.h"
#include "compat/ltt/event.h"

#define CALLBACKS_MAX	64

struct callback {
	tracer_callback fn;
	uint8_t id;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct callback callbacks[CALLBACKS_MAX];
static int nr_callbacks;	/* read without the lock to see that there are none */

void ltt_callback_lock(void)
{
	pthread_mutex_lock(&lock);
}

void ltt_callback_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

/* ---- callbacks ---- */

/* The lock is not held while one runs: it may come back here. */
void ltt_call_back(uint8_t id, const void *event)
{
	struct callback list[CALLBACKS_MAX];
	int n;

	if (tacho_likely(!tacho_load_relaxed(&nr_callbacks)))
		return;
	pthread_mutex_lock(&lock);
	n = nr_callbacks;
	memcpy(list, callbacks, sizeof(list[0]) * (size_t)n);
	pthread_mutex_unlock(&lock);
	for (int i = 0; i < n; i++)
		if (list[i].id == id)
			list[i].fn(id, (void *)(uintptr_t)event);
}

int trace_register_callback(tracer_callback fn, uint8_t event_id)
{
	int ret = -ENOMEM;

	if (!fn || event_id > TRACE_MAX || event_id == TRACE_START ||
	    event_id == TRACE_BUFFER_START || event_id == TRACE_BUFFER_END)
		return -EINVAL;
	pthread_mutex_lock(&lock);
	if (nr_callbacks < CALLBACKS_MAX) {
		callbacks[nr_callbacks] = (struct callback){ fn, event_id };
		tacho_store_relaxed(&nr_callbacks, nr_callbacks + 1);
		ret = 0;
	}
	pthread_mutex_unlock(&lock);
	return ret;
}

int trace_unregister_callback(tracer_callback fn, uint8_t event_id)
{
	int ret = -ENOMEDIUM;

	pthread_mutex_lock(&lock);
	for (int i = 0; ret && i < nr_callbacks; i++)
		if (callbacks[i].fn == fn && callbacks[i].id == event_id) {
			tacho_store_relaxed(&nr_callbacks, nr_callbacks - 1);
			memmove(&callbacks[i], &callbacks[i + 1],
				sizeof(callbacks[0]) * (size_t)(nr_callbacks - i));
			ret = 0;
		}
	pthread_mutex_unlock(&lock);
	return ret;
}

/* ---- events ---- */

static void record_file(struct ltt_event *e, const struct trace_named_file *named, uint64_t let)
{
	trace_file_system file = named->file;
	struct ltt_data data = { named->name ? named->name : "", 0 };

	data.len = (uint32_t)strnlen(data.bytes, TRACE_FILE_NAME_MAX);
	file.event_data2 = data.len;
	ltt_event_record(e, &file, data, let);
}

int trace_event(unsigned int event, const void *event_struct)
{
	uint32_t id = event & 0xff, sub = event >> 8;
	struct ltt_event *e;
	uint64_t let;

	if ((id < TRACE_SYSCALL_ENTRY || id > TRACE_NETWORK) && id != TRACE_HEARTBEAT)
		return -EINVAL;
	e = ltt_event_of(id, sub);
	if (tacho_unlikely(!e))
		return tacho_ltt_event(id, sub) ? -ENOMEM : -EINVAL;
	if (e->shape.size && !event_struct)
		return -EINVAL;
	let = ltt_event_let(e, event_struct);
	if (let && e->is->data == TACHO_LTT_NAME)
		record_file(e, event_struct, let);
	else if (let)
		ltt_event_record(e, event_struct, (struct ltt_data){ NULL, 0 }, let);
	ltt_call_back((uint8_t)id, event_struct);
	return 0;
}
