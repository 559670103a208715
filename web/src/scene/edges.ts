// Edges: which of them are drawn, how strongly, and when.
//
// In a small graph all edges are drawn every frame and show whether their value is in memory. In a large one, if few nodes are on the
// screen, only their edges are drawn. Otherwise edges are drawn into a layer that is kept while the view does not move, and only a sample
// while it moves. While a plan plays the layer is redrawn at intervals, so most frames draw only the highlighted edges.

import type { Camera } from "./camera";
import { Adjacency, Flow, flowOf, sampleOrder } from "./adjacency";
import { GL, Program, TEXTURE_COLUMNS, Unit, bindTexture, drawsInSoftware, makeNodeTexture, makeProgram, textureRows } from "./gl";
import type { NodeGrid } from "./grid";
import { KeptLayer } from "./layer";
import { EDGE_FRAGMENT, EDGE_VERTEX } from "./shaders";
import type { SceneLayout } from "./shape";

const FEW_EDGES = 4_000;
const MAX_LOCAL = 16 * TEXTURE_COLUMNS;
/** Maximum nodes on the screen for drawing all their edges, with a graphics card and without. */
const FEW_NODES = { card: 5_000, none: 2_400 };
/** Edges drawn at once while the view moves and while it does not. */
const MOVING_SAMPLE = { card: 16_000, none: 2_000 };
const SETTLED_SAMPLE = { card: 400_000, none: 30_000 };
const MAX_CHOSEN = TEXTURE_COLUMNS;
/** A sample is drawn stronger, to compensate for the omitted edges, up to this factor. */
const MAX_BOOST = 2.5;
/** Minimum time between two drawings of all edges while a plan plays, and the same in frames on slow machines. */
const RENEW_MS = 180;
const RENEW_FRAMES = 14;

export const enum EdgeKind {
  Plain = 0,
  Input = 1,
  Into = 2,
  OutOf = 3,
}

export interface EdgeFrame {
  camera: Camera;
  dpr: number;
  /** Sets the uniforms shared by all programs that read nodes. */
  shared: (p: Program) => void;
  edge: [number, number, number];
  accent: [number, number, number];
  now: number;
  lively: boolean;
  viewChanged: boolean;
  statesChanged: boolean;
  strength: number;
}

/** A list of edges on the card: from, to, kind, unused. */
class EdgeList {
  readonly texture: WebGLTexture;
  readonly data: Uint32Array;
  count = 0;

  constructor(
    private readonly gl: GL,
    max: number,
  ) {
    const rows = textureRows(max);
    this.texture = makeNodeTexture(gl, gl.RGBA32UI, rows);
    this.data = new Uint32Array(4 * rows * TEXTURE_COLUMNS);
  }

  clear(): void {
    this.count = 0;
  }

  add(from: number, to: number, kind: EdgeKind): void {
    const i = 4 * this.count;
    if (i + 4 > this.data.length) return;
    this.data[i] = from;
    this.data[i + 1] = to;
    this.data[i + 2] = kind;
    this.count++;
  }

  /** Sends the list; returns the bytes sent. A short list is part of one row. */
  send(): number {
    if (this.count === 0) return 0;
    const gl = this.gl;
    const rows = textureRows(this.count);
    const columns = rows === 1 ? this.count : TEXTURE_COLUMNS;
    bindTexture(gl, Unit.Sending, this.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, columns, rows, gl.RGBA_INTEGER, gl.UNSIGNED_INT, this.data);
    return 16 * rows * columns;
  }
}

export class EdgeLayer {
  readonly adjacency: Adjacency;
  readonly flow: Flow;
  private readonly power: "card" | "none";
  private readonly program: Program;
  private readonly all: EdgeList;
  private readonly local: EdgeList;
  private readonly chosen: EdgeList;
  private readonly kept: KeptLayer;
  private readonly onScreen: Uint8Array;
  /** Whether only the edges of the nodes on the screen are drawn; null if not known. */
  private near: boolean | null = null;
  private keptComplete = false;
  private keptStale = false;
  private keptAt = 0;
  private frameMs = 16;
  private lastFrame = 0;
  private bytes = 0;

  constructor(
    private readonly gl: GL,
    private readonly layout: SceneLayout,
    private readonly grid: NodeGrid,
  ) {
    const m = layout.edgeCount;
    this.program = makeProgram(gl, EDGE_VERTEX, EDGE_FRAGMENT);
    this.adjacency = new Adjacency(layout);
    this.flow = flowOf(layout);
    this.onScreen = new Uint8Array(layout.nodeCount);
    this.power = drawsInSoftware(gl) ? "none" : "card";
    const max = SETTLED_SAMPLE[this.power];
    this.all = new EdgeList(gl, Math.max(1, Math.min(m, max)));
    for (const e of sampleOrder(m, max))
      this.all.add(layout.edgeFrom[e], layout.edgeTo[e], EdgeKind.Plain);
    this.all.send();
    this.local = new EdgeList(gl, MAX_LOCAL);
    this.chosen = new EdgeList(gl, MAX_CHOSEN);
    this.kept = new KeptLayer(gl);
  }

  /** Replaces the highlighted edges. */
  choose(list: readonly { node: number; kinds: readonly EdgeKind[] }[]): void {
    this.chosen.clear();
    for (const { node, kinds } of list) {
      for (const kind of kinds) {
        if (kind === EdgeKind.OutOf) for (const to of this.adjacency.readers(node)) this.chosen.add(node, to, kind);
        else for (const from of this.adjacency.inputs(node)) this.chosen.add(from, node, kind);
      }
    }
    this.bytes += this.chosen.send();
  }

  /** Bytes sent since the last call. */
  takeBytes(): number {
    const b = this.bytes;
    this.bytes = 0;
    return b;
  }

