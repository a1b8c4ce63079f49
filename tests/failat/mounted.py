#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""mounted.py TACHO ORDERS SESSION: the tree of a server whose calls fail, used.

What cannot be done is an errno, once, and it is tried again.  What came of
everything goes to stdout, and how the server ended.  Status 1: it could not be mounted, with the
server's words."""
import errno
import os
import re
import subprocess
import sys
import time

TACHO, ORDERS, NAME = sys.argv[1:]
CLEAN = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD" and "FAILAT" not in k}
DIR = os.path.abspath("mnt")
X = DIR + "/instances/x"
EVENT = X + "/events/shop/order_done"
TRANSIENT = errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.EAGAIN


def get(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def put(path, text):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


def orders():
    """The program, which is there all the time, has its events."""
    program.stdin.write(b"x")
    assert program.stdout.readline() == b"done\n"


def texts(path):
    """The events of a trace file, without when and where."""
    return re.findall(r": (\S+: .*)", get(path))


def pipe():
    fd = os.open(X + "/trace_pipe", os.O_RDONLY | os.O_NONBLOCK)
    try:
        return len(re.findall(r"order_done: ", os.read(fd, 1 << 20).decode()))
    finally:
        os.close(fd)


def tries(what, *args):
    """A second time when it failed the first; what came of it.  A third time for what is to fail."""
    for left in 2, 1, 0:
        try:
            return what(*args)
        except OSError as e:
            if not left or left == 1 and e.errno not in TRANSIENT:
                return "fails twice: %s" % e
    return None


def add(path, text):
    try:
        put(path, text)
    except FileExistsError:
        pass        # what failed was to tell of it


def make(path):
    try:
        os.mkdir(path)
    except FileExistsError:
        pass        # what failed was to tell of it


def remove(path):
    try:
        os.rmdir(path)
    except FileNotFoundError:
        pass


def listed(path):
    return sorted(os.listdir(path))


STEPS = [
    (listed, DIR), (get, DIR + "/tracing_on"), (make, X), (listed, DIR + "/instances"),
    (put, X + "/set_event", "shop:order_done\n"), (orders,), (listed, X + "/events/shop"),
    (get, EVENT + "/format"), (get, EVENT + "/enable"), (texts, X + "/trace"),
    (put, EVENT + "/filter", "id > 1"), (get, EVENT + "/filter"),
    (add, EVENT + "/trigger", "hist:keys=customer"), (orders,), (get, EVENT + "/hist"),
    (get, EVENT + "/filter"), (get, X + "/set_event"), (texts, X + "/trace"), (pipe,),
    (put, X + "/trace_marker", "hello"), (texts, X + "/trace"),
    (put, X + "/tracing_on", "0"), (get, X + "/tracing_on"), (get, X + "/per_cpu/cpu0/stats"),
    (put, X + "/buffer_size_kb", "128"), (get, X + "/buffer_size_kb"),
    (put, EVENT + "/filter", "nonsense >"), (get, X + "/error_log"),
    (remove, X), (listed, DIR + "/instances"),
]


def mounted():
    with open("/proc/self/mounts", encoding="utf-8") as f:
        return any(line.split()[1] == DIR for line in f)


def main():
    os.mkdir(DIR)
    orders()
    server = subprocess.Popen([TACHO, "mount", "-f", "--no-kernel", "-b", "256K", "-s", NAME, DIR])
    try:
        while not mounted():
            if server.poll() is not None:
                return 1 if server.returncode == 1 else 99
            time.sleep(0.005)
        for what, *args in STEPS:
            came = tries(what, *args)
            if not mounted():
                return 1 if server.wait(60) == 1 else 99
            if what == get and args[0].endswith("stats"):
                came = bool(came)
            if what == get and args[0].endswith("error_log"):
                came = came.split("[")[-1]      # what failed before is there, too
            print(what.__name__, *(a[len(DIR):] for a in args[:1]), came, flush=True)
        subprocess.run([TACHO, "umount", DIR], env=CLEAN, check=True)
        print("the server's end:", server.wait(60))
    finally:
        program.kill()
        if server.poll() is None:
            server.kill()
            server.wait()
        if mounted():
            subprocess.run(["umount", "-l", DIR], check=False)
    return 0


with subprocess.Popen([ORDERS, "wait"], env=CLEAN, stdin=subprocess.PIPE, bufsize=0,
                      stdout=subprocess.PIPE) as program:
    status = main()
sys.exit(status)
