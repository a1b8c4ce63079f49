# SPDX-License-Identifier: MIT
"""Events of each class as bytes, written by hand from the description of slots, and what
they say.

Each entry: release, hexadecimal slots of a little-endian machine (header word, low half
of the time, two words), the system and name of tacho's event, its fields.  Words of a
big-endian machine are the same bytes turned around, in twos where a field has 64 bits,
not at all where a field is text: `turn` says which, one letter for each word after the
time: w a word, l and a second l one of 64 bits, s text.
"""

EVENTS = [
    # CONTROL: class 1, in bits 14-10: 0x0400
    ('6.4.1', '01040000 10000000 05000000 10000000', 'ww',
     'control', 'time', {'msbtime': 5, 'lsbtime': 16}),
    ('6.4.1', '02040000 20000000 2a000000 ca020000', 'ww',
     'control', 'buffer', {'buffer_sequence_number': 42, 'num_events': 714}),
    ('8.0.0', '04040000 30000000 e6e6e6e6 e6e6e6e6', 'ww',
     'control', 'buffer_end', {'data': [0xe6e6e6e6, 0xe6e6e6e6]}),
    # KER_CALL: class 2, 0x0800; enter 11, exit 128 + 11, interrupted 256 + 11; |0x200
    ('6.4.1', '0b080000 40000000 01000040 02010000', 'ww',
     'kercall_enter', 'msg_sendv', {'coid': 0x40000001, 'msg': 0x102}),
    ('6.4.1', '0b080040 41000000 01000040 0c000000 0b080080 41000000 0d000000 68656c6c '
              '0b0800c0 41000000 6f20776f 726c6400', 'wwwwww',
     'kercall_enter', 'msg_sendv_wide', {'coid': 0x40000001, 'sparts': 12, 'rparts': 13,
                                         'msg_0': 0x6c6c6568, 'msg_1': 0x6f77206f,
                                         'msg_2': 0x00646c72}),
    ('7.1.0', '0b0a0040 42000000 01000040 08070605 0b0a0080 42000000 04030201 ffffffff '
              '0b0a0080 42000000 ffffffff 01000000 0b0a00c0 42000000 02000000 03000000',
     'wllllwww',
     'kercall_enter', 'msg_sendv_64_wide',
     {'coid': 0x40000001, 'sparts': 0x0102030405060708, 'rparts': -1,
      'msg_0': 1, 'msg_1': 2, 'msg_2': 3}),
    ('6.4.1', '8b080000 43000000 00000000 2a000000', 'ww',
     'kercall_exit', 'msg_sendv', {'status': 0, 'rmsg_0': 42}),
    ('6.4.1', '8b080000 44000000 ffffffff 03000000', 'ww',
     'kercall_exit', 'msg_sendv_error', {'ret_val': -1, 'errno': 3}),
    ('7.1.0', '8b0a0000 45000000 fffffffe 00000000', 'll',
     'kercall_exit', 'msg_sendv_64', {'status': 0xfeffffff}),
    ('6.4.1', '0b090000 46000000 00000000 00000000', 'ww',
     'kercall_int', 'msg_sendv', {'data': [0, 0]}),
    ('6.4.1', '4b080000 47000000 00000100 0a000000', 'ww',
     'kercall_enter', 'timer_timeout', {'timeout_flags': 0x10000, 'ntime_sec': 10}),
    # two words that a list leaves empty or not: 128 + 37; lists of one length: 512 + 75
    ('7.1.0', 'a5080000 47000000 00000000 00000000', 'ww',
     'kercall_exit', 'chancon_attr', {'ret_val': 0, 'empty': 0}),
    ('7.1.0', 'a5080000 47000000 00000000 07000000', 'ww',
     'kercall_exit', 'chancon_attr_wide', {'ret_val': 0, 'old_attr': 7}),
    ('7.1.0', '4b0a0040 47000000 01000000 02000000 4b0a0080 47000000 03000000 04000000 '
              '4b0a0080 47000000 05000000 00000000 4b0a0080 47000000 06000000 01000000 '
              '4b0a0080 47000000 07000000 01000000 4b0a00c0 47000000 08000000 01000000',
     'wwwwwwllllll',
     'kercall_enter', 'timer_timeout_64_wide',
     {'clock_id': 1, 'timeout_flags': 2, 'ntime_sec': 3, 'ntime_nsec': 4,
      'event_sigev_notify': 5, 'pad': 0, 'event_sigev_notify_function_p': 0x100000006,
      'event_sigev_value': 0x100000007, 'event_sigev_notify_attributes_p': 0x100000008}),
    ('7.1.0', '4b0a0040 47000000 01000000 02000000 4b0a0080 47000000 03000000 05000000 '
              '4b0a0080 47000000 00000000 06000000 4b0a0080 47000000 01000000 07000000 '
              '4b0a0080 47000000 01000000 08000000 4b0a00c0 47000000 01000000 00000000',
     'wwwwwllllllw',
     'kercall_enter', 'timer_timeout_64_alt',
     {'clock_id': 1, 'timeout_flags': 2, 'ntime': 3, 'event_sigev_notify': 5, 'pad': 0,
      'event_sigev_notify_function_p': 0x100000006, 'event_sigev_value': 0x100000007,
      'event_sigev_notify_attributes_p': 0x100000008, 'tail': 0}),
    # a pointer of 64 bits in an event that is not marked so: 128 + 31
    ('7.1.0', '9f080040 47000000 01000000 06000000 9f0800c0 47000000 01000000 00000000', 'wllw',
     'kercall_exit', 'signal_suspend_alt', {'ret_val': 1, 'sig_blocked_p': 0x100000006, 'tail': 0}),
    # numbers of calls by release: 3, 100
    ('6.5.0', '03080000 48000000 01000000 02000000', 'ww',
     'kercall_enter', 'spare1', {'data': [1, 2]}),
    ('6.6.0', '03080000 48000000 00100000 02000000', 'ww',
     'kercall_enter', 'cache_flush', {'addr': 0x1000, 'nlines': 2}),
    ('8.0.0', '03080000 48000000 01000000 02000000', 'ww',
     'kercall_enter', 'cache_control', {'data': [1, 2]}),
    ('6.6.0', '64080000 48000000 00000000 00000000', 'ww',
     'kercall_enter', 'bad', {'empty': 0, 'empty_2': 0}),
    ('7.1.0', '6b080000 48000000 00000000 00000000', 'ww',
     'kercall_enter', 'bad', {'empty': 0, 'empty_2': 0}),
    ('7.1.0', '79080000 48000000 07000000 08000000', 'ww',
     'kercall_enter', 'call_121', {'data': [7, 8]}),
    # INT: class 3, 0x0c00
    ('6.4.1', '010c0000 50000000 0e000000 78563412', 'ww',
     'int', 'entry', {'interrupt_number': 14, 'ip': 0x12345678}),
    ('6.4.1', '020c0000 51000000 0e000000 01000000', 'ww',
     'int', 'exit', {'interrupt_number': 14, 'kernel_flag': 1}),
    ('6.4.1', '030c0040 52000000 01000000 0e000000 030c00c0 52000000 00100000 00200000', 'wwww',
     'int', 'handler_entry', {'pid': 1, 'interrupt_number': 14, 'ip': 0x1000, 'area': 0x2000}),
    ('6.4.1', '040c0040 53000000 0e000000 04000000 040c00c0 53000000 01000000 02000000', 'wwww',
     'int', 'handler_exit_wide', {'interrupt_number': 14, 'sigevent': [4, 1, 2]}),
    # PR_TH: class 4, 0x1000; states, 26 + states, 64 * k
    ('6.4.1', '01100000 60000000 67120000 02000000', 'ww',
     'thread', 'running', {'pid': 4711, 'tid': 2}),
    ('6.4.1', '02100040 61000000 67120000 02000000 021000c0 61000000 0a000000 02000000', 'wwww',
     'thread', 'ready_wide', {'pid': 4711, 'tid': 2, 'priority': 10, 'policy': 2}),
    ('6.4.1', '02100040 62000000 67120000 02000000 02100080 62000000 0a000000 02000000 '
              '021000c0 62000000 01000000 80000000', 'wwwwww',
     'thread', 'ready_aps', {'pid': 4711, 'tid': 2, 'priority': 10, 'policy': 2,
                             'partition_id': 1, 'sched_flags': 0x80}),
    ('6.4.1', '07100000 63000000 67120000 02000000', 'ww',
     'thread', 'stack', {'pid': 4711, 'tid': 2}),
    ('8.0.0', '07100000 63000000 67120000 02000000', 'ww',
     'thread', 'mq_send', {'pid': 4711, 'tid': 2}),
    ('7.1.0', '1a100000 64000000 67120000 02000000', 'ww',
     'vthread', 'dead', {'pid': 4711, 'tid': 2}),
    ('8.0.0', '1a100000 64000000 67120000 02000000', 'ww',
     'thread', 'muon_mutex', {'pid': 4711, 'tid': 2}),
    ('6.4.1', '40100000 65000000 01000000 67120000', 'ww',
     'process', 'create', {'ppid': 1, 'pid': 4711}),
    ('6.4.1', 'c0100040 66000000 01000000 67120000 c01000c0 66000000 73620000 00000000', 'wwss',
     'process', 'create_name', {'ppid': 1, 'pid': 4711, 'name': 'sb'}),
    # SYSTEM: class 5, 0x1400
    ('6.4.1', '02140040 70000000 67120000 02000000 021400c0 70000000 2f657463 00000000', 'wwss',
     'system', 'pathmgr', {'pid': 4711, 'tid': 2, 'pathname': '/etc'}),
    ('6.6.0', '0f140000 71000000 01000300 05000000', 'ww',
     'system', 'power', {'bitset': 0x30001, 'mode': 5}),
    ('6.4.1', '06140040 72000000 67120000 00000010 06140080 72000000 00000000 00100000 '
              '061400c0 72000000 00000000 03000000', 'wllllw',
     'system', 'mmap', {'pid': 4711, 'addr': 0x10000000, 'len': 4096, 'flags': 3}),
    ('7.1.0', '10160040 73000000 07000000 00000000 10160080 73000000 88776655 44332211 '
              '101600c0 73000000 02000000 67120000', 'wwllww',
     'system', 'ipi_64', {'ipicmd': 7, 'pad': 0, 'interrupted_ip': 0x1122334455667788,
                          'tid': 2, 'pid': 4711}),
    ('7.1.0', '16140000 74000000 01000000 02000000', 'ww',
     'system', 'aps_pstats', {'partition_id': 1, 'flags': 2}),
    ('7.1.0', '09160000 75000000 88776655 44332211', 'll',
     'system', 'address_64', {'addr': 0x1122334455667788}),
    # USER: class 6, 0x1800
    ('6.4.1', '2a180000 80000000 0d000000 0e000000', 'ww',
     'user', 'event_42', {'d0': 13, 'd1': 14}),
    ('6.4.1', '2a180040 81000000 68656c6c 6f20776f 2a1800c0 81000000 726c6400 00000000', 'ssss',
     'user', 'event_42_text', {'text': 'hello world'}),
    ('6.4.1', '2a180040 82000000 01020304 05060708 2a1800c0 82000000 090a0b0c 0d0e0f10', 'ssss',
     'user', 'event_42_data', {'data': list(range(1, 17))}),
    # COMM: class 7, 0x1c00
    ('6.4.1', '001c0000 90000000 03000100 67120000', 'ww',
     'comm', 'smsg', {'rcvid': 0x10003, 'pid': 4711}),
    ('6.4.1', '091c0000 91000000 0f000000 01000000', 'ww',
     'comm', 'signal', {'si_signo': 15, 'si_code': 1}),
    # QUIP 8, SEC 9, QVM 10, PMU 11
    ('6.6.0', '05200000 a0000000 01000000 02000000', 'ww',
     'quip', 'event_5', {'data': [1, 2]}),
    ('7.1.0', '00240040 a1000000 67120000 07000000 00240080 a1000000 01000000 00000000 '
              '00240080 a1000000 01000000 02000000 002400c0 a1000000 03000000 04000000', 'wwwwllll',
     'sec', 'able', {'pid': 4711, 'able': 7, 'flags': 1, 'type_id': 0,
                     'start': 0x200000001, 'end': 0x400000003}),
    ('7.1.0', '00280000 a2000000 01000000 02000000', 'ww',
     'qvm', 'guest_enter', {'data': [1, 2]}),
    ('8.0.0', '012c0000 a3000000 01000000 02000000', 'ww',
     'pmu', 'event_counter', {'data': [1, 2]}),
    # a class and an event that nobody knows
    ('7.1.0', '637c0000 b0000000 01000000 02000000', 'ww',
     'kev', 'class_31_event_99', {'data': [1, 2]}),
]


def little(text):
    return bytes.fromhex(text.replace(' ', ''))


def big(text, turn):
    """The same event of a big-endian machine."""
    data, out, n = little(text), b'', 0
    held = b''
    for at in range(0, len(data), 16):
        out += data[at:at + 4][::-1] + data[at + 4:at + 8][::-1]
        for w in range(2):
            piece = data[at + 8 + 4 * w:at + 12 + 4 * w]
            kind = turn[n]
            n += 1
            if kind == 's':
                out += piece
            elif kind == 'w':
                out += piece[::-1]
            elif held:
                # the high half goes first; the low one's place was left open
                out = out.replace(b'\0HOLE', piece[::-1], 1) + held[::-1]
                held = b''
            else:
                held = piece
                out += b'\0HOLE'
    return out
