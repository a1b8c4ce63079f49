# SPDX-License-Identifier: MIT
"""hist, recipe and --filter: what the engine answers over a trace is what is
computed here from the same trace's events, printed as JSON."""
import shlex
from collections import Counter, defaultdict

from rec import *


def events(path, *more):
    """The events of a trace, one dict each."""
    out = tacho("report", "-F", "json", *more, path).out
    return [e for e in map(json.loads, out.splitlines()) if "event" in e]


def hist(path, *argv):
    """The entries of the one histogram that is printed."""
    out = tacho("hist", "--json", path, *argv).out
    return json.loads(out)


def plain(v):
    """A number that has a name too, or a range, is an object."""
    if isinstance(v, dict):
        return v["value"] if "value" in v else v["low"]
    return v


def table(h, *keys, value="hitcount"):
    got = {}
    for e in h["entries"]:
        k = tuple(plain(e["key"][x]) for x in keys)
        v = e["hitcount"] if value == "hitcount" else plain(e["values"][value])
        assert k not in got, "twice: %r" % (k,)
        got[k] = v
    return got


def program_trace():
    p = recorder("-o", "t", "-b", "4M")
    finish(start(TRACED, "hit 3000", "mark 5", "other 40"))
    finish(start(TRACED, "hit 1000"))
    stop(p)
    return events("t")


def test_count():
    """keys, values, sort, size and filters against counts made here"""
    evs = [e for e in program_trace() if e["event"] == "hit"]
    assert len(evs) == 4000
    h = hist("t", "-e", "rec:hit", "keys=slot:vals=n:sort=hitcount.descending")
    want = Counter(e["fields"]["slot"] for e in evs)
    sums = defaultdict(int)
    for e in evs:
        sums[e["fields"]["slot"]] += e["fields"]["n"]
    assert table(h, "slot") == {(k,): v for k, v in want.items()}
    assert table(h, "slot", value="n") == {(k,): v for k, v in sums.items()}
    assert [e["hitcount"] for e in h["entries"]] == sorted(want.values())[::-1]
    assert h["hits"] == 4000 and not h["dropped"]
    h = hist("t", "-e", "rec:hit", "keys=n.buckets=100 if n >= 500 && n < 900")
    want = Counter(e["fields"]["n"] // 100 * 100 for e in evs
                   if 500 <= e["fields"]["n"] < 900)
    assert table(h, "n") == {(k,): v for k, v in want.items()}
    h = hist("t", "-e", "rec:hit", "keys=n.log2")
    assert sum(e["hitcount"] for e in h["entries"]) == 4000
    # room for 128 keys only: the rest is counted as dropped
    h = hist("t", "-e", "rec:hit", "keys=n,slot:size=128")
    assert len(h["entries"]) <= 128 and h["dropped"] > 0
    assert sum(e["hitcount"] for e in h["entries"]) + h["dropped"] == 4000


def test_filter():
    """report --filter against the same condition in Python"""
    evs = program_trace()
    cases = (
        ("n < 10", lambda e: e["fields"].get("n", 99999) < 10),
        ("n == 7 || n == 0x10", lambda e: e["fields"].get("n") in (7, 16)),
        ("!(n > 3) && n != 2", lambda e: e["fields"].get("n", 99) <= 3 and
         e["fields"]["n"] != 2),
        ("n & 0x400", lambda e: e["fields"].get("n", 0) & 0x400),
        ("common_pid == %d" % evs[0]["pid"], lambda e: e["pid"] == evs[0]["pid"]),
        ("comm ~ \"trac*\"", lambda e: e["comm"].startswith("trac")),
        ("comm == nobody", lambda e: e["comm"] == "nobody"),
        ("rec:mark/n >= 0", lambda e: e["event"] == "mark"),
    )
    for text, fn in cases:
        got = events("t", "--filter", text)
        want = [e for e in evs if fn(e)]
        assert got == want, "%s: %d, not %d" % (text, len(got), len(want))


