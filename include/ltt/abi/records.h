/* SPDX-License-Identifier: MIT */
/*
 * ltt/abi/records.h - the structs after the header word of an LTT 2.3 record.
 *
 * Read twice by <ltt/events.h>, once for each flavour; not for others.  It has set
 *
 *	LTT_STRUCT(name)	the struct's name in this flavour
 *	LTT_PTR			a number as wide as the traced machine's pointers
 *	LTT_PTR_ALIGN, LTT_END	attributes of such a member, and of the struct
 *
 * No include guard, on purpose.
 */
#ifndef LTT_STRUCT
#error "include <ltt/events.h>"
#endif

/* Behind the first BUFFER_START of a file: what trace this is. */
struct LTT_STRUCT(trace_start) {
	uint32_t MagicNumber;	/* TRACER_MAGIC_NUMBER: also shows the byte order */
	uint32_t ArchType;	/* TRACE_ARCH_TYPE_ */
	uint32_t ArchVariant;	/* TRACE_ARCH_VARIANT_ */
	uint32_t SystemType;	/* TRACE_SYS_TYPE_ */
	uint32_t BufferSize;	/* bytes from one BUFFER_START to the next */
	uint8_t MajorVersion;	/* 2 */
	uint8_t MinorVersion;	/* 3 */
	uint8_t UseTSC;		/* header words count cycles; 0: microseconds */
	uint8_t CPUID;		/* the CPU of all records of the file */
	uint8_t FlightRecorder;	/* a snapshot of a ring that was overwritten */
	trace_event_mask EventMask LTT_MASK_ALIGN;
	trace_event_mask DetailsMask LTT_MASK_ALIGN;
} LTT_END;

struct LTT_STRUCT(trace_syscall_entry) {
	uint8_t syscall_id;
	LTT_PTR address LTT_PTR_ALIGN;	/* in the program, of the call */
} LTT_END;

struct LTT_STRUCT(trace_trap_entry) {
	uint16_t trap_id;
	LTT_PTR address LTT_PTR_ALIGN;	/* of the instruction that trapped */
} LTT_END;

struct LTT_STRUCT(trace_trap_entry_s390) {
	uint64_t trap_id;
	LTT_PTR address LTT_PTR_ALIGN;
} LTT_END;

struct LTT_STRUCT(trace_irq_entry) {
	uint8_t irq_id;
	uint8_t kernel;		/* 1: it interrupted the kernel, 0: a program */
} LTT_END;

struct LTT_STRUCT(trace_schedchange) {
	uint32_t out;		/* pid that stops */
	uint32_t in;		/* pid that is switched to */
	uint32_t out_state;	/* state of the one that stops; 0: it could go on */
} LTT_END;

struct LTT_STRUCT(trace_soft_irq) {
	LTT_PTR event_data;	/* number, or address of the tasklet's function */
} LTT_END;

struct LTT_STRUCT(trace_process) {
	uint32_t event_data1;	/* pid; SIGNAL: the signal */
	LTT_PTR event_data2 LTT_PTR_ALIGN;
} LTT_END;

/* EXEC and OPEN: event_data2 bytes of a name follow, without a NUL. */
struct LTT_STRUCT(trace_file_system) {
	uint32_t event_data1;	/* descriptor */
	uint32_t event_data2;
} LTT_END;

struct LTT_STRUCT(trace_timer) {
	uint8_t event_sdata;
	uint32_t event_data1;
	uint32_t event_data2;
} LTT_END;

struct LTT_STRUCT(trace_memory) {
	LTT_PTR event_data;	/* order, or address */
} LTT_END;

struct LTT_STRUCT(trace_socket) {
	uint32_t event_data1;
	LTT_PTR event_data2 LTT_PTR_ALIGN;
} LTT_END;

struct LTT_STRUCT(trace_ipc) {
	uint32_t event_data1;
	LTT_PTR event_data2 LTT_PTR_ALIGN;
} LTT_END;

struct LTT_STRUCT(trace_network) {
	uint32_t event_data;	/* protocol, in network order */
} LTT_END;

struct LTT_STRUCT(trace_buffer_start) {
	trace_timeval_32 Time;
	uint32_t TSC;		/* 0 when UseTSC is */
	uint32_t ID;		/* counts the buffers of a file from 0 */
} LTT_END;

struct LTT_STRUCT(trace_buffer_end) {
	trace_timeval_32 Time;
	uint32_t TSC;
} LTT_END;

/* All strings end in a NUL. */
struct LTT_STRUCT(trace_new_event) {
	uint32_t id;			/* what CUSTOM records of it say */
	char type[CUSTOM_EVENT_TYPE_STR_LEN];
	char desc[CUSTOM_EVENT_DESC_STR_LEN];
	uint32_t format_type;		/* CUSTOM_EVENT_FORMAT_TYPE_ */
	char form[CUSTOM_EVENT_FORM_STR_LEN];
} LTT_END;

/* data_size bytes follow. */
struct LTT_STRUCT(trace_custom) {
	uint32_t id;
	uint32_t data_size;
} LTT_END;

struct LTT_STRUCT(trace_change_mask) {
	trace_event_mask mask;
} LTT_END;

#undef LTT_STRUCT
#undef LTT_PTR
#undef LTT_PTR_ALIGN
#undef LTT_MASK_ALIGN
#undef LTT_END
