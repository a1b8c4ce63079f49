# SPDX-License-Identifier: MIT
"""libduckdb, from the npm package that package-lock.json pins."""
import os
import shutil
import subprocess

INSTALL_MAX = 200
HERE = os.path.dirname(os.path.abspath(__file__))


def path(directory):
    return os.path.join(directory, 'node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so')


def install(directory):
    """Installs it into a directory, if it is not there.  Why that failed; or None."""
    if os.path.exists(path(directory)):
        return None
    if not shutil.which('npm'):
        return 'npm is not installed: it brings libduckdb'
    os.makedirs(directory, exist_ok=True)
    for name in ('package.json', 'package-lock.json'):
        shutil.copy(os.path.join(HERE, name), directory)
    try:
        p = subprocess.run(['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund',
                            '--fetch-retries=0'], cwd=directory, capture_output=True, text=True,
                           timeout=INSTALL_MAX)
    except subprocess.TimeoutExpired:
        return f'npm did not install libduckdb in {INSTALL_MAX} s'
    if p.returncode or not os.path.exists(path(directory)):
        lines = [s for s in p.stderr.splitlines() if 'error' in s]
        return 'npm cannot install libduckdb: ' + (lines or ['none for this machine'])[0]
    return None
