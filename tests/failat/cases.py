# SPDX-License-Identifier: MIT
"""The commands of failat.py, and what they need."""
import json
import os
import re
import signal
import subprocess
import sys

TACHO = os.environ["TACHO"]
MAKE_TRACE = os.environ["MAKE_TRACE"]
ORDERS = os.environ["ORDERS"]
READ_TRACE = os.environ["READ_TRACE"]
COLUMNS = os.environ["COLUMNS"]
OWN_EVENTS, SLOW_REQUESTS = os.environ["OWN_EVENTS"], os.environ["SLOW_REQUESTS"]
CALLS, CALLS_LKST = os.environ["CALLS"], os.environ["CALLS_LKST"]
CALLS_LTT, CALLS_QNX = os.environ["CALLS_LTT"], os.environ["CALLS_QNX"]
CALLS_SESSION = os.environ["CALLS_SESSION"]
CALLS_INDEX = os.environ["CALLS_INDEX"]
PRINTER = os.environ["TRACEPRINTER"]
LOGGER = os.environ["TRACELOGGER"]
VISUALIZER = os.environ["VISUALIZER"]
DAEMON = os.environ["DAEMON"]
LKST = os.environ["LKST_TOOLS"]
INSTANCES = "/sys/kernel/tracing/instances"
ALL = ("alloc", "mmap", "open", "full", "eio", "short", "read", "task", "devfull")
CASES = {}
VARIANTS = ("-ltt32", "swap", "-lttfull", "-json-small", "-rotated", "-next", "-unordered",
            "orders-dat", "orders-kev", "orders-lkst", "orders-text", "orders-json",
            "orders-dat7", "orders-ltt", "record-dat")


class Case:
    """argv, run where `before` has prepared; `files` are what it makes.  `after`
    gives further text to be the same, `who` names the program whose calls fail."""

    def __init__(self, *argv, files=(), before=None, after=None, cleanup=None, who=None,
                 kinds=ALL, status=0, env=None, says_on_stdout=False, judge=None,
                 variant=False, clean=None, shares=False, sample=100,
                 processes=1, excuse=None):
        self.argv, self.files = list(argv), files
        self.before, self.after, self.cleanup = before, after, cleanup
        self.who = who or os.path.basename(argv[0])
        self.kinds, self.status, self.env = kinds, status, env or {}
        self.says_on_stdout = says_on_stdout    # what is wrong, as far as it is its answer
        self.judge = judge          # instead of the usual one
        self.excuse = excuse        # on stderr: a library that is not ours failed, and said so
        self.variant = variant      # of another case: with --full only
        self.processes = processes  # in each of them a call fails, and each says so
        self.sample = sample        # so many calls of each kind at most, but for --full
        self.shares = shares        # this worker's LKST, which lives on from run to run
        self.clean = clean          # of stdout: what others on this machine change


def case(name, *argv, **kw):
    kw.setdefault("variant", name.endswith(VARIANTS))
    CASES[name] = Case(*argv, **kw)


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
    for kind in "small", "rotated", "stacks", "many", "waits":
        sh(MAKE_TRACE, kind, kind, cwd=place)
    sh(MAKE_TRACE, "lkst", "log.lkst", cwd=place)
    with open(os.path.join(place, "small.proc"), "w", encoding="ascii") as f:
        f.write("PID: 1000; PPID: 1; NAME: app\n")
    with open(os.path.join(place, "maskset"), "w", encoding="ascii") as f:
        f.write("0x100 LOG\n0x103 LOG # a comment\n")
    with open(os.path.join(place, "my.rules"), "w", encoding="ascii") as f:
        f.write("span order: shop:order_done -> marker:begin\ncounter id: shop:order_done.id\n")
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
    """Whatever failed before: a session can be made, and none is left when it is destroyed."""
    subprocess.run([TACHO, "destroy", "s"], env=env, capture_output=True)
    sh(TACHO, "create", "s", "-b", "64K", "--subbuf", "16K", env=env)
    sh(TACHO, "destroy", "s", env=env)
    left = os.path.join(env["TACHO_DIR"], "sessions")
    assert not os.path.isdir(left) or not os.listdir(left), os.listdir(left)


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
# with threads: large enough for some pieces
case("report-jobs", TACHO, "report", "-j3", "../in/many")
case("report-jobs-bt", TACHO, "report", "-j3", "-F", "babeltrace", "--filter", "fd & 1",
     "../in/many")
