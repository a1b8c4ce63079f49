// SPDX-License-Identifier: MIT
/**
 * The picture of the rows that are on the screen: one canvas, in device pixels.
 *
 * A frame draws what is at hand and returns what it missed: places whose tiles are not there or are
 * old. Nothing is measured or fetched while drawing.
 */
import { type Place, type Row, type TileCache, levelFor, placesOf } from '../data/tiles.ts';
import { type ScreenRow, rowAt } from '../data/tracks.ts';
import { axis } from '../time/axis.ts';
import { type Clock, type Ns, count, duration } from '../time/format.ts';
import { type View, columnsOf } from './columns.ts';
import { type SliceRun, fit, paintLosses, paintSlices, paintStates } from './paint.ts';
import { type Theme, hueOf, sizes } from './theme.ts';

export interface Scene {
  rows: readonly ScreenRow[];
  scroll: number;
  from: Ns;
  to: Ns;
  clock: Clock;
  theme: Theme;
  names: ReadonlyMap<number, string>;
  cache: TileCache;
  generation: number;
  /** a range that is selected */
  range?: { from: Ns; to: Ns } | undefined;
  /** where the pointer is */
  cursor?: Ns | undefined;
}

export interface Missing {
  place: Place;
  rows: Row[];
}

const font = (ratio: number, size = 11) => `${size * ratio}px system-ui, sans-serif`;

export class Timeline {
  private readonly widths = new Map<string, number>();
  private ratio = 1;

  constructor(private readonly canvas: HTMLCanvasElement) {}

  private context(): CanvasRenderingContext2D {
    const c = this.canvas.getContext('2d', { alpha: false });

    if (!c) throw new Error('the browser has no 2D canvas');
    return c;
  }

  /** The canvas is as large as its place on the screen, in device pixels. */
  private resize(): void {
    const ratio = window.devicePixelRatio;
    const w = Math.round(this.canvas.clientWidth * ratio);
    const h = Math.round(this.canvas.clientHeight * ratio);

    if (ratio !== this.ratio) this.widths.clear();
    this.ratio = ratio;
    if (this.canvas.width !== w) this.canvas.width = w;
    if (this.canvas.height !== h) this.canvas.height = h;
  }

  private width(c: CanvasRenderingContext2D, text: string): number {
    let w = this.widths.get(text);

    if (w === undefined) {
      w = c.measureText(text).width;
      if (this.widths.size > 20_000) this.widths.clear();
      this.widths.set(text, w);
    }
    return w;
  }

  /** Draws, and says what is to be fetched for what is on the screen. */
  draw(s: Scene): Missing[] {
    this.resize();
    const c = this.context();
    const { width, height } = this.canvas;
    const view: View = { from: s.from, to: s.to, pixels: width };
    const top = sizes.ruler * this.ratio;
    const wanted = new Map<string, Missing>();

    c.fillStyle = s.theme.canvas;
    c.fillRect(0, 0, width, height);
    c.font = font(this.ratio);
    c.textBaseline = 'middle';
    this.grid(c, s, view, height);
    c.save();
    c.beginPath();
    c.rect(0, top, width, height - top);
    c.clip();
    for (let i = rowAt(s.rows, s.scroll); i < s.rows.length; i++) {
      const row = s.rows[i]!;
      const y = Math.round(top + (row.y - s.scroll) * this.ratio);

      if (y >= height) break;
      this.row(c, s, view, row, y);
      if (row.row) this.want(wanted, s, view, row.row);
    }
    c.restore();
    this.over(c, s, view, height);
    return [...wanted.values()];
  }

  private want(wanted: Map<string, Missing>, s: Scene, view: View, row: Row): void {
    const k = levelFor((view.to - view.from) / view.pixels);

    for (const place of placesOf(k, Math.max(0, view.from), view.to)) {
      if (!s.cache.wants(row, place, s.generation)) continue;
      const key = `${place.k}/${place.i}`;
      const missing = wanted.get(key) ?? { place, rows: [] };

      missing.rows.push(row);
      wanted.set(key, missing);
    }
  }

  private x(view: View, time: Ns): number {
    return Math.round(((time - view.from) * view.pixels) / (view.to - view.from));
  }

  private grid(c: CanvasRenderingContext2D, s: Scene, view: View, height: number): void {
    const { theme } = s;
    const ruler = axis(s.clock, s.from, s.to, view.pixels / this.ratio);
    const line = Math.round(sizes.ruler * this.ratio);
    const gap = 4 * this.ratio;

    for (const tick of ruler.ticks) {
      const x = this.x(view, tick.at);

      c.fillStyle = theme.grid;
      c.fillRect(x, line, 1, height - line);
      c.fillStyle = theme.control;
      c.fillRect(x, line - 6 * this.ratio, 1, 6 * this.ratio);
      c.fillStyle = theme.text;
      c.fillText(tick.label, x + gap, line - 9 * this.ratio);
    }
    c.fillStyle = theme.muted;
    c.fillText(ruler.prefix, gap, 9 * this.ratio);
    c.fillStyle = theme.rule;
    c.fillRect(0, line - 1, view.pixels, 1);
  }

