// Memory over time by group and value: the bands add up to the memory of the plan, on both axes.
import assert from "node:assert/strict";
import { test } from "node:test";
import { axisOf } from "../src/chart/axis";
import { bandAt, sampleStack, stackOf } from "../src/chart/stack";
import { Player } from "../src/player";
import { stepAtWork, workEnd } from "../src/playback";
import { greedyPlan, layered, plainPeak, training } from "./synthetic";

for (const layout of [training(12), layered(160, 5, 3)]) {
  const plan = greedyPlan(layout, Math.ceil(0.7 * plainPeak(layout)));
  const start = new Player(layout.nodeCount, plan, layout.size).memory(0);

  test(`${layout.nodeCount} nodes: the bands of every column add up to the memory after its move`, () => {
    for (const kind of ["groups", "values"] as const)
      for (const axisKind of ["moves", "work"] as const) {
        const stack = stackOf(kind, plan, layout, start, false);
        const axis = axisOf(plan, axisKind);
        const samples = sampleStack(plan, layout, stack, axis, 0, axis.end, 211);
        const bands = stack.bands.length;
        for (let c = 0; c < samples.columns; c++) {
          const sum = samples.values.subarray(c * bands, (c + 1) * bands).reduce((a, b) => a + b, stack.base);
          assert.ok(Math.abs(sum - plan.after[samples.move[c]]) < 1e-6, `${kind} by ${axisKind}, column ${c}`);
        }
        assert.equal(bandAt(stack, samples, 100, plan.peak * 2), null, "above everything there is no band");
      }
  });

  test(`${layout.nodeCount} nodes: steps and places of an axis fit together`, () => {
    for (const kind of ["moves", "work"] as const) {
      const axis = axisOf(plan, kind);
      for (let step = 1; step <= plan.moveCount; step++) {
        const back = axis.step(axis.at(step));
        assert.ok(back >= step || axis.at(step) === 0, `${kind} ${step}`); // at the start nothing has begun
        assert.equal(axis.at(back), axis.at(step), "moves without work share a place");
      }
      const [first, last] = axis.moves(0, axis.end);
      assert.deepEqual([first, last], [0, plan.moveCount]);
    }
    assert.equal(stepAtWork(plan, 0), 0);
    assert.equal(stepAtWork(plan, workEnd(plan)), plan.moveCount);
  });
}
