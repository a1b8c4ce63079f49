#!/bin/sh
# SPDX-License-Identifier: MIT
# aarch64.sh SOURCE - what a traced program links compiles for aarch64, with its
# own restartable sequences; where qemu-aarch64 is there, it also records.
src=$1
cc=aarch64-linux-gnu-gcc
command -v $cc >/dev/null || { echo "1..0 # SKIP $cc is not installed"; exit 0; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
n=0 failed=0
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}
flags="-std=gnu11 -D_GNU_SOURCE -Wall -Wextra -Werror -fPIC -fvisibility=hidden
-DTACHO_VERSION=\"test\" -I$src/include -I$src/src"
bad=0
# -O2 where there is code for this machine: elsewhere it takes twice as long, and tells nothing
for c in "$src"/src/base/*.c "$src"/src/sys/*.c "$src"/src/event/*.c \
	 "$src"/src/engine/*.c "$src"/src/ring/*.c \
	 "$src"/src/session/*.c "$src"/src/runtime/*.c; do
	case $c in
	*/src/ring/* | */src/runtime/* | */src/sys/*) optimize=-O2 ;;
	*) optimize=-O1 ;;
	esac
	$cc $flags $optimize -c "$c" -o "$work/$(echo "$c" | tr / _).o" 2>"$work/log" ||
		{ bad=1; sed 's/^/# /' "$work/log" | head -10; }
done
ok $bad "the library compiles"
aarch64-linux-gnu-objdump -d "$work"/*_ring_write.c.o >"$work/dis" 2>/dev/null
grep -q stlr "$work/dis"
ok $? "a sequence commits with a store-release"
aarch64-linux-gnu-readelf -S "$work"/*_runtime_emit.c.o | grep -q __rseq_cs
ok $? "the runtime has sequences"
if command -v qemu-aarch64-static >/dev/null || command -v qemu-aarch64 >/dev/null; then
	qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64)
	$cc $flags -O2 -I"$src/tests" -static -o "$work/test_probe" \
		"$src/tests/runtime/test_probe.c" "$work"/*.o -lpthread 2>"$work/log" &&
		timeout 120 "$qemu" "$work/test_probe" >"$work/out" 2>&1
	ok $? "sessions and tracepoints under $(basename "$qemu") (plain lanes: it has no rseq)"
	grep '^not ok' "$work/out" | sed 's/^/# /'
fi
echo "1..$n"
exit $failed
