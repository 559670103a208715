// What lies behind the graph: a faint band for each lane and a box for each group.

import { Layout, LayoutKind } from "./binary";
import type { Extent } from "./scene_camera";
import { GL, Program, makeBuffer, makeProgram } from "./scene_gl";
import { BOX_FRAGMENT, BOX_VERTEX } from "./scene_shaders";
import { Theme, parseColour } from "./states_palette";

const FLOATS = 14;
export const BOX_ATTRIBUTES: readonly string[] = ["aBox", "aFill", "aStroke", "aLook"];

export interface Band {
  title: string;
  box: Extent;
}

/** The lanes of a layout as boxes with titles; none where all nodes share one. */
export function bandsOf(layout: Layout): Band[] {
  if (layout.kind !== LayoutKind.Lanes) return [];
  const boxes: (Extent | null)[] = [null, null];
  for (let v = 0; v < layout.nodeCount; v++) {
    const lane = layout.lane[v] ? 1 : 0;
    const x = layout.x[v], y = layout.y[v];
    const b = boxes[lane];
    if (!b) boxes[lane] = { left: x, right: x, top: y, bottom: y };
    else {
      b.left = Math.min(b.left, x);
      b.right = Math.max(b.right, x);
      b.top = Math.min(b.top, y);
      b.bottom = Math.max(b.bottom, y);
    }
  }
  const [forward, backward] = boxes;
  if (!forward || !backward) return [];
  const left = Math.min(forward.left, backward.left) - 0.8;
  const right = Math.max(forward.right, backward.right) + 0.8;
  return [
    { title: "Forward", box: { ...forward, left, right, top: forward.top - 0.6, bottom: forward.bottom + 0.6 } },
    { title: "Backward", box: { ...backward, left, right, top: backward.top - 0.6, bottom: backward.bottom + 0.6 } },
  ];
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

  set(layout: Layout, bands: readonly Band[], theme: Theme): void {
    const group = parseColour(theme.group);
    const tints = [parseColour(theme.states[2]), parseColour(theme.states[6])];
    const rows: number[] = [];
    bands.forEach(({ box: b }, i) => {
      const tint = tints[i] ?? group;
      rows.push(b.left, b.top, b.right - b.left, b.bottom - b.top);
      rows.push(...tint, theme.dark ? 0.035 : 0.045, ...tint, theme.dark ? 0.1 : 0.14, 14, 10);
    });
    for (let g = 0; g < layout.groupCount; g++) {
      const [x, y, w, h] = layout.groupBoxes.subarray(4 * g, 4 * g + 4);
      rows.push(x, y, w, h, ...group, theme.dark ? 0.055 : 0.06, ...group, theme.dark ? 0.22 : 0.26, 7, 1);
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
