# SPDX-License-Identifier: MIT
"""tacho diff: numbers against those of `tacho model`, noise against differences, and bad input."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile

TACHO, FROM_LINES = os.environ["TACHO"], os.environ["FROM_LINES"]
SPAN = ["--span", "work: shop:take -> shop:done"]
T0 = 1_700_000_000_000_000_000
PARTS = {"running": "running", "runnable": "runnable", "sleeping": "sleeping", "unknown": "unknown",
         "uninterruptible": "blocked"}
nr = failed = 0


def test(name, ok, *said):
    global nr, failed
    nr += 1
    failed += not ok
    print(("ok" if ok else "not ok"), nr, "-", name)
    for text in said if not ok else ():
        print("#", str(text).replace("\n", "\n# ")[:3000])


def run(*argv, status=0):
    p = subprocess.run([TACHO, *argv], capture_output=True, text=True, check=False)
    assert p.returncode == status, (argv, p.returncode, p.stderr)
    return p.stdout if not status else p.stderr


def diff(*argv):
    return json.loads(run("diff", "-q", "--json", *argv, *SPAN))


def rows(result):
    return {(r["kind"], r["name"]): r for r in result["rows"]}


def trace(name, lines):
    """A trace of (time after T0, the rest of a line)."""
    lines = sorted(lines, key=lambda line: line[0])
    text = "".join(f"{T0 + int(t)} {rest}\n" for t, rest in lines)
    subprocess.run([FROM_LINES, name], input=text, text=True, check=True)
    return name


# ---- exact numbers ----

def busy(seed, orders=3000):
    """Two threads that take turns on a CPU, with spans that switches cut."""
    rng = random.Random(seed)
    t, lines, running, open_span = 1000, [], 0, {}
    for i in range(orders):
        for _ in range(rng.randrange(1, 5)):
            to = rng.choice([n for n in (0, 1000, 1001, 1002) if n != running])
            lines.append((t, f"0 {running} switch {running} {rng.choice([0, 1, 2])} {to}"))
            running = to
            t += rng.randrange(100, 300_000)
        if running:
            what = "done" if open_span.pop(running, False) else "take"
            open_span[running] = what == "take"
            lines.append((t, f"0 {running} {what} {i}"))
            t += rng.randrange(1, 1000)
        if i % 7 == 0:
            lines.append((t, f"0 {running} other {i}"))
            lines.append((t + 1, f"0 {running} stack {4096 * (1 + i % 3)}"))
            t += rng.randrange(2, 1000)
    return lines


class Oracle:
    """What one range of a trace has, from the items of the model and the lines."""

    def __init__(self, name, lines, begin=0, end=None):
        self.begin = max(T0 + min(t for t, _ in lines), begin)
        last = T0 + max(t for t, _ in lines)
        self.end = min(last, end) if end else last
        self.count, self.ns, self.parts = {}, {}, []
        self.inside = lambda t: t >= begin and (end is None or t < end)
        parent, names, states, spans = {}, {}, {}, []
        for line in run("model", "-q", "--json", "--items=tracks,slices,states", name, *SPAN).split("\n"):
            i = json.loads(line) if line else {}
            if "track" in i:
                parent[i["track"]] = i["parent"]
                names[i["track"]] = i["name"]
            elif "slice" in i and i["category"] == "span":
                self.item(("span", i["name"]), i)
                spans.append((parent[i["slice"]], i))
            elif "state" in i:
                thread = parent[i["state"]]
                part = PARTS[i["name"]]
                states.setdefault(thread, []).append((i["begin"], i["end"], part))
                if part != "unknown":
                    self.item(("thread", f"{names[thread]}: {part}"), i)
        for thread, i in spans:
            if self.inside(i["end"]) and not unknown(i):
                self.parts.append(self.part(states[thread], i))
        self.events(lines)

    def events(self, lines):
        names = {"take": "shop:take", "done": "shop:done", "other": "shop:other",
                 "switch": "sched:sched_switch"}
        for t, rest in lines:
            words = rest.split()
            if not self.inside(T0 + t):
                continue
            key = ("stack", "program 0x%x" % int(words[3])) if words[2] == "stack" else \
                ("event", names[words[2]])
            self.count[key] = self.count.get(key, 0) + 1

    def item(self, key, i):
        if not self.inside(i["end"]):
            return
        self.count[key] = self.count.get(key, 0) + 1
        if not unknown(i):
            self.ns.setdefault(key, []).append(i["end"] - i["begin"])

    @staticmethod
    def part(states, i):
        part = {}
        for begin, end, name in states:
            ns = min(end, i["end"]) - max(begin, i["begin"])
            if ns > 0:
                part[name] = part.get(name, 0) + ns
        return part

    def check(self, result, side):
        wrong = []
        have = {k: r[side] for k, r in rows(result).items() if r[side]["count"]}
        if set(have) != set(self.count):
            wrong.append(("names", set(have) ^ set(self.count)))
        for key, v in have.items():
            seconds = (self.end - self.begin) / 1e9
            if v["count"] != self.count.get(key) or not close(v["rate"], v["count"] / seconds, 1e-9):
                wrong.append((key, v, self.count.get(key)))
            ns = sorted(self.ns.get(key, []))
            if v["timed"] != len(ns):
                wrong.append((key, v, len(ns)))
            if not ns:
                continue
            if v["max"] != ns[-1] or not close(v["mean"], sum(ns) / len(ns), 1e-9):
                wrong.append((key, v, ns[-1], sum(ns) / len(ns)))
            for name, q in ("p50", 0.5), ("p90", 0.9), ("p99", 0.99):
                if not close(v[name], ns[max(0, math.ceil(q * len(ns)) - 1)], 0.01):
                    wrong.append((key, name, v[name], ns[max(0, math.ceil(q * len(ns)) - 1)]))
        got = have.get(("span", "work"), {}).get("parts", {})
        if got.get("slices") != len(self.parts):
            wrong.append(("parts", got, len(self.parts)))
        for name in set(PARTS.values()) if not wrong else ():
            mean = sum(p.get(name, 0) for p in self.parts) / len(self.parts)
            if not close(got[name], mean, 1e-9):
                wrong.append(("parts", name, got[name], mean))
        return wrong


def unknown(item):
    return "begin-unknown" in item["flags"] or "end-unknown" in item["flags"]


def close(a, b, error):
    return abs(a - b) <= error * max(abs(a), abs(b)) + 1e-9


def exact():
    lines = busy(1)
    one, two = trace("one", lines), trace("two", busy(2, 1000))
    result = diff(one, two)
    test("numbers of A", not (w := Oracle(one, lines).check(result, "a")), w)
    test("numbers of B", not (w := Oracle(two, busy(2, 1000)).check(result, "b")), w)
    # ranges: what ends in them
    first = T0 + min(t for t, _ in lines)
    result = diff(one, "--time-a", "0.1,0.5", "--time-b", "0.5,")
    test("numbers of a range", not (w := Oracle(one, lines, first + 100_000_000,
                                                 first + 500_000_000).check(result, "a")), w)
    test("numbers of the rest", not (w := Oracle(one, lines, first + 500_000_000)
                                     .check(result, "b")), w)
    # each is in one of the halves
    a, b, whole = (rows(diff(one, one, "--time-a", ",0.7", "--time-b", "0.7,")),) * 2 + (rows(diff(one, one)),)
    test("halves are the whole", all(a[k]["a"]["count"] + b[k]["b"]["count"] == r["a"]["count"]
                                     for k, r in whole.items() if k in a and k[0] == "event"))
    result = diff(one, one)
    test("a trace does not differ from itself", result["differing"] == 0 and
         all(r["a"] == r["b"] and r.get("delta", {"diff": 0})["diff"] == 0 for r in result["rows"]))
    test("and text says so", "No difference is more than noise" in run("diff", "-q", one, one))
    test("equal input, equal output", run("diff", one, two, *SPAN) == run("diff", one, two, *SPAN))
    # Cliff's delta, of all pairs
    r = rows(diff(one, two))[("span", "work")]
    x, y = (sorted(Oracle(n, ls).ns[("span", "work")]) for n, ls in
            ((one, lines), (two, busy(2, 1000))))
    pairs = sum((v > u) - (v < u) for u in x for v in y) / len(x) / len(y)
    test("Cliff's delta", close(r["delta"]["effect"], pairs, 1e-6), r["delta"], pairs)
    # selection
    r = rows(diff(one, two, "-e", "shop:*,!shop:other"))
    test("-e selects events", {k[1] for k in r if k[0] == "event"} == {"shop:take", "shop:done"} and
         ("span", "work") in r)
    text = run("diff", "-q", one, two, "--all", "--top", "1", *SPAN)
    test("--top", text.count("more (--top)") == 3 and "Cliff's delta" in text, text)


# ---- noise and differences ----

def orders(seed, slow=1.0, n=1500, correlated=False, sigma=0.5):
    """Spans whose durations are random; half of them, with slow, take longer."""
    rng = random.Random(seed)
    t, lines, x = 0, [], 0.0
    keep = 0.9 if correlated else 0
    for i in range(2 * n):
        x = keep * x + math.sqrt(1 - keep * keep) * rng.gauss(0, 1)
        ns = 100_000 * math.exp(sigma * x) * (slow if i >= n else 1)
        lines.append((t, f"0 1000 take {i}"))
        t += ns
        lines.append((t, f"0 1000 done {i}"))
        t += rng.expovariate(1 / 50_000)
        if i == n - 1:
            half = t
    return lines, half / 1e9


def halves(name, *args, **kw):
    lines, half = orders(*args, **kw)
    trace(name, lines)
    return diff(name, "--time-a", f",{half:.9f}", "--time-b", f"{half:.9f},")


def noise():
    for correlated in False, True:
        wrong = [seed for seed in range(20)
                 if halves(f"same-{correlated}-{seed}", seed, correlated=correlated)["differing"]]
        # all intervals of a comparison hold with 95 %: one of 20 may differ
        test("halves of a random trace are equal" + (", correlated" if correlated else ""),
             len(wrong) <= 1, wrong)
    found = [halves(f"slow-{seed}", seed, slow=1.2) for seed in range(10)]
    test("a slow-down of 20 % is found, first",
         all(r["rows"][0]["name"] == "work" and r["rows"][0]["delta"]["differs"] and
             r["rows"][0]["delta"]["low"] > 0 for r in found), [r["rows"][0] for r in found])
    found = [halves(f"fast-{seed}", seed, slow=1 / 1.2) for seed in range(10)]
    test("and so is that it takes less",
         all(r["rows"][0]["delta"]["differs"] and r["rows"][0]["delta"]["high"] < 0 for r in found))
    # the effect is covered by its interval: P(B > A) - P(B < A) of two log-normal ones
    delta = math.erf(math.log(1.2) / 0.5 / 2)
    found = [halves(f"cover-{seed}", seed, slow=1.2)["rows"][0]["delta"] for seed in range(20, 40)]
    test("the interval has the true effect",
         sum(d["low"] <= delta <= d["high"] for d in found) >= 19, delta, found)
    few = trace("few", orders(1, n=1)[0])
    test("few values are no difference", diff(few, trace("few2", orders(2, n=2)[0]))["differing"] == 0)
    outlier = orders(3)[0]
    outlier[-2] = (outlier[-1][0] + 1e9, outlier[-1][1])
    one = trace("outlier", outlier[:-1])
    row = rows(diff(trace("plain", orders(4)[0]), one))[("span", "work")]
    test("one outlier is no difference", not row["delta"]["differs"] and not row["mean"]["differs"],
         row)


# ---- bad input ----

def bad():
    one = trace("good", orders(1, n=50)[0])
    empty = trace("empty", [])
    other = trace("other", [(200_000 * i, "0 7 other 1") for i in range(100)])
    result = diff(empty, empty)
    test("two empty traces", result["rows"] == [] and result["comparisons"] == 0)
    test("an empty trace and another", {r["a"]["count"] for r in diff(empty, one)["rows"]} == {0})
    r = diff(one, other)
    test("nothing in common", all(not x["a"]["count"] or not x["b"]["count"] for x in r["rows"]) and
         len(r["rows"]) == 4, r)
    text = run("diff", "-q", one, other, *SPAN)
    test("and text says so", "only in A" in text and "only in B" in text, text)
    result = diff(one, "--time-a", "900,901", "--time-b", "0,")
    test("a range without records", result["a"]["records"] == 0)
    for args, status, want in (
            ((one, "missing"), 1, "missing"), ((one,), 2, "give two traces"),
            ((one, one, one), 2, "give two traces"),
            ((one, "--time-a", "0,1"), 2, "--time-b"),
            ((one, "--time-a", "1", "--time-b", "1,2"), 1, "two moments"),
            ((one, "--time-a", "2,1", "--time-b", "1,2"), 1, "ends before it begins"),
            ((one, one, "-e", "nothing:here"), 1, "no event 'nothing:here'"),
            ((one, one, "--top", "0"), 2, "--top"),
            ((one, one, "--span", "x: y"), 1, "span")):
        said = run("diff", *args, status=status)
        test("diff " + " ".join(args[1:]) + f": {want}", want in said and said.count("\n") <= 3, said)
    rng = random.Random(5)
    damaged = sorted(os.path.join(d, f) for d, _, fs in os.walk(one) for f in fs)
    for i in range(30):
        path = rng.choice(damaged)
        with open(path, "rb") as f:
            data = bytearray(f.read())
        keep = bytes(data)
        for _ in range(rng.randrange(1, 20)):
            if data:
                data[rng.randrange(len(data))] = rng.randrange(256)
        with open(path, "wb") as f:
            f.write(data)
        p = subprocess.run([TACHO, "diff", "-q", one, other, *SPAN], capture_output=True, check=False)
        if p.returncode not in (0, 1):
            test(f"damaged {path} ({i})", False, p.stderr)
        with open(path, "wb") as f:
            f.write(keep)
    test("damaged traces", True)


with tempfile.TemporaryDirectory(dir=".") as top:
    os.chdir(top)
    exact()
    noise()
    bad()
    os.chdir("..")
print(f"1..{nr}")
sys.exit(failed != 0)