case("stat-jobs", TACHO, "stat", "-j3", "../in/many")
case("hist-jobs", TACHO, "hist", "-j3", "../in/many", "-e", "app:open", "keys=fd:vals=bytes")
case("convert-jobs", TACHO, "convert", "-j3", "../in/many", "-o", "out.dat", "--filter", "fd & 1",
     files=["out.dat"])
case("convert-jobs-json", TACHO, "convert", "-j3", "../in/many", "-o", "out.json",
     files=["out.json"])
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
case("diff", TACHO, "diff", "../in/orders", "../in/small", "--span",
     "order: shop:order_take -> shop:order_done")
case("diff-stacks", TACHO, "diff", "--json", "../in/stacks", "../in/stacks")
ORDER = "o: marker:begin -> marker:end by name"
for trace in "orders", "waits", "small", "small.kev", "small.lkst", "small.ltt", "small.dat":
    v = {"variant": "." in trace or trace == "small"}
    case("model-" + trace, TACHO, "model", "../in/" + trace, **v)
    case("model-items-" + trace, TACHO, "model", "--items", "../in/" + trace, **v)
case("model-json", TACHO, "model", "--json", "../in/waits")
case("model-items-json", TACHO, "model", "--items", "--json", "--span", ORDER, "--counter",
     "n: shop:order_done.id", "../in/orders")
case("model-rules", TACHO, "model", "--rules", "--rule", "a:b end thread cat=x")
case("model-rules-file", TACHO, "model", "--rules-file", "../in/my.rules", "../in/orders")
case("recipe-model", TACHO, "recipe", "run", "sched-latency-by-thread", "../in/waits")
case("recipe-lacks", TACHO, "recipe", "run", "sched-latency", "../in/orders", status=1)
case("recipe-show", TACHO, "recipe", "show", "off-cpu", "../in/waits")
case("hist-model", TACHO, "hist", "--json", "../in/waits", "--span", ORDER, "--all", "-e",
     "model:*", "keys=common_pid:vals=hitcount")
case("model-suggest", TACHO, "model", "--suggest", "../in/waits")
case("explain", TACHO, "explain", "--span", "order", "--timeline", "../in/waits")
case("explain-span", TACHO, "explain", "--span", ORDER, "--worst", "3", "../in/waits")
case("explain-json", TACHO, "explain", "--json", "--span", "*", "--worst", "3", "../in/waits")
case("explain-all", TACHO, "explain", "--span", "*", "--all", "../in/waits")
case("explain-thread", TACHO, "explain", "--thread", "1001", "--from", "0.01", "../in/waits")
case("explain-span-thread", TACHO, "explain", "--span", "*", "--thread", "wor*", "../in/waits",
     variant=True)
case("explain-slice", TACHO, "explain", "--slice", "0", "../in/waits")
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

if os.environ["SQL"]:
    case("sql", TACHO, "sql", "-q", "../in/small", "select *, context from events")
    case("sql-event", TACHO, "sql", "-q", "--csv", "../in/orders", "select id, customer, text from "
         "order_done where time > ts('0') and tid in (select tid from events) order by id desc")
    case("sql-tables", TACHO, "sql", "-q", "--json", "../in/small", "select * from thread; select * "
         "from process; select * from cpu; select events from packet; select * from type; "
         "select * from field; select * from loss; select quantile(time, 0.5) from events")
    case("sql-model", TACHO, "sql", "-q", "--span", "o: marker:begin -> marker:end by name",
         "../in/waits", "select * from slice; select * from thread_state; select * from counter; "
         "select * from flow; select * from instant; select * from gap; select * from track")
    case("sql-hist", TACHO, "sql", "-q", "../in/orders",
         "select * from hist('shop:order_done', 'keys=customer,id.log2:vals=id')")
    case("sql-chart", TACHO, "sql", "-q", "--chart", "../in/small",
         "select name, count(*) from events group by name")
    case("sql-rotated", TACHO, "sql", "-q", "../in/rotated", "../in/small",
         "select count(*) from a.open, b.open", variant=False)

# ---- sessions ----

NO_DEVFULL = tuple(k for k in ALL if k != "devfull")    # it is not the tool that prints
case("record", TACHO, "record", "-q", "-o", "out", "--", ORDERS,
     after=lambda env: events(env, "out"), kinds=NO_DEVFULL)
