# SPDX-License-Identifier: MIT
"""What the tests of LKST's commands share.

$LKST_TOOLS is the folder with the commands, $TACHO the tool, $ENTRIES the program that tells
LKST of many events (entries.c).  Each test has an LKST of its own: a run-time directory, and a
session name, by which the kernel's instance is called.  run(globals()) runs the functions
test_* in their order and prints TAP."""
import atexit
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

TOOLS = os.environ["LKST_TOOLS"]
TACHO = os.environ["TACHO"]
ENTRIES = os.environ.get("ENTRIES", "")
INSTANCES = "/sys/kernel/tracing/instances"
PATIENCE = 120          # seconds; whoever needs more has hung

base = tempfile.mkdtemp(prefix="lkst-", dir="/dev/shm")
work = os.path.join(base, "work")
run_dir = os.path.join(base, "run")
session = "lt%d" % os.getpid()
instance = os.path.join(INSTANCES, "tacho." + session)
for name in list(os.environ):
    if name.startswith("TACHO_") or name == "LKST_SESSION":
        del os.environ[name]
os.environ.update(TACHO_DIR=run_dir, LKST_SESSION=session, LC_ALL="C.UTF-8", TZ="UTC")
children = []


class Skip(Exception):
    pass


def cleanup():
    for p in children:
        if p.poll() is None:
            p.kill()
        p.wait()
    children.clear()
    os.chdir("/")
    if os.path.isdir(run_dir):
        subprocess.run([os.path.join(TOOLS, "lkst"), "destroy"], capture_output=True)
    shutil.rmtree(base, ignore_errors=True)


atexit.register(cleanup)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # whoever has waited too long


def afresh():
    cleanup()
    os.makedirs(work)
    os.mkdir(run_dir, 0o700)
    os.chdir(work)


def run(names):
    tests = [f for n, f in names.items() if n.startswith("test_")]
    failed = 0
    for nr, f in enumerate(tests, 1):
        what = (f.__doc__ or f.__name__).strip().split("\n")[0]
        if sys.argv[1:] and f.__name__ not in sys.argv[1:]:
            continue
        afresh()
        try:
            f()
            lkst("destroy", ok=None)
            assert not os.path.exists(instance), "the kernel's instance is left"
            print("ok %d - %s # %s" % (nr, what, f.__name__))
        except Skip as e:
            print("ok %d - %s # SKIP %s" % (nr, what, e))
        except Exception:
            failed += 1
            print("not ok %d - %s # %s" % (nr, what, f.__name__))
            for line in traceback.format_exc().splitlines():
                print("# " + line)
        sys.stdout.flush()
    print("1..%d" % len(tests))
    sys.exit(1 if failed else 0)


# ---- the commands ----

class Done:
    def __init__(self, argv, p):
        self.argv, self.status = argv, p.returncode
        self.out, self.err = p.stdout, p.stderr
        self.lines = p.stdout.splitlines()

    def __repr__(self):
        return "%s: status %d\n%s%s" % (" ".join(self.argv), self.status, self.out[-3000:],
                                        self.err[-3000:])


def command(name, *argv, ok=0, says=None, give="", env=None):
    """ok: the exit status; None: any.  says: words of the one sentence on stderr."""
    argv = [os.path.join(TOOLS, name)] + [str(a) for a in argv]
    p = subprocess.run(argv, input=give, capture_output=True, text=True, timeout=PATIENCE,
                       env=dict(os.environ, **(env or {})))
    d = Done(argv, p)
    assert "Sanitizer" not in d.err and "runtime error" not in d.err, d
    assert ok is None or d.status == ok, d
    if says is not None:
        assert re.fullmatch(r"%s: .*\n" % name, d.err) and says in d.err, \
            "not '%s' in one sentence: %r" % (says, d)
    elif ok == 0:
        assert not d.err, d
    return d


def tool(name):
    return lambda *argv, **kw: command(name, *argv, **kw)


lkst, lkstm, lkstbuf, lksteh = map(tool, ("lkst", "lkstm", "lkstbuf", "lksteh"))
lkstlogger, lkstlogd, logformat = map(tool, ("lkstlogger", "lkstlogd", "logformat"))


def tacho(*argv, ok=0):
    p = subprocess.run([TACHO] + [str(a) for a in argv], capture_output=True, text=True,
                       timeout=PATIENCE)
    d = Done(["tacho"] + [str(a) for a in argv], p)
    assert ok is None or d.status == ok, d
    return d


def entries(etype, count, cpu, *more):
    """count events of a type on a CPU, which carry 1, 2, ..."""
    p = subprocess.run([ENTRIES, hex(etype), str(count), str(cpu)] + [str(m) for m in more],
                       capture_output=True, text=True, timeout=PATIENCE)
    assert not p.returncode, p


def start(path, *argv, **kw):
    kw = dict({"stdin": subprocess.DEVNULL, "stdout": open("out", "a"),
               "stderr": open("err", "a")}, **kw)
    p = subprocess.Popen([path] + [str(a) for a in argv], **kw)
    children.append(p)
    return p


def until(what, holds, *show):
    end = time.monotonic() + PATIENCE
    while True:
        got = holds()
        if got:
            return got
        assert time.monotonic() < end, "it never came: %s %s" % (
            what, [open(s).read() for s in show if os.path.exists(s)])
        time.sleep(0.02)


def put(path, text):
    with open(path, "w") as f:
        f.write(text)
    return path


def slurp(path):
    with open(path) as f:
        return f.read()


def cpus():
    """Those that LKST has buffers for."""
    return [int(l.split()[0]) for l in
            lkst("stat").out.split("CPU   write    read\n")[1].splitlines()]


def only(*etypes, overrun=True):
    """A maskset that records these types alone is selected; buffers shift when they are full."""
    text = "".join("%s 1\n" % e for e in etypes)
    if overrun:
        text += "LKST_BUFF_OVFLOW BUFFER_SHIFT_DW\n"
    return lkstm("write", "-n", "only", "-S", give=text).out.strip()
