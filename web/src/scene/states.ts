// The state of every node on the graphics card, updated by sending only the changes.
//
// A node's word: state (4 bits), the state that its trail starts from (4), when it last changed (20 bits, in ticks of 4 ms), and how full
// it is (4 bits; 15: full).
// Changes of one frame go up as (node, word) pairs in one small buffer and are drawn as points into the texture of words, so a
// frame costs 8 bytes for each changed node and two calls, however they are scattered. When most nodes change the texture is sent whole.

import { GL, Program, TEXTURE_COLUMNS, Unit, bindTexture, integerArray, makeBuffer, makeNodeTexture, makeProgram, textureRows } from "./gl";
import { SCATTER_FRAGMENT, SCATTER_VERTEX } from "./shaders";
import { FULL } from "./shown";

export const TICK_MS = 4;
const STAMP_MASK = 0xfffff;

export function packWord(state: number, from: number, tick: number, level = FULL): number {
  return ((state & 15) | ((from & 15) << 4) | ((tick & STAMP_MASK) << 8) | (level << 28)) >>> 0;
}

export class StateTexture {
  readonly texture: WebGLTexture;
  private readonly words: Uint32Array;
  private readonly pairs: Uint32Array;
  private pending = 0;
  private everything = true;
  private readonly rows: number;
  private readonly target: WebGLFramebuffer | null;
  private readonly buffer: WebGLBuffer;
  private readonly vao: WebGLVertexArrayObject;
  private readonly program: Program;

  constructor(
    private readonly gl: GL,
    nodeCount: number,
  ) {
    this.rows = textureRows(nodeCount);
    this.words = new Uint32Array(this.rows * TEXTURE_COLUMNS);
    this.pairs = new Uint32Array(2 * (Math.ceil(nodeCount / 2) + 1));
    this.texture = makeNodeTexture(gl, gl.R32UI, this.rows);
    this.target = gl.createFramebuffer();
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.buffer = makeBuffer(gl);
    this.program = makeProgram(gl, SCATTER_VERTEX, SCATTER_FRAGMENT, ["aPair"]);
    this.vao = integerArray(gl, this.buffer, 8, [{ location: 0, size: 2, offset: 0 }], 0);
  }

  /** Adds one node; each node at most once between two flushes. */
  set(node: number, word: number): void {
    this.words[node] = word;
    if (this.everything) return;
    const i = 2 * this.pending++;
    if (i + 1 >= this.pairs.length) {
      this.everything = true;
      return;
    }
    this.pairs[i] = node;
    this.pairs[i + 1] = word;
  }

  /** Call this if all words may have changed. */
  setAll(fill: (words: Uint32Array) => void): void {
    fill(this.words);
    this.everything = true;
  }

  get waiting(): boolean {
    return this.everything || this.pending > 0;
  }

  /** Sends what is pending; returns the number of bytes sent. */
  flush(): number {
    const count = this.pending;
    this.pending = 0;
    if (this.everything) {
      this.everything = false;
      return this.sendAll();
    }
    return count > 0 ? this.scatter(count) : 0;
  }

  private sendAll(): number {
    const gl = this.gl;
    bindTexture(gl, Unit.Sending, this.texture);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, TEXTURE_COLUMNS, this.rows, gl.RED_INTEGER, gl.UNSIGNED_INT, this.words);
    return this.words.byteLength;
  }

  private scatter(count: number): number {
    const gl = this.gl;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffer);
    gl.bufferData(gl.ARRAY_BUFFER, this.pairs, gl.STREAM_DRAW, 0, 2 * count);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.viewport(0, 0, TEXTURE_COLUMNS, this.rows);
    gl.disable(gl.BLEND);
    this.program.use();
    gl.uniform2f(this.program.at("uSize"), TEXTURE_COLUMNS, this.rows);
    gl.bindVertexArray(this.vao);
    gl.drawArrays(gl.POINTS, 0, count);
    gl.bindVertexArray(null);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    return 8 * count;
  }

  release(): void {
    const gl = this.gl;
    gl.deleteTexture(this.texture);
    gl.deleteFramebuffer(this.target);
    gl.deleteBuffer(this.buffer);
    gl.deleteVertexArray(this.vao);
  }
}
