/* SPDX-License-Identifier: MIT */
/*
 * impl/raw.h - helpers of the code that builds raw events (stages 4 and 5 of
 * impl/stages.h, and printk).
 *
 * tacho_room() adds up lengths and never wraps: once a raw event
 * is too large, its length remains TACHO_RAW_MAX + 1, nothing is copied, and
 * libtacho counts the loss.
 */
#ifndef TACHO_IMPL_RAW_H
#define TACHO_IMPL_RAW_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tacho/impl/macro.h"
#include "tacho/abi/site.h"
#include "tacho/ktypes.h"

#ifndef __cplusplus
/* POSIX: <string.h> hides it under -std=c11. */
extern size_t strnlen(const char *s, size_t max);
#endif

struct sockaddr;

/* Raw events up to this size are built on the stack. */
#define TACHO_STACK_RAW		1024

#define TACHO_FIELD_ALIGN(type) \
	(TACHO_ALIGNOF(type) > 8 ? 8u : (uint32_t)TACHO_ALIGNOF(type))

/* The state words of a site that is not registered. */
TACHO_EXTERN const uint64_t tacho_state_off[2] TACHO_PER_OBJECT;
const uint64_t tacho_state_off[2] = { 0, 0 };

/*
 * libtacho's calls.  The site has read ev->state; the fence makes that load an
 * acquire, which pairs with the release that enabled `ev`.
 */
TACHO_INLINE const struct tacho_event_ops *
tacho_event_ops(const struct tacho_event *ev)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);	/* [site] */
	return ev->ops;
}

/*
 * Reserves n bytes at `at` for a variable field and stores its __data_loc word.
 * Returns the offset of the next field.
 */
TACHO_INLINE size_t tacho_room(size_t at, size_t n, uint32_t *word)
{
	*word = 0;
	if (at > TACHO_RAW_MAX || n > TACHO_RAW_MAX - at)
		return TACHO_RAW_MAX + 1;
	*word = (uint32_t)(at | n << 16);
	return at + n;
}

TACHO_INLINE size_t tacho_array_bytes(size_t size, size_t len)
{
	return len > TACHO_RAW_MAX ? TACHO_RAW_MAX + 1 : size * len;
}

/* Complete longs, as the kernel's bitmaps. */
TACHO_INLINE size_t tacho_bitmask_bytes(size_t bits)
{
	const size_t per = 8 * sizeof(long);

	return (bits / per + (bits % per != 0)) * sizeof(long);
}

TACHO_INLINE size_t tacho_max_len(size_t len)
{
	return len > TACHO_RAW_MAX ? TACHO_RAW_MAX : len;
}

/* A string to be recorded: measured once, copied later. */
struct tacho_string {
	const char *text;
	size_t len;
};

TACHO_INLINE size_t tacho_string_bytes(struct tacho_string *string,
				       const char *text, size_t max)
{
	if (!text)
		text = "(null)";
	string->text = text;
	if (max == SIZE_MAX) {
		string->len = strlen(text);
		return string->len + 1;
	}
#ifndef __OPTIMIZE__
	/* else gcc warns of callers whose array is smaller than the bound */
	__asm__("" : "+r"(text));
#endif
	string->len = strnlen(text, max < TACHO_RAW_MAX ? max : TACHO_RAW_MAX);
	return max + 1;
}

/* Zeros from `n` to `room`: usually one byte, which is not worth a call. */
TACHO_INLINE void tacho_put_zeros(char *to, size_t room, size_t n)
{
	if (n + 1 == room)
		to[n] = '\0';
	else
		memset(to + n, 0, room - n);
}

TACHO_INLINE void tacho_put_string(char *to, size_t room,
				   const struct tacho_string *string)
{
	memcpy(to, string->text, string->len);
	tacho_put_zeros(to, room, string->len);
}

TACHO_INLINE void tacho_put_str(char *to, size_t room, const char *text)
{
	size_t n;

	if (!room)
		return;
	if (!text)
		text = "(null)";
	n = strnlen(text, room - 1);
	memcpy(to, text, n);
	tacho_put_zeros(to, room, n);
}

TACHO_INLINE void tacho_put_bytes(char *to, size_t room, const void *from,
				  size_t n)
{
	if (n > room)
		n = room;
	if (n)
		memcpy(to, from, n);
	memset(to + n, 0, room - n);
}

