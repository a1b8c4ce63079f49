#!/bin/sh
# SPDX-License-Identifier: MIT
# run.sh MODEL.pml - verifies a model, and that each of its mutations fails.
# TAP.  The mutations are those named in the model's head, "-DNAME".
set -u
model=$1
here=$(dirname "$model")
command -v spin >/dev/null || { echo "1..0 # SKIP spin is not installed"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cp "$model" "$work/m.pml"
cd "$work" || exit 1
n=0
failed=0
# the one that compiles faster, for what fails at once
quick=$(command -v clang) || quick=${CC:-cc}

# verify pass|fail FLAGS...: one run of the verifier
verify() {
	want=$1
	shift
	n=$((n + 1))
	# what fails does so soon: compiling for speed would take longer than it saves, as would
	# clearing a large table of states.  Most fail soonest when the last process, by its last
	# choice, goes first
	[ "$want" = pass ] && how="${CC:-cc} -O1" table=24 ||
		how="$quick -O0 -DREVERSE -DT_REVERSE" table=20
	if ! spin -a "$@" m.pml >log 2>&1 ||
	   ! $how -w -DSAFETY -DMEMLIM=3000 -o pan pan.c >>log 2>&1
	then
		got=broken
	else
		./pan -m200000 -w$table >log 2>&1
		# an incomplete search proves nothing
		if grep -q 'max search depth too small\|out of memory\|MEMLIM' log; then
			got=incomplete
		elif grep -q 'errors: 0$' log; then
			got=pass
		elif grep -q 'assertion violated' log; then
			got=fail
		else
			got=broken
		fi
	fi
	states=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' log)
	if [ "$got" = "$want" ]; then
		echo "ok $n - $(basename "$model") $*: $got, ${states:-no} states"
	else
		failed=1
		echo "not ok $n - $(basename "$model") $*: $got, expected $want"
		sed 's/^/# /' log | head -20
	fi
}

case $(basename "$model") in
ring.pml) modes="-DDISCARD -DOVERWRITE" ;;
fallback.pml) modes="-DTHREE -DTWICE" ;;
until.pml) modes="-DWRITE -DKILLED -DTOOL" ;;
move.pml) modes="-DWRITE -DKILLED" ;;
*) modes="-DALL_MODES" ;;
esac
for mode in $modes; do
	verify pass "$mode"
	for m in $(sed -n 's/^ \*	-D\([A-Z0-9_]*\)	.*/\1/p' m.pml); do
		# rules of the other mode change nothing here
		case $mode,$m in
		-DDISCARD,BAD_R3 | -DOVERWRITE,BAD_S2) continue ;;
		# nor do those that take more writers, switchers, deaths or tools
		-DWRITE,BAD_G2 | -DWRITE,BAD_FOLLOW | *E,BAD_LEAVE) continue ;;
		-DKILLED,BAD_MOVE | -DTOOL,BAD_MOVE | *L,BAD_LEAVE) continue ;;
		-DWRITE,BAD_ENDED | -DKILLED,BAD_ENDED) continue ;;
		-DWRITE,BAD_DEAD | -DKILLED,BAD_DEAD) continue ;;
		esac
		verify fail "$mode" "-D$m"
	done
done
echo "1..$n"
exit $failed
