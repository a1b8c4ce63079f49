# SPDX-License-Identifier: MIT
"""libtraceparser as programs for QNX use it, and traceprinter's lines: on traces that
kevfile.py makes byte by byte; the lines are those of the historic program."""
import os
import shutil
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import kevfile  # noqa: E402
from kevfile import (COMM, CONTROL, CREATE_NAME, EXIT, INT, INTERRUPTED, KER_CALL, PR_TH,  # noqa: E402
                     STATES, SYSTEM, USER, CB, CE, File)

PRINTER, PARSER, UNINSTALLED = sys.argv[1:4]
CC = sys.argv[4:]
count = failed = 0
work = tempfile.mkdtemp(prefix='tacho-kev.')
path = os.path.join(work, 'x.kev')


def ok(good, name, *why):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    if not good:
        for w in why:
            print('#', str(w)[:3000].replace('\n', '\n# '))


def run(*cmd, stdin=None):
    p = subprocess.run(cmd, capture_output=True, stdin=stdin)
    return p.returncode, p.stdout.decode(errors='replace'), p.stderr.decode(errors='replace')


def same(got, want, name):
    ok(got == want, name, 'got:', got, 'not:', want)


def trace(big=False):
    """An event of each kind that has a line of its own."""
    f = File(big=big, syspage=b'PAGE\nOF 14 B.')
    f.time(0, 5 << 32 | 0x10)
    f.simple(0, CONTROL, 2, 0x11, 42, 714)
    f.words(0, KER_CALL, 11, 0x40, 0x40000001, 0x64636261 if not big else 0x61626364)
    f.words(0, KER_CALL, 11, 0x41, 0x40000001, 12, 13, 1, 2, 3)
    f.words(0, KER_CALL, EXIT + 11, 0x42, 0xffffffff, 3)
    f.words(1, KER_CALL, INTERRUPTED + 11, 0x43, 0, 0)
    f.words(1, INT, 1, 0x44, 14, 0x12345678)
    f.words(1, INT, 2, 0x45, 14, 1)
    f.words(1, INT, 3, 0x46, 100, 14, 0x1000, 0x2000)
    f.words(1, PR_TH, STATES['ready'], 0x47, 100, 2)
    f.words(1, PR_TH, STATES['create'], 0x48, 100, 2)
    f.words(1, PR_TH, STATES['running'], 0x49, 100, 2, 10, 2)
    f.combine(1, PR_TH, CREATE_NAME, 0x4a, f.pack('2I', 1, 100) + b'devc-con\0')
    f.words(1, COMM, 0, 0x4b, 7, 100)
    f.words(1, USER, 5, 0x4c, 1, 2)
    f.combine(1, USER, 6, 0x4d, b'hello world\0')
    f.combine(1, USER, 7, 0x4e, b'not \1 text at all')
    f.words(1, SYSTEM, 9, 0x4f, 0x1000, 0)
    f.words(1, INT, 4, 0x50, 14, 0x104, 0x40000002, 9, 0)
    f.words(1, INT, 5, 0x51, 14, 0x12345678)
    f.words(1, KER_CALL, EXIT + 37, 0x52, 0, 7)
    f.combine(1, USER, 8, 0x53, b'a' * 2000)
    f.simple(1, SYSTEM, 3, 0x54, 1, struct.unpack(f.e + 'I', b'aps\0')[0])
    return f


HEAD = """TRACEPRINTER version 1.02
TRACEPARSER LIBRARY version 1.02
 -- HEADER FILE INFORMATION -- 
       TRACE_FILE_NAME:: /dev/shmem/x.kev
            TRACE_DATE:: Wed Jun 24 10:52:58 2009
       TRACE_VER_MAJOR:: 1
       TRACE_VER_MINOR:: 01
   TRACE_LITTLE_ENDIAN:: TRUE
        TRACE_ENCODING:: 16 byte events
       TRACE_BOOT_DATE:: Wed Jun 24 10:00:00 2009
  TRACE_CYCLES_PER_SEC:: 1000000000
         TRACE_CPU_NUM:: 2
         TRACE_SYSNAME:: QNX
        TRACE_NODENAME:: box
     TRACE_SYS_RELEASE:: 6.4.1
     TRACE_SYS_VERSION:: 2009/05/20-17:35:56EDT
         TRACE_MACHINE:: x86pc
     TRACE_SYSPAGE_LEN:: 13
 -- KERNEL EVENTS -- 
"""

