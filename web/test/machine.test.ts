import assert from "node:assert/strict";
import { test } from "node:test";
import { chosen, hasSlowMachine, memoryOf, readMachine, slowText, tiersOf } from "../src/machine";
import type { GraphInfo, MachineFacts } from "../src/api";

const three: MachineFacts = {
  name: "three", time_unit: "ns",
  memories: [{ name: "hbm", cap: "40000000000", reserve: 1 }, { name: "host" }, { name: "attic" }, { name: "disk", cap: 5 }],
  links: [
    { name: "out", from: "hbm", to: "host", bandwidth: 25e9, latency: 10000 },
    { name: "in", from: "host", to: "hbm", bandwidth: 25e9, latency: 10000 },
    { name: "up", from: "hbm", to: "attic", latency: 1 },
    { name: "write", from: "hbm", to: "disk", bandwidth: 2e9 },
    { name: "read", from: "disk", to: "hbm", bandwidth: 3e9 },
  ],
};

test("memories with links both ways are tiers, in order", () => {
  assert.deepEqual(tiersOf(three), [
    { memory: "host", text: "25 GB/s and 10.0 µs" },
    { memory: "disk", text: "2 GB/s out, 3 GB/s in" },
  ]);
  assert.equal(memoryOf(three), 39999999999n);
  assert.equal(memoryOf({ ...three, memories: [{ name: "hbm", cap: null }] }), null);
});

test("memories past the eighth tier are named as not used", () => {
  const names = Array.from({ length: 10 }, (_, i) => `m${i + 1}`);
  const links = names.flatMap((name) => [
    { name: `to ${name}`, from: "hbm", to: name, latency: 1 },
    { name: `from ${name}`, from: name, to: "hbm", latency: 1 },
  ]);
  const many: MachineFacts = { ...three, memories: [{ name: "hbm" }, ...names.map((name) => ({ name }))], links };
  const text = slowText(many);
  assert.equal(text.length, 9);
  assert.equal(text[7], "tier 8: m8, 1 ns");
  assert.equal(text[8], "not used: m9, m10 (the tiered game has at most 8 tiers)");
  assert.equal(slowText(three).length, 2);
});

test("the graph's own machine is the default", () => {
  const graph = { machine: three } as GraphInfo;
  assert.equal(hasSlowMachine(graph, null), true);
  assert.equal(hasSlowMachine(graph, { name: "none", slow: false }), false);
  assert.equal(hasSlowMachine({ machine: null } as GraphInfo, chosen(three)), true);
});

test("a file must be a machine", () => {
  const good = readMachine(JSON.stringify({ format: "pebble-machine/1", ...three }));
  assert.ok(good.ok && good.machine.name === "three");
  assert.match((readMachine("{") as { wrong: string }).wrong, /cannot be read/);
  assert.match((readMachine('{"format":"pebble-graph/1"}') as { wrong: string }).wrong, /not a machine file/);
  assert.match((readMachine('{"format":"pebble-machine/1","name":"x"}') as { wrong: string }).wrong, /memories/);
});
