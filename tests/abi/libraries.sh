# SPDX-License-Identifier: MIT
# What the ABI dumps are made of; for abi.sh and tools/abi-update.sh.  $src, $build, $work are set.

# Shared libraries, below the build directory.
libraries="src/runtime/libtacho.so src/libtacho-stream.so src/ctl/libtacho-session.so"
[ ! -f "$build/src/sql/libtacho-sql.so" ] || libraries="$libraries src/sql/libtacho-sql.so"
for f in "$build"/src/*/*/lib*.so; do
	case $f in
	*/libtacho-bt2.so) ;;	# a module, for us alone
	*) libraries="$libraries ${f#"$build"/}" ;;
	esac
done

# The types and constants of headers that no function has in its signature.
types_library() {
	for h in stream sink columns session events sql; do echo "#include <tacho/$h.h>"; done >"$work/types.c"
	echo "void tacho_types(void); void tacho_types(void) {}" >>"$work/types.c"
	gcc -std=gnu11 -shared -fPIC -g -fno-eliminate-unused-debug-types -I"$src/include" \
		"$work/types.c" -o "$work/types.so"
}

# dump FILE [OPTION]: an abixml without private types and places in the source.
dump() {
	abidw --headers-dir "$src/include" --drop-private-types $2 \
		--no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed \
		--no-write-default-sizes --type-id-style hash "$1"
}

# compare DUMP NEW-DUMP [OPTION ...]: whether nothing has changed; says what has.
compare() {
	first=$1 second=$2
	shift 2
	abidiff "$@" "$first" "$second"
}

compare_types() {
	compare "$1" "$2" --non-reachable-types --suppr "$src/tests/abi/ours.suppr"
}
