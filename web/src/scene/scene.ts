// The scene: a graph on a canvas that shows the state of every value while a plan plays.
//
// Call `draw()` once per animation frame: it does nothing if nothing changed and nothing moves. It uploads only what the player
// changed since the last frame. All sizes that methods take and return are CSS pixels relative to the canvas.

import type { Player } from "../player";
import { Band, bandsOf } from "./boxes";
import { Camera, Extent, View } from "./camera";
import { flowOf } from "./adjacency";
import { flatten, sceneSvg } from "./export";
import { Graphics, warmUp } from "./graphics";
import { forgetPrograms } from "./gl";
import { NodeGrid } from "./grid";
import { listen } from "./input";
import { Label, LabelPainter, placeLabels } from "./labels";
import { itemOf, targetOf, type Picture } from "./picture";
import { SceneLayout, WISHED_RADIUS, drawnRadius, folded, withRoom } from "./shape";
import { Vessels, type Shown } from "./shown";
import type { Theme } from "../states_palette";

export type { Theme } from "../states_palette";
export type { View } from "./camera";

/** Sums since the scene was created, and figures of the last frame drawn. */
export interface SceneStats {
  scriptMs: number;
  bytesUploaded: number;
  frames: number;
  lastScriptMs: number;
  lastBytes: number;
}

/** Duration of trails and pulses after the last change. */
const LIVELY_MS = 2_600;
/** Margins at the sides, and above and below, for names. */
const FIT_PAD: [number, number] = [30, 46];
const PICK_SLACK = 7;

const PICTURE_DPR = 2;

export class Scene {
  readonly stats: SceneStats = { scriptMs: 0, bytesUploaded: 0, frames: 0, lastScriptMs: 0, lastBytes: 0 };
  /** A node or group was clicked: nodes have their numbers in the whole graph, groups follow them. */
  onSelect?: (target: number | null) => void;
  onHover?: (target: number | null, x: number, y: number, item: number | null) => void;
  /** Called when a frame is needed; for pages that do not draw on every animation frame. */
  onInvalidate?: () => void;

