/* SPDX-License-Identifier: MIT */
/*
 * parser.h - what traceparser_cs() and traceparser_cs_range() are for code of releases up to 7.1,
 * where events of threads are bits; <sys/traceparser.h> chooses by _QNX_RELEASE.
 */
#ifndef TACHO_COMPAT_QNX_PARSER_H
#define TACHO_COMPAT_QNX_PARSER_H

int tacho_traceparser_cs_bits(struct traceparser_state *s, void *user, tracep_callb_func_t fn,
			      unsigned cls, unsigned event);
int tacho_traceparser_cs_range_bits(struct traceparser_state *s, void *user,
				    tracep_callb_func_t fn, unsigned cls, unsigned first,
				    unsigned last);

#endif
