# SPDX-License-Identifier: MIT
"""trace.dat: what trace-cmd reads in it is what was recorded.

trace-cmd itself is the oracle; the file's own numbers are read here by code that
it shares with nobody (docs/trace-format.md says where the layout is)."""
import collections
from rec import *

TEXTS = os.environ["TEXTS"]
VERSIONS = {"dat": 6, "dat7": 7}
EVENTS = "/sys/kernel/tracing/events"
KERNEL = "sched:sched_switch,sched:sched_wakeup,sched:sched_process_*"
mounts = []


def unmount():
    os.chdir(work)
    for m in mounts:
        cmd("umount", "-l", m)
    mounts.clear()


at_end.append(unmount)
atexit.register(unmount)


def need_trace_cmd():
    if not shutil.which("trace-cmd"):
        raise Skip("no trace-cmd")


def trace_cmd(path, *argv):
    """What trace-cmd reports; it must have nothing to complain about."""
    d = cmd("trace-cmd", "report", *argv, "-i", path)
    assert d.status == 0 and not d.err, "trace-cmd: %r" % d
    return d.out


LINE = re.compile(r"\s*(.*)-(\d+)\s+\[(\d+)\]\s+(?:\S{5}\s+)?(\d+\.\d+): "
                  r"(\w+):\s*(.*)$")


def lines(text):
    """{cpu: [(comm, pid, event, text), ...]}, and the times likewise."""
    cpus, times = collections.defaultdict(list), collections.defaultdict(list)
    for line in text.split("\n"):
        if not line or line.startswith(("cpus=", "#", "CPU:")):
            continue
        m = LINE.match(line)
        assert m, "no event: %r" % line
        # libtraceevent prints arrays in decimal, with blanks and no braces
        what = re.sub(r"\{([^}]*)\}", lambda a: " ".join(
            str(int(x, 16)) for x in a[1].split(",") if x), m[6])
        cpus[int(m[3])].append((m[1].strip(), int(m[2]), m[5], what.strip()))
        times[int(m[3])].append(m[4])
    return cpus, times


def convert(trace, to, *more):
    out = "%s.%s" % (trace, to)
    tacho("convert", "-q", trace, "--to", to, "-o", out, *more)
    return out


def same_texts(trace, dat):
    ours, _ = lines(tacho("report", "-q", trace).out)
    theirs, _ = lines(trace_cmd(dat, "-N"))
    assert sorted(ours) == sorted(theirs), (list(ours), list(theirs))
    for cpu in ours:
        assert len(ours[cpu]) == len(theirs[cpu]), \
            "CPU %d: %d, not %d" % (cpu, len(theirs[cpu]), len(ours[cpu]))
        for a, b in zip(ours[cpu], theirs[cpu]):
            assert a == b, "CPU %d: %s is %s" % (cpu, a, b)
    return sum(len(v) for v in ours.values())


class Dat:
    """The metadata of a file of version 6."""

    def __init__(self, path):
        with open(path, "rb") as f:
            self.data = f.read()
        assert self.data[:12] == b"\x17\x08\x44tracing6\0"
        self.order, self.long, self.page_size = struct.unpack_from("<BBI", self.data, 12)
        self.at = 18
        assert self.take(12) == b"header_page\0"
        self.header_page = self.take(self.number("<Q"))
        assert self.take(13) == b"header_event\0"
        self.header_event = self.take(self.number("<Q"))
        self.formats = {}       # (system, name): text
        self.ids = []
        for _ in range(self.number("<I")):
            self.format("ftrace")
        for _ in range(self.number("<I")):
            system = self.string()
            for _ in range(self.number("<I")):
                self.format(system)

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def number(self, kind):
        return struct.unpack(kind, self.take(struct.calcsize(kind)))[0]

    def string(self):
        end = self.data.index(b"\0", self.at)
        return self.take(end + 1 - self.at)[:-1].decode()

    def format(self, system):
        text = self.take(self.number("<Q")).decode()
        name = re.match(r"name: (\S+)\nID: (\d+)\n", text)
        self.formats[system, name[1]] = text
        self.ids.append(int(name[2]))


