#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each call that can fail does so once: failat.py [--full] [--frames] [--kind KIND] [CASE...]

A case is a command.  For each kind of call (failat.c has them) it runs with the first such
call failing, then with the second, until none fails any more.  Each run must

  * end as if nothing had failed: same status, same output, same files; a remark on
    stderr is allowed; or
  * fail with a status that is not 0 and a message on stderr that has the reason.

With the kind devfull, stdout is /dev/full: a command that prints anything must fail, once.

A short write is no failure: there only the first will do.  Nothing may crash or hang, and
what fails because memory is short may not be called damage.  What cannot be read may: there
the answer may be another one, as long as a status that is not 0 has a message.

Without --full only a sample of the calls of each case and kind fails, and no variants run.  CASE is a glob; with
--frames each finding says where the call was made."""
import argparse
import fnmatch
import functools
import glob
import hashlib
import itertools
import multiprocessing
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import traceback

from cases import CASES, lkst_end, prepare

PRELOAD = os.environ["FAILAT_SO"]
PATIENCE = 60       # seconds, by an alarm that outlives an exec: longer, and it hangs
SAMPLE = {"alloc": 6, "read": 1}     # runs of a case and kind without --full; else 2
REASON = {          # what the message must have
    "alloc": "memory", "mmap": "memory", "open": "Too many open files",
    "full": "[Nn]o space left|the disk is full", "eio": "Input/output error", "read": "",
    "task": "temporarily unavailable", "devfull": "No space left|the disk may be full",
}
KINDS = ["alloc", "mmap", "open", "full", "eio", "short", "read", "task", "devfull"]


class Outcome:
    """What a run left: status (negative: a signal), out, err, the files' digests."""

    def __init__(self, status, out, err, files, printed):
        self.status, self.out, self.err, self.files = status, out, err, files
        self.printed = printed      # anything, before `after` added to it

    def same(self, other):
        return (self.status, self.out, self.files) == (other.status, other.out, other.files)


def slurp(path):
    with open(path, "rb") as f:
        return f.read()


def digest(path):
    """Of a file, or of a directory's files with their names."""
    if not os.path.isdir(path):
        if not os.path.exists(path):
            return None
        # a .kev says when it was made
        return hashlib.sha1(re.sub(rb"TRACE_DATE::.{24}", b"", slurp(path))).hexdigest()
    return {os.path.relpath(os.path.join(top, f), path): digest(os.path.join(top, f))
            for top, _, names in os.walk(path) for f in names}


def sweep_up():
    for name in os.listdir("."):
        if os.path.isdir(name) and not os.path.islink(name):
            shutil.rmtree(name, ignore_errors=True)
        else:
            os.unlink(name)


