// SPDX-License-Identifier: MIT
#include "fmt/kev/header.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fmt/kev/layout.h"

/* A value's bytes: with the longest key and "TRACE_" twice below 99. */
#define VALUE_MAX	60u

#define SYSPAGE		"TRACE_SYSPAGE_LEN::"

/* ---- a new one --------------------------------------------------------------------- */

static void put(struct tacho_buf *b, const char *key, const char *value)
{
	size_t len = value ? strlen(value) : 0;

	if (!len)
		return;
	/* of a long path its end says more */
	if (len > VALUE_MAX)
		value += len - VALUE_MAX;
	tacho_buf_printf(b, TACHO_KEV_PREFIX "%s" TACHO_KEV_POSTFIX, key);
	/* what would end the value is not to stand in it */
	for (const char *p = value; *p; p++)
		tacho_buf_putc(b, p[0] == ':' && p[1] == ':' ? '.' :
				  !strncmp(p, TACHO_KEV_PREFIX,
					   strlen(TACHO_KEV_PREFIX)) ? 't' : *p);
}

static void put_number(struct tacho_buf *b, const char *key, uint64_t value)
{
	tacho_buf_printf(b, TACHO_KEV_PREFIX "%s" TACHO_KEV_POSTFIX "%" PRIu64, key,
			 value);
}

#define YEAR_10000	UINT64_C(253402300800)

/* As ctime() has it, but of no zone's. */
static void put_date(struct tacho_buf *b, const char *key, uint64_t seconds)
{
	time_t t = (time_t)seconds;
	char text[40];
	struct tm tm;

	if (seconds >= YEAR_10000 || !gmtime_r(&t, &tm) ||
	    !strftime(text, sizeof(text), "%a %b %e %H:%M:%S %Y", &tm))
		return;
	put(b, key, text);
}

static void put_attr(struct tacho_buf *b, const char *text)
{
	size_t n = strcspn(text, "=");
	char key[32];

	if (!text[n] || n >= sizeof(key))
		return;
	memcpy(key, text, n);
	key[n] = '\0';
	put(b, key, text + n + 1);
}

void tacho_kev_header_make(struct tacho_buf *b, const struct tacho_kev_about *a)
{
	char release[16];
	size_t n;

	tacho_buf_puts(b, TACHO_KEV_BEGIN);
	put(b, "FILE_NAME", a->file_name);
	put_date(b, "DATE", a->now);
	put(b, "VER_MAJOR", "1");
	put(b, "VER_MINOR", "01");
	put(b, a->big ? "BIG_ENDIAN" : "LITTLE_ENDIAN", "TRUE");
	put(b, "ENCODING", "16 byte events");
	put_date(b, "BOOT_DATE", a->realtime / UINT64_C(1000000000));
	put_number(b, "CYCLES_PER_SEC", a->freq);
	put_number(b, "CPU_NUM", a->cpus < TACHO_KEV_CPUS ? a->cpus : TACHO_KEV_CPUS);
	put(b, "SYSNAME", a->sysname);
	put(b, "NODENAME", a->nodename);
	n = strlen(tacho_kev_release_text(a->release));
	memcpy(release, tacho_kev_release_text(a->release), n);
	memcpy(release + n, ".0", 3);
	put(b, "SYS_RELEASE", release);
	put(b, "SYS_VERSION", a->version);
	put(b, "MACHINE", a->machine);
	put_number(b, "SYSPAGE_LEN", 0);
	put_number(b, "TACHO_REALTIME", a->realtime);
	put(b, "TACHO_THREADS", "tid");
	for (uint32_t i = a->nr_attrs; i-- > 0; )
		put_attr(b, a->attr[i]);
	tacho_buf_puts(b, TACHO_KEV_END);
}

/* ---- one that was ------------------------------------------------------------------- */

static int digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static void decode(struct tacho_buf *out, const char *fact)
{
	for (const char *p = fact; *p; p++) {
		if (p[0] == '\\' && p[1] == 'x' && digit(p[2]) >= 0 && digit(p[3]) >= 0) {
			tacho_buf_putc(out, (char)(digit(p[2]) << 4 | digit(p[3])));
			p += 3;
		} else {
			tacho_buf_putc(out, *p);
		}
	}
}

/* Takes out what SYSPAGE_LEN says, which is 0 now. */
static void no_syspage(struct tacho_buf *out, size_t from)
{
	char *p = memmem(out->data + from, out->len - from, SYSPAGE, strlen(SYSPAGE));
	size_t at, end;

	if (!p)
		return;
	at = (size_t)(p - out->data) + strlen(SYSPAGE);
	end = at;
	while (end < out->len && out->data[end] >= '0' && out->data[end] <= '9')
		end++;
	if (end == at)
		return;
	out->data[at++] = '0';
	memmove(out->data + at, out->data + end, out->len - end);
	out->len -= end - at;
}

static bool has(const struct tacho_buf *b, size_t from, const char *text)
{
	return memmem(b->data + from, b->len - from, text, strlen(text));
}

int tacho_kev_header_again(struct tacho_buf *out, const char *fact, bool syspage,
			   bool *big, enum tacho_kev_release *release)
{
	static const char key[] = "TRACE_SYS_RELEASE::";
	size_t from = out->len, end = strlen(TACHO_KEV_END);
	const char *p;

	decode(out, fact);
	if (tacho_buf_error(out) || out->len - from < end ||
	    !has(out, from, TACHO_KEV_BEGIN) ||
	    memcmp(out->data + out->len - end, TACHO_KEV_END, end))
		return -EINVAL;
	if (!syspage)
		no_syspage(out, from);
	*big = has(out, from, "TRACE_BIG_ENDIAN::");
	*release = TACHO_KEV_710;
	p = memmem(out->data + from, out->len - from, key, strlen(key));
	if (p)
		(void)tacho_kev_release_of(p + strlen(key), (uint32_t)
					   (out->data + out->len - p - strlen(key)),
					   release);
	return 0;
}

int tacho_kev_syspage_again(struct tacho_buf *out, const char *fact)
{
	for (const char *p = fact; *p; p += 2) {
		if (digit(p[0]) < 0 || digit(p[1]) < 0)
			return -EINVAL;
		tacho_buf_putc(out, (char)(digit(p[0]) << 4 | digit(p[1])));
	}
	return tacho_buf_error(out) ? -EINVAL : 0;
}
