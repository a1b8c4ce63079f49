// SPDX-License-Identifier: MIT
/**
 * From tiles to columns of device pixels, without choosing: a column has the share of each state
 * that its time has. Sums are kept: what a tile says of a range, its columns say, at every zoom.
 */
import type { Ns } from '../time/format.ts';
import { type Row, type TileCache, bucketWidth, levelFor, placesOf } from '../data/tiles.ts';
import type { Tile } from '../data/wire.ts';

/** What is drawn of a state, in the order of a stack, from the base line up. */
export enum Ink {
  Irq,
  Running,
  Runnable,
  Blocked,
  Sleeping,
  Unknown,
}
export const inks = 6;

/** Codes of the model's states; from 10 on they are QNX's, which all wait for something. */
export function inkOf(code: number): Ink {
  switch (code) {
    case 1:
      return Ink.Running;
    case 2:
      return Ink.Runnable;
    case 3: // sleeping
    case 7: // parked
    case 8: // idle
      return Ink.Sleeping;
    case 0: // unknown
    case 9: // dead
      return Ink.Unknown;
    default:
      return Ink.Blocked;
  }
}

export interface View {
  from: Ns;
  to: Ns;
  /** device pixels */
  pixels: number;
}

/** Columns of a row. A column's values are shares of its time, 0 to 1. */
export interface Columns {
  /** state rows: `inks` for each column; else empty */
  ink: Float32Array;
  /** covered by any item, and by the name below */
  covered: Float32Array;
  share: Float32Array;
  /** the name that covers most, 0: none */
  name: Uint32Array;
  /** items that begin in it */
  items: Float32Array;
  /** 1 + log2 of the lost records, at most; 0: none */
  lost: Uint8Array;
  uncertain: Float32Array;
  /** how much of the column is known: a tile is there */
  known: Float32Array;
  /** columns that were drawn from a tile above the one that is wanted */
  coarse: number;
}

export function columnsNew(pixels: number, isState: boolean): Columns {
  return {
    ink: new Float32Array(isState ? pixels * inks : 0),
    covered: new Float32Array(pixels),
    share: new Float32Array(pixels),
    name: new Uint32Array(pixels),
    items: new Float32Array(pixels),
    lost: new Uint8Array(pixels),
    uncertain: new Float32Array(pixels),
    known: new Float32Array(pixels),
    coarse: 0,
  };
}

/** One run of a tile over the pixels [x0, x1), which are in the view. */
function addRun(c: Columns, t: Tile, run: number, inkOfState: Uint8Array, x0: number, x1: number) {
  const span = x1 - x0;

  for (let x = Math.floor(x0); x < x1; x++) {
    const part = Math.min(x1, x + 1) - Math.max(x0, x);
    const share = (t.share[run]! / 255) * part;

    c.covered[x]! += (t.covered[run]! / 255) * part;
    c.uncertain[x]! += (t.uncertain[run]! / 255) * part;
    c.items[x]! += (t.items[run]! * part) / span;
    if (t.name[run] === c.name[x]) {
      c.share[x]! += share;
    } else if (share > c.share[x]!) {
      c.share[x] = share;
      c.name[x] = t.name[run]!;
    }
    if (t.lost[run]! > c.lost[x]!) c.lost[x] = t.lost[run]!;
    for (let s = 0; s < t.states.length; s++)
      c.ink[x * inks + inkOfState[s]!]! += (t.states[s]!.share[run]! / 255) * part;
  }
}

/** Marks [x0, x1) as known. */
function addKnown(c: Columns, x0: number, x1: number) {
  for (let x = Math.floor(x0); x < x1; x++) c.known[x]! += Math.min(x1, x + 1) - Math.max(x0, x);
}

/** A tile that begins at `begin`, as far as it lies in [from, to). */
function addTile(c: Columns, v: View, t: Tile, begin: Ns, width: Ns, from: Ns, to: Ns) {
  const scale = v.pixels / (v.to - v.from);
  const inkOfState = Uint8Array.from(t.states, (s) => inkOf(s.code));
  const x = (time: Ns) => Math.min(v.pixels, Math.max(0, (time - v.from) * scale));

  addKnown(c, x(from), x(to));
  for (let run = 0; run < t.n; run++) {
    const b = begin + t.first[run]! * width;
    const x0 = x(Math.max(b, from));
    const x1 = x(Math.min(b + t.buckets[run]! * width, to));

    if (x1 > x0) addRun(c, t, run, inkOfState, x0, x1);
  }
}

/** The columns of a row, from the tiles that are at hand. */
export function columnsOf(cache: TileCache, row: Row, v: View, isState: boolean): Columns {
  const c = columnsNew(v.pixels, isState);
  const k = levelFor((v.to - v.from) / v.pixels);

  for (const place of placesOf(k, v.from, v.to)) {
    const best = cache.best(row, place);

    if (!best) continue;
    const width = 2 ** k;
    const from = Math.max(v.from, place.i * width);
    const to = Math.min(v.to, (place.i + 1) * width);

    if (best.place.k !== k) c.coarse++;
    addTile(c, v, best.tile, best.place.i * 2 ** best.place.k, bucketWidth(best.place.k), from, to);
  }
  return c;
}
