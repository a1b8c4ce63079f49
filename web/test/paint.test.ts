// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ink, columnsNew, inks } from '../src/draw/columns.ts';
import { fit, paintLosses, paintSlices, paintStates } from '../src/draw/paint.ts';
import { hueOf } from '../src/draw/theme.ts';

test('one state has its form, several are a stack of shares', () => {
  const c = columnsNew(4, true);

  c.ink[0 * inks + Ink.Running] = 1;
  c.ink[1 * inks + Ink.Sleeping] = 1;
  c.ink[2 * inks + Ink.Running] = 0.5;
  c.ink[2 * inks + Ink.Sleeping] = 0.5;
  c.ink[3 * inks + Ink.Sleeping] = 0.995;
  c.ink[3 * inks + Ink.Blocked] = 0.005;
  const r = paintStates(c, 4, 10);

  assert.deepEqual(r[Ink.Running], [
    { x: 0, y: 0, w: 1, h: 10 },
    { x: 2, y: 5, w: 1, h: 5 },
  ]);
  assert.deepEqual(r[Ink.Sleeping]![0], { x: 1, y: 8, w: 1, h: 2 });
  // what is rare is seen
  assert.deepEqual(r[Ink.Blocked], [{ x: 3, y: 9, w: 1, h: 1 }]);
});

test('equal columns are one rectangle, and none is higher than its row', () => {
  const c = columnsNew(100, true);

  for (let x = 0; x < 100; x++) {
    c.ink[x * inks + Ink.Running] = 0.4;
    c.ink[x * inks + Ink.Blocked] = 0.3;
    c.ink[x * inks + Ink.Irq] = 0.3;
  }
  const r = paintStates(c, 100, 10);

  assert.equal(r.flat().length, 3);
  assert.equal(
    r.flat().reduce((sum, x) => sum + x.h, 0),
    10,
  );
  assert.ok(r.flat().every((x) => x.y >= 0 && x.w === 100));
});

test('slices of one name run together until another begins', () => {
  const c = columnsNew(10, false);

  for (const x of [1, 2, 3, 4, 5]) {
    c.covered[x] = 1;
    c.share[x] = 1;
    c.name[x] = 7;
  }
  c.items[1] = 1;
  c.items[4] = 1;
  c.covered[8] = 0.2;
  c.share[8] = 0.1;
  c.name[8] = 9;
  c.items[8] = 30;
  assert.deepEqual(
    paintSlices(c, 10).map((r) => [r.x, r.w, r.name, Math.round(r.items)]),
    [
      [1, 3, 7, 1],
      [4, 2, 7, 1],
      [8, 1, 9, 30],
    ],
  );
});

test('losses are stretches', () => {
  const c = columnsNew(10, false);

  c.lost.set([0, 3, 5, 0, 0, 1]);
  assert.deepEqual(paintLosses(c, 10), [
    [1, 2, 5],
    [5, 1, 1],
  ]);
});

test('a text is shortened in its middle', () => {
  const width = (s: string) => s.length * 6;

  assert.equal(fit('fsync', 60, width), 'fsync');
  assert.equal(fit('do_syscall_64', 48, width), 'do_s…_64');
  assert.equal(fit('abc', 6, width), '');
});

test('a hue does not depend on digits', () => {
  assert.equal(hueOf('kworker/3:1', 12), hueOf('kworker/0:22', 12));
  const hues = new Set(
    ['read', 'write', 'openat', 'futex', 'mmap', 'poll'].map((n) => hueOf(n, 12)),
  );

  assert.ok(hues.size >= 4);
});