LINES = """t:0x00000010 CPU:00 CONTROL :TIME msb:0x00000005 lsb(offset):0x00000010
t:0x00000011 CPU:00 CONTROL: BUFFER sequence = 42, num_events = 714
t:0x00000040 CPU:00 KER_CALL:MSG_SENDV/11 coid:0x40000001 msg:"abcd" (0x64636261)
t:0x00000041 CPU:00 KER_CALL:MSG_SENDV/11
                      coid:0x40000001
                    sparts:12
                    rparts:13
                       msg:"" (0x00000001 0x00000002 0x00000003)
t:0x00000042 CPU:00 KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:3
t:0x00000043 CPU:01 INT_CALL:KER_MSG_SENDV/11
t:0x00000044 CPU:01 INT_ENTR:0x0000000e (14)       IP:0x12345678
t:0x00000045 CPU:01 INT_EXIT:0x0000000e (14) inkernel:0x00000001
t:0x00000046 CPU:01 INT_HANDLER_ENTR:0x0000000e (14)       PID:100 IP:0x00001000 AREA:0x00002000
t:0x00000047 CPU:01 THREAD  :THREADY       pid:100 tid:2 
t:0x00000048 CPU:01 THREAD  :THCREATE      pid:100 tid:2
t:0x00000049 CPU:01 THREAD  :THRUNNING     pid:100 tid:2 priority:10 policy:2
t:0x0000004a CPU:01 PROCESS :PROCCREATE_NAME
                      ppid:1
                       pid:100
                      name:devc-con
t:0x0000004b CPU:01 COMM    :SND_MESSAGE   rcvid:0x00000007 pid:100
t:0x0000004c CPU:01 USREVENT:EVENT:5, d0:0x00000001 d1:0x00000002
t:0x0000004d CPU:01 USREVENT:EVENT:6 STR:"hello world"
t:0x0000004e CPU:01 USREVENT:EVENT:7 STR:""
t:0x0000004f CPU:01 SYSTEM  :ADDRESS addr:0x00001000
t:0x00000050 CPU:01 INT_HANDLER_EXIT:0x0000000e (14) SIGEVENT:PULSE 0x40000002:0 0:0x9 CRITICAL
t:0x00000051 CPU:01 INT     :ENTRY_64 d0:0x0000000e d1:0x12345678
t:0x00000052 CPU:01 KER_EXIT:CHANCON_ATTR/37 ret_val:0x00000000 old_attr:0x00000007
t:0x00000053 CPU:01 USREVENT:EVENT:8 STR:"%s"
t:0x00000054 CPU:01 SYSTEM  :APS_NAME       
              partition_id:1
                      name:aps
""" % ('a' * 1999)


def test_printer():
    trace().write(path)
    code, out, err = run(PRINTER, '-f', path)
    same((code, out, err), (0, HEAD + LINES, ''), 'the historic lines')
    code, out, _ = run(PRINTER, '-f', path, '-n')
    ok(code == 0 and 'PROCCREATE_NAME ppid:1 pid:100 name:devc-con\n' in out,
       '-n: all on one line', out)
    with open(path, 'rb') as f:
        code, out, _ = run(PRINTER, '-f', '-', stdin=f)
    same((code, out), (0, HEAD + LINES), 'from standard input')
    for data, want in ((open(path, 'rb').read(), (0, HEAD + LINES, '')),
                       (b'', (1, 'TRACEPRINTER version 1.02\n',
                              "traceprinter: 'standard input' is neither a QNX trace nor bare "
                              'events of one\n'))):
        p = subprocess.run([PRINTER, '-f', '-'], input=data, capture_output=True)
        same((p.returncode, p.stdout.decode(), p.stderr.decode()), want,
             f'{len(data)} bytes by a pipe')
    to = os.path.join(work, 'out')
    code, out, _ = run(PRINTER, '-f', path, '-o', to)
    same((code, out, open(to).read()), (0, '', HEAD + LINES), '-o')
    trace(big=True).write(path)
    code, out, _ = run(PRINTER, '-f', path)
    # the bytes of a message are nobody's numbers
    lines = LINES.replace('(0x00000001 0x00000002 0x00000003)',
                          '(0x01000000 0x02000000 0x03000000)')
    same(out.split(' -- KERNEL EVENTS -- \n')[1], lines, 'of the other byte order')
    trace().write(path)
    _, out, _ = run(PRINTER, '-f', path, '-v')
    ok(' -- SYSPAGE INFORMATION -- ' in out and 'header 0x' in out, '-v', out)


def test_format():
    trace().write(path)

    def lines(fmt):
        code, out, err = run(PRINTER, '-f', path, '-p', fmt)
        return out.split(' -- KERNEL EVENTS -- \n')[1].splitlines() if code == 0 else err

    got = lines('t:0x%08c CPU:%02C %-16Z:%-18z')
    same(got[2], 't:0x500000040 CPU:00 KER_CALL        :MSG_SENDV          coid:0x40000001 '
         'msg:"abcd" (0x64636261)', "-p: 7.x's own format")
    same(lines('%e|%t|%%|%.3Z|%.-3Z|%5C|%-5C|')[:2],
         ['0|21.474.836us|%|CON|TROL|    0|0    | msbtime:0x00000005 lsbtime:0x00000010',
          '1|21.474.836us|%|CON|TROL|    0|0    | buffer_sequence_number:42 '
          'num_events:714'], '-p: all conversions')
    same(lines('%.-2147483648C|%.99999999999Z|')[0][:9], '|CONTROL|', '-p: any number')
    ok('conversion' in lines('%q'), '-p: what is none', lines('%q'))
    ok('conversion' in lines('abc%'), '-p: a % at the end', lines('abc%'))


