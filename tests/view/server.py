#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The server of tacho view: who may ask, what is answered, and that tiles are what the model has."""
import http.client
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from urllib.parse import urlsplit

TACHO, MAKE = os.environ['TACHO'], os.environ['MAKE_TRACE']
number = failed = 0


def ok(what, good, *why):
    global number, failed
    number += 1
    failed += not good
    print(f'{"ok" if good else "not ok"} {number} - {what}', flush=True)
    for line in why if not good else ():
        print('#', str(line)[:1500].replace('\n', '\n# '))


class Server:
    def __init__(self, *argv):
        self.p = subprocess.Popen([TACHO, 'view', '--no-browser', *argv], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True)
        self.address = self.p.stdout.readline().strip()
        self.url = urlsplit(self.address)

    def ask(self, path, method='GET', body=None, host=None, **headers):
        c = http.client.HTTPConnection(self.url.hostname, self.url.port, timeout=20)
        if host is not None:
            headers['Host'] = host
        c.putrequest(method, path, skip_host='Host' in headers)
        if body is not None:
            headers['Content-Length'] = str(len(body))
        for k, v in headers.items():
            c.putheader(k.replace('_', '-'), v)
        c.endheaders(body)
        r = c.getresponse()
        data = r.read()
        c.close()
        return r.status, dict(r.getheaders()), data

    def get(self, path, **headers):
        return self.ask(self.url.path + path, **headers)

    def json(self, path):
        status, _, data = self.get(path)
        return json.loads(data) if status == 200 else (status, data)

    def ready(self):
        for _ in range(200):
            t = self.json('api/trace')
            if t['index']['state'] != 'building' and t['index']['generation']:
                return t
            time.sleep(0.05)
        raise AssertionError(t)

    def end(self):
        self.p.send_signal(signal.SIGINT)
        out, err = self.p.communicate(timeout=20)
        return self.p.returncode, out, err


# ---- who may ask ----

def access(s):
    ok('the address has a port and a token', s.url.port and len(s.url.path) == 24, s.address)
    host = f'{s.url.hostname}:{s.url.port}'
    status, head, _ = s.get('api/trace')
    ok('with the token it answers', status == 200 and head['Content-Type'] == 'application/json', status)
    for path in ('/', '/api/trace', s.url.path[:-2] + 'x/api/trace', s.url.path.rstrip('/'),
                 '/' + 'A' * 22 + '/api/trace', s.url.path.upper() + 'api/trace'):
        status, _, data = s.ask(path)
        ok(f'no token, no answer: {path[:4]}...', status == 404 and b'nothing here' in data, status, data)
    for name in ('evil.example', f'evil.example:{s.url.port}', host + '0', ''):
        status, _, _ = s.get('api/trace', host=name)
        ok(f'not for host {name!r}', status in (400, 404), status)
    status, _, _ = s.get('api/trace', host=f'localhost:{s.url.port}')
    ok('for localhost', status == 200, status)
    status, _, _ = s.get('api/trace', Origin='http://evil.example')
    ok('not for a page elsewhere', status == 404, status)
    status, _, _ = s.get('api/trace', Origin='http://' + host)
    ok('for its own', status == 200, status)
    policy = head.get('Content-Security-Policy', '')
    ok('its policy is strict', "default-src 'none'" in policy and 'unsafe' not in policy, policy)
    ok('and nothing is sniffed, referred or stored', head.get('X-Content-Type-Options') == 'nosniff' and
       head.get('Referrer-Policy') == 'no-referrer' and head.get('Cache-Control') == 'no-store', head)
    for path in ('../etc/passwd', '..%2f..%2fetc/passwd', '/etc/passwd', 'api', 'api/', 'api/trace/x',
                 'main.js%2f..'):
        status, _, data = s.get(path)
        ok(f'no file is reachable: {path}', status in (400, 404), status, data[:80])
    status, _, _ = s.ask(s.url.path + 'api/trace', 'POST', b'{}', Content_Type='text/plain')
    ok('a form cannot send', status == 415, status)
    status, _, _ = s.ask(s.url.path + 'api/trace', 'POST', b'{}', Content_Type='application/json')
    ok('what is read is not posted', status == 405, status)
    status, _, _ = s.ask(s.url.path + 'api/trace', 'DELETE')
    ok('other methods', status == 405, status)
    status, _, _ = s.ask(s.url.path + 'api/trace', 'POST', b'x' * 70000, Content_Type='application/json')
    ok('a large body', status == 413, status)


