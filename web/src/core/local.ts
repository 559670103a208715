// The page without a server: the same requests and events, answered by the core in Web Workers.
//
// One worker answers requests. Others plan, one job each; a graph is made again in the worker that plans it, from the request that
// made it first. Their jobs and plans have numbers from different ranges, so a plan's number names its worker. The frames of rows
// come with the rows, because a worker that plans cannot be asked.
import type { EventFeed, Transport } from "../api";
import { Instance } from "./instance";
import type { CoreResponse } from "./module";

const RANGE = 10_000_000; // numbers of jobs and plans for each worker
const PLANNERS = 3;
const FRONT_MEGABYTES = 512;
const PLANNER_MEGABYTES = 1024;
const FRAMES_BYTES = 256 << 20; // that are kept
const STOP_MS = 3000; // then the worker is ended

interface Origin {
  path: string;
  type: string;
  body: ArrayBuffer;
}

const FAILED = { state: "failed", winner: null, winner_index: null, sentence: null, elapsed_ms: 0 };

/** The events of a job, kept until somebody listens. */
class Feed extends EventTarget implements EventFeed {
  readyState = 1;
  onerror: (() => unknown) | null = null;
  private early: [string, string][] | null = [];

  open(): void {
    const early = this.early ?? [];
    this.early = null;
    setTimeout(() => {
      for (const [name, data] of early) this.send(name, data);
    });
  }

  send(name: string, data: string): void {
    if (this.early) this.early.push([name, data]);
    else if (this.readyState === 1) this.dispatchEvent(Object.assign(new Event(name), { data }));
  }

  close(): void {
    this.readyState = 2;
  }
}

interface Job {
  planner: Instance;
  feed: Feed;
  flag: string;
  ended: boolean;
}

function toResponse({ status, type, disposition, bytes }: CoreResponse): Response {
  const headers = new Headers({ "Content-Type": type });
  if (disposition) headers.set("Content-Disposition", disposition);
  return new Response(bytes, { status, headers });
}

function problem(status: number, message: string): Response {
  return new Response(JSON.stringify({ error: { message } }), { status, headers: { "Content-Type": "application/json" } });
}

async function bytesOf(body: BodyInit | null | undefined): Promise<ArrayBuffer> {
  return body === null || body === undefined ? new ArrayBuffer(0) : new Response(body).arrayBuffer();
}

export class LocalCore implements Transport {
  private readonly loaded: Promise<{ module: WebAssembly.Module; script: string }>;
  private front: Instance | null = null;
  private readonly planners: Instance[] = [];
  private readonly origins = new Map<string, Origin>();
  private readonly jobs = new Map<string, Job>();
  private readonly frames = new Map<string, ArrayBuffer>();
  private framesBytes = 0;
  private made = 0;
  private readonly waiting: (() => void)[] = [];

  /** The addresses of core.js and pebble.wasm. Both are read once, so that workers can start later without the network. */
  constructor(script: string, wasm: string) {
    this.loaded = this.load(script, wasm);
    this.loaded.catch(() => undefined); // every request reports it
  }

  private async load(script: string, wasm: string): Promise<{ module: WebAssembly.Module; script: string }> {
    const read = async (address: string): Promise<ArrayBuffer> => {
      const response = await fetch(address);
      if (!response.ok) throw new Error(`${address} cannot be loaded (${response.status}); reload the page`);
      return response.arrayBuffer();
    };
    const [code, bytes] = await Promise.all([read(script), read(wasm)]);
    const module = await WebAssembly.compile(bytes);
    return { module, script: URL.createObjectURL(new Blob([code], { type: "text/javascript" })) };
  }

  private async instance(megabytes: number): Promise<Instance> {
    const { module, script } = await this.loaded;
    return new Instance(script, module, this.made++ * RANGE, megabytes);
  }

  private async fronted(): Promise<Instance> {
    if (!this.front || this.front.broken) {
      const fresh = await this.instance(FRONT_MEGABYTES);
      if (this.front && !this.front.broken) fresh.end("not needed");
      else this.front = fresh;
    }
    return this.front;
  }