  /** True while the picture is a sample or out of date, so that another frame is needed. */
  get unfinished(): boolean {
    return this.kept.ready && (!this.keptComplete || this.keptStale);
  }

  draw(f: EdgeFrame): void {
    this.frameMs += (Math.min(400, f.now - this.lastFrame) - this.frameMs) * 0.2;
    this.lastFrame = f.now;
    if (this.layout.edgeCount === 0) return;
    if (this.layout.edgeCount <= FEW_EDGES) {
      this.drawList(f, this.all, this.all.count, this.all.count);
    } else if (this.isNear(f)) {
      this.kept.forget();
      this.drawList(f, this.local, this.local.count, this.local.count);
    } else {
      this.drawKept(f);
    }
  }

  drawChosen(f: EdgeFrame): void {
    if (this.chosen.count > 0) this.drawList(f, this.chosen, this.chosen.count, this.chosen.count);
  }

  private drawList(f: EdgeFrame, list: EdgeList, count: number, of: number): void {
    const gl = this.gl;
    const p = this.program;
    const { view, stretchX, stretchY } = f.camera;
    const slot = view.scale * f.dpr * (this.flow.alongX ? stretchX : stretchY);
    const segments = this.segments(slot, count);
    const look = this.strength(f, of);
    p.use();
    f.shared(p);
    bindTexture(gl, Unit.List, list.texture);
    gl.uniform1i(p.at("uEdges"), Unit.List);
    gl.uniform1f(p.at("uSlot"), slot);
    gl.uniform2f(p.at("uFlow"), this.flow.alongX ? 1 : 0, this.flow.alongX ? 0 : 1);
    gl.uniform1i(p.at("uSegments"), segments);
    gl.uniform1f(p.at("uWidth"), look.width * f.dpr);
    gl.uniform1f(p.at("uOpacity"), look.opacity * Math.min(MAX_BOOST, Math.sqrt(of / Math.max(1, count))));
    gl.uniform1f(p.at("uBow"), this.flow.bow);
    gl.uniform1f(p.at("uSeconds"), f.lively ? (f.now / 1000) % 1000 : 0);
    gl.uniform1f(p.at("uStub"), Math.max(60, 2.2 * view.scale) * f.dpr);
    gl.uniform3fv(p.at("uEdge"), f.edge);
    gl.uniform3fv(p.at("uAccent"), f.accent);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, (2 * segments + 4) * count);
  }

  /** Curves if they are visible; straight lines if there are many edges. */
  private segments(slot: number, count: number): number {
    const many = this.power === "card" ? count : 4 * count;
    if (many > 60_000 || (slot < 3 && many > 8_000)) return 1;
    return many > 8_000 ? 7 : 16;
  }

  /** Opacity falls with the share of the screen that edges would cover, so that dense parts remain readable. */
  private strength(f: EdgeFrame, count: number): { opacity: number; width: number } {
    const { view, stretchX, stretchY, width, height } = f.camera;
    const length = Math.hypot(this.flow.dx * stretchX, this.flow.dy * stretchY) * view.scale;
    const e = this.grid.extent;
    const box = f.camera.visible(0);
    const seen =
      count === this.layout.edgeCount
        ? Math.min(1, (box.right - box.left) / Math.max(1, e.right - e.left)) *
          Math.min(1, (box.bottom - box.top) / Math.max(1, e.bottom - e.top))
        : 1;
    const cover = (count * seen * Math.min(length, width + height)) / Math.max(1, width * height);
    const close = Math.min(1, view.scale / 18);
    return { opacity: Math.max(0.12, (f.strength * (0.42 + 0.2 * close)) / (1 + cover)), width: 0.8 + 0.5 * close };
  }

  /** Collects the edges of the nodes on the screen, if these are few. */
  private isNear(f: EdgeFrame): boolean {
    if (!f.viewChanged && this.near !== null) return this.near;
    return (this.near = this.collect(f));
  }

  private collect(f: EdgeFrame): boolean {
    const nodes: number[] = [];
    const few = FEW_NODES[this.power];
    this.grid.within(f.camera.visible(20), (v) => nodes.push(v) <= few);
    if (nodes.length > few) return false;
    for (const v of nodes) this.onScreen[v] = 1;
    this.local.clear();
    for (const v of nodes) {
      for (const u of this.adjacency.inputs(v)) this.local.add(u, v, EdgeKind.Plain);
      for (const w of this.adjacency.readers(v)) if (!this.onScreen[w]) this.local.add(v, w, EdgeKind.Plain);
    }
    for (const v of nodes) this.onScreen[v] = 0;
    this.bytes += this.local.send();
    return true;
  }

  private drawKept(f: EdgeFrame): void {
    const fresh = this.kept.prepare();
    this.keptStale ||= f.statesChanged;
    const renew = this.keptStale && f.now - this.keptAt > Math.max(RENEW_MS, RENEW_FRAMES * this.frameMs);
    if (fresh || f.viewChanged || !this.keptComplete || renew) {
      const m = this.all.count;
      const count = f.viewChanged && !fresh ? Math.min(m, MOVING_SAMPLE[this.power]) : m;
      this.kept.begin();
      this.drawList(f, this.all, count, this.layout.edgeCount);
      this.kept.end();
      this.keptComplete = count === m;
      this.keptStale = false;
      this.keptAt = f.now;
    }
    this.kept.show();
  }

  /** Colours changed: the kept layer is out of date. */
  forget(): void {
    this.near = null;
    this.kept.forget();
  }

  release(): void {
    this.kept.release();
    for (const list of [this.all, this.local, this.chosen]) this.gl.deleteTexture(list.texture);
  }
}
