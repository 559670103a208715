import assert from "node:assert/strict";
import { test } from "node:test";
import type { GraphInfo, Metrics, Row, Sweep, SweepCell } from "../src/api";
import { capRange, flipMarks, minKnownPeak } from "../src/panels/cap_slider";
import { frontOf, kneeOf, ticks } from "../src/panels/scatter";
import { fileName } from "../src/exports";
import { wrongStrategy } from "../src/panels/knobs";
import { nextState, sweptStrategies } from "../src/planner";
import { learnBound, learnRow, minCap, type Proved } from "../src/proved";
import { failureText, rowKey, rowName, verdict } from "../src/words";

const graph: GraphInfo = {
  id: "g1", name: "chain", graph: "chain", hash: "00", nodes: 61, edges: 119, shape: "adjoint-chain", depth: 60, targets: 1, given: 1, needed_nodes: 60,
  cost_unit: "step", size_unit: "pebble", needed_cost: 60, total_size: 61, fixed_size: 0, largest_size: 1, largest_node: "x_0", written_peak: 32,
  has_groups: false, training: true,
  games: [
    { game: "remat", impossible: false, proved_cap: 4, proved_by: "working set", proved_at: "x_1" },
    { game: "reversible", impossible: false, proved_cap: 3, proved_by: "working set", proved_at: "x_1" },
  ],
};

function metrics(peak: number, work: number): Metrics {
  return {
    peak, work, io: 0, makespan: work, recompute: work - 60, recompute_count: work - 60, uncompute: 0, flux: "649", moves: 155, depth: 60,
    cost: work - 60, overhead: work / 60 - 1, gap: 0,
  };
}

function row(strategy: string, m: Metrics | null, some: Partial<Row> = {}): Row {
  return {
    strategy, game: "remat", outcome: m ? "found" : "gave_up", reason: m ? null : "does not fit: move 12 (compute x_13) needs 14 pebble, 1 over the cap of 13 pebble",
    metrics: m, lower_bound: 79, gap: m ? Number(m.work) / 79 - 1 : null, seconds: 0, bound_kind: "free-order", note: null, options: {}, ...some,
  };
}

test("the verdict names the winner and the reason, and where the baseline fails", () => {
  const rows = [row("last-use", null), row("sqrt", metrics(13, 82)), row("chain", metrics(13, 79), { asked: "auto", outcome: "optimal" })];
  const result = verdict(rows, graph, ["0", "0", "1"], true);
  assert.equal(result?.title, "auto → chain wins");
  assert.match(result?.text ?? "", /fits in 40\.6\u202f% of the memory/);
  assert.match(result?.text ?? "", /31\.7\u202f% more work/);
  assert.match(result?.text ?? "", /Proved: no plan costs less/);
  assert.match(result?.text ?? "", /last-use fails at move 12, 1 over the cap\.$/);
  rows[0].reason = "does not fit: move 1,234 (compute conv, wide) needs 1.5 GiB, 2.57 MiB over the cap of 1.36 GiB";
  assert.match(verdict(rows, graph, ["0", "0", "1"], true)?.text ?? "", /last-use fails at move 1\u202f234, 2\.57 MiB over the cap\.$/);
  rows[0].reason = "the time limit was reached";
  assert.match(verdict(rows, graph, ["0", "0", "1"], true)?.text ?? "", /last-use fails: the time limit was reached\.$/);
});

test("a gap is reported as work above the bound, not as possible savings", () => {
  const result = verdict([row("sqrt", metrics(13, 158))], graph, ["0", "0", "1"], true);
  assert.match(result?.text ?? "", /at most 100\u202f% above the minimum/);
});

test("a proof for other weights is not claimed", () => {
  const result = verdict([row("chain", metrics(13, 80), { outcome: "optimal" })], graph, ["1", "0", "1"], false);
  assert.ok(!/no plan costs less/.test(result?.text ?? ""));
});

test("if nothing fits, proved and not found are distinguished", () => {
  const proved = verdict([row("sqrt", null, { outcome: "infeasible", reason: "computing n1 alone needs 2, 1 over the cap" })], graph, ["0", "0", "1"], true);
  assert.equal(proved?.title, "No plan fits");
  assert.equal(verdict([row("sqrt", null)], graph, ["0", "0", "1"], true)?.title, "No plan found");
  assert.equal(verdict([], graph, ["0", "0", "1"], true), null);
});

test("rows are named by the requested strategy", () => {
  const chosen = row("search", metrics(1, 60), { asked: "auto" });
  assert.equal(rowName(chosen), "auto → search");
  assert.equal(rowKey(chosen), "auto/remat");
  assert.equal(rowName(row("last-use", metrics(1, 60), { asked: "last-use", title: "program-order" })), "program order");
  assert.equal(rowName(row("every-k", metrics(1, 60), { asked: "partial", title: "partial" })), "partial → every-k");
  assert.equal(rowName(row("bennett", metrics(1, 60), { asked: "bennett:k=5", title: "reversible" })), "bennett:k=5");
  assert.equal(failureText(row("sqrt", null)), "move 12 (compute x_13) needs 14 pebble, 1 over the cap of 13 pebble");
});

