# SPDX-License-Identifier: MIT
# What the tests of the tool share.  $TACHO is the tool, $MAKE_TRACE and
# $SOURCE (this directory) come from meson.  TAP on stdout.
set -u
LC_ALL=C.UTF-8 TZ=UTC
export LC_ALL TZ
unset NO_COLOR PAGER LESS TACHO_DIR
# a sanitizer's finding must not look like an ordinary failure
ASAN_OPTIONS=${ASAN_OPTIONS:-}:exitcode=99
UBSAN_OPTIONS=${UBSAN_OPTIONS:-}:halt_on_error=1:exitcode=99
export ASAN_OPTIONS UBSAN_OPTIONS
nr=0 failed=0

tmp=$(mktemp -d "${TMPDIR:-/tmp}/tacho-cli-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
cd "$tmp" || exit 1

# ok TEXT COMMAND...: the command succeeds
ok()
{
	what=$1
	shift
	nr=$((nr + 1))
	if "$@" >"$tmp/.out" 2>&1; then
		echo "ok $nr - $what"
	else
		failed=$((failed + 1))
		echo "not ok $nr - $what"
		sed 's/^/# /' "$tmp/.out"
	fi
}

# same TEXT FILE COMMAND...: it succeeds, and stdout is the file's contents, of
# which there must be some
same()
{
	what=$1 file=$2
	shift 2
	"$@" >"$tmp/.got" 2>"$tmp/.err"
	status=$?
	ok "$what" equal
}

equal()
{
	[ $status = 0 ] || { echo "exit status $status"; cat "$tmp/.err"; return 1; }
	[ -s "$file" ] || { echo "nothing to compare with"; return 1; }
	diff -u "$file" "$tmp/.got" >"$tmp/.diff" && return 0
	head -40 "$tmp/.diff"
	return 1
}

# says TEXT STATUS PATTERN COMMAND...: exit status, and a line of the output
# (stdout or stderr) matches the extended regular expression
says()
{
	what=$1 want=$2 pattern=$3
	shift 3
	"$@" >"$tmp/.got" 2>&1
	status=$?
	ok "$what" said
}

said()
{
	if [ "$status" != "$want" ]; then
		echo "exit status $status, not $want"
		cat "$tmp/.got"
		return 1
	fi
	grep -Eq -e "$pattern" "$tmp/.got" && return 0
	echo "no line matches: $pattern"
	cat "$tmp/.got"
	return 1
}

# lines N COMMAND...: it succeeds, and stdout has N lines
lines()
{
	n=$1
	shift
	"$@" >"$tmp/.got" 2>"$tmp/.err" || { cat "$tmp/.err"; return 1; }
	got=$(wc -l <"$tmp/.got")
	[ "$got" = "$n" ] || { echo "$got lines, not $n"; return 1; }
}

have()
{
	command -v "$1" >/dev/null 2>&1
}

skip()
{
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

finish()
{
	echo "1..$nr"
	[ $failed = 0 ]
	exit
}
