// Memory over the moves of a plan: filled area, cap line, mark at the peak, playhead. Slow memory hangs below as a second area.
//
// Two canvases: the curve is drawn when the plan, the range or the size changes; the playhead, and what the pointer shows, lie on the second
// one, so that playing costs a line and a veil. Drag scrubs, the wheel zooms in time, arrow keys step.

import type { Frames } from "./binary";
import { Samples, niceTicks, sampleMoves } from "./chart_samples";
import { Theme, withAlpha } from "./states_palette";

const LEFT = 74;
const RIGHT = 14;
const TOP = 16;
const BOTTOM = 20;
const LEAST_SPAN = 12;
const FONT = "11px";

export class MemoryChart {
  onScrub?: (step: number) => void;
  private readonly box: HTMLDivElement;
  private readonly curve: HTMLCanvasElement;
  private readonly top: HTMLCanvasElement;
  private readonly tip: HTMLDivElement;
  private readonly observer: ResizeObserver;
  private readonly stop = new AbortController();
  private frames: Frames | null = null;
  private format: (v: number) => string = String;
  private describe: ((move: number) => string) | null = null;
  private samples: Samples | null = null;
  private step = 0;
  private from = 0;
  private to = 1;
  private width = 0;
  private height = 0;
  private dpr = 1;
  private pointer: { x: number; y: number } | null = null;
  private dragging = false;
  private ceiling = 1;
  private slowCeiling = 0;
  private family = "sans-serif";

