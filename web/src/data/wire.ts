// SPDX-License-Identifier: MIT
/**
 * Tiles as bytes: docs/view-api.md, "Tiles". Nothing is copied: the arrays of a tile are views of
 * the answer.
 */

export const bucketsPerTile = 512;
const magic = 0x3130_6c74; // "tl01"

/** What a track is; the codes are those of the model. */
export enum Kind {
  Machine,
  Cpu,
  Running,
  Irq,
  Softirq,
  Process,
  Thread,
  State,
  Calls,
  Device,
  Span,
  Counter,
}

export interface Tile {
  track: number;
  depth: number;
  kind: Kind;
  closed: boolean;
  /** runs of equal buckets */
  n: number;
  first: Uint16Array;
  buckets: Uint16Array;
  items: Uint32Array;
  longest: Uint32Array;
  name: Uint32Array;
  share: Uint8Array;
  covered: Uint8Array;
  lost: Uint8Array;
  uncertain: Uint8Array;
  /** state tracks: code and shares of each state that occurs */
  states: { code: number; share: Uint8Array }[];
  /** counters */
  min: Float64Array;
  max: Float64Array;
  last: Float64Array;
}

export interface Tiles {
  tiles: Tile[];
  names: Map<number, string>;
}

export class WireError extends Error {}

class Reader {
  at = 0;
  private readonly view: DataView;

  constructor(private readonly bytes: ArrayBuffer) {
    this.view = new DataView(bytes);
  }

  private take(length: number): number {
    const at = this.at;

    if (length < 0 || at + length > this.bytes.byteLength)
      throw new WireError(`a tile is cut off at byte ${at}`);
    this.at += length;
    return at;
  }

  u8(): number {
    return this.view.getUint8(this.take(1));
  }
  u16(): number {
    return this.view.getUint16(this.take(2), true);
  }
  u32(): number {
    return this.view.getUint32(this.take(4), true);
  }
  align(n: number): void {
    this.take((n - (this.at % n)) % n);
  }
  u8s(n: number): Uint8Array {
    const a = new Uint8Array(this.bytes, this.take(n), n);

    this.align(4);
    return a;
  }
  u16s(n: number): Uint16Array {
    const a = new Uint16Array(this.bytes, this.take(2 * n), n);

    this.align(4);
    return a;
  }
  u32s(n: number): Uint32Array {
    return new Uint32Array(this.bytes, this.take(4 * n), n);
  }
  f64s(n: number): Float64Array {
    this.align(8);
    return new Float64Array(this.bytes, this.take(8 * n), n);
  }
  text(length: number): string {
    const bytes = new Uint8Array(this.bytes, this.take(length), length);

    this.align(4);
    return new TextDecoder().decode(bytes);
  }
}

const none = new Float64Array(0);

function readStates(r: Reader, n: number): Tile['states'] {
  const nr = r.u32();
  const codes = r.u32s(nr);

  return Array.from(codes, (code) => ({ code, share: r.u8s(n) }));
}

function readTile(r: Reader): Tile {
  const begin = r.at;
  const track = r.u32();
  const depth = r.u16();
  const kind = r.u8() as Kind;
  const flags = r.u8();
  const n = r.u32();
  const size = r.u32();

  if (n > bucketsPerTile) throw new WireError(`a tile has ${n} runs`);
  const tile: Tile = {
    track,
    depth,
    kind,
    closed: (flags & 1) !== 0,
    n,
    first: r.u16s(n),
    buckets: r.u16s(n),
    items: r.u32s(n),
    longest: r.u32s(n),
    name: r.u32s(n),
    share: r.u8s(n),
    covered: r.u8s(n),
    lost: r.u8s(n),
    uncertain: r.u8s(n),
    states: kind === Kind.State ? readStates(r, n) : [],
    min: kind === Kind.Counter ? r.f64s(n) : none,
    max: kind === Kind.Counter ? r.f64s(n) : none,
    last: kind === Kind.Counter ? r.f64s(n) : none,
  };

  if (r.at - begin > size) throw new WireError(`a tile is longer than it says, at byte ${begin}`);
  r.at = begin + size;
  return tile;
}

/** Throws WireError if the bytes are not what docs/view-api.md says. */
export function decode(bytes: ArrayBuffer): Tiles {
  const r = new Reader(bytes);

  if (r.u32() !== magic) throw new WireError('these are not tiles');
  const nr = r.u32();
  const size = r.u32();
  r.u32(); // bytes of the names
  const begin = r.at;
  const tiles = Array.from({ length: nr }, () => readTile(r));
  const names = new Map<number, string>();

  if (r.at !== begin + size) throw new WireError(`tiles end at byte ${r.at}`);
  for (let left = r.u32(); left > 0; left--) {
    const id = r.u32();

    names.set(id, r.text(r.u32()));
  }
  return { tiles, names };
}
