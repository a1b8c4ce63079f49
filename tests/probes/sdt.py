# SPDX-License-Identifier: MIT
"""The SDT notes of our own tracepoints: whoever attaches himself counts the semaphore up,
and sees each hit with its arguments; when he is gone the site is off again.

A program and a library that have the same event, built by each compiler there is."""
import errno
import os
import sys

sys.path.insert(0, os.environ["RECORD"])
from rec import *   # noqa: E402

INCLUDE = os.environ["INCLUDE"]
TRACING = "/sys/kernel/tracing"
SYSTEM = "sdt%d" % os.getpid()
GROUP = "tacho_" + SYSTEM

TRACE = """
#undef TRACE_SYSTEM
#define TRACE_SYSTEM %s
#if !defined(NOTE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NOTE_TRACE_H
#include <tacho/tracepoint.h>
TRACE_EVENT(first,
	TP_PROTO(int id, const char *name, unsigned long sum),
	TP_ARGS(id, name, sum),
	TP_STRUCT__entry(__field(int, id) __string(name, name) __field(unsigned long, sum)),
	TP_fast_assign(__entry->id = id; __assign_str(name); __entry->sum = sum;),
	TP_printk("id=%%d name=%%s sum=%%lu", __entry->id, __get_str(name), __entry->sum)
);
#endif
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE note_trace
#include <tacho/define_trace.h>
""" % SYSTEM

LOOP = """
#define CREATE_TRACE_POINTS
#include "note_trace.h"
#include <tacho/marker.h>
static int hits(int from, const char *name)
{
	int on = 0;

	for (int i = from; i < from + 10; i++) {
		on += trace_first_enabled();
		trace_first(i, name, i * 3ul);
		TACHO_MARK(name);
	}
	return on;
}
"""

LIB = LOOP + """
int run(void);
int run(void) { return hits(100, "lib"); }
"""

PROG = LOOP + """
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	int on = hits(0, "prog");
	void *lib = argc > 1 ? dlopen(argv[1], RTLD_NOW) : NULL;
	int (*run)(void) = lib ? (int (*)(void))dlsym(lib, "run") : NULL;

	printf("%d %d\\n", on, run ? run() : -1);
	return 0;
}
"""

WANT = [(i, "prog", 3 * i) for i in range(10)] + \
       [(i, "lib", 3 * i) for i in range(100, 110)]


def built():
    """(program, library) by each compiler, and with link-time optimisation."""
    out = []
    for name, text in (("note_trace.h", TRACE), ("prog.c", PROG), ("lib.c", LIB)):
        with open(name, "w") as f:
            f.write(text)
    for cc, how in (("gcc", "-O2"), ("gcc", "-flto"), ("clang", "-O2")):
        if not shutil.which(cc):
            continue
        p, lib = os.path.abspath(cc + how), os.path.abspath(cc + how + ".so")
        flags = ["-O2", how, "-DTACHO_OPTIONAL", "-I" + INCLUDE, "-I."]
        cmd(cc, *flags, "prog.c", "-o", p, "-ldl")
        cmd(cc, *flags, "-fPIC", "-shared", "lib.c", "-o", lib)
        out.append((p, lib))
    if not out:
        raise Skip("no compiler")
    return out


def need_uprobes():
    need_tracefs()
    if not os.path.exists(TRACING + "/uprobe_events"):
        raise Skip("this kernel has no uprobes")


def need(tool):
    if not shutil.which(tool):
        raise Skip("no " + tool)