case("record-dat", TACHO, "record", "-q", "-o", "out.dat", "--", ORDERS,
     after=lambda env: events(env, "out.dat"), kinds=NO_DEVFULL)
case("flight", TACHO, "record", "-q", "--flight", "-o", "out", "--", ORDERS,
     after=lambda env: events(env, "out"), kinds=NO_DEVFULL)
case("flight-on", TACHO, "record", "-q", "--on", "marker:end", "--keep-before", "10s", "--dumps",
     "1", "-o", "out", "--", ORDERS, after=lambda env: str(len(os.listdir("out"))),
     kinds=NO_DEVFULL)
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

# ---- the same by <tacho/session.h> ----

def hist_session(env):
    """A session that has counted."""
    sh(TACHO, "create", "s", "-b", "64K", "--subbuf", "16K", "-e", "shop:*", env=env)
    sh(TACHO, "trigger", "-s", "s", "shop:*", "hist:keys=customer,id.log2:vals=id", env=env)
    sh(ORDERS, env=env)


def kernel_session(env):
    """A session whose name is this worker's, as the kernel knows it, too."""
    sh(TACHO, "create", env["LKST_SESSION"], "-b", "64K", "--subbuf", "16K", env=env)


def no_kernel_session(env):
    """Whatever failed: it can be destroyed, and then there is nothing of it in the kernel."""
    subprocess.run([TACHO, "destroy", env["LKST_SESSION"]], env=env, capture_output=True)
    assert not os.path.exists(INSTANCES + "/tacho." + env["LKST_SESSION"])


for what in "rule", "filter", "trigger", "start", "status", "destroy":
    case_session("ctl-" + what, CALLS_SESSION, what, kinds=NO_DEVFULL)
case_session("ctl-snapshot", CALLS_SESSION, "snapshot", kinds=NO_DEVFULL,
             after=lambda env: events(env, "out"))
case("ctl-create", CALLS_SESSION, "create", cleanup=no_session, kinds=NO_DEVFULL)
case("ctl-hist", CALLS_SESSION, "hist", before=hist_session, cleanup=no_session,
     kinds=NO_DEVFULL)
case("ctl-recording", CALLS_SESSION, "recording", cleanup=no_session, kinds=NO_DEVFULL,
     after=lambda env: events(env, "out"))
if os.path.isdir(os.path.dirname(INSTANCES) + "/events") and os.geteuid() == 0:
    case("ctl-kernel", CALLS_SESSION, "kernel", before=kernel_session,
         cleanup=no_kernel_session, sample=2,
         # the kernel reads a text for tracefs whole, or rejects it
         kinds=[k for k in NO_DEVFULL if k != "short"])

# ---- traced programs ----

def unharmed(kind, want, got):
    """
    The program did what it does, and the trace has no events but its own.  Those that are
    missing are counted as lost in the trace; or, when the event could not be registered or
    the session not be mapped, there is a remark (`tacho status`).
    """
    if got.status or not got.out.startswith(b"done\n"):
        return "the program is harmed: status %d, %r" % (got.status, got.out[:100])
    *there, n, remarks = got.out.decode().splitlines()
    every = want.out.decode().splitlines()[:-2]
    rest = iter(every)
    if not all(line in rest for line in there):
        return "events that are not the program's"
    if len(there) + int(n) > len(every):
        return "%d of %d events, %s lost" % (len(there) - 1, len(every) - 1, n)
    if len(there) + int(n) < len(every) and remarks == "[]":
        return "%d of %d events, %s counted, and no remark" % (len(there) - 1, len(every) - 1, n)
    return None


def remarks(env):
    return json.dumps([r["text"] for r in json.loads(
        sh(TACHO, "status", "--json", env=env))["remarks"]])


case("program", TACHO, "record", "-q", "-o", "out", "--", ORDERS, who="orders",
     after=lambda env: events(env, "out") + "%d\n%s" % (lost(env, "out"), remarks(env)),
     judge=unharmed,
     kinds=NO_DEVFULL)

# ---- other tools, and the libraries ----

for how in "count", "next", "unordered", "text":
    case("stream-" + how, READ_TRACE, how, "../in/small", kinds=NO_DEVFULL)
