/* SPDX-License-Identifier: MIT */
/*
 * impl/printk.h - the implementation of tacho_printk().
 *
 * A site is static data: an event without a name, and a table of its fields with
 * the types of the arguments.  The first constructor of the object
 * completes it (tacho_printk_finish): the name comes from __func__ and
 * __LINE__, and the format determines the meaning of a char pointer: text for %s,
 * with the precision as its limit, and an address otherwise.
 *
 * An enabled site stores each argument into a 64-bit slot, its bytes first, and
 * tacho_printk_write() packs the slots by the field table.
 */
#ifndef TACHO_IMPL_PRINTK_H
#define TACHO_IMPL_PRINTK_H

#include "tacho/impl/object.h"
#include "tacho/impl/raw.h"
#include "tacho/tracepoint.h"

#define TACHO_PRINTK_ARGS	10
#define TACHO_PRINTK_NAME	80	/* bytes of the name, NUL included */

/* `offset` of an unfinished field: a char pointer, which may be text. */
#define TACHO_PRINTK_CHARS	1u

/* Limits of strings other than a number of bytes. */
#define TACHO_PRINTK_NO_LIMIT		(-1)
#define TACHO_PRINTK_LIMIT_ARG(i)	(-2 - (i))	/* argument i holds it */

struct tacho_printk_site {
	struct tacho_late_event late;
	const char *func;
	uint32_t line;
	const char *fmt;
	const char *quoted;	/* fmt as in the source */
	char *text;		/* for the name and the print format */
	uint32_t text_size;
	int32_t limit[TACHO_PRINTK_ARGS];
};

/* Room for the name, the quoted format, ", __get_str(argN)" for each. */
#define TACHO_PRINTK_TEXT_SIZE(nr, quoted) \
	(TACHO_PRINTK_NAME + (quoted) + 20 * (nr))

#define TACHO_PRINTK_EVENT(nr, fields)					\
	{								\
		{							\
			sizeof(struct tacho_event), 0, 0,		\
			tacho_state_off, NULL, 0, nr,			\
			"printk", NULL, fields, NULL, NULL,		\
		},							\
		tacho_printk_finish,					\
	}

