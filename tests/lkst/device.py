# SPDX-License-Identifier: MIT
"""The device in the mounted tree (specification 4.3, 4.7.1): needs FUSE, and root for the kernel.

$SPEC is a program written from the specification (spec.c), $IOCTLS one that does a step again and
again, $MODULE one whose event handler is a device (device_handler.c)."""
import contextlib
import errno
import fcntl
import select
import struct
import threading

from lib import *

SPEC = os.environ["SPEC"]
IOCTLS = os.environ["IOCTLS"]
MODULE = os.environ["MODULE"]
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


def is_mounted(path):
    with open("/proc/self/mounts") as f:
        return any(l.split()[1] == path for l in f)


class Mount:
    def __init__(self, *options):
        self.dir = os.path.join(work, "mnt")
        os.makedirs(self.dir, exist_ok=True)
        self.server = start(TACHO, "mount", "-f", "-s", "m" + session, *options, self.dir)
        until("the mount", lambda: is_mounted(self.dir) or self.server.poll() is not None)
        if self.server.poll() is not None:
            raise Skip("cannot mount: " + slurp("err").strip())

    def __call__(self, *path):
        return os.path.join(self.dir, *path)

    def end(self):
        tacho("umount", self.dir)
        assert self.server.wait(PATIENCE) == 0, slurp("err")
        assert not os.path.exists(os.path.join(INSTANCES, "tacho.m" + session))


@contextlib.contextmanager
def mounted(*options):
    m = Mount(*options)
    try:
        yield m
        m.end()
    finally:
        if m.server.poll() is None:
            m.server.kill()
            m.server.wait()
        subprocess.run(["umount", "-l", m.dir], stderr=subprocess.DEVNULL)


def program(*argv):
    p = subprocess.run([str(a) for a in argv], capture_output=True, text=True,
                       timeout=PATIENCE)
    return Done([str(a) for a in argv], p)


def fails(number, call, *args):
    try:
        call(*args)
    except OSError as e:
        assert e.errno == number, "%s, not %s" % (e, errno.errorcode[number])
    else:
        raise AssertionError("it is not refused")


def test_specification():
    """a program written from the specification, twice"""
    with mounted() as tree:
        for i in range(2):
            d = program(SPEC, tree("lkst"))
            assert d.status == 0 and "not ok" not in d.out and "SKIP" not in d.out, d


def test_files():
    """lkst, lkst_etypes, class/lkst: kinds and permissions; a tree that is looked at makes nothing"""
    with mounted() as tree:
        assert {"lkst", "lkst_etypes", "class"} <= set(os.listdir(tree()))
        assert os.stat(tree("lkst")).st_mode & 0o777 == 0o600
        assert os.listdir(tree("class")) == ["lkst"]
        assert os.listdir(tree("class", "lkst")) == []
        assert session not in os.listdir(os.path.join(run_dir, "sessions"))
        types = slurp(tree("lkst_etypes"))
        assert re.search(r"(?m)^0x080\tSPIN_LOCK\tspin_lock\t", types), types[:500]
        put("types", types)
        lkstm("read", "-E", "types")
        lkstm("read", "-E", tree("lkst_etypes"))
        fails(errno.EACCES, lambda: open(tree("lkst_etypes"), "w"))
        fails(errno.ENOENT, lambda: open(tree("class", "lkst", "nobody", "id")))
        with open(tree("lkst"), "rb") as f:
            fails(errno.EINVAL, fcntl.ioctl, f, 0xb5 << 8 | 17)         # BUFFER_RING
            fails(errno.ENOTTY, fcntl.ioctl, f, 0xb5 << 8 | 40)


def test_others_may_not():
    """EPERM for all but the superuser and the owner"""
    if os.geteuid():
        raise Skip("needs root")
    with mounted("-o", "gid=65534") as tree:
        d = program(*NOBODY, IOCTLS, "status", tree("lkst"), 1)
        assert d.status and "cannot open the device: Permission denied" in d.err, d
        # whoever has it open by other ways
        d = program(IOCTLS, "others", tree("lkst"), 65534)
        assert d.status == 0 and d.out == "20 of 20 and read: EPERM\n", d
        d = program(IOCTLS, "status", tree("lkst"), 1)
        assert d.status == 0, d
        d = program(*NOBODY, os.path.join(TOOLS, "lkst"), "stat")
        assert d.status == 1 and d.err.startswith("lkst: "), d


def test_many_at_once():
    """several processes use the device at once: events, masksets, lists, reads"""
    with mounted() as tree:
        only("0x100", overrun=False)
        lkstbuf("create", "-s", "4M")
        lkstbuf("jump", "-b", 1)
        # (a buffer that is deleted takes a piece of the one that is written)
        steps = [("entry", 300), ("entry", 300), ("status", 300), ("list", 300), ("read", 300),
                 ("create", 20)]
        running = [start(IOCTLS, s, tree("lkst"), n) for s, n in steps]
        for s, p in zip(steps, running):
            assert p.wait(PATIENCE) == 0, (s, slurp("err"))
        rows = lkstbuf("print", "-e", "0x100").lines
        assert len(rows) == 600, len(rows)