  private row(c: CanvasRenderingContext2D, s: Scene, view: View, row: ScreenRow, y: number): void {
    const height = Math.round(row.height * this.ratio) - Math.max(1, Math.round(this.ratio));

    if (row.kind === 'group') {
      c.fillStyle = s.theme.panel;
      c.fillRect(0, y, view.pixels, height);
      return;
    }
    if (!row.row) return;
    const columns = columnsOf(s.cache, row.row, view, row.kind === 'state');

    if (row.kind === 'state') {
      const ribbon = Math.round((row.height - 4) * this.ratio);
      const rects = paintStates(columns, view.pixels, ribbon);

      rects.forEach((list, ink) => {
        c.fillStyle = s.theme.state[ink]!;
        for (const r of list) c.fillRect(r.x, y + r.y, r.w, r.h);
      });
    } else {
      this.slices(c, s, paintSlices(columns, view.pixels), y, height, view);
    }
    this.losses(c, s, paintLosses(columns, view.pixels), y, height);
  }

  private slices(
    c: CanvasRenderingContext2D,
    s: Scene,
    runs: SliceRun[],
    y: number,
    height: number,
    view: View,
  ): void {
    const perPixel = (view.to - view.from) / view.pixels;
    const colour = (r: SliceRun) => {
      const name = s.names.get(r.name);

      return name && r.share >= 0.6 * r.covered
        ? s.theme.slice[hueOf(name, s.theme.slice.length)]!
        : s.theme.rule;
    };

    for (const r of runs) {
      c.fillStyle = colour(r);
      c.globalAlpha = r.covered > 0.99 ? 1 : 0.3 + 0.7 * r.covered;
      c.fillRect(r.x, y, r.w > 2 ? r.w - 1 : r.w, height);
    }
    c.globalAlpha = 1;
    c.fillStyle = s.theme.onSlice;
    for (const r of runs) this.label(c, s, r, y + height / 2, perPixel);
  }

  /** A slice's name, and its length where there is room. */
  private label(
    c: CanvasRenderingContext2D,
    s: Scene,
    r: SliceRun,
    y: number,
    perPixel: number,
  ): void {
    const room = r.w - 8 * this.ratio;

    if (r.w < sizes.labelFrom * this.ratio) return;
    const name = s.names.get(r.name) ?? '';
    const length = r.w >= sizes.durationFrom * this.ratio ? `  ${duration(r.w * perPixel)}` : '';
    const text =
      r.items > 1.5
        ? `× ${count(Math.round(r.items))}`
        : fit(name + length, room, (t) => this.width(c, t));

    if (text) c.fillText(text, r.x + 4 * this.ratio, y);
  }

  /** Lost records: never like idle, at any width. */
  private losses(
    c: CanvasRenderingContext2D,
    s: Scene,
    list: [number, number, number][],
    y: number,
    height: number,
  ): void {
    const pitch = sizes.hatchPitch * this.ratio;

    if (!list.length) return;
    c.strokeStyle = s.theme.hatch;
    c.lineWidth = Math.max(1, this.ratio);
    for (const [x, w, lost] of list) {
      c.save();
      c.beginPath();
      c.rect(x, y, Math.max(w, 2), height);
      c.clip();
      c.beginPath();
      for (let at = x - height; at < x + w; at += pitch) {
        c.moveTo(at, y + height);
        c.lineTo(at + height, y);
      }
      c.stroke();
      c.restore();
      if (w >= 40 * this.ratio) {
        c.fillStyle = s.theme.text;
        c.fillText(`about ${count(2 ** (lost - 1))} lost`, x + 4, y + height / 2);
      }
    }
  }

  private over(c: CanvasRenderingContext2D, s: Scene, view: View, height: number): void {
    if (s.range) {
      const x = this.x(view, s.range.from);
      const w = this.x(view, s.range.to) - x;

      c.globalAlpha = 0.14;
      c.fillStyle = s.theme.accent;
      c.fillRect(x, 0, w, height);
      c.globalAlpha = 1;
      c.fillRect(x, 0, 1, height);
      c.fillRect(x + w - 1, 0, 1, height);
      c.fillText(duration(s.range.to - s.range.from), x + 4 * this.ratio, 9 * this.ratio);
    }
    if (s.cursor !== undefined) {
      c.fillStyle = s.theme.mark;
      c.fillRect(this.x(view, s.cursor), 0, 1, height);
    }
  }
}