def test_errors():
    """what is wrong is said with a caret under it"""
    program_trace()

    def caret(column, *argv):
        d = tacho(*argv, ok=1)
        lines = d.err.rstrip("\n").split("\n")
        assert not d.out and len(lines) == 3, d
        assert lines[2].index("^") - 2 == column, d
        return lines[0]

    assert "Field not found" in caret(8, "report", "t", "--filter", "n<3&&nn==3")
    assert "Couldn't find field" in caret(
        10, "hist", "t", "-e", "rec:hit", "keys=nn")
    caret(17, "hist", "t", "-e", "rec:hit", "hist:keys=n:vals=nn")
    tacho("hist", "t", "-e", "rec:nope", "keys=n", ok=1,
          says="no event of the trace matches 'rec:nope'")
    tacho("hist", "t", "-e", "synthetic:x", "keys=n", ok=1, says="--synth")
    tacho("report", "t", "--filter", "rec:nope/n == 1", ok=1, says="no event")
    for line in ("hist", "hist t", "hist t -e a:b", "hist -e a:b -e c:d keys=x",
                 "hist t u -e a:b keys=x", "hist t -e a:b keys=x --quantiles y",
                 "hist t -e a:b keys=x --duration z", "recipe", "recipe show",
                 "recipe run", "recipe list x", "recipe show a b c"):
        tacho(*line.split(), ok=2)
    tacho("recipe", "show", "nope", ok=1, says="there is no recipe 'nope'")


