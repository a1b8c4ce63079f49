# SPDX-License-Identifier: MIT
"""One question, asked in the same words of a program's events while it runs, of what
the program counts by itself, of the kernel's events while they happen, of recordings of both,
and of LTTng's recording of the same run.  Where it is the same data, the answers are equal."""
from collections import Counter, defaultdict

from rec import *

REQUEST = os.environ["REQUEST"]
HAS_LTTNG = os.environ.get("REQUEST_LTTNG")
COUNT = 600

SYNTH = "request_latency u64 lat; u64 kind"
ASK = (("request:begin", "hist:keys=id:t0=at,k=kind"),
       ("request:end", "hist:keys=id:lat=at-$t0:onmatch(request.begin)"
        ".trace(request_latency,$lat,$k)"),
       ("synthetic:request_latency", "hist:keys=lat.log2:sort=lat"))
BY_KIND = ASK[:2] + (("synthetic:request_latency",
                      "hist:keys=kind,lat:sort=lat.descending:size=16384"),)
# the same times as arguments of system calls, of these descriptors
FIRST = 1000000000 + os.getpid() % 1000000 * 1000


def as_calls(ask):
    """The question, of the program's system calls."""
    mine = " if fd >= %d && fd < %d" % (FIRST, FIRST + COUNT)
    out = []
    for event, text in ask:
        for a, b in (("request:begin", "syscalls:sys_enter_lseek"),
                     ("request:end", "syscalls:sys_enter_ftruncate"),
                     ("request.begin", "syscalls.sys_enter_lseek"),
                     ("keys=id", "keys=fd"), ("t0=at", "t0=offset"),
                     ("k=kind", "k=whence"), ("lat=at", "lat=length")):
            event, text = event.replace(a, b), text.replace(a, b)
        out.append((event, text + (mine if "sys_enter" in event else "")))
    return tuple(out)


def words(ask):
    out = ["--json", "--synth", SYNTH]
    for event, text in ask:
        out += ["-e", event, text]
    return out


QUANTILES = ["--quantiles", "50,99,100", "--by", "kind"]


def answers(where, tool=tacho, ask=lambda a: a):
    """Both questions, put to a trace."""
    return (json.loads(tool("hist", *where, *words(ask(ASK))).out),
            json.loads(tool("hist", *where, *QUANTILES, *words(ask(BY_KIND))).out))


def same(got, want, what):
    """Equal but for the name of the trigger's events."""
    for g, w in zip(got, want):
        for k in ("entries", "groups", "quantiles", "hits", "dropped"):
            assert g.get(k) == w.get(k), "%s: %s is\n%r\nnot\n%r" % (
                what, k, g.get(k), w.get(k))


def computed(evs):
    """Both answers, in Python, from the program's events."""
    at, ranges, kinds = {}, Counter(), defaultdict(list)
    for e in evs:
        f = e["fields"]
        if e["event"] == "begin":
            at[f["id"]] = f["at"], f["kind"]
        elif e["event"] == "end":
            t0, kind = at.pop(f["id"])
            ranges[max(f["at"] - t0 - 1, 0).bit_length()] += 1
            kinds[kind].append(f["at"] - t0)
    return ranges, kinds


