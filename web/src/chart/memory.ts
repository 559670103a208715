// Memory over the moves of a plan: filled area, cap line, mark at the peak, playhead. Slow memory is a second area below.
//
// Two canvases: the curve is drawn when the plan, the range or the size changes; the playhead and the hover line are on the second
// one, so that playing draws little. Drag scrubs, Shift and drag zooms into a range, the wheel zooms, a double click shows all, arrow keys
// step. The x axis counts work or moves. Memory may be stacked by group or value: the pointer names the band, a click follows a value.

import type { Frames } from "../binary";
import { NONE, type Layout } from "../binary";
import { axisOf, type AxisKind } from "./axis";
import { MARGIN, Plot, drawAxes, drawCap, drawFast, drawPeak, drawPlayhead, drawPointer, drawRange, drawSlow, drawStack, drawVeil, memoryAt, memoryTicks, plotWidth } from "./paint";
import { sampleMoves } from "./samples";
import { bandAt, sampleStack, stackOf, type Stack, type StackKind, type StackSamples } from "./stack";
import { group } from "../format";
import { Theme, withAlpha } from "../states_palette";

const MIN_SPAN = 12;
const FONT = "11px";
const MIN_LEFT = 44;
const LANES_LEFT = 84; // room for the names of lanes
const MAX_LEFT = 130;

export class MemoryChart {
  onScrub?: (step: number) => void;
  /** The range and the margins that were drawn; for charts below that share them. */
  onView?: (plot: Plot) => void;
  /** A click on the band of a value. */
  onPick?: (node: number) => void;
  /** More about a value in memory at a step, for the tooltip. */
  onAsk?: (node: number, step: number) => string[];
  private readonly box: HTMLDivElement;
  private readonly curve: HTMLCanvasElement;
  private readonly top: HTMLCanvasElement;
  private readonly tip: HTMLDivElement;
  private readonly observer: ResizeObserver;
  private readonly stop = new AbortController();
  private readonly plot: Plot;
  private frames: Frames | null = null;
  private layout: Layout | null = null;
  private start = 0; // memory before the first move
  private stackKind: StackKind | "total" = "total";
  private stack: Stack | null = null;
  private stacked: StackSamples | null = null;
  private hot: number | null = null;
  private range: number | null = null; // where Shift and drag began
  private pressed: { x: number; y: number } | null = null;
  private describe: ((move: number) => string) | null = null;
  private step = 0;
  private dpr = 1;
  private pointer: { x: number; y: number } | null = null;
  private dragging = false;
  private family = "sans-serif";

  constructor(host: HTMLElement, theme: Theme) {
    this.plot = { width: 0, height: 0, left: MIN_LEFT, from: 0, to: 1, ceiling: 1, slowCeiling: 0, theme, format: String, axis: axisOf(null, "moves"), formatTime: String };
    this.box = document.createElement("div");
    this.box.style.cssText = "position:relative;width:100%;height:100%;touch-action:none;cursor:crosshair";
    this.box.tabIndex = 0;
    this.box.className = "memory-chart";
    this.box.setAttribute("role", "slider");
    this.box.setAttribute("aria-label", "Memory over the moves of the plan; arrow keys step through it");
    this.curve = document.createElement("canvas");
    this.top = document.createElement("canvas");
    for (const c of [this.curve, this.top]) {
      c.style.cssText = "position:absolute;inset:0;width:100%;height:100%";
      this.box.append(c);
    }
    this.tip = document.createElement("div");
    this.tip.className = "memory-chart-tip";
    this.box.append(this.tip);
    host.append(this.box);
    this.styleTip();
    this.listen();
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(this.box);
    this.resize();
  }

  /** `describe` returns a move as text, for the tooltip. */
  setFrames(frames: Frames | null, format: (v: number) => string, describe?: (move: number) => string): void {
    this.frames = frames;
    this.plot.format = format;
    this.describe = describe ?? null;
    this.step = 0;
    if (frames) this.measure(frames);
    this.setAxis(this.plot.axis.kind, this.plot.formatTime);
    this.setStack(this.stackKind, null, 0);
  }