def test_program():
    """all kinds of fields: trace-cmd prints what tacho prints"""
    need_trace_cmd()
    tacho("record", "-o", "t", "--", TEXTS, 40)
    for to in VERSIONS:
        dat = convert("t", to)
        assert same_texts("t", dat) == 160
        trace_cmd(dat, "--check-events")
        trace_cmd(dat, "--ts-check")


def test_kernel():
    """programs and the kernel: events, texts, names of tasks, order"""
    need_tracefs()
    need_trace_cmd()
    tacho("record", "-o", "t", "-e", "*:*", "-k", KERNEL, "--", TRACED,
          "hit 3000", "fork hit 20", "text 30", "text 300", "threads 3 hit 50")
    whole = read("t")
    for to in VERSIONS:
        dat = convert("t", to)
        n = same_texts("t", dat)
        assert n == len(whole.events) + whole.kernel_events, n
        trace_cmd(dat, "--check-events")


def test_strings():
    """strings that the kernel's events point to"""
    need_tracefs()
    need_trace_cmd()
    if not os.path.isdir(EVENTS + "/rcu/rcu_utilization"):
        raise Skip("no event with such strings")
    tacho("record", "-q", "-o", "t", "-k", "rcu:rcu_utilization", "--", "sh", "-c",
          "for i in 1 2 3 4 5; do sleep 0.01; done")
    text = tacho("report", "-q", "t").out
    assert "rcu_utilization: Start context switch" in text, text
    for to in VERSIONS:
        assert same_texts("t", convert("t", to)) == text.count("\n")
    tacho("convert", "-q", "t", "-o", "again")
    assert tacho("report", "-q", "again").out == text


def test_formats():
    """ids do not collide; the kernel's formats are the kernel's, to the byte"""
    need_tracefs()
    tacho("record", "-o", "t", "-e", "*:*", "-k", KERNEL, "--", TRACED, "hit 10")
    d = Dat(convert("t", "dat"))
    assert len(set(d.ids)) == len(d.ids), sorted(d.ids)
    assert (d.order, d.long, d.page_size) == (sys.byteorder == "big", 8, 4096)
    for name in ("header_page", "header_event"):
        with open(os.path.join(EVENTS, name), "rb") as f:
            assert getattr(d, name) == f.read(), name
    seen = 0
    for (system, name), text in d.formats.items():
        path = os.path.join(EVENTS, system, name, "format")
        if system == "rec":
            continue
        with open(path) as f:
            assert text == f.read(), "%s:%s" % (system, name)
        seen += 1
    assert seen >= 3 and ("rec", "hit") in d.formats, d.formats.keys()


def test_rewritten():
    """what the recorder rewrites is as the kernel wrote it: stacks, markers"""
    need_tracefs()
    need_trace_cmd()
    tacho("record", "-q", "-o", "t", "-k", "sched:sched_wakeup", "--", "sh", "-c",
          "for i in %s/tacho-*-$PPID-*; do echo 'a marker' >$i/trace_marker;"
          "echo stacktrace >$i/events/sched/sched_wakeup/trigger; done;"
          "sleep 0.02; sleep 0.02" % INSTANCES)
    out = tacho("report", "-q", "t").out
    stacks = out.count("<stack trace>")
    depth = len(re.findall("^ => ", out, re.M))
    assert stacks and "a marker" in out, out
    for to in VERSIONS:
        got = trace_cmd(convert("t", to))
        assert got.count("<stack trace") == stacks, got
        assert len(re.findall("^ *=> ", got, re.M)) == depth, got
        assert re.search(r"print: .*: a marker", got), got
    d = Dat("t.dat")
    assert "field:char buf[];\toffset:16;" in d.formats["ftrace", "print"]


def test_large():
    """events larger than a page: pages become as large as they need"""
    need_trace_cmd()
    for sizes, page in (([10, 4000], 4096), ([4050], 8192),
                        ([5, 4100, 7, 7000, 9], 8192), ([1, 65000, 2], 65536),
                        ([3, 65500, 4], 131072)):
        tacho("record", "-q", "-o", "t", "--", TEXTS, 100, *sizes)
        for to in VERSIONS:
            dat = convert("t", to)
            assert same_texts("t", dat) == 400 + len(sizes)
        d = Dat("t.dat")
        assert d.page_size == page, (sizes, d.page_size)
        assert b"size:%d;" % (page - 16) in d.header_page
        for f in ("t.dat", "t.dat7"):
            os.unlink(f)
        shutil.rmtree("t")


