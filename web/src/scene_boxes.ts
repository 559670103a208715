// What lies behind the graph: a faint band for each lane and a box for each group.

import { Layout, LayoutKind } from "./binary";
import type { Extent } from "./scene_camera";
import { GL, Program, makeBuffer, makeProgram } from "./scene_gl";
import { BOX_FRAGMENT, BOX_VERTEX, MOST_BEND } from "./scene_shaders";
import type { SceneLayout } from "./scene_shape";
import { Theme, parseColour } from "./states_palette";

const FLOATS = 14;
export const BOX_ATTRIBUTES: readonly string[] = ["aBox", "aFill", "aStroke", "aLook"];

/** Pixels around the nodes of a lane. */
export const BAND_MARGIN = 24;

export interface Band {
  title: string;
  left: number;
  top: number;
  width: number;
  height: number;
  margin: number;
}

/** The lanes of a layout as boxes with titles; none where all nodes share one. */
export function bandsOf(layout: Layout): Band[] {
  if (layout.kind !== LayoutKind.Lanes) return [];
  const lanes = [0, 1].map((lane) => laneExtent(layout, lane));
  const [forward, backward] = lanes;
  if (!forward || !backward) return [];
  const left = Math.min(forward.left, backward.left);
  const right = Math.max(forward.right, backward.right);
  const above = forward.top <= backward.top;
  // Edges that pass over others of their lane bend outward, so that is where a lane is wider.
  const bends = [0, 1].map((lane) => (hasBends(layout, lane) ? MOST_BEND : 0));
  return [forward, backward].map((e, lane) => {
    const outward = (lane === 0) === above ? { top: bends[lane], bottom: 0 } : { top: 0, bottom: bends[lane] };
    const top = e.top - outward.top;
    return { title: TITLES[lane], left, top, width: right - left, height: e.bottom + outward.bottom - top, margin: BAND_MARGIN };
  });
}

const TITLES = ["Forward", "Backward"];

function laneExtent(layout: Layout, lane: number): Extent | null {
  let e: Extent | null = null;
  for (let v = 0; v < layout.nodeCount; v++) {
    if ((layout.lane[v] ? 1 : 0) !== lane) continue;
    const x = layout.x[v], y = layout.y[v];
    if (!e) e = { left: x, right: x, top: y, bottom: y };
    e.left = Math.min(e.left, x);
    e.right = Math.max(e.right, x);
    e.top = Math.min(e.top, y);
    e.bottom = Math.max(e.bottom, y);
  }
  return e;
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
    bands.forEach((b, i) => {
      const tint = tints[i] ?? group;
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
