/* SPDX-License-Identifier: MIT */
/*
 * <linux/lkst_maskset.h> - masksets: the event handler of each event type
 * (specification 4.2.1, 4.7.1.2, 4.7.2.2).
 */
#ifndef LKST_MASKSET_H
#define LKST_MASKSET_H

#include <linux/lkst.h>

#ifdef __cplusplus
extern "C" {
#endif

#define LKST_MASKSET_ID_RNOTHING	0	/* records no event */
#define LKST_MASKSET_ID_RALL		1	/* records all events */
#define LKST_MASKSET_ID_RDEFAULT	2	/* records a default selection */
#define LKST_MASKSET_ID_VOID		255

#define LKST_MASKSET_NAME_LEN		32	/* bytes, NUL included */
#define LKST_MASKSET_TABLE_LEN_MAX	4096	/* one entry for each event type at most */
#define LKST_MASKSET_MAX		64	/* masksets at a time: ids 0..63 */

struct lkst_maskset_entry {
	int event_type;
	lkst_evhandler_id id;		/* LKST_EVHANDLER_ID_VOID: not recorded */
};

struct lkst_maskset_body {
	char name[LKST_MASKSET_NAME_LEN];
	lkst_maskset_table_len len;	/* entries */
	struct lkst_maskset_entry entry[LKST_MASKSET_TABLE_LEN_MAX];
};

struct lkst_maskset_param {
	lkst_maskset_id id;
	size_t maskset_size;		/* LKST_MASKSET_SIZE(entries) */
	struct lkst_maskset_body *maskset;
};

struct lkst_maskset_listent {
	lkst_maskset_id id;
	char name[LKST_MASKSET_NAME_LEN];
	lkst_maskset_table_len len;
};

struct lkst_maskset_listparam {
	lkst_maskset_id current_id;
	size_t listent_size;		/* LKST_MASKSET_LISTENT_SIZE(masksets) */
	struct lkst_maskset_listent *listent;
};

/* Bytes of a body with n entries, and of a list of n masksets. */
#define LKST_MASKSET_SIZE(n) \
	(offsetof(struct lkst_maskset_body, entry) + \
	 (size_t)(n) * sizeof(struct lkst_maskset_entry))
#define LKST_MASKSET_LISTENT_SIZE(n) \
	((size_t)(n) * sizeof(struct lkst_maskset_listent))

/*
 * Reads the entries of a maskset with a handler, by event type; id VOID: of the selected one.
 * Returns 0, -EINVAL (no such maskset, or it does not fit in maskset_size), -ENOMEM, -EPERM.
 */
int lkst_maskset_read(struct lkst_maskset_param *param);

/*
 * Registers a maskset, or replaces an existing one; a change of the selected maskset takes
 * effect immediately.  id VOID: a free id, which is returned in id.  An empty name is valid
 * only for an existing maskset, which keeps its own.
 * Returns 0, or -EINVAL (RNOTHING and RALL; an invalid event type, handler or size; another
 * maskset has the name; lock events with a handler that wakes a daemon), -EBUSY (no free
 * id), -ENOMEM, -EPERM.
 */
int lkst_maskset_write(struct lkst_maskset_param *param);

/* Selects a maskset.  Returns 0, -EINVAL (no such maskset), -EBUSY (stopped), -EPERM. */
int lkst_maskset_set(lkst_maskset_id id);

/* By id; a list that is too small holds the first.  0, -EINVAL, -EPERM. */
int lkst_maskset_list(struct lkst_maskset_listparam *param);

/* Returns 0, -EINVAL (no such maskset, or a special one), -EBUSY (selected), -EPERM. */
int lkst_maskset_delete(lkst_maskset_id id);

/* Returns the id; LKST_MASKSET_ID_VOID: there is none; -EINVAL (NULL, "", too long), -EPERM. */
int lkst_maskset_get_id(const char *name);

#ifdef __cplusplus
}
#endif

#endif