def test_times():
    """times are those of the recording, by the nanosecond"""
    need_trace_cmd()
    for clock in (), ("--clock", "mono"), ("--clock", "boot"):
        tacho("record", "-q", "-o", "t", *clock, "--", TRACED, "hit 10", "sleep 300",
              "hit 10")
        want = sorted(json.loads(l)["time"] for l in
                      tacho("report", "--json", "t").out.splitlines())
        for to in VERSIONS:
            _, times = lines(trace_cmd(convert("t", to), "-t"))
            got = sorted(int(t.replace(".", "")) for v in times.values() for t in v)
            assert len(got) == len(want) == 20
            for a, b in zip(got, want):
                assert abs(a - b) <= 2, (clock, to, a, b)
            os.unlink("t." + to)
        shutil.rmtree("t")


def test_lost():
    """loss is counted, and told at its place"""
    need_trace_cmd()
    tacho("create", "-b", "64K", "--subbuf", "16K", "-e", "rec:*", "s")
    cmd(TRACED, "cpu 0", "hit 10000")
    s = session("s")
    assert s["lost_full"] > 0, s
    tacho("recover", "-o", "t", "s")
    for to in VERSIONS:
        dat = convert("t", to)
        counted = re.findall(r"overrun: (\d+)", trace_cmd(dat, "--stat"))
        assert s["lost_full"] in map(int, counted), (s, counted)
        assert same_texts("t", dat) == s["written"]


def test_piece():
    """a piece: some events, some time"""
    need_trace_cmd()
    tacho("record", "-q", "-o", "t", "--", TRACED, "hit 50", "other 30")
    dat = convert("t", "dat", "-e", "rec:other", "-m", "20")
    cpus, _ = lines(trace_cmd(dat))
    got = [e for v in cpus.values() for e in v]
    assert len(got) == 20 and {e[2] for e in got} == {"other"}, got


def test_empty():
    """no events is a file, too"""
    need_trace_cmd()
    tacho("record", "-q", "-o", "t", "--", TRACED)
    for to in VERSIONS:
        assert not lines(trace_cmd(convert("t", to)))[0]


def test_in_the_way():
    """not over a file, not to what is no file; nothing is left behind"""
    tacho("record", "-q", "-o", "t", "--", TRACED, "hit 5")
    with open("x.dat", "w") as f:
        f.write("mine")
    tacho("convert", "t", "-o", "x.dat", ok=1, says="'x.dat' exists and is not empty")
    tacho("convert", "t", "-o", "t/x/y.dat", ok=1, says="No such file")
    tacho("convert", "t", "--to", "dat", "-o", "t", ok=1, says="'t' is not a file")
    tacho("convert", "t", "-o", "z.dat", "-e", "rec:hitt", ok=1, says="rec:hit")
    assert sorted(os.listdir(".")) == ["t", "x.dat"], os.listdir(".")
    open("empty.dat", "w").close()
    tacho("convert", "-q", "t", "-o", "empty.dat")
    assert os.path.getsize("empty.dat") > 4096


def small_disk(path, size):
    need_root()
    os.mkdir(path)
    if cmd("mount", "-t", "tmpfs", "-o", "mode=700,size=" + size, "none",
           path).status:
        raise Skip("no mounts here")
    mounts.append(os.path.abspath(path))


def test_disk_full():
    """a full disk: one sentence, no half a file"""
    small_disk("m", "256k")
    tacho("record", "-q", "-o", "t", "--", TRACED, "hit 20000")
    for to in VERSIONS:
        d = tacho("convert", "t", "--to", to, "-o", "m/x.dat", ok=1,
                  says="cannot write 'm/x.dat': No space left on device")
        assert d.err.count("\n") == 1, d
        assert not os.listdir("m")
    tacho("convert", "t", "-o", "m/x.txt", ok=1,
          says="cannot write to m/x.txt: No space left on device")
    assert not os.listdir("m")
    read("t")


# ---- record -o x.dat ----