  constructor(
    host: HTMLElement,
    private theme: Theme,
  ) {
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

  /** `describe` gives a move in words, for the tooltip. */
  setFrames(frames: Frames | null, format: (v: number) => string, describe?: (move: number) => string): void {
    this.frames = frames;
    this.format = format;
    this.describe = describe ?? null;
    this.from = 0;
    this.to = Math.max(1, frames?.moveCount ?? 1);
    this.step = 0;
    this.measure();
    this.draw();
  }

  setStep(step: number): void {
    if (step === this.step) return;
    this.step = step;
    this.follow();
    this.drawTop();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.styleTip();
    this.draw();
  }

  resize(): void {
    const width = this.box.clientWidth;
    const height = this.box.clientHeight;
    const dpr = Math.min(3, window.devicePixelRatio || 1);
    if (width === 0 || height === 0) return;
    if (width === this.width && height === this.height && dpr === this.dpr) return;
    this.width = width;
    this.height = height;
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

  private measure(): void {
    const f = this.frames;
    if (!f) return;
    let slow = 0;
    for (let i = 0; i < f.moveCount; i++) if (f.slow[i] > slow) slow = f.slow[i];
    this.slowCeiling = f.tierCount > 0 ? slow : 0;
    const cap = Number.isFinite(f.cap) && f.cap <= f.peak * 4 ? f.cap : 0;
    this.ceiling = Math.max(f.peak, cap, 1) * 1.06;
    this.box.setAttribute("aria-valuemin", "0");
    this.box.setAttribute("aria-valuemax", String(f.moveCount));
  }

  private get plotWidth(): number {
    return Math.max(1, this.width - LEFT - RIGHT);
  }
  private get plotHeight(): number {
    return Math.max(1, this.height - TOP - BOTTOM);
  }
  /** Height of the part for fast memory. */
  private get fastHeight(): number {
    return this.slowCeiling > 0 ? this.plotHeight * 0.68 : this.plotHeight;
  }
  private xOf(step: number): number {
    return LEFT + ((step - this.from) / (this.to - this.from)) * this.plotWidth;
  }
  private yOf(memory: number): number {
    return TOP + this.fastHeight * (1 - memory / this.ceiling);
  }
  private stepAt(x: number): number {
    const f = this.frames;
    const step = this.from + ((x - LEFT) / this.plotWidth) * (this.to - this.from);
    return Math.max(0, Math.min(f?.moveCount ?? 0, Math.round(step)));
  }

  private context(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const c = canvas.getContext("2d");
    if (!c) return null;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, canvas.width, canvas.height);
    c.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    c.font = `${FONT} ${this.family}`;
    return c;
  }

  private draw(): void {
    if (this.width === 0) return;
    const c = this.context(this.curve);
    const f = this.frames;
    if (c && f && f.moveCount > 0) {
      const columns = Math.max(1, Math.round(this.plotWidth * this.dpr));
      this.samples = sampleMoves(f, this.from, this.to, columns);
      this.drawAxes(c);
      this.drawFast(c, this.samples);
      if (this.slowCeiling > 0) this.drawSlow(c, this.samples);
    } else {
      this.samples = null;
    }
    this.drawTop();
  }

  private drawAxes(c: CanvasRenderingContext2D): void {
    const text = withAlpha(this.theme.text, 0.62);
    c.textBaseline = "middle";
    c.textAlign = "right";
    c.lineWidth = 1;
    const binary = /i?B$/.test(this.format(1 << 20));
    for (const v of niceTicks(this.ceiling, Math.max(2, Math.floor(this.fastHeight / 24)), binary)) {
      const y = Math.round(this.yOf(v)) + 0.5;
      c.strokeStyle = withAlpha(this.theme.edge, v === 0 ? 0.5 : 0.16);
      c.beginPath();
      c.moveTo(LEFT, y);
      c.lineTo(this.width - RIGHT, y);
      c.stroke();
      c.fillStyle = text;
      c.fillText(this.format(v), LEFT - 8, y);
    }
    c.textAlign = "center";
    c.textBaseline = "top";
    const span = this.to - this.from;
    const step = Math.max(1, niceTicks(span, Math.max(2, Math.floor(this.plotWidth / 110)))[1] ?? span);
    for (let v = Math.ceil(this.from / step) * step; v <= this.to; v += step) {
      const x = this.xOf(v);
      c.fillStyle = text;
      c.fillText(v.toLocaleString("en"), Math.min(x, this.width - RIGHT - 14), this.height - BOTTOM + 5);
    }
  }

  /** Two tones: what stays after moves, and above it what moves need while they run. */
  private drawFast(c: CanvasRenderingContext2D, s: Samples): void {
    const colour = this.theme.states[2];
    const ground = this.yOf(0);
    const fade = c.createLinearGradient(0, TOP, 0, ground);
    fade.addColorStop(0, withAlpha(colour, this.theme.dark ? 0.5 : 0.42));
    fade.addColorStop(1, withAlpha(colour, this.theme.dark ? 0.1 : 0.12));
    c.fillStyle = withAlpha(colour, 0.2);
    this.area(c, s.most, (v) => this.yOf(v), ground);
    c.fillStyle = fade;
    this.area(c, s.least, (v) => this.yOf(v), ground);
    c.strokeStyle = withAlpha(colour, 0.95);
    c.lineWidth = 1.2;
    c.lineJoin = "round";
    this.outline(c, s.most, (v) => this.yOf(v));
  }

  private drawSlow(c: CanvasRenderingContext2D, s: Samples): void {
    const colour = this.theme.states[6];
    const ground = this.yOf(0) + 5;
    const depth = this.plotHeight - this.fastHeight - 8;
    const y = (v: number): number => ground + (v / this.slowCeiling) * depth;
    c.fillStyle = withAlpha(colour, this.theme.dark ? 0.28 : 0.24);
    this.area(c, s.slow, y, ground);
    c.strokeStyle = withAlpha(colour, 0.9);
    c.lineWidth = 1.2;
    this.outline(c, s.slow, y);
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillStyle = withAlpha(colour, 1);
    c.fillText(this.format(this.slowCeiling), LEFT - 8, ground + depth - 4);
    c.fillText("slow", LEFT - 8, ground + depth / 2 - 6);
  }

  private area(c: CanvasRenderingContext2D, values: Float64Array, y: (v: number) => number, ground: number): void {
    c.beginPath();
    c.moveTo(LEFT, ground);
    this.trace(c, values, y);
    c.lineTo(LEFT + this.plotWidth, ground);
    c.closePath();
    c.fill();
  }

  private outline(c: CanvasRenderingContext2D, values: Float64Array, y: (v: number) => number): void {
    c.beginPath();
    c.moveTo(LEFT, y(values[0]));
    this.trace(c, values, y);
    c.stroke();
  }

  /** Steps, not slopes: memory changes with a move, not between moves. */
  private trace(c: CanvasRenderingContext2D, values: Float64Array, y: (v: number) => number): void {
    const wide = this.plotWidth / values.length;
    for (let i = 0; i < values.length; i++) {
      if (i > 0 && i + 1 < values.length && values[i] === values[i - 1] && values[i] === values[i + 1]) continue;
      const at = y(values[i]);
      c.lineTo(LEFT + i * wide, at);
      c.lineTo(LEFT + (i + 1) * wide, at);
    }
  }

  private drawCap(c: CanvasRenderingContext2D, f: Frames): void {
    if (!Number.isFinite(f.cap) || f.cap > this.ceiling) return;
    const y = Math.round(this.yOf(f.cap)) + 0.5;
    const colour = this.theme.states[4];
    c.strokeStyle = colour;
    c.lineWidth = 1.25;
    c.setLineDash([6, 4]);
    c.beginPath();
    c.moveTo(LEFT, y);
    c.lineTo(this.width - RIGHT, y);
    c.stroke();
    c.setLineDash([]);
    c.textAlign = "right";
    c.textBaseline = "bottom";
    this.haloed(c, `cap ${this.format(f.cap)}`, this.width - RIGHT - 2, y - 2, colour);
  }

  private drawPeak(c: CanvasRenderingContext2D, f: Frames): void {
    // A peak before the first move has no step of its own.
    const x = this.xOf(f.peakStep < f.moveCount ? f.peakStep + 0.5 : 0);
    if (x < LEFT || x > this.width - RIGHT) return;
    const y = this.yOf(f.peak);
    const colour = this.theme.states[3];
    c.fillStyle = colour;
    c.strokeStyle = this.theme.background;
    c.lineWidth = 2;
    c.beginPath();
    c.arc(x, y, 4, 0, 2 * Math.PI);
    c.stroke();
    c.fill();
    const right = x < LEFT + this.plotWidth * 0.72;
    c.textAlign = right ? "left" : "right";
    c.textBaseline = "top";
    this.haloed(c, `peak ${this.format(f.peak)}`, x + (right ? 8 : -8), y + 3, this.theme.text);
  }

  private haloed(c: CanvasRenderingContext2D, text: string, x: number, y: number, colour: string): void {
    c.lineWidth = 3;
    c.lineJoin = "round";
    c.strokeStyle = withAlpha(this.theme.background, 0.85);
    c.strokeText(text, x, y);
    c.fillStyle = colour;
    c.fillText(text, x, y);
  }

  private drawTop(): void {
    const c = this.width > 0 ? this.context(this.top) : null;
    const f = this.frames;
    if (!c || !f || f.moveCount === 0) return this.hideTip();
    const x = Math.max(LEFT, Math.min(this.width - RIGHT, this.xOf(this.step)));
    c.fillStyle = withAlpha(this.theme.background, 0.5);
    c.fillRect(x, TOP - 2, this.width - RIGHT - x + 1, this.plotHeight + 4);
    this.drawCap(c, f);
    this.drawPeak(c, f);
    const inside = this.step >= this.from && this.step <= this.to;
    if (inside) this.drawPlayhead(c, f, x);
    this.box.setAttribute("aria-valuenow", String(this.step));
    if (this.pointer && !this.dragging) this.drawPointer(c, this.pointer);
    this.showTip();
  }

  private drawPlayhead(c: CanvasRenderingContext2D, f: Frames, x: number): void {
    c.fillStyle = this.theme.text;
    c.fillRect(x - 0.75, TOP - 4, 1.5, this.plotHeight + 6);
    c.beginPath();
    c.moveTo(x - 5, TOP - 9);
    c.lineTo(x + 5, TOP - 9);
    c.lineTo(x, TOP - 2);
    c.fill();
    if (this.step === 0) return;
    c.beginPath();
    c.arc(x, this.yOf(f.after[this.step - 1]), 3, 0, 2 * Math.PI);
    c.fill();
  }

  private drawPointer(c: CanvasRenderingContext2D, at: { x: number; y: number }): void {
    if (at.x < LEFT || at.x > this.width - RIGHT) return;
    c.fillStyle = withAlpha(this.theme.text, 0.4);
    c.fillRect(Math.round(at.x), TOP, 1, this.plotHeight);
  }

  private styleTip(): void {
    const t = this.theme;
    this.tip.style.cssText =
      "position:absolute;pointer-events:none;visibility:hidden;white-space:pre;padding:5px 9px;border-radius:6px;font-size:11.5px;line-height:1.45;z-index:5;max-width:320px;overflow:hidden;text-overflow:ellipsis;font-variant-numeric:tabular-nums;" +
      `color:${t.text};background:${withAlpha(t.background, 0.95)};border:1px solid ${withAlpha(t.edge, 0.45)};box-shadow:0 4px 14px rgba(0,0,0,${t.dark ? 0.45 : 0.12})`;
  }

  private showTip(): void {
    const f = this.frames;
    const p = this.pointer;
    if (!f || !p || p.x < LEFT - 2 || p.x > this.width - RIGHT + 2) return this.hideTip();
    const step = Math.max(1, this.stepAt(p.x));
    const i = step - 1;
    const lines = [`move ${step.toLocaleString("en")} of ${f.moveCount.toLocaleString("en")}`];
    if (this.describe) lines.push(this.describe(i));
    lines.push(`memory ${this.format(f.during[i])}${f.during[i] !== f.after[i] ? `, then ${this.format(f.after[i])}` : ""}`);
    if (this.slowCeiling > 0) lines.push(`slow ${this.format(f.slow[i])}`);
    this.tip.textContent = lines.join("\n");
    this.tip.style.visibility = "visible";
    const w = this.tip.offsetWidth;
    const left = p.x + 14 + w > this.width ? p.x - 14 - w : p.x + 14;
    this.tip.style.left = `${Math.max(0, left)}px`;
    this.tip.style.top = `${Math.max(0, Math.min(this.height - this.tip.offsetHeight, p.y - 20))}px`;
  }

  private hideTip(): void {
    this.tip.style.visibility = "hidden";
  }

  /** Keeps the playhead on a zoomed chart. */
  private follow(): void {
    const span = this.to - this.from;
    if (!this.frames || span >= this.frames.moveCount || this.dragging) return;
    if (this.step >= this.from && this.step <= this.to) return;
    this.setRange(this.step - span * 0.1, span);
  }

  private setRange(from: number, span: number): void {
    const count = this.frames?.moveCount ?? 1;
    const wide = Math.min(count, Math.max(Math.min(count, LEAST_SPAN), span));
    this.from = Math.max(0, Math.min(count - wide, from));
    this.to = this.from + wide;
    this.draw();
  }

  private scrub(x: number): void {
    const step = this.stepAt(x);
    this.step = step;
    this.onScrub?.(step);
    this.drawTop();
  }

  private listen(): void {
    const signal = this.stop.signal;
    const on = <K extends keyof HTMLElementEventMap>(type: K, handler: (e: HTMLElementEventMap[K]) => void): void =>
      this.box.addEventListener(type, handler, { signal, passive: false });
    const place = (e: MouseEvent): { x: number; y: number } => {
      const b = this.box.getBoundingClientRect();
      return { x: e.clientX - b.left, y: e.clientY - b.top };
    };
    on("pointerdown", (e) => {
      if (e.button !== 0 || !this.frames) return;
      this.dragging = true;
      this.box.setPointerCapture(e.pointerId);
      this.pointer = place(e);
      this.scrub(this.pointer.x);
    });
    on("pointermove", (e) => {
      this.pointer = place(e);
      if (this.dragging) this.scrub(this.pointer.x);
      else this.drawTop();
    });
    const release = (): void => {
      this.dragging = false;
      this.drawTop();
    };
    on("pointerup", release);
    on("pointercancel", release);
    on("pointerleave", () => {
      this.pointer = null;
      this.drawTop();
    });
    on("wheel", (e) => {
      if (!this.frames) return;
      e.preventDefault();
      const span = this.to - this.from;
      if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) return this.setRange(this.from + ((e.deltaX || e.deltaY) / this.plotWidth) * span, span);
      const share = Math.max(0, Math.min(1, (place(e).x - LEFT) / this.plotWidth));
      const wide = span * Math.exp(Math.max(-200, Math.min(200, e.deltaY)) * 0.002);
      this.setRange(this.from + share * (span - wide), wide);
    });
    on("dblclick", () => this.setRange(0, this.frames?.moveCount ?? 1));
    on("keydown", (e) => this.key(e));
  }

  private key(e: KeyboardEvent): void {
    const f = this.frames;
    if (!f || e.ctrlKey || e.metaKey || e.altKey) return;
    const big = Math.max(1, Math.round((this.to - this.from) / 20));
    const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageUp: -big, PageDown: big, Home: -f.moveCount, End: f.moveCount };
    const by = moves[e.key];
    if (by === undefined) return;
    e.preventDefault();
    e.stopPropagation();
    this.setStep(Math.max(0, Math.min(f.moveCount, this.step + by * (e.shiftKey ? 10 : 1))));
    this.onScrub?.(this.step);
  }
}
