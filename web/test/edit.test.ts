import assert from "node:assert/strict";
import { test } from "node:test";
import { addReader, changeNode, EditError, named, readsOf, removeNode } from "../src/edit";

const DIAMOND = JSON.stringify({
  format: "pebble-graph/1", nodes: [{ name: "x", size: 1, given: true }, { name: "a", cost: 1, size: 2 }, { cost: 1, size: 2 }, { name: "y", cost: 3, size: 1, inplace: [1] }],
  edges: [[0, 1], [0, 2], [1, 3], ["2", 3]], targets: [3], order: [1, 2, 3], note: "kept",
});

test("references become names, and unknown fields are kept", () => {
  const graph = named(DIAMOND);
  assert.deepEqual(graph.edges, [["x", "a"], ["x", "2"], ["a", "y"], ["2", "y"]]);
  assert.deepEqual([graph.targets, graph.order, graph.nodes[3].inplace, graph.note], [["y"], ["a", "2", "y"], ["a"], "kept"]);
});

test("cost, size and inputs of a node change; the program's order only where it must", () => {
  const graph = named(DIAMOND);
  changeNode(graph, "y", { cost: "7", size: "18446744073709551615".slice(0, 19), reads: ["a"] });
  assert.deepEqual([graph.nodes[3].cost, graph.nodes[3].size, readsOf(graph, "y")], [7, "1844674407370955161", ["a"]]);
  assert.deepEqual(graph.order, ["a", "2", "y"]);
  changeNode(graph, "a", { cost: "1", size: "2", reads: ["x", "2"] });
  assert.equal(graph.order, undefined, "2 came after a");
});

test("changes that make no graph are refused", () => {
  const graph = (): ReturnType<typeof named> => named(DIAMOND);
  const wrong: [() => void, RegExp][] = [
    [() => changeNode(graph(), "a", { cost: "1", size: "2", reads: ["y"] }), /a cannot read y, which depends on it/],
    [() => changeNode(graph(), "a", { cost: "1", size: "2", reads: ["a"] }), /cannot read a/],
    [() => changeNode(graph(), "a", { cost: "1", size: "2", reads: ["z"] }), /no node called z/],
    [() => changeNode(graph(), "a", { cost: "-1", size: "2", reads: ["x"] }), /cost must be/],
    [() => changeNode(graph(), "a", { cost: "1", size: "2.5", reads: ["x"] }), /size must be/],
    [() => changeNode(graph(), "x", { cost: "1", size: "2", reads: [] }), /given at the start/],
  ];
  for (const [act, message] of wrong) assert.throws(act, (reason) => reason instanceof EditError && message.test(reason.message));
});

test("a removed node leaves no trace", () => {
  const graph = named(DIAMOND);
  removeNode(graph, "a");
  assert.ok(!JSON.stringify(graph).includes('"a"'));
  assert.deepEqual([graph.nodes.length, graph.edges?.length, graph.order], [3, 2, ["2", "y"]]);
});

test("a new reader has a name of its own", () => {
  const graph = named(DIAMOND);
  assert.deepEqual([addReader(graph, "a"), addReader(graph, "a")], ["new1", "new2"]);
  assert.deepEqual([readsOf(graph, "new2"), graph.targets, graph.order], [["a"], ["y", "new1", "new2"], ["a", "2", "y", "new1", "new2"]]);
});