def spawn(argv, env, out=".out"):
    """Status, stdout, stderr."""
    with open(".out", "wb"):
        pass
    actions = [(os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
               (os.POSIX_SPAWN_OPEN, 1, out, os.O_WRONLY, 0),
               (os.POSIX_SPAWN_OPEN, 2, ".err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)]
    pid = os.posix_spawn(argv[0], argv, env, file_actions=actions)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return status, slurp(".out"), slurp(".err")


def environment():
    """Of this worker: what its sessions are called is the kernel's to know, too."""
    return dict(os.environ, TACHO_DIR=os.path.abspath("run"), LC_ALL="C.UTF-8", TZ="UTC",
                LKST_SESSION="fl%d" % os.getpid(), QNX_SESSION="fq%d" % os.getpid())


def attempt(case, kind, n, frames=False):
    """(outcome, report) of one run in an empty directory."""
    env = environment()
    if case.shares:
        env["TACHO_DIR"] = os.path.abspath("../lkst-" + env["LKST_SESSION"])
    else:
        env["LKST_SESSION"] += "n"
    sweep_up()
    if case.before:
        case.before(env)
    failing = dict(env, LD_PRELOAD=PRELOAD, FAILAT="%s:%d" % (kind, n),
                   FAILAT_REPORT=os.path.abspath(".report"), FAILAT_WHO=case.who,
                   FAILAT_ALARM=str(PATIENCE), **({"FAILAT_FRAMES": "1"} if frames else {}))
    failing.update(case.env)
    try:
        status, out, err = spawn(case.argv, failing,
                                 "/dev/full" if kind == "devfull" else ".out")
        printed = len(out) > 0
        out = case.clean(out) if case.clean else out
        report = slurp(".report").decode() if os.path.exists(".report") else ""
        files = {f: digest(f) for f in case.files}
        if case.after and status == 0:
            out += case.after(env).encode()
    finally:
        if case.cleanup:
            case.cleanup(env)
    here = os.getcwd()      # workers are in directories of their own
    return Outcome(status, out.replace(here.encode(), b"."),
                   err.decode(errors="replace").replace(here, "."), files, printed), report


def judge(case, kind, want, got):
    """None, or what is wrong."""
    if got.status < 0:
        return "hangs" if got.status == -signal.SIGALRM else \
            "killed by signal %d" % -got.status
    if kind == "devfull" and not got.status:
        return "nobody reads its output, and it is content"
    if case.excuse and re.search(case.excuse, got.err):
        return None
    if case.judge and kind != "devfull":
        return case.judge(kind, want, got)
    if got.same(want) or kind == "read" and not got.status:
        return None
    if got.status == want.status:
        a, b = want.out.decode(errors="replace"), got.out.decode(errors="replace")
        return "status %d, but other %s" % (got.status, "files" if a == b else "output: " + next(
            ("%r, not %r" % (y, x) for x, y in itertools.zip_longest(a.split("\n"), b.split("\n"))
             if x != y), ""))
    if kind == "short":
        return "fails for a short write"
    said = [l for l in got.err.splitlines() if l not in want.err.splitlines()]
    if not said and case.says_on_stdout:
        said = [l for l in got.out.decode().splitlines() if re.search(REASON[kind], l)]
    if not said:
        return "fails without a message"
    if got.status not in (1, 2) or \
            len(said) > (3 * case.processes if kind != "read" else 100):
        return "status %d, %d lines of messages" % (got.status, len(said))
    if re.search(r"is damaged|damaged places", got.err) and kind != "read":
        return "speaks of damage"
    reason = REASON[kind] + ("|memory" if case.shares else "")  # LKST's errno for all of these
    if not any(re.search(reason, l) for l in said):
        return "does not say why"
    return None


def work_init(top):
    place = tempfile.mkdtemp(dir=top)
    os.chdir(place)


def work(unit):
    name, kind, n, frames, want = unit
    case = CASES[name]
    try:
        got, report = attempt(case, kind, n)
        fired = report.startswith("fired")
        wrong = judge(case, kind, want, got)
        if wrong and not fired and kind != "devfull":
            wrong += " (though nothing failed)"
        if wrong and frames:
            report = attempt(case, kind, n, True)[1]
        return name, kind, n, wrong, got.status, got.err, report
    except Exception:
        return name, kind, n, "the test failed", 0, traceback.format_exc(), ""


@functools.lru_cache(None)
def line_of(obj, offset):
    p = subprocess.run(["addr2line", "-ifse", obj, hex(offset)], capture_output=True, text=True)
    words = p.stdout.split("\n")
    return [" ".join(w) for w in zip(words[::2], words[1::2])]


def symbolize(report):
    """The frames of ours, by addr2line."""
    lines = []
    for m in re.finditer(r"^(\S+?)\(([^+)]*)\+(0x[0-9a-f]+)\)", report, re.M):
        obj, symbol, offset = m.groups()
        if re.search(r"failat|/libc\.so|/ld-linux", obj) or len(lines) > 14:
            continue
        lines += [symbol] if symbol else line_of(obj, int(offset, 16) - 1)
    return lines


def units(names, args, refs):
    for name in names:
        want, calls = refs[name]
        for kind in args.kind or KINDS:
            if kind not in CASES[name].kinds:
                continue
            sample = min(SAMPLE.get(kind, 2), CASES[name].sample)
            step = 1 if args.full or calls[kind] <= sample else calls[kind] / sample
            at = 1.0
            while at <= calls[kind]:
                yield name, kind, int(at), args.frames, want
                at += step


def reference(name):
    """The outcome without a failure, and how many calls there are of each kind."""
    want, report = attempt(CASES[name], "count", 0)
    if want.status != CASES[name].status:
        return want, None
    calls = dict.fromkeys(KINDS, 0)
    calls.update((k, int(n)) for k, n in (l.split() for l in report.splitlines()))
    calls["devfull"] = int(want.printed and not want.status)
    return want, calls


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--full", action="store_true")
    p.add_argument("--frames", action="store_true")
    p.add_argument("--kind", action="append")
    p.add_argument("case", nargs="*")
    args = p.parse_args()
    top = tempfile.mkdtemp(prefix="tacho-failat-", dir="/dev/shm")
    try:
        prepare(top)
        names = [n for n in CASES if any(fnmatch.fnmatch(n, g) for g in args.case) or
                 not args.case and (args.full or not CASES[n].variant)]
        with multiprocessing.Pool(2, work_init, (top,)) as pool:
            return run(names, args, pool)
    finally:
        for path in glob.glob(top + "/lkst-*"):
            lkst_end(dict(os.environ, TACHO_DIR=path, LKST_SESSION=path.split("/lkst-")[1]))
        shutil.rmtree(top, ignore_errors=True)


def run(names, args, pool):
    refs = dict(zip(names, pool.map(reference, names, 1)))
    broken = [n for n in names if refs[n][1] is None]
    found = {n: [(0, "", "does not work", refs[n][0].status, refs[n][0].err, "")]
             for n in broken}
    tried = {}
    names = [n for n in names if n not in broken]
    for name, kind, n, *said in pool.imap_unordered(work, units(names, args, refs), 4):
        tried[name] = tried.get(name, 0) + 1
        if said[0]:
            found.setdefault(name, []).append((n, kind, *said))
    print("1..%d" % len(refs))
    for nr, name in enumerate(refs, 1):
        bad = sorted(found.get(name, []))
        print("%s %d - %s, %d calls" % ("not ok" if bad else "ok", nr, name, tried.get(name, 0)))
        for n, kind, wrong, status, err, report in bad:
            print("# %s %d: %s; %r" % (kind, n, wrong, err[:300]))
            for line in symbolize(report)[:14]:
                print("#       " + line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
