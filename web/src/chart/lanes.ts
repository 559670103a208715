// Below memory over time, for plans of the timed game: a strip for each lane with its moves over time, and a small chart for each other
// memory. Both share the range and the playhead of the memory chart.
import { NONE, Op, RECOMPUTE_BIT, type Frames, type Timed } from "../binary";
import { amount, percent } from "../format";
import { NodeState } from "../node_state";
import { withAlpha, type Theme } from "../states_palette";
import { MARGIN, plotWidth, xOf, type Pen, type Plot } from "./paint";

const LANE = 17;
const THIN_LANE = 9; // of many lanes
const MANY = 12;
const CURVE = 34;
const GAP = 3;
const MIN_PIXELS = 0.4; // shorter moves are merged with their neighbours
const NAME_PIXELS = 46;

interface Strip {
  kind: "lane" | "memory";
  index: number;
  top: number;
  height: number;
}

/** How long a lane works, as a share of the makespan. */
export function busyShare(f: Frames, lane: number): number {
  const { timed } = f;
  if (!timed?.makespan) return 0;
  let busy = 0;
  for (let i = 0; i < f.moveCount; i++) if (timed.lane[i] === lane) busy += timed.end[i] - f.time[i];
  return busy / timed.makespan;
}

/** The move that a lane does at a time, or -1: the lane is idle. */
export function moveAt(f: Frames, moves: readonly number[], time: number): number {
  let low = 0;
  let high = moves.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (f.time[moves[middle]] <= time) low = middle + 1;
    else high = middle;
  }
  const found = low ? moves[low - 1] : -1;
  return found >= 0 && f.timed && f.timed.end[found] > time ? found : -1;
}

export class LaneChart {
  readonly element = document.createElement("div");
  onScrub?: (step: number) => void;
  onPick?: (node: number) => void;
  onMemory?: (memory: number) => void;
  private readonly base = document.createElement("canvas");
  private readonly top = document.createElement("canvas");
  private readonly tip = document.createElement("div");
  private frames: Frames | null = null;
  private strips: Strip[] = [];
  private moves: number[][] = []; // by lane
  private busy: number[] = [];
  private plot: Plot | null = null;
  private describe: ((move: number) => string) | null = null;
  private step = 0;
  private width = 0;
  private dpr = 1;
  private family = "sans-serif";
  private dragging = false;

