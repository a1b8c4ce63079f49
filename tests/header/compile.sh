#!/bin/sh
# SPDX-License-Identifier: MIT
# What compilers, linkers and probe readers say to the headers.  TAP.
#
#	compile.sh INCLUDE-FOLDER MOCK-LIBTACHO.SO.0
set -u
# The test runner points it at the mock.
unset LD_LIBRARY_PATH
here=$(cd "$(dirname "$0")" && pwd)
include=$1
mock=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0
failed=0

result() {	# 0 or 1, text; $dir/out on failure
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "$dir/out" | head -15
		failed=1
	fi
}

flags="-I$include -I$here/snippet -Wall -Wextra -Wpedantic -Werror"
cp "$here/snippet/all.c" "$dir/all.c"
cp "$here/snippet/all.c" "$dir/all.cc"

compile() {	# compiler, source language, further flags
	# shellcheck disable=SC2086
	case $2 in
	c) $1 -std=c11 $flags $3 -c "$dir/all.c" -o "$dir/all.o" ;;
	*) $1 -std=c++17 $flags $3 -c "$dir/all.cc" -o "$dir/all.o" ;;
	esac > "$dir/out" 2>&1
}

# Symbols of libtacho that a file needs, or has a section for.
trace_symbols() {
	nm "$1" | grep -E ' [A-Za-z] _*(tacho|__st[a-z]*_tacho)' |
		grep -vE 'tacho_(printk|marker)_check' > "$dir/out"
}

left_in_object() {	# who compiled it, 0 if it did, modes
	case $3 in
	-DTACHO_DISABLE-DDEFINE)
		[ "$2" = 0 ] && ! trace_symbols "$dir/all.o" &&
			! readelf -SW "$dir/all.o" | grep stapsdt > "$dir/out"
		result $? "$1 -DTACHO_DISABLE leaves nothing" ;;
	-DTACHO_OPTIONAL-DDEFINE)
		[ "$2" = 0 ] && ! nm -u "$dir/all.o" | grep tacho_object > "$dir/out"
		result $? "$1 -DTACHO_OPTIONAL needs no libtacho" ;;
	esac
}

try() {		# compiler, language
	for opt in -O0 -O2 -Os; do
		for mode in '' -DTACHO_OPTIONAL -DTACHO_NO_SDT \
			    -DTACHO_DISABLE; do
			for define in '' -DDEFINE; do
				compile "$1" "$2" "$opt $mode $define"
				compiled=$?
				result $compiled "$1 $opt $mode $define"
				left_in_object "$1 $opt" $compiled "$mode$define"
			done
		done
		compile "$1" "$2" "$opt -fPIC -ffunction-sections -DDEFINE"
		result $? "$1 $opt -fPIC -ffunction-sections"
	done
	for wrong in TYPE COUNT ARGUMENT LITERAL MARKER PRINTK FIELD; do
		for mode in '' -DTACHO_DISABLE; do
			case $wrong$mode in
			# without CREATE_TRACE_POINTS nobody reads these, nor
			# is a literal needed to throw a text away
			PRINTK-*|FIELD-*|LITERAL-*) continue ;;
			esac
			! compile "$1" "$2" "-O2 -DDEFINE $mode -DWRONG_$wrong"
			result $? "$1 $mode refuses a wrong $wrong"
		done
	done

	# evaluated: once by printk when it is on, never when it is not there
	compile "$1" "$2" "-O2 -DDEFINE -DMAIN -DTACHO_DISABLE" &&
		$1 "$dir/all.o" -o "$dir/all" > "$dir/out" 2>&1 &&
		"$dir/all" > "$dir/out" && grep -q '^calls 0$' "$dir/out"
	result $? "$1 disabled: no argument of printk is evaluated"

	compile "$1" "$2" "-O2 -DDEFINE -DMAIN -DTACHO_OPTIONAL" &&
		$1 "$dir/all.o" -o "$dir/all" -ldl > "$dir/out" 2>&1 &&
		"$dir/all" > "$dir/out" && grep -q '^calls 0$' "$dir/out" &&
		! readelf -d "$dir/all" | grep -q libtacho
	result $? "$1 optional: works without the library"
	mkdir -p "$dir/lib"
	cp "$mock" "$dir/lib/libtacho.so.0"
	MOCK_PRINT=1 LD_LIBRARY_PATH="$dir/lib" "$dir/all" > "$dir/out" &&
		grep -q '^calls 2$' "$dir/out" &&
		grep -q '^snippet:first 01 00 00 00' "$dir/out" &&
		grep -q '^printk:all_' "$dir/out" &&
		grep -q '^marker:end' "$dir/out"
	result $? "$1 optional: finds the library at start"
}

# A disabled site: three loads, or, branch; the arguments and the call
# are elsewhere.  Instructions of f up to its first return:
disassemble() {	# compiler
	compile "$1" c "-O2 -DDEFINE -DDISASSEMBLE" || return 1
	objdump -d --no-show-raw-insn "$dir/all.o" |
		awk '/<site>:$/ { on = 1; next }
		     on && /^$/ { exit }
		     on { print $2 }' > "$dir/code"
	cp "$dir/code" "$dir/out"
	tr '\n' ' ' < "$dir/code" |
		grep -qE "^(endbr64 )?mov (mov movzwl or|movzwl mov or|movzwl or) (jne|je) "
}

tried=0
for cc in gcc clang; do
	command -v $cc > /dev/null || continue
	tried=1
	try $cc c
	if [ "$(uname -m)" = x86_64 ]; then
		disassemble $cc
		result $? "$cc: a disabled site is three loads, or, branch"
	fi
done
for cc in g++ clang++; do
	command -v $cc > /dev/null || continue
	try $cc c++
done
if [ $tried = 0 ]; then
	echo "1..0 # SKIP no gcc, no clang"
	exit 77
fi

# The notes, as their readers see them.
cc=gcc
command -v gcc > /dev/null || cc=clang
compile $cc c "-O2 -DDEFINE -DMAIN -DTACHO_OPTIONAL" &&
	$cc "$dir/all.o" -o "$dir/all" -ldl > "$dir/out" 2>&1
readelf -n "$dir/all" > "$dir/out" 2>&1
grep -A3 'Provider: snippet' "$dir/out" > "$dir/note"
grep -q 'Name: first' "$dir/note" &&
	grep -qE 'Arguments: -4@[^ ]+ 8@[^ ]+ 8@[^ ]+$' "$dir/note" &&
	grep -qE 'Semaphore: 0x0*[1-9a-f]' "$dir/note"
result $? "readelf reads the note and its three arguments"
if command -v gdb > /dev/null; then
	gdb -nx -batch -ex 'info probes stap' "$dir/all" > "$dir/out" 2>&1
	grep -qE 'snippet +first' "$dir/out"
	result $? "gdb lists the probe"
	gdb -nx -batch -iex 'set debuginfod enabled off' \
		-ex 'break -probe-stap snippet:first' -ex run \
		-ex 'print $_probe_argc' -ex 'print $_probe_arg0' \
		-ex 'print (char *)$_probe_arg1' "$dir/all" \
		> "$dir/out" 2>&1
	if grep -qiE 'ptrace|not permitted' "$dir/out"; then
		n=$((n + 1))
		echo "ok $n # SKIP gdb may not run programs here"
	else
		grep -q '= 3$' "$dir/out" && grep -q '= 1$' "$dir/out" &&
			grep -q '"n"' "$dir/out"
		result $? "gdb stops at the probe and sees its arguments"
	fi
fi

echo "1..$n"
exit $failed
