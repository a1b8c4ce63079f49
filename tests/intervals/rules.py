# SPDX-License-Identifier: MIT
"""The rules of docs/model.md: reading their text, and the values of their arguments."""
import os
import re

SUFFIXES = ('name', 'syscall', 'sym', 'dev', 'base', 's32', 'chars')
FORMS = re.compile(r'(_wide|_64|_aps|_alt2?|_error|_raw)$')
POSITIONS = {'mark': ['object'], 'begin': ['object'], 'continue': ['object'], 'end': ['object'],
             'counter': ['object', 'name'], 'send': ['kind'], 'receive': ['kind'],
             'span': ['name', 'what']}
# arguments without which a rule does nothing, if it has them
OPTIONAL = {'out_name', 'in_name', 'state', 'flags'}
FILES = ('linux.rules', 'lkst.rules', 'ltt.rules', 'qnx.rules')


class Rule:
    def __init__(self, event, verb, args):
        self.event, self.verb, self.args = event, verb, args
        self.unless = args.pop('unless', None)
        self.only = args.pop('only', None) is not None
        self.pattern = re.compile(re.escape(event).replace(r'\*', '(.*)'))

    def star(self, event, qnx=False):
        """What the `*` of the event's name matched ('' without one); None: another event."""
        while qnx and FORMS.search(event):
            event = FORMS.sub('', event)
        m = self.pattern.fullmatch(event)
        if not m:
            return None
        if '*' not in self.event.split(':', 1)[1]:
            return ''
        return m[m.lastindex]


def parse_line(line):
    words = re.findall(r'(?:"[^"]*"|[^\s"])+', line)
    event, verb, rest = words[0], words[1], words[2:]
    args, positions = {}, list(POSITIONS.get(verb, []))
    for w in rest:
        if positions:
            args[positions.pop(0)] = w
        elif '=' in w:
            key, value = w.split('=', 1)
            args[key] = value
        else:
            args[w] = ''
    return Rule(event, verb, args)


def field_list(keys):
    """`a,b=c` as the values of the first event and those of the second."""
    pairs = [k.strip().split('=', 1) for k in keys.split(',')]
    return ','.join(p[0] for p in pairs), ','.join(p[-1] for p in pairs)


def span_rules(text):
    """`NAME: EVENT -> EVENT [by KEYS] [name FIELD]`."""
    m = re.fullmatch(r'([^:]+):\s*(\S+)\s*->\s*(\S+)'
                     r'(?:\s+by\s+(.*?))?(?:\s+name\s+(\S+))?\s*', text)
    name, first, second, keys, field = m.groups()
    name = name.strip()
    shown = field or f'"{name}"'
    if keys:
        a, b = field_list(keys)
        return [Rule(first, 'begin', {'object': 'span.' + name, 'key': a, 'name': shown,
                                      'cat': 'span'}),
                Rule(second, 'end', {'object': 'span.' + name, 'key': b, 'name': f'"{name}"',
                                     'cat': 'span'})]
    key = f'"{name}"'
    return [Rule(first, 'begin', {'object': 'thread', 'key': key, 'name': shown, 'cat': 'span'}),
            Rule(second, 'end', {'object': 'thread', 'key': key, 'name': key, 'cat': 'span'})]


def builtin(directory):
    rules = []
    for name in FILES:
        with open(os.path.join(directory, name), encoding='utf-8') as f:
            for line in f:
                line = line.split('#')[0].strip()
                if line:
                    rules.append(parse_line(line))
    return rules


class Values:
    """What the arguments of rules are in a record."""

    def __init__(self, trace):
        self.trace = trace

    def one(self, text, record, star):
        """A value: a number or a text; None: the event does not have it."""
        if text.startswith('"'):
            return text[1:-1]
        if text == '*':
            return star
        for alternative in text.split('|'):
            field, _, suffix = alternative.partition('.')
            value = record.fields.get(field)
            if value is not None:
                return self.converted(record, field, value, suffix)
        return None

    def converted(self, record, field, value, suffix):
        trace = self.trace
        if isinstance(value, bool):
            value = int(value)
        if suffix == 'base':
            return value.rsplit('/', 1)[-1].encode()[:15].decode(errors='ignore')
        if not suffix or not isinstance(value, int):
            return value
        if suffix == 'name':
            names = trace.names(record.event, field)
            return (names and names.of(value)) or value
        if suffix == 'syscall':
            return trace.calls.get(value, f'syscall_{value}')
        if suffix == 'sym':
            return trace.symbol(value & (1 << 64) - 1) or f'0x{value:x}'
        if suffix == 'dev':
            return f'{value >> 20},{value & 0xfffff}'
        if suffix == 's32':
            return ((value & 0xffffffff) ^ 0x80000000) - 0x80000000
        return (value & (1 << 64) - 1).to_bytes(8, 'big').strip(b'\0').decode(errors='replace')

    def all(self, rule, record, star):
        """All arguments of a rule; None if one that it needs is missing."""
        out = {}
        for key, text in rule.args.items():
            if key in ('object', 'kind', 'what') or rule.verb == 'span':
                out[key] = text
            elif key == 'cat':
                out[key] = text.strip('"')
            elif key in ('key', 'by'):
                out[key] = tuple(self.one(t, record, star) for t in text.split(','))
                if None in out[key]:
                    return None
            else:
                out[key] = self.one(text, record, star)
                needed = key not in OPTIONAL and not (key == 'name' and rule.verb not in
                                                      ('rename', 'counter'))
                if out[key] is None and needed:
                    return None
        return out
