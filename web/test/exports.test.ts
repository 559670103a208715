import assert from "node:assert/strict";
import { test } from "node:test";
import { sweepCsv } from "../src/export/csv";
import { base64 } from "../src/export/html";
import { SvgPen } from "../src/export/pen";
import type { GraphInfo, Sweep } from "../src/api_types";

test("bytes are written as base64, also across its pieces", () => {
  for (const length of [0, 1, 2, 3, 0x6000 - 1, 0x6000, 0x6000 + 1, 100_001]) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 31) & 255);
    assert.equal(base64(bytes), Buffer.from(bytes).toString("base64"), String(length));
  }
});

test("fields of a table are quoted where they must be", () => {
  const graph = { name: 'a "b", c', size_unit: "byte", cost_unit: "flop" } as GraphInfo;
  const cell = { cap: "18446744073709551614", cap_share: 0.5, strategy: "every-k:k=2,j=3", chosen: null, game: "remat", outcome: "gave_up", reason: "does not fit", metrics: null, lower_bound: 7 };
  const [head, row, end] = sweepCsv(graph, { cells: [cell], front: [0], knee: null } as unknown as Sweep).split("\n");
  assert.ok(head.startsWith("graph,game,strategy,chosen,cap,"));
  assert.ok(row.startsWith('"a ""b"", c",remat,"every-k:k=2,j=3",,18446744073709551614,0.5,gave_up,does not fit,'));
  assert.ok(row.endsWith(",7,1,0,byte,flop"), row);
  assert.equal(end, "");
  assert.equal(head.split(",").length, row.replace(/"[^"]*(?:""[^"]*)*"/g, "x").split(",").length);
});

test("text in a drawing is escaped and cut", () => {
  const pen = new SvgPen();
  pen.text(1, 2, "<b> & more and more", { fill: "#000", size: 10 }, 60);
  assert.match(pen.parts[0], /&#60;b&#62; &#38; /);
  assert.match(pen.parts[0], /…<\/text>$/);
});
