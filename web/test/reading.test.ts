import assert from "node:assert/strict";
import { test } from "node:test";
import { openDimensions, readingArguments, wrongSize } from "../src/reading";

test("the server's error names the dimensions that a model leaves open", () => {
  const message = 'the model leaves sizes of its inputs open; give each of them a number, as in dims={"batch": 1, "input:1": 1}';
  assert.deepEqual(openDimensions(message), ["batch", "input:1"]);
  assert.deepEqual(openDimensions("the file is not a model"), []);
  assert.deepEqual(openDimensions("dims={"), []);
});

test("how a model is read becomes the arguments of the server", () => {
  const plain = { dims: {}, batch: "", train: false, optimizer: "adam" };
  assert.equal(readingArguments(plain), "");
  const sent = new URLSearchParams(readingArguments({ dims: { batch: "8", "x:1": "16" }, batch: "", train: true, optimizer: "adam" }));
  assert.deepEqual([...sent], [["dims", "batch=8,x:1=16"], ["train", "1"], ["optimizer", "adam"]]);
});

test("sizes are whole numbers", () => {
  assert.equal(wrongSize("", "batch", true), null);
  assert.equal(wrongSize("32", "batch", true), null);
  for (const text of ["0", "-1", "1.5", "x", "9999999999"]) assert.match(wrongSize(text, "batch", true) ?? "", /batch must be a whole number/);
  assert.match(wrongSize("", "tokens", false) ?? "", /tokens/);
});