def remove_event(event):
    # not open(): it would look for the end of the file, which has none
    fd = os.open(TRACING + "/dynamic_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, ("-:" + event).encode())
    except OSError as e:
        if e.errno != errno.EBUSY:
            raise
        return False
    finally:
        os.close(fd)
    return True


def remove_ours():
    with open(TRACING + "/uprobe_events") as f:
        left = re.findall(r"^p:((?:%s|sdt_%s)/\S+)" % (GROUP, SYSTEM), f.read(), re.M)
    for event in sorted(set(left)):
        # somebody of this machine may have enabled all events for a moment
        until(event + " can be removed", lambda: remove_event(event))


def test_off():
    """nobody is attached: off; each event has one place, with a semaphore in .probes"""
    need("readelf")
    for p, lib in built():
        assert cmd(p, lib).out == "0 0\n"
        for path in (p, lib):
            text = cmd("readelf", "-nW", path).out
            note = text[text.index("Provider: " + SYSTEM):].split("stapsdt")[0]
            at = int(re.search(r"Semaphore: (0x\w+)", note)[1], 16)
            s = re.search(r"\.probes\s+PROGBITS\s+(\w+) \w+ (\w+) 00 +WA",
                          cmd("readelf", "-SW", path).out)
            start = int(s[1], 16)
            assert start <= at < start + int(s[2], 16), (path, note, s[0])
            assert text.count("Provider: " + SYSTEM) == 1, text
            assert re.search(r"Arguments: -4@\S+ 8@\S+ 8@\S+\n", note), note


def test_tacho():
    """tacho probe add: places and arguments, in program and library"""
    need_uprobes()
    for p, lib in built():
        for path, name in ((p, "in_prog"), (lib, "in_lib")):
            tacho("probe", "add", "--group", GROUP, "-x", path, "--name", name,
                  "--args", "id=arg1 name=arg2:string sum=arg3",
                  "sdt:%s:first" % SYSTEM)
        try:
            r = tacho("record", "-q", "-o", "t", "-k", GROUP + ":*", "--", p, lib)
            assert r.out == "10 10\n", r.out
            lines = tacho("report", "-F", "json", "t").out.splitlines()
            fields = [json.loads(line)["fields"] for line in lines]
            seen = [(f["id"], f["name"], f["sum"]) for f in fields]
            assert seen == WANT, seen
        finally:
            remove_ours()
            shutil.rmtree("t", ignore_errors=True)
        assert cmd(p, lib).out == "0 0\n"


def test_perf():
    """perf probe and perf record"""
    need_uprobes()
    need("perf")
    p, lib = built()[0]
    cache = os.path.abspath("cache")
    for path in (p, lib):
        cmd("perf", "--buildid-dir", cache, "buildid-cache", "--add", path)
    d = cmd("perf", "--buildid-dir", cache, "probe", "sdt_%s:first" % SYSTEM)
    if d.status:
        raise Skip("perf probe: " + d.err.strip().split("\n")[-1])
    try:
        cmd("perf", "record", "-q", "-o", "perf.data", "-e", "sdt_%s:*" % SYSTEM, p, lib)
        ids = re.findall(r"arg1=(\d+) ", cmd("perf", "script", "-i", "perf.data").out)
        assert ids == [str(w[0]) for w in WANT], ids
    finally:
        remove_ours()


def test_bpftrace():
    """bpftrace's usdt probes"""
    need_uprobes()
    need("bpftrace")
    p, _ = built()[0]
    show = '{ printf("hit %d %s %d\\n", arg0, str(arg1), arg2); }'
    d = cmd("bpftrace", "-e", "usdt:%s:%s:first %s" % (p, SYSTEM, show), "-c", p)
    seen = re.findall(r"hit (\d+) (\w+) (\d+)", d.out)
    if not seen and d.status:
        raise Skip("bpftrace: " + d.err.strip().split("\n")[-1])
    assert seen == [(str(a), b, str(c)) for a, b, c in WANT[:10]], d


def test_gdb():
    """gdb counts the semaphore, too"""
    need("gdb")
    for p, lib in built():
        d = cmd("gdb", "-nx", "-batch", "-iex", "set debuginfod enabled off",
                "-ex", "break -probe-stap %s:first" % SYSTEM, "-ex", "run",
                "-ex", "print $_probe_argc", "-ex", "print $_probe_arg0",
                "-ex", "print (char *)$_probe_arg1", p)
        if re.search("ptrace|not permitted", d.out + d.err):
            raise Skip("gdb may not run programs here")
        assert "= 3\n" in d.out and "= 0\n" in d.out and '"prog"' in d.out, d


run(globals())
