// Graphs and plans made up for tests, measurements and trial pictures, in the very form that the server sends.

import { Frames, Layout, LayoutKind, NONE, Names, Op, RECOMPUTE_BIT } from "../src/binary";

export type Random = () => number;

export function seeded(seed: number): Random {
  let s = seed >>> 0 || 1;
  return () => {
    s ^= s << 13;
    s >>>= 0;
    s ^= s >>> 17;
    s ^= s << 5;
    s >>>= 0;
    return s / 0x1_0000_0000;
  };
}

interface Draft {
  kind: LayoutKind;
  x: number[];
  y: number[];
  lane: number[];
  group: number[];
  size: number[];
  names: string[];
  edges: [number, number][];
  groupNames: string[];
}

const empty = (kind: LayoutKind): Draft => ({ kind, x: [], y: [], lane: [], group: [], size: [], names: [], edges: [], groupNames: [] });

function finish(d: Draft): Layout {
  const n = d.x.length;
  const q = d.groupNames.length;
  const boxes = new Float32Array(4 * q);
  for (let g = 0; g < q; g++) {
    const members = d.group.map((k, v) => (k === g ? v : -1)).filter((v) => v >= 0);
    const xs = members.map((v) => d.x[v]), ys = members.map((v) => d.y[v]);
    const left = Math.min(...xs) - 0.45, top = Math.min(...ys) - 0.45;
    boxes.set([left, top, Math.max(...xs) + 0.45 - left, Math.max(...ys) + 0.6 - top], 4 * g);
  }
  const most = d.size.reduce((a, b) => Math.max(a, b), 1);
  const range = (a: number[]): number => a.reduce((m, v) => Math.max(m, v), 0) - a.reduce((m, v) => Math.min(m, v), 0) + 1;
  return {
    kind: d.kind,
    nodeCount: n,
    edgeCount: d.edges.length,
    groupCount: q,
    width: range(d.x),
    height: range(d.y),
    x: Float32Array.from(d.x),
    y: Float32Array.from(d.y),
    radius: Float32Array.from(d.size, (s) => 0.2 + 0.26 * Math.sqrt(s / most)),
    lane: Uint8Array.from(d.lane),
    group: Uint32Array.from(d.group),
    edgeFrom: Uint32Array.from(d.edges, (e) => e[0]),
    edgeTo: Uint32Array.from(d.edges, (e) => e[1]),
    size: Float64Array.from(d.size),
    cost: new Float64Array(n).fill(1),
    names: Names.from([...d.names, ...d.groupNames]),
  };
}

function add(d: Draft, x: number, y: number, size: number, name: string, lane = 0, group: number = NONE): number {
  d.x.push(x);
  d.y.push(y);
  d.lane.push(lane);
  d.group.push(group);
  d.size.push(size);
  d.names.push(name);
  return d.x.length - 1;
}

/** A random graph in layers along x. */
export function layered(nodes: number, seed = 1, aspect = 2): Layout {
  const random = seeded(seed);
  const d = empty(LayoutKind.Layered);
  const high = Math.max(1, Math.round(Math.sqrt(nodes / aspect)));
  let before: number[] = [];
  for (let layer = 0; d.x.length < nodes; layer++) {
    const count = Math.max(1, Math.min(nodes - d.x.length, Math.round(high * (0.65 + 0.7 * random()))));
    const row: number[] = [];
    for (let k = 0; k < count; k++) {
      const v = add(d, layer, k - count / 2, Math.ceil(1 + 60 * random() ** 3), `op${layer}_${k}`);
      const centre = (k / count) * before.length;
      const inputs = new Set<number>();
      for (let i = 0; i < 1 + random() * 2.4 && before.length > 0; i++)
        inputs.add(before[Math.max(0, Math.min(before.length - 1, Math.floor(centre + (random() - 0.5) * 5)))]);
      if (random() < 0.04 && v > 8 * high) inputs.add(v - Math.floor(high * (1.5 + 6 * random())));
      for (const u of inputs) if (u !== v) d.edges.push([u, v]);
      row.push(v);
    }
    before = row;
  }
  return finish(d);
}

/** Training of a chain of blocks with skip connections: forward above, backward below, facing. */
export function training(blocks: number, perBlock = 3): Layout {
  const d = empty(LayoutKind.Lanes);
  const parts = ["conv", "norm", "relu", "attn", "mlp"];
  const forward: number[] = [];
  for (let b = 0; b < blocks; b++) {
    d.groupNames.push(`block ${b + 1}`);
    for (let k = 0; k < perBlock; k++) {
      const i = forward.length;
      const v = add(d, i, (k % 2) * 0.9, 8 + ((b * 7 + k * 13) % 40), `${parts[k % parts.length]}${b + 1}`, 0, b);
      if (i > 0) d.edges.push([forward[i - 1], v]);
      if (k === 0 && b > 0) d.edges.push([forward[Math.max(0, i - perBlock)], v]);
      forward.push(v);
    }
  }
  const count = forward.length;
  for (let b = 0; b < blocks; b++) d.groupNames.push(`block ${b + 1} gradient`);
  let last = -1;
  for (let i = count - 1; i >= 0; i--) {
    const v = add(d, i, 4 + (i % perBlock % 2) * 0.9, 6 + ((i * 11) % 30), `grad ${d.names[forward[i]]}`, 1, blocks + Math.floor(i / perBlock));
    d.edges.push([forward[i], v]);
    if (i > 0) d.edges.push([forward[i - 1], v]);
    if (last >= 0) d.edges.push([last, v]);
    last = v;
  }
  return finish(d);
}

