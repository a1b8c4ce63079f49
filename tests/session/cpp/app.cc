// SPDX-License-Identifier: MIT
// All public headers in one C++17 program: it records itself and reads that back.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

#include <tacho/columns.h>
#include <tacho/events.h>
#include <tacho/marker.h>
#include <tacho/printk.h>
#include <tacho/session.h>
#include <tacho/stream.h>

#define CREATE_TRACE_POINTS
#include "app_trace.h"

namespace {

struct closer {
	void operator()(tacho_ctl *ctl) const { tacho_ctl_destroy(ctl, nullptr); }
	void operator()(tacho_stream *s) const { tacho_stream_close(s); }
	void operator()(tacho_ctl_recording *r) const { tacho_ctl_recording_close(r, nullptr); }
};

using session = std::unique_ptr<tacho_ctl, closer>;
using stream = std::unique_ptr<tacho_stream, closer>;
using recording = std::unique_ptr<tacho_ctl_recording, closer>;

[[noreturn]] void fail(const char *what, const tacho_error &error)
{
	std::fprintf(stderr, "%s: %s\n", what, error.text);
	std::exit(1);
}

session create(const std::string &name)
{
	tacho_ctl_config config;
	tacho_error error;
	tacho_ctl *ctl;

	tacho_ctl_config_init(&config);
	config.name = name.c_str();
	config.buffer_size = 1 << 20;
	if (tacho_ctl_create(&ctl, &config, &error) < 0)
		fail("create", error);
	return session(ctl);
}

void work()
{
	TACHO_SPAN("work");

	for (int i = 0; i < 3; i++)
		trace_step(i, "c++");
	TACHO_COUNTER("steps", 3);
	TACHO_MARK("all done");
	tacho_printk("%d steps", 3);
}

bool work_on_synthetic()
{
	const synth_field_desc fields[] = { { "u64", "value" }, { "char[16]", "text" } };
	trace_event_file *file;
	bool good;

	if (synth_event_create("made", fields, 2, THIS_MODULE))
		return false;
	file = trace_get_event_file(nullptr, "synthetic", "made");
	good = !IS_ERR(file) &&
	       !synth_event_trace(file, 2, u64(42), u64(reinterpret_cast<uintptr_t>("text")));
	trace_put_event_file(file);
	/* a session has it enabled */
	return good && synth_event_delete("made") == -EBUSY;
}

std::vector<std::string> read(const std::string &trace)
{
	std::vector<std::string> lines;
	tacho_stream *raw;
	tacho_error error;
	tacho_record r;

	if (tacho_stream_open(&raw, trace.c_str(), 0, &error) < 0)
		fail("read", error);
	stream s(raw);
	while (tacho_stream_next(s.get(), &r) == TACHO_STREAM_RECORD) {
		tacho_field_info info;
		char text[256];
		bool flags_ok = true;

		for (uint32_t i = 0; auto *f = tacho_type_field_at(r.type, i); i++)
			flags_ok &= !tacho_type_field_info(r.type, f, &info);
		tacho_record_text(s.get(), &r, text, sizeof(text));
		if (flags_ok)
			lines.push_back(std::string(tacho_type_system(r.type)) + ":" +
					tacho_type_name(r.type) + " " + text);
	}
	return lines;
}

std::vector<std::string> rows(tacho_ctl *ctl)
{
	std::vector<std::string> found;
	int err = tacho_ctl_each_hist(ctl, TACHO_CTL_PROGRAMS, nullptr,
				      [](tacho_ctl_hist *hist, void *arg) {
		auto &to = *static_cast<std::vector<std::string> *>(arg);
		tacho_ctl_hist_column column;
		tacho_ctl_hist_info info;
		tacho_ctl_hist_cell cell;

		if (tacho_ctl_hist_get_info(hist, &info) < 0)
			return 1;
		for (uint32_t row = 0; row < info.nr_rows; row++) {
			std::string line;

			for (uint32_t i = 0; !tacho_ctl_hist_get_column(hist, i, &column); i++)
				if (!tacho_ctl_hist_get_cell(hist, row, i, &cell))
					line += std::string(column.name) + "=" + cell.text + " ";
			to.push_back(line);
		}
		return 0;
	}, &found);

	if (err)
		fail("histograms", *tacho_ctl_error(ctl));
	return found;
}

/* Records a few steps continuously; how many are in the trace. */
uint64_t record(const std::string &trace)
{
	const char *const events[] = { "app:*" };
	tacho_ctl_recording_config config;
	tacho_ctl_recording_status status;
	tacho_ctl_recording *raw;
	tacho_error error;

	tacho_ctl_recording_config_init(&config);
	config.output = trace.c_str();
	config.events = events;
	config.nr_events = 1;
	config.buffer_size = 1 << 20;
	if (tacho_ctl_recording_open(&raw, &config, &error) < 0)
		fail("prepare", error);
	recording rec(raw);
	if (tacho_ctl_recording_start(rec.get()) < 0)
		fail("start", *tacho_ctl_recording_error(rec.get()));
	trace_step(1, "recorded");
	trace_step(2, "recorded");
	tacho_ctl_recording_stop(rec.get());
	if (tacho_ctl_recording_run(rec.get()) < 0 || tacho_ctl_recording_finish(rec.get()) < 0 ||
	    tacho_ctl_recording_get_status(rec.get(), &status) < 0)
		fail("record", *tacho_ctl_recording_error(rec.get()));
	return status.events;
}

/* The same events as columns: how many rows. */
long batches(const std::string &trace)
{
	tacho_columns_config config;
	ArrowArrayStream columns;
	tacho_error error;
	ArrowArray batch;
	long n = 0;

	tacho_columns_config_init(&config);
	if (tacho_columns_open(&columns, trace.c_str(), &config, &error) < 0)
		fail("columns", error);
	while (!columns.get_next(&columns, &batch) && batch.release) {
		n += long(batch.length);
		batch.release(&batch);
	}
	columns.release(&columns);
	return n;
}

} // namespace

int main(int argc, char **argv)
{
	session ctl = create("cpp-" + std::to_string(getpid()));
	tacho_ctl_status status;

	if (argc < 2 ||
	    tacho_ctl_enable(ctl.get(), TACHO_CTL_PROGRAMS, "*:*", nullptr) < 0 ||
	    tacho_ctl_filter(ctl.get(), TACHO_CTL_PROGRAMS, "app:step", "number != 1", nullptr) < 0 ||
	    tacho_ctl_trigger(ctl.get(), TACHO_CTL_PROGRAMS, "app:step", "hist:keys=number",
			      nullptr) < 0)
		fail("choose", *tacho_ctl_error(ctl.get()));
	work();
	if (!work_on_synthetic())
		return 2;
	if (tacho_ctl_get_status(ctl.get(), &status) < 0 ||
	    tacho_ctl_snapshot(ctl.get(), argv[1], nullptr) < 0)
		fail("snapshot", *tacho_ctl_error(ctl.get()));
	const auto lines = read(argv[1]);
	for (const auto &line : lines)
		std::puts(line.c_str());
	std::printf("lines - rows = %ld\n", long(lines.size()) - batches(argv[1]));
	std::printf("attempted - written - discarded = %d\n",
		    int(status.programs.attempted - status.programs.written -
			status.programs.discarded));
	for (const auto &row : rows(ctl.get()))
		std::printf("row %s\n", row.c_str());
	std::printf("recorded %d\n", int(record(std::string(argv[1]) + ".recorded")));
	return 0;
}