test("if a game is proved infeasible, the advice is not to plan longer", () => {
  const gaveUp = row("bennett", null, { game: "reversible", reason: "the time limit was reached" });
  const auto = row("auto", null, { game: "reversible", outcome: "infeasible", reason: "the end is not there" });
  const remat = row("auto", null, { outcome: "infeasible", reason: "computing g_28 alone needs 4, 1 over the cap" });
  const proved: Proved = { remat: 5n, reversible: 6n };
  const result = verdict([remat, gaveUp, auto], graph, ["0", "0", "1"], true, proved);
  assert.equal(result?.title, "No plan fits");
  assert.match(result?.text ?? "", /remat needs at least 5 pebbles, reversible at least 6 pebbles\. Raise the cap to 5 pebbles or more\.$/);
  const one = verdict([gaveUp, auto], graph, ["0", "0", "1"], true, proved);
  assert.match(one?.text ?? "", /proved: the end is not there\. Raise the cap to 6 pebbles or more\.$/);
  const half = verdict([row("sqrt", null, { reason: "the time limit was reached" }), auto], graph, ["0", "0", "1"], true, proved);
  assert.equal(half?.title, "No plan found");
  assert.match(half?.text ?? "", /^sqrt: the time limit was reached\. Proved: reversible needs at least 6 pebbles\. .*plan longer/);
  assert.ok(!/longer/.test(verdict([row("sqrt", null)], graph, ["0", "0", "1"], true)?.text ?? ""), "more time does not help what does not fit");
});

test("one strategy with two settings gives two rows", () => {
  const ten = row("every-k", metrics(9, 90), { asked: "every-k:k=10", options: { k: "10", limit: "100" } });
  const own = row("every-k", null, { asked: "every-k", outcome: "infeasible" }); // says no settings
  assert.deepEqual([ten, own].map(rowKey), ["every-k:k=10/remat", "every-k/remat"]);
  assert.deepEqual([ten, own].map(rowName), ["every-k:k=10", "every-k"]);
  assert.equal(rowName(row("every-k", metrics(9, 80), { asked: "auto:time=1" })), "auto → every-k");
  assert.equal(fileName("chain-every-k-metrics.json", { asked: "every-k:k=10,limit=9", strategy: "every-k" }), "chain-every-k-k=10-limit=9-metrics.json");
  assert.equal(fileName("chain-sqrt.json", { asked: "auto", strategy: "sqrt" }), "chain-sqrt.json");
});

test("a typed strategy is checked before it is sent", () => {
  const all = [{ name: "every-k", summary: "", games: [], strength: "", traits: [], takes_policy: false, options: [{ key: "k", default: "", help: "" }] }];
  assert.equal(wrongStrategy("every-k:k=2", all), null);
  assert.equal(wrongStrategy("every-k", all), null);
  for (const text of ["", "every", "every-k:", "every-k:j=2", "every-k:k", "every-k:k="]) assert.ok(wrongStrategy(text, all), text);
});

function cell(cap: number, strategy: string, m: Metrics | null): SweepCell {
  return { cap, cap_share: cap / 32, strategy, chosen: strategy, game: "remat", outcome: m ? "found" : "gave_up", reason: null, metrics: m, lower_bound: 60 };
}

test("flips are where another strategy becomes the cheapest; ties do not flip", () => {
  const sweep: Sweep = {
    written_peak: 32, needed_work: 60, games: [], caps: [32, 20, 13], front: [], knee: null, flips: [],
    cells: [
      cell(32, "sqrt", metrics(13, 82)), cell(20, "sqrt", metrics(13, 82)), cell(13, "sqrt", metrics(13, 82)),
      cell(32, "last-use", metrics(32, 60)), cell(20, "last-use", null), cell(13, "last-use", null),
      cell(32, "dtr", metrics(30, 62)), cell(20, "dtr", metrics(19, 75)), cell(13, "dtr", metrics(13, 82)),
    ],
  };
  const all = ["sqrt", "last-use", "dtr"];
  assert.deepEqual(flipMarks(sweep, ["0", "0", "1"], all), [{ cap: 32, above: "last-use", below: "dtr" }]);
  assert.deepEqual(flipMarks(sweep, ["1000", "0", "1"], all), []);
  assert.deepEqual(flipMarks(sweep, ["0", "0", "1"], ["last-use", "sqrt"]), [{ cap: 32, above: "last-use", below: "sqrt" }], "of those that are shown");
  assert.deepEqual(flipMarks(sweep, ["0", "0", "1"], ["sqrt"]), []);
});

