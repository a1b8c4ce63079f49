#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Ordering in src: each release has a name in brackets, each name a release and an acquire.

    tacho_store_release(&lane->cursor, next);           /* [cursor] */
    c = tacho_load_acquire(&lane->cursor);              /* [cursor] R1 */

The name is in a comment on a line of the statement, or in the comment before it.  A
compare-and-swap, and what is sequentially consistent, may be either end.  A release that
nothing acquires is in pairs.txt, with the reason.  Only base/atomic.h uses the compiler's
built-ins; in include/, where it is not available, the files in BUILTINS do.

Called without arguments it checks itself on small examples, then the tree."""
import os
import re
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ATOMIC = 'src/base/atomic.h'
# headers of sites, which are compiled into programs without src
BUILTINS = {'include/tacho/impl/macro.h', 'include/tacho/impl/raw.h',
            'include/lkst/linux/lkst_hook.h'}

MUST = re.compile(r'\btacho_(?:store_release|fence_release)\b')
RELEASE = re.compile(r'\btacho_(?:store_release|fence_release|\w+_acq_rel|'
                     r'(?:store|add|or|and|swap|cas)_seq_cst|lane_commit)\b')
ACQUIRE = re.compile(r'\btacho_(?:load_acquire|fence_acquire|\w+_acq_rel|'
                     r'(?:load|add|or|and|swap|cas)_seq_cst)\b|\b__ATOMIC_ACQUIRE\b')
NAME = re.compile(r'\[([a-z][a-z-]+)\]')
BUILTIN = re.compile(r'\b__(?:atomic|sync)_\w+|\b_Atomic\b')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def split(text):
    """The code without comments and strings, and the comments alone, line by line."""
    code, notes = [], []
    at = 0
    for m in COMMENT.finditer(text):
        code.append(text[at:m.start()])
        blank = re.sub(r'[^\n]', ' ', m.group())
        code.append(blank)
        notes.append(re.sub(r'[^\n]', ' ', text[at:m.start()]))
        notes.append(m.group() if m.group()[0] == '/' else blank)
        at = m.end()
    code.append(text[at:])
    notes.append(re.sub(r'[^\n]', ' ', text[at:]))
    return ''.join(code).split('\n'), ''.join(notes).split('\n')


def first_argument(code, nr, at):
    """Of the call whose name ends at column `at` of line nr."""
    text = ' '.join([code[nr][at:]] + code[nr + 1:nr + 4])
    depth, out = 0, ''
    for c in text[text.find('(') + 1:]:
        if c in '([':
            depth += 1
        elif c in ')]':
            if not depth:
                break
            depth -= 1
        elif c == ',' and not depth:
            break
        out += c
    return ' '.join(out.split()).lstrip('&')


def statement(code, notes, nr):
    """The lines of the statement at line nr, with the comment before it."""
    first = nr
    while first and not re.search(r'[;{}:]\s*\\?$', code[first - 1].rstrip()) and \
            code[first - 1].strip():
        first -= 1
    last = nr
    while last + 1 < len(code) and not re.search(r'[;{]', code[last]):
        last += 1
    # lines that are nothing but a comment
    while first and not code[first - 1].strip() and notes[first - 1].strip():
        first -= 1
    return range(first, last + 1)


def scan(path, text, found):
    """Adds to found: names' ends, releases without a name, built-ins."""
    code, notes = split(text)
    for nr, line in enumerate(code):
        where = '%s:%d' % (path, nr + 1)
        if path != ATOMIC and path not in BUILTINS:
            for m in BUILTIN.finditer(line):
                found['builtins'].append('%s: %s' % (where, m.group()))
        if path == ATOMIC:
            continue
        ends = [e for e, r in (('release', RELEASE), ('acquire', ACQUIRE)) if r.search(line)]
        if not ends:
            continue
        names = {n for i in statement(code, notes, nr) for n in NAME.findall(notes[i])}
        for n in names:
            for e in ends:
                found['names'].setdefault(n, {}).setdefault(e, where)
        for m in MUST.finditer(line):
            if not names:
                found['unnamed'].append((path, first_argument(code, nr, m.end()), where))