  async fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const response = await this.answer(path, init);
    init.signal?.throwIfAborted();
    return response;
  }

  private async answer(path: string, init: RequestInit): Promise<Response> {
    const method = init.method ?? "GET";
    const type = new Headers(init.headers).get("Content-Type") ?? "";
    const [, what, id, rest] = /^\/api\/(\w+)(?:\/([^/?]+))?(?:\/([^?]*))?/.exec(path) ?? [];
    if (what === "graphs" && method === "POST" && rest === "jobs") return this.startJob(id, path, await bytesOf(init.body));
    if (what === "jobs") return this.aboutJob(id, method);
    if (what === "plans") return this.aboutPlan(id, rest ?? "", path);
    const body = await bytesOf(init.body);
    const front = await this.fronted();
    const response = await front.request(method, path, type, body.slice(0));
    if (what === "graphs" && method === "POST" && response.status === 200) this.remember(response, { path, type, body });
    return toResponse(response);
  }

  private remember(response: CoreResponse, origin: Origin): void {
    const { id } = JSON.parse(new TextDecoder().decode(response.bytes)) as { id: string };
    this.origins.set(id, origin);
  }

  // ---- jobs ----

  /** A worker that does not plan now; waits for one if there are enough. */
  private async acquire(): Promise<Instance> {
    for (;;) {
      const free = this.planners.find((one) => !one.busy && !one.broken);
      if (free) {
        free.busy = true; // until its job has begun and ended
        return free;
      }
      for (let i = this.planners.length - 1; i >= 0; i--) if (this.planners[i].broken) this.planners.splice(i, 1);
      if (this.planners.length < PLANNERS) {
        const fresh = await this.instance(PLANNER_MEGABYTES);
        fresh.busy = true;
        fresh.onFrames = (plan, bytes) => this.keepFrames(plan, bytes);
        this.planners.push(fresh);
        return fresh;
      }
      await new Promise<void>((done) => this.waiting.push(done));
    }
  }

  private release(planner: Instance): void {
    planner.busy = false;
    this.waiting.shift()?.();
  }

  private async startJob(graph: string, path: string, body: ArrayBuffer): Promise<Response> {
    const origin = this.origins.get(graph);
    if (!origin) return problem(404, "there is no such graph; open it again");
    const planner = await this.acquire();
    const feed = new Feed();
    planner.onEvent = (name, data) => feed.send(name, data);
    try {
      let response: CoreResponse | null = null;
      for (let tries = 0; tries < 2 && (!response || response.status === 410); tries++) {
        if (tries || !planner.graphs.has(graph)) {
          const made = await planner.request("POST", origin.path, origin.type, origin.body.slice(0), Number(graph.slice(1)));
          if (made.status !== 200) return this.give(planner, made);
          planner.graphs.add(graph);
        }
        response = await planner.request("POST", path, "application/json", body.slice(0));
      }
      if (response?.status !== 202) return this.give(planner, response as CoreResponse);
      const { job } = JSON.parse(new TextDecoder().decode(response.bytes)) as { job: string };
      this.begin(job, { planner, feed, flag: URL.createObjectURL(new Blob(["go"])), ended: false });
      return toResponse(response);
    } catch (reason) {
      this.release(planner);
      return problem(500, reason instanceof Error ? reason.message : String(reason));
    }
  }

  private give(planner: Instance, response: CoreResponse): Response {
    this.release(planner);
    return toResponse(response);
  }

  private begin(id: string, job: Job): void {
    this.jobs.set(id, job);
    job.planner.onIdle = () => {
      if (job.ended) return;
      job.ended = true;
      URL.revokeObjectURL(job.flag);
      if (job.planner.broken) job.feed.send("done", JSON.stringify({ ...FAILED, error: { message: job.planner.broken } }));
      this.release(job.planner);
    };
    job.planner.run(job.flag);
  }

  events(path: string): EventFeed {
    const job = this.jobs.get(/\/jobs\/(j\d+)/.exec(path)?.[1] ?? "");
    const feed = job?.feed ?? new Feed();
    feed.open();
    return feed;
  }

  /** Stopping keeps the best plan so far; a worker that does not notice is ended. */
  private aboutJob(id: string, method: string): Response {
    const job = this.jobs.get(id);
    if (!job) return problem(404, "there is no such job; plan again");
    if (method === "GET") return problem(405, "the events of a job come as they are sent");
    if (!job.ended) {
      URL.revokeObjectURL(job.flag);
      job.feed.send("state", JSON.stringify({ state: "stopping" }));
      setTimeout(() => {
        if (!job.ended) job.planner.end("planning did not stop in time and was ended; plan again");
      }, STOP_MS);
    }
    if (method === "DELETE") this.jobs.delete(id);
    return new Response("{}", { status: 202, headers: { "Content-Type": "application/json" } });
  }

  // ---- plans ----

  private keepFrames(plan: string, bytes: ArrayBuffer): void {
    this.frames.set(plan, bytes);
    this.framesBytes += bytes.byteLength;
    for (const [old, one] of this.frames) {
      if (this.framesBytes <= FRAMES_BYTES || old === plan) break;
      this.frames.delete(old);
      this.framesBytes -= one.byteLength;
    }
  }

  private async aboutPlan(id: string, rest: string, path: string): Promise<Response> {
    const kept = rest === "frames" ? this.frames.get(id) : undefined;
    if (kept) return new Response(kept, { headers: { "Content-Type": "application/octet-stream" } });
    const first = Math.floor(Number(id.slice(1)) / RANGE) * RANGE;
    const planner = this.planners.find((one) => one.first === first && !one.broken);
    if (!planner) return problem(410, "this plan is gone; plan again");
    return toResponse(await planner.request("GET", path));
  }
}
