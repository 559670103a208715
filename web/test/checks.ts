// What every plan must satisfy when it is replayed, made up or real.

import assert from "node:assert/strict";
import type { Frames, Layout } from "../src/binary";
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
