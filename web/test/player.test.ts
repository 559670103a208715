import assert from "node:assert/strict";
import { test } from "node:test";
import { Frames, NONE, Op, RECOMPUTE_BIT } from "../src/binary";
import { NodeState, Player } from "../src/player";
import { checkMemory } from "./checks";
import { greedyPlan, layered, plainPeak, seeded, training } from "./synthetic";

interface Move {
  op: Op;
  node: number;
  over?: number;
  also?: number[];
  tier?: number;
  again?: boolean;
}

function plan(moves: Move[], given: number[] = [], slowGiven: number[] = []): Frames {
  const m = moves.length;
  const also: number[] = [];
  const alsoStart = new Uint32Array(m + 1);
  moves.forEach((move, i) => {
    also.push(...(move.also ?? []));
    alsoStart[i + 1] = also.length;
  });
  return {
    timed: null, memory: 0, tierCount: 1,
    moveCount: m,
    op: Uint8Array.from(moves, (x) => x.op | (x.again ? RECOMPUTE_BIT : 0)),
    tier: Uint8Array.from(moves, (x) => x.tier ?? 0),
    node: Uint32Array.from(moves, (x) => x.node),
    over: Uint32Array.from(moves, (x) => x.over ?? NONE),
    alsoStart,
    also: Uint32Array.from(also),
    during: new Float64Array(m),
    after: new Float64Array(m),
    slow: new Float64Array(m),
    time: new Float64Array(m),
    cap: Infinity,
    peak: 0,
    peakStep: 0,
    initialFast: Uint32Array.from(given),
    initialSlow: Uint32Array.from(slowGiven),
  };
}

test("states follow computing, freeing and recomputing", () => {
  const p = new Player(2, plan([
    { op: Op.Compute, node: 0 },
    { op: Op.Compute, node: 1 },
    { op: Op.Free, node: 0 },
    { op: Op.Compute, node: 0, again: true },
  ]));
  assert.deepEqual([...p.states], [NodeState.Never, NodeState.Never]);
  p.next();
  assert.deepEqual([...p.states], [NodeState.Computing, NodeState.Never]);
  p.next();
  assert.deepEqual([...p.states], [NodeState.Resident, NodeState.Computing]);
  p.next();
  assert.deepEqual([...p.states], [NodeState.Evicted, NodeState.Resident]);
  p.next();
  assert.deepEqual([...p.states], [NodeState.Recomputing, NodeState.Resident]);
  assert.equal(p.next(), false);
  assert.equal(p.computeCount(0), 2);
  assert.equal(p.computeCount(0, 3), 1);
  assert.equal(p.recomputations(3), 0);
  assert.equal(p.recomputations(4), 1);
  p.seek(0);
  assert.deepEqual([...p.states], [NodeState.Never, NodeState.Never]);
  assert.equal(p.back(), false);
});

test("slow memory: store, free, load, drop, and a value given there", () => {
  const p = new Player(2, plan([
    { op: Op.Load, node: 1, tier: 1 },
    { op: Op.Compute, node: 0 },
    { op: Op.Store, node: 0, tier: 1 },
    { op: Op.Free, node: 0 },
    { op: Op.Load, node: 0, tier: 1 },
    { op: Op.Drop, node: 0, tier: 1 },
    { op: Op.Free, node: 1 },
  ], [], [1]));
  assert.equal(p.states[1], NodeState.Slow);
  const seen: number[][] = [];
  while (p.next()) seen.push([...p.states]);
  assert.deepEqual(seen, [
    [NodeState.Never, NodeState.Loading],
    [NodeState.Computing, NodeState.ResidentAndSlow],
    [NodeState.Storing, NodeState.ResidentAndSlow],
    [NodeState.Slow, NodeState.ResidentAndSlow],
    [NodeState.Loading, NodeState.ResidentAndSlow],
    [NodeState.Resident, NodeState.ResidentAndSlow],
    [NodeState.Resident, NodeState.Slow],
  ]);
  assert.deepEqual(p.lifetimes(0), [
    { from: 2, to: 3, why: "compute" },
    { from: 5, to: 7, why: "load" },
  ]);
});

