#!/bin/sh
# SPDX-License-Identifier: MIT
# abi-update.sh [BUILD] - renew the ABI dumps in tests/abi after a change that is meant.
# BUILD (default: build) is built by gcc with debug information.  Then look at `git diff tests/abi`:
#
#	a function, a flag or a member at the end was added: raise the header's *_VERSION_MINOR, and
#	put the function into a new symbol version;
#	anything else is another ABI: raise *_VERSION_MAJOR and the soversion.
src=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "${1:-$src/build}" && pwd) || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
. "$src/tests/abi/libraries.sh"
command -v abidw >/dev/null || { echo "missing: abidw (abigail-tools)" >&2; exit 1; }
abi=$src/tests/abi
# One that says the same stays: the order in a dump is that of the linker.
keep() {	# name, compare
	[ -s "$work/$1.abi" ] || exit 1
	[ -f "$abi/$1.abi" ] && $2 "$abi/$1.abi" "$work/$1.abi" >/dev/null 2>&1 ||
		cp "$work/$1.abi" "$abi/$1.abi"
}
for l in $libraries; do
	name=$(basename "$l" .so)
	dump "$build/$l" --exported-interfaces-only >"$work/$name.abi"
	keep "$name" compare
done
types_library && dump "$work/types.so" --load-all-types >"$work/types.abi"
keep types compare_types
for f in "$abi"/*.abi; do
	[ -f "$work/${f##*/}" ] || rm "$f"
done
