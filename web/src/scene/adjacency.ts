// Edges as a scene needs them: by node in both directions, their main direction, and in an order suited for sampling.

import { Layout, LayoutKind } from "../binary";

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
  /** Side to which edges along a row bend: with two lanes, away from the other one. */
  bow: 1 | -1;
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
  // In lanes and folded rows edges go both ways: their signs cancel, and the longer distances decide.
  const clear = Math.max(Math.abs(sx), Math.abs(sy)) > 0.6 * count;
  const alongX = clear ? Math.abs(sx) >= Math.abs(sy) : layout.kind === LayoutKind.Lanes || dx >= dy;
  return { dx: dx / Math.max(1, count), dy: dy / Math.max(1, count), alongX, bow: outward(layout, alongX) };
}

function outward(layout: Layout, alongX: boolean): 1 | -1 {
  const sum = [0, 0], count = [0, 0];
  for (let v = 0; v < layout.nodeCount; v++) {
    const lane = layout.lane[v] ? 1 : 0;
    sum[lane] += alongX ? layout.y[v] : layout.x[v];
    count[lane]++;
  }
  if (count[0] === 0 || count[1] === 0) return 1;
  return sum[1] / count[1] >= sum[0] / count[0] ? 1 : -1;
}

/** Indices of edges, at most `max`, such that every prefix of the list is a fair sample. The order is deterministic. */
export function sampleOrder(edgeCount: number, max: number): Uint32Array {
  const order = new Uint32Array(edgeCount);
  for (let e = 0; e < edgeCount; e++) order[e] = e;
  let seed = 12345;
  for (let e = 0; e < edgeCount; e++) {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
    const k = e + Math.floor((seed / 0x1_0000_0000) * (edgeCount - e));
    const kept = order[e];
    order[e] = order[k];
    order[k] = kept;
  }
  return order.subarray(0, max);
}
