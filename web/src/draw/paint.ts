// SPDX-License-Identifier: MIT
/**
 * Columns into rectangles: what is drawn of a row, in device pixels, without a canvas, so that it
 * can be tested. Equal neighbours are one rectangle.
 */
import { type Columns, Ink, inks } from './columns.ts';
import { heightOf } from './theme.ts';

export interface Rect {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** Rectangles by ink. */
export type InkRects = Rect[][];

const eps = 1e-3;

/** The heights of a column's inks, from the base line up; whole pixels. */
function stack(c: Columns, x: number, height: number, out: Int32Array): void {
  let only = -1;
  let present = 0;

  for (let ink = 0; ink < inks; ink++) {
    out[ink] = 0;
    if (c.ink[x * inks + ink]! > eps) {
      present++;
      only = ink;
    }
  }
  // one state alone has the height of its form
  if (present === 1) {
    out[only] = Math.round(height * heightOf(only as Ink));
    if (only === Ink.Sleeping) out[only] = Math.max(2, out[only]!);
    return;
  }
  let left = height;

  for (let ink = 0; ink < inks && present > 1; ink++) {
    const share = c.ink[x * inks + ink]!;

    if (share <= eps || ink === Ink.Unknown) continue;
    // what is rare must be seen
    const least = ink === Ink.Irq || ink === Ink.Blocked ? 1 : 0;

    out[ink] = Math.min(left, Math.max(least, Math.round(share * height)));
    left -= out[ink]!;
  }
}

/** The states of a row of this height. */
export function paintStates(c: Columns, pixels: number, height: number): InkRects {
  const rects: InkRects = Array.from({ length: inks }, () => []);
  const now = new Int32Array(inks);
  const last = new Int32Array(inks);
  let begin = 0;

  const flush = (end: number) => {
    let y = height;

    for (let ink = 0; ink < inks && end > begin; ink++) {
      const h = last[ink]!;

      y -= h;
      if (h > 0) rects[ink]!.push({ x: begin, y, w: end - begin, h });
    }
    begin = end;
  };

  for (let x = 0; x <= pixels; x++) {
    if (x < pixels) stack(c, x, height, now);
    if (x === pixels || now.some((h, ink) => h !== last[ink])) {
      flush(x);
      last.set(now);
    }
  }
  return rects;
}

export interface SliceRun {
  x: number;
  w: number;
  name: number;
  /** covered share, 0 to 1 */
  covered: number;
  /** share of the name */
  share: number;
  /** items that begin in it */
  items: number;
}

/** The slices of a row: neighbours with one name, both full, are one slice as far as can be seen. */
export function paintSlices(c: Columns, pixels: number): SliceRun[] {
  const runs: SliceRun[] = [];
  let run: SliceRun | undefined;

  for (let x = 0; x < pixels; x++) {
    const covered = c.covered[x]!;

    if (covered <= eps) {
      run = undefined;
      continue;
    }
    const full = covered > 0.99 && c.share[x]! > 0.99;
    const joins =
      run &&
      run.x + run.w === x &&
      run.name === c.name[x] &&
      // a slice that begins here is another one, but for the first column of the run
      c.items[x]! < 0.5 &&
      full === (run.covered > 0.99 && run.share > 0.99);

    if (run && joins) {
      run.w++;
      run.items += c.items[x]!;
      continue;
    }
    run = { x, w: 1, name: c.name[x]!, covered, share: c.share[x]!, items: c.items[x]! };
    runs.push(run);
  }
  return runs;
}

/** Stretches in which records were lost: [x, w, 1 + log2 of how many]. */
export function paintLosses(c: Columns, pixels: number): [number, number, number][] {
  const list: [number, number, number][] = [];

  for (let x = 0; x < pixels; x++) {
    const lost = c.lost[x]!;
    const last = list.at(-1);

    if (!lost) continue;
    if (last && last[0] + last[1] === x) {
      last[1]++;
      last[2] = Math.max(last[2], lost);
    } else {
      list.push([x, 1, lost]);
    }
  }
  return list;
}

/** Shortens a text in its middle to this many pixels; '' if not even "a…" fits. */
export function fit(text: string, pixels: number, width: (text: string) => number): string {
  if (width(text) <= pixels) return text;
  let low = 0;
  let high = text.length - 1;
  const cut = (n: number) =>
    `${text.slice(0, Math.ceil(n / 2))}…${text.slice(text.length - Math.floor(n / 2))}`;

  while (low < high) {
    const middle = (low + high + 1) >> 1;

    if (width(cut(middle)) <= pixels) low = middle;
    else high = middle - 1;
  }
  return low > 0 ? cut(low) : '';
}