test("in place and by-products, forward and back", () => {
  const p = new Player(4, plan([
    { op: Op.Compute, node: 1, over: 0 },
    { op: Op.Compute, node: 2, also: [3] },
    { op: Op.Free, node: 3 },
    // Node 2 is resident: its work is done again for node 3 alone.
    { op: Op.Compute, node: 2, also: [3], again: true },
    { op: Op.Uncompute, node: 2 },
  ], [0]));
  const forward: string[] = [[...p.states].join()];
  while (p.next()) forward.push([...p.states].join());
  assert.equal(forward[0], [NodeState.Resident, 0, 0, 0].join());
  assert.equal(forward[1], [NodeState.Evicted, NodeState.Computing, 0, 0].join());
  assert.equal(forward[4], [NodeState.Evicted, NodeState.Resident, NodeState.Recomputing, NodeState.Recomputing].join());
  assert.equal(forward[5], [NodeState.Evicted, NodeState.Resident, NodeState.Uncomputing, NodeState.Resident].join());
  for (let step = 5; step >= 0; step--) {
    assert.equal([...p.states].join(), forward[step], `back at step ${step}`);
    p.back();
  }
  assert.deepEqual(p.lifetimes(0), [{ from: 0, to: 0, why: "given" }]);
  assert.deepEqual(p.lifetimes(2), [{ from: 2, to: 4, why: "compute" }]);
  assert.deepEqual(p.lifetimes(3), [
    { from: 2, to: 2, why: "compute" },
    { from: 4, to: 5, why: "recompute" },
  ]);
});

test("adding up sizes gives the memory of the plan", () => {
  for (const layout of [layered(300, 3), training(20)]) {
    const peak = plainPeak(layout);
    checkMemory(layout, greedyPlan(layout, Math.round(peak * 0.6)));
    checkMemory(layout, greedyPlan(layout, Math.round(peak * 0.4), true));
  }
});

test("a jump gives the same state as single steps, and reports every changed node", () => {
  const layout = layered(1500, 5);
  const frames = greedyPlan(layout, Math.round(plainPeak(layout) * 0.3), true);
  assert.ok(frames.moveCount > 2500, "long enough that jumps start at key frames");
  const walker = new Player(layout.nodeCount, frames);
  const shots = [walker.states.slice()];
  while (walker.next()) shots.push(walker.states.slice());
  const p = new Player(layout.nodeCount, frames);
  const mirror = p.states.slice();
  const drawn = p.states.slice();
  const random = seeded(9);
  for (let i = 0; i < 400; i++) {
    p.seek(random() < 0.5 ? Math.floor(random() * (frames.moveCount + 1)) : p.step + Math.floor((random() - 0.5) * 40));
    for (const v of p.changed) mirror[v] = p.states[v];
    assert.equal(new Set(p.changed).size, p.changed.length, "each node once");
    assert.deepEqual(mirror, p.states, "changed nodes are complete");
    assert.deepEqual(p.states, shots[p.step]);
    if (i % 3 === 0) {
      p.takeDirty((v) => (drawn[v] = p.states[v]));
      assert.deepEqual(drawn, p.states, "dirty nodes are complete over several calls");
    }
  }
});

test("lifetimes agree with residency at every step", () => {
  const layout = layered(60, 11);
  const frames = greedyPlan(layout, Math.round(plainPeak(layout) * 0.5));
  const p = new Player(layout.nodeCount, frames);
  const spans = Array.from({ length: layout.nodeCount }, (_, v) => p.lifetimes(v));
  for (let step = 0; step <= frames.moveCount; step++) {
    p.seek(step);
    for (let v = 0; v < layout.nodeCount; v++)
      assert.equal(spans[v].some((s) => s.from <= step && step <= s.to), p.isResident(v), `node ${v} at step ${step}`);
  }
});

test("a plan of a million moves opens and seeks at once", () => {
  const n = 100_000, m = 1_000_000;
  const moves = plan([]);
  const frames: Frames = {
    ...moves,
    moveCount: m,
    op: Uint8Array.from({ length: m }, (_, i) => (i % (2 * n) < n ? Op.Compute : Op.Free)),
    tier: new Uint8Array(m),
    node: Uint32Array.from({ length: m }, (_, i) => (i * 7919) % n),
    over: new Uint32Array(m).fill(NONE),
    alsoStart: new Uint32Array(m + 1),
    during: new Float64Array(m),
    after: new Float64Array(m),
    slow: new Float64Array(m),
    time: new Float64Array(m),
  };
  const p = new Player(n, frames);
  const random = seeded(4);
  p.seek(m >> 1);
  const start = performance.now();
  for (let i = 0; i < 50; i++) p.seek(Math.floor(random() * m));
  const each = (performance.now() - start) / 50;
  assert.ok(each < 30, `a jump takes ${each.toFixed(1)} ms`);
});