#ifdef __cplusplus
extern "C" {
#endif

void tacho_printk_finish(struct tacho_late_event *late);
void tacho_printk_write(struct tacho_printk_site *site, const uint64_t *values);

/*
 * Finds the next conversion of *fmt that takes an argument.  Returns its letter, 0 at
 * the end; *arg is the next argument, *limit a number of bytes, TACHO_PRINTK_NO_LIMIT or
 * TACHO_PRINTK_LIMIT_ARG(i).
 */
static inline TACHO_MAYBE_UNUSED
char tacho_printk_conversion(const char **fmt, int *arg, int32_t *limit)
{
	const char *p = *fmt;

	while ((p = strchr(p, '%'))) {
		*limit = TACHO_PRINTK_NO_LIMIT;
		p += 1 + strspn(p + 1, "-+ #0'I");
		if (*p == '*')
			(*arg)++;
		p += strspn(p, "*0123456789");
		if (*p == '.') {
			p++;
			*limit = 0;
			if (*p == '*')
				*limit = TACHO_PRINTK_LIMIT_ARG((*arg)++);
			for (; *p == '*' || (*p >= '0' && *p <= '9'); p++) {
				if (*p != '*' && *limit <= TACHO_RAW_MAX)
					*limit = *limit * 10 + (*p - '0');
			}
		}
		p += strspn(p, "hljztqL");
		if (*p)
			p++;
		if (p[-1] != '%' && p[-1] != 'm') {
			*fmt = p;
			return p[-1];
		}
	}
	return 0;
}

/* Decides which char pointers are text. */
static inline TACHO_MAYBE_UNUSED
void tacho_printk_types(struct tacho_printk_site *site,
			struct tacho_event_field *f)
{
	static const char *const decl[TACHO_PRINTK_ARGS] = {
		"__data_loc char[] arg0", "__data_loc char[] arg1",
		"__data_loc char[] arg2", "__data_loc char[] arg3",
		"__data_loc char[] arg4", "__data_loc char[] arg5",
		"__data_loc char[] arg6", "__data_loc char[] arg7",
		"__data_loc char[] arg8", "__data_loc char[] arg9",
	};
	const char *fmt = site->fmt;
	const int nr = (int)site->late.event.nr_fields;
	int32_t limit;
	int arg = 0;
	char c;

	while ((c = tacho_printk_conversion(&fmt, &arg, &limit)) && arg < nr) {
		if (c == 's' && f[arg].offset == TACHO_PRINTK_CHARS) {
			f[arg].decl = decl[arg];
			f[arg].size = 4;
			f[arg].align = 4;
			f[arg].is_signed = TACHO_SIGNED(char);
			site->limit[arg] = limit;
		}
		arg++;
	}
}

static inline TACHO_MAYBE_UNUSED int tacho_printk_is_text(const struct tacho_event_field *f)
{
	return f->decl[0] == '_' && f->decl[1] == '_';
}

/* Name and print format, one after the other in site->text. */
static inline TACHO_MAYBE_UNUSED
void tacho_printk_texts(struct tacho_printk_site *site,
			const struct tacho_event_field *f)
{
	struct tacho_event *ev = &site->late.event;
	char *p = site->text;
	char *end = p + site->text_size;
	uint32_t i;

	(void)snprintf(p, TACHO_PRINTK_NAME, "%.60s_%u", site->func, site->line);
	ev->name = p;
	for (; *p; p++) {	/* operator() and the like */
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
		      (*p >= '0' && *p <= '9')))
			*p = '_';
	}
	p++;
	ev->print_fmt = p;
	p += snprintf(p, (size_t)(end - p), "%s", site->quoted);
	for (i = 0; i < ev->nr_fields; i++)
		p += snprintf(p, (size_t)(end - p),
			      tacho_printk_is_text(&f[i]) ?
			      ", __get_str(arg%u)" : ", REC->arg%u", i);
}

TACHO_PER_OBJECT void tacho_printk_finish(struct tacho_late_event *late)
{
	struct tacho_printk_site *site = (struct tacho_printk_site *)late;
	struct tacho_event *ev = &late->event;
	/* Not shared yet. */
	struct tacho_event_field *f =
		(struct tacho_event_field *)(uintptr_t)ev->fields;
	const uint32_t nr = ev->nr_fields;

	tacho_printk_types(site, f);
	tacho_printk_texts(site, f);
	(void)tacho_object_layout(ev);
	f[nr].offset = sizeof(struct tacho_common);
	if (nr)
		f[nr].offset = f[nr - 1].offset + f[nr - 1].size;
}

/* How many bytes of argument i are text: SIZE_MAX, up to its NUL. */
TACHO_INLINE size_t tacho_printk_limit(const struct tacho_printk_site *site,
				       const uint64_t *values, uint32_t i)
{
	const int32_t limit = site->limit[i];
	int n;

	if (limit == TACHO_PRINTK_NO_LIMIT)
		return SIZE_MAX;
	if (limit >= 0)
		return (size_t)limit;
	memcpy(&n, &values[TACHO_PRINTK_LIMIT_ARG(limit)], sizeof(n));
	return n < 0 ? SIZE_MAX : (size_t)n;
}

