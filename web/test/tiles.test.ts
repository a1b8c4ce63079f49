// SPDX-License-Identifier: MIT
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TileCache, bucketWidth, levelFor, placesOf } from '../src/data/tiles.ts';
import { Kind, WireError, decode } from '../src/data/wire.ts';

/** One tile of a state track with two runs, and one name, as docs/view-api.md lays them out. */
function sample(): ArrayBuffer {
  const bytes: number[] = [];
  const u8 = (...v: number[]) => bytes.push(...v);
  const u16 = (...v: number[]) => v.forEach((n) => u8(n & 255, n >> 8));
  const u32 = (...v: number[]) =>
    v.forEach((n) => u8(n & 255, (n >>> 8) & 255, (n >>> 16) & 255, n >>> 24));
  const pad = () => {
    while (bytes.length % 4) u8(0);
  };

  u32(7);
  u16(0);
  u8(Kind.State, 1);
  u32(2, 0);
  u16(3, 100);
  u16(1, 400);
  u32(5, 1, 900, 0xffffffff, 1, 1);
  for (const column of [
    [255, 255],
    [255, 255],
    [0, 12],
    [0, 0],
  ]) {
    u8(...column);
    pad();
  }
  u32(2, 1, 3);
  u8(128, 255);
  pad();
  u8(127, 0);
  pad();
  const tile = bytes.splice(0);

  tile.splice(12, 4, tile.length, 0, 0, 0);
  u32(0x31306c74, 1, tile.length, 16);
  u8(...tile);
  u32(1, 1, 5);
  u8(...new TextEncoder().encode('fsync'));
  pad();
  return new Uint8Array(bytes).buffer;
}

test('tiles are read as they are laid out', () => {
  const { tiles, names } = decode(sample());
  const t = tiles[0]!;

  assert.equal(tiles.length, 1);
  assert.deepEqual([t.track, t.depth, t.kind, t.closed, t.n], [7, 0, Kind.State, true, 2]);
  assert.deepEqual([...t.first, ...t.buckets], [3, 100, 1, 400]);
  assert.deepEqual([...t.items, ...t.longest], [5, 1, 900, 0xffffffff]);
  assert.deepEqual([...t.lost], [0, 12]);
  assert.deepEqual(
    t.states.map((s) => [s.code, ...s.share]),
    [
      [1, 128, 255],
      [3, 127, 0],
    ],
  );
  assert.equal(names.get(1), 'fsync');
});

test('bytes that are cut off anywhere are refused', () => {
  const whole = sample();

  for (let n = 0; n < whole.byteLength; n++)
    assert.throws(
      () => decode(whole.slice(0, n)),
      (e) => e instanceof WireError,
      `${n} bytes`,
    );
});

test('a level has two to four buckets a pixel', () => {
  for (let ns = 3; ns < 1e12; ns *= 1.7) {
    const buckets = ns / bucketWidth(levelFor(ns));

    assert.ok(buckets >= 2 && buckets < 4, `${ns}: ${buckets}`);
  }
  assert.equal(bucketWidth(levelFor(0.01)), 1);
  assert.deepEqual(placesOf(10, 1000, 2049), [
    { k: 10, i: 0 },
    { k: 10, i: 1 },
    { k: 10, i: 2 },
  ]);
});

test('a tile that is missing is drawn from the one above it', () => {
  const cache = new TileCache();
  const tile = decode(sample()).tiles[0]!;

  cache.put('7.0', { k: 12, i: 3 }, tile, 1);
  assert.deepEqual(cache.best('7.0', { k: 10, i: 13 })?.place, { k: 12, i: 3 });
  assert.equal(cache.best('7.0', { k: 10, i: 16 }), undefined);
  assert.equal(cache.wants('7.0', { k: 12, i: 3 }, 2), false);
  cache.put('7.0', { k: 12, i: 4 }, { ...tile, closed: false }, 1);
  assert.equal(cache.wants('7.0', { k: 12, i: 4 }, 1), false);
  assert.equal(cache.wants('7.0', { k: 12, i: 4 }, 2), true);
});

test('the least recently used tiles go first', () => {
  const tile = decode(sample()).tiles[0]!;
  const cache = new TileCache(1000);

  for (let i = 0; i < 10; i++) {
    cache.put('1.0', { k: 9, i }, tile, 1);
    cache.get('1.0', { k: 9, i: 0 });
  }
  assert.ok(cache.size <= 1000);
  assert.ok(cache.get('1.0', { k: 9, i: 0 }));
  assert.ok(cache.get('1.0', { k: 9, i: 9 }));
  assert.equal(cache.get('1.0', { k: 9, i: 5 }), undefined);
});
