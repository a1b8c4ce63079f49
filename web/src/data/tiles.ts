// SPDX-License-Identifier: MIT
/**
 * Which tiles a window needs, and those that are at hand.
 *
 * A picture never waits: for a tile that is not there, draw() gets the nearest ancestor that is,
 * stretched. What is asked for is what is on screen, then one tile to each side and the level
 * above; what has left the screen is no longer asked for.
 */
import type { Ns } from '../time/format.ts';
import { bucketsPerTile, type Tile } from './wire.ts';

export const maxLevel = 62;
const log2Buckets = Math.log2(bucketsPerTile);

export interface Place {
  k: number;
  i: number;
}

/** The level whose buckets are the largest that are not wider than half a pixel. */
export function levelFor(nsPerPixel: number): number {
  const k = Math.floor(Math.log2(Math.max(nsPerPixel, Number.MIN_VALUE) / 2)) + log2Buckets;

  return Math.min(maxLevel, Math.max(0, k));
}

/** The width of a bucket, in ns: at least one. */
export function bucketWidth(k: number): Ns {
  return 2 ** Math.max(0, k - log2Buckets);
}

/** The tiles of a level that touch [from, to). */
export function placesOf(k: number, from: Ns, to: Ns): Place[] {
  const width = 2 ** k;
  const first = Math.max(0, Math.floor(from / width));
  const places: Place[] = [];

  for (let i = first; i * width < to; i++) places.push({ k, i });
  return places;
}

/** A row of a track: "7.0" in requests and as a key. */
export type Row = string;

export function rowOf(track: number, depth: number): Row {
  return `${track}.${depth}`;
}

interface Held {
  tile: Tile;
  bytes: number;
  generation: number;
}

/** About what a tile takes. */
function bytesOf(t: Tile): number {
  return 200 + t.n * (24 + t.states.length + (t.min.length ? 24 : 0));
}

/**
 * Tiles by row and place, the least recently used of which are dropped. Tiles of a row that has
 * none there are kept as empty ones, so that they are not asked for again.
 */
export class TileCache {
  private readonly held = new Map<string, Held>();
  private bytes = 0;

  constructor(private readonly limit = 64 << 20) {}

  private static key(row: Row, p: Place): string {
    return `${row}/${p.k}/${p.i}`;
  }

  put(row: Row, p: Place, tile: Tile, generation: number): void {
    const key = TileCache.key(row, p);
    const bytes = bytesOf(tile);

    this.drop(key);
    this.held.set(key, { tile, bytes, generation });
    this.bytes += bytes;
    for (const oldest of this.held.keys()) {
      if (this.bytes <= this.limit || oldest === key) break;
      this.drop(oldest);
    }
  }

  private drop(key: string): void {
    const h = this.held.get(key);

    if (!h) return;
    this.bytes -= h.bytes;
    this.held.delete(key);
  }

  /** The tile itself; marks it as used. */
  get(row: Row, p: Place): Tile | undefined {
    const key = TileCache.key(row, p);
    const h = this.held.get(key);

    if (!h) return undefined;
    this.held.delete(key);
    this.held.set(key, h);
    return h.tile;
  }

  /** Whether it must be asked for: it is not there, or it was not closed and there is more now. */
  wants(row: Row, p: Place, generation: number): boolean {
    const h = this.held.get(TileCache.key(row, p));

    return !h || (!h.tile.closed && h.generation !== generation);
  }

  /** The tile, or the nearest one above it. */
  best(row: Row, p: Place): { tile: Tile; place: Place } | undefined {
    for (let k = p.k, i = p.i; k <= maxLevel; k++, i = Math.floor(i / 2)) {
      const tile = this.get(row, { k, i });

      if (tile) return { tile, place: { k, i } };
    }
    return undefined;
  }

  get size(): number {
    return this.bytes;
  }

  clear(): void {
    this.held.clear();
    this.bytes = 0;
  }
}
