# SPDX-License-Identifier: MIT
"""What the recording tests share: TAP, a run-time directory of one's own,
and a reader of traces that shares no code with the tool (docs/trace-format.md).

$TACHO is the tool, $TRACED the program that is traced (traced.c), both from
meson.  A test is a function named test_*; run(globals()) runs them in order."""
import atexit
import glob
import json
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback

TACHO = os.environ["TACHO"]
TRACED = os.environ["TRACED"]
INSTANCES = "/sys/kernel/tracing/instances"
PATIENCE = 60           # seconds; whoever needs more has hung

base = tempfile.mkdtemp(prefix="tacho-rec-", dir="/dev/shm")
run_dir = os.path.join(base, "run")
work = os.path.join(base, "work")
os.mkdir(work)
os.chdir(work)
for name in list(os.environ):
    if name.startswith("TACHO_") or name == "GLIBC_TUNABLES":
        del os.environ[name]
os.environ["TACHO_DIR"] = run_dir
os.environ["LC_ALL"] = "C.UTF-8"
children = []
at_end = []             # what a test file does after each of its tests


class Skip(Exception):
    pass


def end_children():
    """Ends what was started, and what that started in turn."""
    for p in children:
        try:
            os.killpg(p.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        p.wait()
        for f in (p.stdin, p.stdout, p.stderr):
            if f:
                f.close()
    children.clear()


def cleanup():
    end_children()
    os.chdir("/")
    shutil.rmtree(base, ignore_errors=True)


atexit.register(cleanup)


def run(names):
    """Runs all test_* in the order of their definition; TAP on stdout."""
    tests = [f for n, f in names.items() if n.startswith("test_")]
    only = sys.argv[1:]
    failed = 0
    for nr, f in enumerate(tests, 1):
        what = (f.__doc__ or f.__name__).strip().split("\n")[0]
        if only and f.__name__ not in only:
            continue
        try:
            f()
            nothing_left()
            print("ok %d - %s" % (nr, what))
        except Skip as e:
            print("ok %d - %s # SKIP %s" % (nr, what, e))
        except Exception:
            failed += 1
            print("not ok %d - %s" % (nr, what))
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        sys.stdout.flush()
        afresh()
    print("1..%d" % len(tests))
    sys.exit(1 if failed else 0)


def afresh():
    """The next test begins with no process, no session, no file."""
    end_children()
    for f in at_end:
        f()
    for d in instances():
        try:
            os.rmdir(os.path.join(INSTANCES, d))
        except OSError:
            pass
    os.chdir(work)
    for d in glob.glob(work + "/*") + [run_dir]:
        if os.path.isdir(d) and not os.path.islink(d):
            shutil.rmtree(d, ignore_errors=True)
        elif os.path.lexists(d):
            os.unlink(d)


def sessions():
    d = os.path.join(run_dir, "sessions")
    return sorted(os.listdir(d)) if os.path.isdir(d) else []


def proc_files():
    d = os.path.join(run_dir, "proc")
    return sorted(os.listdir(d)) if os.path.isdir(d) else []


ours = set()    # processes of the tool that this test started


def instances():
    """Kernel instances that our own recorders made: by their pid."""
    if not os.path.isdir(INSTANCES):
        return []
    return [d for d in os.listdir(INSTANCES)
            if re.match(r"tacho-.*-(\d+)-\d+$", d) and
            int(re.match(r"tacho-.*-(\d+)-\d+$", d).group(1)) in ours]


def nothing_left():
    assert not sessions(), "sessions left: %s" % sessions()
    assert not instances(), "instances left: %s" % instances()


# ---- programs ----

class Done:
    def __init__(self, p, out, err):
        self.status, self.out, self.err = p.returncode, out, err
        self.pid = p.pid

    def __repr__(self):
        return "status %d\n%s%s" % (self.status, self.out, self.err)


def start(*argv, env=None, **more):
    """Starts a program; it is killed at the end of the test."""
    e = dict(os.environ)
    for k, v in (env or {}).items():
        if v is None:
            e.pop(k, None)
        else:
            e[k] = v
    more.setdefault("stdin", subprocess.DEVNULL)
    # files, not pipes: a command that outlives its recorder keeps them open
    more.setdefault("stdout", tempfile.TemporaryFile("w+", dir=base))
    more.setdefault("stderr", tempfile.TemporaryFile("w+", dir=base))
    p = subprocess.Popen([str(a) for a in argv], env=e, text=True,
                         start_new_session=True, **more)
    p.out, p.err = more["stdout"], more["stderr"]
    children.append(p)
    ours.add(p.pid)
    return p


def slurp(f):
    if not hasattr(f, "read"):
        return ""
    if f.seekable():
        f.seek(0)
    return f.read()


def ended(p, timeout=PATIENCE):
    """Waits until a program has ended, without looking again and again; its status."""
    if p.poll() is None:
        fd = os.pidfd_open(p.pid)
        there = select.select([fd], [], [], timeout)[0]
        os.close(fd)
        if not there:
            raise subprocess.TimeoutExpired(p.args, timeout)
    return p.wait()


def finish(p, timeout=PATIENCE):
    ended(p, timeout)
    return Done(p, slurp(p.out), slurp(p.err))


def cmd(*argv, **more):
    return finish(start(*argv, **more))


def tacho(*argv, ok=True, says=None, **more):
    """Runs the tool.  ok: the exit status (True is 0, None any); says: a pattern that
    its stderr must match."""
    d = cmd(TACHO, *argv, **more)
    want = d.status if ok is None else 0 if ok is True else ok
    assert d.status == want, "tacho %s: %r" % (" ".join(map(str, argv)), d)
    if says:
        assert re.search(says, d.err), "no '%s' in: %r" % (says, d)
    assert "Sanitizer" not in d.err, d
    return d


class Traced:
    """A traced program that takes commands, one at a time."""

    def __init__(self, *before, wrap=(), program=TRACED, **more):
        self.p = start(*wrap, program, *before, "-", stdin=subprocess.PIPE,
                       stdout=subprocess.PIPE, **more)
        self.pid = self.p.pid

    def ended(self):
        """How it did, for messages."""
        return "%s ended with %d: %s" % (self.p.args[0], ended(self.p),
                                         slurp(self.p.err))

    def do(self, line):
        """Lets it do one thing; what it printed."""
        self.p.stdin.write(line + "\n")
        self.p.stdin.flush()
        out = []
        while True:
            got = self.p.stdout.readline()
            assert got, self.ended()
            if got == "ok\n":
                return "".join(out)
            out.append(got)

    def end(self):
        self.p.stdin.close()
        assert ended(self.p) == 0, self.ended()


def until(what, fn):
    """Waits until fn() is true; what: for the message."""
    end = time.monotonic() + PATIENCE
    while not fn():
        assert time.monotonic() < end, "never: " + what
        time.sleep(0.005)


def status():
    return json.loads(tacho("status", "--json").out)


def session(name):
    for s in status()["sessions"]:
        if s["name"] == name:
            return s
    raise AssertionError("no session " + name)


def recorder(*argv, name="s", **more):
    """Starts `tacho record -s NAME` and waits until it records."""
    p = start(TACHO, "record", "-s", name, *argv, **more)

    def ready():
        assert p.poll() is None, "record ended: %r" % finish(p)
        if not os.path.exists(os.path.join(run_dir, "registry")):
            return False
        return any(s["name"] == name and s["state"] == "recording"
                   for s in status()["sessions"])
    until("the session records", ready)
    return p


def stop(p, sig=signal.SIGINT, status=0):
    p.send_signal(sig)
    d = finish(p)
    assert d.status == status, "record: %r" % d
    return d


def need_root():
    if os.geteuid():
        raise Skip("not root")


NOBODY = ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups")


def for_nobody(program):
    """A copy that others may run, wherever the original was built, and what its
    environment has to have."""
    there = os.path.join(base, "bin")
    lib = os.path.join(os.path.dirname(TACHO), "src/runtime/libtacho.so.0")
    os.chmod(base, 0o755)
    os.makedirs(there, exist_ok=True)
    for path in program, lib:
        shutil.copy(path, there)
    return os.path.join(there, os.path.basename(program)), {"LD_LIBRARY_PATH": there}


def need_tracefs():
    need_root()
    if not os.path.isdir(INSTANCES):
        raise Skip("no tracefs")


# ---- traces ----

MAGIC = 0xC1FC1FC1
HEAD = struct.Struct("<I16sIQQQQQQQIIQ")
FIRST = struct.Struct("<QHBBi")
HIT = struct.Struct("<QQQ")
M64 = (1 << 64) - 1


def rec_sum(slot, n):
    v = ((slot * 0x9e3779b97f4a7c15) & M64) ^ ((n + 0x1234567) & M64)
    return ((v * 0xff51afd7ed558ccd) & M64) ^ (v >> 29)


class Event:
    __slots__ = ("lane", "time", "name", "pid", "data")

    def __init__(self, lane, time, name, pid, data):
        self.lane, self.time, self.name = lane, time, name
        self.pid, self.data = pid, data

    def hit(self):
        """(slot, n) of a hit, whose sum is right."""
        slot, n, total = HIT.unpack_from(self.data)
        assert total == rec_sum(slot, n), "a torn record: %d %d" % (slot, n)
        return slot, n


def chunks(path):
    """The trace directories of a trace, rotated or not."""
    if os.path.exists(os.path.join(path, "metadata")):
        return [path]
    return [os.path.join(path, d) for d in sorted(os.listdir(path))]


def read_types(path):
    types = {}
    at = 0
    with open(path, "rb") as f:
        data = f.read()
    while at < len(data):
        line_end = data.index(b"\n", at)
        nr, name, size = data[at:line_end].split(b" ")
        at = line_end + 1
        if size[:1] == b"=":
            continue
        types[int(nr)] = name.decode()
        at += int(size)
    return types


class Trace:
    """All program events of a trace, and its books.

    Checked while it is read: each packet's numbers fit to the one before, times
    of a lane ascend, no record is torn."""

    def __init__(self, path):
        self.path = path
        self.events = []
        self.kernel_events = 0
        self.lost = 0
        self.gaps = 0       # packets that do not begin where the last one ended
        self.packets = 0
        nexts, times = {}, {}
        for c in chunks(path):
            types = {}
            losts = {}      # each chunk counts its own
            t = os.path.join(c, "tacho/types.program")
            if os.path.exists(t):
                types = read_types(t)
            for f in sorted(glob.glob(c + "/program_*")):
                self.read(f, types, nexts, times, losts)
            for f in glob.glob(c + "/kernel_*"):
                self.kernel_events += self.count(f)
            self.lost += sum(losts.values())

    def packets_of(self, path):
        with open(path, "rb") as f:
            data = f.read()
        at = 0
        while at < len(data):
            h = HEAD.unpack_from(data, at)
            assert h[0] == MAGIC, "%s: no packet at %d" % (path, at)
            assert h[7] // 8 <= len(data) - at, "%s: torn at %d" % (path, at)
            yield h, data, at
            at += h[7] // 8

    def count(self, path):
        n = 0
        for h, _, _ in self.packets_of(path):
            n += h[11]
        return n

    def read(self, path, types, nexts, times, losts):
        lane = int(path.rsplit("_", 1)[1])
        for h, data, at in self.packets_of(path):
            begin, end, content = h[4], h[5], h[6]
            lost, events, first = h[9], h[11], h[12]
            self.packets += 1
            assert lost >= losts.get(lane, 0) or first == 0, \
                "%s: loss goes back at %d" % (path, at)
            losts[lane] = lost
            if events:
                assert first >= nexts.get(lane, 0) or first == 0, \
                    "%s: event %d comes again" % (path, first)
                self.gaps += first != nexts.get(lane, first)
                nexts[lane] = first + events
            p, stop = at + HEAD.size, at + (content + 63) // 64 * 8
            now = begin
            n = 0
            while p < stop:
                word, kind, _, _, pid = FIRST.unpack_from(data, p)
                size = word >> 48
                now += ((word & (1 << 48) - 1) - now) & (1 << 48) - 1
                assert 16 <= size <= stop - p, "%s: torn at %d" % (path, p)
                assert now <= end and now >= times.get(lane, 0), \
                    "%s: time goes back at %d" % (path, p)
                times[lane] = now
                self.events.append(Event(lane, now, types[kind], pid,
                                         data[p + 16:p + size]))
                p += size
                n += 1
            assert n == events, "%s: %d events, not %d" % (path, n, events)

    def named(self, name):
        return [e for e in self.events if e.name == name]

    def hits(self, name="rec:hit"):
        """{slot: [n, ...]} in the order of time."""
        out = {}
        for e in sorted(self.named(name), key=lambda e: e.time):
            slot, n = e.hit()
            out.setdefault(slot, []).append(n)
        return out


def babeltrace(path):
    """How many events babeltrace2 counts; None without it."""
    if not shutil.which("babeltrace2"):
        return None
    # rotated traces are several: each alone, as their clocks need not meet
    total = 0
    for c in chunks(path):
        d = cmd("babeltrace2", "-c", "sink.utils.counter", "-p", "step=+0", c)
        assert d.status == 0, "babeltrace2: %r" % d
        found = re.search(r"(\d+) Event message", d.out)
        total += int(found.group(1)) if found else 0
    return total


def read(path, check=True):
    """A trace that all readers agree on."""
    t = Trace(path)
    n = len(t.events) + t.kernel_events
    if check:
        tacho("check", path)
        counted = babeltrace(path)
        assert counted in (None, n), "babeltrace2: %d, not %d" % (counted, n)
        out = tacho("report", "-F", "json", path).out
        lines = out.count("\n") - len(re.findall('"lost":', out))
        assert lines == n, "report: %d lines, not %d" % (lines, n)
    return t


def same_hits(trace, want, name="rec:hit"):
    """want: {pid: count}: these and no others, each once and in order."""
    got = trace.hits(name)
    for pid, n in want.items():
        ns = got.pop(int(pid), [])
        assert ns == list(range(n)), "pid %s: %d hits, not %d: %s" % (
            pid, len(ns), n, ns[:20])
    assert not got, "hits of others: %s" % {k: len(v) for k, v in got.items()}
