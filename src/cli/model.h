/* SPDX-License-Identifier: MIT */
/* model.h - the options that add rules to the model, for the verbs that use it. */
#ifndef TACHO_CLI_MODEL_H
#define TACHO_CLI_MODEL_H

#include "model/model.h"

enum {
	CLI_OPT_SPAN = 0x500, CLI_OPT_COUNTER, CLI_OPT_RULE, CLI_OPT_RULES_FILE,
};
#define CLI_MODEL_OPTIONS						\
	{ "span", required_argument, NULL, CLI_OPT_SPAN },		\
	{ "counter", required_argument, NULL, CLI_OPT_COUNTER },	\
	{ "rule", required_argument, NULL, CLI_OPT_RULE },		\
	{ "rules-file", required_argument, NULL, CLI_OPT_RULES_FILE }
#define CLI_MODEL_HELP \
	"      --span SPAN      'NAME: EVENT -> EVENT [by FIELDS] [name FIELD]'\n"	\
	"      --counter COUNTER  'NAME: EVENT.FIELD [by FIELDS]'\n"			\
	"      --rule RULE      add a rule, 'EVENT VERB ...'\n"				\
	"      --rules-file FILE  add the rules in FILE\n"

/* Takes one of them: CLI_OK, or an exit status with a message; -1: it is none. */
int cli_model_option(struct model_rules *rules, int opt, const char *arg);

#endif
