/* SPDX-License-Identifier: MIT */
/*
 * impl/stages.h - the definitions of the event macros, stage by stage.
 *
 * A trace header describes events by macros.  Each time it is included, other
 * definitions of the macros generate other code from it.  <tacho/tracepoint.h>
 * includes this file for stage 0, <tacho/define_trace.h> for all others, and
 * includes the trace header again in each.  This file therefore has no include guard.
 *
 *	0  declare	trace_x(), trace_x_enabled()
 *	1  struct	struct tacho_raw_x: the fixed part of the raw event
 *	2  sizes	struct tacho_sizes_x: a __data_loc word and, for strings,
 *			the source pointer of each variable field
 *	3  fields	tacho_fields_x[]: the field table
 *	4  measure	tacho_measure_x(): fills struct tacho_sizes_x
 *	5  probe	tacho_class_x() builds a raw event; trace_x() calls
 *			tacho_probe_x()
 *	6  check	compiles TP_printk as C, so that the compiler reports wrong
 *			formats; emits nothing
 *	7  event	struct tacho_event, evals, pointers to both
 *	9  end		undefines all macros of the stages
 *
 * Stage 0 and the second halves of 5 and 7 belong to an event, everything else to a class
 * (DECLARE_EVENT_CLASS).  TRACE_EVENT is a class and an event of the same name.
 *
 * Fields are reduced to a few forms:
 *
 *	TACHO_FIX(type, item, decl, sgn)		one value
 *	TACHO_ARR(type, item, len, decl, sgn)		an array of fixed length
 *	TACHO_DYN(loc, item, text, sgn, bytes)		variable length
 *	TACHO_SRC(loc, item, src, max)			a string with its source
 *
 * where loc is data or rel, decl and text are string literals of the source text
 * (`bool` must not become `_Bool`), and bytes and max are
 * expressions over the event's arguments.  max is the length to reserve,
 * SIZE_MAX for the string's own.
 *
 * Macros end with __extension__ if nothing else consumes the semicolon after
 * them: `__extension__ ;` causes no warning with -Wpedantic, and before another declaration
 * it has no effect, so a missing semicolon is also accepted.
 */

#undef TRACE_EVENT
#undef TRACE_EVENT_CONDITION
#undef TRACE_EVENT_NOP
#undef TRACE_EVENT_FLAGS
#undef TRACE_EVENT_PERF_PERM
#undef DECLARE_EVENT_CLASS
#undef DEFINE_EVENT
#undef DEFINE_EVENT_PRINT
#undef DEFINE_EVENT_CONDITION
#undef DEFINE_EVENT_NOP
#undef TRACE_DEFINE_ENUM
#undef TRACE_DEFINE_SIZEOF

#undef TACHO_FIX
#undef TACHO_ARR
#undef TACHO_DYN
#undef TACHO_SRC
#undef TACHO_PROBE_WANTED
#undef TACHO_PROBE_NOTE

#undef __field
#undef __field_ext
#undef __field_struct
#undef __field_struct_ext
#undef __array
#undef __dynamic_array
#undef __string
#undef __string_len
#undef __vstring
#undef __bitmask
#undef __cpumask
#undef __sockaddr
#undef __rel_dynamic_array
#undef __rel_string
#undef __rel_string_len
#undef __rel_vstring
#undef __rel_bitmask
#undef __rel_cpumask
#undef __rel_sockaddr

#undef __entry
#undef __get_dynamic_array
#undef __get_dynamic_array_len
#undef __get_str
#undef __get_bitmask
#undef __get_cpumask
#undef __get_sockaddr
#undef __get_rel_dynamic_array
#undef __get_rel_dynamic_array_len
#undef __get_rel_str
#undef __get_rel_bitmask
#undef __get_rel_cpumask
#undef __get_rel_sockaddr

#undef __assign_str
#undef __assign_str_len
#undef __assign_vstr
#undef __assign_bitmask
#undef __assign_cpumask
#undef __assign_sockaddr
#undef __assign_rel_str
#undef __assign_rel_str_len
#undef __assign_rel_vstr
#undef __assign_rel_bitmask
#undef __assign_rel_cpumask
#undef __assign_rel_sockaddr