def quantile(values, q):
    """The smallest value that q percent do not exceed."""
    rank = max(1, -(-len(values) * round(q * 1000) // 100000))
    return sorted(values)[rank - 1]


QUANTILES = (0, 50, 90.5, 99.999, 100)
NAMES = ("p0", "p50", "p90.5", "p99.999", "max")
ASK = ",".join(map(str, QUANTILES))


def groups(h, *keys):
    got = {}
    for g in h["groups"]:
        k = tuple(plain(g["key"][x]) for x in keys)
        assert k not in got, "twice: %r" % (k,)
        got[k] = (g["hitcount"], [g[n] for n in NAMES])
    return got


def want_groups(pairs, end=lambda v: v):
    """[(key, value)] as groups() gives it."""
    values = defaultdict(list)
    for k, v in pairs:
        values[k].append(v)
    return {k: (len(v), [end(quantile(v, q)) for q in QUANTILES])
            for k, v in values.items()}


def range_end(v):
    """Of .log2: up to the next power of two."""
    return 1 << max(v - 1, 0).bit_length() if v else 1


def test_quantiles():
    """quantiles by keys, exact and of ranges, against Python"""
    evs = [e for e in program_trace() if e["event"] == "hit"]
    by = ("--quantiles", ASK, "--by", "slot")
    pairs = [((e["fields"]["slot"],), e["fields"]["n"]) for e in evs]
    h = hist("t", *by, "-e", "rec:hit", "keys=slot,n:size=8192")
    assert h["quantiles"] == {"of": "n", "by": ["slot"], "exact": True}
    assert groups(h, "slot") == want_groups(pairs), h
    assert h["hits"] == 4000 and not h["dropped"]
    h = hist("t", *by, "-e", "rec:hit", "keys=slot,n.log2")
    assert not h["quantiles"]["exact"]
    assert groups(h, "slot") == want_groups(pairs, range_end), h
    h = hist("t", *by, "-e", "rec:hit", "keys=n.buckets=100,slot if n < 2500")
    assert groups(h, "slot") == want_groups(
        [p for p in pairs if p[1] < 2500], lambda v: v // 100 * 100 + 99), h
    h = hist("t", "--quantiles", ASK, "-e", "rec:hit", "keys=n:size=8192")
    every = [n for _, n in pairs]
    assert {n: h["quantiles"][n] for n in NAMES} == dict(
        zip(NAMES, (quantile(every, q) for q in QUANTILES))), h["quantiles"]
    assert len(h["entries"]) == len(set(every))
    # the table, in the order that is asked for, and what is lost is said
    d = tacho("hist", "t", "--quantiles", "50,100", "--by", "slot", "-e",
              "rec:hit", "keys=slot,n:sort=n.descending:size=8192")
    rows = [tuple(map(int, line.split())) for line in d.out.splitlines()[3:]]
    want = want_groups(pairs)
    assert rows == sorted(((k[0], c, v[1], v[4]) for k, (c, v) in want.items()),
                          key=lambda r: -r[3]), d.out
    assert "n by slot: exact" in d.out and "no room" not in d.out
    d = tacho("hist", "t", *by, "-e", "rec:hit", "keys=slot,n:size=128")
    lost = int(re.search(r"without (\d+) hits", d.out).group(1))
    rows = [line.split() for line in d.out.splitlines()[4:]]
    assert lost and sum(int(r[1]) for r in rows) + lost == 4000, d.out


def test_quantiles_wrong():
    """quantiles that cannot be are refused before anything is read"""
    p = recorder("-o", "t")
    finish(start(TRACED, "text 5"))
    stop(p)
    keys = ("-e", "rec:text", "keys=text,common_pid")
    for more, says in (
            (("--by", "common_pid"), "key 'text' is not one"),
            (("--by", "x"), "no key 'x' to group by; it has text, common_pid"),
            (("--by", "text,common_pid"), "2 keys, --by names 2"),
            ((), "key 'text' is not one; see --by")):
        d = tacho("hist", "t", "--quantiles", "50", *more, *keys, ok=1, says=says)
        assert not d.out, d
    tacho("hist", "t", "--by", "text", *keys, ok=2, says="--quantiles LIST")
    tacho("hist", "t", "--by", "text", "--quantiles", "50", "--chart", *keys, ok=2)
    for bad in ("101", "-1", "nan", "x,50", "50 99"):
        tacho("hist", "t", "--quantiles", bad, *keys, ok=2)


def test_quantiles_programs():
    """and of what the programs of a session count by themselves, while they do"""
    tacho("create", "-e", "rec:*", "-b", "1M", "s")
    tacho("trigger", "-s", "s", "rec:hit", "hist:keys=slot,n:size=8192")
    ps = [finish(start(TRACED, "hit %d" % n)) for n in (100, 2500)]
    want = want_groups([((p.pid,), n) for p, many in zip(ps, (100, 2500))
                        for n in range(many)])
    h = json.loads(tacho("hist", "-s", "s", "--json", "--quantiles", ASK, "--by",
                         "slot").out)
    assert groups(h, "slot") == want, h
    d = tacho("hist", "-s", "s", "--quantiles", "50", "--by", "no", ok=1,
              says="no key 'no'")
    assert not d.out
    tacho("destroy", "s")


def latencies(evs):
    """ns from a thread's last sched_waking to its sched_switch."""
    woken, out = {}, []
    for e in evs:
        f = e["fields"]
        if e["event"] == "sched_waking":
            woken[f["pid"]] = e["time"]
        elif e["event"] == "sched_switch":
            t = woken.pop(f["next_pid"], None)
            if t is not None:
                out.append((f["next_comm"], e["time"] - t))
    return out


WAKEUP = ("--synth", "wakeup_latency u64 lat; pid_t pid; char comm[16]",
          "-e", "sched:sched_waking", "keys=pid:ts0=common_timestamp",
          "-e", "sched:sched_switch",
          "keys=next_pid:lat=common_timestamp-$ts0:"
          "onmatch(sched.sched_waking).trace(wakeup_latency,$lat,next_pid,next_comm)")


# Wakes up often; two that talk on one CPU.
WAKES = ("sh", "-c", "i=0; while [ $i -lt 60 ]; do sleep 0.003; i=$((i+1)); done")
TALKS = ("sh", "-c", "yes | head -c 4000000 | wc -c")


def one_cpu():
    os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])


def test_latency():
    """wakeup latency by variables and a synthetic event, against Python"""
    need_tracefs()
    tacho("record", "-o", "t", "--no-kallsyms", "-k",
          "sched:sched_waking,sched:sched_switch", "--", *WAKES)
    evs = events("t")
    want = latencies(evs)
    # some kernels leave out the switches from the idle task
    assert len(want) > 3
    h = hist("t", *WAKEUP, "-e", "synthetic:wakeup_latency",
             "keys=comm:vals=lat:sort=comm")
    count, total = Counter(), defaultdict(int)
    for comm, lat in want:
        count[(comm,)] += 1
        total[(comm,)] += lat
    assert table(h, "comm") == dict(count)
    got = table(h, "comm", value="lat")
    # the report's time is rounded to ns twice per event
    for k, v in total.items():
        assert abs(got[k] - v) <= 2 * count[k], (k, got[k], v)
    d = tacho("hist", "t", "--quantiles", "50,100", *WAKEUP,
              "-e", "synthetic:wakeup_latency", "keys=lat:size=131072")
    m = re.search(r"p50=(\d+) max=(\d+)", d.out)
    lats = sorted(lat for _, lat in want)
    assert abs(int(m.group(2)) - lats[-1]) <= 2, (d.out, lats[-1])
    for r in json.loads(tacho("recipe", "list", "--json").out):
        shown = tacho("recipe", "show", r["name"]).out
        assert "tacho hist" in shown and "-e" in shown
    tacho("recipe", "run", "sched-latency", "t")
    tacho("recipe", "run", "run-queue", "t", ok=1,
          says="this trace has no event sched_wakeup;")
    tacho("recipe", "run", "off-cpu", "t")
    # quantiles by thread: of the microseconds that the trace has, exactly
    shown = tacho("recipe", "show", "sched-latency-by-thread", "kernel").out
    h = json.loads(tacho("hist", "--json", "t", *shlex.split(
        shown.replace("\\\n", ""), comments=True)[2:]).out)
    raw = hist("t", *[a.replace("common_timestamp", "common_timestamp.usecs")
                      for a in WAKEUP], "-e", "synthetic:wakeup_latency",
               "keys=comm,lat:size=131072")
    us = defaultdict(list)
    for e in raw["entries"]:
        us[e["key"]["comm"]] += [e["key"]["lat"]] * e["hitcount"]
    assert {g["key"]["comm"]: [g[n] for n in ("p50", "p99", "max")]
            for g in h["groups"]} == {
        k: [quantile(v, q) for q in (50, 99, 100)] for k, v in us.items()}
    ns = defaultdict(list)
    for comm, lat in want:
        ns[comm].append(lat)
    for g in h["groups"]:
        v = ns[g["key"]["comm"]]
        assert g["hitcount"] == len(v)
        for n, q in ("p50", 50), ("p99", 99), ("max", 100):
            assert abs(g[n] - quantile(v, q) // 1000) <= 1, (g, n)
    assert [g["max"] for g in h["groups"]] == sorted(
        (g["max"] for g in h["groups"]), reverse=True)
    tacho("recipe", "run", "block-latency", "t", ok=1, says="block:block_rq_issue")
    # the recipe itself asks the model: who is woken while it runs does not wait
    h = json.loads(tacho("recipe", "run", "--json", "sched-latency-by-thread", "t").out)
    assert 3 < h["hits"] <= len(want), (h["hits"], len(want))
    assert {g["key"]["comm"] for g in h["groups"]} <= set(ns)


def run_queues(evs):
    """{(cpu, runnable, waiting): [times, ns]} of sched events: run_queue.h."""
    place, cpus, out = {}, {}, defaultdict(lambda: [0, 0])

    def now(cpu):
        waiting = sum(p == cpu for p in place.values())
        runs = any(p == ("on", cpu) for p in place.values())
        return waiting + runs, waiting

    def look(t):
        for cpu, (since, was) in list(cpus.items()):
            if now(cpu) != was:
                out[(cpu,) + was][0] += 1
                out[(cpu,) + was][1] += t - since
                cpus[cpu] = (t, now(cpu))

    for e in evs:
        f, t, cpu = e["fields"], e["time"], e["cpu"]
        if e["event"] in ("sched_wakeup", "sched_wakeup_new"):
            place.setdefault(f["pid"], f["target_cpu"])
        elif e["event"] == "sched_migrate_task":
            if isinstance(place.get(f["pid"]), int):
                place[f["pid"]] = f["dest_cpu"]
        elif e["event"] == "sched_switch":
            # the one that ran is prev, unless a sched_switch is missing
            for p in [p for p, at in place.items() if at == ("on", cpu)]:
                del place[p]
            place.pop(f["prev_pid"], None)
            if f["prev_pid"] and not f["prev_state"] & 0xff:
                place[f["prev_pid"]] = cpu
            if f["next_pid"]:
                place[f["next_pid"]] = ("on", cpu)
        place.pop(0, None)
        look(t)
        if e["event"] == "sched_switch":
            cpus.setdefault(cpu, (t, now(cpu)))
    return dict(out)


def test_run_queue():
    """the lengths of run queues over time, against Python, exactly"""
    need_tracefs()
    spin = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"
    tacho("record", "-o", "t", "--no-kallsyms", "-b", "4M", "-k",
          "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new,"
          "sched:sched_migrate_task", "--", "sh", "-c",
          "for k in 1 2 3 4; do (%s; sleep 0.01; %s) & done; wait" % (spin, spin))
    want = run_queues(events("t"))
    assert max(k[1] for k in want) >= 3, "nothing waited: %r" % want
    keys = ("cpu", "runnable", "waiting")
    ask = ("-e", "synthetic:run_queue", "keys=cpu,runnable,waiting:vals=ns")
    h = hist("t", *ask)
    assert table(h, *keys) == {k: v[0] for k, v in want.items()}
    assert table(h, *keys, value="ns") == {k: v[1] for k, v in want.items()}
    h = json.loads(tacho("recipe", "run", "--json", "run-queue", "t").out)
    total = defaultdict(int)
    for (cpu, runnable, _), (_, ns) in want.items():
        total[(cpu, runnable)] += ns
    assert table(h, "cpu", "runnable", value="ns") == dict(total)
    # the longest of each CPU
    h = hist("t", "--quantiles", "100", "--by", "cpu", "-e", "synthetic:run_queue",
             "keys=cpu,runnable")
    assert {g["key"]["cpu"]: g["max"] for g in h["groups"]} == {
        cpu: max(k[1] for k in want if k[0] == cpu) for cpu, _, _ in want}
    # one's own event of that name is one's own
    h = hist("t", "--synth", "run_queue pid_t pid", "-e", "sched:sched_switch",
             "keys=next_pid:p=next_pid:onmax($p).trace(run_queue,next_pid)", "-e",
             "synthetic:run_queue", "keys=pid")
    assert h["hits"] and all(list(e["key"]) == ["pid"] for e in h["entries"])
    w = start("sh", "-c", "while :; do sleep 0.002; done")
    h = json.loads(tacho("recipe", "run", "-k", "--json", "--duration", "300ms",
                         "run-queue").out)
    w.kill()
    assert h["hits"] and not instances()


def test_live_kernel():
    """the same commands over the running kernel"""
    need_tracefs()
    w = start("sh", "-c", "while :; do sleep 0.002; done")
    d = tacho("hist", "kernel", "--json", "--duration", "300ms", *WAKEUP,
              "-e", "synthetic:wakeup_latency", "keys=comm:vals=lat")
    w.kill()
    h = json.loads(d.out)
    assert h["hits"] > 0 and h["entries"]
    assert all(plain(e["values"]["lat"]) < 60 * 10**9 * e["hitcount"]
               for e in h["entries"])
    d = tacho("report", "kernel:sched:sched_switch", "-m", "5", "--follow")
    assert d.out.count("sched_switch:") == 5
    assert not instances()
    tacho("report", "kernel:sched:nope", ok=1, says="sched:nope")
    tacho("report", "kernel:", ok=1, says="names of events")
    assert not instances()


def test_live_session():
    """and over a session that goes on"""
    tacho("create", "-e", "rec:*", "-b", "1M", "live")
    finish(start(TRACED, "hit 500"))
    h = hist("session:live", "--duration", "50ms", "-e", "rec:hit", "keys=slot")
    assert [e["hitcount"] for e in h["entries"]] == [500]
    tacho("destroy", "live")
    # what is wrong is said, also when it is found only as the event comes
    tacho("create", "-e", "rec:*", "-b", "1M", "live")
    p = start(TACHO, "hist", "session:live", "-e", "rec:hit", "keys=slott")
    finish(start(TRACED, "hit 5"))
    d = finish(p)
    assert d.status == 1 and "Couldn't find field" in d.err, d
    assert d.err.endswith("  hist:keys=slott\n            ^\n"), d
    tacho("destroy", "live")


def test_programs():
    """filter, trigger, synth and hist -s: what programs do by themselves"""
    tacho("create", "-e", "rec:*", "-b", "1M", "s")
    tacho("filter", "-s", "s", "rec:hit", "n < 10", says="later")
    tacho("trigger", "-s", "s", "rec:hit", "hist:keys=slot:vals=n", says="later")
    ps = [finish(start(TRACED, "hit 100", "mark 2")) for _ in range(2)]
    h = json.loads(tacho("hist", "-s", "s", "--json").out)
    assert table(h, "slot") == {(p.pid,): 100 for p in ps}
    assert table(h, "slot", value="n") == {(p.pid,): 4950 for p in ps}
    names = Counter(e["event"] for e in events("session:s"))
    assert names == {"hit": 20, "mark": 2}, names
    assert tacho("filter", "-s", "s").out == "rec:hit\tn < 10\n"
    assert "keys=slot" in tacho("trigger", "-s", "s").out
    tacho("filter", "-s", "s", "rec:hit", "0")
    tacho("trigger", "-s", "s", "rec:mark", "traceoff:1")
    finish(start(TRACED, "hit 5", "mark 1", "hit 7"))
    names = Counter(e["event"] for e in events("session:s"))
    assert names["hit"] == 25, names
    assert session("s")["state"] == "stopped"
    tacho("trigger", "-s", "s", "rec:mark", "!traceoff")
    assert "traceoff" not in tacho("trigger", "-s", "s").out
    tacho("synth", "-s", "s", "took u64 ns; int id")
    assert "took" in tacho("synth", "-s", "s").out
    d = tacho("filter", "-s", "s", "rec:hit", "n << 3", ok=1)
    assert d.err.count("\n") == 3 and "^" in d.err, d
    tacho("trigger", "-s", "s", "rec:hit", "nonsense", ok=1)
    tacho("filter", "-s", "s", "-k", "rec:hit", "n < 3", ok=1,
          says="records nothing of the kernel")
    tacho("filter", "rec:hit", "n < 3", ok=2)
    tacho("destroy", "s")


def test_references_to_come():
    """histograms that refer to each other's events, set before any program runs"""
    tacho("create", "s")
    for event, text in (
            ("rec:hit", "hist:keys=common_pid:n0=n"),
            ("rec:mark", "hist:keys=common_pid:m0=n"),
            ("rec:hit", "hist:keys=common_pid:from=$m0"),
            ("rec:mark", "hist:keys=common_pid:from=$n0")):
        tacho("trigger", "-s", "s", event, text)
    p = start(TRACED, "hit 1", "mark 7", "hit 3", "mark 8")
    assert finish(p).status == 0
    got = {}
    for line in tacho("hist", "-s", "s", "--json").out.splitlines():
        h = json.loads(line)
        got[h["event"], "from=" in h["trigger"]] = h["hits"]
    # the first hit comes before any mark: its variable is not set
    assert got == {("rec:hit", False): 4, ("rec:hit", True): 3,
                   ("rec:mark", False): 2, ("rec:mark", True): 2}, got
    tacho("destroy", "s")


def test_unknown_events():
    """commands on events that nobody knows yet are checked all the same"""
    tacho("create", "-e", "rec:*", "-b", "1M", "s")

    def caret(column, says, *argv):
        d = tacho(*argv, ok=1, says=says)
        lines = d.err.rstrip("\n").split("\n")
        assert len(lines) == 3 and lines[2].index("^") - 2 == column, d

    for known in ("rec:hit", "later:hit"):
        if known == "rec:hit":
            finish(start(TRACED, "hit 1"))
        caret(14, "did you forget", "filter", "-s", "s", known, "n == 1 && n <<< 2")
        caret(15, "Missing matching quote", "filter", "-s", "s", known,
              "n == 1 && n == 'x")
        caret(10, "Too many", "filter", "-s", "s", known, "n == 1 && (n == 2")
        caret(30, "forget quotes", "trigger", "-s", "s", known,
              "hist:keys=n if n == 1 && n === 2")
        caret(14, "find field", "trigger", "-s", "s", known, "hist:keys=n:v=(n+1")
        caret(17, "must be a key", "trigger", "-s", "s", known, "hist:keys=n:sort=m")
    assert not tacho("filter", "-s", "s").out and not tacho("trigger", "-s", "s").out
    tacho("filter", "-s", "s", "later:hit", "n == 1 && name ~ \"a*\" && !(ok == true)",
          says="later")
    tacho("destroy", "s")


def test_record_filter():
    """record --filter and --trigger on events of programs"""
    tacho("record", "-o", "t", "--filter", "rec:hit/n >= 90", "--trigger",
          "rec:mark/traceoff:1", "--", TRACED, "hit 100", "mark 1", "hit 100")
    names = Counter(e["event"] for e in events("t"))
    assert names["hit"] == 10 and names["mark"] <= 1, names
    tacho("record", "-o", "u", "--trigger", "nonsense", "--", "true", ok=2)


def test_kernel_filter():
    """record --filter and --trigger on kernel events: the kernel does it"""
    need_tracefs()
    tacho("record", "-o", "t", "--no-kallsyms", "-k", "sched:sched_switch",
          "--filter", "next_pid != 0 && prev_pid != 0", "--", *TALKS,
          preexec_fn=one_cpu)
    evs = events("t")
    assert evs and all(e["fields"]["next_pid"] and e["fields"]["prev_pid"]
                       for e in evs)
    afresh()
    d = tacho("record", "-o", "t", "-k", "sched:sched_switch", "--filter",
              "sched:sched_switch/nexd_pid != 0", "--duration", "1s", ok=1)
    assert "Field not found" in d.err and "^" in d.err, d
    tacho("record", "-o", "t", "-k", "sched:sched_switch", "--trigger",
          "sched:sched_switch/nonsense", "--duration", "1s", ok=1)
    assert not instances()


TRACERS = ("trace_event_raw_event_", "__traceiter_")


def stacks_of(path, event):
    """Counts an event's recorded stacks, by the functions of its report.
    The event is one that no interrupt comes behind."""
    got, open_at, cpu = Counter(), None, None
    for line in tacho("report", "-q", path).out.split("\n") + ["end"]:
        if line.startswith(" => "):
            if cpu is not None:
                frames.append(line[4:])
            continue
        if cpu is not None:
            while frames and frames[0].startswith(TRACERS):
                del frames[0]
            got[tuple(frames[:16])] += 1
            cpu = None
        m = re.search(r"\[(\d+)\] .{5} +[\d.]+: (\w+): ", line)
        if not m:
            continue
        if m.group(2) == event:
            open_at = open_at or set()
            open_at.add(m.group(1))
        elif m.group(2) == "kernel_stack" and m.group(1) in (open_at or ()):
            open_at.remove(m.group(1))
            cpu, frames = m.group(1), []
    return got


def by_functions(h):
    """The same of a histogram, whose addresses may differ within a function."""
    got = Counter()
    for e in h["entries"]:
        key = e["key"]["common_stacktrace"]
        got[tuple(f.get("name", f.get("hex")) for f in key)] += e["hitcount"]
    return got


def test_stacks():
    """the stacks that the kernel recorded behind events, as keys"""
    need_tracefs()
    tacho("record", "-o", "t", "--stack", "-k", "sched:sched_switch", "--",
          *WAKES)
    d = tacho("hist", "--json", "t", "-e", "sched:sched_switch",
              "keys=common_stacktrace")
    h = json.loads(d.out)
    # the kernel takes none of an event now and then: that has an empty one
    got, want = by_functions(h), stacks_of("t", "sched_switch")
    empty = got.pop((), 0)
    assert ("no call stack" in d.err) == (empty > 0), d.err
    if "were lost" not in d.err:
        assert got == want
    assert sum(got.values()) + empty == h["hits"] and empty < h["hits"] / 10
    assert h["hits"] == len([e for e in events("t")
                             if e["event"] == "sched_switch"]) > 60
    for names in got:
        assert any("schedule" in n for n in names), names
        assert not names[0].startswith(TRACERS), names
    # one event's only, by the kernel's trigger
    tacho("record", "-o", "u", "--trigger", "sched:sched_switch/stacktrace",
          "-k", "sched:sched_switch,sched:sched_waking", "--", *WAKES)
    names = Counter(e["event"] for e in events("u"))
    # the event of a CPU's first stack may be from before the beginning
    assert names["sched_switch"] > 60 and names["kernel_stack"] > 50, names
    assert names["kernel_stack"] <= names["sched_switch"] + os.cpu_count(), names
    assert names["sched_waking"] > 0, names


def test_live_stacks():
    """the running kernel is told to record the stacks that are asked for"""
    need_tracefs()
    w = start("sh", "-c", "while :; do sleep 0.002; done")
    d = tacho("hist", "kernel", "--json", "--all", "--duration", "300ms",
              "-e", "sched:sched_waking", "keys=pid",
              "-e", "sched:sched_switch", "keys=stacktrace:p=next_pid:"
              "onchange($p).snapshot()", "--snapshot", "s")
    w.kill()
    waking, switch = map(json.loads, d.out.splitlines())
    assert waking["hits"] > 0 and switch["hits"] > 0
    got = by_functions(switch)
    if "were lost" not in d.err:
        assert got[()] < switch["hits"] / 2, got
    for names in got:
        assert not names or any("schedule" in n for n in names), names
    assert "snapshot" in switch and "snapshot: " in d.err, d.err
    # each event waited for its stack, so the snapshot has both; other CPUs' events may
    # come between
    got_there = events("s")
    names = [e["event"] for e in got_there]
    assert names
    # the oldest may be a stack whose event fell out of the window, one of each CPU
    assert names.count("kernel_stack") <= names.count("sched_switch") + os.cpu_count(), \
        (len(names), names[:8])
    if not got[()]:
        last = [e["event"] for e in got_there if e["cpu"] == got_there[-1]["cpu"]]
        assert last[-2:] == ["sched_switch", "kernel_stack"], last[-8:]
    tacho("check", "s")
    assert not instances()


def test_program_stacks():
    """a program's recorded stacks, too"""
    tacho("record", "-o", "t", "--stack", "-e", "rec:hit", "--", TRACED,
          "hit 200")
    d = tacho("hist", "--json", "t", "-e", "rec:hit", "keys=stacktrace")
    h = json.loads(d.out)
    assert h["hits"] == 200 and "call stack" not in d.err, d
    recorded = [e for e in events("t") if e["event"] == "user_stack"]
    assert len(recorded) == 200
    assert () not in by_functions(h)


run(globals())
