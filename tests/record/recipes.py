# SPDX-License-Identifier: MIT
"""tacho recipe: what each one says of a program and the kernel under it is what is
computed here from the same trace's events; also of a trace that has other events for
the same question."""
import shlex
from collections import Counter, defaultdict

from rec import *

SHOP = os.environ["SHOP"]
KERNEL = ("sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup",
          "sched:sched_wakeup_new", "sched:sched_migrate_task", "raw_syscalls:*",
          "syscalls:sys_*_write", "syscalls:sys_*_fdatasync", "syscalls:sys_*_openat",
          "block:block_rq_issue", "block:block_rq_complete", "kmem:kmalloc")
# the same questions, without what the first variants of the recipes need
LEAN = "marker:*,sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new," \
       "sched:sched_migrate_task,syscalls:*,block:*,kmem:*"
SLACK = 2       # ns: a report's time is rounded, twice per interval


def record():
    """One trace of the shop, and its lean copy."""
    need_tracefs()
    kernel = []
    for e in KERNEL:
        kernel += ["-k", e]
    tacho("record", "-o", "t", "--no-kallsyms", "-b", "16M", "-e", "*:*", *kernel,
          "--", SHOP, "--seconds", "1", "--folder", ".")
    tacho("convert", "t", "-o", "lean", "-e", LEAN)
    return [list_events(p) for p in ("t", "lean")]


def list_events(path):
    out = tacho("report", "-F", "json", path).out
    return [e for e in map(json.loads, out.splitlines()) if "event" in e]


def number(v):
    if isinstance(v, dict):
        return v["value"] if "value" in v else v["low"]
    return v


def recipe(name, path, **more):
    return json.loads(tacho("recipe", "run", "--json", name, path, **more).out)


def check_sums(h, key, want):
    """want: {key: [ns]}: the hits of each key exactly, the sums of lat nearly."""
    got = {number(e["key"][key]): (e["hitcount"], number(e["values"]["lat"]))
           for e in h["entries"]}
    assert {k: n for k, (n, _) in got.items()} == {k: len(v) for k, v in want.items()}
    for k, (n, lat) in got.items():
        assert abs(lat - sum(want[k])) <= SLACK * n, (k, lat, sum(want[k]))


