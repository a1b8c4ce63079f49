// SPDX-License-Identifier: MIT
#include "app/hist_form.h"

#include "base/json.h"
#include "engine/hist_print.h"

bool app_hist_fits(const struct app_hist_form *form, const struct tacho_hist *h,
		   struct tacho_diag *d)
{
	struct tacho_quantiles q = form->quantiles;

	return !q.nr || !tacho_quantiles_by(&q, h, form->by, d);
}

/* "p50=19 max=35980"; nothing of an empty one. */
static void put_quantiles(const struct tacho_quantiles *q, const struct tacho_hist *h,
			  struct tacho_buf *out)
{
	const struct tacho_hist_column *c = tacho_hist_key(h, q->of);
	bool is_signed = c->is_signed && !(hist_view_mods(c) & TACHO_MOD_LOG2);

	for (uint32_t i = 0; i < q->nr; i++) {
		uint64_t v;

		if (!tacho_hist_quantile(h, q->q[i], &v))
			return;
		tacho_quantile_name(q->q[i], out);
		tacho_buf_putc(out, '=');
		hist_view_put_number(v, is_signed, out);
		tacho_buf_putc(out, i + 1 < q->nr ? ' ' : '\n');
	}
}

static int put_text(const struct app_hist_form *form, const struct tacho_hist *h,
		    const struct tacho_names *names, const struct tacho_quantiles *q,
		    struct tacho_buf *out)
{
	const struct tacho_type *type = tacho_hist_type_of(h);
	int err;

	tacho_buf_printf(out, "%s# event: %s:%s\n", out->len ? "\n" : "",
			 type->system, type->name);
	if (q && q->nr_by)
		return tacho_hist_print_quantiles(h, names, q, form->ascii, out);
	if (form->shape == APP_HIST_CHART)
		err = tacho_hist_print_chart(h, names, form->width, form->ascii, out);
	else
		err = tacho_hist_print(h, names, out);
	if (q)
		put_quantiles(q, h, out);
	return err;
}

int app_hist_put(const struct app_hist_form *form, const struct tacho_hist *h,
		 const struct tacho_names *names, struct tacho_buf *out)
{
	struct tacho_quantiles keys = form->quantiles;
	const struct tacho_quantiles *q =
		keys.nr && !tacho_quantiles_by(&keys, h, form->by, NULL) ? &keys : NULL;
	int err;

	if (form->shape != APP_HIST_JSON)
		return put_text(form, h, names, q, out);
	err = tacho_hist_print_json_quantiles(h, names, q, out);
	tacho_buf_putc(out, '\n');
	return err;
}

int app_hist_put_kernel(const struct app_hist_form *form, const char *event, const char *text,
			struct tacho_buf *out)
{
	struct tacho_json j;

	if (form->shape != APP_HIST_JSON) {
		tacho_buf_printf(out, "%s# event: %s\n%s", out->len ? "\n" : "", event, text);
		return tacho_buf_error(out);
	}
	tacho_json_init(&j, out);
	tacho_json_open(&j, '{');
	tacho_json_pair_str(&j, "event", event);
	tacho_json_pair_str(&j, "text", text);
	tacho_json_close(&j, '}');
	tacho_buf_putc(out, '\n');
	return tacho_buf_error(out);
}
