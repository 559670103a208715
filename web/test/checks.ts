// What every plan must satisfy when it is replayed, made up or real.

import assert from "node:assert/strict";
import { NONE, Op, RECOMPUTE_BIT, type Frames, type Layout, type Timed } from "../src/binary";
import { NodeState } from "../src/node_state";
import { Player } from "../src/player";

/** Adds up sizes of resident values; the plan's own figures are the measure. */
export function checkMemory(layout: Layout, frames: Frames): void {
  const p = new Player(layout.nodeCount, frames, layout.size);
  let sum = p.memory(0);
  let most = sum;
  const was = new Uint8Array(layout.nodeCount);
  for (let v = 0; v < layout.nodeCount; v++) was[v] = p.isResident(v) ? 1 : 0;
  while (p.next()) {
    for (const v of p.changed) {
      const is = p.isResident(v) ? 1 : 0;
      sum += (is - was[v]) * layout.size[v];
      was[v] = is;
    }
    const i = p.step - 1;
    assert.equal(sum, frames.after[i], `memory after move ${p.step}`);
    assert.ok(frames.during[i] >= frames.after[i] - 1e-9, `memory during move ${p.step}`);
    assert.ok(frames.during[i] <= frames.cap, `move ${p.step} is over the cap`);
    most = Math.max(most, frames.during[i]);
  }
  assert.equal(most, frames.peak, "the peak is the most of all");
}

/** A plan of the timed game: lanes do one thing at a time, memories hold what was put there, and the player agrees. */
export function checkTimed(layout: Layout, f: Frames): void {
  const timed = f.timed as Timed;
  const there: Set<number>[] = timed.memories.map((memory) => new Set(memory.initial));
  const sum = (nodes: Iterable<number>): number => [...nodes].reduce((all, node) => all + layout.size[node], 0);
  const fixed = timed.memories.map((memory) => memory.start - sum(memory.initial));
  const free = timed.lanes.map(() => 0);
  const player = new Player(layout.nodeCount, f, layout.size);
  for (let i = 0; i < f.moveCount; i++) {
    const place = timed.place[i];
    const lane = timed.lane[i];
    const node = f.node[i];
    const computes = (f.op[i] & ~RECOMPUTE_BIT) === Op.Compute;
    if (lane !== NONE) {
      assert.ok(f.time[i] >= free[lane], `move ${i} starts before its lane is free`);
      free[lane] = timed.end[i];
    }
    if (f.op[i] === Op.Free) there[place].delete(node);
    else there[place].add(node);
    if (f.over[i] !== NONE) there[place].delete(f.over[i]);
    for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) there[place].add(f.also[a]);
    const held = sum(there[place]) + fixed[place];
    assert.ok(timed.held[i] >= held && timed.held[i] <= timed.memories[place].cap, `memory during move ${i}`);
    if (computes) assert.equal(timed.left[i], held, `memory after move ${i}`);
    player.seek(i + 1);
    const fast = timed.memories.flatMap((memory, k) => (memory.fast ? [there[k]] : []));
    for (let v = 0; v < layout.nodeCount; v++) assert.equal(player.isResident(v), fast.some((one) => one.has(v)), `value ${v} after move ${i}`);
    const busy = timed.lanes.filter((_, k) => free[k] > f.time[i]).length;
    const shown = player.states.filter((state) => state >= NodeState.Computing && state !== NodeState.Slow && state !== NodeState.ResidentAndSlow).length;
    assert.ok(shown <= busy + 1 + f.also.length, `move ${i}: ${shown} values are worked on, ${busy} lanes are busy`);
  }
  assert.equal(timed.makespan, Math.max(...free));
  const middle = f.moveCount >> 1;
  const states = (): string => player.states.join();
  player.seek(middle);
  const once = states();
  player.seek(0);
  for (let i = 0; i < middle; i++) player.next();
  assert.equal(states(), once, "a jump shows what single steps show");
}
