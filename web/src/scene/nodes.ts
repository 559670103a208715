// Nodes: one quad each, read from the textures of positions and states; marked nodes are drawn a second time, on top.

import { GL, Program, TEXTURE_COLUMNS, Unit, bindTexture, makeNodeTexture, makeProgram, textureRows } from "./gl";
import { NODE_FRAGMENT, NODE_VERTEX } from "./shaders";
import { RADIUS_RULE, SceneLayout } from "./shape";

const MAX_MARKS = 256;
/** Vertices of one node in the triangle strip. */
const STRIP = 6;

export const enum Mark {
  Selected = 1,
  Hovered = 2,
  OnTop = 4,
}

export interface NodeFrame {
  shared: (p: Program) => void;
  unit: number;
  /** Nodes are small enough to be drawn as points, with a sixth of the vertices. */
  small: boolean;
  pulse: number;
  dark: boolean;
  accent: [number, number, number];
}

export class NodeLayer {
  readonly positions: WebGLTexture;
  private readonly program: Program;
  private readonly marks: WebGLTexture;
  private readonly markData = new Uint32Array(2 * MAX_MARKS);
  private markCount = 0;

  constructor(
    private readonly gl: GL,
    private readonly layout: SceneLayout,
  ) {
    const n = layout.nodeCount;
    const rows = textureRows(n);
    this.program = makeProgram(gl, NODE_VERTEX, NODE_FRAGMENT);
    this.positions = makeNodeTexture(gl, gl.RGBA32F, rows);
    const data = new Float32Array(4 * rows * TEXTURE_COLUMNS);
    for (let v = 0; v < n; v++) {
      data[4 * v] = layout.x[v];
      data[4 * v + 1] = layout.y[v];
      data[4 * v + 2] = layout.radius[v];
      data[4 * v + 3] = layout.lane[v] ? -layout.room[v] : layout.room[v];
    }
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, TEXTURE_COLUMNS, rows, gl.RGBA, gl.FLOAT, data);
    this.marks = makeNodeTexture(gl, gl.RG32UI, 1);
  }

  /** Replaces the nodes drawn on top; returns the bytes sent. */
  mark(list: readonly { node: number; mark: number }[]): number {
    const count = Math.min(list.length, MAX_MARKS);
    for (let i = 0; i < count; i++) {
      this.markData[2 * i] = list[i].node;
      this.markData[2 * i + 1] = list[i].mark;
    }
    this.markCount = count;
    if (count === 0) return 0;
    const gl = this.gl;
    bindTexture(gl, Unit.Sending, this.marks);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, count, 1, gl.RG_INTEGER, gl.UNSIGNED_INT, this.markData);
    return 8 * count;
  }

  draw(f: NodeFrame): void {
    const gl = this.gl;
    const p = this.program;
    p.use();
    f.shared(p);
    gl.uniform1f(p.at("uUnit"), f.unit);
    gl.uniform3f(p.at("uRadius"), ...RADIUS_RULE);
    gl.uniform1f(p.at("uPulse"), f.pulse);
    gl.uniform1f(p.at("uDark"), f.dark ? 1 : 0);
    gl.uniform3fv(p.at("uAccent"), f.accent);
    bindTexture(gl, Unit.List, this.marks);
    gl.uniform1i(p.at("uMarks"), Unit.List);
    gl.uniform1i(p.at("uMarked"), 0);
    gl.uniform1i(p.at("uVertices"), f.small ? 1 : STRIP);
    if (f.small) gl.drawArrays(gl.POINTS, 0, this.layout.nodeCount);
    else gl.drawArrays(gl.TRIANGLE_STRIP, 0, STRIP * this.layout.nodeCount);
    if (this.markCount === 0) return;
    gl.uniform1i(p.at("uMarked"), 1);
    gl.uniform1i(p.at("uVertices"), STRIP);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, STRIP * this.markCount);
  }

  release(): void {
    const gl = this.gl;
    gl.deleteTexture(this.positions);
    gl.deleteTexture(this.marks);
  }
}
