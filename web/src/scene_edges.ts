// Edges: which of them are drawn, how strongly, and from which buffer.
//
// Few edges are all drawn as curves every frame and show whether their value is in memory. Of many, only those of the nodes on the
// screen are drawn, when those are few; else they are drawn once into a layer that is kept while the view stands still, with a
// sample of them while it moves. So playing a plan of a huge graph draws no edges but the highlighted ones.

import type { Layout } from "./binary";
import { Camera } from "./scene_camera";
import { GL, Program, integerArray, makeBuffer, makeProgram } from "./scene_gl";
import type { NodeGrid } from "./scene_grid";
import { EDGE_FRAGMENT, EDGE_VERTEX, LAYER_FRAGMENT, LAYER_VERTEX } from "./scene_shaders";

const FEW_EDGES = 24_000;
const FEW_NODES = 3_000;
const MOST_LOCAL = 24_000;
const MOVING_SAMPLE = 30_000;
const SETTLED_SAMPLE = 400_000;
const MOST_CHOSEN = 1_024;

export const enum EdgeKind {
  Plain = 0,
  Input = 1,
  Into = 2,
  OutOf = 3,
}

/** Edges by node, in both directions. */
export class Adjacency {
  private readonly start: [Uint32Array, Uint32Array];
  private readonly other: [Uint32Array, Uint32Array];

  constructor(layout: Layout) {
    const into = rows(layout.nodeCount, layout.edgeTo, layout.edgeFrom);
    const outOf = rows(layout.nodeCount, layout.edgeFrom, layout.edgeTo);
    this.start = [into.start, outOf.start];
    this.other = [into.other, outOf.other];
  }
  inputs(node: number): Uint32Array {
    return this.other[0].subarray(this.start[0][node], this.start[0][node + 1]);
  }
  readers(node: number): Uint32Array {
    return this.other[1].subarray(this.start[1][node], this.start[1][node + 1]);
  }
}

function rows(n: number, key: Uint32Array, value: Uint32Array): { start: Uint32Array; other: Uint32Array } {
  const start = new Uint32Array(n + 2);
  for (let e = 0; e < key.length; e++) start[key[e] + 2]++;
  for (let v = 2; v < start.length; v++) start[v] += start[v - 1];
  const other = new Uint32Array(key.length);
  for (let e = 0; e < key.length; e++) other[start[key[e] + 1]++] = value[e];
  return { start, other };
}

/** Mean distances of edges, and whether they run along x or along y. */
export interface Flow {
  dx: number;
  dy: number;
  alongX: boolean;
}

export function flowOf(layout: Layout): Flow {
  const { x, y, edgeFrom, edgeTo, edgeCount } = layout;
  const every = Math.max(1, Math.floor(edgeCount / 5_000));
  let dx = 0, dy = 0, sx = 0, sy = 0, count = 0;
  for (let e = 0; e < edgeCount; e += every, count++) {
    const ex = x[edgeTo[e]] - x[edgeFrom[e]];
    const ey = y[edgeTo[e]] - y[edgeFrom[e]];
    dx += Math.abs(ex);
    dy += Math.abs(ey);
    sx += Math.sign(Math.round(ex * 4));
    sy += Math.sign(Math.round(ey * 4));
  }
  const wide = layout.width >= layout.height;
  const alongX = sx * sx === sy * sy || layout.kind === 2 ? wide : Math.abs(sx) > Math.abs(sy);
  return { dx: dx / Math.max(1, count), dy: dy / Math.max(1, count), alongX };
}

export interface EdgeFrame {
  camera: Camera;
  dpr: number;
  /** Sets the uniforms shared by all programs that read nodes. */
  shared: (p: Program) => void;
  edge: [number, number, number];
  accent: [number, number, number];
  seconds: number;
  viewChanged: boolean;
  strength: number;
}

export class EdgeLayer {
  readonly adjacency: Adjacency;
  readonly flow: Flow;
  private readonly program: Program;
  private readonly blit: Program;
  private readonly all: WebGLBuffer;
  private readonly allArray: WebGLVertexArrayObject;
  private readonly local: WebGLBuffer;
  private readonly localArray: WebGLVertexArrayObject;
  private readonly chosen: WebGLBuffer;
  private readonly chosenArray: WebGLVertexArrayObject;
  private readonly localData = new Uint32Array(2 * MOST_LOCAL);
  private readonly chosenData = new Uint32Array(3 * MOST_CHOSEN);
  private readonly onScreen: Uint8Array;
  private localCount = 0;
  /** Whether the edges of the nodes on the screen are drawn alone; null when not known. */
  private near: boolean | null = null;
  private chosenCount = 0;
  private bow = 1;
  private layer: { texture: WebGLTexture; target: WebGLFramebuffer; width: number; height: number } | null = null;
  private layerReady = false;
  private layerComplete = false;
  private bytes = 0;