  /** What the x axis counts. Plans without work count moves. */
  setAxis(kind: AxisKind, formatTime: (v: number) => string): void {
    this.plot.axis = axisOf(this.frames, kind);
    this.plot.formatTime = formatTime;
    this.plot.from = 0;
    this.plot.to = this.plot.axis.end;
    this.draw();
  }

  /** `start` is the memory before the first move. */
  setStack(kind: StackKind | "total", layout: Layout | null, start: number): void {
    this.stackKind = kind;
    this.layout = layout;
    this.start = start;
    this.stack = this.frames && layout && kind !== "total" ? stackOf(kind, this.frames, layout, start, this.plot.theme.dark) : null;
    this.hot = null;
    this.draw();
  }

  setStep(step: number): void {
    if (step === this.step) return;
    this.step = step;
    this.follow();
    this.drawTop();
  }

  setTheme(theme: Theme): void {
    this.plot.theme = theme;
    this.styleTip();
    this.setStack(this.stackKind, this.layout, this.start);
  }

  resize(): void {
    const width = this.box.clientWidth;
    const height = this.box.clientHeight;
    const dpr = Math.min(3, window.devicePixelRatio || 1);
    if (width === 0 || height === 0) return;
    if (width === this.plot.width && height === this.plot.height && dpr === this.dpr) return;
    this.plot.width = width;
    this.plot.height = height;
    this.dpr = dpr;
    this.family = getComputedStyle(this.box).fontFamily || "sans-serif";
    for (const c of [this.curve, this.top]) {
      c.width = Math.round(width * dpr);
      c.height = Math.round(height * dpr);
    }
    this.draw();
  }

  destroy(): void {
    this.stop.abort();
    this.observer.disconnect();
    this.box.remove();
  }

  private measure(f: Frames): void {
    let slow = 0;
    for (let i = 0; i < f.moveCount; i++) if (f.slow[i] > slow) slow = f.slow[i];
    this.plot.slowCeiling = f.tierCount > 0 ? slow : 0;
    // A cap far above the memory in use would flatten the curve: then it is not shown.
    const cap = Number.isFinite(f.cap) && f.cap <= f.peak * 4 ? f.cap : 0;
    this.plot.ceiling = Math.max(f.peak, cap, 1) * 1.06;
    this.box.setAttribute("aria-valuemin", "0");
    this.box.setAttribute("aria-valuemax", String(f.moveCount));
  }

  private stepAt(x: number): number {
    const p = this.plot;
    return p.axis.step(p.from + ((x - p.left) / plotWidth(p)) * (p.to - p.from));
  }

  private pen(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const c = canvas.getContext("2d");
    if (!c) return null;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    c.font = `${FONT} ${this.family}`;
    return c;
  }

  private draw(): void {
    const p = this.plot;
    if (p.width === 0) return;
    const c = this.pen(this.curve);
    const f = this.frames;
    if (c && f && f.moveCount > 0) {
      const labels = [...memoryTicks(p), p.slowCeiling].map((v) => c.measureText(p.format(v)).width);
      p.left = Math.round(Math.max(f.timed ? LANES_LEFT : MIN_LEFT, Math.min(MAX_LEFT, Math.max(...labels) + 18)));
      const columns = Math.max(1, Math.round(plotWidth(p) * this.dpr));
      const samples = sampleMoves(f, p.from, p.to, columns, p.axis);
      drawAxes(c, p);
      this.stacked = this.stack && this.layout ? sampleStack(f, this.layout, this.stack, p.axis, p.from, p.to, columns) : null;
      if (this.stack && this.stacked) drawStack(c, p, this.stack, this.stacked, samples.max, this.hot);
      else drawFast(c, p, samples);
      if (p.slowCeiling > 0) drawSlow(c, p, samples);
    }
    this.onView?.(p);
    this.drawTop();
  }

