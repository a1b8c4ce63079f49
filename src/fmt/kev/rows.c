// SPDX-License-Identifier: MIT
#include "fmt/kev/rows.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/compiler.h"

/* The parts of the table other than rows. */
enum name_kind {
	TACHO_KEV_CALL,
	TACHO_KEV_STATE,
	TACHO_KEV_NAME_CONTROL,
	TACHO_KEV_NAME_INT,
	TACHO_KEV_NAME_SYSTEM,
	TACHO_KEV_NAME_SEC,
	TACHO_KEV_NAME_QVM,
	TACHO_KEV_NAME_PMU,
};

struct tacho_kev_named {
	uint8_t kind;		/* enum name_kind */
	uint8_t releases;
	uint16_t number;
	const char *name;
};

extern const struct tacho_kev_named tacho_kev_names[];

#include "events.inc"

const uint32_t tacho_kev_nr_rows = TACHO_ARRAY_SIZE(tacho_kev_rows);

static const char *const groups[TACHO_KEV_NR_GROUPS] = {
	[TACHO_KEV_ROW_CONTROL] = "control",
	[TACHO_KEV_ROW_KERCALL_ENTER] = "kercall_enter",
	[TACHO_KEV_ROW_KERCALL_EXIT] = "kercall_exit",
	[TACHO_KEV_ROW_KERCALL_INT] = "kercall_int",
	[TACHO_KEV_ROW_INT] = "int",
	[TACHO_KEV_ROW_PROCESS] = "process",
	[TACHO_KEV_ROW_THREAD] = "thread",
	[TACHO_KEV_ROW_VTHREAD] = "vthread",
	[TACHO_KEV_ROW_SYSTEM] = "system",
	[TACHO_KEV_ROW_USER] = "user",
	[TACHO_KEV_ROW_COMM] = "comm",
	[TACHO_KEV_ROW_QUIP] = "quip",
	[TACHO_KEV_ROW_SEC] = "sec",
	[TACHO_KEV_ROW_QVM] = "qvm",
	[TACHO_KEV_ROW_PMU] = "pmu",
	[TACHO_KEV_ROW_EMPTY] = "empty",
	[TACHO_KEV_ROW_UNKNOWN] = "kev",
};

const char *tacho_kev_group_name(enum tacho_kev_group group)
{
	return groups[group];
}

/* ---- releases -------------------------------------------------------------- */

static const char *const releases[] = {
	[TACHO_KEV_640] = "6.4", [TACHO_KEV_650] = "6.5", [TACHO_KEV_660] = "6.6",
	[TACHO_KEV_710] = "7.1", [TACHO_KEV_800] = "8.0",
};

const char *tacho_kev_release_text(enum tacho_kev_release release)
{
	return releases[release];
}

bool tacho_kev_release_of(const char *text, uint32_t n,
			  enum tacho_kev_release *release)
{
	if (n < 3 || text[1] != '.' || !isdigit((unsigned char)text[2]))
		return false;
	switch (text[0]) {
	case '6':
		*release = text[2] <= '4' ? TACHO_KEV_640 :
			   text[2] == '5' ? TACHO_KEV_650 : TACHO_KEV_660;
		return true;
	case '7':
		*release = TACHO_KEV_710;
		return true;
	case '8':
		*release = TACHO_KEV_800;
		return true;
	default:
		return false;
	}
}

/* ---- names and numbers --------------------------------------------------------- */

static const char *named(enum name_kind kind, enum tacho_kev_release release,
			 uint32_t number)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(tacho_kev_names); i++) {
		const struct tacho_kev_named *n = &tacho_kev_names[i];

		if (n->kind == kind && n->number == number &&
		    (n->releases >> release & 1))
			return n->name;
	}
	return NULL;
}

static int number_of(enum name_kind kind, enum tacho_kev_release release,
		     const char *name)
{
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(tacho_kev_names); i++) {
		const struct tacho_kev_named *n = &tacho_kev_names[i];

		if (n->kind == kind && n->name[0] == name[0] &&
		    (n->releases >> release & 1) && !strcmp(n->name, name))
			return n->number;
	}
	return -1;
}

const char *tacho_kev_call_name(enum tacho_kev_release release, uint32_t number)
{
	return named(TACHO_KEV_CALL, release, number);
}

int tacho_kev_call_number(enum tacho_kev_release release, const char *name)
{
	return number_of(TACHO_KEV_CALL, release, name);
}

