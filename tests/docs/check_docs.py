#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The words of the project against the project.

    check_docs.py --source DIR --build DIR --tacho FILE [--cc CMD]
    check_docs.py ... --mutate    each check must fail on words made wrong

Prints TAP.  DIR is the top of the source: README.md, docs, man, completion and
include are read from there.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Every verb has these, whether its --help says so or not.
COMMON = {'--help', '--quiet', '--json'}

# In public headers, but not for users: name -> where it is used.
INTERNAL = {
    'tacho_printk_check': 'printk.h',
    'tacho_marker_check': 'marker.h',
    'tacho_marker_write': 'marker.h',
    'tacho_mark_begin': 'marker.h',
    'tacho_mark_end': 'marker.h',
    'tacho_mark_counter': 'marker.h',
    'tacho_mark_instant': 'marker.h',
    'tacho_span_start': 'marker.h',
    'tacho_span_finish': 'marker.h',
    'tacho_span_enter': 'marker.h',
    'tacho_span': 'marker.h',
}
INTERNAL_MACRO = re.compile(r'TACHO_(PRINTK|MARKER|HEADER|PLAIN)_|.*_$')


class Skip(Exception):
    pass


class Wrong(Exception):
    """A list of sentences."""


def run(argv, **kw):
    kw.setdefault('timeout', 120)
    return subprocess.run(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, errors='replace', **kw)


def plain(text):
    """Manual page source without escapes and fonts."""
    text = re.sub(r'\\f(\[\w*\]|\(..|.)', '', text)
    text = re.sub(r'(?m)^\.Fl ', '-', text)
    return (text.replace('\\-', '-').replace('\\(aq', "'")
            .replace('\\&', '').replace('\\(en', '-').replace('\\e', '\\'))


HELP = {}


class Project:
    def __init__(self, args):
        self.source = Path(args.source)
        self.build = Path(args.build)
        self.tacho = Path(args.tacho).resolve()
        # by their paths, a launcher's (ccache cc) too: the checks put a `cc` of
        # their own before them
        self.cc = [w if w.startswith('-') else shutil.which(w) or w
                   for w in shlex.split(args.cc)]
        self.man = self.source / 'man'
        self.help_cache = HELP      # the tool's, which no words change
        self.mutated = None         # the only file that is not as it was

    def verbs(self):
        out = run([self.tacho, '--help']).stdout
        found = re.findall(r'(?m)^  ([a-z]+) ', out)
        if len(found) < 10:
            raise Wrong(['tacho --help lists no verbs'])
        return found

    def help(self, verb):
        if verb not in self.help_cache:
            r = run([self.tacho, verb, '--help'])
            if r.returncode or not r.stdout.startswith('usage: tacho ' + verb):
                raise Wrong([f'tacho {verb} --help: {r.stderr or r.stdout}'])
            self.help_cache[verb] = r.stdout
        return self.help_cache[verb]

    def options(self, verb):
        """{long: takes a value}, {short} that --help names."""
        longs, shorts = {}, set()
        for line in self.help(verb).splitlines():
            m = re.match(r'\s+(?:(-\w), )?(--[a-z][a-z-]*)((?:[ =][A-Z])?)', line)
            if m:
                longs[m[2]] = bool(m[3])
                if m[1]:
                    shorts.add(m[1])
            if line.startswith('usage:'):
                for o in re.findall(r'\[(--[a-z][a-z-]*)', line):
                    longs[o] = False
                shorts |= set(re.findall(r'(?<![\w-])(-\w)\b', line))
        return longs, shorts

    def page(self, verb):
        path = self.man / f'tacho-{verb}.1'
        if not path.exists():
            raise Wrong([f'verb {verb} has no page {path.name}'])
        text = path.read_text()
        m = re.match(r'\.so man1/(\S+)\s*$', text)
        if m:
            path = self.man / m[1]
            text = path.read_text()
        return path.name, plain(text)


# ---- options and pages --------------------------------------------------------

def tags(text):
    """What .TP (or .It) lines of a page name: [(longs, shorts)]."""
    lines = text.splitlines()
    found = []
    for i, line in enumerate(lines):
        tag = line[4:] if line.startswith('.It ') else \
            lines[i + 1] if line == '.TP' and i + 1 < len(lines) else ''
        tag = tag.replace('"', '')
        longs = set(re.findall(r'(?<![\w-])(--[a-z][a-z-]*)', tag))
        shorts = set(re.findall(r'(?<![\w-])(-\w)(?![\w-])', tag))
        if longs:
            found.append((longs, shorts))
    return found


