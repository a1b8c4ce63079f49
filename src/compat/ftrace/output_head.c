// SPDX-License-Identifier: MIT
/* The comment lines at the head of `trace`. */
#include "compat/ftrace/output.h"

static void latency_facts(const struct tacho_output_head *h,
			  struct tacho_buf *out)
{
	tacho_buf_printf(out, "# %s latency trace v1.1.5 on %s\n", h->tracer,
			 h->release);
	tacho_buf_puts(out, "# -----------------------------------"
			    "---------------------------------\n");
	tacho_buf_printf(out, "# latency: 0 us, #%llu/%llu, CPU#%u | (M:%s "
			 "VP:0, KP:0, SP:0 HP:0 #P:%u)\n",
			 (unsigned long long)h->entries,
			 (unsigned long long)h->written, h->cpu, h->preempt,
			 h->cpus);
	tacho_buf_puts(out, "#    -----------------\n"
			    "#    | task: -0 (uid:0 nice:0 policy:0 rt_prio:0)\n"
			    "#    -----------------\n"
			    "#\n");
}

static void latency_legend(struct tacho_buf *out)
{
	tacho_buf_puts(out,
		"#                    _------=> CPU#            \n"
		"#                   / _-----=> irqs-off/BH-disabled\n"
		"#                  | / _----=> need-resched    \n"
		"#                  || / _---=> hardirq/softirq \n"
		"#                  ||| / _--=> preempt-depth   \n"
		"#                  |||| / _-=> migrate-disable \n"
		"#                  ||||| /     delay           \n"
		"#  cmd     pid     |||||| time  |   caller     \n"
		"#     \\   /        ||||||  \\    |    /       \n");
}

static void event_counts(const struct tacho_output_head *h,
			 struct tacho_buf *out)
{
	tacho_buf_printf(out,
		"# entries-in-buffer/entries-written: %llu/%llu   #P:%u\n#\n",
		(unsigned long long)h->entries, (unsigned long long)h->written,
		h->cpus);
}

static void legend(bool tgid, struct tacho_buf *out)
{
	tacho_buf_printf(out,
		"#           TASK-PID    %s CPU#     TIMESTAMP  FUNCTION\n"
		"#              | |      %s   |         |         |\n",
		tgid ? "   TGID   " : "", tgid ? "     |    " : "");
}

static void legend_irq(bool tgid, struct tacho_buf *out)
{
	static const struct {
		const char *left, *fill, *right;
	} line[] = {
		{ "#                            ", "            ", "  _-----=> irqs-off/BH-disabled\n" },
		{ "#                            ", "            ", " / _----=> need-resched\n" },
		{ "#                            ", "            ", "| / _---=> hardirq/softirq\n" },
		{ "#                            ", "            ", "|| / _--=> preempt-depth\n" },
		{ "#                            ", "            ", "||| / _-=> migrate-disable\n" },
		{ "#                            ", "            ", "|||| /     delay\n" },
		{ "#           TASK-PID  ", "     TGID   ", " CPU#  |||||  TIMESTAMP  FUNCTION\n" },
		{ "#              | |    ", "       |    ", "   |   |||||     |         |\n" },
	};

	for (size_t i = 0; i < TACHO_ARRAY_SIZE(line); i++) {
		tacho_buf_puts(out, line[i].left);
		tacho_buf_put(out, line[i].fill, tgid ? 12 : 2);
		tacho_buf_puts(out, line[i].right);
	}
}

void tacho_output_header(const struct tacho_output_head *head,
			 const struct tacho_output_options *options,
			 struct tacho_buf *out)
{
	tacho_buf_printf(out, "# tracer: %s\n#\n", head->tracer);
	if (!options->context_info)
		return;
	if (options->latency_format) {
		if (head->empty)
			return;
		latency_facts(head, out);
		if (!options->verbose)
			latency_legend(out);
		return;
	}
	if (options->verbose)
		return;
	event_counts(head, out);
	if (options->irq_info)
		legend_irq(options->record_tgid, out);
	else
		legend(options->record_tgid, out);
}
