// SPDX-License-Identifier: MIT
/**
 * The ruler: where its ticks stand, what is written at them, and what all labels have in common.
 *
 * Steps are 1, 2, 5 times a power of ten up to 10 s, then those of a clock. All labels of a ruler
 * have one unit and only the digits that the step needs; the rest is the prefix at its left.
 */
import { type Clock, type Ns, day, zone } from './format.ts';

export const minTickPixels = 110;

const second = 1e9;
const clockSteps = [
  30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 604800,
].map((s) => s * second);

/** The smallest step of at least this many ns. */
export function stepFor(ns: Ns): Ns {
  if (ns <= 1) return 1;
  if (ns > 10 * second) {
    const step = clockSteps.find((s) => s >= ns);

    return step ?? Math.ceil(ns / clockSteps.at(-1)!) * clockSteps.at(-1)!;
  }
  const ten = 10 ** Math.floor(Math.log10(ns) + 1e-9);

  for (const n of [1, 2, 5, 10]) if (n * ten >= ns * (1 - 1e-9)) return n * ten;
  return 10 * ten;
}

export interface Tick {
  at: Ns;
  label: string;
}

export interface Axis {
  step: Ns;
  prefix: string;
  ticks: Tick[];
}

/** What of the clock is in the label. */
type Part = 'minute' | 'second' | 'ms' | 'us' | 'ns';

function partOf(step: Ns): Part {
  if (step >= 60 * second) return 'minute';
  if (step >= second) return 'second';
  if (step >= 1e6) return 'ms';
  return step >= 1e3 ? 'us' : 'ns';
}

const group = (n: number) => String(n).padStart(3, '0');

function label(clock: Clock, at: Ns, part: Part): string {
  const d = day(clock, at);

  switch (part) {
    case 'minute':
      return d.time.slice(0, 5);
    case 'second':
      return d.time;
    case 'ms':
      return `+${Math.floor(d.ns / 1e6)} ms`;
    case 'us':
      return `+${Math.floor(d.ns / 1e3) % 1000} µs`;
    case 'ns':
      return `+${d.ns % 1000} ns`;
  }
}

function prefix(clock: Clock, at: Ns, part: Part): string {
  const d = day(clock, at);
  const ms = Math.floor(d.ns / 1e6);

  switch (part) {
    case 'minute':
      return `${d.date} ${zone(clock.zone)}`;
    case 'second':
      return d.date;
    case 'ms':
      return d.time;
    case 'us':
      return `${d.time}.${group(ms)}`;
    case 'ns':
      return `${d.time}.${group(ms)} ${group(Math.floor(d.ns / 1e3) % 1000)}`;
  }
}

/** The ruler of a window [from, to) over so many pixels. The prefix is that of the first tick. */
export function axis(clock: Clock, from: Ns, to: Ns, pixels: number): Axis {
  const step = stepFor(((to - from) * minTickPixels) / Math.max(pixels, 1));
  const part = partOf(step);
  const ticks: Tick[] = [];
  // ticks stand on round times of the clock, not of the trace
  const offset = Number(
    (clock.base + BigInt(clock.zone) * 60_000_000_000n) % BigInt(Math.max(1, Math.round(step))),
  );

  for (let n = Math.ceil((from + offset) / step); ; n++) {
    const at = n * step - offset;

    if (at >= to) break;
    ticks.push({ at, label: label(clock, at, part) });
  }
  return { step, prefix: prefix(clock, ticks[0]?.at ?? from, part), ticks };
}
