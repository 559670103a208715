import assert from "node:assert/strict";
import { test } from "node:test";
import { ServerWatch, type ServerState } from "../src/server_watch";

test("concurrent checks send one request, and requests are repeated until the server is back", async () => {
  const answers = [200, 0, 0, 403, 200];
  let asked = 0;
  const told: ServerState[] = [];
  const watch = new ServerWatch(() => Promise.resolve(answers[asked++]), 1);
  const back = new Promise<void>((done) => {
    watch.onChange = (state) => {
      told.push(state);
      if (state === "up") done();
    };
  });
  assert.equal(await watch.check(), "up", "a call that failed for another reason");
  assert.deepEqual(told, []);
  const both = [watch.check(), watch.check()];
  assert.deepEqual(await Promise.all(both), ["down", "down"]);
  assert.equal(asked, 2, "those who ask at the same time share the answer");
  await back;
  assert.deepEqual(told, ["down", "refused", "up"]);
  assert.equal(asked, 5);
});

test("a probe that throws counts as no answer", async () => {
  const watch = new ServerWatch(() => Promise.reject(new Error("timeout")), 1 << 20);
  assert.equal(await watch.check(), "down");
  watch.onChange = () => undefined;
  clearTimeout((watch as unknown as { timer: NodeJS.Timeout }).timer);
});
