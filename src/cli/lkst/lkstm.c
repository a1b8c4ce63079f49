// SPDX-License-Identifier: MIT
/* lkstm - control masksets (specification 4.7.3.2.1). */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scan.h"
#include "cli/lkst/show.h"

/* What options say. */
struct choice {
	uint64_t id;		/* UINT64_MAX: not said */
	const char *name, *file, *etypes;
	bool all, omitted, plain, select;
};

static int parse(int argc, char **argv, const char *letters, struct choice *c)
{
	int o;

	*c = (struct choice){ .id = UINT64_MAX };
	while ((o = tool_option(argc, argv, letters)) != -1) {
		switch (o) {
		case 'm':
			if (tool_number(optarg, "maskset id", LKST_MASKSET_ID_VOID, &c->id))
				return TOOL_USAGE;
			break;
		case 'n':
			c->name = optarg;
			break;
		case 'f':
			c->file = optarg;
			break;
		case 'E':
			c->etypes = optarg;
			break;
		case 'A':
			c->all = true;
			break;
		case 'a':
			c->omitted = true;
			break;
		case 'd':
			c->plain = true;
			break;
		case 'S':
			c->select = true;
			break;
		default:
			return TOOL_USAGE;
		}
	}
	return TOOL_OK;
}

/* The id that is meant; nothing said: VOID, the current one. */
static int chosen(struct tacho_lkst *l, const struct choice *c, uint32_t *id)
{
	int found;

	*id = c->id == UINT64_MAX ? LKST_MASKSET_ID_VOID : (uint32_t)c->id;
	if (!c->name)
		return TOOL_OK;
	if (c->id != UINT64_MAX)
		return tool_fail(TOOL_USAGE, "'-m' and '-n' name a maskset twice");
	found = tacho_lkst_maskset_get_id(l, c->name);
	if (found < 0)
		return tool_fail(TOOL_FAILED, "'%s' is no name of a maskset: 1 to %d bytes are "
				 "meant", c->name, LKST_MASKSET_NAME_LEN - 1);
	if (found == LKST_MASKSET_ID_VOID)
		return tool_fail(TOOL_FAILED, "there is no maskset '%s'; 'lkstm list' lists them",
				 c->name);
	*id = (uint32_t)found;
	return TOOL_OK;
}

static int must_choose(const char *command, const struct choice *c)
{
	return c->name || c->id != UINT64_MAX ? TOOL_OK :
	       tool_fail(TOOL_USAGE, "%s needs '-m ID' or '-n NAME'", command);
}

/* ---- what masksets hold ---- */

static struct lkst_maskset_body *get_body(struct tacho_lkst *l, uint32_t *id)
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { (lkst_maskset_id)*id, sizeof(*b), b };
	int err = b ? tacho_lkst_maskset_read(l, &p) : -ENOMEM;

	if (!err) {
		*id = p.id;
		return b;
	}
	free(b);
	if (err == -EINVAL)
		(void)tool_fail(0, "there is no maskset %u; 'lkstm list' lists them", *id);
	else
		(void)tool_failed(err, "read maskset %u", *id);
	return NULL;
}

static void put_entry(const struct lkst_types *types, uint32_t etype, uint32_t handler,
		      bool plain)
{
	const struct lkst_type_text *t = lkst_types_get(types, etype);

	printf("0x%03x\t0x%03x", etype, handler);
	if (!plain && t)
		printf("\t# %s: %s", t->mnemonic, t->name);
	putchar('\n');
}

/* Types that are known and not recorded are shown when `omitted`. */
static int put_maskset(struct tacho_lkst *l, uint32_t id, const struct choice *c,
		       const struct lkst_types *types)
{
	struct lkst_maskset_body *b = get_body(l, &id);
	int at = 0;

	if (!b)
		return TOOL_FAILED;
	printf("# maskset %u %.31s\n", id, b->name);
	for (uint32_t t = 0; t <= LKST_ETYPE_MAX; t++) {
		bool is = at < b->len && b->entry[at].event_type == (int)t;

		if (is)
			put_entry(types, t, (uint32_t)b->entry[at++].id, c->plain);
		else if (c->omitted && !c->plain && lkst_types_get(types, t))
			put_entry(types, t, LKST_EVHANDLER_ID_VOID, false);
	}
	free(b);
	return TOOL_OK;
}

static int put_all(struct tacho_lkst *l, const struct choice *c, const struct lkst_types *types)
{
	struct lkst_maskset_listent e[LKST_MASKSET_MAX];
	struct lkst_maskset_listparam p = { 0, sizeof(e), e };
	struct lkst_trc_status st;
	int err = tacho_lkst_status(l, &st), ret = TOOL_OK;

	if (!err)
		err = tacho_lkst_maskset_list(l, &p);
	if (err)
		return tool_failed(err, "list the masksets");
	for (int i = 0; !ret && i < st.maskset_num && i < LKST_MASKSET_MAX; i++) {
		if (i)
			putchar('\n');
		ret = put_maskset(l, e[i].id, c, types);
	}
	return ret;
}