def test_record():
    """record -o x.dat: a file, and nothing else"""
    need_trace_cmd()
    for argv, version in (("x.dat",), b"6"), (("x.dat", "--to", "dat7"), b"7"), \
            (("x", "--to", "dat"), b"6"):
        d = tacho("record", "--json", "-o", *argv, "--", TRACED, "hit 700")
        j = json.loads(d.out)
        assert j["trace"] == argv[0] and j["events"] == 700, j
        assert j["bytes"] == os.path.getsize(argv[0]), j
        assert os.listdir(".") == [argv[0]], os.listdir(".")
        with open(argv[0], "rb") as f:
            assert f.read(11)[10:] == version
        assert sum(map(len, lines(trace_cmd(argv[0]))[0].values())) == 700
        os.unlink(argv[0])


def test_record_kernel():
    """record -k -o x.dat: the kernel's events, too"""
    need_tracefs()
    need_trace_cmd()
    d = tacho("record", "--json", "-o", "x.dat", "-e", "*:*", "-k", KERNEL, "--", TRACED,
              "hit 70")
    j = json.loads(d.out)
    got = [e[2] for v in lines(trace_cmd("x.dat"))[0].values() for e in v]
    assert len(got) == j["events"] and got.count("hit") == 70, (j, len(got))
    assert sum(e.startswith("sched_") for e in got) == j["kernel_events"] > 0


def test_record_lines():
    """record -o x.txt, x.json: what convert makes of the directory"""
    for argv, name in (("x.txt",), "text"), (("x.jsonl",), "json"), \
            (("x", "--to", "json"), "json"):
        d = tacho("record", "--json", "-o", *argv, "--", TRACED, "hit 70")
        j = json.loads(d.out)
        assert j["bytes"] == os.path.getsize(argv[0]) and j["events"] == 70, j
        with open(argv[0]) as f:
            got = [line for line in f if "hit" in line]
        assert len(got) == 70, len(got)
        assert all(line.startswith("{") == (name == "json") for line in got), got[0]
        assert os.listdir(".") == [argv[0]], os.listdir(".")
        os.unlink(argv[0])


def test_record_ctf():
    """--to ctf: a directory, whatever its name"""
    tacho("record", "-q", "-o", "x.dat", "--to", "ctf", "--", TRACED, "hit 7")
    assert len(read("x.dat").events) == 7


def test_record_refused():
    """what does not go together, what is in the way"""
    for more in ("--rotate", "1M"), ("--flight",), ("--on", "rec:hit"):
        tacho("record", "-o", "x.dat", *more, "--", TRACED, "hit 1", ok=2,
              says="write directories")
    tacho("record", "--to", "dat", "--", TRACED, "hit 1", ok=2, says="name the file")
    tacho("record", "--to", "xml", "-o", "x", "--", TRACED, ok=2, says="not one of ctf")
    assert not os.listdir(".")
    with open("x.dat", "w") as f:
        f.write("mine")
    tacho("record", "-o", "x.dat", "--", TRACED, "hit 1", ok=1,
          says="'x.dat' exists and is not empty")
    assert os.listdir(".") == ["x.dat"]


def test_record_killed():
    """a recorder that is killed leaves the directory, which can be finished"""
    need_trace_cmd()
    p = recorder("-o", "x.dat")
    a = Traced()
    a.do("hit 500")
    p.kill()
    finish(p)
    a.end()
    assert os.listdir(".") == ["x.dat.tacho"], os.listdir(".")
    tacho("record", "-o", "x.dat", "--", TRACED, "hit 1", ok=1,
          says="tacho recover x.dat.tacho.*tacho convert x.dat.tacho -o x.dat")
    tacho("recover", "x.dat.tacho")
    tacho("convert", "x.dat.tacho", "-o", "x.dat")
    assert sum(map(len, lines(trace_cmd("x.dat"))[0].values())) == 500


def test_record_disk_full():
    """no room for the file: one sentence, and all that was recorded is there"""
    small_disk("m", "1m")
    d = tacho("record", "-o", "m/x.dat", "-b", "4M", "--", TRACED, "hit 17000", ok=1,
              says="cannot write 'm/x.dat': No space left on device")
    assert "tacho convert m/x.dat.tacho --to dat -o m/x.dat" in d.err, d
    assert os.listdir("m") == ["x.dat.tacho"], os.listdir("m")
    assert len(read("m/x.dat.tacho").events) == 17000
    tacho("convert", "-q", "m/x.dat.tacho", "-o", "x.dat")


run(globals())