TACHO_OUT_OF_LINE TACHO_PER_OBJECT
void tacho_printk_write(struct tacho_printk_site *site, const uint64_t *values)
{
	struct tacho_event *ev = &site->late.event;
	const struct tacho_event_ops *ops = tacho_event_ops(ev);
	const struct tacho_event_field *f = ev->fields;
	const uint32_t nr = ev->nr_fields;
	struct tacho_string string[TACHO_PRINTK_ARGS];
	uint64_t slot[TACHO_PRINTK_ARGS];
	uint64_t stack[TACHO_STACK_RAW / 8];
	const char *text;
	uint32_t i, word;
	size_t at = f[nr].offset;
	char *raw, *to;

	for (i = 0; i < nr; i++) {
		slot[i] = values[i];
		if (!tacho_printk_is_text(&f[i]))
			continue;
		memcpy(&text, &values[i], sizeof(text));
		string[i].len = tacho_printk_limit(site, values, i);
		/* No room for bytes beyond the precision. */
		if (string[i].len != SIZE_MAX)
			string[i].len = strnlen(text ? text : "(null)",
						string[i].len);
		at = tacho_room(at, tacho_string_bytes(&string[i], text,
						       string[i].len), &word);
		memcpy(&slot[i], &word, sizeof(word));
	}
	raw = (char *)tacho_raw_begin(ev, ops, stack, sizeof(stack),
				      f[nr].offset, at);
	if (!raw)
		return;
	to = raw + f[nr].offset;
	for (i = 0; i < nr; i++) {
		memcpy(raw + f[i].offset, &slot[i], f[i].size);
		if (!tacho_printk_is_text(&f[i]))
			continue;
		tacho_put_string(to, string[i].len + 1, &string[i]);
		to += string[i].len + 1;
	}
	ops->write(ev, raw, at);
	if (raw != (char *)stack)
		ops->scratch_put(raw);
}

#ifdef __cplusplus
}
#endif

TACHO_INLINE void tacho_printk_put(uint64_t *slot, const void *value, size_t n)
{
	*slot = 0;
	memcpy(slot, value, n);
}

TACHO_INLINE void tacho_printk_put_float(uint64_t *slot, const void *value,
					 size_t n)
{
	float narrow;
	double wide;

	(void)n;
	memcpy(&narrow, value, sizeof(narrow));
	wide = (double)narrow;
	memcpy(slot, &wide, sizeof(wide));
}

#ifndef __cplusplus

#define TACHO_PRINTK_IS_CHARS(x) \
	_Generic((x), char *: TACHO_PRINTK_CHARS, \
		 const char *: TACHO_PRINTK_CHARS, \
		 signed char *: TACHO_PRINTK_CHARS, \
		 const signed char *: TACHO_PRINTK_CHARS, \
		 unsigned char *: TACHO_PRINTK_CHARS, \
		 const unsigned char *: TACHO_PRINTK_CHARS, default: 0u)

