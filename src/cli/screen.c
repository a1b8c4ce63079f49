// SPDX-License-Identifier: MIT
#include "cli/screen.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/cli.h"

#define WIDTH_MIN	40u
#define FRAME_MAX	((size_t)4 << 20)

/* xterm's, which all terminals of today know: alternate screen, no cursor. */
#define ENTER		"\033[?1049h\033[?25l"
#define LEAVE		"\033[?25h\033[?1049l"
#define HOME		"\033[H"
#define REST_OF_LINE	"\033[K"
#define REST_OF_SCREEN	"\033[J"

static bool shown;		/* a picture was shown where there is no screen */
static bool on;			/* the alternate screen */
static volatile sig_atomic_t resized;

static void on_resize(int sig)
{
	(void)sig;
	resized = 1;
}

static bool has_screen(void)
{
	const char *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && term && *term && strcmp(term, "dumb");
}

static int put(const char *text)
{
	struct tacho_buf b;
	int ret;

	tacho_buf_init(&b, 64);
	tacho_buf_puts(&b, text);
	ret = cli_write(&b);
	tacho_buf_release(&b);
	return ret;
}

void cli_screen_begin(void)
{
	struct sigaction sa = { .sa_handler = on_resize, .sa_flags = SA_RESTART };

	shown = false;
	on = has_screen();
	if (!on)
		return;
	(void)sigaction(SIGWINCH, &sa, NULL);
	(void)put(ENTER);
}

void cli_screen_end(void)
{
	bool was = on;

	/* first: put() may fail, and who says so comes here again */
	on = false;
	if (was)
		(void)put(LEAVE);
}

bool cli_screen_resized(void)
{
	bool was = resized;

	resized = 0;
	return was;
}

uint32_t cli_screen_width(void)
{
	struct winsize w;

	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col >= WIDTH_MIN)
		return w.ws_col;
	return 80;
}

/*
 * One line, cut to the columns that there are.  A byte that begins no character
 * takes no column; one that would be a command to the terminal is a '?'.
 */
static void put_line(const char *s, size_t len, uint32_t columns, struct tacho_buf *out)
{
	/* first: behind a full line it would take the last character */
	tacho_buf_puts(out, REST_OF_LINE);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];
		bool inside = (c & 0xc0) == 0x80;

		if (inside && i && out->data[out->len - 1] == '?')
			continue;
		if (!inside && !columns--)
			break;
		/* U+0080 to U+009f are commands, too */
		if (c < ' ' || c == 0x7f ||
		    (c == 0xc2 && i + 1 < len && (unsigned char)s[i + 1] < 0xa0))
			c = '?';
		tacho_buf_putc(out, (char)c);
	}
}

/* As many lines as there are rows; the last row says how many there are not. */
static void put_frame(const struct tacho_buf *picture, const struct winsize *w,
		      struct tacho_buf *out)
{
	const char *s = picture->data, *end = s + picture->len;
	uint32_t row = 0, left = 0;

	tacho_buf_puts(out, HOME);
	for (; s < end; row++) {
		const char *nl = memchr(s, '\n', (size_t)(end - s));
		size_t len = (size_t)((nl ? nl : end) - s);

		if (row + 1 < w->ws_row) {
			put_line(s, len, w->ws_col, out);
			tacho_buf_puts(out, "\r\n");
		} else {
			left++;
		}
		s += len + (nl != NULL);
	}
	if (left)
		tacho_buf_printf(out, REST_OF_LINE "... %u more lines", left);
	tacho_buf_puts(out, REST_OF_SCREEN);
}

static int show_frame(const struct tacho_buf *picture)
{
	struct winsize w;
	struct tacho_buf out;
	int ret;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_row || !w.ws_col)
		w = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	tacho_buf_init(&out, FRAME_MAX);
	put_frame(picture, &w, &out);
	ret = tacho_buf_error(&out) ? cli_fail("out of memory") : cli_write(&out);
	tacho_buf_release(&out);
	return ret;
}

/* Below what was shown before; JSON is a line an object anyway. */
int cli_screen_last(const struct tacho_buf *picture)
{
	int ret = CLI_OK;

	if (shown && picture->len && *picture->data != '{')
		ret = put("\n");
	shown = true;
	return ret == CLI_OK ? cli_write(picture) : ret;
}

int cli_screen_show(const struct tacho_buf *picture)
{
	return on ? show_frame(picture) : cli_screen_last(picture);
}