def check_options(p):
    wrong = []
    for verb in p.verbs():
        try:
            longs, shorts = p.options(verb)
            name, text = p.page(verb)
        except Wrong as e:
            wrong += e.args[0]
            continue
        described = tags(text)
        said = set().union(*(a | b for a, b in described))
        for o in sorted((set(longs) | shorts) - said - COMMON - {'-h', '-q'}):
            wrong.append(f'{name} lacks {o}, which tacho {verb} --help names')
        for tagged, letters in described:
            # "usage: tacho enable -s NAME" stands for --session as well
            if not letters & shorts:
                for o in sorted(tagged - set(longs) - COMMON - {'--colour'}):
                    wrong.append(f'{name} describes {o}, which tacho {verb} '
                                 '--help does not name')
    return wrong


def check_help(p):
    return [f'tacho help {verb} is not tacho {verb} --help'
            for verb in p.verbs()
            if run([p.tacho, 'help', verb]).stdout != p.help(verb)]


def check_pages(p):
    """Links between pages, and the list that is installed."""
    wrong = []
    pages = {f.name for f in p.man.glob('*.[1-9]')}
    listed = set(re.findall(r"'([\w.-]+\.\d)'",
                            (p.man / 'meson.build').read_text()))
    for f in sorted(pages ^ listed):
        wrong.append(f'man/{f} is ' + ('not in man/meson.build' if f in pages
                                       else 'missing'))
    for f in sorted(pages):
        text = (p.man / f).read_text()
        for target in re.findall(r'(?m)^\.so man\d/(\S+)', text):
            if target not in pages:
                wrong.append(f'{f} stands for {target}, which is missing')
        for name, section in re.findall(r'(?<![\w-])(tacho(?:-\w+)?)"? ?\((\d)\)',
                                        plain(text)):
            if f'{name}.{section}' not in pages:
                wrong.append(f'{f} names {name}({section}), which is missing')
    overview = plain((p.man / 'tacho.1').read_text())
    described = set(re.findall(r'(?m)^\.TP\n\.BR? ([^\n]*), see', overview))
    described = set(re.findall(r'[a-z]+', ' '.join(described)))
    for verb in p.verbs():
        if verb not in described:
            wrong.append(f'tacho.1 does not describe the verb {verb}')
    return wrong


def check_environment(p):
    text = plain((p.man / 'tacho-concepts.7').read_text())
    said = set(re.findall(r'\w+', text.split('.SH ENVIRONMENT', 1)[-1]))
    read = {}
    for f in sorted((p.source / 'src').rglob('*.c')):
        for name in re.findall(r'getenv\("(\w+)"\)', f.read_text()):
            read[name] = f.name
    # the shell's, and one that only builds for tests read
    for name in ('PATH', 'TACHO_INJECT_KILL'):
        read.pop(name, None)
    if 'TACHO_DIR' not in read:
        return ['no environment variables found in src']
    return [f'tacho-concepts.7 lacks {n}, which {f} reads'
            for n, f in sorted(read.items()) if n not in said]


def check_format(p):
    if not shutil.which('man') or not shutil.which('groff'):
        raise Skip('no man or no groff')
    wrong = []
    with tempfile.TemporaryDirectory() as tmp:
        # .so requests are relative to the top of a manual tree
        for f in p.man.glob('*.[1-9]'):
            d = Path(tmp, 'man' + f.suffix[1:])
            d.mkdir(exist_ok=True)
            shutil.copy(f, d)
        for f in sorted(Path(tmp).glob(f"man?/{p.mutated or '*'}")):
            r = run(['man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', '-Z',
                     str(f)], cwd=tmp)
            if r.returncode or r.stderr:
                wrong.append(f'{f.name}: {r.stderr.strip() or r.returncode}')
            elif len(r.stdout) < 1000:
                wrong.append(f'{f.name}: nearly empty')
    return wrong


# ---- functions ----------------------------------------------------------------

def public_names(p):
    names = {}
    for f in sorted((p.source / 'include/tacho').glob('*.h')):
        text = re.sub(r'/\*.*?\*/|//[^\n]*', ' ', f.read_text(), flags=re.S)
        for m in re.findall(r'(?m)^#define (\w+)\(', text):
            if not INTERNAL_MACRO.fullmatch(m) and not \
                    re.match(r'TACHO_(PRINTK|MARKER|HEADER|PLAIN)_', m):
                names[m] = f.name
        code = re.sub(r'(?m)^#(?:[^\n]*\\\n)*[^\n]*$', '', text)
        code = code.replace('extern "C" {', '')
        depth = 0
        # events.h has the kernel's names
        name = r'tacho_\w+' if f.name != 'events.h' else \
            r'(?:synth_event|kprobe_event|dynevent|trace_array|trace_[gp][eu]t)_\w+'
        for m in re.finditer(r'[{}]|\b(' + name + r')\s*\(', code):
            if m[0] == '{':
                depth += 1
            elif m[0] == '}':
                depth = max(0, depth - 1)
            elif not depth:
                names[m[1]] = f.name
    stages = (p.source / 'include/tacho/impl/stages.h').read_text()
    for m in re.findall(r'(?m)^#undef (\w+)', stages):
        if not m.startswith('TACHO_') and m != 'TRACE_INCLUDE_FILE':
            names.setdefault(m, 'tracepoint.h')
    return names