#define TACHO_PRINTK_DECL(i, x) \
	_Generic((x), _Bool: "bool arg" #i, char: "char arg" #i, \
		 signed char: "signed char arg" #i, \
		 unsigned char: "unsigned char arg" #i, \
		 short: "short arg" #i, \
		 unsigned short: "unsigned short arg" #i, \
		 int: "int arg" #i, unsigned int: "unsigned int arg" #i, \
		 long: "long arg" #i, unsigned long: "unsigned long arg" #i, \
		 long long: "long long arg" #i, \
		 unsigned long long: "unsigned long long arg" #i, \
		 float: "double arg" #i, double: "double arg" #i, \
		 default: "void * arg" #i)

#define TACHO_PRINTK_SIZE(x) \
	_Generic((x), float: 8u, default: (uint32_t)sizeof(__typeof__(((void)0, (x)))))

/* The comma converts an array to a pointer. */
#define TACHO_PRINTK_FIELD_(i, x)					\
	{								\
		TACHO_PRINTK_DECL(i, x), TACHO_PRINTK_IS_CHARS(x),	\
		TACHO_PRINTK_SIZE(x), TACHO_SIGNED_VALUE(x),		\
		TACHO_PRINTK_SIZE(x),					\
	},

#else

#define TACHO_PRINTK_DECLS(i)						\
	"bool arg" #i, "char arg" #i, "signed char arg" #i,		\
	"unsigned char arg" #i, "short arg" #i, "unsigned short arg" #i, \
	"int arg" #i, "unsigned int arg" #i, "long arg" #i,		\
	"unsigned long arg" #i, "double arg" #i, "void * arg" #i,	\
	"long long arg" #i, "unsigned long long arg" #i

namespace tacho {

template <class T, bool is_enum = std::is_enum<T>::value>
struct plain_integer {
	typedef T type;
};
template <class T>
struct plain_integer<T, true> {
	typedef typename std::underlying_type<T>::type type;
};

template <class T>
constexpr bool is_chars()
{
	typedef typename std::remove_cv<
		typename std::remove_pointer<T>::type>::type to;

	return std::is_pointer<T>::value &&
	       (std::is_same<to, char>::value ||
		std::is_same<to, signed char>::value ||
		std::is_same<to, unsigned char>::value);
}

template <class T>
constexpr const char *
printk_decl(const char *is_bool, const char *is_char, const char *s8,
	    const char *u8_, const char *s16_, const char *u16_,
	    const char *s32_, const char *u32_, const char *s64_,
	    const char *u64_, const char *real, const char *pointer,
	    const char *sll, const char *ull)
{
	typedef typename plain_integer<T>::type type;

	return std::is_floating_point<type>::value ? real :
	       !std::is_integral<type>::value ? pointer :
	       std::is_same<type, bool>::value ? is_bool :
	       std::is_same<type, char>::value ? is_char :
	       std::is_same<type, long long>::value ? sll :
	       std::is_same<type, unsigned long long>::value ? ull :
	       sizeof(type) == 1 ? (signed_integer<type>::value ? s8 : u8_) :
	       sizeof(type) == 2 ? (signed_integer<type>::value ? s16_ : u16_) :
	       sizeof(type) == 4 ? (signed_integer<type>::value ? s32_ : u32_) :
	       signed_integer<type>::value ? s64_ : u64_;
}

template <class T, class... Decls>
constexpr struct tacho_event_field printk_field(Decls... decls)
{
	static_assert(std::is_integral<T>::value || std::is_enum<T>::value ||
		      std::is_pointer<T>::value ||
		      std::is_null_pointer<T>::value ||
		      std::is_same<T, float>::value ||
		      std::is_same<T, double>::value,
		      "tacho_printk takes numbers, pointers and C strings");
	static_assert(sizeof(T) <= 8, "too large for tacho_printk");
	return {
		printk_decl<T>(decls...),
		is_chars<T>() ? TACHO_PRINTK_CHARS : 0u,
		std::is_same<T, float>::value ? 8u : (uint32_t)sizeof(T),
		signed_integer<T>::value ? 1u : 0u,
		std::is_same<T, float>::value ? 8u : (uint32_t)sizeof(T),
	};
}

template <class T>
static inline __attribute__((always_inline))
void printk_put(uint64_t *slot, T value)
{
	tacho_printk_put(slot, &value, sizeof(value));
}

static inline __attribute__((always_inline))
void printk_put(uint64_t *slot, float value)
{
	tacho_printk_put_float(slot, &value, sizeof(value));
}

/* One site, registered separately when static variables are initialised. */
struct TACHO_HIDDEN printk_node {
	struct tacho_event *event;
	struct tacho_object object;

	explicit printk_node(struct tacho_printk_site *site)
		: event(&site->late.event),
		  object{ sizeof(object), 0, &event, &event + 1, nullptr,
			  nullptr }
	{
		/*
		 * An inline function's site may be shared with another object
		 * that has already registered it.
		 */
		if (event->name) {
			event = nullptr;
			return;
		}
		tacho_printk_finish(&site->late);
		(void)tacho_object_attach(&object);
	}
	~printk_node()
	{
		if (event)
			tacho_object_detach(&object);
	}
	printk_node(const printk_node &) = delete;
	printk_node &operator=(const printk_node &) = delete;
};

template <class Tag>
struct TACHO_HIDDEN printk_object {
	static printk_node node;
};
template <class Tag>
printk_node printk_object<Tag>::node(Tag::site());

}

#endif

#endif