#undef __print_flags
#undef __print_flags_u64
#undef __print_symbolic
#undef __print_symbolic_u64
#undef __print_hex
#undef __print_hex_str
#undef __print_hex_dump
#undef __print_array
#undef __print_dynamic_array
#undef __print_ns_to_secs
#undef __print_ns_without_secs

#ifdef TACHO_UNDEF_INCLUDE_FILE
#undef TACHO_UNDEF_INCLUDE_FILE
#undef TRACE_INCLUDE_FILE
#endif

#if TACHO_STAGE != 9

/* Defined again in each stage, because the trace header may have undefined it. */
#if TACHO_STAGE != 0 && !defined(TRACE_INCLUDE_FILE)
#define TRACE_INCLUDE_FILE TRACE_SYSTEM
#define TACHO_UNDEF_INCLUDE_FILE
#endif

/* ---- what is the same in all stages ------------------------------------ */

#define TRACE_EVENT(name, proto, args, tstruct, assign, print) \
	DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	DEFINE_EVENT(name, name, proto, args)

#define TRACE_EVENT_CONDITION(name, proto, args, cond, tstruct, assign, print) \
	DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	DEFINE_EVENT_CONDITION(name, name, proto, args, cond)

/* Permissions of the kernel's perf, which programs do not have. */
#define TRACE_EVENT_FLAGS(name, value)		__extension__
#define TRACE_EVENT_PERF_PERM(name, ...)	__extension__

#if TACHO_STAGE != 0
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print) __extension__
#define DEFINE_EVENT_NOP(tmpl, name, proto, args) __extension__
#endif

#if TACHO_STAGE != 5 && TACHO_STAGE != 0
#define DEFINE_EVENT_CONDITION(tmpl, name, proto, args, cond) \
	DEFINE_EVENT(tmpl, name, proto, args)
#endif