case("visualizer", VISUALIZER, "-a", "../in/small.ltt")
case("visualizer-file", VISUALIZER, "../in/small.ltt", "../in/small.proc", "out", files=["out"])
case("printer", PRINTER, "-f", "../in/small.kev")
for out in "out", "out.dat", "out.kev", "out.json":     # <tacho/sink.h>
    case("own-events-" + out, OWN_EVENTS, out, kinds=NO_DEVFULL,
         **({"after": lambda env, out=out: events(env, out)} if out != "out.json" else {"files": (out,)}))
for column in "fd", "path", "comm", "list":
    case("columns-" + column, COLUMNS, "../in/small", "*:*", column, kinds=NO_DEVFULL)
case("columns-threads", COLUMNS, "../in/many", "app:open", "fd", "3", kinds=NO_DEVFULL)
for table, column in (("slice", "path"), ("thread_state", "waker"), ("flow", "to_comm"),
                      ("counter", "value"), ("gap", "lost"), ("track", "path")):
    case("columns-" + table, COLUMNS, "../in/waits", "model:" + table, column, kinds=NO_DEVFULL)
case("slow-requests", SLOW_REQUESTS, "../in/small", "out", "open", "fd", "0",
     after=lambda env: events(env, "out"), kinds=NO_DEVFULL)
case("traceparser", CALLS, "traceparser", "../in/small.kev", kinds=NO_DEVFULL)
case("logformat", LKST + "/logformat", "../in/log.lkst")

# ---- LKST ----

def lkst(env, tool, *argv, **kw):
    return sh(os.path.join(LKST, tool), *argv, env=env, **kw)


def lkst_ready(env):
    """An LKST that records 0x100 alone."""
    if not os.path.isdir(env["TACHO_DIR"]):
        os.mkdir(env["TACHO_DIR"], 0o700)
        lkst(env, "lkstm", "write", "-n", "only", "-S", input="0x100 LOG\n")


def lkst_reset(env):
    """The same with buffers 0 and 1, which are linked to none, and masksets 3 and 4."""
    lkst_ready(env)
    lkst(env, "lkst", "start")
    lkst(env, "lkstm", "write", "-n", "only", "-S", "-m", "3", input="0x100 LOG\n")
    lkst(env, "lkstm", "write", "-n", "other", "-m", "4", input="0x100 LOG\n0x101 LOG\n")
    lkst(env, "lkstbuf", "jump", "-b", "0")
    for name in [l.split()[1] for l in lkst(env, "lkstm", "list").replace("*", " ").splitlines()[1:]]:
        if name not in ("RNOTHING", "RALL", "RDEFAULT", "only", "other"):
            lkst(env, "lkstm", "delete", "-n", name)
    there = {(l[:5].strip(" *"), l[5:13].strip())
             for l in lkst(env, "lkstbuf", "list").splitlines()[1:]}
    for i in {i for c, i in there} - {"0", "1"}:
        lkst(env, "lkstbuf", "delete", "-b", i)
    if not any(i == "1" for c, i in there):
        lkst(env, "lkstbuf", "create", "-s", "64K", "-b", "1")
    lkst(env, "lkstbuf", "link", "-b", "0")
    lkst(env, "lkstbuf", "link", "-b", "1")


def lkst_end(env):
    """Nothing of it is left in the kernel."""
    if os.path.isdir(env["TACHO_DIR"]):
        lkst(env, "lkst", "destroy")
    assert not os.path.exists(INSTANCES + "/tacho." + env["LKST_SESSION"])


def buffers(env):
    """Which there are, with their sizes, and which is current."""
    return "".join(re.sub(r"^(.{37}).*", r"\1", l) + "\n"
                   for l in lkst(env, "lkstbuf", "list").splitlines())


def lkst_state(env):
    return "".join(l + "\n" for l in lkst(env, "lkst", "stat").splitlines()
                   if not l.startswith("static")) + lkst(env, "lkstm", "list") + buffers(env)


def lkst_fresh(env):
    os.mkdir(env["TACHO_DIR"], 0o700)


def case_lkst(name, tool, *argv, before=None, **kw):
    def ready(env):
        lkst_reset(env) if changes else lkst_ready(env)
        for words in before or []:
            lkst(env, *words.split())
    changes = before or tool == "lkst" or "after" in kw or "list" in argv or "-A" in argv
    case("lkst-" + name, os.path.join(LKST, tool), *argv, before=ready, shares=True,
         **{"sample": 1, "clean": placeless, **kw})