def check_functions(p):
    names = public_names(p)
    text = '\n'.join(plain(f.read_text()) for f in p.man.glob('*.3'))
    said = set(re.findall(r'\w+', text))
    wrong = [f'INTERNAL names {n}, which {f} does not have'
             for n, f in INTERNAL.items() if names.get(n) != f]
    wrong += [f'{n} of {f} is in no page of section 3'
              for n, f in sorted(names.items())
              if n not in INTERNAL and n not in said]
    if len(names) < 60:
        wrong.append(f'only {len(names)} public names found')
    return wrong


# ---- completion -----------------------------------------------------------------

BASH = r'''
source "$1"
COMP_LINE=$2 COMP_POINT=${#2}
_tacho 2>/dev/null
printf '%s\n' "${COMPREPLY[@]}"
'''


def bash_complete(p, line, env=None):
    r = run(['bash', '--norc', '-c', BASH, 'bash',
             str(p.source / 'completion/tacho.bash'), line],
            env=dict(os.environ, **(env or {})))
    if r.stderr:
        raise Wrong([f'bash completion of "{line}": {r.stderr.strip()}'])
    return [w for w in r.stdout.split('\n') if w]


def compare(wrong, what, have, want, more=()):
    for o in sorted(set(want) - set(have)):
        wrong.append(f'{what} lacks {o}')
    for o in sorted(set(have) - set(want) - set(more)):
        wrong.append(f'{what} has {o}, which is not there')


def check_bash(p):
    if not shutil.which('bash'):
        raise Skip('no bash')
    wrong = []
    verbs = p.verbs()
    compare(wrong, 'bash completion', bash_complete(p, 'tacho '), verbs,
            {'help', '--help', '--version'})
    for verb in verbs:
        words = bash_complete(p, f'tacho {verb} --')
        have = {w.rstrip('='): w.endswith('=') for w in words}
        longs, _ = p.options(verb)
        if verb in ('enable', 'disable'):
            longs['--session'] = True       # --help has its letter only
        compare(wrong, f'bash completion of {verb}', have, set(longs) | COMMON)
        for o in sorted(set(have) & set(longs)):
            if have[o] != longs[o]:
                wrong.append(f'bash completion of {verb}: {o} takes ' +
                             ('a value' if longs[o] else 'no value'))
    return wrong


def check_bash_sessions(p):
    """Names of living sessions, through the tool's JSON."""
    if not shutil.which('bash'):
        raise Skip('no bash')
    wrong = []
    with tempfile.TemporaryDirectory() as tmp:
        os.mkdir(f'{tmp}/bin')
        os.symlink(p.tacho.resolve(), f'{tmp}/bin/tacho')
        env = {'TACHO_DIR': f'{tmp}/run',
               'PATH': f'{tmp}/bin:' + os.environ['PATH']}
        both = dict(os.environ, **env)
        for name in ('doc-one', 'doc-two'):
            r = run(['tacho', 'create', '-b', '16K', '--subbuf', '4K', name],
                    env=both)
            if r.returncode:
                raise Wrong([f'tacho create: {r.stderr}'])
        for line, want in (('tacho status ', {'doc-one', 'doc-two'}),
                           ('tacho destroy doc-t', {'doc-two'}),
                           ('tacho enable -s doc-o', {'doc-one'}),
                           ('tacho enable --session=doc-o', {'doc-one'})):
            have = set(bash_complete(p, line, env))
            if have != want:
                wrong.append(f'"{line}" is completed to {sorted(have)}, not '
                             f'{sorted(want)}')
        run(['tacho', 'destroy', 'doc-one', 'doc-two'], env=both)
    return wrong


def zsh_arms(text):
    """{verb: its options} of the zsh function."""
    arrays = {m[1]: m[2] for m in
              re.finditer(r'(?ms)^\t(\w+)=\(\n(.*?)^\t\)', text)}
    arms = {}
    for m in re.finditer(r'(?ms)^\t([a-z|]+)\)\n(.*?);;', text):
        body = re.sub(r'\$(\w+)', lambda a: arrays.get(a[1], ''), m[2])
        # options begin a quoted word or stand in braces
        longs = {o for o in re.findall(r"['{,*](--[a-z][a-z-]*)", body)}
        for verb in m[1].split('|'):
            arms[verb] = longs
    return arms, re.findall(r"'([a-z]+):", arrays.get('verbs', ''))


