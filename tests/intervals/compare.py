#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares two outputs of a model, or checks the invariants of one.

usage: compare.py A B           both are JSON lines of `tacho model --items --json`
       compare.py A             the invariants J1 to J5 of src/model/model.h only

The order of items and the numbers of tracks may differ: tracks are named by their path.  Several
threads with one number are counted in the order in which they appear.
"""
import collections
import json
import sys

NUMBERED = ('cpu', 'process', 'thread')
NAMED = ('device', 'span', 'counter')
TRACKS = ('slice', 'state', 'counter', 'instant', 'from', 'to', 'waker')
NESTED = ('irq', 'softirq', 'calls')


class Items:
    """An output: tracks by number, and the other items."""

    def __init__(self, lines):
        self.tracks, self.items, self.paths, order = {}, [], {}, []
        for line in lines:
            item = json.loads(line) if isinstance(line, (str, bytes)) else line
            if 'track' in item:
                if item['track'] not in self.tracks:
                    order.append(item['track'])
                self.tracks[item['track']] = item
            else:
                self.items.append(item)
        used = self.used()
        seen = collections.Counter()
        for number in sorted(order):
            t = self.tracks[number]
            if number not in used:
                continue
            path = '' if t['kind'] == 'machine' else \
                f'{self.paths[t["parent"]]}/{t["kind"]}'.removeprefix('/')
            if t['kind'] in NUMBERED:
                path += f' {t["number"]}'
            if t['kind'] in NAMED:
                path += f' {t["name"]}'
            seen[path] += 1
            if t['kind'] == 'thread' and seen[path] > 1:
                path += f' ({seen[path]})'
            self.paths[number] = path

    def used(self):
        """Tracks that have items, or such children; others say nothing."""
        used = set()
        for item in self.items:
            for key in TRACKS:
                number = item.get(key)
                while number is not None and number not in used:
                    used.add(number)
                    number = self.tracks[number]['parent']
        return used

    def kind(self, number):
        return self.tracks[number]['kind']

    def names(self):
        """What processes and threads are called at the end."""
        return [f'{self.paths[n]}: name "{t["name"]}"' for n, t in self.tracks.items()
                if t['kind'] in ('process', 'thread') and n in self.paths]

    def text(self, item):
        """An item with its tracks' paths, the same for equal items."""
        out = []
        for key, value in item.items():
            if key in TRACKS and value is not None:
                value = self.paths[value]
            elif key == 'flags':
                value = ' '.join(sorted(value))
            elif key == 'value':
                value = f'{value:.17g}'
            elif key in ('name', 'kind'):
                value = f'"{value}"'
            out.append(f'{key}={value}')
        return ' '.join(sorted(out, key=rank))

    def texts(self):
        return collections.Counter([self.text(i) for i in self.items] + self.names())


RANKS = ('slice', 'state', 'counter', 'instant', 'flow', 'loss', 'from', 'to', 'begin', 'end',
         'time', 'name')


def rank(text):
    key = text.split('=')[0]
    return (RANKS.index(key) if key in RANKS else len(RANKS), text)


def time_of(text):
    for word in text.split():
        for key in ('end=', 'to_time=', 'time='):
            if word.startswith(key):
                return int(word[len(key):])
    return 0


def differences(a, b, names=('first', 'second'), most=12):
    """Lines that tell the first differences of two outputs; none: they are equal."""
    x, y = a.texts(), b.texts()
    out = [(time_of(t), f'only {names[0]}: {t}') for t in (x - y).elements()]
    out += [(time_of(t), f'only {names[1]}: {t}') for t in (y - x).elements()]
    out = [line for _, line in sorted(out)]
    return out[:most] + ([f'... {len(out)} differences'] if len(out) > most else [])


def broken(a, t0, t1):
    """Lines that tell which invariants do not hold; t0, t1: of the trace."""
    out = []
    tracks = collections.defaultdict(list)
    for i in a.items:
        if 'slice' in i or 'state' in i:
            tracks[i.get('slice', i.get('state'))].append(i)
        if 'begin' in i and not t0 <= i['begin'] <= i['end'] <= t1:
            out.append('J5: ' + a.text(i))
        if 'flow' in i and not t0 <= i['from_time'] <= i['to_time'] <= t1:
            out.append('J5: ' + a.text(i))
        if 'counter' in i and not t0 <= i['time'] <= t1:
            out.append('J5: ' + a.text(i))
    running = collections.Counter()
    for number, items in tracks.items():
        kind = a.kind(number)
        items = sorted(items, key=lambda i: (i['begin'], i['end']))
        if kind in ('state', 'running'):
            gaps = [(p, q) for p, q in zip(items, items[1:]) if p['end'] != q['begin']]
            out += [f'{"J1" if kind == "state" else "J2"}: {a.text(p)} then {a.text(q)}'
                    for p, q in gaps]
            life = items[-1]['end'] - items[0]['begin']
            if sum(i['end'] - i['begin'] for i in items) != life:
                out.append(f'{a.paths[number]}: its items do not add up to {life} ns')
        else:
            out += depths(a, items, kind in NESTED)
        if kind == 'running':
            if (items[0]['begin'], items[-1]['end']) != (t0, t1):
                out.append(f'J2: {a.paths[number]} is not from T0 to T1')
            cpu = a.tracks[a.tracks[number]['parent']]['number']
            running.update((cpu, i['begin'], i['end']) for i in items
                           if i['category'] == 'running')
        if kind == 'state':
            running.subtract((i['cpu'], i['begin'], i['end']) for i in items
                             if i['name'] == 'running')
    out += [f'J3: CPU {k[0]}, {k[1]} to {k[2]}: a {"slice" if n > 0 else "state"} only'
            for k, n in running.items() if n]
    return out


def depths(a, items, nested):
    """J4 for one track."""
    out, by_depth = [], collections.defaultdict(list)
    for i in items:
        if i['end'] > i['begin']:
            by_depth[i['depth']].append(i)
    for depth, these in by_depth.items():
        out += [f'J4: {a.text(p)} overlaps {a.text(q)}' for p, q in zip(these, these[1:])
                if p['end'] > q['begin']]
        if nested and depth:
            out += [f'J4: {a.text(i)} is in none' for i in these if not any(
                p['begin'] <= i['begin'] and i['end'] <= p['end']
                for p in by_depth[depth - 1])]
    return out


def main():
    outputs = []
    for name in sys.argv[1:3]:
        with open(name, encoding='utf-8') as f:
            outputs.append(Items(f))
    if len(outputs) == 2:
        lines = differences(*outputs, names=sys.argv[1:3])
    else:
        times = [t for i in outputs[0].items for t in (i.get('begin'), i.get('end'), i.get('time'))
                 if t is not None]
        lines = broken(outputs[0], min(times), max(times))
    print('\n'.join(lines))
    return bool(lines)


if __name__ == '__main__':
    sys.exit(main())