def placeless(out):
    """Without what depends on the clock, and on which CPU and what process it was."""
    return re.sub(rb"cpu=\d+ pid=\d+ \S+ \S+|static buffer.*|(?m:(?<=^.{37}) +\d+$)", b"", out)


case("lkst-new", LKST + "/lkst", "start", before=lkst_fresh, cleanup=lkst_end, after=lkst_state)
case("lkst-destroy", LKST + "/lkst", "destroy", cleanup=lkst_end,
     before=lambda env: (lkst_fresh(env), lkst(env, "lkst", "start")))
case_lkst("all", "lkst", "all")
case_lkst("status", "lkst", "status")
case_lkst("stop", "lkst", "stop", after=lkst_state)
case_lkst("start", "lkst", "start", before=["lkst stop"], after=lkst_state)
THREE = ["lkstlogger -ev 0x100 -a1 %d" % n for n in (1, 2, 3)]
case_lkst("buf-list", "lkstbuf", "list", "-v",
          clean=lambda out: re.sub(rb"(?m)^(.{37}).*", rb"\1", out))
case_lkst("buf-print", "lkstbuf", "print", "-e", "0x100", "-V", "-n", "3", before=THREE)
case_lkst("buf-names", "lkstbuf", "print", "-h")
case_lkst("buf-read", "lkstbuf", "read", "-f", "out", before=THREE,
          after=lambda env: placeless(lkst(env, "lkstbuf", "print", "-f", "out", "-e", "0x100",
                                           "-n", "3", "-V").encode()).decode())
case_lkst("buf-create", "lkstbuf", "create", "-s", "64K", "-b", "2", after=buffers)
case_lkst("buf-delete", "lkstbuf", "delete", "-b", "1", after=buffers)
case_lkst("buf-link", "lkstbuf", "link", "-b", "0", "-n", "1", after=buffers)
case_lkst("buf-jump", "lkstbuf", "jump", "-b", "1", after=buffers)
case_lkst("buf-shift", "lkstbuf", "shift", before=["lkstbuf link -b 0 -n 1"], after=buffers)
case_lkst("m-list", "lkstm", "list")
case_lkst("m-read", "lkstm", "read", "-A", "-a")
case_lkst("m-write", "lkstm", "write", "-n", "new", "-S", "-f", "../in/maskset",
          after=lkst_state)
case_lkst("m-rewrite", "lkstm", "write", "-m", "4", "-f", "../in/maskset", after=lkst_state)
case_lkst("m-config", "lkstm", "config", "0x102", "LOG", after=lkst_state)
case_lkst("m-set", "lkstm", "set", "-n", "other", after=lkst_state)
case_lkst("m-delete", "lkstm", "delete", "-n", "new", before=["lkstm write -n new -f ../in/maskset"],
          after=lkst_state)
case_lkst("eh-list", "lksteh", "list")
case_lkst("logger", "lkstlogger", "-ev", "0x100", "-a1", "7",
          before=["lkstlogger -ev 0x100 -a1 6"],
          after=lambda env: re.sub(r".*(arg1=\S+).*", r"\1", lkst(
              env, "lkstbuf", "print", "-V", "-n", "1", "-e", "0x100")))

# ---- what is printed, and nothing else ----

for tool in sorted(os.listdir(LKST)):
    if tool in ("lkst", "lkstm", "lkstbuf", "lksteh", "lkstlogger", "lkstlogd", "logformat"):
        word = "-h" if tool in ("lkstlogd", "logformat") else "help"
        case("help-" + tool, os.path.join(LKST, tool), word, kinds=["devfull"])
case("help-printer", PRINTER, "-h", kinds=["devfull"])
for name, path in ("tracelogger", LOGGER), ("visualizer", VISUALIZER), \
        ("tracedaemon", DAEMON), ("tacho", TACHO):
    case("help-" + name, path, "--help", kinds=["devfull"])
case("version", TACHO, "--version", kinds=["devfull"])
case("help-verb", TACHO, "help", "report", kinds=["devfull"])

# ---- the mounted tree ----

MOUNTED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "mounted.py")


def timeless(out):
    """Without what depends on the clock, and the session's number."""
    return re.sub(rb"\d+\.\d+|ID: \d+", b"", out)