static int show_contents(struct tacho_lkst *l, const struct choice *c)
{
	struct lkst_types types;
	uint32_t id;
	int ret;

	if (c->all && (c->name || c->id != UINT64_MAX))
		return tool_fail(TOOL_USAGE, "'-A' means all masksets, '-m' and '-n' one");
	lkst_types_init(&types);
	ret = tool_types(l, c->etypes, &types);
	if (!ret)
		ret = c->all ? TOOL_OK : chosen(l, c, &id);
	if (!ret)
		ret = c->all ? put_all(l, c, &types) : put_maskset(l, id, c, &types);
	lkst_types_release(&types);
	return ret;
}

/* ---- simple commands ---- */

static int list(struct tacho_lkst *l, const struct choice *c)
{
	(void)c;
	return show_masksets(l);
}

static int all(struct tacho_lkst *l, const struct choice *c)
{
	struct choice every = *c;
	int ret = show_masksets(l);

	every.all = true;
	putchar('\n');
	return ret ? ret : show_contents(l, &every);
}

static int select_it(struct tacho_lkst *l, uint32_t id)
{
	int err = tacho_lkst_maskset_set(l, id);

	if (err == -EBUSY)
		return tool_fail(TOOL_FAILED, "LKST is stopped; 'lkst start' comes first");
	if (err == -EINVAL)
		return tool_fail(TOOL_FAILED, "there is no maskset %u; 'lkstm list' lists them",
				 id);
	return err ? tool_failed(err, "select maskset %u", id) : TOOL_OK;
}

static int set(struct tacho_lkst *l, const struct choice *c)
{
	uint32_t id;
	int ret = must_choose("set", c);

	if (!ret)
		ret = chosen(l, c, &id);
	return ret ? ret : select_it(l, id);
}

static int delete(struct tacho_lkst *l, const struct choice *c)
{
	uint32_t id;
	int ret = must_choose("delete", c), err;

	if (!ret)
		ret = chosen(l, c, &id);
	if (ret)
		return ret;
	err = tacho_lkst_maskset_delete(l, id);
	if (err == -EBUSY)
		return tool_fail(TOOL_FAILED, "maskset %u is selected; 'lkstm set' selects another",
				 id);
	if (err == -EINVAL)
		return tool_fail(TOOL_FAILED, id <= LKST_MASKSET_ID_RDEFAULT ?
				 "maskset %u is one of the special ones, which stay" :
				 "there is no maskset %u; 'lkstm list' lists them", id);
	return err ? tool_failed(err, "delete maskset %u", id) : TOOL_OK;
}

static int find(struct tacho_lkst *l, const struct choice *c)
{
	int id;

	if (!c->name)
		return tool_fail(TOOL_USAGE, "find needs '-n NAME'");
	id = tacho_lkst_maskset_get_id(l, c->name);
	if (id < 0)
		return tool_failed(id, "find maskset '%s'", c->name);
	printf("%d\n", id);
	return TOOL_OK;
}

/* ---- writing ---- */

static bool is_number(const char *text, uint64_t max, uint64_t *n)
{
	return !tacho_scan_number(&text, NULL, max, n) && !*text;
}

/* An event type: a number or a mnemonic.  False: it is neither. */
static bool is_type(const struct lkst_types *types, const char *text, int *etype)
{
	const struct lkst_type_text *t;
	uint64_t n;

	if (isdigit((unsigned char)*text)) {
		if (!is_number(text, LKST_ETYPE_MAX, &n))
			return false;
		*etype = (int)n;
		return true;
	}
	t = lkst_types_find(types, text);
	if (t)
		*etype = t->etype;
	return t != NULL;
}

static bool is_handler(struct tacho_lkst *l, const char *text, lkst_evhandler_id *id)
{
	uint64_t n;

	if (isdigit((unsigned char)*text)) {
		if (!is_number(text, LKST_EVHANDLER_ID_MAX, &n))
			return false;
		*id = (lkst_evhandler_id)n;
		return true;
	}
	*id = tacho_lkst_handler_get_id(l, text);
	return *id > LKST_EVHANDLER_ID_VOID;
}