def limits(s):
    """Requests that are none, and a client that says nothing."""
    for bad in (b'\0' * 100, b'GET ' + b'a' * 100000 + b' HTTP/1.1\r\n\r\n', b'GET / HTTP/9.9\r\n\r\n',
                b'POST /x HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n'):
        c = socket.create_connection((s.url.hostname, s.url.port), timeout=5)
        try:
            c.sendall(bad)
            c.shutdown(socket.SHUT_WR)
            c.recv(1000)
        except OSError:
            pass
        c.close()
    idle = [socket.create_connection((s.url.hostname, s.url.port), timeout=5) for _ in range(20)]
    ok('it still answers', s.get('api/trace')[0] == 200)
    for c in idle:
        c.close()


# ---- what is answered ----

def read_tiles(data):
    magic, nr, size, _ = struct.unpack_from('<IIII', data, 0)
    assert magic == 0x31306c74 and size % 8 == 0
    at, tiles = 16, {}
    for _ in range(nr):
        begin = at
        track, depth, kind, flags, n, length = struct.unpack_from('<IHBBII', data, at)
        at += 16

        def column(code, count, to=4):
            nonlocal at
            at += -at % to
            v = struct.unpack_from(f'<{count}{code}', data, at)
            at += struct.calcsize(f'<{count}{code}')
            at += -at % 4
            return v

        t = {'kind': kind, 'closed': flags & 1, 'depth': depth}
        for name, code in (('first', 'H'), ('buckets', 'H'), ('items', 'I'), ('longest', 'I'),
                           ('name', 'I'), ('share', 'B'), ('covered', 'B'), ('lost', 'B'),
                           ('uncertain', 'B')):
            t[name] = column(code, n)
        if kind == 7:
            codes = column('I', column('I', 1)[0])
            t['states'] = {c: column('B', n) for c in codes}
        if kind == 11:
            for name in ('min', 'max', 'last'):
                t[name] = column('d', n, 8)
        tiles[track] = t
        at = begin + length
    assert at == 16 + size
    nr = struct.unpack_from('<I', data, at)[0]
    at += 4
    names = {}
    for _ in range(nr):
        id_, length = struct.unpack_from('<II', data, at)
        names[id_] = data[at + 8:at + 8 + length].decode()
        at += 8 + length + -length % 4
    assert at == len(data)
    return tiles, names


STATES = {'unknown': 0, 'running': 1, 'runnable': 2, 'sleeping': 3, 'uninterruptible': 4}


def truth(trace):
    """Of each track: its items, from tacho model."""
    out = subprocess.run([TACHO, 'model', '-q', '--items', '--json', trace], capture_output=True,
                         check=True).stdout
    states, slices = defaultdict(list), defaultdict(list)
    for line in out.splitlines():
        i = json.loads(line)
        if 'state' in i:
            states[i['state']].append((i['begin'], i['end'], STATES[i['name']]))
        elif 'slice' in i:
            slices[i['slice']].append((i['begin'], i['end'], i['name']))
    return states, slices


