// Drawing of the memory chart on a 2D canvas: axes, areas, cap line, peak mark, playhead.

import type { Frames } from "../binary";
import type { Axis } from "./axis";
import { Samples, niceTicks } from "./samples";
import type { Stack, StackSamples } from "./stack";
import { group } from "../format";
import { NodeState } from "../node_state";
import { Theme, withAlpha } from "../states_palette";

export const MARGIN = { right: 14, top: 16, bottom: 20 };
/** Share of the height for fast memory if there is slow memory too. */
const FAST_SHARE = 0.68;

/** Geometry: sizes in CSS pixels, the range of the axis that is shown, and the value at the top of each area. */
export interface Plot {
  width: number;
  height: number;
  /** Width at the left for the labels of the axis. */
  left: number;
  from: number;
  to: number;
  ceiling: number;
  slowCeiling: number;
  theme: Theme;
  format: (v: number) => string;
  axis: Axis;
  formatTime: (v: number) => string;
}

export type Pen = CanvasRenderingContext2D;

export const plotWidth = (p: Plot): number => Math.max(1, p.width - p.left - MARGIN.right);
export const plotHeight = (p: Plot): number => Math.max(1, p.height - MARGIN.top - MARGIN.bottom);
const fastHeight = (p: Plot): number => plotHeight(p) * (p.slowCeiling > 0 ? FAST_SHARE : 1);
export const xOf = (p: Plot, step: number): number => placeOf(p, p.axis.at(step));
const placeOf = (p: Plot, place: number): number => p.left + ((place - p.from) / (p.to - p.from)) * plotWidth(p);
const yOf = (p: Plot, memory: number): number => MARGIN.top + fastHeight(p) * (1 - memory / p.ceiling);

/** Values at which the memory axis has labels. */
export function memoryTicks(p: Plot): number[] {
  const binary = /i?B$/.test(p.format(1 << 20));
  return niceTicks(p.ceiling, Math.max(2, Math.floor(fastHeight(p) / 26)), binary);
}

export function drawAxes(c: Pen, p: Plot): void {
  const { theme } = p;
  const right = p.width - MARGIN.right;
  c.textBaseline = "middle";
  c.textAlign = "right";
  c.lineWidth = 1;
  for (const v of memoryTicks(p)) {
    const y = Math.round(yOf(p, v)) + 0.5;
    c.strokeStyle = withAlpha(theme.edge, v === 0 ? 0.5 : 0.16);
    c.beginPath();
    c.moveTo(p.left, y);
    c.lineTo(right, y);
    c.stroke();
    c.fillStyle = withAlpha(theme.text, 0.7);
    c.fillText(p.format(v), p.left - 8, y);
  }
  c.textAlign = "center";
  c.textBaseline = "top";
  const span = p.to - p.from;
  const moves = p.axis.kind === "moves";
  const step = Math.max(moves ? 1 : 0, niceTicks(span, Math.max(2, Math.floor(plotWidth(p) / 110)))[1] ?? span);
  for (let v = Math.ceil(p.from / step) * step; v <= p.to; v += step)
    c.fillText(moves ? group(v) : p.formatTime(v), Math.min(placeOf(p, v), right - 14), p.height - MARGIN.bottom + 5);
}

/** Two tones: the memory after moves, and above it what moves need while they run. */
export function drawFast(c: Pen, p: Plot, s: Samples): void {
  const colour = p.theme.states[NodeState.Resident];
  const ground = yOf(p, 0);
  const y = (v: number): number => yOf(p, v);
  const fade = c.createLinearGradient(0, MARGIN.top, 0, ground);
  fade.addColorStop(0, withAlpha(colour, p.theme.dark ? 0.5 : 0.42));
  fade.addColorStop(1, withAlpha(colour, p.theme.dark ? 0.1 : 0.12));
  c.fillStyle = withAlpha(colour, 0.2);
  area(c, p, s.max, y, ground);
  c.fillStyle = fade;
  area(c, p, s.min, y, ground);
  c.strokeStyle = withAlpha(colour, 0.95);
  outline(c, p, s.max, y);
}

