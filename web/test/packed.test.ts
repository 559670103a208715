// Graphs inside links: what is packed comes back, but for blanks; large ones are not packed.
import assert from "node:assert/strict";
import { test } from "node:test";
import { packGraph, unpackGraph } from "../src/packed";

test("a packed graph comes back as it was, without blanks between tokens", async () => {
  const json = '{\n "name": "a  \\"quoted\\" \\\\ name",\n "nodes": [ {"name": "ä\\u00e9 x", "size": "18446744073709551615"}, 1.50 ]\n}';
  const packed = await packGraph(json);
  assert.match(packed ?? "", /^[\w-]+$/);
  const back = await unpackGraph(packed ?? "");
  assert.equal(back, '{"name":"a  \\"quoted\\" \\\\ name","nodes":[{"name":"ä\\u00e9 x","size":"18446744073709551615"},1.50]}');
  assert.deepEqual(JSON.parse(back), JSON.parse(json));
});

test("a graph that does not fit in a link is not packed, and broken links are noticed", async () => {
  let random = 1;
  const long = Array.from({ length: 9000 }, () => ((random = (random * 48271) % 2147483647) % 1e9).toString(36));
  assert.equal(await packGraph(JSON.stringify(long)), null);
  await assert.rejects(unpackGraph("AAAA"));
});
