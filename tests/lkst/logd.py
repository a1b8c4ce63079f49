# SPDX-License-Identifier: MIT
"""lkstlogd: options, signals, files, and what becomes of it when things go wrong (4.7.3.3.1)."""
import fcntl
import itertools

from lib import *

LKSTLOGD = os.path.join(TOOLS, "lkstlogd")
LOGS = "logs/se"


class Daemon:
    def __init__(self, *argv, pid="pid", conf="/dev/null", logs=LOGS):
        os.makedirs(os.path.dirname(logs), exist_ok=True)
        self.pid_file, self.logs = pid, logs
        self.p = start(LKSTLOGD, "-F", "-p", pid, "-C", conf, "-f", logs, *argv)
        self.wait_for_children()

    def wait_for_children(self):
        """Every CPU's queue has an owner; its number is in the pid file."""
        def ready():
            assert self.p.poll() is None, open("err").read()
            return os.path.exists(self.pid_file) and slurp(self.pid_file).strip() and \
                len(self.owners()) == len(cpus())
        until("lkstlogd's children", ready, "err")
        assert int(slurp(self.pid_file)) == self.p.pid

    def owners(self):
        return [int(m) for m in re.findall(r"owner: (\d+)", lkstbuf("list", "-v").out)]

    def tell(self, sig):
        os.kill(self.p.pid, sig)

    def end(self, sig=signal.SIGTERM):
        self.tell(sig)
        assert self.p.wait(PATIENCE) == 0, open("err").read()
        assert not os.path.exists(self.pid_file)

    def file(self, cpu, serial):
        return "%s%d.%d" % (self.logs, cpu, serial)

    def files(self):
        return sorted(os.listdir(os.path.dirname(self.logs)))


def args(path, etype="0x100", lossy=False):
    """arg1 of the events of a log file, in their order; lossy: some may be missing."""
    out = lkstbuf("print", "-r", "-V", "-f", path, "-e", etype, ok=None if lossy else 0).out
    return [int(a, 16) for a in re.findall(r" arg1=(0x[0-9a-f]+)", out)]


def whole(path, count=None):
    """It has (so many) events, and no block that is only half written."""
    if not os.path.exists(path) or lkstbuf("print", "-f", path, ok=None).status:
        return False
    n = len(args(path, lossy=True))
    return n == count if count else n > 0


def holds(path, count):
    return lambda: whole(path, count)


def begin_only():
    """Before the daemon: nothing but user events; what came before is not in our buffers."""
    only("0x100", "0x101")


def test_writing():
    """-a: from the start; a file for each CPU, complete at TERM; buffers are gone then"""
    begin_only()
    d = Daemon("-a", "-b", "64K")
    for c in cpus():
        entries(0x100, 300, c)
    assert d.files() and all(re.fullmatch(r"se\d+\.0", f) for f in d.files())
    d.end()
    for c in cpus():
        assert args(d.file(c, 0)) == list(range(1, 301)), c
    rows = lkstbuf("list").lines[1:]
    assert [r[5:13].split() for r in rows] == [["0"]] * len(cpus()), rows
    assert not open("err").read()


def test_not_writing():
    """without -a: nothing is written until USR1; then what the buffers hold comes first"""
    begin_only()
    d = Daemon("-b", "64K")
    cpu = cpus()[0]
    entries(0x100, 50, cpu)
    assert d.files() == []
    d.tell(signal.SIGUSR1)
    until("a file", lambda: "se%d.0" % cpu in d.files())
    entries(0x101, 50, cpu)
    d.tell(signal.SIGUSR1)
    until("the end of writing", holds(d.file(cpu, 0), 50))
    assert args(d.file(cpu, 0), "0x101") == list(range(1, 51))
    # off, and on again: what was written stays
    before = open(d.file(cpu, 0), "rb").read()
    entries(0x100, 7, cpu)
    d.tell(signal.SIGUSR1)
    until("another file", lambda: "se%d.1" % cpu in d.files())
    d.end()
    assert open(d.file(cpu, 0), "rb").read() == before
    assert args(d.file(cpu, 1)) == list(range(1, 8))


def test_next_file():
    """USR2: the next serial number, of all CPUs, and nothing is lost between the files"""
    begin_only()
    d = Daemon("-a", "-b", "64K")
    for serial in range(3):
        for c in cpus():
            entries(0x100, 100 + serial, c)
        if serial < 2:
            d.tell(signal.SIGUSR2)
            for c in cpus():
                until("file %d" % (serial + 1), lambda: os.path.exists(d.file(c, serial + 1)))
    d.end()
    for c, serial in itertools.product(cpus(), range(3)):
        assert args(d.file(c, serial)) == list(range(1, 101 + serial)), (c, serial)


