// SPDX-License-Identifier: MIT
import { computed, effect, signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { type Track, type TraceInfo, getTiles, getTrace, getTracks } from './data/client.ts';
import { TileCache } from './data/tiles.ts';
import { type ScreenRow, rowAt, rowsOf } from './data/tracks.ts';
import { dark, light, sizes } from './draw/theme.ts';
import { type Missing, Timeline } from './draw/timeline.ts';
import { type Ns, count, duration, percent } from './time/format.ts';

// ---- state ----

const trace = signal<TraceInfo | undefined>(undefined);
const failure = signal('');
const tracks = signal<Track[]>([]);
const folded = signal<ReadonlySet<string>>(new Set());
const filter = signal('');
const view = signal<{ from: Ns; to: Ns }>({ from: 0, to: 1 });
const scroll = signal(0);
const cursor = signal<Ns | undefined>(undefined);
const range = signal<{ from: Ns; to: Ns } | undefined>(undefined);
const crumbs: { from: Ns; to: Ns }[] = [];
const isDark = signal(matchMedia('(prefers-color-scheme: dark)').matches);
const arrived = signal(0);

const rows = computed(() => rowsOf(tracks.value, folded.value, filter.value));
const rowsHeight = computed(() => {
  const last = rows.value.at(-1);

  return last ? last.y + last.height : 0;
});
const span = computed(() =>
  trace.value ? Number(BigInt(trace.value.end) - BigInt(trace.value.begin)) + 1 : 1,
);
const cache = new TileCache();
const names = new Map<number, string>();

// ---- the window ----

const gutter = 0.01;

function setView(from: Ns, to: Ns): void {
  const least = 10;
  const all = span.value;
  const width = Math.min(Math.max(to - from, least), all * (1 + 2 * gutter));
  const low = -all * gutter;
  const start = Math.min(Math.max(from, low), all * (1 + gutter) - width);

  view.value = { from: start, to: start + width };
}

function zoom(factor: number, at?: Ns): void {
  const { from, to } = view.value;
  const centre = at ?? (from + to) / 2;

  setView(centre - (centre - from) * factor, centre + (to - centre) * factor);
}

function pan(part: number): void {
  const { from, to } = view.value;

  setView(from + part * (to - from), to + part * (to - from));
}

function scrollTo(y: number, height: number): void {
  scroll.value = Math.max(0, Math.min(y, rowsHeight.value - height + 40));
}

// ---- tiles ----

const asked = new Set<string>();
const perRequest = 64;

async function fetchTiles(missing: Missing[]): Promise<void> {
  const generation = trace.value?.index.generation ?? 0;

  for (const { place, rows: wanted } of missing) {
    const rest = wanted.filter((row) => !asked.has(`${row}/${place.k}/${place.i}`));

    for (let n = 0; n < rest.length; n += perRequest) {
      const part = rest.slice(n, n + perRequest);
      const keys = part.map((row) => `${row}/${place.k}/${place.i}`);

      keys.forEach((key) => asked.add(key));
      void getTiles(place.k, place.i, part)
        .then((answer) => {
          answer.names.forEach((name, id) => names.set(id, name));
          answer.tiles.forEach((tile, at) => cache.put(part[at]!, place, tile, generation));
          arrived.value++;
        })
        .catch((e: unknown) => {
          failure.value = String(e instanceof Error ? e.message : e);
        })
        .finally(() => keys.forEach((key) => asked.delete(key)));
    }
  }
}

// ---- the timeline ----

function Header({ row, top }: { row: ScreenRow; top: number }) {
  const fold = () => {
    const next = new Set(folded.value);

    if (!next.delete(row.key)) next.add(row.key);
    folded.value = next;
  };
  const style = {
    top: `${top}px`,
    height: `${row.height}px`,
    paddingLeft: `${8 + 12 * row.indent}px`,
  };

  return row.folded === undefined ? (
    <div class="label" style={style} title={row.label}>
      {row.label}
    </div>
  ) : (
    <button
      class="label group"
      style={style}
      title={row.label}
      aria-expanded={!row.folded}
      onClick={fold}
    >
      {row.folded ? '▸' : '▾'} {row.label}
    </button>
  );
}

function Headers({ height }: { height: number }) {
  const list = [];

  for (let i = rowAt(rows.value, scroll.value); i < rows.value.length; i++) {
    const row = rows.value[i]!;
    const top = row.y - scroll.value;

    if (top > height) break;
    list.push(<Header key={row.key} row={row} top={top} />);
  }
  return <div class="labels">{list}</div>;
}

function timeAt(canvas: HTMLElement, clientX: number): Ns {
  const box = canvas.getBoundingClientRect();
  const { from, to } = view.value;

  return from + ((clientX - box.left) / box.width) * (to - from);
}

function onWheel(e: WheelEvent, canvas: HTMLElement): void {
  e.preventDefault();
  const overRuler = e.clientY - canvas.getBoundingClientRect().top < sizes.ruler;

  if (e.ctrlKey || e.metaKey || overRuler)
    zoom(Math.exp(e.deltaY * (e.deltaMode ? 0.05 : 0.0015)), timeAt(canvas, e.clientX));
  else if (e.shiftKey) pan((e.deltaY || e.deltaX) / 1000);
  else if (Math.abs(e.deltaX) > Math.abs(e.deltaY)) pan(e.deltaX / 1000);
  else scrollTo(scroll.value + e.deltaY, canvas.clientHeight - sizes.ruler);
}

/** Drag selects a range; with Shift, Alt, Space or the middle button it pans or zooms. */
function onDown(e: PointerEvent, canvas: HTMLElement): void {
  const begin = timeAt(canvas, e.clientX);
  const start = { ...view.value };
  const y = scroll.value + e.clientY;
  const pans = e.shiftKey || e.button === 1;
  const zooms = e.altKey || e.button === 2;
  let moved = false;

  canvas.setPointerCapture(e.pointerId);
  const move = (m: PointerEvent) => {
    moved ||= Math.abs(m.clientX - e.clientX) > 3;
    if (pans) {
      const shift = ((e.clientX - m.clientX) / canvas.clientWidth) * (start.to - start.from);

      setView(start.from + shift, start.to + shift);
      scrollTo(y - m.clientY, canvas.clientHeight - sizes.ruler);
    } else if (moved) {
      const at = timeAt(canvas, m.clientX);

      range.value = { from: Math.min(begin, at), to: Math.max(begin, at) };
    }
  };
  const up = () => {
    canvas.removeEventListener('pointermove', move);
    canvas.removeEventListener('pointerup', up);
    if (!moved && !pans) range.value = undefined;
    if (zooms && range.value) zoomToRange();
  };

  canvas.addEventListener('pointermove', move);
  canvas.addEventListener('pointerup', up);
}

function zoomToRange(): void {
  if (!range.value) return;
  crumbs.push(view.value);
  setView(range.value.from, range.value.to);
  range.value = undefined;
}

function onKey(e: KeyboardEvent): void {
  if (e.target instanceof HTMLInputElement || e.ctrlKey || e.metaKey || e.altKey) return;
  const at = cursor.value;
  const actions: Record<string, () => void> = {
    KeyW: () => zoom(0.7, at),
    KeyS: () => zoom(1 / 0.7, at),
    KeyA: () => pan(-0.15),
    KeyD: () => pan(0.15),
    KeyZ: zoomToRange,
    Digit0: () => setView(-gutter * span.value, span.value * (1 + gutter)),
    Backspace: () => {
      const last = crumbs.pop();

      if (last) setView(last.from, last.to);
    },
    Escape: () => {
      range.value = undefined;
    },
    PageDown: () => scrollTo(scroll.value + innerHeight / 2, innerHeight),
    PageUp: () => scrollTo(scroll.value - innerHeight / 2, innerHeight),
  };
  const action = actions[e.code];

  if (!action) return;
  e.preventDefault();
  action();
}

function TimelineView() {
  const canvas = useRef<HTMLCanvasElement>(null);

  useEffect(() => {
    const element = canvas.current!;
    const picture = new Timeline(element);
    let frame = 0;
    const draw = () => {
      frame = 0;
      const t = trace.value;

      if (!t) return;
      const missing = picture.draw({
        rows: rows.value,
        scroll: scroll.value,
        ...view.value,
        clock: { base: BigInt(t.base), zone: -new Date().getTimezoneOffset() },
        theme: isDark.value ? dark : light,
        names,
        cache,
        generation: t.index.generation,
        range: range.value,
        cursor: cursor.value,
      });

      if (t.index.generation) void fetchTiles(missing);
    };
    const later = () => {
      frame ||= requestAnimationFrame(draw);
    };
    const stop = effect(() => {
      void [rows.value, scroll.value, view.value, trace.value, range.value, cursor.value];
      void [isDark.value, arrived.value];
      later();
    });
    const wheel = (e: WheelEvent) => onWheel(e, element);
    const resized = new ResizeObserver(later);

    resized.observe(element);
    element.addEventListener('wheel', wheel, { passive: false });
    return () => {
      stop();
      resized.disconnect();
      element.removeEventListener('wheel', wheel);
    };
  }, []);
  return (
    <div class="timeline">
      <Headers height={innerHeight} />
      <canvas
        ref={canvas}
        tabIndex={0}
        aria-label="Timeline. W and S zoom, A and D pan, page keys scroll."
        onPointerDown={(e) => onDown(e, e.currentTarget)}
        onPointerMove={(e) => {
          cursor.value = timeAt(e.currentTarget, e.clientX);
        }}
        onPointerLeave={() => {
          cursor.value = undefined;
        }}
        onContextMenu={(e) => e.preventDefault()}
      />
    </div>
  );
}

// ---- the page ----

function Status() {
  const t = trace.value;

  if (failure.value) return <span class="error">{failure.value}</span>;
  if (!t) return <span>Opening …</span>;
  const index =
    t.index.state === 'building'
      ? `Index ${percent(t.index.part, 1)}.`
      : t.index.state === 'failed'
        ? (t.index.error ?? '')
        : '';

  return (
    <span>
      {count(t.events)} events, {duration(span.value)}
      {t.lost ? `, ${count(t.lost)} lost` : ''}. {index}
    </span>
  );
}

function App() {
  return (
    <div class={`app ${isDark.value ? 'dark' : 'light'}`}>
      <header>
        <strong>{trace.value?.name ?? 'tacho'}</strong>
        <input
          type="search"
          placeholder="Filter tracks"
          aria-label="Filter tracks"
          value={filter.value}
          onInput={(e) => {
            filter.value = e.currentTarget.value;
            scroll.value = 0;
          }}
        />
        <Status />
        <button
          onClick={() => {
            isDark.value = !isDark.value;
          }}
        >
          {isDark.value ? 'Light' : 'Dark'}
        </button>
      </header>
      <TimelineView />
    </div>
  );
}

async function refresh(): Promise<void> {
  const first = !trace.value;
  const t = await getTrace();

  if (t.index.generation !== trace.value?.index.generation && t.index.tracks)
    tracks.value = await getTracks(0);
  trace.value = t;
  if (first) setView(-gutter * span.value, span.value * (1 + gutter));
  if (t.index.state === 'building') setTimeout(() => void follow(), 500);
}

async function follow(): Promise<void> {
  try {
    await refresh();
  } catch (e) {
    failure.value = e instanceof TypeError ? 'tacho view has ended. The picture stays.' : String(e);
  }
}

document.addEventListener('keydown', onKey);
render(<App />, document.getElementById('app')!);
void follow();
