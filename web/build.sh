#!/bin/sh
# build.sh SOURCE OUT: installs the pinned libraries, checks the types, bundles the page into OUT.
set -eu
source=$1
mkdir -p "$2"
out=$(cd "$2" && pwd)
work=$out/page.work
mkdir -p "$work"
cp "$source/package.json" "$source/package-lock.json" "$source/tsconfig.json" "$source/build.mjs" "$work/"
rm -rf "$work/src" "$work/test"
cp -r "$source/src" "$source/test" "$work/"
cd "$work"
if ! cmp -s package-lock.json node_modules/.locked; then
	npm ci --ignore-scripts --no-audit --no-fund --silent >npm.log 2>&1 || {
		cat npm.log >&2
		echo "npm cannot install the libraries of the page; build without it: -Dview=disabled" >&2
		exit 1
	}
	cp package-lock.json node_modules/.locked
fi
node_modules/.bin/tsc --noEmit
node build.mjs "$out"