  constructor(
    private readonly gl: GL,
    private readonly layout: Layout,
    private readonly grid: NodeGrid,
  ) {
    this.program = makeProgram(gl, EDGE_VERTEX, EDGE_FRAGMENT, ["aEnds", "aKind"]);
    this.blit = makeProgram(gl, LAYER_VERTEX, LAYER_FRAGMENT, []);
    this.adjacency = new Adjacency(layout);
    this.flow = flowOf(layout);
    this.onScreen = new Uint8Array(layout.nodeCount);
    this.all = makeBuffer(gl);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.all);
    gl.bufferData(gl.ARRAY_BUFFER, shuffledEnds(layout), gl.STATIC_DRAW);
    this.local = makeBuffer(gl);
    this.chosen = makeBuffer(gl);
    const ends = { location: 0, size: 2, offset: 0 };
    this.allArray = integerArray(gl, this.all, 8, [ends]);
    this.localArray = integerArray(gl, this.local, 8, [ends]);
    this.chosenArray = integerArray(gl, this.chosen, 12, [ends, { location: 1, size: 1, offset: 8 }]);
    this.bow = this.outward();
  }

  /** With two lanes, edges along a row bend away from the other lane. */
  private outward(): number {
    const sum = [0, 0], count = [0, 0];
    for (let v = 0; v < this.layout.nodeCount; v++) {
      const lane = this.layout.lane[v] ? 1 : 0;
      sum[lane] += this.flow.alongX ? this.layout.y[v] : this.layout.x[v];
      count[lane]++;
    }
    if (count[1] === 0 || count[0] === 0) return 1;
    return sum[1] / count[1] >= sum[0] / count[0] ? 1 : -1;
  }

  /** Replaces the highlighted edges; the bytes sent. */
  choose(list: readonly { node: number; kinds: readonly EdgeKind[] }[]): void {
    let i = 0;
    const data = this.chosenData;
    const add = (from: number, to: number, kind: EdgeKind): void => {
      if (i + 3 > data.length) return;
      data[i++] = from;
      data[i++] = to;
      data[i++] = kind;
    };
    for (const { node, kinds } of list) {
      for (const kind of kinds) {
        if (kind === EdgeKind.OutOf) for (const to of this.adjacency.readers(node)) add(node, to, kind);
        else for (const from of this.adjacency.inputs(node)) add(from, node, kind);
      }
    }
    this.chosenCount = i / 3;
    if (i === 0) return;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.chosen);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STREAM_DRAW, 0, i);
    this.bytes += 4 * i;
  }

  /** Bytes sent since last asked. */
  takeBytes(): number {
    const b = this.bytes;
    this.bytes = 0;
    return b;
  }

  /** True while a moving view shows a sample only, so that another frame is due when it stands. */
  get unfinished(): boolean {
    return this.layerReady && !this.layerComplete;
  }

  draw(f: EdgeFrame): void {
    const m = this.layout.edgeCount;
    if (m === 0) return;
    if (m <= FEW_EDGES) {
      this.layerReady = false;
      this.drawPlain(f, this.allArray, m, m, true);
    } else if (this.gather(f)) {
      this.layerReady = false;
      this.drawPlain(f, this.localArray, this.localCount, this.localCount, true);
    } else {
      this.drawCached(f);
    }
  }

  drawChosen(f: EdgeFrame): void {
    if (this.chosenCount > 0) this.drawPlain(f, this.chosenArray, this.chosenCount, this.chosenCount, true);
  }

  private drawPlain(f: EdgeFrame, array: WebGLVertexArrayObject, count: number, of: number, curved: boolean): void {
    const gl = this.gl;
    const p = this.program;
    const { view, stretchX, stretchY } = f.camera;
    gl.useProgram(p.program);
    f.shared(p);
    const slot = view.scale * f.dpr * (this.flow.alongX ? stretchX : stretchY);
    const segments = !curved ? 1 : slot < 4 ? 6 : slot < 14 ? 10 : 18;
    const look = this.strength(f, of);
    gl.uniform1f(p.at("uSlot"), slot);
    gl.uniform2f(p.at("uFlow"), this.flow.alongX ? 1 : 0, this.flow.alongX ? 0 : 1);
    gl.uniform1f(p.at("uSegments"), segments);
    gl.uniform1f(p.at("uWidth"), look.width * f.dpr);
    gl.uniform1f(p.at("uOpacity"), look.opacity * Math.sqrt(of / Math.max(1, count)));
    gl.uniform1f(p.at("uBow"), this.bow);
    gl.uniform1f(p.at("uLive"), curved ? 1 : 0);
    gl.uniform1f(p.at("uSeconds"), f.seconds);
    gl.uniform1f(p.at("uStub"), Math.max(60, 2.2 * view.scale) * f.dpr);
    gl.uniform3fv(p.at("uEdge"), f.edge);
    gl.uniform3fv(p.at("uAccent"), f.accent);
    gl.vertexAttribI4ui(1, 0, 0, 0, 0);
    gl.bindVertexArray(array);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 2 * (segments + 1), count);
    gl.bindVertexArray(null);
  }

  /** Opacity falls with the share of the screen that edges would cover, so that dense parts stay calm. */
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
    return { opacity: Math.max(0.05, (f.strength * (0.42 + 0.2 * close)) / (1 + 3.5 * cover)), width: 0.8 + 0.5 * close };
  }

  /** Are the nodes on the screen few? Then their edges are collected. */
  private gather(f: EdgeFrame): boolean {
    if (!f.viewChanged && this.near !== null) return this.near;
    return (this.near = this.collect(f));
  }

  private collect(f: EdgeFrame): boolean {
    const nodes: number[] = [];
    this.grid.within(f.camera.visible(20), (v) => nodes.push(v) <= FEW_NODES);
    if (nodes.length > FEW_NODES) return false;
    for (const v of nodes) this.onScreen[v] = 1;
    let i = 0;
    const data = this.localData;
    for (const v of nodes) {
      for (const u of this.adjacency.inputs(v)) {
        if (i + 2 > data.length) break;
        data[i++] = u;
        data[i++] = v;
      }
      for (const w of this.adjacency.readers(v)) {
        if (this.onScreen[w] || i + 2 > data.length) continue;
        data[i++] = v;
        data[i++] = w;
      }
    }
    for (const v of nodes) this.onScreen[v] = 0;
    this.localCount = i / 2;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.local);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, data, this.gl.STREAM_DRAW, 0, i);
    this.bytes += 4 * i;
    return true;
  }

  private drawCached(f: EdgeFrame): void {
    const gl = this.gl;
    const width = gl.drawingBufferWidth;
    const height = gl.drawingBufferHeight;
    this.ensureLayer(width, height);
    const layer = this.layer;
    if (!layer) return;
    if (f.viewChanged || !this.layerReady || !this.layerComplete) {
      const m = this.layout.edgeCount;
      const most = f.viewChanged && this.layerReady ? MOVING_SAMPLE : SETTLED_SAMPLE;
      gl.bindFramebuffer(gl.FRAMEBUFFER, layer.target);
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      this.drawPlain(f, this.allArray, Math.min(m, most), m, false);
      gl.bindFramebuffer(gl.FRAMEBUFFER, null);
      this.layerComplete = most === SETTLED_SAMPLE || m <= most;
      this.layerReady = true;
    }
    gl.useProgram(this.blit.program);
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, layer.texture);
    gl.uniform1i(this.blit.at("uLayer"), 2);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
    gl.activeTexture(gl.TEXTURE0);
  }

  private ensureLayer(width: number, height: number): void {
    if (this.layer && this.layer.width === width && this.layer.height === height) return;
    const gl = this.gl;
    this.dropLayer();
    const texture = gl.createTexture();
    const target = gl.createFramebuffer();
    if (!texture || !target) return;
    gl.activeTexture(gl.TEXTURE2);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, width, height);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.activeTexture(gl.TEXTURE0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.layer = { texture, target, width, height };
    this.layerReady = false;
  }

  private dropLayer(): void {
    if (!this.layer) return;
    this.gl.deleteTexture(this.layer.texture);
    this.gl.deleteFramebuffer(this.layer.target);
    this.layer = null;
  }

  /** Colours changed: what is kept is out of date. */
  forget(): void {
    this.near = null;
    this.layerReady = false;
  }

  release(): void {
    const gl = this.gl;
    this.dropLayer();
    for (const b of [this.all, this.local, this.chosen]) gl.deleteBuffer(b);
    for (const a of [this.allArray, this.localArray, this.chosenArray]) gl.deleteVertexArray(a);
    gl.deleteProgram(this.program.program);
    gl.deleteProgram(this.blit.program);
  }
}

/** Ends of all edges in an order in which every beginning is a fair sample, the same each time. */
function shuffledEnds(layout: Layout): Uint32Array {
  const m = layout.edgeCount;
  const ends = new Uint32Array(2 * m);
  for (let e = 0; e < m; e++) {
    ends[2 * e] = layout.edgeFrom[e];
    ends[2 * e + 1] = layout.edgeTo[e];
  }
  if (m <= FEW_EDGES) return ends;
  let seed = 12345;
  for (let e = m - 1; e > 0; e--) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const k = Math.floor((seed / 0x1_0000_0000) * (e + 1));
    for (let j = 0; j < 2; j++) {
      const kept = ends[2 * e + j];
      ends[2 * e + j] = ends[2 * k + j];
      ends[2 * k + j] = kept;
    }
  }
  return ends;
}