def test_switches_while_recording():
    """masksets are switched by the device while programs record: every event is one maskset's"""
    with mounted() as tree:
        # of one maskset 0x100, of the other 0x101
        a = lkstm("write", "-n", "a", give="0x100 1\n").out.strip()
        b = lkstm("write", "-n", "b", give="0x101 1\n").out.strip()
        lkstbuf("create", "-s", "8M")
        lkstbuf("jump", "-b", 1)
        writers = [start(ENTRIES, e, 20000, c, 100, 1000)
                   for e, c in zip(("0x100", "0x101"), (cpus() * 2)[:2])]
        switchers = [start(IOCTLS, "switch", tree("lkst"), 200, a, b) for i in range(2)]
        for p in writers + switchers:
            assert p.wait(PATIENCE) == 0, slurp("err")
        assert re.search(r"maskset +(%s a|%s b)" % (a, b), lkst("stat").out)
        out = lkstbuf("print", "-r", "-V", "-e", "0x100,0x101").out
        for e in ("0x100", "0x101"):
            have = [int(x, 16) for x in re.findall(r"(?m)^%s .* arg1=(0x[0-9a-f]+)" % e, out)]
            assert have == sorted(set(have)), "an event twice, or out of order"
            assert len(have) < 20000, "masked events were recorded"


def test_deleted_while_read():
    """a buffer that is read is not deleted; one that is being printed may go"""
    with mounted() as tree:
        cpu = cpus()[0]
        only("0x100", overrun=False)
        lkstbuf("create", "-s", "1M")
        lkstbuf("jump", "-b", 1)
        entries(0x100, 5000, cpu)
        lkstbuf("jump", "-b", 0)
        # an owner in the middle of it
        p = start(IOCTLS, "hold", tree("lkst"), cpu)
        until("a reader", lambda: re.search(r"in buffer [01] at", lkstbuf(
            "list", "-v", "-c", cpu).out))
        until("buffer 1", lambda: re.search(r"in buffer 1 at", lkstbuf(
            "list", "-v", "-c", cpu).out))
        lkstbuf("delete", "-b", 1, "-c", cpu, ok=1, says="being written or read")
        p.kill()
        p.wait()
        # readers of whole buffers, while they come and go
        readers = [start(IOCTLS, "read", tree("lkst"), 200) for i in range(2)]
        makers = [start(IOCTLS, "create", tree("lkst"), 100)]
        until("delete", lambda: lkstbuf("delete", "-b", 1, "-c", cpu, ok=None).status == 0)
        for r in readers + makers:
            assert r.wait(PATIENCE) == 0, slurp("err")


def test_reader_and_killed_mount():
    """a reader that waits is let go when the server is killed, and LKST goes on"""
    m = Mount()
    try:
        cpu = cpus()[-1]
        p = start(IOCTLS, "wait", m("lkst"), cpu)
        until("a reader", lambda: "owner: %d" % p.pid in lkstbuf("list", "-v").out)
        m.server.kill()
        m.server.wait()
        assert p.wait(PATIENCE) != 0
        assert re.search(r"cannot read: ", slurp("err")), slurp("err")
        assert "owner: %d" % p.pid not in lkstbuf("list", "-v").out
        only("0x100", overrun=False)
        lkstlogger("-ev", "0x100", "-a1", 5)
        assert "arg1=0x5" in lkstbuf("print", "-V", "-e", "0x100").out
    finally:
        subprocess.run(["umount", "-l", m.dir], stderr=subprocess.DEVNULL)
    with mounted() as tree:
        assert program(IOCTLS, "status", tree("lkst"), 1).status == 0
    tacho("destroy", "m" + session, ok=None)


def test_two_readers():
    """a reader of each CPU, at once: each gets its own events, all of them, in order"""
    with mounted() as tree:
        only("0x100")
        for i in (1, 2):
            lkstbuf("create", "-s", "256K", "-b", i, "-n", 3 - i)
        lkstbuf("jump", "-b", 1)
        outs = {}
        for c in cpus():
            outs[c] = open("got%d" % c, "w")
            children.append(subprocess.Popen([IOCTLS, "follow", tree("lkst"), str(c), "3000"],
                                             stdout=outs[c], stderr=open("err", "a")))
        until("the readers", lambda: len(re.findall(r"owner: \d", lkstbuf(
            "list", "-v").out)) == len(cpus()))
        for c in cpus():
            entries(0x100, 3000, c)
            lkstbuf("shift", "-c", c)
        for c, p in zip(cpus(), children[-len(cpus()):]):
            assert p.wait(PATIENCE) == 0, slurp("err")
            have = [int(l) for l in slurp("got%d" % c).split()]
            assert have == list(range(1, 3001)), (c, len(have), have[:3])


def test_handler_class():
    """class/lkst/NAME/id, name, ctrl of a program's event handler; they go with the program"""
    with mounted() as tree:
        p = subprocess.Popen([MODULE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        children.append(p)
        assert p.stdout.readline() == "ready\n"
        names = os.listdir(tree("class", "lkst"))
        assert names == ["tested"], names
        one = lambda f: tree("class", "lkst", "tested", f)
        assert sorted(os.listdir(tree("class", "lkst", "tested"))) == ["ctrl", "id", "name"]
        assert slurp(one("name")).strip() == "tested"
        number = int(slurp(one("id")).strip(), 0)
        assert "0x%03x  tested" % number in lksteh("list").lines
        assert slurp(one("ctrl")) == "nothing stored\n"
        with open(one("ctrl"), "w") as f:
            f.write("a word")
        assert slurp(one("ctrl")) == "a word\n"
        fd = os.open(one("ctrl"), os.O_WRONLY)
        fails(errno.EINVAL, os.write, fd, b"bad")
        os.close(fd)
        lksteh("c", "-e", number, "-f", put("area", "ours"))
        assert slurp(one("ctrl")) == "ours\n"
        lksteh("c", "-e", number, "-f", put("area", "fail"), ok=1, says="returned 7")
        p.stdin.close()
        assert p.wait(PATIENCE) == 0
        assert os.listdir(tree("class", "lkst")) == []
        lksteh("c", "-e", number, ok=1, says="is not there")


run(globals())
