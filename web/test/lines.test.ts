// Rows that share a line, and what the line is called.
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Metrics, Row } from "../src/api";
import { isIdle, lineName, linesOf } from "../src/lines";
import type { Entry } from "../src/model";

const ORDER = ["cache-all", "last-use", "partial", "chen", "bennett", "auto"];

function entry(asked: string, plan: string | null, some: Partial<Row> = {}): Entry {
  const metrics = plan ? ({ peak: 8, io: 0, makespan: 127 } as Metrics) : null;
  const row: Row = {
    strategy: asked, asked, game: "remat", outcome: plan ? "found" : "gave_up", reason: plan ? null : "does not fit", metrics, lower_bound: null, gap: null,
    seconds: 0, bound_kind: null, note: null, options: {}, title: null, plan, plan_hash: plan, ...some,
  };
  return { row, stale: false };
}

test("identical plans share a line, named in the order in which they were asked for", () => {
  const chen = entry("chen", "a");
  const entries = [chen, entry("partial", "a", { strategy: "every-k", title: "partial" }), entry("last-use", "a", { title: "program-order" }), entry("dtr", "b")];
  const lines = linesOf(entries, null);
  assert.deepEqual(lines.map((line) => line.entries.length), [3, 1]);
  assert.deepEqual(lineName(lines[0], ORDER, false), { name: "program order, partial, chen", detail: "" });
  assert.equal(lines[0].lead, chen);
  assert.equal(linesOf(entries, entries[2].row)[0].lead, entries[2], "the winner's figures are shown");
  entries[1].row.outcome = "optimal";
  assert.equal(linesOf(entries, null)[0].lead, entries[1], "what is proved of a plan holds under each of its names");
});

test("plans of other games, old rows and unknown plans stay apart", () => {
  const entries = [entry("last-use", "a"), entry("bennett", "a", { game: "reversible" }), { ...entry("chen", "a"), stale: true }, entry("dtr", "c", { plan_hash: null }), entry("sqrt", "c", { plan_hash: null })];
  assert.equal(linesOf(entries, null).length, 5);
  assert.equal(linesOf([entry("chen", "a"), entry("chen", "a", { game: "tiered" })], null).length, 1, "a tiered plan without transfers");
});

test("a strategy that fails in the same way in both games has one line", () => {
  assert.equal(linesOf([entry("chen", null), entry("chen", null, { game: "tiered" }), entry("dtr", null)], null).length, 2);
});

test("titles, and the strategy behind each", () => {
  const name = (one: Entry, wins = false): { name: string; detail: string } => lineName({ lead: one, entries: [one] }, ORDER, wins);
  assert.deepEqual(name(entry("cache-all", null, { title: "baseline" })), { name: "baseline", detail: "cache-all" });
  assert.deepEqual(name(entry("partial", "a", { strategy: "every-k", title: "partial", label: "every-k (k=4)" })), { name: "partial", detail: "every-k (k=4)" });
  assert.deepEqual(name(entry("bennett:k=5", "a", { strategy: "bennett", title: "reversible" })).name, "bennett:k=5", "settings distinguish rows");
  assert.deepEqual(name(entry("chen", "a")), { name: "chen", detail: "" });
  assert.deepEqual(name(entry("auto", "a", { strategy: "search" })), { name: "auto → search", detail: "" });
  assert.deepEqual(name(entry("auto", "a", { strategy: "search" }), true), { name: "best", detail: "auto → search" });
  const both = [entry("chen", "a"), entry("auto", "a", { strategy: "chen" })];
  assert.equal(lineName({ lead: both[0], entries: both }, ORDER, true).name, "chen");
});

test("a long list of names is cut", () => {
  const entries = Array.from({ length: 8 }, (_, i) => entry(`s${i}`, "a"));
  assert.equal(lineName(linesOf(entries, null)[0], entries.map((one) => one.row.strategy), false).name, "s0, s1, s2, s3, s4 and 3 more");
});

test("strategies that are not for this graph are named in one line, unless they were chosen", () => {
  const row = entry("tree", null, { reason: "does not apply: the graph is not a tree" }).row;
  assert.ok(isIdle(row, ORDER));
  assert.ok(!isIdle(row, ["tree"]));
  assert.ok(!isIdle(entry("dtr", null).row, ORDER));
});