/** One band for each group or value, and what moves need above them while they run. */
export function drawStack(c: Pen, p: Plot, stack: Stack, s: StackSamples, max: Float64Array, hot: number | null): void {
  const bands = stack.bands.length;
  const low = new Float64Array(s.columns).fill(stack.base);
  c.fillStyle = withAlpha(p.theme.states[NodeState.Resident], 0.2);
  area(c, p, max, (v) => yOf(p, v), yOf(p, 0));
  if (stack.base > 0) {
    c.fillStyle = withAlpha(p.theme.edge, 0.35);
    c.fillRect(p.left, yOf(p, stack.base), plotWidth(p), yOf(p, 0) - yOf(p, stack.base));
  }
  const wide = plotWidth(p) / s.columns;
  for (let b = 0; b < bands; b++) {
    c.fillStyle = hot === null || hot === b ? stack.bands[b].colour : `color-mix(in srgb, ${stack.bands[b].colour} 45%, ${p.theme.background})`;
    c.beginPath();
    let from = 0;
    for (let i = 0; i < s.columns; i++) { // equal neighbours are one rectangle
      const value = s.values[i * bands + b];
      const end = i + 1 === s.columns || s.values[(i + 1) * bands + b] !== value || low[i + 1] !== low[from];
      if (!end) continue;
      if (value > 0) {
        const y = yOf(p, low[from] + value);
        c.rect(p.left + from * wide, y, (i + 1 - from) * wide, yOf(p, low[from]) - y + 0.3);
      }
      from = i + 1;
    }
    c.fill();
    for (let i = 0; i < s.columns; i++) low[i] += s.values[i * bands + b];
  }
}

export function drawRange(c: Pen, p: Plot, from: number, to: number): void {
  c.fillStyle = withAlpha(p.theme.accent, 0.25);
  c.fillRect(Math.min(from, to), MARGIN.top, Math.abs(to - from), plotHeight(p));
}

/** Memory at a height of the chart. */
export const memoryAt = (p: Plot, y: number): number => p.ceiling * (1 - (y - MARGIN.top) / fastHeight(p));

/** Slow memory is drawn below the line, on its own scale. */
export function drawSlow(c: Pen, p: Plot, s: Samples): void {
  const colour = p.theme.states[NodeState.Slow];
  const ground = yOf(p, 0) + 5;
  const depth = plotHeight(p) - fastHeight(p) - 8;
  const y = (v: number): number => ground + (v / p.slowCeiling) * depth;
  c.fillStyle = withAlpha(colour, p.theme.dark ? 0.28 : 0.24);
  area(c, p, s.slow, y, ground);
  c.strokeStyle = withAlpha(colour, 0.9);
  outline(c, p, s.slow, y);
  c.textAlign = "right";
  c.textBaseline = "middle";
  c.fillStyle = colour;
  // On a low chart there is room for one line.
  const roomy = depth >= 30;
  if (roomy) c.fillText("slow", p.left - 8, ground + depth / 2 - 6);
  c.fillText(p.format(p.slowCeiling), p.left - 8, ground + depth - 4);
  if (!roomy) {
    c.textAlign = "left";
    haloed(c, p, "slow memory", p.left + 6, ground + depth / 2, colour);
  }
}

function area(c: Pen, p: Plot, values: Float64Array, y: (v: number) => number, ground: number): void {
  c.beginPath();
  c.moveTo(p.left, ground);
  trace(c, p, values, y);
  c.lineTo(p.left + plotWidth(p), ground);
  c.closePath();
  c.fill();
}

function outline(c: Pen, p: Plot, values: Float64Array, y: (v: number) => number): void {
  c.lineWidth = 1.2;
  c.lineJoin = "round";
  c.beginPath();
  c.moveTo(p.left, y(values[0]));
  trace(c, p, values, y);
  c.stroke();
}

