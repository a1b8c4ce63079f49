// SPDX-License-Identifier: MIT
#include "fmt/ltt/sidecar.h"

#include "base/scan.h"
#include "fmt/ltt/read.h"

#include <errno.h>
#include <string.h>

#define PATH_ROOM	4096u
#define TABLE_MAX	((size_t)64 << 20)

/* "dir/x.3.ltt" and "dir/x.ltt" have "dir/x" in common. */
void tacho_ltt_sidecar_path(const char *ltt, const char *extension,
			    struct tacho_buf *path)
{
	const char *slash = strrchr(ltt, '/'), *name = slash ? slash + 1 : ltt;
	const char *end = strrchr(name, '.'), *number;

	if (!end)
		end = name + strlen(name);
	for (number = end; number > name && number[-1] >= '0' && number[-1] <= '9';)
		number--;
	if (number < end && number > name && number[-1] == '.')
		end = number - 1;
	tacho_buf_put(path, ltt, (size_t)(end - ltt));
	tacho_buf_printf(path, ".%s", extension);
}

static int read_sidecar(const char *ltt, const char *extension, struct tacho_buf *out)
{
	struct tacho_buf path;
	int err;

	tacho_buf_init(&path, PATH_ROOM);
	tacho_ltt_sidecar_path(ltt, extension, &path);
	err = tacho_buf_error(&path);
	if (!err)
		err = tacho_buf_read_file(out, tacho_buf_str(&path));
	tacho_buf_release(&path);
	return err;
}

int tacho_ltt_sidecar_text(const char *ltt, const char *name, struct tacho_buf *out)
{
	return read_sidecar(ltt, name, out);
}

/* "PID: 7; PPID: 1; NAME: text": our facts know no parents. */
static int take_process(struct tacho_facts *f, char *line)
{
	char *name = strstr(line, "; NAME: ");
	const char *digits = line + 5;
	uint64_t pid;

	if (strncmp(line, "PID: ", 5) || !name ||
	    tacho_scan_digits(&digits, NULL, 10, INT32_MAX, &pid))
		return 0;
	return tacho_facts_add_task(f, (int32_t)pid, (int32_t)pid, name + 8,
				    strlen(name + 8));
}

/* "PID TGID COMM" */
static int take_task(struct tacho_facts *f, const char *at)
{
	uint64_t pid, tgid;

	if (tacho_scan_digits(&at, NULL, 10, INT32_MAX, &pid) || *at++ != ' ' ||
	    tacho_scan_digits(&at, NULL, 10, INT32_MAX, &tgid) || *at++ != ' ')
		return 0;
	return tacho_facts_add_task(f, (int32_t)pid, (int32_t)tgid, at, strlen(at));
}

static int take_fact(struct tacho_facts *f, char *line)
{
	char *name = line + 4, *value;

	if (!strncmp(line, "task ", 5))
		return take_task(f, line + 5);
	if (strncmp(line, "env ", 4))
		return 0;
	value = strchr(name, ' ');
	if (!value)
		return 0;
	return tacho_facts_set(f, name, (size_t)(value - name), value + 1,
			       strlen(value + 1));
}

/* Takes the text apart. */
static int each_line(struct tacho_buf *text, struct tacho_facts *f,
		     int (*take)(struct tacho_facts *, char *))
{
	char *line, *save = NULL;
	int err = 0;

	tacho_buf_putc(text, '\0');
	if (tacho_buf_error(text))
		return tacho_buf_error(text);
	line = strtok_r(text->data, "\n", &save);
	for (; line && !err; line = strtok_r(NULL, "\n", &save))
		err = take(f, line);
	return err;
}

static int take_lines(const char *ltt, const char *extension, struct tacho_facts *f,
		      int (*take)(struct tacho_facts *, char *))
{
	struct tacho_buf text;
	int err;

	tacho_buf_init(&text, TABLE_MAX);
	err = read_sidecar(ltt, extension, &text);
	if (!err)
		err = each_line(&text, f, take);
	tacho_buf_release(&text);
	/* there need not be such a file, or a useful one */
	return err == -ENOENT || err == -EOVERFLOW ? 0 : err;
}

int tacho_ltt_read_proc(const char *path, struct tacho_facts *facts)
{
	struct tacho_buf text;
	int err;

	tacho_buf_init(&text, TABLE_MAX);
	err = tacho_buf_read_file(&text, path);
	if (!err)
		err = each_line(&text, facts, take_process);
	tacho_buf_release(&text);
	return err;
}

int tacho_ltt_sidecar_read(const char *ltt, struct tacho_facts *facts)
{
	int err = take_lines(ltt, "proc", facts, take_process);

	return err ? err : take_lines(ltt, "facts", facts, take_fact);
}