  private drawTop(): void {
    const p = this.plot;
    const c = p.width > 0 ? this.pen(this.top) : null;
    const f = this.frames;
    if (!c || !f || f.moveCount === 0) return this.hideTip();
    drawVeil(c, p, this.step);
    drawCap(c, p, f);
    drawPeak(c, p, f);
    const place = p.axis.at(this.step);
    if (place >= p.from && place <= p.to) drawPlayhead(c, p, f, this.step);
    if (this.pointer && !this.dragging) drawPointer(c, p, this.pointer.x);
    if (this.pointer && this.range !== null) drawRange(c, p, this.range, this.pointer.x);
    this.box.setAttribute("aria-valuenow", String(this.step));
    const move = this.step > 0 ? `, ${this.describe?.(this.step - 1) ?? ""}, ${p.format(f.during[this.step - 1])}` : "";
    this.box.setAttribute("aria-valuetext", `move ${this.step} of ${f.moveCount}${move}`);
    this.showTip(f);
  }

  private styleTip(): void {
    const t = this.plot.theme;
    this.tip.style.cssText =
      "position:absolute;pointer-events:none;visibility:hidden;white-space:pre;padding:5px 9px;border-radius:6px;font-size:11.5px;line-height:1.45;z-index:5;max-width:320px;overflow:hidden;text-overflow:ellipsis;font-variant-numeric:tabular-nums;" +
      `color:${t.text};background:${withAlpha(t.background, 0.95)};border:1px solid ${withAlpha(t.edge, 0.45)};box-shadow:0 4px 14px rgba(0,0,0,${t.dark ? 0.45 : 0.12})`;
  }

