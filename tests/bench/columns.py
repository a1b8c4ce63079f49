# SPDX-License-Identifier: MIT
"""Part `columns` of make bench: events as Arrow columns, alone and asked by DuckDB."""
import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                'columns'))
import libduckdb  # noqa: E402

EVENTS = 10000000


class Columns:
    def columns_once(self, threads, library, trace, events, columns, *sql):
        program = os.path.join(self.build, 'tests', 'bench', 'columns_bench')
        p = subprocess.run([program, library, trace, events, columns, *sql], check=True,
                           capture_output=True, text=True,
                           env={**os.environ, 'THREADS': str(threads)})
        return json.loads(p.stdout)

    def columns_run(self, library, trace, events, columns, *sql):
        """Median of the user seconds."""
        runs = [self.columns_once(1, library, trace, events, columns, *sql)['user']
                for _ in range(self.rounds)]
        return sorted(runs)[len(runs) // 2]

    def columns_threads(self, trace):
        """One thread and two, in turns: the median of how many times as fast two are."""
        for what, events, columns, figure in (
                ('all of a type', 'bench:thin', 'common_timestamp,common_cpu,common_pid,fd,count,bytes',
                 'type'),
                ('texts', 'bench:named', 'comm,name', 'texts')):
            wall, user = [], []
            for _ in range(self.rounds):
                one, two = (self.columns_once(n, '-', trace, events, columns) for n in (1, 2))
                wall.append(one['seconds'] / two['seconds'])
                user.append(two['user'] / one['user'])
            n = len(wall) // 2
            self.row(f'columns, {what}: two threads are faster than one by', f'{sorted(wall)[n]:.2f}x',
                     '-', '', f'{sorted(user)[n]:.2f}x its user time')
            self.figures['columns_' + figure + '_threads'] = sorted(wall)[n]

    def columns(self):
        trace = os.path.join(self.dir, 'columns')
        directory = os.path.join(self.build, 'tests', 'columns', 'npm')
        subprocess.run([os.path.join(self.build, 'tests', 'stream', 'gen_trace'), str(EVENTS),
                        trace], check=True)
        n = EVENTS // 1000000
        for what, events, columns, figure in (
                ('one column', '*:*', 'fd', 'one'),
                ('all of a type', 'bench:thin', 'common_timestamp,common_cpu,common_pid,fd,count,bytes',
                 'type'),
                ('texts', 'bench:named', 'comm,name', 'texts')):
            s = self.columns_run('-', trace, events, columns)
            self.row(f'columns of {n} million events, {what}, user s', f'{s:.2f}', '-', '', '')
            self.figures['columns_' + figure + '_s'] = s
        self.columns_threads(trace)
        why = libduckdb.install(directory)
        if why:
            self.note(f'columns: {why}')
            return
        library = libduckdb.path(directory)
        for what, columns, sql, figure in (
                ('count by one column', 'fd', 'select fd, count(*) from t group by fd', 'count'),
                ('count by event', 'common_event',
                 'select common_event, count(*) from t group by common_event', 'event'),
                ('sum by one column', 'fd,bytes',
                 'select fd, sum(bytes) from t group by fd', 'sum')):
            s = self.columns_run(library, trace, '*:*', columns, sql)
            self.row(f'DuckDB, {n} million events: {what}, user s', f'{s:.2f}', '-', '',
                     '<= 0.5 s')
            self.figures['columns_duckdb_' + figure + '_s'] = s
