/* SPDX-License-Identifier: MIT */
/* <linux/lkst_private.h> - named by the specification for some functions; has nothing of its own. */
#ifndef LKST_PRIVATE_H
#define LKST_PRIVATE_H

#include <linux/lkst.h>

#endif
