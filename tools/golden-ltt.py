#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes tests/golden/ltt: one of each LTT event, in hex, as the format's description has it.

    tools/golden-ltt.py        (needs nothing of tacho)

A line is a record, or zeros; what follows # is its event.
"""
import os
import sys

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, 'tests', 'stream'))
import lttfile  # noqa: E402

NAMES = '''START SYSCALL_ENTRY SYSCALL_EXIT TRAP_ENTRY TRAP_EXIT IRQ_ENTRY IRQ_EXIT SCHEDCHANGE
KERNEL_TIMER SOFT_IRQ PROCESS FILE_SYSTEM TIMER MEMORY SOCKET IPC NETWORK BUFFER_START BUFFER_END
NEW_EVENT CUSTOM CHANGE_MASK HEARTBEAT'''.split()


def lines(f):
    out, at = [], 0

    class Noted(lttfile.File):
        def record(self, time, event, sub, body=b''):
            r = super().record(time, event, sub, body)
            seen.append((len(r), NAMES[event] + (f' {sub}' if sub else '')))
            return r

    seen = []
    f.__class__ = Noted
    lttfile.every_event(f)
    data = f.done()
    for size, name in seen:
        out.append(data[at:at + size].hex(' ', 4) + '  # ' + name)
        at += size
    out += [f'zeros {len(data) - at - 4}', data[-4:].hex() + '  # lost size']
    return out


for order, word in (('<', 'le'), ('>', 'be')):
    for wide in (True, False):
        with open(os.path.join(TOP, 'tests', 'golden', 'ltt',
                               word + ('64' if wide else '32') + '.hex'), 'w',
                  encoding='ascii') as out:
            out.write('\n'.join(lines(lttfile.File(order, wide, size=8192))) + '\n')
