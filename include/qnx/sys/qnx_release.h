/* SPDX-License-Identifier: MIT */
/*
 * The release whose numbers these headers have: 640, 650, 660, 710 or 800.  Code that was
 * written for a release with different numbers defines _QNX_RELEASE before it
 * includes any of the headers.
 */
#ifndef _QNX_RELEASE_H
#define _QNX_RELEASE_H

#ifndef _QNX_RELEASE
#define _QNX_RELEASE	710
#endif

#endif
