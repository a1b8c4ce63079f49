/* SPDX-License-Identifier: MIT */
/* text.h - globs, hashes and the numbers that users type: sizes, times, counts. */
#ifndef TACHO_BASE_TEXT_H
#define TACHO_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Whether text matches the shell-like pattern: * any run, ? one character,
 * [a-z] and [!a-z] classes, \x the character x.  An unclosed class is an
 * ordinary '['.  No recursion, no allocation, time bounded by
 * pattern^2 * text (pattern * text without unclosed classes); callable from
 * signal handlers.
 */
bool tacho_glob_match(const char *pattern, const char *text);

/*
 * Whether an event is meant by glob: "system:event", each part a glob ("system:" and
 * ":event" leave the other part open), or one word that is either's name or glob.
 * Callable from signal handlers.
 */
bool tacho_event_glob(const char *glob, const char *system, const char *event);

/* 64-bit FNV-1a; h is 0, or the result of a previous call to continue. */
uint64_t tacho_hash(const void *p, size_t len, uint64_t h);

/*
 * SipHash-2-4 of one word under a random key of two words: without the key, the result only shows
 * whether two values are equal.
 */
uint64_t tacho_siphash_u64(const uint64_t key[2], uint64_t v);

/*
 * "4096", "64k", "256K", "16M", "2G" (powers of 1024; an optional B or iB
 * follows).  Returns 0, or -EINVAL for anything else, -ERANGE on overflow.
 */
int tacho_parse_size(const char *s, uint64_t *bytes);

/*
 * "10" (seconds), "1.5s", "200ms", "50us", "100ns", "5m", "1h" to
 * nanoseconds.  Returns 0, -EINVAL or -ERANGE.
 */
int tacho_parse_time(const char *s, uint64_t *ns);

/* Length in bytes of the UTF-8 sequence (RFC 3629) at s, of left bytes; 0: no valid sequence. */
size_t tacho_utf8_len(const char *s, size_t left);

/*
 * For an invalid sequence: how many bytes one U+FFFD replaces, the longest valid beginning of a
 * sequence (Unicode, 3.9, "maximal subpart"), at least 1.
 */
size_t tacho_utf8_bad_len(const char *s, size_t left);

/* A whole decimal number within [min, max]; 0, -EINVAL or -ERANGE. */
int tacho_parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *v);

#endif
