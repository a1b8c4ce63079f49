// SPDX-License-Identifier: MIT
/**
 * Colours and sizes. Contrast with the canvas and distances for the colour-blind were computed;
 * a state is told by its form as well, and a hue of a slice never means anything alone.
 */
import { Ink } from './columns.ts';

export interface Theme {
  canvas: string;
  panel: string;
  raised: string;
  text: string;
  muted: string;
  accent: string;
  onAccent: string;
  control: string;
  rule: string;
  grid: string;
  error: string;
  warning: string;
  mark: string;
  hatch: string;
  hit: string;
  currentHit: string;
  /** by Ink */
  state: readonly string[];
  onState: readonly string[];
  /** 12 hues of equal lightness and chroma */
  slice: readonly string[];
  onSlice: string;
}

export const light: Theme = {
  canvas: '#FFFFFF',
  panel: '#F5F6F8',
  raised: '#E9ECF1',
  text: '#1A1E24',
  muted: '#56606E',
  accent: '#1F56C5',
  onAccent: '#FFFFFF',
  control: '#868E9A',
  rule: '#D9DDE4',
  grid: '#ECEEF2',
  error: '#B42318',
  warning: '#8A5300',
  mark: '#C4006A',
  hatch: '#3B4450',
  hit: '#FFE58A',
  currentHit: '#FFB547',
  state: ['#4F1F86', '#0F8271', '#F1C55C', '#AB2E12', '#D3DAEA', '#FFFFFF'],
  onState: ['#FFFFFF', '#FFFFFF', '#1A1E24', '#FFFFFF', '#1A1E24', '#1A1E24'],
  slice: [
    '#F4B4B8',
    '#F2B99F',
    '#E4C191',
    '#CECB92',
    '#B3D3A2',
    '#99D7BB',
    '#8BD7D6',
    '#91D2EC',
    '#A7CAF8',
    '#C2C1F7',
    '#DAB9E9',
    '#ECB4D2',
  ],
  onSlice: '#1A1E24',
};

export const dark: Theme = {
  canvas: '#15181D',
  panel: '#1C2026',
  raised: '#262B33',
  text: '#E4E8EE',
  muted: '#A0A9B6',
  accent: '#7FAAFF',
  onAccent: '#0E1013',
  control: '#6E7783',
  rule: '#343A44',
  grid: '#22272E',
  error: '#FF8A80',
  warning: '#F0B85A',
  mark: '#FF7DBB',
  hatch: '#B4BCC8',
  hit: '#C9A227',
  currentHit: '#FFB547',
  state: ['#A771D9', '#48AF94', '#F4DC70', '#C14722', '#484B51', '#15181D'],
  onState: ['#0E1013', '#0E1013', '#0E1013', '#FFFFFF', '#FFFFFF', '#E4E8EE'],
  slice: [
    '#6E3C41',
    '#6D402C',
    '#63471C',
    '#534F1D',
    '#3C562E',
    '#205943',
    '#055959',
    '#16556A',
    '#324E73',
    '#494772',
    '#5B4167',
    '#683D56',
  ],
  onSlice: '#E4E8EE',
};

export const sizes = {
  row: 18,
  compactRow: 14,
  roomyRow: 24,
  ribbon: 10,
  cpu: 22,
  counter: 36,
  overview: 44,
  ruler: 34,
  header: 240,
  labelFrom: 24,
  durationFrom: 120,
  hatchPitch: 6,
};

/** How much of a row's height a state takes: states differ in form, too. */
export function heightOf(ink: Ink): number {
  switch (ink) {
    case Ink.Irq:
    case Ink.Running:
      return 1;
    case Ink.Runnable:
    case Ink.Blocked:
      return 0.6;
    case Ink.Sleeping:
      return 0.2;
    case Ink.Unknown:
      return 0;
  }
}

/** The hue of a name: digits do not count, so "kworker/3:1" and "kworker/0:2" are alike. */
export function hueOf(name: string, hues: number): number {
  let hash = 2166136261;

  for (const char of name) {
    if (char >= '0' && char <= '9') continue;
    hash = Math.imul(hash ^ char.codePointAt(0)!, 16777619);
  }
  return ((hash ^ (hash >>> 15)) >>> 0) % hues;
}
