// SPDX-License-Identifier: MIT
// Bundles the page, and packs its files as they are served.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';

const out = process.argv[2];
const limit = 250_000;
const result = await build({
  entryPoints: ['src/main.tsx', 'src/main.css'],
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'inline',
  outdir: out,
  write: false,
});
const files = new Map([
  ['index.html', readFileSync('src/index.html')],
  ['icon.svg', readFileSync('src/icon.svg')],
]);

for (const f of result.outputFiles) files.set(f.path.split('/').at(-1), f.contents);
let sum = 0;
for (const [name, bytes] of files) {
  const packed = gzipSync(bytes, { level: 9 });

  sum += packed.length;
  writeFileSync(join(out, `${name}.gz`), packed);
}
if (sum > limit) {
  console.error(`the page has ${sum} bytes, ${limit} are allowed`);
  process.exit(1);
}
