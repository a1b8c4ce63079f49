#!/bin/sh
# SPDX-License-Identifier: MIT
# Compiles and runs the code of docs/tracepoints.md.  TAP.
#
#	docs.sh PAGE INCLUDE-FOLDER FOLDER-OF-LIBTACHO
set -u
page=$1
include=$2
lib=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

# A block of C whose first line is a file's name in a comment is that file.
awk -v dir="$dir" '
	/^```c$/ { first = 1; next }
	/^```$/ { if (file) close(file); file = ""; next }
	first { first = 0; file = dir "/" $2 }
	file { print > file }' "$page"

cd "$dir" || exit 1
for source in *.c; do
	for cc in 'gcc -std=c11' 'clang -std=c11' 'g++ -x c++ -std=c++17'; do
		command -v "${cc%% *}" > /dev/null || continue
		n=$((n + 1))
		# shellcheck disable=SC2086
		if $cc -O2 -Wall -Wextra -Wpedantic -Werror -I. -I"$include" \
			"$source" -x none -o program "$lib/libtacho.so.0" \
			-Wl,-rpath,"$lib" > out 2>&1 &&
		   MOCK_PRINT=1 ./program > out 2>&1 &&
		   grep -q '^[a-z]*:' out; then
			echo "ok $n - $cc $source"
		else
			echo "not ok $n - $cc $source"
			sed 's/^/# /' out
			failed=1
		fi
	done
done
[ "$n" -gt 0 ] || { echo "not ok 1 - no code on $page"; n=1; failed=1; }
echo "1..$n"
exit $failed
