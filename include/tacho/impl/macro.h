/* SPDX-License-Identifier: MIT */
/*
 * impl/macro.h - preprocessor tools and attributes of the instrumentation
 * headers.  Strict C11 and C++17: no `args...`, no `, ##`.
 */
#ifndef TACHO_IMPL_MACRO_H
#define TACHO_IMPL_MACRO_H

#define TACHO_STR_(...)		#__VA_ARGS__
#define TACHO_STR(...)		TACHO_STR_(__VA_ARGS__)
#define TACHO_CAT_(a, b)	a##b
#define TACHO_CAT(a, b)		TACHO_CAT_(a, b)

/* TACHO_UNWRAP (a, b) is a, b: removes the parentheses of a list. */
#define TACHO_UNWRAP(...)	__VA_ARGS__

/*
 * TACHO_COUNT(...): number of arguments, 0 to 24.  "No argument" and "one
 * empty argument" look alike to the preprocessor; TACHO_COMMA x () yields a
 * comma only if x is empty.  For argument names, not for expressions.
 */
#define TACHO_PICK25_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, \
		      a14, a15, a16, a17, a18, a19, a20, a21, a22, a23, a24, \
		      n, ...) n
#define TACHO_PICK3_(a1, a2, n, ...) n
#define TACHO_PICK3(...)	TACHO_PICK3_(__VA_ARGS__)
#define TACHO_COMMA(...)	,
#define TACHO_NARGS(...) \
	TACHO_PICK25_(__VA_ARGS__, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, \
		      13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define TACHO_ONE_OR_MANY(...) \
	TACHO_PICK25_(__VA_ARGS__, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
		      MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
		      MANY, MANY, MANY, MANY, MANY, MANY, MANY, ONE, 0)
#define TACHO_COUNT_ONE(x)	TACHO_PICK3(TACHO_COMMA x (), 0, 1, 1)
#define TACHO_COUNT_MANY(...)	TACHO_NARGS(__VA_ARGS__)
#define TACHO_COUNT(...) \
	TACHO_CAT(TACHO_COUNT_, TACHO_ONE_OR_MANY(__VA_ARGS__))(__VA_ARGS__)

/*
 * TACHO_PREPEND(args, first, list): (first, list...), or (first) when args is
 * ().  args and list are in parentheses; args decides, because the prototype
 * that belongs to () is spelt (void).
 */
#define TACHO_NONE_ONE(x)	TACHO_PICK3(TACHO_COMMA x (), NONE, SOME, 1)
#define TACHO_NONE_MANY(...)	SOME
#define TACHO_NONE_OR_SOME(...) \
	TACHO_CAT(TACHO_NONE_, TACHO_ONE_OR_MANY(__VA_ARGS__))(__VA_ARGS__)
#define TACHO_PREPEND_NONE(first, list)	(first)
#define TACHO_PREPEND_SOME(first, list)	(first, TACHO_UNWRAP list)
#define TACHO_PREPEND(args, first, list) \
	TACHO_CAT(TACHO_PREPEND_, TACHO_NONE_OR_SOME args)(first, list)

/*
 * TACHO_EACH(m, ignored, a, b, ...): m(0, a) m(1, b) ..., up to 10 arguments
 * after the ignored one.
 */
#define TACHO_EACH_1(m, x)
#define TACHO_EACH_2(m, x, a) m(0, a)
#define TACHO_EACH_3(m, x, a, b) m(0, a) m(1, b)
#define TACHO_EACH_4(m, x, a, b, c) m(0, a) m(1, b) m(2, c)
#define TACHO_EACH_5(m, x, a, b, c, d) m(0, a) m(1, b) m(2, c) m(3, d)
#define TACHO_EACH_6(m, x, a, b, c, d, e) \
	TACHO_EACH_5(m, x, a, b, c, d) m(4, e)
#define TACHO_EACH_7(m, x, a, b, c, d, e, f) \
	TACHO_EACH_6(m, x, a, b, c, d, e) m(5, f)
#define TACHO_EACH_8(m, x, a, b, c, d, e, f, g) \
	TACHO_EACH_7(m, x, a, b, c, d, e, f) m(6, g)
#define TACHO_EACH_9(m, x, a, b, c, d, e, f, g, h) \
	TACHO_EACH_8(m, x, a, b, c, d, e, f, g) m(7, h)
#define TACHO_EACH_10(m, x, a, b, c, d, e, f, g, h, i) \
	TACHO_EACH_9(m, x, a, b, c, d, e, f, g, h) m(8, i)
#define TACHO_EACH_11(m, x, a, b, c, d, e, f, g, h, i, j) \
	TACHO_EACH_10(m, x, a, b, c, d, e, f, g, h, i) m(9, j)
#define TACHO_EACH(m, ...) \
	TACHO_CAT(TACHO_EACH_, TACHO_NARGS(__VA_ARGS__))(m, __VA_ARGS__)

#ifdef __cplusplus
#define TACHO_EXTERN		extern "C"
#define TACHO_ALIGNOF(type)	alignof(type)
#else
#define TACHO_EXTERN		extern
#define TACHO_ALIGNOF(type)	_Alignof(type)
#endif

#define TACHO_HIDDEN		__attribute__((visibility("hidden")))
/* Defined in each file that needs it; the linker keeps one per object. */
#define TACHO_PER_OBJECT	__attribute__((weak, visibility("hidden")))
#define TACHO_MAYBE_UNUSED	__attribute__((unused))
#define TACHO_INLINE		static inline __attribute__((always_inline, unused))

/*
 * TACHO_SITE_LOAD(type, x): loads x, of 2 or 8 bytes, from memory in one access, as a
 * value of the type.
 *
 * Arguments of a site that are read from memory or computed should be evaluated after the
 * branch, where they are used.  Compilers move them there past this load only if they know
 * that the load has no side effects: gcc does so for a volatile load, and clang for an
 * assembler statement that only reads.  (Neither does for an atomic load.)  clang cannot
 * hoist that statement out of a loop, because the call after the branch may change any
 * memory.
 */
#if defined(__SANITIZE_THREAD__)
#define TACHO_SITE_LOAD(type, x)	((type)__atomic_load_n(&(x), __ATOMIC_RELAXED))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TACHO_SITE_LOAD(type, x)	((type)__atomic_load_n(&(x), __ATOMIC_RELAXED))
#endif
#endif
#if !defined(TACHO_SITE_LOAD) && defined(__clang__) && defined(__LP64__) && \
	(defined(__x86_64__) || defined(__aarch64__))
#if defined(__x86_64__)
#define TACHO_SITE_LOAD_WORD	"movq %1, %0"
#define TACHO_SITE_LOAD_HALF	"movzwl %1, %k0"
#else
#define TACHO_SITE_LOAD_WORD	"ldr %0, %1"
#define TACHO_SITE_LOAD_HALF	"ldrh %w0, %1"
#endif
#define TACHO_SITE_LOAD(type, x)					\
	__extension__ ({						\
		uint64_t tacho_word_;					\
									\
		if (sizeof(x) == 2)					\
			__asm__(TACHO_SITE_LOAD_HALF			\
				: "=r" (tacho_word_) : "m" (x));	\
		else							\
			__asm__(TACHO_SITE_LOAD_WORD			\
				: "=r" (tacho_word_) : "m" (x));	\
		(type)tacho_word_;					\
	})
#elif !defined(TACHO_SITE_LOAD)
#define TACHO_SITE_LOAD(type, x)	((type)*(__typeof__(x) const volatile *)&(x))
#endif

/*
 * Out-of-line code of sites, separate from the hot code.  Not `cold`, which would
 * also compile it for size and make enabled events slower.
 */
#define TACHO_OUT_OF_LINE \
	__attribute__((noinline, section(".text.unlikely.tacho")))

/*
 * Pointers to events and evals are in these sections.  `retain` keeps them with
 * --gc-sections and a linker (lld) that does not treat __start_ symbols as references.
 */
#ifdef __has_attribute
#if __has_attribute(retain)
#define TACHO_SECTION(name)	\
	__attribute__((section(name), used, aligned(8), retain))
#endif
#endif
#ifndef TACHO_SECTION
#define TACHO_SECTION(name)	\
	__attribute__((section(name), used, aligned(8)))
#endif

/*
 * TACHO_SIGNED(type): 1 for a signed integer or enum type, 0 for all other types.
 * A constant expression, for any complete object type.
 */
#ifdef __cplusplus
#include <type_traits>
namespace tacho {
template <class T, bool is_enum = std::is_enum<T>::value>
struct signed_integer {
	static constexpr bool value = std::is_integral<T>::value &&
				      std::is_signed<T>::value;
};
template <class T>
struct signed_integer<T, true> {
	static constexpr bool value =
		std::is_signed<typename std::underlying_type<T>::type>::value;
};
}
#define TACHO_SIGNED(t) \
	(::tacho::signed_integer<std::remove_cv_t<t>>::value ? 1u : 0u)
#else
#define TACHO_SIGNED(t)		TACHO_SIGNED_VALUE(*(t *)0)
#define TACHO_SIGNED_VALUE(x) \
	_Generic((x), char: (char)-1 < (char)1 ? 1u : 0u, signed char: 1u, \
		 short: 1u, int: 1u, long: 1u, long long: 1u, default: 0u)
#endif

#endif