/* "TYPE HANDLER # anything"; TOOL_FAILED with a sentence about the line. */
static int parse_line(struct tacho_lkst *l, const struct lkst_types *types, char *line,
		      const char *file, unsigned int nr, struct lkst_maskset_body *b)
{
	char type[64] = "", handler[64] = "", more[8] = "";
	struct lkst_maskset_entry e;

	line[strcspn(line, "#\n")] = '\0';
	if (sscanf(line, "%63s %63s %7s", type, handler, more) <= 0)
		return TOOL_OK;
	if (!*handler || *more)
		return tool_fail(TOOL_FAILED, "%s, line %u: an event type and an event handler are "
				 "meant", file, nr);
	if (!is_type(types, type, &e.event_type))
		return tool_fail(TOOL_FAILED, "%s, line %u: '%s' is no event type", file, nr, type);
	if (!is_handler(l, handler, &e.id))
		return tool_fail(TOOL_FAILED, "%s, line %u: '%s' is no event handler; 'lksteh list' "
				 "lists them", file, nr, handler);
	if (b->len == LKST_MASKSET_TABLE_LEN_MAX)
		return tool_fail(TOOL_FAILED, "%s, line %u: more than %d entries", file, nr,
				 LKST_MASKSET_TABLE_LEN_MAX);
	b->entry[b->len++] = e;
	return TOOL_OK;
}

static int read_body(struct tacho_lkst *l, const char *file, struct lkst_maskset_body *b)
{
	const char *name = file ? file : "standard input";
	FILE *f = file ? fopen(file, "re") : stdin;
	struct lkst_types types;
	unsigned int nr = 0;
	char *line = NULL;
	size_t room = 0;
	int ret;

	if (!f)
		return tool_failed(-errno, "read '%s'", file);
	lkst_types_init(&types);
	ret = tool_types(l, NULL, &types);
	while (!ret && getline(&line, &room, f) >= 0)
		ret = parse_line(l, &types, line, name, ++nr, b);
	/* for want of memory it ends without ferror() */
	if (!ret && !feof(f))
		ret = tool_failed(-errno, "read '%s'", name);
	lkst_types_release(&types);
	free(line);
	if (file)
		(void)fclose(f);
	return ret;
}

/* Why the kernel of LKST did not take a maskset. */
static int write_failed(int err, const struct lkst_maskset_param *p)
{
	if (err == -EBUSY)
		return tool_fail(TOOL_FAILED, "there are %d masksets, and no more can be",
				 LKST_MASKSET_MAX);
	if (err == -EINVAL)
		return tool_fail(TOOL_FAILED, "maskset '%.31s' is not taken: it cannot be RNOTHING or "
				 "RALL, have another's name, a reserved event type, an event "
				 "handler that is not there, or lock events together with "
				 "BUFFER_SHIFT_DW", p->maskset->name);
	return tool_failed(err, "write maskset '%.31s'", p->maskset->name);
}

/* new_maskset0, or with the first number that is free. */
static void default_name(struct tacho_lkst *l, char name[LKST_MASKSET_NAME_LEN])
{
	for (unsigned int i = 0; i <= LKST_MASKSET_MAX; i++) {
		(void)snprintf(name, LKST_MASKSET_NAME_LEN, "new_maskset%u", i);
		if (tacho_lkst_maskset_get_id(l, name) == LKST_MASKSET_ID_VOID)
			return;
	}
}

/* 1, 0, or -ENOMEM. */
static int is_there(struct tacho_lkst *l, uint32_t id)
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	struct lkst_maskset_param p = { (lkst_maskset_id)id, sizeof(*b), b };
	int is = !b ? -ENOMEM : id != LKST_MASKSET_ID_VOID && !tacho_lkst_maskset_read(l, &p);

	free(b);
	return is;
}

static int write_body(struct tacho_lkst *l, const struct choice *c, struct lkst_maskset_body *b)
{
	struct lkst_maskset_param p = {
		c->id == UINT64_MAX ? LKST_MASKSET_ID_VOID : (lkst_maskset_id)c->id,
		LKST_MASKSET_SIZE(b->len), b
	};
	int err, is;

	if (c->name && (!*c->name || strlen(c->name) >= sizeof(b->name)))
		return tool_fail(TOOL_FAILED, "'%s' is no name of a maskset: 1 to %zu bytes are "
				 "meant", c->name, sizeof(b->name) - 1);
	is = is_there(l, p.id);
	if (is < 0)
		return tool_failed(is, "write a maskset");
	if (c->name)
		memcpy(b->name, c->name, strlen(c->name) + 1);
	else if (!is)	/* one that is there keeps its name */
		default_name(l, b->name);
	err = tacho_lkst_maskset_write(l, &p);
	if (err)
		return write_failed(err, &p);
	printf("%u\n", p.id);
	return c->select ? select_it(l, p.id) : TOOL_OK;
}

static int write_new(struct tacho_lkst *l, const struct choice *c)
{
	struct lkst_maskset_body *b = calloc(1, sizeof(*b));
	int ret;

	if (!b)
		return tool_failed(-ENOMEM, "write a maskset");
	ret = read_body(l, c->file, b);
	if (!ret)
		ret = write_body(l, c, b);
	free(b);
	return ret;
}