def test_next_file_while_not_writing():
    """USR2 while nothing is written counts, too, even when USR1 follows at once"""
    begin_only()
    d = Daemon("-b", "64K")
    cpu = cpus()[0]
    d.tell(signal.SIGUSR2)
    d.tell(signal.SIGUSR1)
    until("file 1", lambda: "se%d.1" % cpu in d.files())
    assert "se%d.0" % cpu not in d.files()
    d.end()


def test_restart():
    """HUP: files are closed, the configuration is read again, files go on with the next number"""
    begin_only()
    put("conf", '# comment\nLKSTLOGDOPTION="-a -b 64K -n 3"\n')
    d = Daemon(conf="conf")
    cpu, first = cpus()[0], d.owners()
    assert len([r for r in lkstbuf("list", "-c", cpu).lines if " 65536 " in r]) == 3
    entries(0x100, 10, cpu)
    put("conf", '# other\n  LKSTLOGDOPTION="-a -b 32K"\n')
    d.tell(signal.SIGHUP)
    until("a file of the second life", lambda: "se%d.1" % cpu in d.files(), "err")
    d.wait_for_children()
    assert not set(first) & set(d.owners())
    assert len([r for r in lkstbuf("list", "-c", cpu).lines if " 32768 " in r]) == 2
    entries(0x100, 20, cpu)
    # a configuration that is wrong by now changes nothing
    put("conf", 'LKSTLOGDOPTION="-b nonsense"\n')
    d.tell(signal.SIGHUP)
    until("a file of the third life", lambda: "se%d.2" % cpu in d.files(), "err")
    d.wait_for_children()
    assert "the configuration is wrong; the former one stays" in open("err").read()
    entries(0x100, 30, cpu)
    d.end()
    assert [len(args(d.file(cpu, s))) for s in range(3)] == [10, 20, 30]


def test_options():
    """what is wrong in options and configuration is said, and the status is not 0"""
    def refused(*argv, says, ok=2):
        lkstlogd("-F", "-p", "pid", *argv, ok=ok, says=says)
        assert not os.path.exists("pid")
    refused("-b", "x", says="'x' is no buffer size: bytes are meant, or 64K, or 2M")
    refused("-l", "1T", says="'1T' is no limit")
    refused("-n", "0", says="at least one buffer is needed")
    refused("-n", "60", says="number of buffers 60 is too large: 59")
    refused("-z", says="has no option '-z'")
    refused("x", says="unexpected argument 'x'; see 'lkstlogd -h'")
    refused("-C", "none", ok=1, says="cannot read 'none'")
    refused("-C", put("conf", 'LKSTLOGDOPTION="-q"\n'), says="has no option '-q'")
    refused("-l", "1K", says="a limit (-l) of 1024 bytes is too small: a file needs ")
    refused("-C", "/dev/null", "-b", "512M", ok=1,
            says="cannot make 2 buffers of 536870912 bytes: 4K to 256M are possible")
    lkstlogd("-F", "-p", "/none/pid", ok=1, says="cannot make '/none/pid'")
    assert [l for l in lkstbuf("list").lines[1:] if l[5:13].split() != ["0"]] == []


def test_pid_file():
    """a second one ends with a sentence; a stale pid file is no obstacle"""
    begin_only()
    d = Daemon("-a", "-b", "64K")
    lkstlogd("-F", "-p", "pid", ok=1, says="lkstlogd is running already: it holds 'pid'")
    # by another pid file: the queues are taken
    p = start(LKSTLOGD, "-F", "-p", "pid2", "-C", "/dev/null", "-f", "logs/other")
    assert p.wait(PATIENCE) == 1
    assert "is another process's" in open("err").read()
    assert "there is no CPU whose events can be written" in open("err").read()
    assert len(d.owners()) == len(cpus())
    d.end()
    put("pid", "1\n")       # somebody lives by that number
    d = Daemon("-b", "64K")
    d.end()


def test_background():
    """it returns when it records, from the background, and writes where it was started"""
    begin_only()
    os.mkdir("logs")
    d = lkstlogd("-a", "-p", "pid", "-C", "/dev/null", "-f", LOGS, "-b", "64K")
    assert not d.err, d
    # no waiting from here on: all is there
    pid = slurp("pid").strip()
    cpu = cpus()[0]
    assert os.path.exists("%s%d.0" % (LOGS, cpu)), os.listdir("logs")
    entries(0x100, 10, cpu)
    os.kill(int(pid), signal.SIGTERM)
    until("its end", lambda: not os.path.exists("pid"))
    assert args("%s%d.0" % (LOGS, cpu)) == list(range(1, 11))