def check_zsh(p):
    wrong = []
    path = p.source / 'completion/_tacho'
    text = path.read_text()
    if not text.startswith('#compdef tacho\n'):
        wrong.append('_tacho does not begin with #compdef')
    if shutil.which('zsh'):
        r = run(['zsh', '-n', str(path)])
        if r.returncode or r.stderr:
            wrong.append(f'zsh -n: {r.stderr.strip()}')
    arms, described = zsh_arms(text)
    verbs = p.verbs()
    compare(wrong, 'zsh completion', described, verbs, {'help'})
    for verb in verbs:
        longs, _ = p.options(verb)
        if verb in ('enable', 'disable'):
            longs['--session'] = True
        compare(wrong, f'zsh completion of {verb}', arms.get(verb, ()),
                set(longs) | COMMON)
    return wrong


def check_formats(p):
    """The formats of --to: what the tool knows is what all the words say."""
    r = run([str(p.tacho), 'convert', 'x', '-o', 'y', '--to', '?'])
    found = re.search(r"'\?' is not one of (.*)", r.stderr)
    if not found:
        raise Wrong([f'tacho convert --to ? says {r.stderr!r}'])
    names, wrong = found[1].split(', '), []
    zsh = re.findall(r"'--to=[^']*:\(([^)]*)\)'",
                     (p.source / 'completion/_tacho').read_text())
    if len(zsh) != 2:
        wrong.append(f'zsh completes --to of {len(zsh)} verbs')
    for have in zsh:
        compare(wrong, "zsh completion of --to", have.split(), names)
    for verb in ('convert', 'record'):
        compare(wrong, f"{verb}'s --help on --to",
                re.findall(r"'(\w+)'", re.search(r'(?s)--to FORMAT(.*?)\n  (?: {0,4})-',
                                                p.help(verb))[1]), names)
        page = (p.man / f'tacho-{verb}.1').read_text()
        text = re.search(r'(?s)\\-\\-to.*?\n\.TP|\\-\\-to.*?\n\.SS', page)[0]
        for name in names:
            if not re.search(rf'(?m)^\.B[IR]? .*\b{name}\b', text):
                wrong.append(f'tacho-{verb}(1) has no {name} at --to')
        if shutil.which('bash'):
            compare(wrong, f'bash completion of {verb} --to',
                    bash_complete(p, f'tacho {verb} --to '), names)
    return wrong


# ---- LKST's commands ---------------------------------------------------------

LKST = {'lkst': 8, 'lkstm': 8, 'lkstbuf': 8, 'lksteh': 8, 'lkstlogd': 8, 'lkstlogger': 8,
        'logformat': 1}
LETTERS = re.compile(r'(?<![\w-])-(ev|a[1-4]|[A-Za-z])(?!\w)')


def lkst_help(p, tool):
    """{command or '': its options} as help says; aliases are commands."""
    path = p.build / 'src/cli/lkst' / tool
    out = run([path, '-h' if tool in ('lkstlogd', 'logformat') else 'help']).stdout
    if not out.startswith(tool + ' - '):
        raise Wrong([f'{tool} gives no help'])
    out = out.split('\nevents:')[0]
    if tool in ('lkstlogd', 'lkstlogger', 'logformat'):
        found = {'': set(LETTERS.findall(out))}
        if tool == 'lkstlogger':
            found |= {w: set() for w in ('version', 'ver', 'help')}
        return found
    found = {}
    for block in re.split(r'\n(?=  \w)', out.split('\n\n', 2)[2]):
        names = re.match(r' *(\w+)(?:, (\w+))?', block)
        for name in filter(None, names.groups()):
            found[name] = set(LETTERS.findall(block))
    return found


def lkst_page(p, tool):
    """Commands and options that its page has in bold."""
    text = plain((p.man / f'{tool}.{LKST[tool]}').read_text())
    body = text.split('.SH DESCRIPTION', 1)[1].split('.SH EXAMPLE', 1)[0]
    bold = re.findall(r'(?m)^\.B[IR]? (.*)$', body)
    tags = re.findall(r'(?m)^\.T[PQ]\n\.B[IR]? (.*)$', body)
    words = {w for t in tags for w in re.findall(r'\w+', t.split(' -')[0].split(' [')[0])}
    return words, {o for b in bold for o in LETTERS.findall(b)}


