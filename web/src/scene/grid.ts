// Nodes in square cells, for picking and for finding the nodes on the screen.

import type { Extent } from "./camera";

const NODES_PER_CELL = 2;

export class NodeGrid {
  readonly extent: Extent;
  private readonly columns: number;
  private readonly rows: number;
  private readonly cell: number;
  /** Nodes of cell c: `nodes[start[c]]` up to `nodes[start[c + 1]]`. */
  private readonly start: Uint32Array;
  private readonly nodes: Uint32Array;

  constructor(
    private readonly x: Float32Array,
    private readonly y: Float32Array,
  ) {
    const n = x.length;
    this.extent = extentOf(x, y);
    const w = Math.max(1, this.extent.right - this.extent.left);
    const h = Math.max(1, this.extent.bottom - this.extent.top);
    this.cell = Math.max(Math.sqrt((w * h * NODES_PER_CELL) / Math.max(1, n)), Math.max(w, h) / 4096);
    this.columns = Math.floor(w / this.cell) + 1;
    this.rows = Math.floor(h / this.cell) + 1;
    this.start = new Uint32Array(this.columns * this.rows + 2);
    for (let v = 0; v < n; v++) this.start[this.cellOf(x[v], y[v]) + 2]++;
    for (let c = 2; c < this.start.length; c++) this.start[c] += this.start[c - 1];
    this.nodes = new Uint32Array(n);
    for (let v = 0; v < n; v++) this.nodes[this.start[this.cellOf(x[v], y[v]) + 1]++] = v;
  }

  private column(x: number): number {
    return Math.max(0, Math.min(this.columns - 1, Math.floor((x - this.extent.left) / this.cell)));
  }

  private row(y: number): number {
    return Math.max(0, Math.min(this.rows - 1, Math.floor((y - this.extent.top) / this.cell)));
  }

  private cellOf(x: number, y: number): number {
    return this.row(y) * this.columns + this.column(x);
  }

  /** Calls `visit` for the nodes inside a box, until it returns false. */
  within(box: Extent, visit: (node: number) => boolean | void): void {
    if (this.x.length === 0) return;
    const c0 = this.column(box.left);
    const c1 = this.column(box.right);
    const r1 = this.row(box.bottom);
    for (let r = this.row(box.top); r <= r1; r++) {
      const end = this.start[r * this.columns + c1 + 1];
      for (let i = this.start[r * this.columns + c0]; i < end; i++) {
        const v = this.nodes[i];
        const x = this.x[v];
        const y = this.y[v];
        if (x < box.left || x > box.right || y < box.top || y > box.bottom) continue;
        if (visit(v) === false) return;
      }
    }
  }
}

export function extentOf(x: Float32Array, y: Float32Array): Extent {
  if (x.length === 0) return { left: 0, top: 0, right: 1, bottom: 1 };
  const e: Extent = { left: x[0], top: y[0], right: x[0], bottom: y[0] };
  for (let v = 1; v < x.length; v++) {
    if (x[v] < e.left) e.left = x[v];
    else if (x[v] > e.right) e.right = x[v];
    if (y[v] < e.top) e.top = y[v];
    else if (y[v] > e.bottom) e.bottom = y[v];
  }
  return e;
}