def test_not_started():
    """a daemon that does not start is an error of whoever starts it"""
    begin_only()
    os.mkdir("logs")
    words = ("-a", "-C", "/dev/null", "-f", LOGS)
    for size in "1", "1023M":
        d = lkstlogd("-b", size, "-p", "pid", *words, ok=1)
        assert "cannot make 2 buffers" in d.err and d.err.count("\n") == 1, d
        assert not os.path.exists("pid")
    lkstlogd("-b", "64K", "-p", "pid", *words)
    d = lkstlogd("-b", "64K", "-p", "pid2", *words, ok=1)
    assert "is another process's" in d.err, d
    assert not os.path.exists("pid2")
    os.kill(int(slurp("pid")), signal.SIGTERM)
    until("its end", lambda: not os.path.exists("pid"))
    # it starts, cannot write, and says so before it leaves the terminal
    d = lkstlogd("-a", "-b", "64K", "-p", "pid", "-C", "/dev/null", "-f", "none/se",
                 ok=None)
    assert d.status == 0, d
    assert "cannot create 'none/se" in d.err, d
    os.kill(int(slurp("pid")), signal.SIGTERM)
    until("its end", lambda: not os.path.exists("pid"))


def test_many_buffers():
    """no event is lost between consecutive buffers, kernel's or programs'"""
    begin_only()
    lkstm("conf", "PROCESS_FORK", "LOG")
    d = Daemon("-a", "-b", "32K", "-n", 8)
    cpu = cpus()[0]
    entries(0x100, 20000, cpu, 1000)    # of 8 x 455 records
    pids = [subprocess.Popen(["true"]) for i in range(20)]
    for p in pids:
        p.wait()
    d.end()
    have = args(d.file(cpu, 0))
    assert have == list(range(1, 20001)), (len(have), have[:3], have[-3:])
    forks = set()
    for c in cpus():
        out = lkstbuf("print", "-f", d.file(c, 0), "-e", "PROCESS_FORK").out
        forks |= {int(m, 16) for m in re.findall(r"child pid=(0x[0-9a-f]+)", out)}
    if os.access("/sys/kernel/tracing/instances", os.W_OK):
        assert {p.pid for p in pids} <= forks, (pids, forks)


def test_limit():
    """-l: a file is written from its head again, and holds the newest"""
    begin_only()
    d = Daemon("-a", "-b", "32K", "-n", 4, "-l", "256K")
    cpu = cpus()[0]
    entries(0x100, 20000, cpu, 1000)    # of 4 x 455 records
    d.end()
    assert os.path.getsize(d.file(cpu, 0)) <= 256 << 10
    have = args(d.file(cpu, 0))
    assert have[-1] == 20000 and 1000 < len(have) < 5000, (len(have), have[-1])
    assert have == list(range(have[0], 20001))
    tacho("check", d.file(cpu, 0))


def test_single_buffer():
    """-n 1: a buffer that no other follows is written, too"""
    begin_only()
    d = Daemon("-a", "-b", "64K", "-n", 1)
    cpu = cpus()[0]
    entries(0x100, 100, cpu)
    d.tell(signal.SIGUSR2)
    until("the next file", lambda: os.path.exists(d.file(cpu, 1)))
    entries(0x100, 200, cpu)
    d.end()
    assert args(d.file(cpu, 0)) == list(range(1, 101))
    assert args(d.file(cpu, 1)) == list(range(1, 201))


def has_ended(pid):
    """It may be a zombie for a while: whoever inherits it takes its time."""
    try:
        return "Z (zombie)" in slurp("/proc/%d/status" % pid)
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_killed_and_restarted():
    """SIGKILL, again and again: buffers do not pile up, events of meanwhile are written"""
    begin_only()
    cpu = cpus()[0]
    for life in range(3):
        d = Daemon("-a", "-b", "64K")
        entries(0x100, 100, cpu)
        children_ = d.owners()
        d.tell(signal.SIGKILL)
        d.p.wait()
        for c in children_:
            until("the end of a child", lambda: has_ended(c))
        entries(0x100, 11, cpu)     # nobody is there
        assert len(lkstbuf("list", "-c", cpu).lines) == 1 + 3, life
        assert os.path.exists("pid")
    d = Daemon("-a", "-b", "64K")
    d.end()
    have = [args("logs/" + f) for f in sorted(d.files()) if f.startswith("se%d." % cpu)]
    assert sum(map(len, have)) == 3 * 111, [len(h) for h in have]
    assert len(lkstbuf("list", "-c", cpu).lines) == 2