test("equal costs do not flip, whatever else differs", () => {
  const sweep: Sweep = {
    written_peak: 32, needed_work: 60, games: [], caps: [32, 20], front: [], knee: null, flips: [],
    cells: [cell(32, "cut", metrics(30, 60)), cell(20, "cut", metrics(20, 75)), cell(32, "chain", metrics(31, 60)), cell(20, "chain", metrics(18, 75))],
  };
  assert.deepEqual(flipMarks(sweep, ["0", "0", "1"], ["cut", "chain"]), []);
  const cut = { ...cell(20, "auto", null), reason: "the time limit was reached" };
  sweep.cells.push(cell(32, "auto", metrics(29, 59)), cut);
  assert.deepEqual(flipMarks(sweep, ["0", "0", "1"], ["cut", "auto"]), [], "if the time ran out, the winner is unknown");
});

test("what is shown is swept first, and auto last", () => {
  const row = (name: string, traits: string[], strength = "heuristic") => ({ name, summary: "", games: [], strength, traits, takes_policy: false, options: [] });
  const about = { strategies: [row("cache-all", ["usual"], "baseline"), row("sqrt", ["usual"]), row("order", []), row("dtr", ["usual"]), row("knill", ["usual"])] };
  const swept = sweptStrategies(about, ["every-k:k=2", "auto", "sqrt", "bennett"], (name) => name !== "bennett" && name !== "knill");
  assert.deepEqual(swept.slice(0, 2), ["every-k:k=2", "sqrt"]);
  assert.equal(swept.at(-1), "auto");
  assert.ok(swept.includes("dtr") && !swept.includes("knill") && !swept.includes("order") && !swept.includes("cache-all"));
  const many = Array.from({ length: 15 }, (_, i) => `every-k:k=${i}`);
  assert.deepEqual(sweptStrategies(about, many, () => true), many, "none of the shown is left out");
});

test("the slider spans what the game can need", () => {
  assert.equal(capRange(graph, "remat"), 35);
  assert.ok(capRange(graph, "reversible") >= 61);
});

test("the lower bound is the largest that is proved, and over all games the smallest of these", () => {
  const proved: Proved = {};
  const least = (game: "remat" | "reversible" | null): bigint => minCap(graph, { game, prices: null }, proved);
  assert.equal(least("remat"), 4n);
  assert.equal(least(null), 3n);
  learnBound(proved, { game: "remat", cap: 4, least_cap: 5, makespan: null, overhead: null, over: true });
  learnRow(proved, row("auto", null, { game: "reversible", outcome: "infeasible" }), 5n);
  learnRow(proved, row("sqrt", null, { game: "reversible" }), 9n); // found nothing, which proves nothing
  learnRow(proved, row("auto", null, { outcome: "infeasible" }), 2n); // weaker than what is known
  assert.equal(least("remat"), 5n);
  assert.equal(least("reversible"), 6n);
  assert.equal(least(null), 5n);
});

test("without prices the tiered game is not planned, so its bound does not count", () => {
  const games = [...graph.games, { game: "tiered" as const, impossible: false, proved_cap: 2, proved_by: "working set", proved_at: "x_1" }];
  const three: GraphInfo = { ...graph, games };
  const prices = { store_cost: 1, load_cost: 1, store_per_unit: 0, load_per_unit: 0, slow_cap: "none" };
  assert.equal(minCap(three, { game: null, prices: null }, {}), 3n);
  assert.equal(minCap(three, { game: null, prices }, {}), 2n);
  assert.equal(minCap(three, { game: "tiered", prices: null }, {}), 2n);
});

test("a job waits, runs and stops as the server reports", () => {
  assert.equal(nextState("starting", "queued"), "queued");
  assert.equal(nextState("queued", "running"), "running");
  assert.equal(nextState("running", "queued"), "running");
  assert.equal(nextState("running", "stopping"), "stopping");
  assert.equal(nextState("stopping", "running"), "stopping", "it was asked to stop before it ran");
  assert.equal(nextState("done", "stopping"), "done");
});

test("a plan that beats the swept front joins it", () => {
  const swept = [{ peak: 32, work: 60 }, { peak: 13, work: 82 }];
  assert.deepEqual(frontOf([...swept, { peak: 13, work: 79 }, { peak: 20, work: 90 }]), [{ peak: 13, work: 79 }, { peak: 32, work: 60 }]);
});

test("the knee is where the front bends most", () => {
  const front = frontOf([{ peak: 10, work: 100 }, { peak: 12, work: 70 }, { peak: 20, work: 65 }, { peak: 30, work: 60 }]);
  assert.deepEqual(kneeOf(front), { peak: 12, work: 70 });
  assert.equal(kneeOf(front.slice(0, 2)), null);
  assert.equal(kneeOf([{ peak: 10, work: 30 }, { peak: 20, work: 20 }, { peak: 30, work: 10 }]), null);
});

test("the smallest known peak is over rows and sweep", () => {
  assert.equal(minKnownPeak({ entries: [], sweep: null }), null);
  assert.equal(minKnownPeak({ entries: [{ row: row("sqrt", metrics(13, 82)), stale: false }, { row: row("old", metrics(5, 99)), stale: true }], sweep: null }), 13);
});

test("axes have round numbers", () => {
  assert.deepEqual(ticks(0, 100, 5), [0, 20, 40, 60, 80, 100]);
  assert.deepEqual(ticks(0, 0, 5), [0]);
});
