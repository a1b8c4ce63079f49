#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The mounted tree when things go wrong around it: faults.py TACHO SHOP [TEST]

Programs that die, sessions that are destroyed, a server that is killed, readers that are
interrupted, disks that are full, users who may not.  SHOP is a program with events."""
import contextlib
import errno
import grp
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

TACHO, SHOP = map(os.path.abspath, sys.argv[1:3])
NAME = "flt%d" % os.getpid()
INSTANCES = "/sys/kernel/tracing/instances"
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
LONG = 240      # seconds: longer than anything takes on a busy machine
HIST = "hist:keys=customer"


class Skip(Exception):
    pass


# ---- small things ----

def until(what, holds):
    end = time.monotonic() + LONG
    while not holds():
        assert time.monotonic() < end, "it never came: " + what
        time.sleep(0.02)


def run(*argv, ok=0, **kw):
    p = subprocess.run(argv, capture_output=True, text=True, timeout=LONG,
                       cwd=kw.pop("cwd", WORK), **kw)
    assert ok is None or p.returncode == ok, \
        "%r: %d, %r, %r" % (argv, p.returncode, p.stdout, p.stderr)
    return p


def tacho(*argv, **kw):
    return run(TACHO, *argv, **kw)


def refused(*argv, says, ok=1, **kw):
    """In one sentence of ours, which has these words."""
    p = tacho(*argv, ok=ok, **kw)
    lines = [l for l in p.stderr.splitlines() if l.startswith("tacho:")]
    assert len(lines) == 1 and says in lines[0] and not p.stdout, p


def put(path, text, flags=os.O_APPEND):
    fd = os.open(path, os.O_WRONLY | flags)
    try:
        assert os.write(fd, text.encode()) == len(text)
    finally:
        os.close(fd)


def get(path):
    with open(path) as f:
        return f.read()


def fails(number, call, *args):
    try:
        call(*args)
    except OSError as e:
        assert e.errno == number, "%s, not %s" % (e, errno.errorcode[number])
    else:
        raise AssertionError("it is not refused: %r" % (args,))


def is_mounted(path):
    with open("/proc/self/mounts") as f:
        return any(l.split()[1] == path for l in f)


# ---- servers and programs ----

class Mount:
    """A tree that a server in the foreground serves; its end is looked at."""

    def __init__(self, *options, session=NAME, name="mnt"):
        self.dir = os.path.join(WORK, name)
        os.makedirs(self.dir, exist_ok=True)
        self.said = open(os.path.join(WORK, name + ".said"), "w+")
        self.server = subprocess.Popen([TACHO, "mount", "-f", "-s", session, *options,
                                        self.dir], stderr=self.said)
        until("mount", lambda: is_mounted(self.dir) or self.server.poll() is not None)
        assert self.server.poll() is None, self.words()

    def words(self):
        self.said.seek(0)
        return self.said.read()

    def __call__(self, *path):
        return os.path.join(self.dir, *path)

    def end(self, clean=True):
        """Unmounts it.  Nothing was said, and (sanitizers) nothing is left."""
        tacho("umount", self.dir)
        status = self.server.wait(LONG)
        assert not clean or (status == 0 and not self.words()), (status, self.words())

    def kill(self):
        self.server.kill()
        self.server.wait(LONG)


@contextlib.contextmanager
def mounted(*options, **kw):
    m = Mount(*options, **kw)
    try:
        yield m
        m.end()
    finally:
        if m.server.poll() is None:
            m.kill()
        subprocess.run(["umount", "-l", m.dir], stderr=subprocess.DEVNULL)
        m.said.close()


@contextlib.contextmanager
def shop(tree):
    """A program whose events the tree knows."""
    p = subprocess.Popen([SHOP, "-s", str(LONG)], stdout=subprocess.DEVNULL)
    try:
        until("a program's events", lambda: os.path.isdir(tree("events/shop")))
        yield p
    finally:
        p.kill()
        p.wait(LONG)


def written(session=NAME):
    """How many records a session has been given."""
    for line in tacho("status", session).stdout.splitlines():
        words = line.split()
        if words[:1] == ["events"]:
            return int(words[1])
    raise AssertionError("status has no count")


def grows(what, count):
    before = count()
    until(what, lambda: count() > before)


# ---- programs ----

def test_program_dies():
    """a program dies while its event's files are open"""
    with mounted() as m:
        with shop(m) as p:
            event = m("events/shop/order_done")
            put(event + "/enable", "1")
            put(event + "/trigger", HIST)
            grows("records", written)
            files = [open(os.path.join(event, n)) for n in
                     ("enable", "filter", "trigger", "hist", "format", "id")]
            pipe = os.open(m("trace_pipe"), os.O_RDONLY | os.O_NONBLOCK)
            writer = os.open(event + "/filter", os.O_WRONLY)
            p.kill()
            p.wait(LONG)
        for f in files:
            f.read()
        os.write(writer, b"id > 3")
        assert get(event + "/filter") == "id > 3\n"
        assert "order_done: " in get(m("trace"))
        assert os.read(pipe, 100000)
        # what it has recorded is known by its name and can be switched
        put(event + "/enable", "0")
        assert get(event + "/enable") in ("0\n", "0*\n")
        for fd in pipe, writer:
            os.close(fd)
        for f in files:
            f.close()


# ---- sessions ----