  constructor(private theme: Theme) {
    this.element.className = "lane-chart";
    this.element.hidden = true;
    this.element.dataset.testid = "lane-chart";
    this.element.setAttribute("role", "img");
    this.tip.className = "memory-chart-tip lane-tip";
    this.tip.hidden = true;
    this.element.append(this.base, this.top, this.tip);
    this.element.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.element.setPointerCapture(event.pointerId);
      this.dragging = true;
      this.press(event);
    });
    this.element.addEventListener("pointermove", (event) => this.hover(event));
    this.element.addEventListener("pointerup", () => (this.dragging = false));
    this.element.addEventListener("pointercancel", () => (this.dragging = false));
    this.element.addEventListener("pointerleave", () => (this.tip.hidden = true));
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.draw();
  }

  /** The height that the strips need; 0 without lanes. */
  get height(): number {
    const last = this.strips.at(-1);
    return last ? last.top + last.height + GAP : 0;
  }

  setFrames(frames: Frames | null, describe: (move: number) => string): void {
    const timed = frames?.timed ?? null;
    this.frames = timed ? frames : null;
    this.describe = describe;
    this.element.hidden = !timed;
    this.strips = [];
    this.moves = [];
    this.busy = [];
    if (!frames || !timed) return;
    this.moves = timed.lanes.map(() => []);
    for (let i = 0; i < frames.moveCount; i++) if (timed.lane[i] !== NONE) this.moves[timed.lane[i]].push(i);
    this.busy = timed.lanes.map((_, lane) => busyShare(frames, lane));
    this.place(frames, timed);
    this.element.style.height = `${this.height}px`;
    this.element.setAttribute("aria-label", `Lanes over time: ${timed.lanes.map((name, lane) => `${name} works ${percent(this.busy[lane])} of the time`).join(", ")}`);
  }

  private place(frames: Frames, timed: Timed): void {
    const lanes = timed.lanes.map((_, lane) => lane).filter((lane) => this.moves[lane].length || lane < timed.processors);
    const each = lanes.length > MANY ? THIN_LANE : LANE;
    let top = 1;
    for (const index of lanes) {
      this.strips.push({ kind: "lane", index, top, height: each - 2 });
      top += each;
    }
    top += GAP;
    timed.memories.forEach((memory, index) => {
      if (index === frames.memory || memory.peak === 0) return;
      this.strips.push({ kind: "memory", index, top, height: CURVE - 4 });
      top += CURVE;
    });
  }

  /** Called when the memory chart was drawn: range and margins are its own. */
  follow(plot: Plot): void {
    this.plot = plot;
    this.draw();
  }

  setStep(step: number): void {
    if (step === this.step) return;
    this.step = step;
    this.drawTop();
  }

  private pen(canvas: HTMLCanvasElement): Pen | null {
    const width = this.element.clientWidth;
    const dpr = Math.min(3, devicePixelRatio || 1);
    if (!width || !this.height) return null;
    if (canvas.width !== Math.round(width * dpr) || canvas.height !== Math.round(this.height * dpr)) {
      canvas.width = Math.round(width * dpr);
      canvas.height = Math.round(this.height * dpr);
    }
    this.width = width;
    this.dpr = dpr;
    this.family = getComputedStyle(this.element).fontFamily || this.family;
    const c = canvas.getContext("2d");
    c?.setTransform(this.dpr, 0, 0, this.dpr, 0, 0);
    c?.clearRect(0, 0, width, this.height);
    if (c) c.font = `11px ${this.family}`;
    return c;
  }

  private draw(): void {
    const { frames, plot } = this;
    const c = frames && plot ? this.pen(this.base) : null;
    if (!c || !frames?.timed || !plot) return;
    for (const strip of this.strips) {
      this.label(c, plot, strip, frames.timed);
      if (strip.kind === "lane") this.drawLane(c, plot, frames, strip);
      else this.drawMemory(c, plot, frames, strip);
    }
    this.drawTop();
  }

  private label(c: Pen, p: Plot, strip: Strip, timed: Timed): void {
    if (strip.height < 8) return;
    const name = strip.kind === "lane" ? timed.lanes[strip.index] : timed.memories[strip.index].name;
    const right = strip.kind === "lane" ? ` ${Math.round(100 * this.busy[strip.index])} %` : "";
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillStyle = withAlpha(this.theme.text, 0.85);
    const room = p.left - 10;
    let text = name + right;
    if (c.measureText(text).width > room) text = name;
    while (text.length > 2 && c.measureText(text).width > room) text = `${text.slice(0, -2)}…`;
    c.fillText(text, p.left - 8, strip.top + strip.height / 2 + 0.5);
  }

  private colour(f: Frames, i: number): string {
    const { states } = this.theme;
    const op = f.op[i] & ~RECOMPUTE_BIT;
    if (op === Op.Copy) return f.timed?.memories[f.timed.place[i]].fast ? states[NodeState.Loading] : states[NodeState.Storing];
    return f.op[i] & RECOMPUTE_BIT ? states[NodeState.Recomputing] : states[NodeState.Resident];
  }

  private drawLane(c: Pen, p: Plot, f: Frames, strip: Strip): void {
    const { timed } = f;
    if (!timed) return;
    const left = p.left;
    const right = p.width - MARGIN.right;
    const x = (time: number): number => left + ((time - p.from) / (p.to - p.from)) * plotWidth(p);
    c.fillStyle = withAlpha(this.theme.edge, 0.12);
    c.fillRect(left, strip.top, right - left, strip.height);
    let drawn = Number.NEGATIVE_INFINITY;
    let before = "";
    for (const i of this.moves[strip.index]) {
      const from = Math.max(left, x(f.time[i]));
      const to = Math.min(right, x(timed.end[i]));
      if (to < left || from > right) continue;
      const colour = this.colour(f, i);
      if (to - drawn < MIN_PIXELS && colour === before) continue;
      before = colour;
      drawn = to;
      const wide = to - from > 3 ? to - from - 0.7 : Math.max(to - from, 0.6);
      c.fillStyle = colour;
      c.fillRect(from, strip.top, wide, strip.height);
      if (wide > NAME_PIXELS && strip.height >= 12) this.drawName(c, f, i, from, wide, strip);
    }
  }

  private drawName(c: Pen, f: Frames, i: number, from: number, wide: number, strip: Strip): void {
    const name = this.describe?.(i).split(" ")[1] ?? "";
    c.save();
    c.beginPath();
    c.rect(from, strip.top, wide, strip.height);
    c.clip();
    c.font = `10px ${this.family}`;
    c.textAlign = "left";
    c.textBaseline = "middle";
    c.fillStyle = this.theme.dark || f.op[i] & RECOMPUTE_BIT ? "#08131a" : "#ffffff";
    c.fillText(name, from + 4, strip.top + strip.height / 2 + 0.5);
    c.restore();
  }

  private drawMemory(c: Pen, p: Plot, f: Frames, strip: Strip): void {
    const { timed } = f;
    if (!timed) return;
    const memory = timed.memories[strip.index];
    const right = p.width - MARGIN.right;
    const full = Number.isFinite(memory.cap) && memory.cap <= 4 * memory.peak ? Math.max(memory.cap, memory.peak) : memory.peak;
    const y = (value: number): number => strip.top + strip.height * (1 - value / Math.max(1, full));
    const x = (time: number): number => Math.max(p.left, Math.min(right, p.left + ((time - p.from) / (p.to - p.from)) * plotWidth(p)));
    const ground = strip.top + strip.height;
    c.fillStyle = withAlpha(this.theme.edge, 0.12);
    c.fillRect(p.left, strip.top, right - p.left, strip.height);
    c.fillStyle = withAlpha(this.theme.states[memory.fast ? NodeState.Resident : NodeState.Slow], 0.6);
    c.beginPath();
    c.moveTo(p.left, ground);
    let now = memory.start;
    c.lineTo(p.left, y(now));
    for (let i = 0; i < f.moveCount; i++) {
      if (timed.place[i] !== strip.index) continue;
      c.lineTo(x(f.time[i]), y(now));
      now = timed.held[i];
      c.lineTo(x(f.time[i]), y(now));
      if (timed.left[i] === now) continue;
      c.lineTo(x(timed.end[i]), y(now));
      now = timed.left[i];
      c.lineTo(x(timed.end[i]), y(now));
    }
    c.lineTo(x(timed.makespan), y(now));
    c.lineTo(x(timed.makespan), ground);
    c.fill();
    c.textAlign = "right";
    c.textBaseline = "top";
    c.fillStyle = this.theme.text;
    c.fillText(`peak ${p.format(memory.peak)}`, right - 4, strip.top + 2);
  }

  private drawTop(): void {
    const { plot, frames } = this;
    const c = plot && frames ? this.pen(this.top) : null;
    if (!c || !plot) return;
    const x = xOf(plot, this.step);
    const right = plot.width - MARGIN.right;
    c.fillStyle = withAlpha(this.theme.background, 0.5);
    c.fillRect(Math.max(plot.left, x), 0, Math.max(0, right - Math.max(plot.left, x)), this.height);
    if (x < plot.left || x > right) return;
    c.fillStyle = this.theme.text;
    c.fillRect(x - 0.75, 0, 1.5, this.height);
  }

  private timeAt(event: PointerEvent): { time: number; y: number; x: number } | null {
    const { plot } = this;
    if (!plot) return null;
    const box = this.element.getBoundingClientRect();
    const x = event.clientX - box.left;
    return { time: plot.from + ((x - plot.left) / plotWidth(plot)) * (plot.to - plot.from), y: event.clientY - box.top, x };
  }

  private press(event: PointerEvent): void {
    const at = this.timeAt(event);
    const { plot } = this;
    if (!at || !plot) return;
    const strip = this.strips.find((one) => at.y >= one.top && at.y < one.top + one.height);
    if (at.x < plot.left && strip?.kind === "memory") return this.onMemory?.(strip.index);
    this.onScrub?.(plot.axis.step(at.time));
    if (strip?.kind !== "lane" || !this.frames) return;
    const move = moveAt(this.frames, this.moves[strip.index], at.time);
    if (move >= 0) this.onPick?.(this.frames.node[move]);
  }

  private hover(event: PointerEvent): void {
    const at = this.timeAt(event);
    const { frames, plot } = this;
    if (!at || !frames?.timed || !plot) return;
    if (this.dragging) this.onScrub?.(plot.axis.step(at.time));
    const strip = this.strips.find((one) => at.y >= one.top && at.y < one.top + one.height);
    this.tip.hidden = !strip;
    if (!strip) return;
    this.tip.textContent = strip.kind === "lane" ? this.laneTip(frames, strip.index, at.time, plot) : memoryTip(frames.timed, strip.index, plot);
    const room = this.width - this.tip.offsetWidth;
    this.tip.style.left = `${Math.max(0, Math.min(room, at.x + 14))}px`;
    this.tip.style.bottom = `${this.height - strip.top + 4}px`;
  }

  private laneTip(f: Frames, lane: number, time: number, plot: Plot): string {
    const name = f.timed?.lanes[lane] ?? "";
    const head = `${name}: works ${percent(this.busy[lane])} of the time`;
    const move = moveAt(f, this.moves[lane], time);
    if (move < 0 || !f.timed) return `${head}\nidle here`;
    const end = f.timed.end[move];
    return `${head}\n${this.describe?.(move) ?? ""}\nfrom ${plot.formatTime(f.time[move])} to ${plot.formatTime(end)}, ${plot.formatTime(end - f.time[move])}`;
  }
}

function memoryTip(timed: Timed, memory: number, plot: Plot): string {
  const { name, peak, cap } = timed.memories[memory];
  const limit = Number.isFinite(cap) ? ` of ${plot.format(cap)}` : "";
  return `${name}: peak ${plot.format(peak)}${limit}\nclick the name to show it above`;
}

/** The time axis of a plan, as text. */
export function timeText(unit: string): (value: number) => string {
  return (value) => amount(Number.isInteger(value) ? value : Number(value.toPrecision(4)), unit);
}