  private readonly gl: WebGL2RenderingContext;
  private readonly camera = new Camera();
  private readonly painter: LabelPainter;
  private readonly stopInput: () => void;
  private readonly observer: ResizeObserver;
  private graphics: Graphics | null = null;
  private layout: SceneLayout | null = null;
  private grid: NodeGrid | null = null;
  private bands: Band[] = [];
  private labels: Label[] = [];
  private picture: Picture | null = null;
  private player: Shown | null = null;
  private selected: number | null = null;
  private hovered: number | null = null;
  private dpr = 1;
  private viewChanged = true;
  private labelsDue = true;
  private choiceDue = true;
  private frameDue = true;
  private livelyUntil = 0;
  /** Whether the view shows the whole graph; then it is fitted again when the canvas changes. */
  private fitted = false;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly overlay: HTMLCanvasElement,
    private theme: Theme,
  ) {
    const gl = canvas.getContext("webgl2", { alpha: false, antialias: false, depth: false, powerPreference: "high-performance" });
    if (!gl) throw new Error("This browser does not support WebGL2, which is needed to draw the graph. Enable hardware acceleration or use another browser.");
    this.gl = gl;
    warmUp(gl);
    this.painter = new LabelPainter(overlay);
    this.camera.reducedMotion = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.stopInput = listen([canvas, overlay], canvas, this.inputTarget());
    canvas.addEventListener("webglcontextlost", this.lost);
    canvas.addEventListener("webglcontextrestored", this.restored);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(canvas);
    this.resize();
  }

  get view(): View {
    return this.camera.view;
  }
  set view(v: View) {
    this.camera.jump(v);
    this.wandered();
  }

  setPicture(picture: Picture): void {
    this.picture = picture;
    this.layout = null;
    const shape = folded(picture.layout, this.camera.width / Math.max(1, this.camera.height));
    this.grid = new NodeGrid(shape.x, shape.y);
    this.bands = bandsOf(shape);
    this.camera.fitted(this.extent(), ...FIT_PAD);
    this.layout = withRoom(shape, this.grid, this.camera.stretchX, this.camera.stretchY, this.bands);
    this.player = null;
    this.selected = null;
    this.hovered = null;
    this.build();
    this.fitted = true;
    this.fitNow();
  }

  /** Shows a plan over the picture, or with null the graph alone. */
  setPlayer(player: Player | null): void {
    const { picture } = this;
    if (player && picture && player.nodeCount !== picture.whole.nodeCount)
      throw new RangeError("the plan belongs to another graph than the one shown; plan again");
    this.player = player && picture?.item ? new Vessels(player, picture) : player;
    this.graphics?.showAll(this.player);
    this.choiceDue = true;
    this.invalidate();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.graphics?.setTheme(theme);
    this.moved();
  }

  draw(): void {
    const start = performance.now();
    const g = this.graphics;
    if (!g || this.gl.isContextLost()) return;
    if (this.camera.tick(start)) this.moved();
    if (this.player && g.showChanges(this.player, start, !this.camera.reducedMotion)) {
      this.livelyUntil = start + LIVELY_MS;
      this.choiceDue = true;
    }
    const lively = start < this.livelyUntil && !this.camera.reducedMotion;
    if (!this.frameDue && !this.choiceDue && !lively && !g.waiting && !g.edges.unfinished) return;
    if (this.choiceDue) g.choose({ selected: this.selected, hovered: this.hovered }, this.player);
    const sent = g.draw({ camera: this.camera, dpr: this.dpr, now: start, viewChanged: this.viewChanged, lively });
    if (this.labelsDue) this.paintLabels();
    this.viewChanged = this.labelsDue = this.choiceDue = false;
    // One more frame after the last animated one, so that animations end at rest.
    this.frameDue = this.camera.moving || lively;
    this.count(performance.now() - start, sent);
  }

  /** True while an animation runs, so that more frames are needed. */
  get busy(): boolean {
    return this.frameDue || this.camera.moving || performance.now() < this.livelyUntil || (this.graphics?.edges.unfinished ?? false);
  }

  fit(): void {
    const { stretchX, stretchY } = this.camera;
    const to = this.camera.fitted(this.extent(), ...FIT_PAD);
    // A new stretch moves everything: the movement starts as close as possible to the current view.
    if (stretchX !== this.camera.stretchX || stretchY !== this.camera.stretchY) this.camera.jump(to);
    else this.camera.fly(to, performance.now());
    this.fitted = true;
    this.moved();
  }

  /** The same view as another scene of the same graph and size; the whole graph if that shows it. */
  follow(other: Scene): void {
    if (other.fitted) {
      if (!this.fitted) this.fit();
      return;
    }
    const { view, stretchX, stretchY } = other.camera;
    const own = this.camera;
    if (view.x === own.view.x && view.y === own.view.y && view.scale === own.view.scale && stretchX === own.stretchX) return;
    own.stretchX = stretchX;
    own.stretchY = stretchY;
    own.jump(view);
    this.wandered();
  }

  /** Centres a node, zoomed in enough to read its name. */
  focus(node: number): void {
    const { layout, picture } = this;
    if (!layout || !picture || node >= picture.whole.nodeCount) return;
    const item = itemOf(picture, node);
    const scale = Math.max(this.camera.view.scale, 30);
    this.camera.fly({ x: layout.x[item], y: layout.y[item], scale }, performance.now());
    this.wandered();
  }

  select(node: number | null): void {
    const item = node === null || !this.picture ? null : itemOf(this.picture, node);
    if (item === this.selected) return;
    this.selected = item;
    this.chosen();
  }

  /** What is at a point of the canvas, or near it: a node, or after the nodes a group. */
  pick(x: number, y: number): number | null {
    const item = this.itemAt(x, y);
    return item === null || !this.picture ? null : targetOf(this.picture, item);
  }

  private itemAt(x: number, y: number): number | null {
    if (!this.layout || !this.grid) return null;
    const { layout, camera } = this;
    const reach = PICK_SLACK + Math.max(WISHED_RADIUS, camera.view.scale / 2);
    const [left, top] = camera.toWorld(x - reach, y - reach);
    const [right, bottom] = camera.toWorld(x + reach, y + reach);
    let best: number | null = null;
    let min = Infinity;
    this.grid.within({ left, top, right, bottom }, (v) => {
      const [px, py] = camera.toScreen(layout.x[v], layout.y[v]);
      const gap = Math.hypot(px - x, py - y) - drawnRadius(layout, v, camera.view.scale);
      if (gap < min && gap <= PICK_SLACK) {
        min = gap;
        best = v;
      }
    });
    return best;
  }

  /** What a map of the picture needs: the places of all nodes, their extent and the visible part. */
  map(): { layout: SceneLayout; all: Extent; visible: Extent; stretchX: number; stretchY: number } | null {
    const { layout, camera } = this;
    if (!layout || layout.nodeCount === 0) return null;
    return { layout, all: this.extent(), visible: camera.visible(0), stretchX: camera.stretchX, stretchY: camera.stretchY };
  }

  /** Centres a point of the layout. */
  lookAt(x: number, y: number): void {
    this.camera.jump({ ...this.camera.view, x, y });
    this.wandered();
  }

  /** Where a node is on the canvas. */
  place(node: number): [number, number] {
    if (!this.layout || !this.picture) return [0, 0];
    const item = itemOf(this.picture, node);
    return this.camera.toScreen(this.layout.x[item], this.layout.y[item]);
  }

  zoomBy(factor: number, x = this.camera.width / 2, y = this.camera.height / 2): void {
    this.camera.zoomAt(factor, x, y, performance.now());
    this.wandered();
  }

  panBy(dx: number, dy: number): void {
    this.camera.pan(dx, dy);
    this.wandered();
  }

  /** Keys of the view: + and - zoom, 0 fits, shift and arrows pan. True if the key was one of them. */
  handleKey(e: KeyboardEvent): boolean {
    if (e.ctrlKey || e.metaKey || e.altKey) return false;
    const pans: Record<string, [number, number]> = { ArrowLeft: [80, 0], ArrowRight: [-80, 0], ArrowUp: [0, 80], ArrowDown: [0, -80] };
    const pan = e.shiftKey ? pans[e.key] : undefined;
    if (pan) this.panBy(...pan);
    else if (e.key === "+" || e.key === "=") this.zoomBy(1.35);
    else if (e.key === "-" || e.key === "_") this.zoomBy(1 / 1.35);
    else if (e.key === "0") this.fit();
    else return false;
    return true;
  }

  /** At least twice the pixels of a plain screen, for printing. The canvas is restored before the browser shows it. */
  toPNG(): Promise<Blob> {
    const usual = this.dpr;
    this.setPixels(Math.max(PICTURE_DPR, usual));
    const picture = flatten(this.canvas, this.overlay);
    if (this.dpr !== usual) this.setPixels(usual);
    return picture;
  }

  /** In CSS pixels. */
  get size(): { width: number; height: number } {
    return { width: this.camera.width, height: this.camera.height };
  }

  /** Draws the current frame and its labels into another canvas; with `dpr` at that many pixels per CSS pixel. */
  paint(c: CanvasRenderingContext2D, x: number, y: number, width: number, height: number, dpr = 0): void {
    const usual = this.dpr;
    if (dpr > usual) this.setPixels(dpr);
    else {
      this.frameDue = true; // what was drawn earlier is gone
      this.draw();
    }
    c.drawImage(this.canvas, x, y, width, height);
    c.drawImage(this.overlay, x, y, width, height);
    if (this.dpr !== usual) this.setPixels(usual);
  }

  private setPixels(dpr: number): void {
    this.dpr = dpr;
    for (const c of [this.canvas, this.overlay]) {
      c.width = Math.round(this.camera.width * dpr);
      c.height = Math.round(this.camera.height * dpr);
    }
    this.moved();
    this.draw();
  }

  toSVG(): string {
    if (!this.layout || !this.grid) return '<svg xmlns="http://www.w3.org/2000/svg"/>';
    return sceneSvg({
      layout: this.layout,
      grid: this.grid,
      camera: this.camera,
      flow: flowOf(this.layout),
      theme: this.theme,
      bands: this.bands,
      labels: this.placed(),
      states: this.player?.states ?? null,
      selected: this.selected,
    });
  }

  resize(): void {
    const width = this.canvas.clientWidth;
    const height = this.canvas.clientHeight;
    const dpr = Math.min(3, window.devicePixelRatio || 1);
    if (width === 0 || height === 0) return;
    if (width === this.camera.width && height === this.camera.height && dpr === this.dpr) return;
    this.camera.width = width;
    this.camera.height = height;
    if (this.fitted) this.fitNow();
    // A resized canvas is blank until drawn: draw it in this task, before the browser shows it.
    this.setPixels(dpr);
  }

  destroy(): void {
    this.stopInput();
    this.observer.disconnect();
    this.canvas.removeEventListener("webglcontextlost", this.lost);
    this.canvas.removeEventListener("webglcontextrestored", this.restored);
    this.graphics?.release();
    this.graphics = null;
  }

  private build(): void {
    this.graphics?.release();
    this.graphics = null;
    if (!this.layout || !this.grid || this.gl.isContextLost()) return;
    this.graphics = new Graphics(this.gl, this.layout, this.grid, this.bands, this.theme);
    this.graphics.showAll(this.player);
    this.choiceDue = true;
    this.moved();
  }

  private extent(): Extent {
    const e = { ...(this.grid?.extent ?? { left: 0, top: 0, right: 1, bottom: 1 }) };
    for (const b of this.bands) {
      e.top = Math.min(e.top, b.top);
      e.bottom = Math.max(e.bottom, b.top + b.height);
    }
    return e;
  }

  private fitNow(): void {
    if (!this.layout || this.camera.width <= 1) return;
    this.camera.jump(this.camera.fitted(this.extent(), ...FIT_PAD));
    this.moved();
  }

  private placed(): Label[] {
    if (!this.layout || !this.grid) return [];
    const chosen = [this.selected, this.hovered].filter((v, i, all): v is number => v !== null && all.indexOf(v) === i);
    return placeLabels({
      layout: this.layout,
      grid: this.grid,
      camera: this.camera,
      bands: this.bands,
      chosen,
      width: this.painter.width,
    });
  }

  private paintLabels(): void {
    this.labels = this.placed();
    this.painter.paint(this.labels, this.theme, this.dpr);
  }

  /** The user moved the view, so it no longer shows the whole graph. */
  private wandered(): void {
    this.fitted = false;
    this.moved();
  }

  private moved(): void {
    this.viewChanged = true;
    this.labelsDue = true;
    this.invalidate();
  }

  private chosen(): void {
    this.choiceDue = true;
    this.labelsDue = true;
    this.invalidate();
  }

  private invalidate(): void {
    this.frameDue = true;
    this.onInvalidate?.();
  }

  private count(ms: number, bytes: number): void {
    const s = this.stats;
    s.scriptMs += ms;
    s.bytesUploaded += bytes;
    s.frames++;
    s.lastScriptMs = ms;
    s.lastBytes = bytes;
  }

  private inputTarget(): Parameters<typeof listen>[2] {
    return {
      pan: (dx, dy) => this.panBy(dx, dy),
      zoom: (factor, x, y, eased) => {
        this.camera.zoomAt(factor, x, y, eased ? performance.now() : undefined);
        this.wandered();
      },
      click: (x, y) => this.onSelect?.(this.pick(x, y)),
      doubleClick: (x, y) => {
        const target = this.pick(x, y);
        if (target === null) this.zoomBy(2, x, y);
        else if (this.picture && target < this.picture.whole.nodeCount) this.focus(target);
      },
      hover: (x, y) => this.hover(this.itemAt(x, y), x, y),
      leave: () => this.hover(null, 0, 0),
    };
  }

  private hover(item: number | null, x: number, y: number): void {
    if (item !== this.hovered) {
      this.hovered = item;
      this.canvas.style.cursor = this.overlay.style.cursor = item === null ? "grab" : "pointer";
      this.chosen();
    }
    this.onHover?.(item === null || !this.picture ? null : targetOf(this.picture, item), x, y, item);
  }

  private readonly lost = (e: Event): void => {
    e.preventDefault();
    this.graphics = null;
  };

  private readonly restored = (): void => {
    forgetPrograms(this.gl);
    warmUp(this.gl);
    this.build();
  };
}
