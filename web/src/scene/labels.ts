// Text over the scene: titles of lanes, names of groups and of nodes. Drawn only if it is readable, never over other text, and only
// when the view or the selection changes: playing a plan does not redraw it.

import type { Band } from "./boxes";
import type { Camera } from "./camera";
import type { NodeGrid } from "./grid";
import { SceneLayout, boxOnScreen, drawnRadius } from "./shape";
import { Theme, withAlpha } from "../states_palette";

const MAX_LABELS = 320;
const MAX_CANDIDATES = 2_400;
const MIN_SCALE = 17;
const ROW = 4;
const LONGEST = 150;
/** A narrow group may have a name this wide, if nothing is in the way. */
const MIN_GROUP = 64;
/** A name cut shorter than this is not shown. */
const MIN_LETTERS = 6;

export interface Label {
  text: string;
  x: number;
  y: number;
  align: "left" | "center";
  kind: "node" | "chosen" | "group" | "lane";
  opacity: number;
}

export interface LabelSource {
  layout: SceneLayout;
  grid: NodeGrid;
  camera: Camera;
  bands: readonly Band[];
  chosen: readonly number[];
  width: (text: string, kind: Label["kind"]) => number;
}

/** Keeps track of the parts of the screen that are covered by text. */
class Occupied {
  private readonly rows = new Map<number, number[]>();

  take(left: number, top: number, right: number, bottom: number): boolean {
    const r0 = Math.floor(top / ROW), r1 = Math.floor(bottom / ROW);
    for (let r = r0; r <= r1; r++) {
      const spans = this.rows.get(r);
      if (spans) for (let i = 0; i < spans.length; i += 2) if (left < spans[i + 1] && right > spans[i]) return false;
    }
    this.block(left, top, right, bottom);
    return true;
  }

  block(left: number, top: number, right: number, bottom: number): void {
    for (let r = Math.floor(top / ROW); r <= Math.floor(bottom / ROW); r++) {
      const spans = this.rows.get(r);
      if (spans) spans.push(left, right);
      else this.rows.set(r, [left, right]);
    }
  }
}

/** Chooses the labels for a view, most important first, without overlap. */
export function placeLabels(s: LabelSource): Label[] {
  const out: Label[] = [];
  const occupied = new Occupied();
  placeChosen(s, out, occupied);
  placeLanes(s, out, occupied);
  placeGroups(s, out, occupied);
  if (s.camera.view.scale >= MIN_SCALE) placeNodes(s, out, occupied);
  return out;
}

/** As much of a name as fits: all of it, its last part, or a beginning of MIN_LETTERS or more; else nothing. */
export function shorten(text: string, max: number, width: (t: string) => number): string {
  if (width(text) <= max) return text;
  const last = text.slice(Math.max(text.lastIndexOf("."), text.lastIndexOf("/"), text.lastIndexOf(" ")) + 1);
  if (last.length > 2 && last.length < text.length && width(last) <= max) return last;
  let low = 0, high = text.length;
  while (low < high) {
    const mid = (low + high + 1) >> 1;
    if (width(`${text.slice(0, mid)}…`) <= max) low = mid;
    else high = mid - 1;
  }
  return low >= MIN_LETTERS ? `${text.slice(0, low)}…` : "";
}

function nodeLabel(s: LabelSource, v: number, kind: "node" | "chosen", opacity: number, occupied: Occupied): Label | null {
  const measure = (t: string): number => s.width(t, kind);
  const room = kind === "chosen" ? 420 : Math.max(36, Math.min(LONGEST, s.camera.view.scale * s.camera.stretchX * 0.96));
  const text = shorten(s.layout.names.get(v), room, measure);
  if (!text) return null;
  const [x, y] = s.camera.toScreen(s.layout.x[v], s.layout.y[v]);
  const below = y + drawnRadius(s.layout, v, s.camera.view.scale) + (kind === "chosen" ? 8 : 4);
  const half = measure(text) / 2;
  if (!occupied.take(x - half - 2, below, x + half + 2, below + 12)) return null;
  return { text, x, y: below, align: "center", kind, opacity };
}

function placeChosen(s: LabelSource, out: Label[], occupied: Occupied): void {
  for (const v of s.chosen) {
    const label = nodeLabel(s, v, "chosen", 1, occupied);
    if (label) out.push(label);
  }
}

