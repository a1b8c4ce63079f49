# SPDX-License-Identifier: MIT
"""tacho recipe: what each one says of a program and the kernel under it is what is
computed here from the same trace's events; also of a trace that has other events for
the same question.  Both ways of a recipe are asked: the events', which is that of what goes
on, and the model's, which is that of traces; they agree."""
import shlex
from collections import Counter, defaultdict

from rec import *

SHOP = os.environ["SHOP"]
KERNEL = ("sched:sched_switch", "sched:sched_waking", "sched:sched_wakeup",
          "sched:sched_wakeup_new", "sched:sched_migrate_task", "raw_syscalls:*",
          "syscalls:sys_*_write", "syscalls:sys_*_fdatasync", "syscalls:sys_*_openat",
          "block:block_rq_issue", "block:block_rq_complete", "kmem:kmalloc",
          "irq:irq_handler_entry", "irq:irq_handler_exit", "irq:softirq_entry",
          "irq:softirq_exit", "lock:contention_begin", "lock:contention_end")
# the same questions, without what the first variants of the recipes need
LEAN = "marker:*,sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new," \
       "sched:sched_migrate_task,syscalls:*,block:*,kmem:*"
SLACK = 2       # ns: a report's time is rounded, twice per interval


def record(read=True):
    """One trace of the shop, and its lean copy; their events if they are to be read."""
    need_tracefs()
    kernel = []
    for e in KERNEL:
        kernel += ["-k", e]
    tacho("record", "-o", "t", "--no-kallsyms", "-b", "16M", "-e", "*:*", *kernel,
          "--", SHOP, "--seconds", "1", "--folder", ".")
    tacho("convert", "t", "-o", "lean", "-e", LEAN)
    return [list_events(p) for p in ("t", "lean")] if read else None


def list_events(path):
    out = tacho("report", "-F", "json", path).out
    return [e for e in map(json.loads, out.splitlines()) if "event" in e]


def number(v):
    if isinstance(v, dict):
        return v["value"] if "value" in v else v["low"]
    return v


def shown(name, path):
    """The arguments of the commands that show prints: the model's, if there is one; the events'."""
    text = tacho("recipe", "show", name, path).out.replace("\\\n", "")
    lines = [shlex.split(x, comments=True) for x in text.splitlines()]
    return [x[2:] for x in lines if x[:2] == ["tacho", "hist"]]


def of_events(name, path, ok=0):
    """What the histograms of events say, as over what goes on."""
    out = tacho("hist", "--json", path, *shown(name, path)[-1], ok=ok).out
    return json.loads(out) if out else None


def recipe(name, path, **more):
    return json.loads(tacho("recipe", "run", "--json", name, path, **more).out)


def check_sums(h, key, want):
    """want: {key: [ns]}: the hits of each key exactly, the sums of dur nearly."""
    got = {number(e["key"][key]): (e["hitcount"], number(e["values"]["dur"]))
           for e in h["entries"]}
    assert {k: n for k, (n, _) in got.items()} == {k: len(v) for k, v in want.items()}
    for k, (n, lat) in got.items():
        assert abs(lat - sum(want[k])) <= SLACK * n, (k, lat, sum(want[k]))