  private showTip(f: Frames): void {
    const p = this.plot;
    const at = this.pointer;
    if (!at || at.x < p.left - 2 || at.x > p.width - MARGIN.right + 2) return this.hideTip();
    const step = Math.max(1, this.stepAt(at.x));
    const i = step - 1;
    const lines = [`move ${group(step)} of ${group(f.moveCount)}`];
    lines.push(...this.bandLines(at, step));
    if (this.describe) lines.push(this.describe(i));
    lines.push(`memory ${p.format(f.during[i])}${f.during[i] !== f.after[i] ? `, then ${p.format(f.after[i])}` : ""}`);
    if (p.slowCeiling > 0) lines.push(`slow ${p.format(f.slow[i])}`);
    this.tip.textContent = lines.join("\n");
    this.tip.style.visibility = "visible";
    const w = this.tip.offsetWidth;
    const left = at.x + 14 + w > p.width ? at.x - 14 - w : at.x + 14;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${Math.max(0, Math.min(p.height - this.tip.offsetHeight, at.y - 20))}px`;
  }

  /** The band at a point of the chart. */
  private bandUnder(at: { x: number; y: number }): number | null {
    const { plot: p, stack, stacked } = this;
    if (!stack || !stacked) return null;
    const column = Math.max(0, Math.min(stacked.columns - 1, Math.floor(((at.x - p.left) / plotWidth(p)) * stacked.columns)));
    return bandAt(stack, stacked, column, memoryAt(p, at.y));
  }

  private bandLines(at: { x: number; y: number }, step: number): string[] {
    const { stack, stacked, plot: p } = this;
    const band = this.bandUnder(at);
    if (!stack || !stacked || band === null) return [];
    const column = Math.max(0, Math.min(stacked.columns - 1, Math.floor(((at.x - p.left) / plotWidth(p)) * stacked.columns)));
    const { name, node } = stack.bands[band];
    const value = stacked.values[column * stack.bands.length + band];
    return [`${name}: ${p.format(value)}`, ...(node === NONE ? [] : (this.onAsk?.(node, step) ?? []))];
  }

  private warm(): void {
    const hot = this.pointer && !this.dragging ? this.bandUnder(this.pointer) : null;
    if (hot === this.hot) return this.drawTop();
    this.hot = hot;
    this.draw();
  }

  private hideTip(): void {
    this.tip.style.visibility = "hidden";
  }

  /** Scrolls a zoomed chart so that the playhead is visible. */
  private follow(): void {
    const { from, to } = this.plot;
    if (!this.frames || to - from >= this.plot.axis.end || this.dragging) return;
    const place = this.plot.axis.at(this.step);
    if (place < from || place > to) this.setRange(place - (to - from) * 0.1, to - from);
  }

  private setRange(from: number, span: number): void {
    const { end } = this.plot.axis;
    const least = (end * MIN_SPAN) / Math.max(MIN_SPAN, this.frames?.moveCount ?? 1);
    const wide = Math.min(end, Math.max(least, span));
    this.plot.from = Math.max(0, Math.min(end - wide, from));
    this.plot.to = this.plot.from + wide;
    this.draw();
  }

  private scrub(x: number): void {
    this.step = this.stepAt(x);
    this.onScrub?.(this.step);
    this.drawTop();
  }

  private place(e: MouseEvent): { x: number; y: number } {
    const b = this.box.getBoundingClientRect();
    return { x: e.clientX - b.left, y: e.clientY - b.top };
  }

  private listen(): void {
    const options = { signal: this.stop.signal, passive: false };
    const on = <K extends keyof HTMLElementEventMap>(type: K, handler: (e: HTMLElementEventMap[K]) => void): void =>
      this.box.addEventListener(type, handler, options);
    on("pointerdown", (e) => {
      if (e.button !== 0 || !this.frames) return;
      this.box.setPointerCapture(e.pointerId);
      this.pointer = this.pressed = this.place(e);
      if (e.shiftKey) {
        this.range = this.pointer.x;
        return;
      }
      this.dragging = true;
      this.scrub(this.pointer.x);
    });
    on("pointermove", (e) => {
      this.pointer = this.place(e);
      if (this.dragging) this.scrub(this.pointer.x);
      else this.warm();
    });
    const release = (): void => {
      this.dragging = false;
      this.endPress();
      this.drawTop();
    };
    on("pointerup", release);
    on("pointercancel", release);
    on("pointerleave", () => {
      this.pointer = null;
      this.warm();
    });
    on("wheel", (e) => this.wheel(e));
    on("dblclick", () => this.setRange(0, this.plot.axis.end));
    on("keydown", (e) => this.key(e));
  }

  /** A range was chosen, or a band was clicked. */
  private endPress(): void {
    const { plot: p, range, pressed, pointer } = this;
    this.range = this.pressed = null;
    if (range !== null && pointer && Math.abs(pointer.x - range) > 4) {
      const place = (x: number): number => p.from + ((Math.max(p.left, x) - p.left) / plotWidth(p)) * (p.to - p.from);
      const from = Math.min(place(range), place(pointer.x));
      this.setRange(from, Math.max(place(range), place(pointer.x)) - from);
    } else if (range === null && pressed && pointer && Math.hypot(pointer.x - pressed.x, pointer.y - pressed.y) < 4) {
      const band = this.bandUnder(pointer);
      const node = band === null ? NONE : (this.stack?.bands[band].node ?? NONE);
      if (node !== NONE) this.onPick?.(node);
    }
  }

  private wheel(e: WheelEvent): void {
    if (!this.frames) return;
    e.preventDefault();
    const p = this.plot;
    const span = p.to - p.from;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY))
      return this.setRange(p.from + ((e.deltaX || e.deltaY) / plotWidth(p)) * span, span);
    const share = Math.max(0, Math.min(1, (this.place(e).x - p.left) / plotWidth(p)));
    const wide = span * Math.exp(Math.max(-200, Math.min(200, e.deltaY)) * 0.002);
    this.setRange(p.from + share * (span - wide), wide);
  }

  private key(e: KeyboardEvent): void {
    const f = this.frames;
    if (!f || e.ctrlKey || e.metaKey || e.altKey) return;
    const big = Math.max(1, Math.round((this.plot.to - this.plot.from) / 20));
    const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -big, PageDown: big, Home: -f.moveCount, End: f.moveCount };
    const by = moves[e.key];
    if (by === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    this.setStep(Math.max(0, Math.min(f.moveCount, this.step + by * (e.shiftKey ? 10 : 1))));
    this.onScrub?.(this.step);
  }
}
