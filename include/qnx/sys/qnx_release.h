/* SPDX-License-Identifier: MIT */
/*
 * Which release's numbers these headers have: 640, 650, 660, 710 or 800.  Where they
 * differ, code that was written for one release defines _QNX_RELEASE before it
 * includes any of them.
 */
#ifndef _QNX_RELEASE_H
#define _QNX_RELEASE_H

#ifndef _QNX_RELEASE
#define _QNX_RELEASE	710
#endif

#endif
