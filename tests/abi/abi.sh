#!/bin/sh
# SPDX-License-Identifier: MIT
# abi.sh SOURCE BUILD COMPILER - compare the public interfaces with the dumps in this directory, and
# the exports of the libraries with their linker maps.  After a change that is
# meant: tools/abi-update.sh.  TAP.
src=$1 build=$2 compiler=$3
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
here=$src/tests/abi
. "$here/libraries.sh"
n=0 failed=0
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; return; fi
	echo "not ok $n - $2"
	sed 's/^/# /' "$work/out" | head -60
	failed=1
}

# Exports: all that the linker map names, each with a version, nothing else.
for l in $libraries; do
	nm -D --defined-only "$build/$l" | awk '$2 != "A" { print $3 }' | sort >"$work/have"
	! grep -v '@@' "$work/have" >"$work/out"
	ok $? "$(basename "$l"): every exported name has a version"
	map=$(find "$src/src" -name '*.map' | xargs grep -l "^$(sed -n '1s/.*@@//p' "$work/have") {")
	# a name has the version of the block that it is in
	awk '/^[A-Z].* {$/ { version = $1 }
	     /^\t[A-Za-z_0-9]+;$/ { sub(/;/, "", $1); print $1 "@@" version }' "$map" |
		sort >"$work/want"
	diff "$work/want" "$work/have" >"$work/out"
	ok $? "$(basename "$l"): exports what its linker map names"
done

why=
[ "$compiler" = gcc ] || why="the dumps are of gcc's debug information"
[ "$(uname -m)" = x86_64 ] || why="the dumps are of x86-64"
command -v abidiff >/dev/null || why="no abidiff (abigail-tools)"
readelf -SW "$build/src/libtacho-stream.so" | grep -q debug_info || why="no debug information"
if [ -n "$why" ]; then
	n=$((n + 1))
	echo "ok $n # SKIP $why"
	echo "1..$n"
	exit $failed
fi

for l in $libraries; do
	name=$(basename "$l" .so)
	dump "$build/$l" --exported-interfaces-only >"$work/$name.abi" 2>"$work/out" &&
		compare "$here/$name.abi" "$work/$name.abi" >"$work/out" 2>&1
	ok $? "$name: nothing has changed since tools/abi-update.sh"
done
types_library >"$work/out" 2>&1 && dump "$work/types.so" --load-all-types >"$work/types.abi" &&
	compare_types "$here/types.abi" "$work/types.abi" >"$work/out" 2>&1
ok $? "types and constants: nothing has changed"

# A change is noticed.
changed() {	# name, sed expression, compare..., text that must be in the report
	sed "$2" "$here/$1.abi" >"$work/changed.abi"
	! cmp -s "$here/$1.abi" "$work/changed.abi" &&
		! $3 "$work/changed.abi" "$work/$1.abi" >"$work/out" 2>&1 && grep -q "$4" "$work/out"
	ok $? "noticed: $1, $4"
}
changed libtacho-stream "/name='tacho_record'/s/size-in-bits='512'/size-in-bits='448'/" \
	compare 'type size changed from 448 to 512'
changed libtacho-stream "s/tacho_stream_seek/tacho_stream_sought/" compare "Added function"
changed types "/name='TACHO_STREAM_STRICT'/s/value='2'/value='4'/" \
	compare_types "TACHO_STREAM_STRICT.* from value '4' to '2'"
echo "1..$n"
exit $failed
