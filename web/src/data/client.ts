// SPDX-License-Identifier: MIT
/** What the page asks the server: docs/view-api.md. All paths are below the page's own. */
import type { Row } from './tiles.ts';
import { type Tiles, decode } from './wire.ts';

export interface IndexInfo {
  state: 'building' | 'ready' | 'failed';
  error?: string;
  part: number;
  generation: number;
  until: string;
  tracks: number;
  items: number;
}

export interface TraceInfo {
  version: number;
  name: string;
  format: string;
  host?: string;
  command?: string;
  begin: string;
  end: string;
  base: string;
  events: number;
  lost: number;
  cpus: number;
  index: IndexInfo;
}

export interface Track {
  id: number;
  parent: number;
  kind: string;
  number: number;
  name: string;
}

export interface Density {
  from: string;
  width: number;
  cpus: { cpu?: number; events: number[]; lost: number[] }[];
}

/** A sentence of the server. */
export class ServerError extends Error {}

async function get(path: string, signal?: AbortSignal): Promise<Response> {
  const response = await fetch(path, signal ? { signal } : {});

  if (response.ok) return response;
  const body: unknown = await response.json().catch(() => null);
  const text =
    typeof body === 'object' && body && 'error' in body ? String(body.error) : response.statusText;

  throw new ServerError(text);
}

async function json<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await (await get(path, signal)).json()) as T;
}

export const getTrace = () => json<TraceInfo>('api/trace');
export const getDensity = (buckets: number) => json<Density>(`api/density?buckets=${buckets}`);

/** All tracks from an id on. */
export async function getTracks(first: number): Promise<Track[]> {
  const all: Track[] = [];

  for (let more = true; more;) {
    const answer = await json<{ tracks: Track[]; more: boolean }>(
      `api/tracks?first=${first + all.length}`,
    );

    all.push(...answer.tracks);
    more = answer.more && answer.tracks.length > 0;
  }
  return all;
}

export async function getTiles(
  k: number,
  i: number,
  rows: Row[],
  signal?: AbortSignal,
): Promise<Tiles> {
  const tracks = rows.map((row) => row.split('.')[0]).join(',');

  return decode(await (await get(`api/tiles?k=${k}&i=${i}&rows=${tracks}`, signal)).arrayBuffer());
}
