// SPDX-License-Identifier: MIT
/*
 * The servers that use a session: the last one that releases it destroys it, and a server that
 * removes it has the others let go first, for the kernel removes no instance of which somebody
 * has a file open.
 *
 * A server uses a session that it has made or taken over, that is its top, in which it has set
 * something, or whose part of the kernel it has open.  Who has only looked at it does not.
 *
 * The file `servers` in the session's directory has two bytes that are locked (fcntl(2), open
 * file description locks: the end of a server, whatever it is, releases them):
 *
 *	USED	shared: by each server that uses the session
 *	ASKED	exclusive: by the one that wants to remove it
 *
 * A server that ends
 *	1. closes the session's part of the kernel;
 *	2. releases USED;
 *	3. tries to have USED exclusively: then it is the last, and puts the session away.
 * Of servers that end at once, the one that comes last to 2 finds at 3 that it is alone, or that
 * another one just was.
 *
 * A server that removes a session has ASKED, and tries 3 until it is alone.  The others look at
 * ASKED every TREE_PUMP_MS, and let go of a session without open files.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "compat/ftrace/priv.h"

enum { BYTE_USED, BYTE_ASKED };

static int lock_byte(const struct tree_inst *inst, int command, short type, off_t byte,
		     short *found)
{
	struct flock l = { .l_type = type, .l_whence = SEEK_SET, .l_start = byte, .l_len = 1 };
	int ret = fcntl(inst->use_fd, command, &l);

	if (found)
		*found = l.l_type;
	return ret;
}

static int set(const struct tree_inst *inst, short type, off_t byte)
{
	return lock_byte(inst, F_OFD_SETLK, type, byte, NULL);
}

void tree_servers_use(struct tree_inst *inst)
{
	char path[TACHO_PATH_MAX + 32];

	if (inst->use_fd >= 0)
		return;
	(void)snprintf(path, sizeof(path), "%s/" TACHO_SESSION_SERVERS, inst->session.path);
	inst->use_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	/* otherwise another server is destroying the session now */
	if (inst->use_fd >= 0 && set(inst, F_RDLCK, BYTE_USED)) {
		close(inst->use_fd);
		inst->use_fd = -1;
	}
}

bool tree_servers_leave(struct tree_inst *inst)
{
	(void)set(inst, F_UNLCK, BYTE_USED);
	return !set(inst, F_WRLCK, BYTE_USED);
}

bool tree_servers_ask(struct tree_inst *inst)
{
	tree_servers_use(inst);
	/* without the file no server can be asked */
	if (inst->use_fd < 0)
		return true;
	return !set(inst, F_WRLCK, BYTE_ASKED) && tree_servers_leave(inst);
}

void tree_servers_stay(struct tree_inst *inst)
{
	if (inst->use_fd < 0)
		return;
	(void)set(inst, F_UNLCK, BYTE_ASKED);
	(void)set(inst, F_RDLCK, BYTE_USED);
}

bool tree_servers_requested(const struct tree_inst *inst)
{
	short found = F_UNLCK;

	return inst->use_fd >= 0 &&
	       !lock_byte(inst, F_OFD_GETLK, F_WRLCK, BYTE_ASKED, &found) && found != F_UNLCK;
}