#if TACHO_STAGE >= 1 && TACHO_STAGE <= 5
#define __field(type, item) \
	TACHO_FIX(type, item, #type " " #item, TACHO_SIGNED(type))
#define __field_ext(type, item, filter) \
	TACHO_FIX(type, item, #type " " #item, TACHO_SIGNED(type))
#define __field_struct(type, item) \
	TACHO_FIX(type, item, #type " " #item, 0)
#define __field_struct_ext(type, item, filter) \
	TACHO_FIX(type, item, #type " " #item, 0)
#define __array(type, item, len) \
	TACHO_ARR(type, item, len, #type " " #item "[" TACHO_STR(len) "]", \
		  TACHO_SIGNED(type))

#define __dynamic_array(type, item, len) \
	TACHO_DYN(data, item, #type, TACHO_SIGNED(type), \
		  tacho_array_bytes(sizeof(type), (size_t)(len)))
#define __string(item, src) \
	TACHO_SRC(data, item, src, SIZE_MAX)
#define __string_len(item, src, len) \
	TACHO_SRC(data, item, src, tacho_max_len((size_t)(len)))
#define __vstring(item, fmt, va) \
	TACHO_DYN(data, item, "char", TACHO_SIGNED(char), \
		  tacho_vstr_bytes(fmt, va))
#define __bitmask(item, nr_bits) \
	TACHO_DYN(data, item, "unsigned long", 0, \
		  tacho_bitmask_bytes((size_t)(nr_bits)))
#define __cpumask(item) \
	TACHO_DYN(data, item, "cpumask_t", 0, TACHO_CPUMASK_BYTES)
#define __sockaddr(item, len) \
	TACHO_DYN(data, item, "u8", 0, tacho_array_bytes(1, (size_t)(len)))

#define __rel_dynamic_array(type, item, len) \
	TACHO_DYN(rel, item, #type, TACHO_SIGNED(type), \
		  tacho_array_bytes(sizeof(type), (size_t)(len)))
#define __rel_string(item, src) \
	TACHO_SRC(rel, item, src, SIZE_MAX)
#define __rel_string_len(item, src, len) \
	TACHO_SRC(rel, item, src, tacho_max_len((size_t)(len)))
#define __rel_vstring(item, fmt, va) \
	TACHO_DYN(rel, item, "char", TACHO_SIGNED(char), \
		  tacho_vstr_bytes(fmt, va))
#define __rel_bitmask(item, nr_bits) \
	TACHO_DYN(rel, item, "unsigned long", 0, \
		  tacho_bitmask_bytes((size_t)(nr_bits)))
#define __rel_cpumask(item) \
	TACHO_DYN(rel, item, "cpumask_t", 0, TACHO_CPUMASK_BYTES)
#define __rel_sockaddr(item, len) \
	TACHO_DYN(rel, item, "u8", 0, tacho_array_bytes(1, (size_t)(len)))
#endif

#if TACHO_STAGE != 7
#define TRACE_DEFINE_ENUM(a)	__extension__
#define TRACE_DEFINE_SIZEOF(a)	__extension__
#endif

/* Stages that work on classes ignore events. */
#if TACHO_STAGE >= 1 && TACHO_STAGE <= 4
#define DEFINE_EVENT(tmpl, name, proto, args) __extension__
#define DEFINE_EVENT_PRINT(tmpl, name, proto, args, print) __extension__
#endif

#endif

/* ---- 0: declare --------------------------------------------------------- */
#if TACHO_STAGE == 0

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	__extension__

/* sizeof: the parameters count as used, nothing is evaluated. */
#define TACHO_EMPTY_SITE(name, proto, args)				\
	static inline TACHO_MAYBE_UNUSED void trace_##name proto	\
	{								\
		(void)sizeof((trace_##name args, 0));			\
	}								\
	static inline TACHO_MAYBE_UNUSED bool trace_##name##_enabled(void) \
	{								\
		return false;						\
	}								\
	__extension__

#ifdef TACHO_DISABLE
#define DEFINE_EVENT(tmpl, name, proto, args) \
	TACHO_EMPTY_SITE(name, proto, args)
#else
#define DEFINE_EVENT(tmpl, name, proto, args)				\
	TACHO_EXTERN struct tacho_event tacho_event_##name TACHO_HIDDEN; \
	TACHO_EXTERN void tacho_probe_##name proto TACHO_HIDDEN;	\
	TACHO_INLINE void trace_##name proto				\
	{								\
		if (tacho_event_enabled(&tacho_event_##name))		\
			tacho_probe_##name args;			\
	}								\
	TACHO_INLINE bool trace_##name##_enabled(void)			\
	{								\
		return tacho_event_enabled(&tacho_event_##name);	\
	}								\
	__extension__
#endif

#define DEFINE_EVENT_PRINT(tmpl, name, proto, args, print) \
	DEFINE_EVENT(tmpl, name, proto, args)
#define DEFINE_EVENT_CONDITION(tmpl, name, proto, args, cond) \
	DEFINE_EVENT(tmpl, name, proto, args)
#define DEFINE_EVENT_NOP(tmpl, name, proto, args) \
	TACHO_EMPTY_SITE(name, proto, args)
#define TRACE_EVENT_NOP(name, proto, args, tstruct, assign, print) \
	TACHO_EMPTY_SITE(name, proto, args)

/* ---- 1: struct ---------------------------------------------------------- */
#elif TACHO_STAGE == 1

#define TACHO_FIX(type, item, decl, sgn)	type item;
#define TACHO_ARR(type, item, len, decl, sgn)	type item[len];
#define TACHO_DYN(loc, item, text, sgn, bytes)	uint32_t __##loc##_loc_##item;
#define TACHO_SRC(loc, item, src, max)		uint32_t __##loc##_loc_##item;

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	struct __attribute__((may_alias)) tacho_raw_##name {		\
		struct tacho_common ent;				\
		TACHO_UNWRAP tstruct					\
		char __data[];						\
	};

/* ---- 2: sizes ----------------------------------------------------------- */
#elif TACHO_STAGE == 2

#define TACHO_FIX(type, item, decl, sgn)
#define TACHO_ARR(type, item, len, decl, sgn)
#define TACHO_DYN(loc, item, text, sgn, bytes)	uint32_t item;
#define TACHO_SRC(loc, item, src, max) \
	uint32_t item; struct tacho_string item##_str_;

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	struct tacho_sizes_##name {					\
		char tacho_none_;					\
		TACHO_UNWRAP tstruct					\
	};

/* ---- 3: fields ---------------------------------------------------------- */
#elif TACHO_STAGE == 3

/*
 * Offsets are filled in at start by tacho_object_layout(): these
 * macros do not know the struct's name.  The entry after the last has the offset of
 * the end of the fields, for a check.
 */
#define TACHO_FIX(type, item, decl, sgn) \
	{ decl, 0, (uint32_t)sizeof(type), sgn, TACHO_FIELD_ALIGN(type) },
#define TACHO_ARR(type, item, len, decl, sgn) \
	{ decl, 0, (uint32_t)sizeof(type[len]), sgn, TACHO_FIELD_ALIGN(type) },
#define TACHO_DYN(loc, item, text, sgn, bytes) \
	{ "__" #loc "_loc " text "[] " #item, 0, 4, sgn, 4 },
#define TACHO_SRC(loc, item, src, max) \
	TACHO_DYN(loc, item, "char", TACHO_SIGNED(char), 0)

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	static TACHO_MAYBE_UNUSED					\
	struct tacho_event_field tacho_fields_##name[] = {		\
		TACHO_UNWRAP tstruct					\
		{ NULL, (uint32_t)offsetof(struct tacho_raw_##name, __data), \
		  0, 0, 0 },						\
	};

/* ---- 4: measure --------------------------------------------------------- */
#elif TACHO_STAGE == 4

#define TACHO_FIX(type, item, decl, sgn)
#define TACHO_ARR(type, item, len, decl, sgn)
#define TACHO_DYN(loc, item, text, sgn, bytes) \
	tacho_at_ = tacho_room(tacho_at_, bytes, &tacho_sizes_->item);
#define TACHO_SRC(loc, item, src, max)					\
	tacho_at_ = tacho_room(tacho_at_,				\
		tacho_string_bytes(&tacho_sizes_->item##_str_,		\
				   (const char *)(src), max),		\
		&tacho_sizes_->item);

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	TACHO_INLINE size_t tacho_measure_##name			\
	TACHO_PREPEND(args, struct tacho_sizes_##name *tacho_sizes_, proto) \
	{								\
		size_t tacho_at_ =					\
			offsetof(struct tacho_raw_##name, __data);	\
									\
		TACHO_UNWRAP tstruct					\
		return tacho_at_;					\
	}

/* ---- 5: probe ----------------------------------------------------------- */
#elif TACHO_STAGE == 5

#define TACHO_FIX(type, item, decl, sgn)
#define TACHO_ARR(type, item, len, decl, sgn)
#define TACHO_DYN(loc, item, text, sgn, bytes) TACHO_LOC_##loc(item)
#define TACHO_SRC(loc, item, src, max) TACHO_LOC_##loc(item)

#define TACHO_LOC_data(item) \
	__entry->__data_loc_##item = tacho_sizes_.item;
/* Relative to the end of the word; the length in the upper half does not change. */
#define TACHO_LOC_rel(item) \
	__entry->__rel_loc_##item = tacho_sizes_.item - \
		(uint32_t)TACHO_REL_BASE(item);
#define TACHO_REL_BASE(item)	(offsetof(tacho_raw_, __rel_loc_##item) + 4)

#define TACHO_DATA(item) \
	((char *)__entry + (__entry->__data_loc_##item & 0xffff))
#define TACHO_REL_DATA(item) \
	((char *)__entry + TACHO_REL_BASE(item) + \
	 (__entry->__rel_loc_##item & 0xffff))

#define __get_dynamic_array(item)	TACHO_ANY_POINTER(TACHO_DATA(item))
#define __get_dynamic_array_len(item)	(__entry->__data_loc_##item >> 16)
#define __get_str(item)			TACHO_DATA(item)
#define __get_bitmask(item)		TACHO_DATA(item)
#define __get_cpumask(item)		TACHO_DATA(item)
#define __get_sockaddr(item)	((struct sockaddr *)(void *)TACHO_DATA(item))

#define __get_rel_dynamic_array(item)	TACHO_ANY_POINTER(TACHO_REL_DATA(item))
#define __get_rel_dynamic_array_len(item) (__entry->__rel_loc_##item >> 16)
#define __get_rel_str(item)		TACHO_REL_DATA(item)
#define __get_rel_bitmask(item)		TACHO_REL_DATA(item)
#define __get_rel_cpumask(item)		TACHO_REL_DATA(item)
#define __get_rel_sockaddr(item) \
	((struct sockaddr *)(void *)TACHO_REL_DATA(item))

/* __assign_str(dst): from __string()'s source; (dst, src): from src. */
#define __assign_str(...) \
	TACHO_CAT(TACHO_ASSIGN_STR_, TACHO_NARGS(__VA_ARGS__))(__VA_ARGS__)
#define TACHO_ASSIGN_STR_1(dst) \
	tacho_put_string(TACHO_DATA(dst), __get_dynamic_array_len(dst), \
			 &tacho_sizes_.dst##_str_)
#define TACHO_ASSIGN_STR_2(dst, src) \
	tacho_put_str(TACHO_DATA(dst), __get_dynamic_array_len(dst), \
		      (const char *)(src))
#define __assign_str_len(dst, src, len)	TACHO_ASSIGN_STR_2(dst, src)
#define __assign_vstr(dst, fmt, va) \
	tacho_put_vstr(TACHO_DATA(dst), __get_dynamic_array_len(dst), fmt, va)
#define __assign_bitmask(dst, src, nr_bits) \
	tacho_put_bytes(TACHO_DATA(dst), __get_dynamic_array_len(dst), src, \
			tacho_bitmask_bytes((size_t)(nr_bits)))
#define __assign_cpumask(dst, src) \
	tacho_put_bytes(TACHO_DATA(dst), __get_dynamic_array_len(dst), src, \
			TACHO_CPUMASK_BYTES)
#define __assign_sockaddr(dst, src, len) \
	tacho_put_bytes(TACHO_DATA(dst), __get_dynamic_array_len(dst), src, \
			(size_t)(len))

#define __assign_rel_str(...) \
	TACHO_CAT(TACHO_ASSIGN_REL_STR_, TACHO_NARGS(__VA_ARGS__))(__VA_ARGS__)
#define TACHO_ASSIGN_REL_STR_1(dst) \
	tacho_put_string(TACHO_REL_DATA(dst), \
			 __get_rel_dynamic_array_len(dst), \
			 &tacho_sizes_.dst##_str_)
#define TACHO_ASSIGN_REL_STR_2(dst, src) \
	tacho_put_str(TACHO_REL_DATA(dst), __get_rel_dynamic_array_len(dst), \
		      (const char *)(src))
#define __assign_rel_str_len(dst, src, len) TACHO_ASSIGN_REL_STR_2(dst, src)
#define __assign_rel_vstr(dst, fmt, va) \
	tacho_put_vstr(TACHO_REL_DATA(dst), \
		       __get_rel_dynamic_array_len(dst), fmt, va)
#define __assign_rel_bitmask(dst, src, nr_bits) \
	tacho_put_bytes(TACHO_REL_DATA(dst), \
			__get_rel_dynamic_array_len(dst), src, \
			tacho_bitmask_bytes((size_t)(nr_bits)))
#define __assign_rel_cpumask(dst, src) \
	tacho_put_bytes(TACHO_REL_DATA(dst), \
			__get_rel_dynamic_array_len(dst), src, \
			TACHO_CPUMASK_BYTES)
#define __assign_rel_sockaddr(dst, src, len) \
	tacho_put_bytes(TACHO_REL_DATA(dst), \
			__get_rel_dynamic_array_len(dst), src, (size_t)(len))

/*
 * An event without variable fields needs only its struct on the stack.  One with variable
 * fields gets TACHO_STACK_RAW bytes; a larger one is built in libtacho's scratch memory.
 */
#define TACHO_STACK_BYTES(name)						\
	(sizeof(struct tacho_raw_##name) > TACHO_STACK_RAW ? 8 :	\
	 sizeof(struct tacho_sizes_##name) > 1 ? TACHO_STACK_RAW :	\
	 sizeof(struct tacho_raw_##name))

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	static TACHO_MAYBE_UNUSED					\
	__attribute__((section(".text.unlikely.tacho")))		\
	void tacho_class_##name						\
	TACHO_PREPEND(args, struct tacho_event *tacho_event_, proto)	\
	{								\
		typedef struct tacho_raw_##name tacho_raw_;		\
		union {							\
			uint64_t align;					\
			char bytes[TACHO_STACK_BYTES(name)];		\
		} tacho_stack_;						\
		struct tacho_sizes_##name tacho_sizes_;			\
		tacho_raw_ *__entry;					\
		const struct tacho_event_ops *tacho_ops_ =		\
			tacho_event_ops(tacho_event_);			\
		const size_t tacho_len_ = tacho_measure_##name		\
			TACHO_PREPEND(args, &tacho_sizes_, args);	\
									\
		__entry = (tacho_raw_ *)tacho_raw_begin(tacho_event_,	\
			tacho_ops_, &tacho_stack_, sizeof(tacho_stack_), \
			offsetof(tacho_raw_, __data), tacho_len_);	\
		if (!__entry)						\
			return;						\
		TACHO_UNWRAP tstruct					\
		{							\
			TACHO_UNWRAP assign				\
		}							\
		if (sizeof(struct tacho_sizes_##name) == 1)		\
			tacho_raw_end(tacho_event_, tacho_ops_, __entry, \
				      offsetof(tacho_raw_, __data));	\
		else							\
			tacho_ops_->write(tacho_event_, __entry, tacho_len_); \
		if ((void *)__entry != (void *)&tacho_stack_)		\
			tacho_ops_->scratch_put(__entry);		\
	}

/*
 * The SDT note is here, where the arguments are available: a second use of them at the
 * site would keep clang from computing them after the branch.
 */
#define TACHO_PROBE_NOTE(name, args)					\
		TACHO_SDT_GUARDED("tacho_event_" #name,			\
				  TACHO_STR(TRACE_SYSTEM), #name, args);

/* A tool that is attached to the SDT note also makes a site call this. */
#define TACHO_PROBE_WANTED(ev)	__builtin_expect(tacho_event_recorded(ev), 1)

#define DEFINE_EVENT(tmpl, name, proto, args)				\
	TACHO_EXTERN TACHO_OUT_OF_LINE					\
	void tacho_probe_##name proto					\
	{								\
		TACHO_PROBE_NOTE(name, args)				\
		if (!TACHO_PROBE_WANTED(&tacho_event_##name))		\
			return;						\
		tacho_class_##tmpl					\
		TACHO_PREPEND(args, &tacho_event_##name, args);		\
	}

#define DEFINE_EVENT_CONDITION(tmpl, name, proto, args, cond)		\
	TACHO_EXTERN TACHO_OUT_OF_LINE					\
	void tacho_probe_##name proto					\
	{								\
		TACHO_PROBE_NOTE(name, args)				\
		if (!TACHO_PROBE_WANTED(&tacho_event_##name) || !cond)	\
			return;						\
		tacho_class_##tmpl					\
		TACHO_PREPEND(args, &tacho_event_##name, args);		\
	}

#define DEFINE_EVENT_PRINT(tmpl, name, proto, args, print) \
	DEFINE_EVENT(tmpl, name, proto, args)

/* ---- 6: check ----------------------------------------------------------- */
#elif TACHO_STAGE == 6

/* Only types matter here; this code never runs. */
#define TACHO_CHECK_DATA(item, type) \
	((type)tacho_check_data(__entry->__data_loc_##item))
#define TACHO_CHECK_REL(item, type) \
	((type)tacho_check_data(__entry->__rel_loc_##item))

#define __get_dynamic_array(item)	TACHO_CHECK_DATA(item, void *)
#define __get_dynamic_array_len(item)	(__entry->__data_loc_##item >> 16)
#define __get_str(item)			TACHO_CHECK_DATA(item, char *)
#define __get_bitmask(item)		TACHO_CHECK_DATA(item, char *)
#define __get_cpumask(item)		TACHO_CHECK_DATA(item, char *)
#define __get_sockaddr(item)	TACHO_CHECK_DATA(item, struct sockaddr *)
#define __get_rel_dynamic_array(item)	TACHO_CHECK_REL(item, void *)
#define __get_rel_dynamic_array_len(item) (__entry->__rel_loc_##item >> 16)
#define __get_rel_str(item)		TACHO_CHECK_REL(item, char *)
#define __get_rel_bitmask(item)		TACHO_CHECK_REL(item, char *)
#define __get_rel_cpumask(item)		TACHO_CHECK_REL(item, char *)
#define __get_rel_sockaddr(item)	TACHO_CHECK_REL(item, struct sockaddr *)

#define TACHO_CHECK_NAMES(value, delim, ...)				\
	__extension__ ({						\
		static const struct tacho_value_name tacho_names_[] =	\
			{ __VA_ARGS__ };				\
		tacho_check_names((unsigned long long)(value), delim,	\
				  tacho_names_);			\
	})
#define __print_flags(value, delim, ...) \
	TACHO_CHECK_NAMES(value, delim, __VA_ARGS__)
#define __print_flags_u64(value, delim, ...) \
	TACHO_CHECK_NAMES(value, delim, __VA_ARGS__)
#define __print_symbolic(value, ...) \
	TACHO_CHECK_NAMES(value, "", __VA_ARGS__)
#define __print_symbolic_u64(value, ...) \
	TACHO_CHECK_NAMES(value, "", __VA_ARGS__)
#define __print_hex(buf, len)		tacho_check_bytes(buf, (long)(len))
#define __print_hex_str(buf, len)	tacho_check_bytes(buf, (long)(len))
#define __print_array(buf, count, size) \
	tacho_check_bytes(buf, (long)(count) * (long)(size))
#define __print_dynamic_array(item, size) \
	tacho_check_bytes(__get_dynamic_array(item), (long)(size))
#define __print_hex_dump(prefix, type, row, group, buf, len, ascii) \
	tacho_check_dump(prefix, (long)(type) + (row) + (group) + (ascii), \
			 buf, (long)(len))
#define __print_ns_to_secs(value)	((unsigned long long)(value))
#define __print_ns_without_secs(value)	((unsigned int)(value))

#define TACHO_CHECK(name, cls, print)					\
	static inline TACHO_MAYBE_UNUSED				\
	void tacho_check_##name(struct tacho_raw_##cls *__entry)	\
	{								\
		(void)__entry;						\
		tacho_check_printf print;				\
	}

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print) \
	TACHO_CHECK(class_##name, name, print)
#define DEFINE_EVENT(tmpl, name, proto, args) __extension__
#define DEFINE_EVENT_PRINT(tmpl, name, proto, args, print) \
	TACHO_CHECK(name, tmpl, print)

/* ---- 7: event ----------------------------------------------------------- */
#elif TACHO_STAGE == 7

/* As in the kernel: TP_printk's text with REC for __entry. */
#define __entry REC

#define DECLARE_EVENT_CLASS(name, proto, args, tstruct, assign, print)	\
	static TACHO_MAYBE_UNUSED					\
	const char tacho_print_##name[] = TACHO_STR print;

#define TACHO_EVENT(name, cls, print)					\
	TACHO_SDT_EVENT struct tacho_event tacho_event_##name = {	\
		sizeof(struct tacho_event), 0, 0,			\
		tacho_state_off, NULL, 0,				\
		sizeof(tacho_fields_##cls) /				\
			sizeof(tacho_fields_##cls[0]) - 1,		\
		TACHO_STR(TRACE_SYSTEM), #name,				\
		tacho_fields_##cls, print, NULL				\
	};								\
	static TACHO_SECTION("tacho_events")				\
	struct tacho_event *tacho_event_pointer_##name = &tacho_event_##name;

#define DEFINE_EVENT(tmpl, name, proto, args) \
	TACHO_EVENT(name, tmpl, tacho_print_##tmpl)
#define DEFINE_EVENT_PRINT(tmpl, name, proto, args, print) \
	TACHO_EVENT(name, tmpl, TACHO_STR print)

#define TRACE_DEFINE_ENUM(a) \
	TACHO_EVAL(TACHO_CAT(tacho_eval_, __COUNTER__), #a, a)
#define TRACE_DEFINE_SIZEOF(a) \
	TACHO_EVAL(TACHO_CAT(tacho_eval_, __COUNTER__), "sizeof(" #a ")", \
		   sizeof(a))
#define TACHO_EVAL(id, text, value)	TACHO_EVAL_(id, text, value)
#define TACHO_EVAL_(id, text, value)					\
	static const struct tacho_event_eval id = {			\
		TACHO_STR(TRACE_SYSTEM), text, (int64_t)(value)		\
	};								\
	static TACHO_SECTION("tacho_evals")				\
	const struct tacho_event_eval *id##_pointer = &id;

#endif