def rank(v, q):
    return sorted(v)[max(1, -(-len(v) * q // 100)) - 1]


def check_table(h, key, want):
    """want: {key: [ns]}; the table is of microseconds, of the clock's own rounding."""
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
        return tuple(e["pid"] if f == "common_pid" else e["cpu"] if f == "cpu" else
                     e["fields"][f] for f in fields)
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
        h = of_events(name, path)
        d = tacho("recipe", "show", name, path)
        assert says in d.out, (name, d.out)
        return h

    for evs, path, wake in (full, "t", "sched_waking"), (lean, "lean", "sched_wakeup"):
        lats = woken(evs, wake)
        assert len(lats) > 20, (path, len(lats))
        check_log2(ask("sched-latency", path, wake), "dur", [ns for _, ns in lats])
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
        check_log2(ask("block-latency", "t", "block_rq_issue"), "dur",
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

    irqs = paired(full, named("irq_handler_entry", "cpu", "irq"),
                  named("irq_handler_exit", "cpu", "irq"))
    assert ask("irq-time", "t", "irq_handler_entry")["hits"] == len(irqs)
    want = defaultdict(list)
    for e, ns in paired(full, named("softirq_entry", "cpu", "vec"),
                        named("softirq_exit", "cpu", "vec")):
        want[number(e["fields"]["vec"])].append(ns)
    assert want
    check_sums(ask("softirq-time", "t", "softirq_entry"), "vec", want)
    locks = paired(full, named("contention_begin", "common_pid", "lock_addr"),
                   named("contention_end", "common_pid", "lock_addr"))
    assert ask("lock-wait", "t", "contention_begin")["hits"] == len(locks)
    want = defaultdict(list)
    for e, ns in paired(full, named("sched_switch", "next_pid"),
                        named("sched_switch", "prev_pid")):
        if e["fields"]["prev_pid"]:
            want[e["fields"]["prev_comm"]].append(ns)
    check_sums(ask("run-time", "t", "switched in"), "comm", want)
    wakes = Counter((e["pid"], e["fields"]["comm"]) for e in full if e["event"] == "sched_waking")
    h = ask("wakers", "t", "sched_waking")
    assert Counter({(number(e["key"]["common_pid"]), e["key"]["comm"]): e["hitcount"]
                    for e in h["entries"]}) == wakes
    h = ask("block-latency-by-device", "t", "block_rq_issue")
    assert h["hits"] == len(disk)

    every = {r["name"] for r in json.loads(tacho("recipe", "list", "--json").out)}
    assert run == every, "not run: %s" % (every - run)


def lives(evs):
    """What threads did, simply: [(comm, "waits" | "off" | "runs", ns)], complete ones only.
    Asleep, waiting and preempted are "off"; kernels that leave out switches from the idle thread
    leave open how long one waited, but not how long it slept."""
    state, since, out = {}, {}, []

    def end(pid, comm, now, then, *whats):
        if state.get(pid) is not None and whats:
            out.extend((comm, what, now - since[pid]) for what in whats)
        state[pid], since[pid] = then, now

    for e in evs:
        f, t = e["fields"], e["time"]
        if e["event"] in ("sched_waking", "sched_wakeup", "sched_wakeup_new"):
            if state.get(f["pid"]) in (None, "asleep"):
                end(f["pid"], f["comm"], t, "woken", "off")
        elif e["event"] == "sched_switch":
            p, n = f["prev_pid"], f["next_pid"]
            if p:
                end(p, f["prev_comm"], t,
                    "asleep" if number(f["prev_state"]) & 0xff else "preempted",
                    *(["runs"] if state.get(p) == "runs" else []))
            if n:
                end(n, f["next_comm"], t, "runs",
                    *{"woken": ("waits", "off"), "preempted": ("off",)}.get(state.get(n), ()))
    return out


def near(got, want, edge):
    """Numbers that differ only by what is open at the ends of the trace, and by threads whose
    switches from the idle thread the kernel leaves out."""
    return abs(got - want) <= edge + want // 20


def test_model():
    """the recipes ask the model of a trace, and it agrees with the events"""
    cpus = os.cpu_count()
    for evs, path in zip(record(), ("t", "lean")):
        said = tacho("recipe", "run", "sched-latency", path, says="from being woken to running")
        assert "event: model:state" in said.out
        did = defaultdict(list)
        for comm, what, ns in lives(evs):
            did[what].append((comm, ns))
        # who runs or was woken before the first events of it is not known in the same way
        slack = 2 * cpus
        h = recipe("sched-latency", path)
        assert near(h["hits"], len(did["waits"]), slack), (h["hits"], len(did["waits"]))
        assert h["hits"] > 20
        h = recipe("sched-latency-by-thread", path)
        want = defaultdict(list)
        for comm, ns in did["waits"]:
            want[comm].append(ns)
        got = {g["key"]["comm"]: g for g in h["groups"]}
        same = [k for k in want if k in got and got[k]["hitcount"] == len(want[k]) and
                all(abs(got[k][n] - rank(want[k], q) // 1000) <= 1
                    for n, q in (("p50", 50), ("p99", 99), ("max", 100)))]
        assert len(same) >= len(want) // 2, (want, got)
        for name, what in ("run-time", "runs"), ("off-cpu", "off"):
            h = recipe(name, path)
            assert near(h["hits"], len(did[what]), 2 * slack), (name, h["hits"], len(did[what]))
            ns = sum(number(e["values"]["dur"]) for e in h["entries"])
            total = sum(ns for _, ns in did[what])
            assert abs(ns - total) <= total // 20, (name, path, ns, total)
    # the same calls, requests, interrupts, waits, spans
    for name, path in (("syscall-latency", "t"), ("syscall-latency", "lean"), ("irq-time", "t"),
                       ("softirq-time", "t"), ("lock-wait", "t"), ("span-time", "t"),
                       ("block-latency", "t"), ("syscall-latency-by-name", "t")):
        a, b = recipe(name, path), of_events(name, path)
        # a thread's last call ends with it: of that, events do not know
        a["hits"] -= sum(e["hitcount"] for e in a.get("entries", a.get("groups"))
                         if e["key"].get("name") in ("exit", "exit_group"))
        # a histogram of a busy disk drops requests when its map has 2,048 of them
        assert near(a["hits"], b["hits"], 2 * cpus) or \
            (name == "lock-wait" and a["hits"] <= b["hits"]) or \
            (name == "block-latency" and a["hits"] >= b["hits"] >= 2000), \
            (name, path, a["hits"], b["hits"])
        if "entries" in a and name != "block-latency":
            sums = [sorted(number(e["values"]["dur"]) for e in h["entries"]) for h in (a, b)]
            # interrupts of an idle CPU wait for locks, too, but no thread does
            assert name == "lock-wait" or \
                abs(sum(sums[0]) - sum(sums[1])) <= max(sum(sums[1]) // 20, 1000), (name, sums)
            assert set(sums[0]) & set(sums[1]) or not sums[1], (name, sums)


def test_systems():
    """one recording in the formats of five systems: the same threads, calls, interrupts"""
    record(read=False)
    asked = {"run-time", "off-cpu", "sched-latency", "irq-time", "syscall-latency", "block-latency",
             "softirq-time", "lock-wait"}
    # of a quiet machine the kernel leaves out switches from the idle thread: the model concludes
    # when a thread ran, a .kev says what was switched
    cannot = {"t.kev": {"syscall-latency", "block-latency", "softirq-time", "lock-wait", "off-cpu",
                        "sched-latency", "run-time"},
              # a record of LTT is of the thread that was switched to, and some switches are not there
              "t.ltt": {"softirq-time", "syscall-latency", "lock-wait"}}
    # each call has one event that begins it, as in those systems
    tacho("convert", "-q", "t", "-o", "raw", "-e", "!syscalls:*")
    want = {}
    for name in sorted(asked):
        out = tacho("recipe", "run", "--json", name, "raw", ok=None).out
        # where nothing else goes on, no disk, device or lock may have anything to do
        assert out or name in ("block-latency", "irq-time", "lock-wait"), name
        if out:
            h = json.loads(out)
            want[name] = h["hits"], sum(e["values"].get("dur", 0) for e in h["entries"])
    for to in "dat", "ltt", "lttfull", "lkst", "kev":
        path = "t." + to
        tacho("convert", "-q", "raw", "-o", path, "--to", to)
        for name in sorted(set(want) - cannot.get(path, set())):
            h = recipe(name, path)
            got = h["hits"], sum(e["values"].get("dur", 0) for e in h["entries"])
            # a .kev has ticks for nanoseconds, and its threads have what they do now
            if path == "t.kev":
                assert near(got[0], want[name][0], 5), (name, path, got, want[name])
                assert near(got[1], want[name][1], 1000), (name, path, got, want[name])
            else:
                assert got == want[name], (name, path, got, want[name])
    for path, name in ("t.kev", "lock-wait"), ("t.kev", "syscall-latency"), ("t.ltt", "softirq-time"):
        tacho("recipe", "run", name, path, ok=1, says="recipe %s needs " % name)
    tacho("recipe", "run", "wakers", "t.kev", ok=1, says="no event that says who wakes a thread")


def test_show():
    """show prints the command that run runs"""
    record(read=False)
    for path in "t", "lean":
        for r in json.loads(tacho("recipe", "list", "--json").out):
            argv = shown(r["name"], path)
            events = r["name"] in ("run-queue", "alloc-size", "alloc-site")
            assert len(argv) == 2 - events, argv
            assert len(shown(r["name"], "kernel")) == 1
            assert not any("sys_enter_*)" in x for x in argv[-1]), argv
            hist = tacho("hist", "--json", path, *argv[0], ok=None)
            ran = tacho("recipe", "run", "--json", r["name"], path, ok=None)
            # what the trace lacks is said by the recipe only
            assert not ran.status or (ran.status == 1 and " needs " in ran.err), ran
            assert ran.status or hist.out == ran.out, r["name"]
    both = tacho("recipe", "show", "syscall-latency").out
    assert "raw_syscalls:sys_enter" in both and "model:slice" in both, both
    assert "model:slice" not in tacho("recipe", "show", "syscall-latency", "kernel").out


def test_missing():
    """a trace that has none of the events says which"""
    p = recorder("-o", "p")
    finish(start(TRACED, "hit 3"))
    stop(p)
    tacho("recipe", "run", "sched-latency", "p", ok=1, says="sched:sched_waking")
    tacho("recipe", "run", "syscall-latency", "p", ok=1, says="raw_syscalls:sys_enter")
    tacho("recipe", "run", "span-time", "p", ok=1, says="TACHO_BEGIN")


run(globals())
