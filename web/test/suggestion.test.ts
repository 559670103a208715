import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metrics, Sweep, SweepCell } from "../src/api_types";
import { suggestion } from "../src/suggestion";

const cell = (strategy: string, peak: number | null): SweepCell =>
  ({ strategy, metrics: peak === null ? null : ({ peak } as Metrics) }) as SweepCell;
const sweep = (...cells: SweepCell[]): Sweep => ({ cells }) as Sweep;

test("if the cap is too low, the smallest cap with a known plan is suggested", () => {
  assert.deepEqual(suggestion(sweep(cell("sqrt", 9), cell("hcb", 7), cell("chen", null)), 5, ["sqrt"]), { kind: "raise", cap: 7 });
});

test("if a plan is known under this cap, its strategy is suggested", () => {
  assert.deepEqual(suggestion(sweep(cell("sqrt", 9), cell("hcb", 7)), 8, ["sqrt"]), { kind: "add", strategy: "hcb" });
  assert.equal(suggestion(sweep(cell("hcb", 7)), 8, ["hcb:k=2"]), null);
  assert.equal(suggestion(sweep(cell("hcb:k=2", 7)), 8, ["hcb:k=2"]), null);
});

test("without a sweep nothing is suggested", () => {
  assert.equal(suggestion(null, 8, []), null);
  assert.equal(suggestion(sweep(cell("sqrt", null)), 8, []), null);
});