/* The event number that a row has in a header word; -1: not in the release. */
static int row_event(const struct tacho_kev_row *row,
		     enum tacho_kev_release release)
{
	int n = row->number, flag = row->is64 ? (int)TACHO_KEV_64 : 0;

	switch (row->group) {
	case TACHO_KEV_ROW_KERCALL_ENTER:
	case TACHO_KEV_ROW_KERCALL_EXIT:
		n = tacho_kev_call_number(release, row->name);
		if (n >= 0 && row->group == TACHO_KEV_ROW_KERCALL_EXIT)
			n += (int)TACHO_KEV_CALL_EXIT;
		return n < 0 ? n : n | flag;
	case TACHO_KEV_ROW_THREAD:
	case TACHO_KEV_ROW_VTHREAD:
		n = number_of(TACHO_KEV_STATE, release, row->name);
		if (n < 0 || row->group == TACHO_KEV_ROW_THREAD)
			return n;
		return release == TACHO_KEV_800 ? -1 : n + (int)TACHO_KEV_VTHREAD;
	case TACHO_KEV_ROW_PROCESS:
		return n * (int)TACHO_KEV_PROCESS;
	default:
		return n | flag;
	}
}

static const uint8_t class_of_group[TACHO_KEV_NR_GROUPS] = {
	[TACHO_KEV_ROW_CONTROL] = TACHO_KEV_CONTROL,
	[TACHO_KEV_ROW_KERCALL_ENTER] = TACHO_KEV_KER_CALL,
	[TACHO_KEV_ROW_KERCALL_EXIT] = TACHO_KEV_KER_CALL,
	[TACHO_KEV_ROW_KERCALL_INT] = TACHO_KEV_KER_CALL,
	[TACHO_KEV_ROW_INT] = TACHO_KEV_INT,
	[TACHO_KEV_ROW_PROCESS] = TACHO_KEV_PR_TH,
	[TACHO_KEV_ROW_THREAD] = TACHO_KEV_PR_TH,
	[TACHO_KEV_ROW_VTHREAD] = TACHO_KEV_PR_TH,
	[TACHO_KEV_ROW_SYSTEM] = TACHO_KEV_SYSTEM,
	[TACHO_KEV_ROW_USER] = TACHO_KEV_USER,
	[TACHO_KEV_ROW_COMM] = TACHO_KEV_COMM,
	[TACHO_KEV_ROW_QUIP] = TACHO_KEV_QUIP,
	[TACHO_KEV_ROW_SEC] = TACHO_KEV_SEC,
	[TACHO_KEV_ROW_QVM] = TACHO_KEV_QVM,
	[TACHO_KEV_ROW_PMU] = TACHO_KEV_PMU,
};

void tacho_kev_profile_init(struct tacho_kev_profile *p,
			    enum tacho_kev_release release)
{
	memset(p, 0, sizeof(*p));
	p->release = release;
	for (uint32_t i = 0; i < tacho_kev_nr_rows; i++) {
		const struct tacho_kev_row *row = &tacho_kev_rows[i];
		int event = row_event(row, release);
		uint32_t code;

		if (event < 0 || !(row->releases >> release & 1))
			continue;
		code = TACHO_KEV_MAKE(class_of_group[row->group], event);
		/* the appendix has two rows twice */
		if (!p->row[code])
			p->row[code] = (uint16_t)(i + 1);
	}
}

/* ---- lists ------------------------------------------------------------------------- */

static bool fits(const struct tacho_kev_list *l, uint32_t words)
{
	if (!l->nr)
		return false;
	return l->open ? words > l->words : words == (l->words + 1u) / 2 * 2;
}

/* Whether nothing stands where the list has no argument; without data: in any event. */
static bool is_empty_there(const struct tacho_kev_list *l, const unsigned char *data)
{
	const struct tacho_kev_field *f = tacho_kev_fields + l->first;
	uint32_t at = 0;

	for (uint32_t i = 0; i < l->nr; i++) {
		if (f[i].filler && (!data || tacho_load_u32(data + 4 * (size_t)at)))
			return false;
		at += tacho_kev_words(f[i].code);
	}
	if (l->open || at % 2 == 0)
		return true;
	return data && !tacho_load_u32(data + 4 * (size_t)at);
}

