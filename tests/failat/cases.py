# SPDX-License-Identifier: MIT
"""The commands of failat.py, and what they need."""
import json
import os
import re
import signal
import subprocess

TACHO = os.environ["TACHO"]
MAKE_TRACE = os.environ["MAKE_TRACE"]
ORDERS = os.environ["ORDERS"]
READ_TRACE = os.environ["READ_TRACE"]
CALLS = os.environ["CALLS"]
PRINTER = os.environ["TRACEPRINTER"]
LOGGER = os.environ["TRACELOGGER"]
VISUALIZER = os.environ["VISUALIZER"]
LKST = os.environ["LKST_TOOLS"]
ALL = ("alloc", "mmap", "open", "full", "eio", "short", "read", "task")
CASES = {}
VARIANTS = ("-ltt32", "swap", "-lttfull", "-json-small", "-rotated", "-next", "-unordered",
            "orders-dat", "orders-kev", "orders-lkst", "orders-text", "orders-json",
            "orders-dat7", "orders-ltt", "record-dat")


class Case:
    """argv, run where `before` has prepared; `files` are what it makes.  `after`
    gives further text to be the same, `who` names the program whose calls fail."""

    def __init__(self, *argv, files=(), before=None, after=None, cleanup=None, who=None,
                 kinds=ALL, status=0, env=None, says_on_stdout=False, judge=None,
                 variant=False, clean=None):
        self.argv, self.files = list(argv), files
        self.before, self.after, self.cleanup = before, after, cleanup
        self.who = who or os.path.basename(argv[0])
        self.kinds, self.status, self.env = kinds, status, env or {}
        self.says_on_stdout = says_on_stdout    # what is wrong, as far as it is its answer
        self.judge = judge          # instead of the usual one
        self.variant = variant      # of another case: with --full only
        self.clean = clean          # of stdout: what others on this machine change


def case(name, *argv, **kw):
    CASES[name] = Case(*argv, variant=name.endswith(VARIANTS), **kw)


def sh(*argv, **kw):
    p = subprocess.run(argv, capture_output=True, text=True, **kw)
    assert p.returncode == 0, "%r: %d %s" % (argv, p.returncode, p.stderr)
    return p.stdout


def prepare(top):
    """The traces, in top/in: workers find them in ../in."""
    place = os.path.join(top, "in")
    os.mkdir(place)
    env = dict(os.environ, TACHO_DIR=os.path.join(top, "run"))
    sh(TACHO, "record", "-q", "-o", "orders", "--", ORDERS, cwd=place, env=env)
    for kind in "small", "rotated", "stacks":
        sh(MAKE_TRACE, kind, kind, cwd=place)
    sh(MAKE_TRACE, "lkst", "log.lkst", cwd=place)
    with open(os.path.join(place, "small.proc"), "w", encoding="ascii") as f:
        f.write("PID: 1000; PPID: 1; NAME: app\n")
    for fmt in FORMATS:
        sh(TACHO, "convert", "-q", "small", "-o", "small." + fmt, "--to", fmt, cwd=place)


# ---- what cases share ----

def events(env, path, *more):
    """A trace's events and their fields, without what differs from run to run."""
    lines = sh(TACHO, "report", "--json", path, *more, env=env).splitlines()
    return "".join("%s %s\n" % (r["event"], r["fields"]) for r in map(json.loads, lines)
                   if "event" in r)     # else it tells of a loss


def lost(env, path):
    return json.loads(sh(TACHO, "stat", "--json", path, env=env))["lost"]


def session(env, *more):
    """A session in which the program has run."""
    sh(TACHO, "create", "s", "-b", "64K", "--subbuf", "16K", *more, env=env)
    sh(ORDERS, env=env)


def no_session(env):
    subprocess.run([TACHO, "destroy", "s"], env=env, capture_output=True)


def killed(env):
    """A trace, out, of a recorder that was killed before it had written anything."""
    p = subprocess.Popen([TACHO, "record", "-q", "-o", "out", "-s", "s", "-b", "64K", "--subbuf",
                          "16K"], env=env, stderr=subprocess.PIPE)
    while not os.path.exists("out/tacho/info") or \
            '"state":"recording"' not in sh(TACHO, "status", "--json", env=env):
        assert p.poll() is None, p.stderr.read()
    os.kill(p.pid, signal.SIGSTOP)
    sh(ORDERS, env=env)
    p.kill()
    p.wait()
    p.stderr.close()


def case_session(name, *argv, after=None, **kw):
    case(name, *argv, before=session, after=after, cleanup=no_session, **kw)


FORMATS = ("ctf", "dat", "dat7", "kev", "lkst", "ltt", "ltt32", "lttswap", "ltt32swap", "lttfull",
           "text", "json")


# ---- reading traces ----

for trace in "orders", "small":
    t = "../in/" + trace
    case("report-" + trace, TACHO, "report", t)
    case("report-json-" + trace, TACHO, "report", "--json", t)
    case("stat-" + trace, TACHO, "stat", t)
    case("check-" + trace, TACHO, "check", t, says_on_stdout=True)