def check_lkst_pages(p):
    wrong = []
    for tool in LKST:
        has = lkst_help(p, tool)
        words, letters = lkst_page(p, tool)
        wrong += [f'{tool}({LKST[tool]}) lacks the command {c}'
                  for c in sorted(set(has) - words - {''})]
        compare(wrong, f'{tool}({LKST[tool]})', letters, set().union(*has.values()))
    return wrong


LKST_BASH = r'''
source "$1"; shift
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_lkst
printf '%s\n' "${COMPREPLY[@]}"
'''


def check_lkst_bash(p):
    if not shutil.which('bash'):
        raise Skip('no bash')
    wrong = []

    def complete(*words):
        r = run(['bash', '--norc', '-c', LKST_BASH, 'bash',
                 str(p.source / 'completion/lkst.bash'), *words])
        return {w for w in r.stdout.split() if w} if not r.stderr else {r.stderr}

    for tool in LKST:
        has = lkst_help(p, tool)
        commands = set(has) - {''}
        if commands:
            compare(wrong, f'bash completion of {tool}', complete(tool, ''), commands)
        for c in sorted(has):
            compare(wrong, f'bash completion of {tool} {c}',
                    complete(tool, *([c] if c else []), '-'), {'-' + o for o in has[c]})
    return wrong


def check_lkst_zsh(p):
    wrong = []
    path = p.source / 'completion/_lkst'
    text = path.read_text()
    if text.splitlines()[0].split() != ['#compdef', 'lkst', 'lkstm', 'lkstbuf', 'lksteh',
                                        'lkstlogger', 'lkstlogd', 'logformat']:
        wrong.append('_lkst does not begin with #compdef and its commands')
    if shutil.which('zsh'):
        r = run(['zsh', '-n', str(path)])
        if r.returncode or r.stderr:
            wrong.append(f'zsh -n: {r.stderr.strip()}')
    arms = {}
    for tool, names, body in re.findall(r'(?s)\n\t(\w+):\(?([\w|]+)\)+ (.*?);;', text):
        for c in names.split('|'):
            arms[tool, c] = set(re.findall(r"'(-\w+)\[", body))
    words = {t: set(c.split()) for t, c in
             re.findall(r'\n\t(\w+)\) commands=\(([^)]*)\)', text)}
    for tool, body in re.findall(r'(?s)\n\t(\w+)\)\n\t\t(_arguments.*?);;', text):
        arms[tool, ''] = set(re.findall(r"'(-\w+)\[", body))
        words[tool] = set(re.findall(r'\w+', (re.findall(r"command:\(([^)]*)", body) or [''])[0]))
    for tool in LKST:
        has = lkst_help(p, tool)
        compare(wrong, f'zsh completion of {tool}', words.get(tool, ()), set(has) - {''})
        for c in sorted(has):
            compare(wrong, f'zsh completion of {tool} {c}', arms.get((tool, c), ()),
                    {'-' + o for o in has[c]})
    return wrong


# ---- links ----------------------------------------------------------------------

def anchors(path):
    text = re.sub(r'(?ms)^```.*?^```', '', path.read_text())
    return {re.sub(r'[^\w -]', '', h.strip().lower()).replace(' ', '-')
            for h in re.findall(r'(?m)^#+ (.*)$', text)}


def check_links(p):
    wrong, count = [], 0
    files = sorted(p.source.glob('*.md')) + sorted(p.source.glob('docs/**/*.md'))
    for f in files:
        text = re.sub(r'(?ms)^```.*?^```', '', f.read_text())
        text = re.sub(r'`[^`\n]*`', lambda m: m[0] if '](' in m[0] else '`x`', text)
        for target in re.findall(r'\]\(([^)\s]+)\)', text):
            if re.match(r'[a-z]+:', target):
                continue
            count += 1
            path, _, anchor = target.partition('#')
            to = f.parent / path if path else f
            name = f.relative_to(p.source)
            if not to.exists():
                wrong.append(f'{name} links to {target}, which is not there')
            elif anchor and to.suffix == '.md' and anchor not in anchors(to):
                wrong.append(f'{name} links to {target}: no such heading')
    if count < 10:
        wrong.append(f'only {count} links found')
    return wrong


# ---- the README's example --------------------------------------------------------

EXAMPLE = re.compile(r'<!-- example: (file|run|output) ?(\S*) -->\n```\w*\n(.*?)```',
                     re.S)


def masked(text):
    """Report lines without thread, CPU and time."""
    return [re.sub(r'^\s*(\S+)-\d+\s+\[[-\d]+\] (\S+)\s+[\d.]+: ', r'\1 \2 ', line)
            for line in text.splitlines()]


