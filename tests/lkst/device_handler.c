// SPDX-License-Identifier: MIT
/* A program with an event handler that is a device, "tested"; until standard input ends. */
#include <errno.h>
#include <linux/lkst.h>
#include <linux/lkst_class.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char stored[LKST_EVHANDLER_CTRL_MAX] = "nothing stored";

static void handle(void *phookrec, int event_type, lkst_arg_t a, lkst_arg_t b, lkst_arg_t c,
		   lkst_arg_t d)
{
	lkst_evhandlerprim_entry_log(phookrec, event_type, a, b, c, d);
}

static int ctrl(void *buf, size_t size)
{
	if (size == 4 && !memcmp(buf, "fail", 4))
		return 7;
	if (size >= sizeof(stored))
		return 1;
	if (size)
		memcpy(stored, buf, size);
	stored[size] = '\0';
	return 0;
}

static ssize_t store(struct lkst_eh_device *dev, const char *text, size_t len)
{
	(void)dev;
	if (!strcmp(text, "bad"))
		return -EINVAL;
	return ctrl((void *)(uintptr_t)text, len) ? -ENOSPC : (ssize_t)len;
}

static ssize_t show(struct lkst_eh_device *dev, char *page)
{
	(void)dev;
	return snprintf(page, LKST_EVHANDLER_CTRL_MAX, "%.100s\n", stored);
}

static LKST_EH_DEV_DEF(tested, handle, ctrl, store, show);

/* as the specification writes the members */
static struct lkst_eh_device by_hand = {
	.name = "by_hand", .id = LKST_EVHANDLER_ID_VOID, .evhandler = handle,
	.evhandler_ctrl = ctrl, .ctrl_store = store, .ctrl_show = show, .class = { 0 },
};

int main(void)
{
	char c;

	if (lkst_eh_device_register(&LKST_EH_DEV(tested)) < 0)
		return 1;
	if (lkst_eh_device_register(&by_hand) < 0)
		return 1;
	lkst_eh_device_unregister(&by_hand);
	printf("ready\n");
	(void)fflush(stdout);
	while (read(0, &c, 1) > 0)
		;
	lkst_eh_device_unregister(&LKST_EH_DEV(tested));
	return 0;
}