case("report-bt", TACHO, "report", "-F", "babeltrace", "--header", "../in/small")
case("report-some", TACHO, "report", "--max", "2", "-e", "app:*", "--time", "0,", "../in/small")
case("report-filter", TACHO, "report", "--filter", "shop:*/id > 1", "../in/orders")
case("report-fields", TACHO, "report", "--fields", "id", "--delta", "../in/orders")
case("report-stacks", TACHO, "report", "../in/stacks")
case("report-rotated", TACHO, "report", "../in/rotated")
case("stat-json", TACHO, "stat", "--json", "../in/small")
case("check-json", TACHO, "check", "--json", "../in/small", says_on_stdout=True)
case("check-rotated", TACHO, "check", "../in/rotated", says_on_stdout=True)
case("hist", TACHO, "hist", "../in/orders", "-e", "shop:order_done",
     "keys=customer:vals=id:sort=id")
case("hist-json", TACHO, "hist", "--json", "--quantiles", "50,99", "../in/orders", "-e",
     "shop:order_done", "keys=id:vals=hitcount")
case("hist-synth", TACHO, "hist", "../in/orders", "--synth", "pair u64 lat; int id",
     "-e", "shop:order_done", "keys=common_pid:t=common_timestamp.usecs,i=id",
     "-e", "marker:begin", "keys=common_pid:lat=common_timestamp.usecs-$t:"
     "onmatch(shop.order_done).trace(pair,$lat,$i)",
     "-e", "synthetic:pair", "keys=id")
for f in FORMATS:
    # a trace of ours has a number that no other one has: it is read, not compared
    made = {"after": lambda env: events(env, "out")} if f == "ctf" else {"files": ["out"]}
    case("convert-" + f, TACHO, "convert", "../in/small", "-o", "out", "--to", f, **made)
    case("convert-orders-" + f, TACHO, "convert", "../in/orders", "-o", "out", "--to", f, **made)
    if f not in ("text", "json"):
        case("report-" + f, TACHO, "report", "../in/small." + f)
        case("check-" + f, TACHO, "check", "../in/small." + f, says_on_stdout=True)
        case("stat-" + f, TACHO, "stat", "../in/small." + f)
case("convert-stdout", TACHO, "convert", "../in/small", "-o", "-", "--to", "text")
case("convert-some", TACHO, "convert", "--json", "../in/small", "-o", "out", "-e", "app:*",
     after=lambda env: events(env, "out"))

# ---- sessions ----

case("record", TACHO, "record", "-q", "-o", "out", "--", ORDERS,
     after=lambda env: events(env, "out"))
case("record-dat", TACHO, "record", "-q", "-o", "out.dat", "--", ORDERS,
     after=lambda env: events(env, "out.dat"))
case("recover", TACHO, "recover", "-q", "out", before=killed, cleanup=no_session,
     after=lambda env: events(env, "out"))
case_session("snapshot", TACHO, "snapshot", "-q", "-o", "out", "s",
             after=lambda env: events(env, "out"))
case_session("recover-session", TACHO, "recover", "-q", "-o", "out", "s",
             after=lambda env: events(env, "out"))
case_session("convert-session", TACHO, "convert", "-q", "session:s", "-o", "out",
             after=lambda env: events(env, "out"))
case_session("status", TACHO, "status", "--json",
             clean=lambda out: re.sub(rb'"kept":\[[^]]*\]', b"", out))
case_session("enable", TACHO, "enable", "-s", "s", "marker:*")
case_session("filter", TACHO, "filter", "-s", "s", "shop:*", "id > 1")
case_session("trigger", TACHO, "trigger", "-s", "s", "shop:order_done", "hist:keys=id")
case_session("destroy", TACHO, "destroy", "s")
case("create", TACHO, "create", "s", "-b", "64K", "--subbuf", "16K", cleanup=no_session)

# ---- traced programs ----

def unharmed(kind, want, got):
    """
    The program did what it does, and the trace has no events but its own.  An event that
    could not be registered, or a session that could not be mapped, is counted in the
    process's own file (`tacho status`), if that could be made, and not in the trace.
    """
    if got.status or not got.out.startswith(b"done\n"):
        return "the program is harmed: status %d, %r" % (got.status, got.out[:100])
    *there, n = got.out.decode().splitlines()
    every = want.out.decode().splitlines()[:-1]
    rest = iter(every)
    if not all(line in rest for line in there):
        return "events that are not the program's"
    if len(there) + int(n) > len(every):
        return "%d of %d events, %s lost" % (len(there) - 1, len(every) - 1, n)
    return None


case("program", TACHO, "record", "-q", "-o", "out", "--", ORDERS, who="orders",
     after=lambda env: events(env, "out") + "%d\n" % lost(env, "out"), judge=unharmed)

# ---- other tools, and the libraries ----

for how in "count", "next", "unordered", "text":
    case("stream-" + how, READ_TRACE, how, "../in/small")
case("visualizer", VISUALIZER, "-a", "../in/small.ltt")
case("visualizer-file", VISUALIZER, "../in/small.ltt", "../in/small.proc", "out", files=["out"])
case("printer", PRINTER, "-f", "../in/small.kev")
case("traceparser", CALLS, "traceparser", "../in/small.kev")
case("logformat", LKST + "/logformat", "../in/log.lkst")
