// The background of the graph: a faint band for each lane and a box for each group.

import { Layout, LayoutKind } from "../binary";
import type { Extent } from "./camera";
import { GL, Program, makeBuffer, makeProgram } from "./gl";
import { BOX_FRAGMENT, BOX_VERTEX, MAX_BEND } from "./shaders";
import type { SceneLayout } from "./shape";
import { Theme, parseColour } from "../states_palette";

const FLOATS = 14;
export const BOX_ATTRIBUTES: readonly string[] = ["aBox", "aFill", "aStroke", "aLook"];

/** Pixels around the nodes of a lane, if there is room. */
export const BAND_MARGIN = 24;

export interface Band {
  title: string;
  lane: number;
  left: number;
  top: number;
  width: number;
  height: number;
  margin: number;
}

/**
 * The lanes of a layout as boxes with titles; none if all nodes share one. A folded layout has several rows of both lanes, and so
 * several boxes of each; the first of each has the title.
 */
export function bandsOf(layout: Layout): Band[] {
  if (layout.kind !== LayoutKind.Lanes) return [];
  const runs = lanesDownward(layout);
  if (runs.length < 2 || runs.length > MAX_BANDS) return [];
  const left = Math.min(...runs.map((r) => r.left));
  const right = Math.max(...runs.map((r) => r.right));
  // Edges that pass other nodes of their lane bend outward, so a lane is wider on that side.
  const bends = [0, 1].map((lane) => (hasBends(layout, lane) ? MAX_BEND : 0));
  const forwardAbove = runs[0].lane === 0;
  return runs.map((r, i) => {
    const upward = (r.lane === 0) === forwardAbove;
    const top = r.top - (upward ? bends[r.lane] : 0);
    const bottom = r.bottom + (upward ? 0 : bends[r.lane]);
    return { title: i < 2 ? TITLES[r.lane] : "", lane: r.lane, left, top, width: right - left, height: bottom - top, margin: -BAND_MARGIN };
  });
}

const TITLES = ["Forward", "Backward"];
const MAX_BANDS = 24;

interface Run extends Extent {
  lane: number;
}

/** From top to bottom, the ranges in which all nodes are in one lane. */
function lanesDownward(layout: Layout): Run[] {
  const { x, y, lane } = layout;
  const order = Uint32Array.from({ length: layout.nodeCount }, (_, v) => v).sort((a, b) => y[a] - y[b] || lane[a] - lane[b]);
  const runs: Run[] = [];
  let last: Run | null = null;
  for (const v of order) {
    const of = lane[v] ? 1 : 0;
    if (!last || last.lane !== of) {
      if (runs.length > MAX_BANDS) return runs;
      runs.push((last = { lane: of, left: x[v], right: x[v], top: y[v], bottom: y[v] }));
    }
    last.left = Math.min(last.left, x[v]);
    last.right = Math.max(last.right, x[v]);
    last.bottom = y[v];
  }
  return runs;
}

/** Does any edge of the lane go along a row, past other nodes? */
function hasBends(layout: Layout, lane: number): boolean {
  const { edgeFrom, edgeTo, edgeCount, x, y } = layout;
  for (let e = 0; e < edgeCount; e++) {
    const u = edgeFrom[e], v = edgeTo[e];
    if ((layout.lane[u] ? 1 : 0) !== lane || (layout.lane[v] ? 1 : 0) !== lane) continue;
    if (Math.abs(y[u] - y[v]) < 0.3 && Math.abs(x[u] - x[v]) > 1.7) return true;
  }
  return false;
}

export class BoxLayer {
  private readonly program: Program;
  private readonly buffer: WebGLBuffer;
  private readonly vao: WebGLVertexArrayObject | null;
  private count = 0;

  constructor(private readonly gl: GL) {
    this.program = makeProgram(gl, BOX_VERTEX, BOX_FRAGMENT, BOX_ATTRIBUTES);
    this.buffer = makeBuffer(gl);
    this.vao = gl.createVertexArray();
    gl.bindVertexArray(this.vao);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    [4, 4, 4, 2].forEach((size, i) => {
      gl.enableVertexAttribArray(i);
      gl.vertexAttribPointer(i, size, gl.FLOAT, false, 4 * FLOATS, 16 * i);
      gl.vertexAttribDivisor(i, 1);
    });
    gl.bindVertexArray(null);
  }

  set(layout: SceneLayout, bands: readonly Band[], theme: Theme): void {
    const group = parseColour(theme.group);
    const tints = [parseColour(theme.states[2]), parseColour(theme.states[6])];
    const rows: number[] = [];
    bands.forEach((b) => {
      const tint = tints[b.lane];
      rows.push(b.left, b.top, b.width, b.height);
      rows.push(...tint, theme.dark ? 0.035 : 0.045, ...tint, theme.dark ? 0.1 : 0.14, 14, b.margin);
    });
    for (const b of layout.boxes) {
      rows.push(b.left, b.top, b.width, b.height, ...group, theme.dark ? 0.055 : 0.06, ...group, theme.dark ? 0.22 : 0.26, 7, b.margin);
    }
    this.count = rows.length / FLOATS;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.buffer);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, new Float32Array(rows), this.gl.STATIC_DRAW);
  }

  draw(shared: (p: Program) => void): void {
    if (this.count === 0) return;
    const gl = this.gl;
    this.program.use();
    shared(this.program);
    gl.bindVertexArray(this.vao);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.count);
    gl.bindVertexArray(null);
  }

  release(): void {
    this.gl.deleteBuffer(this.buffer);
    this.gl.deleteVertexArray(this.vao);
  }
}
