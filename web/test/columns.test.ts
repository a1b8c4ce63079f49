// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TileCache, bucketWidth, levelFor } from '../src/data/tiles.ts';
import { Kind, type Tile } from '../src/data/wire.ts';
import { Ink, columnsOf, inks } from '../src/draw/columns.ts';

/** A random life of a thread: states that follow each other. */
function life(end: number): { begin: number; end: number; code: number }[] {
  const list = [];
  let seed = 42;
  const random = () => (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;

  for (let t = 0; t < end;) {
    const next = Math.min(end, t + Math.floor(1 + 10 ** (random() * 5)));

    list.push({ begin: t, end: next, code: 1 + Math.floor(random() * 4) });
    t = next;
  }
  return list;
}

/** The tile of a place, as the server would make it. */
function tileOf(list: ReturnType<typeof life>, k: number, i: number): Tile {
  const n = Math.min(512, 2 ** k);
  const width = bucketWidth(k);
  const codes = [1, 2, 3, 4];
  const states = codes.map((code) => ({ code, share: new Uint8Array(n) }));
  const first = Uint16Array.from({ length: n }, (_, b) => b);
  const zero8 = () => new Uint8Array(n);
  const zero32 = () => new Uint32Array(n);
  const covered = zero8();

  for (let b = 0; b < n; b++) {
    const from = i * 2 ** k + b * width;
    let all = 0;

    for (const s of states) {
      const ns = list
        .filter((x) => x.code === s.code)
        .reduce(
          (sum, x) => sum + Math.max(0, Math.min(x.end, from + width) - Math.max(x.begin, from)),
          0,
        );

      s.share[b] = Math.round((255 * ns) / width);
      all += ns;
    }
    covered[b] = Math.round((255 * all) / width);
  }
  return {
    track: 1,
    depth: 0,
    kind: Kind.State,
    closed: true,
    n,
    first,
    buckets: new Uint16Array(n).fill(1),
    items: zero32(),
    longest: zero32(),
    name: zero32(),
    share: zero8(),
    covered,
    lost: zero8(),
    uncertain: zero8(),
    states,
    min: new Float64Array(),
    max: new Float64Array(),
    last: new Float64Array(),
  };
}

const end = 1 << 20;
const list = life(end);

/** Time of each ink in [from, to), by the list itself. */
function truth(from: number, to: number): number[] {
  const sum = new Array<number>(inks).fill(0);
  const ink = [Ink.Unknown, Ink.Running, Ink.Runnable, Ink.Sleeping, Ink.Blocked];

  for (const x of list)
    sum[ink[x.code]!]! += Math.max(0, Math.min(x.end, to) - Math.max(x.begin, from));
  return sum;
}

test('columns keep the sum of each state at every zoom', () => {
  for (const [from, to] of [
    [0, end],
    [1000, 300_000],
    [777_777, 800_001],
    [500_000, 500_900],
  ] as const) {
    const v = { from, to, pixels: 700 };
    const k = levelFor((to - from) / v.pixels);
    const cache = new TileCache();

    for (let i = Math.floor(from / 2 ** k); i * 2 ** k < to; i++)
      cache.put('1.0', { k, i }, tileOf(list, k, i), 1);
    const c = columnsOf(cache, '1.0', v, true);
    const want = truth(from, to);

    for (let ink = 0; ink < inks; ink++) {
      let got = 0;

      for (let x = 0; x < v.pixels; x++) got += c.ink[x * inks + ink]!;
      const ns = (got * (to - from)) / v.pixels;

      // a bucket at each end is cut, shares are 255ths
      assert.ok(
        Math.abs(ns - want[ink]!) <= 2 * bucketWidth(k) + (to - from) / 500,
        `${from}..${to} ink ${ink}: ${ns} for ${want[ink]}`,
      );
    }
    assert.ok(c.known.every((known) => Math.abs(known - 1) < 1e-3));
    assert.ok(c.covered.every((covered) => Math.abs(covered - 1) < 0.02));
  }
});

test('a short state does not vanish, and a missing tile is not idle', () => {
  const short = [
    { begin: 0, end: 500_000, code: 3 },
    { begin: 500_000, end: 500_200, code: 4 },
    { begin: 500_200, end, code: 3 },
  ];
  const v = { from: 0, to: end, pixels: 100 };
  const k = levelFor(end / 100);
  const cache = new TileCache();

  for (let i = 0; i * 2 ** k < end; i++) cache.put('1.0', { k, i }, tileOf(short, k, i), 1);
  const c = columnsOf(cache, '1.0', v, true);
  let blocked = 0;

  for (let x = 0; x < 100; x++) if (c.ink[x * inks + Ink.Blocked]! > 0) blocked++;
  assert.ok(blocked === 1 || blocked === 2); // a bucket may lie in two columns
  assert.equal(columnsOf(new TileCache(), '1.0', v, true).known[50], 0);
});

test('the tile above is drawn stretched until the right one is there', () => {
  const cache = new TileCache();
  const k = levelFor(end / 700);

  cache.put('1.0', { k: 20, i: 0 }, tileOf(list, 20, 0), 1);
  const c = columnsOf(cache, '1.0', { from: 0, to: end, pixels: 700 }, true);

  assert.ok(k < 20 && c.coarse > 0);
  assert.ok(c.known.every((known) => Math.abs(known - 1) < 1e-3));
});
