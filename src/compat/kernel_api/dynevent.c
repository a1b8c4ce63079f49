// SPDX-License-Identifier: MIT
/* Commands: text that defines an event, put together piece by piece. */
#include <string.h>

#include "base/compiler.h"
#include "compat/kernel_api/events.h"

static bool is_full(const struct seq_buf *s)
{
	return s->len > s->size;
}

/*
 * Appends n strings, or none of them; the NUL stays after.  What did not fit once makes
 * the whole command too long: a command with a hole in it could mean something else.
 */
static int append(struct seq_buf *s, const char *const *piece, size_t n)
{
	size_t len = 0;

	for (size_t i = 0; i < n; i++)
		len += strlen(piece[i]);
	if (is_full(s) || len >= s->size - s->len) {
		s->len = s->size + 1;
		return -E2BIG;
	}
	for (size_t i = 0; i < n; i++) {
		size_t one = strlen(piece[i]);

		memcpy(s->buffer + s->len, piece[i], one);
		s->len += one;
	}
	s->buffer[s->len] = '\0';
	return 0;
}

TACHO_EXPORT void dynevent_cmd_init(struct dynevent_cmd *cmd, char *buf, int maxlen,
				    int type, dynevent_create_fn_t run_command)
{
	*cmd = (struct dynevent_cmd){
		.seq = { buf, buf && maxlen > 0 ? (size_t)maxlen : 0, 0 },
		.type = type,
		.run_command = run_command,
	};
	if (cmd->seq.size)
		buf[0] = '\0';
}

TACHO_EXPORT void __dynevent_arg_init(struct dynevent_arg *arg,
				      dynevent_check_arg_fn_t check_arg,
				      char separator)
{
	*arg = (struct dynevent_arg){
		.separator = separator ? separator : ' ',
		.check_arg = check_arg,
	};
}

TACHO_EXPORT int __dynevent_arg_add(struct dynevent_cmd *cmd,
				    struct dynevent_arg *arg,
				    dynevent_check_arg_fn_t check_arg)
{
	char separator[2] = { arg->separator, '\0' };
	const char *const piece[] = { " ", arg->str, separator };
	int err;

	if (!check_arg)
		check_arg = arg->check_arg;
	err = check_arg ? check_arg(arg) : 0;
	if (err)
		return err;
	if (!arg->str)
		return -EINVAL;
	return append(&cmd->seq, piece, TACHO_ARRAY_SIZE(piece));
}

TACHO_EXPORT void __dynevent_arg_pair_init(struct dynevent_arg_pair *pair,
					   dynevent_check_arg_fn_t check_arg,
					   char operator_char, char separator)
{
	*pair = (struct dynevent_arg_pair){
		.operator_char = operator_char ? operator_char : ' ',
		.separator = separator ? separator : ' ',
		.check_arg = check_arg,
	};
}

TACHO_EXPORT int __dynevent_arg_pair_add(struct dynevent_cmd *cmd,
					 struct dynevent_arg_pair *pair,
					 dynevent_check_arg_fn_t check_arg)
{
	char operator_str[2] = { pair->operator_char, '\0' };
	char separator[2] = { pair->separator, '\0' };
	const char *const piece[] = { " ", pair->lhs, operator_str, pair->rhs,
				      separator };
	int err;

	if (!check_arg)
		check_arg = pair->check_arg;
	err = check_arg ? check_arg(pair) : 0;
	if (err)
		return err;
	if (!pair->lhs || !pair->rhs)
		return -EINVAL;
	return append(&cmd->seq, piece, TACHO_ARRAY_SIZE(piece));
}

TACHO_EXPORT int dynevent_str_add(struct dynevent_cmd *cmd, const char *str)
{
	return str ? append(&cmd->seq, &str, 1) : -EINVAL;
}

TACHO_EXPORT int dynevent_create(struct dynevent_cmd *cmd)
{
	if (!cmd || !cmd->run_command)
		return -EINVAL;
	if (is_full(&cmd->seq))
		return -E2BIG;
	return cmd->run_command(cmd);
}
