// What the page makes of a stream of events that breaks, ends or falls silent. The browser's parts are stood in for.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";
import type { Done } from "../src/api";
import type { ServerState } from "../src/server_watch";

class FakeSource extends EventTarget {
  static readonly CLOSED = 2;
  static last: FakeSource;
  readyState = 1;
  onerror: (() => unknown) | null = null;
  closed = false;
  constructor() {
    super();
    FakeSource.last = this;
  }
  close(): void {
    this.closed = true;
  }
  tell(name: string, data: unknown): void {
    this.dispatchEvent(Object.assign(new Event(name), { data: JSON.stringify(data) }));
  }
}

let status = 200; // of every answer; 0: none
let asked: string[] = [];
Object.assign(globalThis, {
  location: new URL("http://127.0.0.1:1/"),
  sessionStorage: { getItem: () => null, setItem: () => undefined },
  EventSource: FakeSource,
  fetch: (path: string) => {
    asked.push(path);
    return status === 0 ? Promise.reject(new TypeError("refused")) : Promise.resolve(new Response(JSON.stringify({ job: "j1" }), { status }));
  },
});
const { Api } = await import("../src/api");

const REQUEST = { kind: "compare", game: null, strategies: ["auto"], policy: null, weights: ["0", "0", "1"], prices: null, time_ms: 1 } as const;
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
};

beforeEach(() => {
  status = 200;
  asked = [];
});

async function begin(): Promise<{ source: FakeSource; states: ServerState[]; done: Done[]; drop(): void }> {
  const api = new Api();
  const states: ServerState[] = [];
  const done: Done[] = [];
  api.watch.onChange = (state) => states.push(state);
  const handle = await api.startJob("g1", { ...REQUEST, strategies: ["auto"], weights: ["0", "0", "1"] }, { onDone: (one) => done.push(one) });
  return { source: FakeSource.last, states, done, drop: () => handle.drop() };
}

test("a stream that breaks while the server is gone closes, and the watch reports it", async () => {
  mock.timers.enable({ apis: ["setInterval", "setTimeout", "Date"] });
  const { source, states, done } = await begin();
  status = 0;
  await source.onerror?.();
  assert.deepEqual(states, ["down"]);
  assert.ok(source.closed);
  assert.deepEqual(done, []);
  mock.timers.reset();
});

test("a stream that breaks while the server runs reconnects; one that is over ends the job", async () => {
  mock.timers.enable({ apis: ["setInterval", "setTimeout", "Date"] });
  const { source, states, done } = await begin();
  await source.onerror?.();
  assert.ok(!source.closed);
  source.readyState = FakeSource.CLOSED;
  await source.onerror?.();
  assert.ok(source.closed);
  assert.equal(done[0]?.state, "failed");
  assert.deepEqual(states, []);
  mock.timers.reset();
});

test("silence causes a check, events and a done event do not", async () => {
  mock.timers.enable({ apis: ["setInterval", "setTimeout", "Date"] });
  const { source, states, done } = await begin();
  const questions = (): number => asked.filter((path) => path === "/api/health").length;
  for (let i = 0; i < 8; i++) {
    mock.timers.tick(4000);
    source.tell("progress", { done: i });
  }
  for (let i = 0; i < 8; i++) {
    mock.timers.tick(4000);
    source.tell("ping", {});
  }
  assert.equal(questions(), 0, "events arrive all the time");
  mock.timers.tick(14_000);
  await settle();
  assert.equal(questions(), 1);
  assert.deepEqual(states, []);
  status = 0;
  mock.timers.tick(20_000);
  await settle();
  assert.deepEqual(states, ["down"]);
  source.tell("done", { state: "done", winner: null, error: null });
  assert.equal(done.length, 1);
  mock.timers.reset();
});

test("a page that the server rejects is distinguished from one without a server", async () => {
  mock.timers.enable({ apis: ["setInterval", "setTimeout", "Date"] });
  const api = new Api();
  const states: ServerState[] = [];
  api.watch.onChange = (state) => states.push(state);
  status = 403;
  await assert.rejects(api.about(), /does not accept this page/);
  status = 0;
  await assert.rejects(api.about(), /has stopped/);
  assert.deepEqual(states, ["refused", "down"]);
  mock.timers.reset();
});
