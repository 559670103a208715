// The slot of a job: what is asked of it before the server has answered its start.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobHandle } from "../src/api";
import { Slot } from "../src/planner";

function job(): { handle: JobHandle; calls: string[] } {
  const calls: string[] = [];
  return { calls, handle: { id: "1", stop: async () => void calls.push("stop"), drop: () => void calls.push("drop") } };
}

test("a stop before the server has answered stops the job when it does", async () => {
  const slot = new Slot();
  const { handle, calls } = job();
  const turn = slot.begin();
  await slot.stop();
  await slot.accept(turn, handle);
  assert.deepEqual(calls, ["stop"]);
});

test("a stop is for one job: the next one runs, and an outdated one is dropped", async () => {
  const slot = new Slot();
  const old = job();
  const next = job();
  const turn = slot.begin();
  await slot.stop();
  const later = slot.begin();
  await slot.accept(turn, old.handle);
  await slot.accept(later, next.handle);
  assert.deepEqual([old.calls, next.calls], [["drop"], []]);
  await slot.stop();
  assert.deepEqual(next.calls, ["stop"]);
});