static inline TACHO_MAYBE_UNUSED __attribute__((format(printf, 1, 0)))
size_t tacho_vstr_bytes(const char *fmt, va_list *va)
{
	va_list copy;
	int n;

	va_copy(copy, *va);
	n = vsnprintf(NULL, 0, fmt, copy);
	va_end(copy);
	return n < 0 ? 1 : (size_t)n + 1;
}

static inline TACHO_MAYBE_UNUSED __attribute__((format(printf, 3, 0)))
void tacho_put_vstr(char *to, size_t room, const char *fmt, va_list *va)
{
	va_list copy;

	if (!room)
		return;
	to[0] = '\0';
	va_copy(copy, *va);
	(void)vsnprintf(to, room, fmt, copy);
	va_end(copy);
}

/*
 * Returns memory for a raw event of len bytes with its common fields, padding and last
 * word zero: on the stack if it fits, otherwise libtacho's; NULL (and the loss is counted)
 * if there is none.  `fixed` is the size of the fixed part.
 */
TACHO_INLINE void *tacho_raw_begin(struct tacho_event *ev,
				   const struct tacho_event_ops *ops,
				   void *stack, size_t stack_size,
				   size_t fixed, size_t len)
{
	void *raw = stack;

	if (len > TACHO_RAW_MAX) {
		ops->write(ev, NULL, len);
		return NULL;
	}
	if (len > stack_size) {
		raw = ops->scratch_get(ev, (len + 7) & ~(size_t)7);
		if (!raw)
			return NULL;
	}
	/* Large arrays are cleared by the event only, not twice. */
	memset(raw, 0, fixed <= 256 ? fixed : sizeof(struct tacho_common));
	memset((char *)raw + ((len - 1) & ~(size_t)7), 0, 8);
	return raw;
}

/*
 * Records an event of fixed length: len is a constant.  Small events are passed in
 * registers, so that their fields are never stored to the stack.
 */
TACHO_INLINE void tacho_raw_end(struct tacho_event *ev,
				const struct tacho_event_ops *ops,
				void *raw, size_t len)
{
	uint64_t w[5] = { 0, 0, 0, 0, 0 };

	/* the bound within the call is for gcc -O0, which warns of code that never runs */
	if (len > 8 && len <= sizeof(w))
		memcpy(w, raw, len <= sizeof(w) ? len : 0);
	switch ((len + 7) / 8) {
	case 2:
		ops->write1(ev, w[1]);
		break;
	case 3:
		ops->write2(ev, w[1], w[2]);
		break;
	case 4:
		ops->write3(ev, w[1], w[2], w[3]);
		break;
	case 5:
		ops->write4(ev, w[1], w[2], w[3], w[4]);
		break;
	default:
		ops->write(ev, raw, len);
		break;
	}
}

/* __get_dynamic_array() is a void *, in C++ an object that converts as in C. */
#ifdef __cplusplus
namespace tacho {
struct any_pointer {
	void *p;
	template <class T> operator T *() const
	{
		return static_cast<T *>(p);
	}
};
}
#define TACHO_ANY_POINTER(p)	(::tacho::any_pointer{ (void *)(p) })
#else
#define TACHO_ANY_POINTER(p)	((void *)(p))
#endif

/* ---- stage 6: for the types only, never called --------------------------- */

struct tacho_value_name {
	unsigned long long value;
	const char *name;
};

static inline TACHO_MAYBE_UNUSED __attribute__((format(printf, 1, 2)))
void tacho_check_printf(const char *fmt, ...)
{
	(void)fmt;
}

static inline TACHO_MAYBE_UNUSED void *tacho_check_data(uint32_t word)
{
	return (void *)(uintptr_t)word;
}

static inline TACHO_MAYBE_UNUSED
const char *tacho_check_names(unsigned long long value, const char *delim,
			      const struct tacho_value_name *names)
{
	return value ? delim : names->name;
}

static inline TACHO_MAYBE_UNUSED
const char *tacho_check_bytes(const void *buf, long len)
{
	return (const char *)buf + len;
}

static inline TACHO_MAYBE_UNUSED
const char *tacho_check_dump(const char *prefix, long how, const void *buf,
			     long len)
{
	return how ? prefix : tacho_check_bytes(buf, len);
}

#endif