def compiler(p, tmp):
    """`cc` is the compiler of this build, with its flags, and strict."""
    bin_dir = Path(tmp, 'bin')
    bin_dir.mkdir()
    cc = bin_dir / 'cc'
    cc.write_text('#!/bin/sh\nexec ' + ' '.join(map(shlex.quote, p.cc)) +
                  ' -Wall -Wextra "$@"\n')
    cc.chmod(0o755)
    os.symlink(p.build.resolve(), Path(tmp, 'build'))
    return dict(os.environ, PATH=f'{bin_dir}:{os.environ["PATH"]}',
                TACHO_DIR=f'{tmp}/run', LC_ALL='C')


def need_pkg_config():
    if not shutil.which('pkg-config'):
        raise Skip('no pkg-config')


def check_example(p):
    need_pkg_config()
    blocks = EXAMPLE.findall((p.source / 'README.md').read_text())
    runs = [b for kind, _, b in blocks if kind == 'run']
    if {kind for kind, _, _ in blocks} != {'file', 'run', 'output'}:
        return ['README.md has no example of files, commands and output']
    wrong = []
    with tempfile.TemporaryDirectory() as tmp:
        env = compiler(p, tmp)
        for kind, name, body in blocks:
            if kind == 'file':
                Path(tmp, name).write_text(body)
        script = 'set -e\n' + ''.join(f'{b}\necho "== end"\n' for b in runs)
        r = run(['bash', '-c', script], cwd=tmp, env=env)
        if r.returncode:
            return [f'README.md: status {r.returncode}: {r.stderr.strip()}']
        if 'warning:' in r.stderr:
            wrong.append('README.md: ' + r.stderr.strip())
        outputs = r.stdout.split('== end\n')
        at = -1
        for kind, _, body in blocks:
            at += kind == 'run'
            if kind == 'output' and masked(body) != masked(outputs[at]):
                wrong.append('README.md says\n' + body + 'but it is\n' +
                             outputs[at])
    return wrong


def check_page_example(p):
    """The program in tacho-stream(3), on a trace of the README's program."""
    need_pkg_config()
    page = (p.man / 'tacho-stream.3').read_text()
    code = re.findall(r'(?ms)^\.EX\n(.*?)^\.EE', page)
    if len(code) != 1:
        return ['tacho-stream.3 has no example']
    files = [(n, b) for k, n, b in
             EXAMPLE.findall((p.source / 'README.md').read_text()) if k == 'file']
    with tempfile.TemporaryDirectory() as tmp:
        env = compiler(p, tmp)
        env['PKG_CONFIG_PATH'] = f'{tmp}/build/meson-uninstalled'
        env['LD_LIBRARY_PATH'] = f'{tmp}/build/src/runtime:{tmp}/build/src'
        for name, body in files:
            Path(tmp, name).write_text(body)
        Path(tmp, 'show.c').write_text(plain(code[0]))
        r = run(['bash', '-c', f'''set -e
            cc -I. shop.c -o shop $(pkg-config --cflags --libs tacho)
            cc show.c -o show $(pkg-config --cflags --libs tacho-stream)
            {shlex.quote(str(p.tacho.resolve()))} record -q -o t -- ./shop
            ./show t'''], cwd=tmp, env=env)
    if r.returncode:
        return [f'tacho-stream.3: {r.stderr.strip()}']
    lines = r.stdout.splitlines()
    if len(lines) != 3 or not re.fullmatch(
            r'\d{19} order_done: id=1 customer=alice', lines[0]):
        return ['tacho-stream.3: its example printed\n' + r.stdout]
    return []


def check_events_example(p):
    """The program in tacho-events(3): what it leaves, and what a recorder sees."""
    need_pkg_config()
    page = (p.man / 'tacho-events.3').read_text()
    code = re.findall(r'(?ms)^\.EX\n(.*?)^\.EE', page)
    if len(code) != 1:
        return ['tacho-events.3 has no example']
    with tempfile.TemporaryDirectory() as tmp:
        env = compiler(p, tmp)
        env['PKG_CONFIG_PATH'] = f'{tmp}/build/meson-uninstalled'
        env['LD_LIBRARY_PATH'] = f'{tmp}/build/src/runtime:{tmp}/build/src/compat/kernel_api'
        Path(tmp, 'traces.c').write_text(plain(code[0]))
        tacho = shlex.quote(str(p.tacho.resolve()))
        r = run(['bash', '-c', f'''set -e
            cc -Werror traces.c -o traces $(pkg-config --cflags --libs tacho-events)
            {tacho} create -b 64K --subbuf 16K --flight boot >/dev/null
            ./traces
            {tacho} report session:boot
            {tacho} record -q -o t -e 'synthetic:*' -- ./traces
            {tacho} report t'''], cwd=tmp, env=env)
    if r.returncode:
        return [f'tacho-events.3: {r.stderr.strip()}']
    want = [f'traces ..... schedtest: next_pid={pid}, next_comm={comm}, ts_ns={ts}'
            for pid, comm, ts in ((444, 'clackers', 1000000),
                                  (777, 'tiddlywinks', 2000000),
                                  (0, 'silly putty', 3000000))]
    if masked(r.stdout) != want * 2:
        return ['tacho-events.3: its example printed\n' + r.stdout]
    return []


