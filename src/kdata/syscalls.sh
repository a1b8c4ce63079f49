#!/bin/sh
# SPDX-License-Identifier: MIT
# syscalls.sh CC...: the system calls of the machine that CC compiles for, one
# "CALL(number, name)" a line, from its own <asm/unistd.h>.
set -e
echo '#include <asm/unistd.h>' | "$@" -E -dM -x c - |
	sed -n 's/^#define __NR_\([a-z0-9_]*\) \([0-9][0-9]*\)$/CALL(\2, \1)/p' |
	grep -v -e ', syscalls)' -e ', arch_specific_syscall)' |
	sort -t'(' -k2n
