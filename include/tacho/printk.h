/* SPDX-License-Identifier: MIT */
/*
 * <tacho/printk.h> - a printf that is recorded as a tracepoint.
 *
 * Link with -ltacho.
 *
 *	tacho_printk("read %zu bytes of %s", n, path);
 *
 * Each line is a separate event: system "printk", name "<function>_<line>", fields arg0,
 * arg1, ... with the types of the arguments.  Only the values are recorded; readers of the
 * trace format the text.  No other file is needed.
 *
 * Up to 10 arguments: integers, enums, bool, pointers, float and double (as double),
 * strings for %s (copied up to their NUL or the precision of %.*s).  No long double, no
 * %ls, no %1$d.  The format is a string literal, and the compiler checks it.  Arguments
 * are evaluated only while the event is enabled.
 *
 * In C, do not use it in `inline` functions with external linkage: they cannot have
 * static variables (`static inline` is fine).
 *
 * TACHO_DISABLE: arguments are checked but never evaluated, and no code is generated.
 */
#ifndef TACHO_PRINTK_H
#define TACHO_PRINTK_H

#include "tacho/impl/macro.h"

static inline TACHO_MAYBE_UNUSED __attribute__((format(printf, 1, 2)))
void tacho_printk_check(const char *fmt, ...)
{
	(void)fmt;
}

#ifdef TACHO_DISABLE

#define tacho_printk(...)						\
	do {								\
		if (0)							\
			tacho_printk_check(__VA_ARGS__);		\
	} while (0)

#else

#include "tacho/impl/printk.h"

#ifdef __cplusplus

#define TACHO_PRINTK_FIELD(i, x) \
	::tacho::printk_field<std::decay_t<decltype((x))>>( \
		TACHO_PRINTK_DECLS(i)),
#define TACHO_PRINTK_VALUE(i, x) \
	::tacho::printk_put(&tacho_values_[i], (x));

/* In templates, a static variable in a section of its own does not work. */
#define TACHO_PRINTK_KNOWN						\
	struct tacho_tag_ {						\
		static struct tacho_printk_site *site()			\
		{							\
			return &tacho_site_;				\
		}							\
	};								\
	(void)&::tacho::printk_object<tacho_tag_>::node;

#else

#define TACHO_PRINTK_FIELD(i, x)	TACHO_PRINTK_FIELD_(i, x)
#define TACHO_PRINTK_VALUE(i, x)					\
	{								\
		__typeof__(((void)0, (x))) tacho_value_ = (x);		\
									\
		_Static_assert(sizeof(tacho_value_) <= 8,		\
			       "too large for tacho_printk");		\
		_Generic(tacho_value_, float: tacho_printk_put_float,	\
			 default: tacho_printk_put)(&tacho_values_[i],	\
				 &tacho_value_, sizeof(tacho_value_));	\
	}
#define TACHO_PRINTK_KNOWN						\
	static TACHO_SECTION("tacho_events")				\
	struct tacho_event *tacho_pointer_ = &tacho_site_.late.event;

#endif

#define TACHO_PRINTK_FMT(...)		TACHO_PRINTK_FMT_(__VA_ARGS__, 0)
#define TACHO_PRINTK_FMT_(fmt, ...)	"" fmt ""
#define TACHO_PRINTK_TEXT(...)		TACHO_PRINTK_TEXT_(__VA_ARGS__, 0)
#define TACHO_PRINTK_TEXT_(fmt, ...)	TACHO_STR(fmt)

#define tacho_printk(...)						\
	do {								\
		static struct tacho_event_field tacho_fields_[] = {	\
			TACHO_EACH(TACHO_PRINTK_FIELD, __VA_ARGS__)	\
			{ 0, 0, 0, 0, 0 }				\
		};							\
		enum {							\
			tacho_nr_ = sizeof(tacho_fields_) /		\
				    sizeof(tacho_fields_[0]) - 1,	\
		};							\
		static char tacho_text_[TACHO_PRINTK_TEXT_SIZE(tacho_nr_, \
			sizeof(TACHO_PRINTK_TEXT(__VA_ARGS__)))];	\
		static struct tacho_printk_site tacho_site_ = {		\
			TACHO_PRINTK_EVENT(tacho_nr_, tacho_fields_),	\
			__func__, __LINE__,				\
			TACHO_PRINTK_FMT(__VA_ARGS__),			\
			TACHO_PRINTK_TEXT(__VA_ARGS__),			\
			tacho_text_, sizeof(tacho_text_), { 0 },	\
		};							\
		TACHO_PRINTK_KNOWN					\
									\
		if (0)							\
			tacho_printk_check(__VA_ARGS__);		\
		TACHO_SDT("tacho", "printk", ());			\
		if (tacho_event_recorded(&tacho_site_.late.event)) {	\
			uint64_t tacho_values_[tacho_nr_ + 1];		\
									\
			TACHO_EACH(TACHO_PRINTK_VALUE, __VA_ARGS__)	\
			tacho_printk_write(&tacho_site_, tacho_values_); \
		}							\
	} while (0)

#endif

#endif