def test_destroyed():
    """tacho destroy of an instance whose files are open"""
    with mounted() as m:
        os.mkdir(m("instances", NAME + "x"))
        inst = m("instances", NAME + "x")
        put(inst + "/trace_marker", "before\n")
        put(inst + "/events/sched/sched_process_fork/enable", "1")
        assert os.path.isdir(os.path.join(INSTANCES, "tacho." + NAME + "x"))
        waits = subprocess.Popen(["cat", inst + "/trace_pipe"], stdout=subprocess.PIPE)
        assert waits.stdout.readline()
        on = os.open(inst + "/tracing_on", os.O_RDWR)
        tacho("destroy", NAME + "x")
        assert waits.wait(LONG) == 0      # the end of the stream
        waits.stdout.close()
        fails(errno.ENOENT, os.write, on, b"1")
        until("its name is gone", lambda: not os.path.exists(inst))
        os.close(on)
        until("its instance in the kernel is gone",
              lambda: not os.path.exists(os.path.join(INSTANCES, "tacho." + NAME + "x")))
        os.mkdir(inst)
        put(inst + "/trace_marker", "anew\n")
        assert "anew" in get(inst + "/trace") and "before" not in get(inst + "/trace")
        os.rmdir(inst)


def test_top_destroyed():
    """tacho destroy of the session at the top: it is a new one"""
    with mounted() as m:
        put(m("trace_marker"), "before\n")
        put(m("events/sched/sched_process_fork/enable"), "1")
        tacho("destroy", NAME)
        put(m("trace_marker"), "anew\n")
        text = get(m("trace"))
        assert "anew" in text and "before" not in text
        assert get(m("events/sched/sched_process_fork/enable")) == "0\n"


def test_kept_is_destroyed():
    """tacho destroy removes what the kernel keeps, with and without the session"""
    kept = os.path.join(INSTANCES, "tacho." + NAME)
    for session_goes_first in False, True:
        with mounted("--keep") as m:
            put(m("events/sched/sched_process_fork/enable"), "1")
        assert os.path.isdir(kept)
        assert "tacho." + NAME in tacho("status").stdout
        if session_goes_first:
            shutil.rmtree(os.environ["TACHO_DIR"])
            assert "tacho destroy " + NAME in tacho("status").stdout
        tacho("destroy", NAME)
        assert not os.path.exists(kept)
        refused("destroy", NAME, says=NAME)


def test_rmdir_busy():
    """rmdir of an instance in use"""
    with mounted() as m:
        inst = m("instances", NAME + "x")
        os.mkdir(inst)
        fails(errno.EEXIST, os.mkdir, inst)
        f = open(inst + "/trace")
        fails(errno.EBUSY, os.rmdir, inst)
        f.close()
        os.rmdir(inst)
        fails(errno.ENOENT, os.rmdir, inst)
        # whoever has closed all files finds it free, at once
        for i in range(20):
            os.mkdir(inst)
            get(inst + "/trace")
            os.rmdir(inst)
        fails(errno.EPERM, os.mkdir, m("elsewhere"))
        fails(errno.EPERM, os.rmdir, m("events"))


def test_removed_while_read():
    """an instance is removed while a directory in it is read"""
    with mounted() as m:
        os.mkdir(m("instances/a"))
        with os.scandir(m("instances/a/events")) as entries:
            os.rmdir(m("instances/a"))
            assert not list(entries)
        assert "nop" in get(m("current_tracer"))    # the server is there


# ---- the server ----

