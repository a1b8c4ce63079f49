#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""formats.py KMAP FORMATS.xz: the table against the formats of several kernels."""
import lzma
import subprocess
import sys

with lzma.open(sys.argv[2]) as f:
    sys.exit(subprocess.run([sys.argv[1], 'formats'], input=f.read()).returncode)
