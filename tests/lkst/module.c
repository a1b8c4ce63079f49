// SPDX-License-Identifier: MIT
/*
 * Handlers out of a shared object, in a process that tells of events that are not its own
 * (module MODULE OTHER): what they record keeps whose event it is.
 */
#include "compat/lkst/hook.h"
#include "lkst/prog.h"

struct seen {
	uint64_t n, wrong;
};

static void look(const struct lkst_record *r, void *arg)
{
	struct seen *s = arg;

	if (r->etype != 0x100)
		return;
	s->n++;
	s->wrong += r->pid != 4242 || r->thread != 4243 || r->arg[0] != ~UINT64_C(7) ||
		    r->arg[3] != 10 || r->uid != 5 || r->gid != 6 || r->pgrp != 4241;
}

static void test_errors(const char *other)
{
	struct tacho_diag d = { 0 };

	CHECK_EQ(lkst_module_load("/nowhere/module.so", &d), -ENOENT);
	CHECK(strstr(d.text, "/nowhere/module.so"));
	memset(&d, 0, sizeof(d));
	CHECK_EQ(lkst_module_load(other, &d), -EINVAL);
	CHECK(strstr(d.text, other) && strstr(d.text, "lkst_evhandler_register"));
}

static void test_load(const char *module)
{
	const struct lkst_record r = {
		.etype = 0x100, .pid = 4242, .thread = 4243, .uid = 5, .gid = 6, .pgrp = 4241,
		.arg = { 7, 8, 9, 10 },
	};
	struct tacho_diag d = { 0 };
	struct seen s = { 0 };

	CHECK(!lkst_local_handler(0x234));
	CHECK_EQ(lkst_module_load(module, &d), 0);
	CHECK_STR(d.text, "");
	CHECK(lkst_local_handler(0x234));
	CHECK_EQ(tacho_lkst_handler_get_id(&tool, "every_second"), 0x234);
	record("module", &(struct prog_entry){ 0x100, 0x234 }, 1);
	for (int i = 0; i < 10; i++)
		tacho_lkst_handle(&tool, 0x234, &r, false);
	each_record(look, &s);
	CHECK_EQ(s.n, 5);
	CHECK_EQ(s.wrong, 0);
	/* a module that is there already stays as it is */
	CHECK_EQ(lkst_module_load(module, &d), 0);
}

int main(int argc, char **argv)
{
	test_args(argc, argv);
	tool_open();
	TEST(test_errors(LIBTACHO));
	TEST(test_load(MODULE));
	return prog_done();
}