function placeLanes(s: LabelSource, out: Label[], occupied: Occupied): void {
  let above = -Infinity;
  for (const band of s.bands) {
    const [left, top, right, bottom] = boxOnScreen(s.camera, band);
    const crowded = top - above < 15;
    above = bottom;
    if (!band.title || crowded) continue;
    if (right < 60 || left > s.camera.width || bottom < 0 || top > s.camera.height) continue;
    const x = Math.max(left + 6, 12);
    const y = Math.max(top - 17, 8);
    const width = s.width(band.title, "lane");
    if (occupied.take(x - 2, y, x + width + 4, y + 14)) out.push({ text: band.title, x, y, align: "left", kind: "lane", opacity: 1 });
  }
}

function placeGroups(s: LabelSource, out: Label[], occupied: Occupied): void {
  const { layout, camera } = s;
  for (const b of layout.boxes) {
    if (out.length >= MAX_LABELS) return;
    const [left, top, right, bottom] = boxOnScreen(camera, b);
    if (Math.min(right - left, bottom - top) < 14 || right < 0 || left > camera.width || bottom < 0 || top > camera.height) continue;
    const text = shorten(layout.names.get(layout.nodeCount + b.group), Math.max(right - left - 8, MIN_GROUP), (t) => s.width(t, "group"));
    if (text.length < 2) continue;
    const width = s.width(text, "group");
    const y = top - 14;
    // Over the left corner, or over the right one if the left is occupied.
    const x = [left + 5, right - width - 5].find((at) => occupied.take(at - 2, y, at + width + 2, y + 12));
    if (x !== undefined) out.push({ text, x, y, align: "left", kind: "group", opacity: 1 });
  }
}

function placeNodes(s: LabelSource, out: Label[], occupied: Occupied): void {
  const opacity = Math.min(1, (s.camera.view.scale - MIN_SCALE) / 7 + 0.25);
  const near: number[] = [];
  s.grid.within(s.camera.visible(0), (v) => near.push(v) < MAX_CANDIDATES);
  if (near.length >= MAX_CANDIDATES) return;
  const size = s.layout.radius;
  for (const v of near) {
    const [x, y] = s.camera.toScreen(s.layout.x[v], s.layout.y[v]);
    const r = drawnRadius(s.layout, v, s.camera.view.scale) * 0.55;
    occupied.block(x - r, y - r, x + r, y + r);
  }
  near.sort((a, b) => size[b] - size[a] || a - b);
  for (const v of near) {
    if (out.length >= MAX_LABELS) break;
    if (s.chosen.includes(v)) continue;
    const label = nodeLabel(s, v, "node", opacity, occupied);
    if (label) out.push(label);
  }
}

const FONTS: Record<Label["kind"], string> = {
  node: "400 11px",
  chosen: "600 12px",
  group: "500 11px",
  lane: "600 11px",
};

/** Draws labels on the overlay canvas; caches the widths of texts. */
export class LabelPainter {
  private readonly context: CanvasRenderingContext2D;
  private family: string;
  private readonly widths = new Map<string, number>();
  private font = "";

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("the browser does not provide a 2D canvas; try another browser");
    this.context = context;
    this.family = getComputedStyle(canvas).fontFamily || "sans-serif";
  }

  readonly width = (text: string, kind: Label["kind"]): number => {
    const key = `${kind[0]}${text}`;
    let w = this.widths.get(key);
    if (w === undefined) {
      if (this.widths.size > 20_000) this.widths.clear();
      this.use(kind);
      w = this.context.measureText(text).width;
      this.widths.set(key, w);
    }
    return w;
  };

  private use(kind: Label["kind"]): void {
    const font = `${FONTS[kind]} ${this.family}`;
    if (font === this.font) return;
    this.font = font;
    this.context.font = font;
    this.context.letterSpacing = kind === "lane" ? "0.06em" : "0px";
  }

  paint(labels: readonly Label[], theme: Theme, dpr: number): void {
    const c = this.context;
    c.setTransform(1, 0, 0, 1, 0, 0);
    c.clearRect(0, 0, this.canvas.width, this.canvas.height);
    c.setTransform(dpr, 0, 0, dpr, 0, 0);
    this.font = "";
    c.textBaseline = "top";
    c.lineJoin = "round";
    c.lineWidth = 3;
    c.strokeStyle = withAlpha(theme.background, 0.85);
    const colours = {
      node: withAlpha(theme.text, 0.82),
      chosen: theme.text,
      group: withAlpha(theme.group, 0.95),
      lane: withAlpha(theme.text, 0.6),
    };
    for (const l of labels) {
      this.use(l.kind);
      c.textAlign = l.align;
      c.globalAlpha = l.opacity;
      c.strokeText(l.text, l.x, l.y);
      c.fillStyle = colours[l.kind];
      c.fillText(l.text, l.x, l.y);
    }
    c.globalAlpha = 1;
  }
}