def test_server_killed():
    """the server is killed while events flow: all goes on, and is found again"""
    m = Mount()
    try:
        with shop(m) as p:
            put(m("events/shop/order_done/enable"), "1")
            put(m("events/shop/order_done/filter"), "id >= 0")
            put(m("events/shop/order_take/trigger"), HIST)
            put(m("events/sched/sched_process_fork/enable"), "1")
            put(m("events/sched/sched_process_fork/filter"), "child_pid > 1")
            grows("records", written)
            reader = subprocess.Popen(["cat", m("trace_pipe")],
                                      stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
            m.kill()
            assert reader.wait(LONG) == 1   # the mount is dead, its reader hears of it
            assert p.poll() is None
            grows("records without a server", written)
            refused("mount", "-s", NAME, m.dir, says="is gone")
            tacho("umount", m.dir)
            assert not is_mounted(m.dir)
            refused("umount", m.dir, says="no tacho")
            with mounted() as again:
                assert get(again("events/shop/order_done/enable")) == "1\n"
                assert get(again("events/shop/order_done/filter")) == "id >= 0\n"
                assert HIST in get(again("events/shop/order_take/trigger"))
                fork = again("events/sched/sched_process_fork")
                assert get(fork + "/enable") == "1\n"
                assert get(fork + "/filter") == "child_pid > 1\n"
                # the kernel went on, too
                assert "sched_process_fork: " in get(again("trace"))
                grows("records", written)
    finally:
        subprocess.run(["umount", "-l", m.dir], stderr=subprocess.DEVNULL)
    # the first mount has made it, and the second has put it away
    refused("destroy", NAME, says=NAME)
    assert not os.path.exists(os.path.join(INSTANCES, "tacho." + NAME))


def settings(tree, inst):
    """What is set in an instance and in nothing that outlives a server by itself."""
    at = tree(inst)
    return {n: get(os.path.join(at, n)) for n in (
        "trace_clock", "trace_options", "buffer_percent", "buffer_subbuf_size_kb",
        "buffer_size_kb", "synthetic_events", "tracing_on",
        "events/sched/sched_switch/trigger", "events/sched/sched_wakeup/trigger",
        "events/sched/sched_wakeup/enable", "events/sched/sched_process_fork/enable",
        "events/ftrace/print/trigger")}


def set_all(tree, inst):
    for name, text in (
            ("trace_clock", "mono"), ("options/sym-addr", "1"), ("options/overwrite", "0"),
            ("buffer_percent", "77"), ("buffer_subbuf_size_kb", "16"),
            ("buffer_size_kb", "512"),
            ("synthetic_events", "lat u64 v; pid_t pid"),
            # the second needs the first
            ("events/sched/sched_switch/trigger", "hist:keys=next_pid:ts0=common_timestamp.usecs"),
            ("events/sched/sched_switch/trigger", "hist:keys=prev_pid:w=common_timestamp.usecs-"
             "$ts0:onmatch(sched.sched_switch).lat($w,prev_pid) if prev_pid > 2"),
            ("events/sched/sched_wakeup/trigger", "hist:keys=pid:pause if pid > 2"),
            ("events/sched/sched_wakeup/trigger", "snapshot if pid == 1 && prio == 1"),
            ("events/ftrace/print/trigger", "traceoff:3 if ip == 0"),
            ("events/sched/sched_process_fork/enable", "1")):
        put(os.path.join(tree(inst), name), text)


def test_server_killed_settings():
    """the server is killed: what was set in all instances is set again, with its counts anew"""
    m = Mount()
    try:
        os.mkdir(m("instances/a"))
        for inst in "", "instances/a":
            set_all(m, inst)
        before = [settings(m, inst) for inst in ("", "instances/a")]
        assert "$ts0" in before[1]["events/sched/sched_switch/trigger"]
        m.kill()
        p = tacho("umount", m.dir)
        assert "destroy" in p.stderr and " a" in p.stderr and NAME in p.stderr, p
        with mounted() as again:
            # nobody has looked at it, and yet it counts
            until("the histogram goes on", lambda: "hitcount:" in get(
                again("instances/a/events/sched/sched_switch/hist")).split("prev_pid")[-1])
            after = [settings(again, inst) for inst in ("", "instances/a")]
            for b, a in zip(before, after):
                for n in b:
                    assert a[n] == b[n], (n, b[n], a[n])
    finally:
        subprocess.run(["umount", "-l", m.dir], stderr=subprocess.DEVNULL)
    for name in NAME, "a":
        refused("destroy", name, says=name)
        assert not os.path.exists(os.path.join(INSTANCES, "tacho." + name))


def test_pids_and_enable():
    """whose events are recorded does not change what enable says"""
    with mounted() as m, shop(m) as p:
        put(m("events/shop/enable"), "1", os.O_TRUNC)
        for pids in "", "22", str(p.pid):
            put(m("set_event_pid"), pids + "\n", os.O_TRUNC)
            assert get(m("events/shop/enable")) == "1\n", pids
            assert get(m("events/shop/order_done/enable")) == "1\n", pids


def test_read_is_no_overrun():
    """stats: what was read before newer records replaced it is not lost"""
    def stats():
        sums = {}
        for d in os.listdir(m("per_cpu")):
            for line in get(m("per_cpu", d, "stats")).splitlines():
                k, v = line.split(": ")
                sums[k] = sums.get(k, 0) + float(v)
        return sums
    with mounted("-b", "64K") as m, shop(m):
        put(m("events/shop/enable"), "1", os.O_TRUNC)
        fd = os.open(m("trace_pipe"), os.O_RDONLY | os.O_NONBLOCK)
        text = b""

        def read():
            nonlocal text
            try:
                text += os.read(fd, 1 << 20)
            except BlockingIOError:
                pass
            return stats()
        # many times what the buffers hold
        until("many events", lambda: read()["read events"] > 12000)
        put(m("tracing_on"), "0", os.O_TRUNC)
        until("the rest", lambda: read()["entries"] == 0)
        os.close(fd)
        s = stats()
        lost = sum(map(int, re.findall(rb"LOST (\d+) EVENTS", text)))
        assert s["overrun"] == lost, (s, lost)


def test_shown_by_two():
    """a second mount of a session ends: the first goes on, and ends it"""
    with mounted() as m:
        put(m("trace_clock"), "mono")
        with mounted(name="second") as n:
            assert "[mono]" in get(n("trace_clock"))
        put(m("trace_marker"), "there\n")
        assert "there" in get(m("trace"))
    refused("destroy", NAME, says=NAME)


SWITCH = "events/sched/sched_switch"
USES = (("options/stacktrace", "1"), (SWITCH + "/enable", "1"), ("options/overwrite", "0"),
        (SWITCH + "/trigger", "hist:keys=next_pid"), ("synthetic_events", NAME + "s u64 lat"),
        ("trace_clock", "mono"))


def is_left(name=NAME):
    """Of a session: itself, and its instance in the kernel."""
    return (os.path.isdir(os.path.join(os.environ["TACHO_DIR"], "sessions", name)),
            os.path.isdir(os.path.join(INSTANCES, "tacho." + name)))


def test_used_by_two():
    """a session that another mount uses ends with the last mount, whichever that is"""
    for file, text in USES:
        with mounted(session=NAME + "o", name="other") as other:
            with mounted():
                put(other("instances", NAME, file), text)
            assert is_left()[0], file
            assert get(other("instances", NAME, "tracing_on")) == "1\n", file
        assert is_left() == (False, False), file
    with mounted() as m:
        with mounted(session=NAME + "o", name="other") as other:
            put(other("instances", NAME, SWITCH, "enable"), "1")
        assert is_left() == (True, True)
        assert get(m(SWITCH, "enable")) == "1\n"
    assert is_left() == (False, False)


def test_looked_at_by_two():
    """a session that another mount has only looked at ends with its own"""
    with mounted(session=NAME + "o", name="other") as other:
        with mounted() as m:
            put(m(SWITCH, "enable"), "1")
            os.listdir(other("instances", NAME))
            assert get(other("instances", NAME, "trace_clock"))
        assert is_left() == (False, False)


def test_killed_of_two():
    """the maker is killed: the session ends with the other mount that uses it"""
    with mounted(session=NAME + "o", name="other") as other:
        m = Mount()
        try:
            put(other("instances", NAME, SWITCH, "enable"), "1")
            m.kill()
            tacho("umount", m.dir)
        finally:
            subprocess.run(["umount", "-l", m.dir], stderr=subprocess.DEVNULL)
        assert is_left() == (True, True)
    assert is_left() == (False, False)


def test_not_made_by_two():
    """a session that was there before its mounts outlives both"""
    tacho("create", NAME)
    with mounted(session=NAME + "o", name="other") as other, mounted() as m:
        put(m("trace_clock"), "mono")
        put(other("instances", NAME, "trace_clock"), "boot")
    assert is_left() == (True, False)
    tacho("destroy", NAME)


def test_rmdir_of_two():
    """rmdir of an instance that another mount has used; one in which it has a file open is busy"""
    with mounted() as m, mounted(session=NAME + "o", name="other") as other:
        inst, seen = (t("instances", NAME + "x") for t in (m, other))
        for remove in inst, seen, inst:
            os.mkdir(inst)
            put(os.path.join(seen, SWITCH, "enable"), "1")
            put(os.path.join(inst, SWITCH, "trigger"), "snapshot")
            put(os.path.join(seen, "trace_clock"), "mono")
            assert get(os.path.join(inst, SWITCH, "enable"))[0] == "1"
            os.rmdir(remove)
            assert is_left(NAME + "x") == (False, False)
            assert not os.path.exists(inst) and not os.path.exists(seen)
        os.mkdir(inst)
        put(os.path.join(inst, SWITCH, "enable"), "1")
        with open(os.path.join(seen, SWITCH, "enable")) as held:
            assert held.read() == "1\n"
            fails(errno.EBUSY, os.rmdir, inst)
            held.seek(0)
            assert held.read() == "1\n"
        assert get(os.path.join(inst, SWITCH, "enable"))[0] == "1"
        os.rmdir(inst)
        assert is_left(NAME + "x") == (False, False)


def test_server_stopped():
    """a server that does not answer: nobody waits for it for long"""
    with mounted() as m:
        m.server.send_signal(signal.SIGSTOP)
        task = "/proc/%d/task" % m.server.pid
        until("all its threads are stopped", lambda: all(
            get("%s/%s/stat" % (task, t)).rsplit(")")[-1].split()[0] == "T"
            for t in os.listdir(task)))
        try:
            begin = time.monotonic()
            refused("umount", m.dir, says="does not answer")
            assert time.monotonic() - begin < 60
            refused("mount", "-s", NAME, m.dir, says="does not answer")
        finally:
            m.server.send_signal(signal.SIGCONT)


def status_bytes():
    for line in tacho("status", NAME).stdout.splitlines():
        if line.split()[:1] == ["buffers"]:
            number, unit = line.split()[1:3]
            return float(number) * {"KiB": 1, "MiB": 1024, "GiB": 1 << 20}[unit.strip(",")]
    raise AssertionError("status has no buffers")


def test_resized():
    """buffers that are resized again and again: ids, memory and records stay"""
    with mounted() as m:
        with shop(m) as p:
            put(m("events/shop/order_done/enable"), "1")
            grows("records", written)
            p.send_signal(signal.SIGSTOP)
            kept = get(m("trace")).count("order_done: ")
            assert kept
            p.send_signal(signal.SIGCONT)
            for i in range(150):
                put(m("buffer_size_kb"), "256" if i % 2 else "512")
                if i % 10 == 0:
                    put(m("options/overwrite"), str(i // 10 % 2))
                    # all of it fits
                    if written() > 1500:
                        p.send_signal(signal.SIGSTOP)
            p.send_signal(signal.SIGSTOP)
            count = get(m("trace")).count("order_done: ")
            assert kept < count == written(), (kept, count, written())
            p.send_signal(signal.SIGCONT)
        total = float(get(m("buffer_total_size_kb")))
        assert abs(status_bytes() - total) / total < 0.3, (status_bytes(), total)
        blocks = sum(os.stat(os.path.join(d, f)).st_blocks for d, _, fs in
                     os.walk(os.environ["TACHO_DIR"]) for f in fs if f.startswith("buf."))
        assert blocks / 2 <= 1.3 * total, (blocks, total)


def test_dead_mount_in_use():
    """a dead mount is unmounted though somebody has its files open"""
    m = Mount()
    f = open(m("trace"))
    m.kill()
    tacho("umount", "mnt/")         # a name that is not the mount's
    assert not is_mounted(m.dir)
    with contextlib.suppress(OSError):
        f.close()
    tacho("destroy", NAME)


def test_two_mounts():
    """two mounts of one session"""
    with mounted() as a, mounted(name="mnt2") as b, shop(a):
        put(a("events/shop/order_done/enable"), "1")
        assert get(b("events/shop/order_done/enable")) == "1\n"
        put(b("events/shop/order_done/filter"), "id >= 0")
        assert get(a("events/shop/order_done/filter")) == "id >= 0\n"
        put(a("trace_marker"), "of a\n")
        put(b("trace_marker"), "of b\n")
        for m in a, b:
            text = get(m("trace"))
            assert "of a" in text and "of b" in text
        refused("mount", "-s", NAME, a.dir, says="already")


def test_busy():
    """unmounting while files are open is refused"""
    with mounted() as m:
        f = open(m("trace"))
        refused("umount", m.dir, says="in use")
        put(m("trace_marker"), "still here\n")
        assert "still here" in f.read()
        f.close()


# ---- writers and readers at once ----

RACE = """
import os, sys
fd = os.open(sys.argv[1], os.O_WRONLY)
bad = 0
for i in range(200):
    for text in sys.argv[2], '!' + sys.argv[2]:
        try:
            os.write(fd, text.encode())
        except OSError as e:
            bad += e.errno != 17    # EEXIST: the other one was first
sys.exit(bad != 0)
"""


def test_race():
    """two writers race for one trigger file"""
    with mounted() as m, shop(m):
        path = m("events/shop/order_done/trigger")
        two = [subprocess.Popen([sys.executable, "-c", RACE, path, HIST])
               for i in range(2)]
        while any(p.poll() is None for p in two):
            assert get(path).count(HIST) <= 1
        assert [p.returncode for p in two] == [0, 0]
        assert HIST not in get(path)
        put(path, HIST)
        assert get(path).count(HIST) == 1


def interrupt(*_):
    raise InterruptedError("by the handler")


def test_reader_interrupted():
    """a reader that waits is ended by a signal"""
    with mounted() as m:
        for name in "trace_pipe", "per_cpu/cpu0/trace_pipe":
            fd = os.open(m(name), os.O_RDONLY)
            signal.signal(signal.SIGALRM, interrupt)
            signal.setitimer(signal.ITIMER_REAL, 0.1, 0.1)
            try:
                os.read(fd, 100)
                raise AssertionError("it was not interrupted")
            except InterruptedError:
                pass
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            # and goes on as before
            os.set_blocking(fd, False)
            fails(errno.EAGAIN, os.read, fd, 4096)
            os.set_blocking(fd, True)
            # it is the only one meanwhile
            fails(errno.EBUSY, os.open, m(name), os.O_RDONLY)
            put(m("trace_marker"), "after\n")
            if name == "trace_pipe":
                assert b"after" in os.read(fd, 4096)
            os.close(fd)
        for sig in signal.SIGTERM, signal.SIGKILL:
            p = subprocess.Popen(["cat", m("trace_pipe")], stdout=subprocess.DEVNULL)
            until("it waits", lambda: get("/proc/%d/syscall" % p.pid)[:2] == "0 ")
            p.send_signal(sig)
            assert p.wait(LONG) == -sig


def test_poll():
    """poll tells when there is something to read"""
    with mounted() as m:
        put(m("buffer_percent"), "0")
        fd = os.open(m("trace_pipe"), os.O_RDONLY | os.O_NONBLOCK)
        p = select.poll()
        p.register(fd, select.POLLIN)
        assert p.poll(0) == []
        writer = subprocess.Popen(["sh", "-c", "sleep 0.2; echo wake > " +
                                   m("trace_marker")])
        assert p.poll(LONG * 1000) == [(fd, select.POLLIN)]
        writer.wait(LONG)
        until("the record", lambda: read_has(fd, b"wake"))
        assert p.poll(0) == []
        os.close(fd)


def read_has(fd, words):
    try:
        return words in os.read(fd, 4096)
    except BlockingIOError:
        return False


# ---- no room, no device, no rights ----

def test_full():
    """no room for an instance: ENOSPC, and nothing is lost"""
    small = os.path.join(WORK, "small")
    os.mkdir(small)
    run("mount", "-t", "tmpfs", "-o", "size=24M,mode=700", "none", small)
    old = os.environ["TACHO_DIR"]
    os.environ["TACHO_DIR"] = small
    try:
        with mounted("-b", "1M", "--no-kernel") as m:
            put(m("trace_marker"), "kept\n")
            made = []
            try:
                for i in range(64):
                    os.mkdir(m("instances/i%d" % i))
                    made.append(i)
                raise AssertionError("there is always room")
            except OSError as e:
                assert e.errno == errno.ENOSPC, e
            assert made and sorted(os.listdir(m("instances"))) == \
                sorted("i%d" % i for i in made)
            assert "kept" in get(m("trace"))
            put(m("instances/i0/trace_marker"), "works\n")
            assert "works" in get(m("instances/i0/trace"))
            os.rmdir(m("instances/i%d" % made[-1]))
            os.mkdir(m("instances/again"))
        refused("mount", "-s", NAME, "-b", "64M", os.path.join(WORK, "mnt"),
                says="No space")
    finally:
        os.environ["TACHO_DIR"] = old
        run("umount", "-l", small)


def test_where():
    """what cannot be mounted on"""
    mnt = os.path.join(WORK, "where")
    refused("mount", mnt, says="No such file")
    os.mkdir(mnt)
    open(mnt + "/file", "w").close()
    refused("mount", mnt, says="not empty")
    refused("mount", mnt + "/file", says="not a directory")
    refused("mount", "-s", "a/b", mnt, "-o", "nonempty", says="is not a session name: use 1 to 63")
    refused("mount", "-o", "nonsense", mnt, says="nonsense", ok=2)
    refused("mount", "-o", "gid=nobody-has-this", mnt, says="group", ok=2)
    refused("umount", mnt, says="no tacho")
    with mounted("-o", "nonempty", name="where") as m:
        assert not os.path.exists(m("file"))
    assert os.path.exists(mnt + "/file")


def test_no_device():
    """no /dev/fuse"""
    home = tempfile.mkdtemp(prefix="tacho-nodev-", dir="/tmp")
    try:
        p = run("unshare", "-m", "sh", "-c",
                "mount -t tmpfs none /dev && mknod /dev/null c 1 3 && "
                "exec %s mount -s %s %s" % (TACHO, NAME, home), ok=1,
                env=dict(os.environ, TACHO_DIR=home + ".run"))
        assert "/dev/fuse" in p.stderr and p.stderr.startswith("tacho:"), p
        assert not os.path.exists(os.path.join(INSTANCES, "tacho." + NAME))
    finally:
        shutil.rmtree(home)
        shutil.rmtree(home + ".run", ignore_errors=True)


# In a name space where everybody may open /dev/fuse.
AS_NOBODY = """set -e
mount -t tmpfs none /dev
mknod -m 666 /dev/null c 1 3
mknod -m 666 /dev/fuse c 10 229
nobody() { setpriv --reuid=65534 --regid=65534 --clear-groups "$@"; }
nobody mkdir -m 700 mnt run
nobody ./tacho mount -s %(name)s mnt
nobody sh -c 'cd mnt
    echo hello > trace_marker && grep -q hello trace && ! test -e events/sched'
! ls mnt 2>/dev/null    # nobody else gets in, root not either
nobody ./tacho umount mnt
! grep -q %(home)s/mnt /proc/self/mounts
"""


def test_nobody():
    """a user without rights: events of programs, and it is said"""
    if not shutil.which("fusermount3"):
        raise Skip("needs fusermount3")
    home = tempfile.mkdtemp(prefix="tacho-nobody-", dir="/tmp")
    try:
        os.chown(home, 65534, 65534)
        # the build may lie where others cannot go
        shutil.copy(TACHO, home + "/tacho")
        os.chmod(home + "/tacho", 0o755)
        p = run("unshare", "-m", "sh", "-c", AS_NOBODY % {"name": NAME, "home": home},
                cwd=home, env=dict(os.environ, TACHO_DIR=home + "/run"))
        assert "no kernel events: no permission" in p.stderr, p
    finally:
        shutil.rmtree(home)


def test_group():
    """-o gid=: the group may do what the owner may, others nothing"""
    group = grp.getgrnam("daemon").gr_gid
    member = ["setpriv", "--reuid=65534", "--regid=%d" % group, "--clear-groups"]
    os.chmod(WORK, 0o755)
    with mounted("-o", "gid=daemon") as m:
        assert os.stat(m("trace")).st_gid == group
        assert os.stat(m("trace")).st_mode & 0o777 == 0o660
        assert os.stat(m("trace_pipe")).st_mode & 0o777 == 0o440
        assert os.stat(m("trace_marker")).st_mode & 0o777 == 0o220
        assert os.stat(m()).st_mode & 0o777 == 0o770
        run(*member, "sh", "-c", "echo hello > trace_marker && grep hello trace",
            cwd=m.dir)
        p = run(*NOBODY, "cat", m("trace"), ok=1)
        assert "Permission denied" in p.stderr, p
        run(*NOBODY, "ls", m.dir, ok=2)
        # modes and owners of files are kept
        os.chmod(m("trace_marker"), 0o222)
        os.chmod(m(), 0o755)
        run(*NOBODY, "sh", "-c", "echo of others > " + m("trace_marker"))
        assert "of others" in get(m("trace"))
        os.chown(m("trace"), 65534, -1)
        run(*NOBODY, "cat", m("trace"))


def test_not_for_others():
    """without options nobody else gets in"""
    os.chmod(WORK, 0o755)
    with mounted() as m:
        p = run(*NOBODY, "ls", m.dir, ok=2)
        assert "Permission denied" in p.stderr, p


def test_marker_of_thread():
    """a marker is its thread's, and that is one of its process"""
    def work():
        ids.append(threading.get_native_id())
        put(m("trace_marker"), "of a thread\n")
    with mounted() as m:
        ids = []
        put(m("options/record-tgid"), "1")
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        put(m("trace_marker"), "of a process\n")
        lines = [l for l in get(m("trace")).splitlines() if l[:1] != "#"]
        for line, tid in zip(lines, ids + [os.getpid()]):
            head = line.split("[")[0].split()
            assert head[0].endswith("-%d" % tid), lines
            assert head[1:] in (["(%d)" % os.getpid()], ["(", "%d)" % os.getpid()]), lines
        assert len(lines) == 2, lines


def test_relative():
    """names of directories that are not absolute, and have blanks"""
    os.mkdir(os.path.join(WORK, "a dir"))
    tacho("mount", "-s", NAME, "a dir")
    try:
        assert is_mounted(os.path.join(WORK, r"a\040dir"))
        put(os.path.join(WORK, "a dir", "trace_marker"), "here\n")
    finally:
        tacho("umount", "./a dir/")
    assert not is_mounted(os.path.join(WORK, r"a\040dir"))


def test_everything_read():
    """everything is read, twice, and nothing is left behind"""
    with mounted() as m, shop(m):
        put(m("events/shop/enable"), "1")
        put(m("events/sched/sched_switch/enable"), "1")
        put(m("events/shop/order_done/trigger"), HIST)
        put(m("events/sched/sched_switch/trigger"), "hist:keys=next_pid")
        grows("records", written)
        for turn in range(2):
            for top, dirs, files in os.walk(m.dir):
                # of the kernel's events a few
                if top == m("events"):
                    dirs[:] = [d for d in dirs if d in ("shop", "sched", "ftrace")]
                for name in files:
                    read_some(os.path.join(top, name))
            put(m("snapshot"), "1")
            put(m("trace"), "", os.O_TRUNC)


def read_some(path):
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    except OSError as e:
        assert e.errno in (errno.EACCES, errno.EPERM, errno.EINVAL, errno.EBUSY), \
            "%s: %s" % (path, e)
        return
    try:
        while os.read(fd, 65536) and "pipe" not in path:
            pass
    except OSError as e:
        # root may open what has no reading
        assert e.errno in (errno.EAGAIN, errno.EINVAL, errno.EPERM, errno.EBUSY), "%s: %s" % (path, e)
    finally:
        os.close(fd)


def test_rule_before():
    """a rule for a program that comes later"""
    with mounted() as m:
        fails(errno.EINVAL, put, m("set_event"), "shop:order_done")
        put(m("set_event"), "shop:*")
        with shop(m):
            assert get(m("events/shop/enable")) == "1\n"
            assert "shop:order_done\n" in get(m("set_event"))
            grows("its events", lambda: written())
        # it was recorded: its events stay
        assert get(m("events/shop/order_done/enable")) == "1\n"
        put(m("set_event"), "!shop:*")
        assert get(m("events/shop/enable")) == "0\n"


def test_readme_of_probes():
    """README promises event probes, and whatever the kernel is, they are there"""
    with mounted() as m:
        text = get(m("README"))
        assert "e[:[<group>/][<event>]]" in text
        assert "p[:[<group>/][<event>]] <place> [<args>]" in text
        put(m("dynamic_events"), "e:%s/probe sched.sched_switch" % NAME)
        put(m("dynamic_events"), "-:%s/probe" % NAME)


PROBES = (("one", "shop.order_done number=$id:u32 who=$customer:string"),
          ("two", "sched.sched_switch prio=$next_prio:s32 what=$next_comm:string if next_pid > 0"))


def test_server_killed_eprobes():
    """the server is killed: event probes go on, those of programs without a server, too"""
    def own(tree):
        """without the probes of others in the kernel, which come and go"""
        lines = get(tree("dynamic_events")).splitlines()
        return "".join(l + "\n" for l in lines if ":%s/" % NAME in l)
    m = Mount()
    try:
        with shop(m):
            group = m("events", NAME)
            for name, text in PROBES:
                put(m("dynamic_events"), "e:%s/%s %s" % (NAME, name, text))
                put(os.path.join(group, name, "enable"), "1")
            put(os.path.join(group, "two/trigger"), "hist:keys=prio")
            put(os.path.join(group, "one/filter"), "number >= 0")
            grows("records", written)
            listed = own(m)
            assert all("e:%s/%s " % (NAME, p[0]) in listed for p in PROBES), listed
            m.kill()
            grows("records without a server", written)
            tacho("umount", m.dir)
            with mounted() as again:
                group = again("events", NAME)
                assert own(again) == listed
                assert get(group + "/one/enable") == "1\n"
                assert get(group + "/two/enable") == "1*\n"
                assert get(group + "/one/filter") == "number >= 0\n"
                assert "hist:keys=prio:" in get(group + "/two/trigger")
                for base in "shop/order_done", "sched/sched_switch":
                    assert get(again("events", base, "enable")) == "0*\n", base
                fails(errno.EBUSY, put, again("dynamic_events"), "-:%s/one" % NAME)
                with open(again("trace"), "w"):
                    pass
                until("both are recorded", lambda: all(
                    w in get(again("trace")) for w in (
                        ": one: (shop.order_done) number=",
                        ": two: (sched.sched_switch) prio=")))
                trace = get(again("trace"))
                assert ": order_done: " not in trace and ": sched_switch: " not in trace
                until("it is counted", lambda: "hitcount:" in get(group + "/two/hist"))
                put(group + "/two/trigger", "!hist:keys=prio")
                put(group + "/enable", "0")
                for base in "shop/order_done", "sched/sched_switch":
                    assert get(again("events", base, "enable")) == "0\n", base
                put(again("dynamic_events"), "-:%s/" % NAME)
                assert not os.path.exists(group)
    finally:
        subprocess.run(["umount", "-l", m.dir], stderr=subprocess.DEVNULL)
    refused("destroy", NAME, says=NAME)


# ---- what the kernel keeps of the tree ----

FORK = "events/sched/sched_process_fork"


def test_kept_text():
    """what is written, somebody who has read the file reads at once"""
    with mounted() as m, open(m(FORK, "trigger")) as held, open(m(FORK, "enable")) as state:
        none = held.read()
        assert none.startswith("# Available") and get(m(FORK, "trigger")) == none
        assert state.read() == "0\n"
        for text in ("traceoff:3 if parent_pid < 0", "stacktrace:4 if parent_pid == -77",
                     "traceoff:3 if parent_pid < 0"):   # none of which ever happens
            for sign in "", "!":
                put(m(FORK, "trigger"), sign + text)
                held.seek(0)
                now = held.read()
                assert ("count=" in now) == (not sign), (sign, text, now)
                again = get(m(FORK, "trigger"))
                assert again == now, (again, now)
        assert now == none
        # of the same length, through another file
        for on in "1", "0", "1":
            put(m("set_event"), ("" if on == "1" else "!") + "sched:sched_process_fork")
            state.seek(0)
            assert state.read() == on + "\n" == get(m(FORK, "enable"))
        # O_TRUNC alone, which empties
        put(m("set_event"), "", os.O_TRUNC)
        state.seek(0)
        assert state.read() == "0\n" == get(m(FORK, "enable"))


def test_kept_text_of_others():
    """what another tool changes is read at once; who goes back in a file sees it, too"""
    with mounted() as m, open(m(FORK, "enable")) as held:
        put(m(FORK, "enable"), "1")
        text = held.read()
        assert text == "1\n", text
        for on in "0", "1", "0":
            put(os.path.join(INSTANCES, "tacho." + NAME, FORK, "enable"), on)
            assert get(m(FORK, "enable")) == on + "\n"

            def seen(on=on):
                held.seek(0)
                return held.read() == on + "\n"
            until("the other tool's", seen)
        with shop(m):
            file = m("events/shop/order_done/enable")
            with open(file) as shown:
                assert shown.read() == "0\n"
                for verb, on in ("enable", "1"), ("disable", "0"), ("enable", "1"):
                    tacho(verb, "-q", "-s", NAME, "shop:order_done")
                    assert get(file) == on + "\n"


def test_kept_names():
    """what comes and goes is there, or not, at once"""
    with mounted() as m:
        for _ in range(3):
            event = m("events/shop/order_done")
            assert not os.path.exists(event) and "shop" not in os.listdir(m("events"))
            with shop(m):
                assert os.path.isdir(event) and "shop" in os.listdir(m("events"))
                assert os.stat(event + "/trigger") and get(event + "/format")
                os.listdir(event)
            assert not os.path.exists(event) and not os.path.exists(event + "/trigger")
            assert not os.path.exists(m("events/shop"))
            assert "shop" not in os.listdir(m("events"))
            fails(errno.ENOENT, get, event + "/format")
        inst = m("instances", NAME + "x")
        for destroy in (lambda: os.rmdir(inst), lambda: tacho("destroy", NAME + "x")):
            os.mkdir(inst)
            mode = os.stat(inst + "/trace").st_mode & 0o777
            assert get(os.path.join(inst, FORK, "enable")) == "0\n"
            os.chmod(inst + "/trace", 0o400)
            assert os.stat(inst + "/trace").st_mode & 0o777 == 0o400 != mode
            destroy()
            assert not os.path.exists(inst + "/trace") and not os.path.exists(inst)
            assert NAME + "x" not in os.listdir(m("instances"))
        os.mkdir(inst)
        assert os.stat(inst + "/trace").st_mode & 0o777 == mode
        # a text that is kept is in use like any other file, and as soon free again
        with open(os.path.join(inst, FORK, "enable")) as held:
            fails(errno.EBUSY, os.rmdir, inst)
            assert held.read() == "0\n"
        os.rmdir(inst)
        for _ in range(20):
            os.mkdir(inst)
            assert get(os.path.join(inst, FORK, "enable")) == "0\n"
            os.rmdir(inst)


# ---- the run ----

def main():
    global WORK
    if os.getuid():
        print("1..0 # SKIP needs root")
        return 0
    if not os.path.exists("/dev/fuse"):
        print("1..0 # SKIP needs /dev/fuse")
        return 0
    if not os.path.isdir(INSTANCES):
        print("1..0 # SKIP needs tracefs at /sys/kernel/tracing")
        return 0
    tests = [f for n, f in sorted(globals().items()) if n.startswith("test_")]
    if len(sys.argv) > 3:
        tests = [f for f in tests if sys.argv[3] in f.__name__]
    failed = 0
    print("1..%d" % len(tests), flush=True)
    for nr, test in enumerate(tests, 1):
        WORK = tempfile.mkdtemp(prefix="tacho-faults-", dir="/dev/shm")
        os.environ["TACHO_DIR"] = os.path.join(WORK, "run")
        try:
            test()
            print("ok %d - %s" % (nr, test.__doc__), flush=True)
        except Skip as e:
            print("ok %d - %s # SKIP %s" % (nr, test.__doc__, e), flush=True)
        except Exception:
            failed += 1
            print("not ok %d - %s" % (nr, test.__doc__))
            print("".join("# " + l + "\n" for l in traceback.format_exc().splitlines()),
                  flush=True)
        finally:
            shutil.rmtree(WORK, ignore_errors=True)
    left = [d for d in os.listdir(INSTANCES) if NAME in d]
    if left:
        print("# left in the kernel: %s" % left)
    return 1 if failed or left else 0


WORK = "/"
if __name__ == "__main__":
    sys.exit(main())
