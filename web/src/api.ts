// The calls to the server.
import type {
  About, ApiErrorBody, Bound, Done, GraphInfo, Incumbent, JobRequest, NodeExplain, NodeInfo, Progress, Row, SweepDocument,
} from "./api_types";

import type { Whole } from "./exact";
import { ServerWatch } from "./server_watch";

export type * from "./api_types";

const CLOSED = 2; // of an EventSource
const PROBE_MS = 5000; // longer than any pause of a running server
const SILENCE_MS = 10_000; // without events or pings; then the page checks whether the server answers

export const SERVER_TEXTS = {
  down: "The server has stopped.",
  refused: "The server does not accept this page.",
} as const;

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: ApiErrorBody,
  ) {
    super(body.message);
  }
}

/** What the figures of a job refer to: a machine makes costs times. */
export interface Costs {
  cost_unit: string;
  needed_cost: Whole;
}

export interface JobHandlers {
  onCosts?(costs: Costs): void;
  onState?(state: string): void;
  onProgress?(p: Progress): void;
  onBound?(b: Bound): void;
  onIncumbent?(i: Incumbent): void;
  onRow?(r: Row): void;
  onSweep?(s: SweepDocument): void;
  onDone(d: Done): void; // not called if the server is gone: ServerWatch reports that once, for all calls
}

export interface JobHandle {
  id: string;
  stop(): Promise<void>; // keeps the best plan so far; the done event follows
  drop(): void; // closes the event stream and deletes the job
}

export type FileKind = "schedule" | "pbs" | "metrics" | "trace" | "csv" | "dot" | "decisions";

/** The events of a job, as EventSource gives them. */
export interface EventFeed {
  readonly readyState: number;
  onerror: ((event: Event) => unknown) | null;
  addEventListener(name: string, listener: (event: Event) => void): void;
  close(): void;
}

/** Who answers the requests of docs/server.md: `pebble ui`, or the core in this page. */
export interface Transport {
  fetch(path: string, init?: RequestInit): Promise<Response>;
  events(path: string): EventFeed;
}

const TOKEN_KEY = "pebble-token";

/** Removes the token from the address bar and keeps it for this tab; a cookie would be shared between ports. */
function takeToken(): string | null {
  const url = new URL(location.href);
  const given = url.searchParams.get("token");
  if (given) {
    sessionStorage.setItem(TOKEN_KEY, given);
    url.searchParams.delete("token");
    history.replaceState(null, "", url.pathname + url.search + url.hash);
  }
  return given ?? sessionStorage.getItem(TOKEN_KEY);
}

class ServerTransport implements Transport {
  private readonly token = takeToken();

  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.token) headers.set("X-Pebble-Token", this.token);
    return fetch(path, { ...init, headers });
  }

  events(path: string): EventFeed {
    const token = this.token ? `${path.includes("?") ? "&" : "?"}token=${encodeURIComponent(this.token)}` : "";
    return new EventSource(path + token);
  }
}

export class Api {
  readonly watch = new ServerWatch(() => this.probe());

  constructor(private readonly transport: Transport = new ServerTransport()) {}

  /** The HTTP status of a small request, 0 if there is no response. */
  private async probe(): Promise<number> {
    const response = await this.transport.fetch("/api/health", { cache: "no-store", signal: AbortSignal.timeout(PROBE_MS) });
    await response.body?.cancel();
    return response.status;
  }

  private async call(path: string, init: RequestInit = {}): Promise<Response> {
    let response: Response;
    try {
      response = await this.transport.fetch(path, init);
    } catch (reason) {
      if (init.signal?.aborted) throw reason;
      const state = await this.watch.check();
      const message = state === "up" ? "The server's response was cut off. Try again." : SERVER_TEXTS[state];
      throw new ApiError(0, { message });
    }
    if (response.ok) return response;
    if (response.status === 401 || response.status === 403) {
      const state = await this.watch.check();
      if (state !== "up") throw new ApiError(response.status, { message: SERVER_TEXTS[state] });
    }
    let body: ApiErrorBody = { message: `The server answered ${response.status} ${response.statusText}.` };
    try {
      const parsed = (await response.json()) as { error?: ApiErrorBody };
      if (parsed.error?.message) body = parsed.error;
    } catch {
      // not JSON: the status is enough
    }
    throw new ApiError(response.status, body);
  }

  private async json<T>(path: string, init?: RequestInit): Promise<T> {
    return (await (await this.call(path, init)).json()) as T;
  }