def test_killed_child():
    """a child that is killed is started again, and goes on in a new file"""
    begin_only()
    d = Daemon("-b", "64K")
    cpu = cpus()[0]
    d.tell(signal.SIGUSR1)
    until("a file", lambda: "se%d.0" % cpu in d.files())
    entries(0x100, 100, cpu)
    lkstbuf("shift", "-c", cpu)
    until("what it wrote", holds(d.file(cpu, 0), 100))
    child = [int(m[1]) for m in re.finditer(r"owner: (\d+)", lkstbuf("list", "-v", "-c", cpu).out)]
    os.kill(child[0], signal.SIGKILL)
    until("another child", lambda: child[0] not in d.owners() and len(d.owners()) == len(cpus()))
    entries(0x100, 50, cpu)
    d.end()
    assert "the child of CPU %d died; it is started again" % cpu in open("err").read()
    assert args(d.file(cpu, 0)) == list(range(1, 101))
    assert args(d.file(cpu, 1)) == list(range(1, 51))       # writing as it was


def stop(pid):
    """A process of the daemon stops, but not while it has LKST's lock."""
    with open(os.path.join(run_dir, "lkst")) as lock:
        while True:
            os.kill(pid, signal.SIGSTOP)
            until("its stop", lambda: "T (stopped)" in slurp("/proc/%d/status" % pid))
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return pid
            except BlockingIOError:
                os.kill(pid, signal.SIGCONT)


def owner(cpu):
    """The child of a CPU."""
    return int(re.search(r"owner: (\d+)", lkstbuf("list", "-v", "-c", cpu).out)[1])


def stopped(cpu):
    """The child of a CPU, which reads nothing until it is let go on."""
    return stop(owner(cpu))


def missing(path):
    """Events that are missing in a file, by its readers."""
    d = lkstbuf("print", "-f", path, ok=None)
    said = re.fullmatch(r"lkstbuf: .*: (\d+) events were lost when it was recorded\n", d.err)
    n = int(said[1]) if said else 0
    assert d.status == 0 and (d.err == "" or said), d.err
    lost = re.search(r"^LOST +(\d+)", tacho("stat", path).out, re.M)
    assert (int(lost[1]) if lost else 0) == n, (lost, n)
    return n


def test_overwritten():
    """what is overwritten before it is read is counted, to the last event, and said once"""
    only("0x100", overrun=False)
    cpu = cpus()[0]
    d = Daemon("-a", "-b", "4K", "-n", 3)

    def too_many():
        """Within a turn of a buffer, and whole turns."""
        child = stopped(cpu)
        for n in (700, 3, 40, 1000, 20, 3, 234):
            entries(0x100, n, cpu)
            lkstbuf("shift", "-c", cpu)
        os.kill(child, signal.SIGCONT)

    too_many()
    until("what is left", lambda: os.path.exists(d.file(cpu, 0)) and
          args(d.file(cpu, 0), lossy=True))
    too_many()
    d.tell(signal.SIGUSR2)
    until("the next file", lambda: os.path.exists(d.file(cpu, 1)), "err")
    said = slurp("err").splitlines()
    entries(0x100, 20, cpu)
    d.end()
    have, lost = args(d.file(cpu, 0), lossy=True), missing(d.file(cpu, 0))
    assert lost == 4000 - len(have) > 3500, (lost, have)
    words = r"lkstlogd: %s: (\d+) events%s were overwritten before they could be written; .*"
    so_far, all_ = (re.fullmatch(words % (d.file(cpu, 0), w), l)
                    for w, l in zip((" so far", ""), said))
    assert so_far and all_ and 1000 < int(so_far[1]) < lost == int(all_[1]), said
    # of the next file nothing is
    assert missing(d.file(cpu, 1)) == 0 and args(d.file(cpu, 1)) == list(range(1, 21))
    assert slurp("err").splitlines() == said and len(said) == 2, slurp("err")
    for c in cpus()[1:]:
        assert not os.path.exists(d.file(c, 0)) or missing(d.file(c, 0)) == 0