/** Steps, not slopes: memory changes with a move, not between moves. */
function trace(c: Pen, p: Plot, values: Float64Array, y: (v: number) => number): void {
  const wide = plotWidth(p) / values.length;
  for (let i = 0; i < values.length; i++) {
    if (i > 0 && i + 1 < values.length && values[i] === values[i - 1] && values[i] === values[i + 1]) continue;
    const at = y(values[i]);
    c.lineTo(p.left + i * wide, at);
    c.lineTo(p.left + (i + 1) * wide, at);
  }
}

export function drawCap(c: Pen, p: Plot, f: Frames): void {
  if (!Number.isFinite(f.cap) || f.cap > p.ceiling) return;
  const y = Math.round(yOf(p, f.cap)) + 0.5;
  const right = p.width - MARGIN.right;
  const colour = p.theme.states[NodeState.Recomputing];
  c.strokeStyle = colour;
  c.lineWidth = 1.25;
  c.setLineDash([6, 4]);
  c.beginPath();
  c.moveTo(p.left, y);
  c.lineTo(right, y);
  c.stroke();
  c.setLineDash([]);
  // The label goes to the end without the mark of the peak.
  const atLeft = xOf(p, f.peakStep < f.moveCount ? f.peakStep : 0) > p.left + plotWidth(p) * 0.85;
  c.textAlign = atLeft ? "left" : "right";
  c.textBaseline = "bottom";
  haloed(c, p, `cap ${p.format(f.cap)}`, atLeft ? p.left + 2 : right - 2, y - 2, colour);
}

export function drawPeak(c: Pen, p: Plot, f: Frames): void {
  // A peak before the first move has no step of its own.
  const x = xOf(p, f.peakStep < f.moveCount ? f.peakStep + (p.axis.kind === "moves" ? 0.5 : 1) : 0);
  if (x < p.left - 1 || x > p.width - MARGIN.right + 1) return;
  const y = yOf(p, f.peak);
  c.fillStyle = p.theme.states[NodeState.Computing];
  c.strokeStyle = p.theme.background;
  c.lineWidth = 2;
  c.beginPath();
  c.arc(x, y, 4, 0, 2 * Math.PI);
  c.stroke();
  c.fill();
  const right = x < p.left + plotWidth(p) * 0.72;
  c.textAlign = right ? "left" : "right";
  c.textBaseline = "top";
  haloed(c, p, `peak ${p.format(f.peak)}`, x + (right ? 8 : -8), y + 3, p.theme.text);
}

function haloed(c: Pen, p: Plot, text: string, x: number, y: number, colour: string): void {
  c.lineWidth = 3;
  c.lineJoin = "round";
  c.strokeStyle = withAlpha(p.theme.background, 0.85);
  c.strokeText(text, x, y);
  c.fillStyle = colour;
  c.fillText(text, x, y);
}

/** Dims the moves after the playhead. */
export function drawVeil(c: Pen, p: Plot, step: number): void {
  const right = p.width - MARGIN.right;
  const x = Math.max(p.left, Math.min(right, xOf(p, step)));
  c.fillStyle = withAlpha(p.theme.background, 0.5);
  c.fillRect(x, MARGIN.top - 2, right - x + 1, plotHeight(p) + 4);
}

export function drawPlayhead(c: Pen, p: Plot, f: Frames, step: number): void {
  const x = xOf(p, step);
  c.fillStyle = p.theme.text;
  c.fillRect(x - 0.75, MARGIN.top - 4, 1.5, plotHeight(p) + 6);
  c.beginPath();
  c.moveTo(x - 5, MARGIN.top - 9);
  c.lineTo(x + 5, MARGIN.top - 9);
  c.lineTo(x, MARGIN.top - 2);
  c.fill();
  if (step === 0) return;
  c.beginPath();
  c.arc(x, yOf(p, f.after[step - 1]), 3, 0, 2 * Math.PI);
  c.fill();
}

export function drawPointer(c: Pen, p: Plot, x: number): void {
  if (x < p.left || x > p.width - MARGIN.right) return;
  c.fillStyle = withAlpha(p.theme.text, 0.4);
  c.fillRect(Math.round(x), MARGIN.top, 1, plotHeight(p));
}