def check(got, want):
    """Answers against what was computed."""
    ranges, kinds = want
    assert sum(ranges.values()) == COUNT and len(kinds) == 3
    assert got[0]["hits"] == got[1]["hits"] == COUNT, got
    assert {e["key"]["lat"]["high"]: e["hitcount"] for e in got[0]["entries"]} == {
        1 << n: hits for n, hits in ranges.items()}
    for g in got[1]["groups"]:
        lats = sorted(kinds.pop(g["key"]["kind"]))
        assert g["hitcount"] == len(lats)
        for name, q in ("p50", 50), ("p99", 99), ("max", 100):
            assert g[name] == lats[-(-len(lats) * q // 100) - 1], (name, g)
    assert not kinds


def events(path, tool=tacho):
    out = tool("report", "-F", "json", path).out
    return [e for e in map(json.loads, out.splitlines()) if "event" in e]


class Live:
    """`tacho hist` on something that goes on: a picture after the other."""

    def __init__(self, *argv, before=()):
        self.p = start(*before, "hist", "--watch=50ms", *argv)

    def pictures(self):
        assert self.p.poll() is None, finish(self.p)
        return [json.loads(line) for line in slurp(self.p.out).splitlines(True)
                if line.endswith("\n")]

    def begun(self):
        until("the first picture", self.pictures)

    def end(self):
        """The last picture, when all requests are in one."""
        until("all requests", lambda: self.pictures()[-1]["hits"] >= COUNT)
        self.p.send_signal(signal.SIGINT)
        d = finish(self.p)
        assert d.status == 0, d
        return json.loads(d.out.splitlines()[-1])


def lives(where, ask=lambda a: a, before=(TACHO,)):
    return (Live(*where, *words(ask(ASK)), before=before),
            Live(*where, *QUANTILES, *words(ask(BY_KIND)), before=before))


def own(tool, name):
    """Lets the programs of a session answer by themselves."""
    tool("synth", "-s", name, SYNTH)
    for event, text in ASK + BY_KIND[2:]:
        tool("trigger", "-s", name, event, text)


def own_answers(tool, name):
    out = tool("hist", "-s", name, *QUANTILES, "--json",
               "synthetic:request_latency").out
    return [json.loads(line) for line in out.splitlines()]


class Nobody:
    """A place where LTTng can be used: root's daemon is the machine's, so nobody's own."""

    def __init__(self):
        self.dir = os.path.join(work, "nobody")
        os.chmod(base, 0o711)
        os.mkdir(self.dir)
        self.env = {"TACHO_DIR": self.dir + "/run", "LD_LIBRARY_PATH": ":".join(
            [self.dir] + os.environ.get("LD_LIBRARY_PATH", "").split(":"))}
        for f in [TACHO, REQUEST] + glob.glob(os.environ["LIBTACHO"] + "/libtacho.so*"):
            if os.path.isfile(f):
                shutil.copy(f, self.dir)
        self.before = [self.dir + "/tacho"]
        if not os.geteuid():
            if not shutil.which("setpriv"):
                raise Skip("no setpriv")
            for d, _, names in os.walk(self.dir):
                for path in [d] + [os.path.join(d, n) for n in names]:
                    os.chown(path, 65534, 65534)
            self.before = ["setpriv", "--reuid=65534", "--regid=65534",
                           "--clear-groups"] + self.before

    def tacho(self, *argv):
        d = cmd(*self.before, *argv, env=self.env)
        assert d.status == 0, "tacho %s: %r" % (" ".join(argv), d)
        return d

    def live(self, *argv):
        return Live(*argv, before=self.before)


def test_program():
    """a program's own events: while it runs, counted by itself, recorded"""
    p = recorder("-o", "t", "-b", "4M", "-e", "request:*")
    own(tacho, "s")
    live = lives(["session:s"])
    for one in live:
        one.begun()
    d = finish(start(REQUEST, COUNT, FIRST))
    assert d.status == 0, d
    live = [one.end() for one in live]
    itself = own_answers(tacho, "s")
    stop(p)
    recorded = answers(["t"])
    check(recorded, computed(events("t")))
    same(live, recorded, "live")
    same(itself, recorded, "by itself")


def test_kernel():
    """the kernel's events: while they happen, recorded, and as the program said"""
    need_tracefs()
    if not os.path.isdir("/sys/kernel/tracing/events/syscalls/sys_enter_lseek"):
        raise Skip("no events of system calls")
    calls = "syscalls:sys_enter_lseek,syscalls:sys_enter_ftruncate"
    p = recorder("-o", "t", "-b", "4M", "--no-kallsyms", "-e", "request:*", "-k",
                 calls)
    live = lives(["-k"], as_calls)
    for one in live:
        one.begun()
    d = finish(start(REQUEST, COUNT, FIRST))
    assert d.status == 0, d
    live = [one.end() for one in live]
    stop(p)
    recorded = answers(["t"], ask=as_calls)
    check(recorded, computed(events("t")))
    same(live, recorded, "live")
    same(answers(["t"]), recorded, "the program")


def test_scheduler():
    """sched events of the kernel: recorded, against Python; live, of the same threads"""
    need_tracefs()
    comm = "lat%d" % os.getpid()
    shutil.copy(shutil.which("sleep"), comm)
    ask = ("--json", "--synth", "wakeup_latency u64 lat; char comm[16]",
           "-e", "sched:sched_waking", "keys=pid:ts0=common_timestamp if comm == %s" % comm,
           "-e", "sched:sched_switch",
           "keys=next_pid:lat=common_timestamp-$ts0:onmatch(sched.sched_waking)"
           ".trace(wakeup_latency,$lat,next_comm) if next_comm == %s" % comm,
           "-e", "synthetic:wakeup_latency", "keys=comm,lat:size=16384")
    by = ("--quantiles", "50,99,100", "--by", "comm")
    live = Live("-k", *by, *ask, before=(TACHO,))
    live.begun()
    tacho("record", "-o", "t", "-b", "4M", "--no-kallsyms", "-k",
          "sched:sched_waking,sched:sched_switch", "--", "sh", "-c",
          "i=0; while [ $i -lt 150 ]; do ./%s 0.002; i=$((i+1)); done" % comm)
    woken, lats = {}, []
    for e in events("t"):
        f = e["fields"]
        if e["event"] == "sched_waking" and f["comm"] == comm:
            woken[f["pid"]] = e["time"]
        elif e["event"] == "sched_switch" and f["next_comm"] == comm:
            if f["next_pid"] in woken:
                lats.append(e["time"] - woken.pop(f["next_pid"]))
    lats.sort()
    h = json.loads(tacho("hist", "t", *by, *ask).out)
    # some kernels leave out most of these events when the machine is busy
    assert len(lats) > 3 and h["hits"] == len(lats), (h, lats)
    for name, q in ("p50", 50), ("p99", 99), ("max", 100):
        want = lats[-(-len(lats) * q // 100) - 1]
        assert abs(h["groups"][0][name] - want) <= 1, (name, h, lats)
    # an instance of its own has times of its own, of the same wakeups
    until("some", lambda: live.pictures()[-1]["hits"] >= len(lats) // 2)
    live.p.send_signal(signal.SIGINT)
    h = json.loads(finish(live.p).out.splitlines()[-1])
    assert [g["key"]["comm"] for g in h["groups"]] == [comm], h


def test_lttng():
    """LTTng's recording of a run, and tacho's of the same run"""
    if not HAS_LTTNG:
        raise Skip("built without lttng-ust")
    if not all(map(shutil.which, ("lttng", "lttng-sessiond"))):
        raise Skip("no lttng")
    n = Nobody()
    os.environ.update(n.env)
    p = start(*n.before, "record", "-s", "s", "-o", n.dir + "/t", "-b", "4M", "-e",
              "request:*")
    until("the session records", lambda: p.poll() is None and "recording" in cmd(
        *n.before, "status", "--json").out)
    own(n.tacho, "s")
    live = lives(["session:s"], before=n.before)
    for one in live:
        one.begun()
    d = cmd("sh", os.environ["LTTNG_RECORD"], n.dir, REQUEST, "request", COUNT, FIRST)
    if d.status == 77:
        raise Skip(d.out.strip())
    assert d.status == 0, d
    live = [one.end() for one in live]
    itself = own_answers(n.tacho, "s")
    stop(p)
    want = answers([n.dir + "/t"])
    check(want, computed(events(n.dir + "/t")))
    same(live, want, "live")
    same(itself, want, "by itself")
    assert len(events(n.dir + "/out")) == 2 * COUNT
    same(answers([n.dir + "/out"]), want, "LTTng's")


run(globals())