def test_overwritten_while_not_writing():
    """what was overwritten before writing began is not missed; what it was while a child was dead is"""
    begin_only()
    cpu = cpus()[0]
    d = Daemon("-b", "4K", "-n", 3)
    entries(0x100, 2000, cpu)
    d.tell(signal.SIGUSR1)
    until("a file", lambda: whole(d.file(cpu, 0)))
    assert missing(d.file(cpu, 0)) == 0 and not slurp("err"), slurp("err")
    child = owner(cpu)      # a command waits for the daemon's pump, and that is to stop
    stop(d.p.pid)
    os.kill(stop(child), signal.SIGKILL)
    entries(0x100, 2000, cpu)
    d.tell(signal.SIGCONT)
    until("a file of another child", lambda: os.path.exists(d.file(cpu, 1)) and
          args(d.file(cpu, 1), lossy=True))
    d.end()
    assert missing(d.file(cpu, 1)) > 1500
    assert args(d.file(cpu, 1), lossy=True)[-1] == 2000


def test_disk_full():
    """a disk that is full: said once, what was written stays, and it goes on when there is room"""
    if os.geteuid():
        raise Skip("needs root")
    os.mkdir("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "none", "small"],
                      capture_output=True).returncode:
        raise Skip("cannot mount")
    try:
        put("small/ballast", "x" * 360000)      # more than what is held back
        begin_only()
        d = Daemon("-a", "-b", "32K", "-n", 8, "-l", "0", logs="small/se")
        cpu = cpus()[0]
        entries(0x100, 6000, cpu, 2000)
        until("the sentence", lambda: "the disk is full" in open("err").read())
        os.unlink("small/ballast")
        entries(0x100, 100, cpu)
        d.end()
        said = open("err").read()
        assert said.count("the disk is full") <= 2, said
        out = lkstbuf("print", "-r", "-V", "-f", d.file(cpu, 0), "-e", "0x100", ok=None)
        have = [int(a, 16) for a in re.findall(r" arg1=(0x[0-9a-f]+)", out.out)]
        first = next((n for n, a in enumerate(have) if a != n + 1), len(have))
        assert first > 400, (first, len(have))     # a buffer at least
        assert have[-100:] == list(range(1, 101)), have[-100:]
        assert "events were lost when it was recorded" in out.err, out.err
    finally:
        for p in children:
            p.kill()
            p.wait()
        subprocess.run(["umount", "-l", "small"])


def test_no_file():
    """a disk that is full from the start: no files without anything in them"""
    if os.geteuid():
        raise Skip("needs root")
    os.mkdir("small")
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "none", "small"],
                      capture_output=True).returncode:
        raise Skip("cannot mount")
    try:
        with open("small/ballast", "wb", 0) as f:
            try:
                f.write(b"x" * (256 << 10))
            except OSError:
                pass
        begin_only()
        d = Daemon("-a", "-b", "32K", "-l", "0", logs="small/se")
        cpu = cpus()[0]
        entries(0x100, 100, cpu)
        until("the sentence", lambda: "the disk is full" in open("err").read())
        time.sleep(0.5)     # it tries again, and again
        # one may be there that it is just trying
        assert all(re.fullmatch(r"ballast|se\d+\.0", f) for f in d.files()), d.files()
        os.unlink("small/ballast")
        until("a file", lambda: os.path.exists(d.file(cpu, 0)))
        d.end()
        assert args(d.file(cpu, 0)) == list(range(1, 101))
        assert len(d.files()) <= len(cpus()), d.files()
    finally:
        for p in children:
            p.kill()
            p.wait()
        subprocess.run(["umount", "-l", "small"])


def test_readers():
    """its files by lkstbuf print, logformat, tacho report, stat, hist: the same events"""
    only("0x100", "LKST_ERROR")
    d = Daemon("-a", "-b", "64K")
    cpu = cpus()[0]
    entries(0xf05, 100, cpu)
    d.end()
    log = d.file(cpu, 0)
    text = lkstbuf("print", "-f", log, "-e", "LKST_ERROR").out
    assert text.count("\n") == 100 and logformat("-e", "LKST_ERROR", log).out == text
    rows = tacho("report", "--filter", "etype == 0xf05 && arg1 > 90", log).lines
    assert len(rows) == 10 and all("LKST_ERROR" in r for r in rows), rows
    assert re.search(r"(?m)^ +100 .* lkst:LKST_ERROR$", tacho("stat", log).out)
    hist = tacho("hist", "-e", "lkst:LKST_ERROR", "keys=pid", log).out
    assert re.search(r"\b100\b", hist), hist
    tacho("check", log)


run(globals())
