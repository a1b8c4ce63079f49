/* SPDX-License-Identifier: MIT */
/* record.h - how the interface reaches the tracepoints (points.c). */
#ifndef TACHO_FACE_LTT_RECORD_H
#define TACHO_FACE_LTT_RECORD_H

#include <stdbool.h>
#include <stdint.h>

/* Whether some session records ltt:new_event. */
bool ltt_new_event_is_on(void);

/* Strings have the lengths of LTT's struct: 20, 100, 256 bytes. */
void ltt_record_new_event(uint32_t id, const char *type, const char *desc,
			  uint32_t format_type, const char *form);
void ltt_record_custom(uint32_t id, uint32_t size, const void *data);
void ltt_record_change_mask(uint64_t mask);

#endif