def check_session_example(p):
    """The program in tacho-session(3), beside a program that it records."""
    need_pkg_config()
    page = (p.man / 'tacho-session.3').read_text()
    code = re.findall(r'(?ms)^\.EX\n(.*?)^\.EE', page)
    if len(code) != 1:
        return ['tacho-session.3 has no example']
    with tempfile.TemporaryDirectory() as tmp:
        env = compiler(p, tmp)
        env['PKG_CONFIG_PATH'] = f'{tmp}/build/meson-uninstalled'
        env['LD_LIBRARY_PATH'] = f'{tmp}/build/src/ctl'
        Path(tmp, 'second.c').write_text(plain(code[0]))
        r = run(['bash', '-c', f'''set -e
            cc -Werror second.c -o second $(pkg-config --cflags --libs tacho-session)
            ./second trace
            {shlex.quote(str(p.tacho.resolve()))} check trace
            ! ./second trace 2>error
            cat error'''], cwd=tmp, env=env)
    if r.returncode:
        return [f'tacho-session.3: {r.stderr.strip()}']
    if not r.stdout.startswith('0 events\n') or \
            not r.stdout.endswith("'trace' is not empty\n"):
        return ['tacho-session.3: its example printed\n' + r.stdout]
    return []


CHECKS = [
    ('options: --help and pages agree', check_options),
    ('tacho help VERB', check_help),
    ('pages: names and links', check_pages),
    ('pages: no warnings', check_format),
    ('pages: environment variables', check_environment),
    ('public functions are in section 3', check_functions),
    ('bash completion', check_bash),
    ('bash completion of sessions', check_bash_sessions),
    ('zsh completion', check_zsh),
    ('formats', check_formats),
    ("LKST's commands: help and pages agree", check_lkst_pages),
    ("LKST's commands: bash completion", check_lkst_bash),
    ("LKST's commands: zsh completion", check_lkst_zsh),
    ('links', check_links),
    ('the example in README.md', check_example),
    ('the example in tacho-stream(3)', check_page_example),
    ('the example in tacho-events(3)', check_events_example),
    ('the example in tacho-session(3)', check_session_example),
]

# ---- the checks checked ------------------------------------------------------------

