import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDecimal } from "../src/exact";
import { middleWeights, weightText } from "../src/panels/weights";

test("the middle of each slider weighs as much as the work of program order", () => {
  const [alpha, beta, gamma] = middleWeights({ written_peak: 4096, needed_cost: 2048 });
  assert.deepEqual([alpha * 4096, beta * 4096 * 2048, gamma], [2048, 2048, 1]);
});

test("weights of sliders are decimals that the command reads", () => {
  assert.equal(weightText(0), "0");
  assert.equal(weightText(1), "1");
  assert.equal(weightText(0.5), "0.5");
  assert.equal(weightText(123456), "120000");
  for (const value of [1.234e-12, 3.3e-5, 0.017, 0.1, 9.99, 47, 8.1e11]) {
    const text = weightText(value);
    assert.ok(parseDecimal(text), text);
    assert.ok(Math.abs(Number(text) / value - 1) < 0.06, `${text} for ${value}`);
  }
});