  private post(body: unknown, signal?: AbortSignal): RequestInit {
    return { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  }

  about(): Promise<About> {
    return this.json<About>("/api/about");
  }

  openGallery(id: string, signal?: AbortSignal): Promise<GraphInfo> {
    return this.json("/api/graphs", this.post({ gallery: id }, signal));
  }

  generate(family: string, parameters: Record<string, string>, signal?: AbortSignal): Promise<GraphInfo> {
    return this.json("/api/graphs", this.post({ family, parameters }, signal));
  }

  /** `reading`: how a model is read, as arguments. */
  openFile(file: File, reading = "", signal?: AbortSignal): Promise<GraphInfo> {
    return this.json(`/api/graphs?name=${encodeURIComponent(file.name)}${reading ? `&${reading}` : ""}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
      signal,
    });
  }

  graph(id: string, signal?: AbortSignal): Promise<GraphInfo> {
    return this.json(`/api/graphs/${id}`, { signal });
  }

  /** `open`: groups that stay open while the others are closed; null: all are. */
  async layout(id: string, lanes: string, open: readonly number[] | null, signal?: AbortSignal): Promise<ArrayBuffer> {
    const query = `lanes=${lanes === "0" ? "0" : "auto"}&groups=${open ? `closed&open=${open.join(",")}` : "open"}`;
    return (await this.call(`/api/graphs/${id}/layout?${query}`, { signal })).arrayBuffer();
  }

  async names(id: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    return (await this.call(`/api/graphs/${id}/names`, { signal })).arrayBuffer();
  }

  node(graph: string, node: number, signal?: AbortSignal): Promise<NodeInfo> {
    return this.json(`/api/graphs/${graph}/node?node=${node}`, { signal });
  }

  /** For tests: what the moves of a plan wait for. */
  beforeFrames: (() => Promise<void>) | null = null;

  async frames(plan: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    await this.beforeFrames?.();
    return (await this.call(`/api/plans/${plan}/frames`, { signal })).arrayBuffer();
  }

  explain(plan: string, node: number, signal?: AbortSignal): Promise<NodeExplain> {
    return this.json(`/api/plans/${plan}/explain?node=${node}`, { signal });
  }

  /** A file of a plan, with the name from the server. */
  planFile(plan: string, kind: FileKind): Promise<{ blob: Blob; name: string }> {
    return this.file(`/api/plans/${plan}/file?as=${kind}`);
  }

  graphFile(graph: string): Promise<{ blob: Blob; name: string }> {
    return this.file(`/api/graphs/${graph}/file`);
  }

  private async file(path: string): Promise<{ blob: Blob; name: string }> {
    const response = await this.call(path);
    const name = /filename="([^"]+)"/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? "file";
    return { blob: await response.blob(), name };
  }

  async startJob(graph: string, request: JobRequest, on: JobHandlers): Promise<JobHandle> {
    const { job, ...costs } = await this.json<{ job: string } & Costs>(`/api/graphs/${graph}/jobs`, this.post(request));
    on.onCosts?.(costs);
    const source = this.transport.events(`/api/jobs/${job}/events`);
    let lastEvent = Date.now();
    const silence = setInterval(() => {
      if (Date.now() - lastEvent < SILENCE_MS) return;
      lastEvent = Date.now();
      void this.watch.check();
    }, SILENCE_MS / 3);
    const close = (): void => {
      clearInterval(silence);
      source.close();
    };
    const listen = <T>(name: string, act: ((data: T) => void) | undefined): void => {
      source.addEventListener(name, (event) => {
        lastEvent = Date.now();
        act?.(JSON.parse((event as MessageEvent<string>).data) as T);
      });
    };
    listen<{ state: string }>("state", (data) => on.onState?.(data.state));
    listen("ping", undefined); // sent every three seconds if there are no other events
    listen("progress", on.onProgress);
    listen("bound", on.onBound);
    listen("incumbent", on.onIncumbent);
    listen("row", on.onRow);
    listen("sweep", on.onSweep);
    listen<Done>("done", (data) => {
      close();
      on.onDone(data);
    });
    // While the server runs, EventSource reconnects and the events continue from the last id.
    source.onerror = async () => {
      const ended = source.readyState === CLOSED;
      if ((await this.watch.check()) !== "up") return close();
      if (!ended) return;
      close();
      on.onDone({ state: "failed", winner: null, error: { message: "The server no longer has this job. Plan again (R)." } });
    };
    return {
      id: job,
      stop: async () => {
        await this.call(`/api/jobs/${job}/stop`, this.post({}));
      },
      drop: () => {
        close();
        if (this.watch.state !== "up") return;
        void this.call(`/api/jobs/${job}`, { method: "DELETE", headers: { "Content-Type": "application/json" } }).catch(
          () => undefined,
        );
      },
    };
  }
}
