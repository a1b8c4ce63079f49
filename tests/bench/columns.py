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
    def columns_run(self, library, trace, events, columns, *sql):
        """Median of the user seconds."""
        program = os.path.join(self.build, 'tests', 'bench', 'columns_bench')
        runs = []
        for _ in range(self.rounds):
            p = subprocess.run([program, library, trace, events, columns, *sql], check=True,
                               capture_output=True, text=True)
            runs.append(json.loads(p.stdout)['user'])
        return sorted(runs)[len(runs) // 2]

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
