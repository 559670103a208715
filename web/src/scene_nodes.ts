// Nodes: one quad each, read from the textures of positions and states; and the marks drawn again on top.

import { GL, Program, TEXTURE_COLUMNS, integerArray, makeBuffer, makeNodeTexture, makeProgram, textureRows } from "./scene_gl";
import { NODE_FRAGMENT, NODE_VERTEX } from "./scene_shaders";
import { RADIUS_RULE, SceneLayout } from "./scene_shape";

const MOST_MARKS = 256;

export const enum Mark {
  Selected = 1,
  Hovered = 2,
  OnTop = 4,
}

export interface NodeFrame {
  shared: (p: Program) => void;
  unit: number;
  pulse: number;
  dark: boolean;
  accent: [number, number, number];
}

export class NodeLayer {
  readonly positions: WebGLTexture;
  private readonly program: Program;
  private readonly order: WebGLBuffer;
  private readonly orderArray: WebGLVertexArrayObject;
  private readonly marks: WebGLBuffer;
  private readonly marksArray: WebGLVertexArrayObject;
  private readonly markData = new Uint32Array(2 * MOST_MARKS);
  private markCount = 0;

  constructor(
    private readonly gl: GL,
    private readonly layout: SceneLayout,
  ) {
    const n = layout.nodeCount;
    const rows = textureRows(n);
    this.program = makeProgram(gl, NODE_VERTEX, NODE_FRAGMENT, ["aNode", "aMark"]);
    this.positions = makeNodeTexture(gl, gl.RGBA32F, rows);
    const data = new Float32Array(4 * rows * TEXTURE_COLUMNS);
    for (let v = 0; v < n; v++) {
      data[4 * v] = layout.x[v];
      data[4 * v + 1] = layout.y[v];
      data[4 * v + 2] = layout.radius[v];
      data[4 * v + 3] = layout.lane[v] ? -layout.room[v] : layout.room[v];
    }
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, TEXTURE_COLUMNS, rows, gl.RGBA, gl.FLOAT, data);
    this.order = makeBuffer(gl);
    gl.bindBuffer(gl.ARRAY_BUFFER, this.order);
    gl.bufferData(gl.ARRAY_BUFFER, new Uint32Array(n).map((_, v) => v), gl.STATIC_DRAW);
    this.orderArray = integerArray(gl, this.order, 4, [{ location: 0, size: 1, offset: 0 }]);
    this.marks = makeBuffer(gl);
    this.marksArray = integerArray(gl, this.marks, 8, [
      { location: 0, size: 1, offset: 0 },
      { location: 1, size: 1, offset: 4 },
    ]);
  }

  /** Replaces the nodes drawn on top; the bytes sent. */
  mark(list: readonly { node: number; mark: number }[]): number {
    const count = Math.min(list.length, MOST_MARKS);
    for (let i = 0; i < count; i++) {
      this.markData[2 * i] = list[i].node;
      this.markData[2 * i + 1] = list[i].mark;
    }
    this.markCount = count;
    if (count === 0) return 0;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.marks);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, this.markData, this.gl.STREAM_DRAW, 0, 2 * count);
    return 8 * count;
  }

  draw(f: NodeFrame): void {
    const gl = this.gl;
    const p = this.program;
    gl.useProgram(p.program);
    f.shared(p);
    gl.uniform1f(p.at("uUnit"), f.unit);
    gl.uniform3f(p.at("uRadius"), ...RADIUS_RULE);
    gl.uniform1f(p.at("uPulse"), f.pulse);
    gl.uniform1f(p.at("uDark"), f.dark ? 1 : 0);
    gl.uniform3fv(p.at("uAccent"), f.accent);
    gl.vertexAttribI4ui(1, 0, 0, 0, 0);
    gl.bindVertexArray(this.orderArray);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.layout.nodeCount);
    if (this.markCount > 0) {
      gl.bindVertexArray(this.marksArray);
      gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, this.markCount);
    }
    gl.bindVertexArray(null);
  }

  release(): void {
    const gl = this.gl;
    gl.deleteTexture(this.positions);
    gl.deleteBuffer(this.order);
    gl.deleteBuffer(this.marks);
    gl.deleteVertexArray(this.orderArray);
    gl.deleteVertexArray(this.marksArray);
    gl.deleteProgram(this.program.program);
  }
}