def test_errors():
    code, out, err = run(PRINTER, '-f', '/nowhere/x.kev')
    ok(code == 1 and '/nowhere/x.kev' in err, 'no such file', err)
    code, _, err = run(PRINTER, '-f', '/etc/passwd')
    ok(code == 1 and 'QNX' in err, 'no trace', err)
    code, _, err = run(PRINTER, '-f', path, '-o', '/dev/full')
    ok(code == 1 and 'disk' in err, 'a full disk', err)
    code, _, err = run(PRINTER, 'x')
    ok(code == 2 and err, 'too many words', err)
    for key, value, what in [('VER_MAJOR', None, 'version'), ('VER_MAJOR', '0', 'version'),
                             ('BIG_ENDIAN', 'TRUE', 'byte order')]:
        f = trace()
        f.set(key, value)
        f.write(path)
        code, out, err = run(PRINTER, '-f', path)
        ok(code == 1 and what in err, f'{key}={value} is refused', out, err)


def parser(*args):
    code, out, err = run(PARSER, path, *args)
    return code, out.splitlines(), err


def test_parser():
    trace().write(path)
    code, out, err = parser()
    same((code, out[0], err), (0, "user header 0 0 0 0 release '6.4.1' conv 0 syspage 13 "
                                  "'PAGE", ''), 'the header comes first')
    events = [line for line in out[2:]]
    ok(len(events) == 23, 'a callback for each event', *events)
    same(events[3], 'user cpu 0 class 2 event 11 time 0x00000041 clk 0x500000041 prev 2: '
         '40000001 0000000c 0000000d 00000001 00000002 00000003', 'a combine event, whole')
    same(events[10], 'user cpu 1 class 4 event 24 time 0x00000048 clk 0x500000048 prev 2: '
         '00000064 00000002', "a thread, of a CPU that goes by another's time")
    f = trace()
    f.words(1, PR_TH, STATES['dead'], 0x50, 100, 2)
    f.write(path)
    code, out, _ = parser('few')
    same([line.split(' time')[0] for line in out[2:]],
         ['user cpu 0 class 2 event 11', 'user cpu 0 class 2 event 11',
          'own cpu 1 class 4 event 2', 'user cpu 1 class 6 event 5'],
         'only what was registered, with its own user pointer')
    f = trace(big=True)
    f.write(path)
    code, out, _ = parser()
    ok('conv 1' in out[0], 'the other byte order is told', out[0])
    ok(out[2 + 3].endswith('01000040 0c000000 0d000000 01000000 02000000 03000000'),
       'words are as they stand in the file', out[2 + 3])


def test_damaged():
    f = trace()
    n = len(parser_events(f))
    cut = trace()
    cut.slots.append(cut.slots[-1][:7])
    ok(len(parser_events(cut)) == n, 'a part of a slot at the end')
    alone = trace()
    alone.raw(alone.word(0, USER, 9, CB), 0x60, 1, 2)
    ok(len(parser_events(alone)) == n, 'a combine event that never ends')
    alone.raw(alone.word(0, USER, 9, CE), 0x99, 1, 2)
    ok(len(parser_events(alone)) == n, 'an end without a beginning')
    two = trace()
    a = two.parts(0, USER, 1, 0x70, b'aaaaaaaabbbbbbbb')
    b = two.parts(1, USER, 1, 0x70, b'ccccccccdddddddd')
    two.slots += [a[0], b[0], b[1], a[1]]
    got = parser_events(two)[n:]
    same([g.split(': ')[1] for g in got],
         ['63636363 63636363 64646464 64646464', '61616161 61616161 62626262 62626262'],
         'two at the same time on two CPUs')
    with open(path, 'wb') as out:
        out.write(trace().bytes().replace(b'SYSPAGE_LEN::13', b'SYSPAGE_LEN::99999'))
    code, out, _ = run(PRINTER, '-f', path, '-v')
    ok(code == 0 and 'SYSPAGE_LEN' in out and 'offset' in out and 'USREVENT:EVENT:5' in out,
       'a system page beyond the end is said, and the events are read', out)


def parser_events(f):
    f.write(path)
    code, out, err = parser()
    return out[2:] if code == 0 and not err else []


def test_uninstalled():
    """A program for QNX finds the header where the library has only been built."""
    if not shutil.which('pkg-config'):
        return
    env = {**os.environ, 'PKG_CONFIG_PATH': UNINSTALLED}
    p = subprocess.run(['pkg-config', '--cflags', 'traceparser'], capture_output=True,
                       text=True, env=env)
    q = subprocess.run([*CC, *p.stdout.split(), '-fsyntax-only', '-x', 'c', '-'],
                       input='#include <sys/traceparser.h>\nstruct traceparser_state *s;\n',
                       capture_output=True, text=True)
    ok(p.returncode == 0 and q.returncode == 0, 'pkg-config of what is not installed', p.stderr,
       q.stderr)


test_uninstalled()
test_printer()
test_format()
test_errors()
test_parser()
test_damaged()
shutil.rmtree(work)
print(f'1..{count}')
sys.exit(failed != 0)