def check_table(h, key, want):
    """want: {key: [ns]}; the table is of microseconds, of the clock's own rounding."""
    def rank(v, q):
        return sorted(v)[max(1, -(-len(v) * q // 100)) - 1]
    got = {number(g["key"][key]): g for g in h["groups"]}
    assert set(got) == set(want), (set(got) ^ set(want))
    for k, g in got.items():
        assert g["hitcount"] == len(want[k]), (k, g, len(want[k]))
        for n, q in ("p50", 50), ("p99", 99), ("max", 100):
            assert abs(g[n] - rank(want[k], q) // 1000) <= 1, (k, g, n)
    order = [g["max"] for g in h["groups"]]
    assert order == sorted(order, reverse=True)


def log2_counts(values):
    """As .log2: the class of v is the power of two that v does not exceed."""
    return Counter(max(0, (v - 1).bit_length()) for v in values)


def check_log2(h, key, values):
    """Hits by powers of two; a value beside a border may be rounded over it."""
    want, near = log2_counts(values), Counter()
    for v in values:
        for w in range(v - SLACK, v + SLACK + 1):
            if log2_counts([w]) != log2_counts([v]):
                near[max(0, (v - 1).bit_length())] += 1
    assert h["hits"] == len(values), (h["hits"], len(values))
    assert sum(e["hitcount"] for e in h["entries"]) == len(values)
    got = Counter()
    for e in h["entries"]:
        got[max(0, (e["key"][key]["high"] - 1).bit_length())] = e["hitcount"]
    slack = sum(near.values())
    for k in set(got) | set(want):
        assert abs(got[k] - want[k]) <= slack, (k, got, want)


def paired(evs, begins, ends):
    """{key: (end event, ns)} for each end whose key began; both give a key or None."""
    open_at, out = {}, []
    for e in evs:
        k = ends(e)
        if k is not None and k in open_at:
            out.append((e, e["time"] - open_at.pop(k)))
        k = begins(e)
        if k is not None:
            open_at[k] = e["time"]
    return out


def named(event, *fields):
    """The key of an event of that name, made of fields."""
    def key(e):
        if e["event"] != event:
            return None
        return tuple(e["pid"] if f == "common_pid" else e["fields"][f] for f in fields)
    return key


def woken(evs, wake):
    return paired(evs, named(wake, "pid"), named("sched_switch", "next_pid"))


def test_recipes():
    """each recipe against Python, on what it needs and on what stands in for it"""
    full, lean = record()
    names = Counter(e["event"] for e in full)
    assert names["sched_waking"] and names["sys_enter"] and names["begin"], names
    assert not {e["event"] for e in lean} & {"sched_waking", "sys_enter", "order_done"}
    run = set()

    def ask(name, path, says):
        run.add(name)
        h = recipe(name, path)
        shown = tacho("recipe", "run", name, path, says=says)
        assert shown.out, name
        return h

    for evs, path, wake in (full, "t", "sched_waking"), (lean, "lean", "sched_wakeup"):
        lats = woken(evs, wake)
        assert len(lats) > 20, (path, len(lats))
        check_log2(ask("sched-latency", path, wake), "lat", [ns for _, ns in lats])
        want = defaultdict(list)
        for e, ns in lats:
            want[e["fields"]["next_comm"]].append(ns)
        check_table(ask("sched-latency-by-thread", path, wake), "comm", want)

    for evs, path in (full, "t"), (lean, "lean"):
        if path == "t":
            calls = [(number(e["fields"]["id"]), ns) for e, ns in
                     paired(evs, named("sys_enter", "common_pid"),
                            named("sys_exit", "common_pid"))]
        else:
            calls = [(number(e["fields"]["__syscall_nr"]), ns)
                     for nr in ("write", "fdatasync", "openat") for e, ns in
                     paired(evs, named("sys_enter_" + nr, "common_pid"),
                            named("sys_exit_" + nr, "common_pid"))]
        want = defaultdict(list)
        for nr, ns in calls:
            want[nr].append(ns)
        assert 1 in want and 75 in want, sorted(want)   # write, fdatasync of x86-64
        says = "sys_enter_NAME" if path == "lean" else "sys_enter "
        check_sums(ask("syscall-latency", path, says), "id", want)
        check_table(ask("syscall-latency-by-name", path, says), "id", want)

    disk = paired(full, named("block_rq_issue", "dev", "sector"),
                  named("block_rq_complete", "dev", "sector"))
    if disk:
        check_log2(ask("block-latency", "t", "block_rq_issue"), "lat",
                   [ns for _, ns in disk])
    run.add("block-latency")

    want = defaultdict(list)
    for e, ns in paired(full, lambda e: named("sched_switch", "prev_pid")(e)
                        if e["fields"].get("prev_pid") else None,
                        lambda e: named("sched_switch", "next_pid")(e)
                        if e["fields"].get("next_pid") else None):
        want[e["fields"]["next_comm"]].append(ns)
    check_sums(ask("off-cpu", "t", "switched out"), "comm", want)

    h = ask("run-queue", "t", "run or wait")
    switches = [e for e in full if e["event"] == "sched_switch"]
    for cpu in {e["cpu"] for e in switches}:
        ns = sum(number(e["values"]["ns"]) for e in h["entries"] if e["key"]["cpu"] == cpu)
        assert 0 < ns <= full[-1]["time"] - full[0]["time"], (cpu, ns)

    kmalloc = [e["fields"] for e in full if e["event"] == "kmalloc"]
    h = ask("alloc-size", "t", "kmalloc")
    assert Counter({(e["key"]["bytes_req"]["high"] - 1).bit_length(): e["hitcount"]
                    for e in h["entries"]}) == log2_counts(
                        f["bytes_req"] for f in kmalloc)
    h = ask("alloc-site", "t", "calling function")
    assert h["hits"] == len(kmalloc)
    assert sum(number(e["values"]["bytes_alloc"]) for e in h["entries"]) == \
        sum(f["bytes_alloc"] for f in kmalloc)

    want = defaultdict(list)
    for e, ns in paired(full, named("begin", "common_pid", "name"),
                        named("end", "common_pid", "name")):
        want[e["fields"]["name"]].append(ns)
    assert "order" in want, sorted(want)
    check_sums(ask("span-time", "t", "TACHO_BEGIN"), "name", want)

    every = {r["name"] for r in json.loads(tacho("recipe", "list", "--json").out)}
    assert run == every, "not run: %s" % (every - run)


def test_show():
    """show prints the command that run runs"""
    record()
    for path in "t", "lean":
        for r in json.loads(tacho("recipe", "list", "--json").out):
            shown = tacho("recipe", "show", r["name"], path).out
            argv = shlex.split(shown.replace("\\\n", ""), comments=True)
            assert argv[:2] == ["tacho", "hist"], argv
            assert "sys_enter_*)" not in shown, shown
            shown = tacho("hist", "--json", path, *argv[2:], ok=None)
            ran = tacho("recipe", "run", "--json", r["name"], path, ok=shown.status)
            assert shown.out == ran.out, r["name"]
            # where files are in memory, no disk has anything to do
            assert not shown.status or "block" in r["name"], shown
    shown = tacho("recipe", "show", "syscall-latency").out
    assert "raw_syscalls:sys_enter" in shown, shown


def test_missing():
    """a trace that has none of the events says which"""
    p = recorder("-o", "p")
    finish(start(TRACED, "hit 3"))
    stop(p)
    tacho("recipe", "run", "sched-latency", "p", ok=1, says="sched:sched_waking")
    tacho("recipe", "run", "syscall-latency", "p", ok=1, says="raw_syscalls:sys_enter")
    tacho("recipe", "run", "span-time", "p", ok=1, says="marker:begin")


run(globals())