/* Changes one entry of a body. */
static void change(struct lkst_maskset_body *b, int etype, lkst_evhandler_id handler)
{
	for (int i = 0; i < b->len; i++)
		if (b->entry[i].event_type == etype) {
			b->entry[i].id = handler;
			return;
		}
	b->entry[b->len++] = (struct lkst_maskset_entry){ etype, handler };
}

static int config(struct tacho_lkst *l, const struct choice *c, const char *type,
		  const char *handler)
{
	struct lkst_maskset_body *b;
	struct lkst_types types;
	lkst_evhandler_id id = LKST_EVHANDLER_ID_VOID;
	uint32_t maskset;
	int etype = 0, err, ret;

	lkst_types_init(&types);
	ret = tool_types(l, NULL, &types);
	if (!ret && !is_type(&types, type, &etype))
		ret = tool_fail(TOOL_FAILED, "'%s' is no event type", type);
	if (!ret && !is_handler(l, handler, &id))
		ret = tool_fail(TOOL_FAILED, "'%s' is no event handler; 'lksteh list' lists them",
				handler);
	lkst_types_release(&types);
	if (!ret)
		ret = chosen(l, c, &maskset);
	if (ret)
		return ret;
	b = get_body(l, &maskset);
	if (!b)
		return TOOL_FAILED;
	change(b, etype, id);

	struct lkst_maskset_param p = { (lkst_maskset_id)maskset, LKST_MASKSET_SIZE(b->len), b };

	err = tacho_lkst_maskset_write(l, &p);
	ret = err ? write_failed(err, &p) : TOOL_OK;
	free(b);
	return ret;
}

/* ---- */

static int with(int argc, char **argv, const char *letters,
		int (*fn)(struct tacho_lkst *l, const struct choice *c))
{
	struct tacho_lkst l;
	struct choice c;
	int ret = parse(argc, argv, letters, &c);

	if (ret || tool_no_more(argc, argv))
		return TOOL_USAGE;
	ret = tool_open(&l);
	if (ret)
		return ret;
	ret = fn(&l, &c);
	tacho_lkst_close(&l);
	return ret;
}

static int run_all(int argc, char **argv)
{
	return with(argc, argv, "", all);
}

static int run_list(int argc, char **argv)
{
	return with(argc, argv, "", list);
}

static int run_read(int argc, char **argv)
{
	return with(argc, argv, "m:n:AadE:", show_contents);
}

static int run_set(int argc, char **argv)
{
	return with(argc, argv, "m:n:", set);
}

static int run_delete(int argc, char **argv)
{
	return with(argc, argv, "m:n:", delete);
}

static int run_write(int argc, char **argv)
{
	return with(argc, argv, "m:f:n:S", write_new);
}

static int run_find(int argc, char **argv)
{
	return with(argc, argv, "n:", find);
}

static int run_config(int argc, char **argv)
{
	struct tacho_lkst l;
	struct choice c;
	int ret = parse(argc, argv, "m:n:", &c);

	if (ret)
		return ret;
	if (argc - optind != 2)
		return tool_fail(TOOL_USAGE, "config needs an event type and an event handler");
	ret = tool_open(&l);
	if (ret)
		return ret;
	ret = config(&l, &c, argv[optind], argv[optind + 1]);
	tacho_lkst_close(&l);
	return ret;
}

int main(int argc, char **argv)
{
	static const struct tool_command table[] = {
		{ "all", NULL, run_all, "", "list the masksets, and the contents of each" },
		{ "list", "ls", run_list, "", "list the masksets" },
		{ "read", NULL, run_read, "[-m ID | -n NAME] [-A] [-a] [-d] [-E FILE]",
		  "print a maskset (-A: all of them) in the format of 'write'; -a: also the "
		  "types that it does not\n        record, -d: without descriptions, -E: with those of "
		  "an event type file" },
		{ "set", NULL, run_set, "-m ID | -n NAME", "select a maskset" },
		{ "write", NULL, run_write, "[-m ID] [-f FILE] [-n NAME] [-S]",
		  "write a maskset, from FILE or standard input; print its id; -S: select it" },
		{ "config", "conf", run_config, "[-m ID | -n NAME] TYPE HANDLER",
		  "change one entry of a maskset (default: of the selected one)" },
		{ "delete", "del", run_delete, "-m ID | -n NAME", "delete a maskset" },
		{ "find", NULL, run_find, "-n NAME", "print the id of a maskset, or 255 if there is none" },
		{ 0 },
	};

	tool_name = "lkstm";
	return tool_main(table, "control masksets of LKST", argc, argv);
}