/** A complete binary tree, leaves left, root right. */
export function tree(height: number): Layout {
  const d = empty(LayoutKind.Tree);
  let row: number[] = [];
  const leaves = 1 << height;
  for (let i = 0; i < leaves; i++) row.push(add(d, 0, i, 4, `leaf${i}`));
  for (let level = 1; level <= height; level++) {
    const next: number[] = [];
    for (let i = 0; i < row.length; i += 2) {
      const v = add(d, level * 2, (d.y[row[i]] + d.y[row[i + 1]]) / 2, 4 + level, `hash${level}_${i / 2}`);
      d.edges.push([row[i], v], [row[i + 1], v]);
      next.push(v);
    }
    row = next;
  }
  return finish(d);
}

interface Writer {
  op: number[];
  node: number[];
  tier: number[];
  during: number[];
  after: number[];
  slow: number[];
}

/**
 * A plan that computes nodes in index order and frees the value used longest ago whenever more than `cap` would be held; needed values come
 * back by recomputation, or from slow memory when `tiered`. Not a good plan, but a legal one with every kind of move.
 */
export function greedyPlan(layout: Layout, cap: number, tiered = false): Frames {
  const n = layout.nodeCount;
  const inputs: number[][] = Array.from({ length: n }, () => []);
  const uses = new Uint32Array(n);
  for (let e = 0; e < layout.edgeCount; e++) {
    inputs[layout.edgeTo[e]].push(layout.edgeFrom[e]);
    uses[layout.edgeFrom[e]]++;
  }
  const w: Writer = { op: [], node: [], tier: [], during: [], after: [], slow: [] };
  const inFast = new Uint8Array(n), inSlow = new Uint8Array(n), made = new Uint8Array(n), held = new Uint8Array(n);
  const queue: number[] = [];
  let head = 0, memory = 0, slow = 0;
  const push = (op: number, v: number, during: number): void => {
    w.op.push(op);
    w.node.push(v);
    w.tier.push(op >= Op.Store && op <= Op.Drop ? 1 : 0);
    w.during.push(during);
    w.after.push(memory);
    w.slow.push(slow);
  };
  const free = (v: number): void => {
    const before = memory;
    inFast[v] = 0;
    memory -= layout.size[v];
    push(Op.Free, v, before);
  };
  const makeRoom = (need: number): void => {
    for (let tries = queue.length - head; memory + need > cap && tries > 0; tries--) {
      const v = queue[head++];
      if (!inFast[v]) continue;
      if (held[v]) {
        queue.push(v);
        continue;
      }
      if (tiered && uses[v] > 0 && !inSlow[v]) {
        inSlow[v] = 1;
        slow += layout.size[v];
        push(Op.Store, v, memory);
      }
      free(v);
    }
  };
  const bring = (v: number): void => {
    makeRoom(layout.size[v]);
    const before = memory;
    memory += layout.size[v];
    inFast[v] = 1;
    queue.push(v);
    if (inSlow[v]) push(Op.Load, v, before + layout.size[v]);
    else push(Op.Compute | (made[v] ? RECOMPUTE_BIT : 0), v, before + layout.size[v]);
    made[v] = 1;
  };
  const ensure = (target: number): void => {
    const stack = [target];
    const waiting: number[] = [];
    while (stack.length > 0) {
      const v = stack[stack.length - 1];
      const missing = inSlow[v] || inFast[v] ? [] : inputs[v].filter((u) => !inFast[u]);
      if (missing.length > 0) {
        for (const u of inputs[v]) if (!held[u]) waiting.push(u);
        for (const u of inputs[v]) held[u] = 1;
        stack.push(...missing);
        continue;
      }
      stack.pop();
      if (!inFast[v]) {
        for (const u of inputs[v]) if (!held[u]) waiting.push(u);
        for (const u of inputs[v]) held[u] = 1;
        bring(v);
      }
    }
    for (const u of waiting) held[u] = 0;
  };
  for (let v = 0; v < n; v++) {
    ensure(v);
    for (const u of inputs[v])
      if (--uses[u] === 0) {
        if (inFast[u]) free(u);
        if (inSlow[u]) {
          inSlow[u] = 0;
          slow -= layout.size[u];
          push(Op.Drop, u, memory);
        }
      }
  }
  return frames(w, cap, tiered ? 1 : 0);
}

function frames(w: Writer, cap: number, tierCount: number): Frames {
  const m = w.op.length;
  let peakStep = 0;
  for (let i = 0; i < m; i++) if (w.during[i] > w.during[peakStep]) peakStep = i;
  const peak = m > 0 ? w.during[peakStep] : 0;
  return {
    timed: null, memory: 0, tierCount,
    moveCount: m,
    op: Uint8Array.from(w.op),
    tier: Uint8Array.from(w.tier),
    node: Uint32Array.from(w.node),
    over: new Uint32Array(m).fill(NONE),
    alsoStart: new Uint32Array(m + 1),
    also: new Uint32Array(0),
    during: Float64Array.from(w.during),
    after: Float64Array.from(w.after),
    slow: Float64Array.from(w.slow),
    time: Float64Array.from(w.op, (_, i) => i),
    cap: Math.max(cap, peak),
    peak,
    peakStep,
    initialFast: new Uint32Array(0),
    initialSlow: new Uint32Array(0),
  };
}

/** The memory that computing everything in index order needs, with values freed after their last use. */
export function plainPeak(layout: Layout): number {
  return greedyPlan(layout, Infinity).peak;
}