# (check, file, from, to): the check must notice.
MUTATIONS = [
    (check_options, 'man/tacho-record.1', r'\-\-only', r'\-\-onli'),
    (check_options, 'man/tacho-status.1', '.SH OPTIONS\n',
     '.SH OPTIONS\n.TP\n.B \\-\\-bogus\nx\n'),
    (check_options, 'man/tacho-list.1', r'.BR \-F ", "', '.BR'),
    (check_pages, 'man/tacho.1', r'tacho\-trace (5)', r'tacho\-trase (5)'),
    (check_pages, 'man/tacho-stop.1', 'tacho-start.1', 'tacho-begin.1'),
    (check_pages, 'man/meson.build', "'tacho-list.1'", "'tacho-lost.1'"),
    (check_pages, 'man/tacho.1', '.BR enable ", " disable', '.BR enable'),
    (check_environment, 'man/tacho-concepts.7', 'TACHO_SESSION', 'TACHO_SESION'),
    (check_format, 'man/tacho.1', '.SH SEE ALSO', '.XX\n.SH SEE ALSO'),
    (check_format, 'man/tacho-stop.1', 'tacho-start.1', 'tacho-begin.1'),
    (check_functions, 'man/tacho-stream.3', 'tacho_stream_seek', 'tacho_seek'),
    (check_functions, 'man/tacho-tracepoint.3', '__print_hex_str', '__print_x'),
    (check_functions, 'include/tacho/stream.h', '#pragma GCC visibility pop',
     'int tacho_stream_new_one(void);'),
    (check_bash, 'completion/tacho.bash', '--keep-after=', ''),
    (check_bash, 'completion/tacho.bash', '--sort=', '--sort'),
    (check_bash, 'completion/tacho.bash', 'snapshot sql', 'sql'),
    (check_bash_sessions, 'completion/tacho.bash', '"name":"', '"nom":"'),
    (check_zsh, 'completion/_tacho', "'--dumps=", "'--dump="),
    (check_zsh, 'completion/_tacho', "'check:", "'cheek:"),
    (check_formats, 'completion/_tacho', 'dat7 kev lkst', 'dat7 kev'),
    (check_formats, 'completion/tacho.bash', 'lttfull text json', 'lttfull test json'),
    (check_formats, 'man/tacho-record.1', '.B dat7', '.B dat8'),
    (check_lkst_pages, 'man/lkstm.8', '.BR config ", " conf', '.BR config'),
    (check_lkst_pages, 'man/lkstbuf.8', '.B \\-V', '.B \\-W'),
    (check_lkst_bash, 'completion/lkst.bash', '-C -S -V', '-C -V'),
    (check_lkst_bash, 'completion/lkst.bash', 'lksteh:c ', 'lksteh:d '),
    (check_lkst_zsh, 'completion/_lkst', "'-S[seconds]'", ''),
    (check_lkst_zsh, 'completion/_lkst', 'stop destroy', 'destroy'),
    (check_links, 'docs/tour.md', 'ring.h)', 'ring.hh)'),
    (check_example, 'README.md', 'TP_ARGS(id, customer)', 'TP_ARGS(id)'),
    (check_example, 'README.md', 'order_done: id=2 customer=bob',
     'order_done: id=2 customer=eve'),
    (check_example, 'README.md', 'int main(void)\n{\n\tfor (int id',
     'int main(void)\n{\n\tint unused;\n\tfor (int id'),
    (check_example, 'README.md', 'tacho report orders', 'tacho report order'),
    (check_page_example, 'man/tacho-stream.3', 'tacho_type_name(r.type)',
     'tacho_type_nom(r.type)'),
    (check_functions, 'man/tacho-events.3', 'synth_event_add_next_val',
     'synth_event_add_val'),
    (check_functions, 'man/tacho-events.3', 'kretprobe_event_gen_cmd_start',
     'kretprobe_start'),
    (check_events_example, 'man/tacho-events.3', 'clackers', 'crackers'),
    (check_session_example, 'man/tacho-session.3', 'events\\en', 'evants\\en'),
    (check_functions, 'man/tacho-session.3', 'tacho_ctl_set_not_pids', 'tacho_set_not_pids'),
]


def mutated(p, file, old, new, tmp):
    """A copy of the words in tmp, with one thing made wrong."""
    for entry in os.listdir(p.source):
        if entry in ('README.md', 'docs', 'man', 'completion', 'include'):
            copy = shutil.copytree if (p.source / entry).is_dir() else shutil.copy
            copy(p.source / entry, Path(tmp, entry))
        else:
            os.symlink((p.source / entry).resolve(), Path(tmp, entry))
    path = Path(tmp, file)
    text = path.read_text()
    if old not in text:
        raise Wrong([f'{file} has no {old!r} to make wrong'])
    path.write_text(text.replace(old, new))
    p.source, p.man = Path(tmp), Path(tmp, 'man')
    p.mutated = path.name


def verdict(check, p):
    """(sentences, why it was skipped)"""
    try:
        return check(p), None
    except Wrong as e:
        return list(e.args[0]), None
    except Skip as e:
        return [], str(e)


def tap(n, name, wrong, skip):
    print(f'{"not ok" if wrong else "ok"} {n} - {name}' +
          (f' # SKIP {skip}' if skip else ''))
    for w in wrong:
        for line in w.splitlines():
            print('# ' + line)
    sys.stdout.flush()
    return bool(wrong)


def mutate(args):
    failed = False
    print(f'1..{len(MUTATIONS)}')
    for n, (check, file, old, new) in enumerate(MUTATIONS, 1):
        p = Project(args)
        with tempfile.TemporaryDirectory() as tmp:
            mutated(p, file, old, new, tmp)
            found, skip = verdict(check, p)
        # (words that are wrong anyhow fail without --mutate)
        wrong = [] if skip or found else [f'{check.__name__} did not notice']
        failed |= tap(n, f'{file}: {old.splitlines()[0]} is {new.splitlines()[0] if new else "gone"}'
                      .replace('#', ''), wrong, skip)
    return failed


def main():
    a = argparse.ArgumentParser()
    a.add_argument('--source', required=True)
    a.add_argument('--build', required=True)
    a.add_argument('--tacho', required=True)
    a.add_argument('--cc', default='cc')
    a.add_argument('--mutate', action='store_true')
    args = a.parse_args()
    if args.mutate:
        return mutate(args)
    p, failed = Project(args), False
    print(f'1..{len(CHECKS)}')
    for n, (name, check) in enumerate(CHECKS, 1):
        failed |= tap(n, name, *verdict(check, p))
    return failed


if __name__ == '__main__':
    sys.exit(main())