def tiles(s, trace):
    t = s.ready()
    base, end = int(t['base']), int(t['end'])
    tracks = s.json('api/tracks')['tracks']
    ok('tracks are those of the model', len(tracks) == t['index']['tracks'] and
       [x['id'] for x in tracks] == list(range(len(tracks))), tracks[:3])
    part = s.json('api/tracks?first=2&limit=3')
    ok('in parts, too', [x['id'] for x in part['tracks']] == [2, 3, 4] and part['more'], part)
    states, slices = truth(trace)
    wrong, seen = [], 0
    for k in (12, 16, 20, 24):
        for i in range(min(4, (end - base >> k) + 1)):
            rows = ','.join(str(x) for x in list(states)[:20])
            status, _, data = s.get(f'api/tiles?k={k}&i={i}&rows={rows}')
            assert status == 200, data
            for track, tile in read_tiles(data)[0].items():
                width = 1 << (k - 9)
                from_ = base + (i << k)
                got = defaultdict(int)
                for code, shares in tile['states'].items():
                    got[code] = sum(x * n for x, n in zip(shares, tile['buckets'])) * width / 255
                want = defaultdict(int)
                for b, e, code in states[track]:
                    want[code] += max(0, min(e, from_ + (1 << k)) - max(b, from_))
                for code in set(got) | set(want):
                    seen += want[code] > 0
                    # each bucket is rounded, and what is there is at least 1 of 255
                    if abs(got[code] - want[code]) > len(tile['first']) * width / 255 + width:
                        wrong.append((k, i, track, code, got[code], want[code]))
    ok('tiles have the times of the states', not wrong and seen > 50, seen, wrong[:5])
    k = (end - base).bit_length()
    rows = ','.join(str(x) for x in list(slices)[:60])
    tile, names = read_tiles(s.get(f'api/tiles?k={k}&i=0&rows={rows}')[2])
    ok('each slice begins in one bucket', all(sum(tile[x]['items']) == len(slices[x]) for x in tile),
       [(x, sum(tile[x]['items']), len(slices[x])) for x in tile][:10])
    ok('names are those of slices', set(names.values()) <= {n for x in slices.values() for _, _, n in x} |
       {x['name'] for x in tracks}, names)
    for path in ('api/tiles', 'api/tiles?k=12&i=0', 'api/tiles?k=63&i=0&rows=1', 'api/tiles?k=1&i=x&rows=1',
                 'api/tiles?k=12&i=0&rows=99999999', 'api/tiles?k=12&i=0&rows=-1',
                 'api/tiles?k=62&i=99999999999&rows=1', 'api/tiles?k=12&i=0&rows=' + ','.join('1' * 65),
                 'api/tracks?limit=99999999', 'api/density?buckets=0', 'api/density?buckets=5000'):
        status, _, data = s.get(path)
        ok(f'refused: {path[:40]}', status in (400, 500) and 'error' in json.loads(data), status, data)


def density(s):
    d = s.json('api/density?buckets=100')
    t = s.json('api/trace')
    events = sum(sum(c['events']) for c in d['cpus'])
    ok('density counts the events', abs(events - t['events']) <= 100 * len(d['cpus']), events, t)


def main():
    top = tempfile.mkdtemp(prefix='tacho-view-')
    os.chdir(top)
    os.environ['TACHO_DIR'] = os.path.join(top, 'run')
    try:
        subprocess.run([MAKE, 'waits', 't'], check=True)
        s = Server('t')
        access(s)
        limits(s)
        tiles(s, 't')
        density(s)
        code, out, err = s.end()
        ok('Ctrl-C ends it, and it said nothing more', code == 0 and out == '' and
           all('without the page' in x for x in err.splitlines()), code, out, err)
        for argv, why in ((['--listen', '0.0.0.0:0'], 'other machines'), (['--listen', 'x:y'], 'address'),
                          (['--cert', 't/metadata'], 'go together'), (['nothing'], 'nothing')):
            p = subprocess.run([TACHO, 'view', '--no-browser', *argv, *([] if argv == ['nothing'] else ['t'])],
                               capture_output=True, text=True, timeout=20, check=False)
            ok(f'refused: {" ".join(argv)}', p.returncode in (1, 2) and why in p.stderr, p.returncode, p.stderr)
    finally:
        os.chdir('/')
        shutil.rmtree(top)
    print(f'1..{number}')
    return failed != 0


if __name__ == '__main__':
    sys.exit(main())
