// A picture as large as the canvas that is drawn once and shown again in later frames.

import { GL, Program, Unit, bindTexture, makeProgram } from "./gl";
import { LAYER_FRAGMENT, LAYER_VERTEX } from "./shaders";

export class KeptLayer {
  /** Whether there is something to show. */
  ready = false;
  private readonly program: Program;
  private texture: WebGLTexture | null = null;
  private target: WebGLFramebuffer | null = null;
  private width = 0;
  private height = 0;

  constructor(private readonly gl: GL) {
    this.program = makeProgram(gl, LAYER_VERTEX, LAYER_FRAGMENT);
  }

  /** Makes the picture as large as the canvas; true if it must be drawn. */
  prepare(): boolean {
    const gl = this.gl;
    const { drawingBufferWidth: width, drawingBufferHeight: height } = gl;
    if (this.texture && this.width === width && this.height === height) return !this.ready;
    this.drop();
    this.texture = gl.createTexture();
    this.target = gl.createFramebuffer();
    bindTexture(gl, Unit.Sending, this.texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, width, height);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
    gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, this.texture, 0);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    this.width = width;
    this.height = height;
    return true;
  }

  begin(): void {
    const gl = this.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, this.target);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  end(): void {
    this.gl.bindFramebuffer(this.gl.FRAMEBUFFER, null);
    this.ready = true;
  }

  show(): void {
    const gl = this.gl;
    this.program.use();
    bindTexture(gl, Unit.List, this.texture);
    gl.uniform1i(this.program.at("uLayer"), Unit.List);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  }

  forget(): void {
    this.ready = false;
  }

  private drop(): void {
    this.gl.deleteTexture(this.texture);
    this.gl.deleteFramebuffer(this.target);
    this.ready = false;
  }

  release(): void {
    this.drop();
  }
}
