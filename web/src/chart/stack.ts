// Memory over time by what it holds: groups, or single values. The series with the largest memory over time have their own band, the
// others share one.
import { NONE, Op, RECOMPUTE_BIT, type Frames, type Layout } from "../binary";
import type { Axis } from "./axis";

export type StackKind = "groups" | "values";
const BANDS = { groups: 24, values: 40 };

export interface Band {
  name: string;
  colour: string;
  node: number; // of a single value; else NONE
}

export interface Stack {
  kind: StackKind;
  bands: Band[]; // bottom up; the last one is everything else
  bandOf: Uint16Array; // of each node
  base: number; // memory that is always in use
}

/** Calls `visit` with each node that enters (true) or leaves the shown memory in move i. */
function eachChange(f: Frames, i: number, visit: (node: number, enters: boolean) => void): void {
  const op = f.op[i] & ~RECOMPUTE_BIT;
  if (op === Op.Store || op === Op.Drop || (f.timed && f.timed.place[i] !== f.memory)) return;
  visit(f.node[i], op === Op.Compute || op === Op.Load || op === Op.Copy);
  if (op !== Op.Compute) return;
  for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) visit(f.also[a], true);
  if (f.over[i] !== NONE) visit(f.over[i], false);
}

/** Size times moves in memory, for each node. */
function weightOf(f: Frames, layout: Layout): Float64Array {
  const weight = new Float64Array(layout.nodeCount);
  const since = new Int32Array(layout.nodeCount).fill(-1);
  for (const node of f.initialFast) since[node] = 0;
  const end = (node: number, move: number): void => {
    if (since[node] >= 0) weight[node] += layout.size[node] * (move - since[node]);
    since[node] = -1;
  };
  for (let i = 0; i < f.moveCount; i++)
    eachChange(f, i, (node, enters) => {
      if (!enters) end(node, i);
      else if (since[node] < 0) since[node] = i;
    });
  for (let node = 0; node < layout.nodeCount; node++) end(node, f.moveCount);
  return weight;
}

/** Neighbouring bands differ in hue and lightness. */
function colourOf(i: number, dark: boolean): string {
  const hue = (168 + i * 137.508) % 360;
  const light = (dark ? 52 : 48) + (i % 3) * 9;
  return `hsl(${hue.toFixed(0)} ${dark ? 42 : 46}% ${light}%)`;
}

export function stackOf(kind: StackKind, f: Frames, layout: Layout, start: number, dark: boolean): Stack {
  const weight = weightOf(f, layout);
  const seriesOf = (node: number): number => (kind === "values" ? node : layout.group[node]);
  const count = kind === "values" ? layout.nodeCount : layout.groupCount;
  const sum = new Float64Array(count);
  for (let node = 0; node < layout.nodeCount; node++) if (seriesOf(node) !== NONE) sum[seriesOf(node)] += weight[node];
  const largest = [...sum.keys()].filter((s) => sum[s] > 0).sort((a, b) => sum[b] - sum[a] || a - b).slice(0, BANDS[kind]);
  largest.sort((a, b) => a - b); // in the order of the program, so that bands stay next to their neighbours
  const bands = largest.map((s, i): Band => ({
    name: layout.names.get(kind === "values" ? s : layout.nodeCount + s), colour: colourOf(i, dark), node: kind === "values" ? s : NONE,
  }));
  bands.push({ name: kind === "values" ? "other values" : "no group, or a small one", colour: dark ? "#3b4a56" : "#c3c9c9", node: NONE });
  const place = new Map(largest.map((s, i) => [s, i]));
  const bandOf = new Uint16Array(layout.nodeCount);
  for (let node = 0; node < layout.nodeCount; node++) bandOf[node] = place.get(seriesOf(node)) ?? bands.length - 1;
  let initial = 0;
  for (const node of f.initialFast) initial += layout.size[node];
  return { kind, bands, bandOf, base: Math.max(0, start - initial) };
}

export interface StackSamples {
  columns: number;
  /** For each column, the memory of each band, after each other. */
  values: Float64Array;
  /** The move that each column shows: the one with the largest memory. */
  move: Uint32Array;
}

export function sampleStack(f: Frames, layout: Layout, stack: Stack, axis: Axis, from: number, to: number, columns: number): StackSamples {
  const bands = stack.bands.length;
  const values = new Float64Array(columns * bands);
  const move = new Uint32Array(columns);
  for (let c = 0; c < columns; c++) {
    const [first, last] = axis.moves(from + (c * (to - from)) / columns, from + ((c + 1) * (to - from)) / columns);
    let best = first;
    for (let i = first; i < last; i++) if (f.during[i] > f.during[best]) best = i;
    move[c] = Math.max(best, c ? move[c - 1] : 0);
  }
  const now = new Float64Array(bands);
  const resident = new Uint8Array(layout.nodeCount);
  const set = (node: number, enters: boolean): void => {
    if ((resident[node] === 1) === enters) return;
    resident[node] = enters ? 1 : 0;
    now[stack.bandOf[node]] += enters ? layout.size[node] : -layout.size[node];
  };
  for (const node of f.initialFast) set(node, true);
  let done = 0;
  for (let c = 0; c < columns; c++) {
    for (; done <= move[c] && done < f.moveCount; done++) eachChange(f, done, set);
    values.set(now, c * bands);
  }
  return { columns, values, move };
}

/** The band at a height of memory in a column, or null: above all, or the memory that is always in use. */
export function bandAt(stack: Stack, samples: StackSamples, column: number, memory: number): number | null {
  let top = stack.base;
  if (memory < top) return null;
  for (let b = 0; b < stack.bands.length; b++) {
    top += samples.values[column * stack.bands.length + b];
    if (memory < top) return b;
  }
  return null;
}
