#!/bin/sh
# SPDX-License-Identifier: MIT
# cpp.sh INCLUDE BUILD - the public headers in C++17 (and C11), each alone and all in one program,
# as applications compile them: no warning, and the program works.  TAP.
include=$1 build=$2
here=$(cd "$(dirname "$0")" && pwd)/cpp
unset LD_LIBRARY_PATH
work=$(mktemp -d) || exit 1
chmod 700 "$work"
trap 'rm -rf "$work"' EXIT
export TACHO_DIR=$work/run
n=0 failed=0
ok() {
	n=$((n + 1))
	if [ "$1" = 0 ]; then echo "ok $n - $2"; return; fi
	echo "not ok $n - $2"
	sed 's/^/# /' "$work/out" | head -20
	failed=1
}
strict="-Wall -Wextra -Wpedantic -Werror -I$include"
libs=
for l in runtime:tacho .:tacho-stream ctl:tacho-session compat/kernel_api:tacho-events; do
	dir=$build/src/${l%%:*}
	libs="$libs -L$dir -l${l##*:} -Wl,-rpath,$dir"
done

headers() {	# compiler, flags, suffix
	for h in tracepoint marker printk stream sink columns session events error ktypes; do
		printf '#include <tacho/%s.h>\n#include <tacho/%s.h>\nint main(void) { return 0; }\n' \
			$h $h >"$work/one.$3"
		# shellcheck disable=SC2086
		$1 $2 $strict -c "$work/one.$3" -o "$work/one.o" >"$work/out" 2>&1
		ok $? "$1 $2 <tacho/$h.h>"
	done
}

program() {	# compiler, flags
	# shellcheck disable=SC2086
	$1 $2 $strict -I"$here" "$here/app.cc" -o "$work/app" $libs >"$work/out" 2>&1
	ok $? "$1 $2: a program with all of them"
	rm -rf "$work/trace" "$work/trace.recorded"
	"$work/app" "$work/trace" >"$work/out" 2>&1
	[ $? = 0 ] && grep -q '^app:step number=0 text=c++$' "$work/out" &&
		! grep -q '^app:step number=1' "$work/out" && grep -q '^app:step number=2 text=c++$' "$work/out" &&
		grep -q '^synthetic:made value=42, text=text$' "$work/out" &&
		grep -q '^printk:.* 3 steps$' "$work/out" && grep -q '^marker:' "$work/out" &&
		grep -q '^lines - rows = 0$' "$work/out" &&
		grep -q '^attempted - written - discarded = 0$' "$work/out" &&
		[ "$(grep -c '^row number=[012] hitcount=1 $' "$work/out")" = 3 ] &&
		grep -q '^recorded 2$' "$work/out"
	ok $? "$1 $2: which records itself and reads that"
}

for cxx in g++ clang++; do
	command -v $cxx >/dev/null || continue
	headers $cxx "-std=c++17 -O2" cc
	for opt in -O0 -O2; do
		program $cxx "-std=c++17 $opt"
	done
done
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	headers $cc "-std=c11 -O2" c
done
[ $n != 0 ] || { echo "1..0 # SKIP no compiler"; exit 0; }
echo "1..$n"
exit $failed
