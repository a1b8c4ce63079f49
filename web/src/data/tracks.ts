// SPDX-License-Identifier: MIT
/** The tracks as a tree, and the tree as the rows that are on the screen. */
import { sizes } from '../draw/theme.ts';
import type { Track } from './client.ts';
import { type Row, rowOf } from './tiles.ts';

export type RowKind = 'group' | 'state' | 'slices' | 'running' | 'counter';

export interface ScreenRow {
  key: string;
  kind: RowKind;
  label: string;
  /** of the label, in levels */
  indent: number;
  /** drawn from this row of the index; groups have none */
  row?: Row;
  track: number;
  y: number;
  height: number;
  /** a group that can be folded */
  folded?: boolean;
}

interface Node {
  track: Track;
  children: Node[];
}

function tree(tracks: Track[]): Map<number, Node> {
  const nodes = new Map(tracks.map((track) => [track.id, { track, children: [] as Node[] }]));

  for (const node of nodes.values())
    if (node.track.id !== node.track.parent) nodes.get(node.track.parent)?.children.push(node);
  return nodes;
}

const byNumber = (a: Node, b: Node) => a.track.number - b.track.number;

function title(t: Track): string {
  switch (t.kind) {
    case 'cpu':
      return `CPU ${t.number}`;
    case 'process':
    case 'thread':
      return t.name ? `${t.name} (${t.number})` : `${t.kind} ${t.number}`;
    case 'device':
      return `disk ${t.name}`;
    case 'span':
    case 'counter':
      return t.name;
    default:
      return t.kind;
  }
}

class Rows {
  readonly rows: ScreenRow[] = [];
  private y = 0;

  constructor(private readonly folded: ReadonlySet<string>) {}

  add(row: Omit<ScreenRow, 'y' | 'key'> & { key?: string }): void {
    this.rows.push({ key: `${row.kind} ${row.track}`, ...row, y: this.y });
    this.y += row.height;
  }

  /** A group's header; whether its children are shown. */
  group(label: string, track: number, indent: number, key = `group ${track}`): boolean {
    const folded = this.folded.has(key);

    this.add({ key, kind: 'group', label, indent, track, height: sizes.row, folded });
    return !folded;
  }

  slices(node: Node, label: string, indent: number): void {
    this.add({
      kind: node.track.kind === 'counter' ? 'counter' : 'slices',
      label,
      indent,
      track: node.track.id,
      row: rowOf(node.track.id, 0),
      height: node.track.kind === 'counter' ? sizes.counter : sizes.row,
    });
  }

  cpu(node: Node): void {
    const running = node.children.find((c) => c.track.kind === 'running');

    this.add({
      kind: 'running',
      label: title(node.track),
      indent: 0,
      track: running?.track.id ?? node.track.id,
      ...(running ? { row: rowOf(running.track.id, 0) } : {}),
      height: sizes.cpu,
    });
    for (const c of node.children) if (c !== running) this.slices(c, title(c.track), 1);
  }

  thread(node: Node): void {
    const state = node.children.find((c) => c.track.kind === 'state');
    const calls = node.children.find((c) => c.track.kind === 'calls');

    this.add({
      kind: state ? 'state' : 'group',
      label: title(node.track),
      indent: 1,
      track: state?.track.id ?? node.track.id,
      ...(state ? { row: rowOf(state.track.id, 0) } : {}),
      height: sizes.row,
    });
    if (calls) this.slices(calls, 'calls', 2);
  }
}

/** The rows of all tracks that are not in a folded group. */
export function rowsOf(
  tracks: Track[],
  folded: ReadonlySet<string> = new Set(),
  filter = '',
): ScreenRow[] {
  const nodes = [...tree(tracks).values()];
  const rows = new Rows(folded);
  const want = filter.toLowerCase();
  const has = (n: Node): boolean =>
    !want || title(n.track).toLowerCase().includes(want) || n.children.some(has);
  const kind = (k: string) => nodes.filter((n) => n.track.kind === k && has(n)).sort(byNumber);

  for (const n of kind('cpu')) rows.cpu(n);
  for (const n of kind('process')) {
    if (!rows.group(title(n.track), n.track.id, 0)) continue;
    for (const c of n.children.filter((x) => x.track.kind === 'thread').sort(byNumber))
      rows.thread(c);
  }
  for (const k of ['span', 'device', 'counter'])
    for (const n of kind(k)) rows.slices(n, title(n.track), 0);
  return rows.rows;
}

/** The first row that is below y, by bisection. */
export function rowAt(rows: readonly ScreenRow[], y: number): number {
  let low = 0;
  let high = rows.length;

  while (low < high) {
    const middle = (low + high) >> 1;

    if (rows[middle]!.y + rows[middle]!.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}
