#!/bin/sh
# SPDX-License-Identifier: MIT
# page.sh WORK: the unit tests of the page, by node's own runner, in the folder where it was bundled.
set -u
cd "$1" || exit 1
rm -rf tested
node_modules/.bin/esbuild test/*.test.ts --bundle --platform=node --format=esm --outdir=tested \
	--log-level=error || exit 1
node_modules/.bin/prettier --check src test >tested/style 2>&1
style=$?
node --test --test-reporter=tap tested/ >tested/out 2>&1
status=$?
[ $status = 0 ] && echo "ok 1 - $(grep -c '^ok' tested/out) tests" || {
	sed 's/^/# /' tested/out
	echo "not ok 1 - tests of the page"
}
[ $style = 0 ] && echo "ok 2 - it is formatted" || {
	sed 's/^/# /' tested/style
	echo "not ok 2 - prettier finds other lines"
}
echo 1..2
