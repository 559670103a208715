import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metrics, Sweep, SweepCell } from "../src/api_types";
import { wayOut } from "../src/way_out";

const cell = (strategy: string, peak: number | null): SweepCell =>
  ({ strategy, metrics: peak === null ? null : ({ peak } as Metrics) }) as SweepCell;
const sweep = (...cells: SweepCell[]): Sweep => ({ cells }) as Sweep;

test("a cap that is too low is raised to the least at which something fits", () => {
  assert.deepEqual(wayOut(sweep(cell("sqrt", 9), cell("hcb", 7), cell("chen", null)), 5, ["sqrt"]), { kind: "raise", cap: 7 });
});

test("no cap below the present one is called a raise: the strategy that fits is offered", () => {
  assert.deepEqual(wayOut(sweep(cell("sqrt", 9), cell("hcb", 7)), 8, ["sqrt"]), { kind: "add", strategy: "hcb" });
  assert.equal(wayOut(sweep(cell("hcb", 7)), 8, ["hcb:k=2"]), null);
  assert.equal(wayOut(sweep(cell("hcb:k=2", 7)), 8, ["hcb:k=2"]), null);
});

test("without a sweep nothing is offered", () => {
  assert.equal(wayOut(null, 8, []), null);
  assert.equal(wayOut(sweep(cell("sqrt", null)), 8, []), null);
});