enum tacho_kev_variant tacho_kev_variant_of(const struct tacho_kev_row *row,
					    const void *data, uint32_t words)
{
	static const enum tacho_kev_variant order[] = {		/* [V1] */
		TACHO_KEV_FAST, TACHO_KEV_WIDE, TACHO_KEV_ALT, TACHO_KEV_ALT2,
		TACHO_KEV_FAST,
	};
	enum tacho_kev_variant first = TACHO_KEV_RAW;

	for (size_t i = words == 2 ? 0 : 1; i < TACHO_ARRAY_SIZE(order); i++) {
		const struct tacho_kev_list *l = &row->list[order[i]];
		bool again = first != TACHO_KEV_RAW && l->first == row->list[first].first;

		if (!fits(l, words) || again)
			continue;
		if (!data && first != TACHO_KEV_RAW)
			return TACHO_KEV_RAW;
		if (is_empty_there(l, data))
			return order[i];	/* [V2] */
		if (first == TACHO_KEV_RAW)
			first = order[i];
	}
	return first;	/* [V3], [V4] */
}

static enum tacho_kev_group call_group(uint32_t event)
{
	switch (event & 0x180) {
	case 0:
		return TACHO_KEV_ROW_KERCALL_ENTER;
	case TACHO_KEV_CALL_EXIT:
		return TACHO_KEV_ROW_KERCALL_EXIT;
	case TACHO_KEV_CALL_INT:
		return TACHO_KEV_ROW_KERCALL_INT;
	default:
		return TACHO_KEV_ROW_UNKNOWN;
	}
}

static enum tacho_kev_group pr_th_group(enum tacho_kev_release release,
					uint32_t event)
{
	if (event >= TACHO_KEV_PROCESS)
		return TACHO_KEV_ROW_PROCESS;
	if (release == TACHO_KEV_800 || event < TACHO_KEV_VTHREAD)
		return TACHO_KEV_ROW_THREAD;
	return event < 2 * TACHO_KEV_VTHREAD ? TACHO_KEV_ROW_VTHREAD :
					       TACHO_KEV_ROW_UNKNOWN;
}

enum tacho_kev_group tacho_kev_group_of(const struct tacho_kev_profile *p,
					uint32_t code)
{
	uint32_t class_ = TACHO_KEV_CLASS(code);

	switch (class_) {
	case TACHO_KEV_EMPTY:
		return TACHO_KEV_ROW_EMPTY;
	case TACHO_KEV_KER_CALL:
		return call_group(TACHO_KEV_EVENT(code));
	case TACHO_KEV_PR_TH:
		return pr_th_group(p->release, TACHO_KEV_EVENT(code));
	default:
		break;
	}
	for (int i = 0; i < TACHO_KEV_ROW_EMPTY; i++)
		if (class_of_group[i] == class_)
			return (enum tacho_kev_group)i;
	return TACHO_KEV_ROW_UNKNOWN;
}

/* The name without the suffix of its form; NULL: no suffix. */
static const char *plain_name(const struct tacho_kev_profile *p, uint32_t code)
{
	static const struct {
		uint8_t class_, kind;
	} kinds[] = {
		{ TACHO_KEV_CONTROL, TACHO_KEV_NAME_CONTROL },
		{ TACHO_KEV_INT, TACHO_KEV_NAME_INT },
		{ TACHO_KEV_SYSTEM, TACHO_KEV_NAME_SYSTEM },
		{ TACHO_KEV_SEC, TACHO_KEV_NAME_SEC },
		{ TACHO_KEV_QVM, TACHO_KEV_NAME_QVM },
		{ TACHO_KEV_PMU, TACHO_KEV_NAME_PMU },
	};
	uint32_t event = TACHO_KEV_EVENT(code);

	if (TACHO_KEV_CLASS(code) == TACHO_KEV_KER_CALL)
		return tacho_kev_call_name(p->release, event & 0x7f);
	for (size_t i = 0; i < TACHO_ARRAY_SIZE(kinds); i++)
		if (kinds[i].class_ == TACHO_KEV_CLASS(code))
			return named((enum name_kind)kinds[i].kind, p->release,
				     event);
	return NULL;
}

