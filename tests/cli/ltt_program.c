// SPDX-License-Identifier: MIT
/* Uses <ltt/trace.h>; prints what the calls returned, and ids, for ltt.py. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ltt/trace.h>

static int called, called_size;

static void on_custom(uint8_t id, void *event)
{
	const struct trace_custom_event *e = event;

	called += id == TRACE_CUSTOM;
	called_size = (int)e->custom.data_size;
}

static void say(const char *what, int got)
{
	printf("%s %d\n", what, got);
}

static void masks(int words)
{
	trace_event_mask mask = 0;

	say("detached", trace_user_event(words, 1, "x"));
	say("attach", trace_attach());
	say("user", trace_user_event(words, 4, "user"));
	say("disable", trace_disable_event_trace(TRACE_CUSTOM));
	say("traced", trace_is_event_traced(TRACE_CUSTOM));
	say("hidden", trace_user_event(words, 6, "hidden"));
	say("enable", trace_enable_event_trace(TRACE_CUSTOM));
	say("mask", trace_set_event_mask(TRACE_EVENT_BIT(TRACE_CUSTOM)));
	say("get", trace_get_event_mask(&mask));
	say("forced", mask == (TRACE_EVENT_BIT(TRACE_CUSTOM) | TRACE_EVENT_BIT(TRACE_START) |
			       TRACE_EVENT_BIT(TRACE_BUFFER_START) |
			       TRACE_EVENT_BIT(TRACE_CHANGE_MASK)));
	say("bad", trace_enable_event_trace(99) == -EINVAL);
	(void)trace_set_event_mask(TRACE_EVENT_MASK_ALL);
	say("detach", trace_detach());
}

static void owners(void)
{
	pid_t child = fork();
	int id;

	if (!child)
		_exit(0);
	(void)waitpid(child, NULL, 0);
	id = trace_create_owned_event("owned", "", 0, "", child);
	say("owner_gone", trace_raw_event(id, 0, NULL) == -ENOMEDIUM);
	id = trace_create_owned_event("owned", "", 0, "", getpid());
	say("owner_here", trace_raw_event(id, 0, NULL));
	trace_destroy_owners_events(getpid());
	say("owner_left", trace_raw_event(id, 0, NULL) == -ENOMEDIUM);
}

int main(void)
{
	char big[10000];
	int words = trace_create_event("words", "%s is %d", CUSTOM_EVENT_FORMAT_TYPE_STR,
				       "form");
	int bytes = trace_create_event("a name that is far too long", "bytes",
				       CUSTOM_EVENT_FORMAT_TYPE_HEX, NULL);

	memset(big, 0x5a, sizeof(big));
	say("words", words);
	say("bytes", bytes);
	say("register", trace_register_callback(on_custom, TRACE_CUSTOM));
	say("std", trace_std_formatted_event(words, "seven", 7));
	say("raw", trace_raw_event(bytes, 4, "\xde\xad\xbe\xef"));
	say("big", trace_raw_event(bytes, sizeof(big), big));
	say("called", called);
	say("called_size", called_size);
	say("unregister", trace_unregister_callback(on_custom, TRACE_CUSTOM));
	say("twice", trace_unregister_callback(on_custom, TRACE_CUSTOM) == -ENOMEDIUM);
	say("unknown", trace_raw_event(5, 1, "x") == -ENOMEDIUM);
	say("negative", trace_raw_event(bytes, -1, "x") == -EINVAL);
	say("format", trace_create_event("x", "", 9, "") == -EINVAL);
	masks(words);
	owners();
	trace_destroy_event(bytes);
	say("destroyed", trace_raw_event(bytes, 1, "x") == -ENOMEDIUM);
	return 0;
}
