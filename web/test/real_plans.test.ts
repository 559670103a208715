// Plans of the real planner, replayed by the page's own player. Skipped where there is no command with a server.

import assert from "node:assert/strict";
import { ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { Frames, Layout, Names, Op, RECOMPUTE_BIT, decodeFrames, decodeLayout } from "../src/binary";
import { checkMemory, checkTimed } from "./checks";

const command = [process.env.PEBBLE ?? "", join(process.env.PEBBLE_WEB ?? ".", "../build/pebble")].find((p) => p && existsSync(p));
let server: ChildProcess | null = null;
let base = "";
let token = "";

before(async () => {
  if (!command) return;
  const child = spawn(command, ["ui", "--no-open", "--port", "0"], { stdio: ["ignore", "pipe", "ignore"] });
  server = child;
  const line = await new Promise<string>((resolve) => {
    child.stdout.once("data", (d: Buffer) => resolve(d.toString()));
    child.once("exit", () => resolve(""));
  });
  const match = line.match(/(http:\/\/[^/]+)\/\?token=(\w+)/);
  if (match) [, base, token] = match;
});

after(() => void server?.kill());

async function get(path: string): Promise<ArrayBuffer> {
  const r = await fetch(`${base}${path}`, { headers: { "X-Pebble-Token": token } });
  assert.equal(r.status, 200, path);
  return r.arrayBuffer();
}

async function post(path: string, body: unknown): Promise<Record<string, unknown>> {
  const r = await fetch(`${base}${path}`, {
    method: "POST",
    headers: { "X-Pebble-Token": token, "Content-Type": "application/json" },
    body: JSON.stringify(body),
  });
  assert.ok(r.ok, `${path}: ${r.status}`);
  return (await r.json()) as Record<string, unknown>;
}

interface Event {
  event: string;
  data: { plan?: string | null };
}

async function planned(graph: string, job: unknown): Promise<Frames | null> {
  const made = await post(`/api/graphs/${graph}/jobs`, job);
  for (let tries = 0; tries < 300; tries++) {
    const text = new TextDecoder().decode(await get(`/api/jobs/${String(made.job)}`));
    const state = JSON.parse(text) as { state: string; events: Event[] };
    if (state.state !== "queued" && state.state !== "running") {
      const plan = state.events.filter((e) => e.event === "row" && e.data.plan).at(-1)?.data.plan;
      return plan ? decodeFrames(await get(`/api/plans/${plan}/frames`)) : null;
    }
    await new Promise((r) => setTimeout(r, 50));
  }
  return null;
}

const CASES: { title: string; family: string; game: string; cap: string; strategy: string; prices: unknown; uses: number; machine?: string }[] = [
  { title: "remat", family: "unet", game: "remat", cap: "60%", strategy: "auto", prices: null, uses: Op.Free },
  { title: "remat with recomputation", family: "adjoint-chain", game: "remat", cap: "60%", strategy: "auto", prices: null, uses: Op.Compute | RECOMPUTE_BIT },
  { title: "reversible", family: "chain", game: "reversible", cap: "none", strategy: "auto", prices: null, uses: Op.Uncompute },
  { title: "tiered", family: "unet", game: "tiered", cap: "50%", strategy: "auto", uses: Op.Load,
    prices: { store_cost: 1, load_cost: 1, store_per_unit: 0, load_per_unit: 0, slow_cap: "none" } },
  { title: "timed", family: "unet", game: "timed", cap: "50%", strategy: "overlap", prices: null, uses: Op.Copy, machine: "a100-40" },
];

for (const c of CASES)
  test(`a real plan replays to its own memory: ${c.title}`, async (t) => {
    if (!base) return t.skip("no command with a server");
    const info = await post("/api/graphs", { family: c.family, parameters: {} });
    const id = String(info.id);
    const names = new Names(await get(`/api/graphs/${id}/names`));
    const layout: Layout = decodeLayout(await get(`/api/graphs/${id}/layout?lanes=auto&groups=open`), names);
    assert.ok(layout.nodeCount > 0);
    const frames = await planned(id, {
      kind: "plan", game: c.game, cap: c.cap, strategies: [c.strategy], policy: null, weights: [0, 0, 1], prices: c.prices,
      machine: c.machine ?? null, time_ms: 60_000, ticks: 50_000, seed: 1, threads: 1, // ticks: a busy machine finds the same
    });
    assert.ok(frames, "there is a plan");
    assert.ok(frames.op.includes(c.uses), "the plan has the kind of move that the case is about");
    if (frames.timed) checkTimed(layout, frames);
    else checkMemory(layout, frames);
  });
