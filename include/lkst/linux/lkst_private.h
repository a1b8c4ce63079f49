/* SPDX-License-Identifier: MIT */
/* <linux/lkst_private.h> - the specification names it for some functions; otherwise empty. */
#ifndef LKST_PRIVATE_H
#define LKST_PRIVATE_H

#include <linux/lkst.h>

#endif
