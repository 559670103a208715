import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metrics, Row } from "../src/api";
import { costParts, costText, decimalText, parseDecimal, parseWeights, sameWeights, winnerOf } from "../src/exact";

function metrics(some: Partial<Metrics>): Metrics {
  return {
    peak: 13, work: 79, io: 0, makespan: 79, recompute: 19, recompute_count: 19, uncompute: 0,
    flux: 649, moves: 155, depth: 60, cost: 19, overhead: 0.3, gap: 0, ...some,
  };
}

function row(strategy: string, some: Partial<Metrics> | null): Row {
  return {
    strategy, game: "remat", outcome: some ? "found" : "gave_up", reason: null, metrics: some && metrics(some),
    lower_bound: 79, gap: 0, seconds: 0, bound_kind: "free-order", note: null, options: {},
  };
}

test("a cost is exact, as the command prints it", () => {
  const w = parseWeights(["0.1", "0.003", "1.5"]);
  assert.ok(w);
  assert.equal(costText(metrics({}), w), "31.747");
  assert.equal(costText(metrics({ peak: 6, recompute: 210, flux: 1287 }), w), "319.461");
});

test("flux beyond 2^53 keeps its last digit", () => {
  const w = parseWeights(["0", "1", "0"]);
  assert.ok(w);
  assert.equal(costText(metrics({ flux: "758085589352872673281" }), w), "758085589352872673281");
  assert.equal(costParts(metrics({ flux: "758085589352872673281" }), w).flux, 758085589352872673281n);
});

test("decimals are written without trailing zeros", () => {
  assert.equal(decimalText(0n, 3), "0");
  assert.equal(decimalText(5n, 3), "0.005");
  assert.equal(decimalText(1500n, 3), "1.5");
  assert.equal(decimalText(2000n, 3), "2");
});

test("what the command rejects is rejected", () => {
  for (const text of ["", ".", "-1", "1e-19", "1e20", "e3", "1,5", "0.0000000000000000001", "99999999999999999999"]) {
    assert.equal(parseDecimal(text), null, text);
  }
  assert.deepEqual(parseDecimal("0.50"), { value: 5n, digits: 1 });
  assert.deepEqual(parseDecimal(".5"), { value: 5n, digits: 1 });
  assert.deepEqual(parseDecimal("1.5e3"), { value: 1500n, digits: 0 });
  assert.deepEqual(parseDecimal("1e-18"), { value: 1n, digits: 18 });
});

test("equal weights are recognised in any form", () => {
  assert.ok(sameWeights(["0", "0.0", "1"], ["0", "0", "1.000"]));
  assert.ok(!sameWeights(["0", "0", "1"], ["0", "0.1", "1"]));
});

test("the winner changes with the weights, and the first of equals wins", () => {
  const rows = [
    row("fails", null),
    row("small", { peak: 6, recompute: 210, makespan: 270 }),
    row("quick", { peak: 13, recompute: 19 }),
    row("equal", { peak: 13, recompute: 19 }),
  ];
  const work = parseWeights(["0", "0", "1"]);
  const memory = parseWeights(["100", "0", "1"]);
  assert.ok(work && memory);
  assert.equal(winnerOf(rows, work), 2);
  assert.equal(winnerOf(rows, memory), 1);
  assert.equal(winnerOf([rows[0]], work), -1);
});