void tacho_kev_name(const struct tacho_kev_profile *p, uint32_t code,
		    char text[TACHO_KEV_NAME_MAX])
{
	const struct tacho_kev_row *row = tacho_kev_row_of(p, code);
	enum tacho_kev_group group = tacho_kev_group_of(p, code);
	uint32_t event = TACHO_KEV_EVENT(code);
	const char *name = row ? row->name : plain_name(p, code);
	bool call = TACHO_KEV_CLASS(code) == TACHO_KEV_KER_CALL &&
		    group != TACHO_KEV_ROW_UNKNOWN;

	if (row)
		(void)snprintf(text, TACHO_KEV_NAME_MAX, "%s%s", name,
			       row->is64 ? "_64" : "");
	else if (name && call)
		(void)snprintf(text, TACHO_KEV_NAME_MAX, "%s%s", name,
			       event & TACHO_KEV_64 ? "_64" : "");
	else if (name)
		(void)snprintf(text, TACHO_KEV_NAME_MAX, "%s", name);
	else if (call)
		(void)snprintf(text, TACHO_KEV_NAME_MAX, "call_%u%s", event & 0x7f,
			       event & TACHO_KEV_64 ? "_64" : "");
	else if (group == TACHO_KEV_ROW_UNKNOWN)
		(void)snprintf(text, TACHO_KEV_NAME_MAX, "class_%u_event_%u",
			       TACHO_KEV_CLASS(code), event);
	else
		(void)snprintf(text, TACHO_KEV_NAME_MAX, "event_%u", event);
}

/* A class is looked through: names are asked for when a type is met, not for each record. */
int tacho_kev_code(const struct tacho_kev_profile *p, enum tacho_kev_group group,
		   const char *name)
{
	uint32_t code = TACHO_KEV_MAKE(class_of_group[group], 0), end = code + 0x400;
	char text[TACHO_KEV_NAME_MAX];

	/* what is of no class that is known has its class in its name */
	if (group == TACHO_KEV_ROW_UNKNOWN)
		end = TACHO_KEV_CODES;
	for (; code < end; code++) {
		if (tacho_kev_group_of(p, code) != group)
			continue;
		tacho_kev_name(p, code, text);
		if (!strcmp(text, name))
			return (int)code;
	}
	return -1;
}

/* ---- external numbers ------------------------------------------------------------ */

/* By group: external classes of <sys/trace.h>. */
static const uint8_t external_class[TACHO_KEV_NR_GROUPS] = {
	[TACHO_KEV_ROW_EMPTY] = 0, [TACHO_KEV_ROW_CONTROL] = 1,
	[TACHO_KEV_ROW_KERCALL_ENTER] = 3, [TACHO_KEV_ROW_KERCALL_EXIT] = 4,
	[TACHO_KEV_ROW_KERCALL_INT] = 5, [TACHO_KEV_ROW_PROCESS] = 9,
	[TACHO_KEV_ROW_THREAD] = 10, [TACHO_KEV_ROW_VTHREAD] = 11,
	[TACHO_KEV_ROW_USER] = 12, [TACHO_KEV_ROW_SYSTEM] = 13,
	[TACHO_KEV_ROW_COMM] = 14, [TACHO_KEV_ROW_QUIP] = 17,
	[TACHO_KEV_ROW_SEC] = 18, [TACHO_KEV_ROW_QVM] = 19,
	[TACHO_KEV_ROW_PMU] = 20,
};

/* Interrupts: by the event; its number is in the arguments. */
static uint32_t int_class(uint32_t event)
{
	switch (event) {
	case 1: case 5:
		return 7;	/* INTENTER */
	case 2:
		return 8;	/* INTEXIT */
	case 3: case 6:
		return 15;	/* INT_HANDLER_ENTER */
	case 4:
		return 16;	/* INT_HANDLER_EXIT */
	default:
		return 6;	/* INT */
	}
}

bool tacho_kev_external(const struct tacho_kev_profile *p, uint32_t code,
			struct tacho_kev_external *e)
{
	enum tacho_kev_group group = tacho_kev_group_of(p, code);
	uint32_t event = TACHO_KEV_EVENT(code);

	e->class_ = external_class[group];
	e->event = event;
	switch ((int)group) {
	case TACHO_KEV_ROW_UNKNOWN:
		return false;
	case TACHO_KEV_ROW_INT:
		e->class_ = int_class(event);
		break;
	case TACHO_KEV_ROW_KERCALL_ENTER:
	case TACHO_KEV_ROW_KERCALL_EXIT:
	case TACHO_KEV_ROW_KERCALL_INT:
		e->event = event & (TACHO_KEV_64 | 0x7f);
		break;
	case TACHO_KEV_ROW_PROCESS:
		e->event = 1u << (event / TACHO_KEV_PROCESS - 1);
		break;
	case TACHO_KEV_ROW_THREAD:
		if (p->release != TACHO_KEV_800)
			e->event = 1u << event;
		break;
	case TACHO_KEV_ROW_VTHREAD:
		e->event = 1u << (event - TACHO_KEV_VTHREAD);
		break;
	default:
		break;
	}
	return true;
}