if os.path.exists("/dev/fuse") and os.geteuid() == 0:
    case("mount", sys.executable, MOUNTED, TACHO, ORDERS, "mnt", who="tacho", kinds=NO_DEVFULL,
         clean=timeless, sample=2,
         # libfuse then gives no answer, or ends; glibc has no other word for a thread's memory
         excuse=r"(?m)^fuse: (failed|error)|^short read on fuse device|libgcc_s\.so\.1 must be|"
         r"(cannot start a|no) thread: Resource temporarily unavailable")

    UMOUNT = """mkdir d && env -u LD_PRELOAD "$0" mount -q --no-kernel -b 256K -s failat$$ d || exit 99
    "$0" umount d; s=$?
    ! mountpoint -q d || env -u LD_PRELOAD "$0" umount d || exit 99
    exit $s"""
    case("umount", "/bin/sh", "-c", UMOUNT, TACHO, who="tacho", kinds=NO_DEVFULL)

# ---- libraries in programs: a call that failed works when it is made again ----

def goes_on(kind, want, got):
    """The same; or each call fails, for this process cannot be traced (libtacho did not begin)."""
    lines = got.out.splitlines()
    if got.status or len(lines) != len(want.out.splitlines()):
        return "the program is harmed: status %d, %r" % (got.status, got.out[:100])
    if got.out != want.out and not all(re.search(rb": -(12|19)$", l) for l in lines):
        return "other output: %r" % next(l for l, w in zip(lines, want.out.splitlines()) if l != w)
    return None


def qnx_end(env):
    """Nothing of it is left in the kernel."""
    subprocess.run([CALLS_QNX], env=env, capture_output=True)
    assert not os.path.exists(INSTANCES + "/tacho." + env["QNX_SESSION"])


case("calls-lkst", CALLS_LKST, before=lkst_fresh, cleanup=lkst_end, sample=1, kinds=NO_DEVFULL,
     judge=goes_on)
case("calls-ltt", CALLS_LTT, before=lambda env: session(env, "-e", "ltt_custom:*"),
     cleanup=no_session, sample=1, kinds=NO_DEVFULL,
     clean=lambda out: re.sub(rb"(create_event.*: )\d+", rb"\1ID", out))
case("calls-index", CALLS_INDEX)
case("calls-qnx", CALLS_QNX, cleanup=qnx_end, sample=1, kinds=NO_DEVFULL)

# ---- daemons: one that runs is used, and ended ----

# $0 is the daemon, $1 what it says or makes when it is ready
LOGGED = """\"$0\" -d1 -v -F1 -F2 -F3 -F4 -F5 -F6 -F7 -f out.kev 2>said & p=$!
until grep -q waiting said; do kill -0 $p 2>/dev/null || break; sleep 0.01; done
kill -0 $p 2>/dev/null && (env -u LD_PRELOAD \"$1\" >/dev/null || kill $p)
wait $p; status=$?; grep -v '^tracelogger: waiting' said >&2; exit $status"""
case("logger", "/bin/sh", "-c", LOGGED, LOGGER, CALLS_QNX, who="tracelogger", cleanup=qnx_end,
     sample=2, kinds=NO_DEVFULL, variant=True)     # it waits for the last events
LOGD = """\"$0\" -F -a -b 64K -p pid -C /dev/null -f se & p=$!
until [ -s pid ]; do kill -0 $p 2>/dev/null || break; sleep 0.01; done
kill $p 2>/dev/null; wait $p"""
case_lkst("logd", "/bin/sh", "-c", LOGD, LKST + "/lkstlogd", who="lkstlogd", sample=2,
          kinds=NO_DEVFULL, processes=1 + os.cpu_count())    # one for each CPU

# $0 is the daemon, $1 the tool, $2 the program whose events it records; of the kernel, none are
DAEMON_RUN = """\"$0\" -DCSTM out.ltt & p=$!
until env -u LD_PRELOAD \"$1\" status --json 2>/dev/null | grep -q '"state":"recording"'; do
kill -0 $p 2>/dev/null || break; sleep 0.01; done
env -u LD_PRELOAD \"$2\" >/dev/null; kill $p 2>/dev/null; wait $p"""
if os.path.isdir(os.path.dirname(INSTANCES) + "/events") and os.geteuid() == 0:
    case("daemon", "/bin/sh", "-c", DAEMON_RUN, DAEMON, TACHO, ORDERS, who="tracedaemon",
         after=lambda env: events(env, "out.ltt"), sample=3, kinds=NO_DEVFULL)