def judge(found, reasons):
    """What is wrong: a list of sentences.  reasons: (path, first argument) -> text."""
    bad = ['%s is used outside %s' % (b.split(': ')[1] + ' at ' + b.split(': ')[0], ATOMIC)
           for b in found['builtins']]
    used = set()
    for path, what, where in found['unnamed']:
        if (path, what) in reasons:
            used.add((path, what))
        else:
            bad.append('%s: the release of %s has no [name], and no reason in pairs.txt' %
                       (where, what or 'the fence'))
    for name, ends in sorted(found['names'].items()):
        for end in ('release', 'acquire'):
            if end not in ends:
                bad.append('[%s] at %s has no %s' % (name, list(ends.values())[0], end))
    for path, what in sorted(set(reasons) - used):
        bad.append('pairs.txt has %s %s, which is not there or has a name' % (path, what))
    return bad


def new():
    return {'names': {}, 'unnamed': [], 'builtins': []}


def read_reasons(text):
    reasons = {}
    for line in text.split('\n'):
        if not line.strip() or line.startswith('#'):
            continue
        path, what, reason = [w.strip() for w in line.split('|')]
        assert reason, line
        reasons[path, what] = reason
    return reasons


# ---- the check of this check ----

def check_text(text, reasons=None, path='src/x/x.c'):
    found = new()
    scan(path, text, found)
    return judge(found, reasons or {})


def check_self():
    good = '''
static void put(void)
{
	/* [word] complete */
	tacho_store_release(&a->b,
			    tacho_load_relaxed(&x[1]));
	if (tacho_load_acquire(&a->b) != 1 ||	/* [word] */
	    b)
		return;
	tacho_fence_release();	/* [copy] */
	c = d;
	tacho_fence_acquire();			/* [copy] */
}
'''
    release = '\ttacho_store_release(&a->b, 1);\n'
    want = [
        (good, None, None),
        ('\tx = "tacho_store_release(&a, 1)";\n\t/* tacho_store_release(&a, 1) */\n', None, None),
        # a release without a name
        (release, None, 'the release of a->b has no'),
        ('\ttacho_fence_release();\n', None, 'the release of the fence has no'),
        # a name on the next statement, or the one before, does not count
        ('\tx = 1;\t/* [word] */\n' + release, None, 'the release of a->b has no'),
        (release + '\tx = 1;\t/* [word] */\n', None, 'the release of a->b has no'),
        # one end alone
        (good.replace('tacho_load_acquire', 'tacho_load_relaxed'), None, '[word] at '),
        (good.replace('tacho_fence_acquire', 'f'), None, '[copy] at '),
        ('\tx = tacho_load_acquire(&a);\t/* [lost] */\n', None, 'has no release'),
        # both ends in one
        ('\ttacho_cas_acq_rel(&a, &b, 1);\t/* [lock] */\n', None, None),
        # reasons, and reasons for nothing
        (release, {('src/x/x.c', 'a->b'): 'why'}, None),
        (good, {('src/x/x.c', 'a->b'): 'why'}, 'not there or has a name'),
        ('\tx = 1;\n', {('src/x/x.c', 'a->b'): 'why'}, 'not there or has a name'),
        # built-ins
        ('\t__atomic_store_n(&a, 1, __ATOMIC_RELAXED);\n', None, '__atomic_store_n at src/x/x.c:1'),
        ('\t__sync_synchronize();\n', None, '__sync_synchronize'),
        ('_Atomic int x;\n', None, '_Atomic'),
    ]
    for nr, (text, reasons, says) in enumerate(want):
        bad = check_text(text, reasons)
        if bool(bad) != bool(says) or (says and says not in ' '.join(bad)):
            print('# example %d: %r, expected %r' % (nr, bad, says))
            return False
    return not check_text('\t__atomic_x();\n', None, ATOMIC)


def main():
    found = new()
    for top in ('src', 'include'):
        for folder, _, names in os.walk(os.path.join(TOP, top)):
            for n in names:
                if n.endswith(('.c', '.h')):
                    file = os.path.join(folder, n)
                    with open(file, encoding='utf-8') as f:
                        scan(os.path.relpath(file, TOP), f.read(), found)
    with open(os.path.join(TOP, 'tests/tree/pairs.txt'), encoding='utf-8') as f:
        reasons = read_reasons(f.read())
    bad = judge(found, reasons)
    self_good = check_self()
    print('%sok 1 - the check finds what is wrong in examples' % ('' if self_good else 'not '))
    for b in bad:
        print('# ' + b)
    good = not bad and len(found['names']) > 20
    print('%sok 2 - %d names with both ends, %d releases with a reason' %
          ('' if good else 'not ', len(found['names']), len(reasons)))
    print('1..2')
    return 0 if good and self_good else 1


sys.exit(main())
