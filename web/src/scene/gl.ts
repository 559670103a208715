// Small helpers for WebGL2: programs with their uniforms, textures of node data.

/** Columns of the textures with node data. */
export const TEXTURE_COLUMNS = 1024;

export type GL = WebGL2RenderingContext;

export interface Program {
  /** Selects this program for the next drawing. */
  use(): void;
  at(name: string): WebGLUniformLocation | null;
}

/** Compiling is slow without a graphics card: each program is created once per context. */
const programs = new WeakMap<GL, Map<string, Program>>();

/** After the loss of a context its programs are gone. */
export function forgetPrograms(gl: GL): void {
  programs.delete(gl);
}

function startShader(gl: GL, kind: number, source: string): WebGLShader {
  const s = gl.createShader(kind);
  if (!s) throw new Error("the browser could not create a shader; reload the page");
  gl.shaderSource(s, `#version 300 es\n${source}`);
  gl.compileShader(s);
  return s;
}

/**
 * A program of two shaders. Attributes are bound to locations in the order given. Compiling only starts here; the browser continues it in
 * the background, and the first use waits until it is done.
 */
export function makeProgram(gl: GL, vertex: string, fragment: string, attributes: readonly string[] = []): Program {
  let known = programs.get(gl);
  if (!known) programs.set(gl, (known = new Map()));
  const key = vertex + fragment;
  let made = known.get(key);
  if (!made) known.set(key, (made = startProgram(gl, vertex, fragment, attributes)));
  return made;
}

function startProgram(gl: GL, vertex: string, fragment: string, attributes: readonly string[]): Program {
  const program = gl.createProgram();
  if (!program) throw new Error("the browser could not create a shader program; reload the page");
  const shaders = [startShader(gl, gl.VERTEX_SHADER, vertex), startShader(gl, gl.FRAGMENT_SHADER, fragment)];
  for (const s of shaders) gl.attachShader(program, s);
  for (const [i, name] of attributes.entries()) gl.bindAttribLocation(program, i, name);
  gl.linkProgram(program);
  const places = new Map<string, WebGLUniformLocation | null>();
  let checked = false;
  const use = (): void => {
    if (!checked) check(gl, program, shaders);
    checked = true;
    gl.useProgram(program);
  };
  const at = (name: string): WebGLUniformLocation | null => {
    let place = places.get(name);
    if (place === undefined) places.set(name, (place = gl.getUniformLocation(program, name)));
    return place;
  };
  return { use, at };
}

function check(gl: GL, program: WebGLProgram, shaders: readonly WebGLShader[]): void {
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    const notes = shaders.map((s) => gl.getShaderInfoLog(s) ?? "").join(" ");
    throw new Error(`a shader program does not link: ${gl.getProgramInfoLog(program) ?? ""} ${notes}`);
  }
  for (const s of shaders) gl.deleteShader(s);
}

/** Is drawing done in software, on the processor? Then less can be drawn per frame. */
export function drawsInSoftware(gl: GL): boolean {
  const known = softly.get(gl);
  if (known !== undefined) return known;
  const info = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  const answer = /swiftshader|llvmpipe|software|basic render/i.test(name);
  softly.set(gl, answer);
  return answer;
}

/** Cached, because the query waits for all pending drawing. */
const softly = new WeakMap<GL, boolean>();

export function textureRows(nodes: number): number {
  return Math.max(1, Math.ceil(nodes / TEXTURE_COLUMNS));
}

/** Texture units. Uploads use a separate unit, so that they never unbind a texture that a drawing is about to read. */
export const enum Unit {
  Nodes = 0,
  States = 1,
  List = 2,
  Sending = 3,
}

export function bindTexture(gl: GL, unit: Unit, texture: WebGLTexture | null): void {
  gl.activeTexture(gl.TEXTURE0 + unit);
  gl.bindTexture(gl.TEXTURE_2D, texture);
}

/** A texture with one texel for each node, read only with texelFetch. It remains bound for uploads. */
export function makeNodeTexture(gl: GL, format: number, rows: number): WebGLTexture {
  const texture = gl.createTexture();
  if (!texture) throw new Error("the browser could not create a texture; reload the page");
  bindTexture(gl, Unit.Sending, texture);
  gl.texStorage2D(gl.TEXTURE_2D, 1, format, TEXTURE_COLUMNS, rows);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
  gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
  return texture;
}

export interface IntegerAttribute {
  location: number;
  size: number;
  offset: number;
}

/** A vertex array of unsigned integers that advance once per instance, or once per vertex with divisor 0. */
export function integerArray(
  gl: GL,
  buffer: WebGLBuffer,
  stride: number,
  list: readonly IntegerAttribute[],
  divisor = 1,
): WebGLVertexArrayObject {
  const vao = gl.createVertexArray();
  if (!vao) throw new Error("the browser could not create a vertex array; reload the page");
  gl.bindVertexArray(vao);
  gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
  for (const a of list) {
    gl.enableVertexAttribArray(a.location);
    gl.vertexAttribIPointer(a.location, a.size, gl.UNSIGNED_INT, stride, a.offset);
    gl.vertexAttribDivisor(a.location, divisor);
  }
  gl.bindVertexArray(null);
  return vao;
}

export function makeBuffer(gl: GL): WebGLBuffer {
  const buffer = gl.createBuffer();
  if (!buffer) throw new Error("the browser could not create a buffer; reload the page");
  return buffer;
}
