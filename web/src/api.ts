// The server's JSON and the calls that fetch it. Keys are those of `pebble ... --json`.
import type { Whole } from "./exact";

export type GameName = "remat" | "reversible" | "tiered";
export type Outcome = "optimal" | "found" | "infeasible" | "gave_up";
export type WeightTexts = [string, string, string];

export interface Metrics {
  peak: Whole;
  work: Whole;
  io: Whole;
  makespan: Whole;
  recompute: Whole;
  recompute_count: Whole;
  uncompute: Whole;
  flux: Whole;
  moves: Whole;
  depth: Whole;
  cost: Whole;
  overhead: number;
  gap: number | null;
}

export interface Failure {
  step: number;
  node: number | null;
  name: string | null;
  need: Whole | null;
  over?: Whole | null;
}

export interface Row {
  index?: number; // its place in the comparison; a later row with the same one replaces it
  strategy: string;
  asked?: string;
  label?: string;
  game: GameName;
  outcome: Outcome;
  reason: string | null;
  metrics: Metrics | null;
  lower_bound: Whole | null;
  gap: number | null;
  seconds: number;
  bound_kind: string | null;
  note: string | null;
  options: Record<string, string>;
  plan?: string | null;
  failed?: Failure | null;
}

export interface StrategyInfo {
  name: string;
  summary: string;
  games: GameName[];
  strength: string;
  takes_policy: boolean;
  options: { key: string; default: string; help: string }[];
}

export interface Parameter {
  key: string;
  default: string | number;
  help: string;
  kind: "integer" | "real" | "word";
  least?: Whole | null;
  most?: Whole | null;
  words?: string[] | null;
  main?: boolean;
}

export interface Family {
  name: string;
  help: string;
  parameters: Parameter[];
}

export interface Prices {
  store_cost: Whole;
  load_cost: Whole;
  store_per_unit: Whole;
  load_per_unit: Whole;
  slow_cap: string;
}

export interface GalleryItem {
  id: string;
  title: string;
  text: string;
  family: string;
  parameters: Record<string, string>;
  game: GameName | null;
  cap: string;
  strategies: string[];
  prices: Prices | null;
}

export interface About {
  version: string;
  games: GameName[];
  strategies: StrategyInfo[];
  policies: { name: string; summary: string }[];
  families: Family[];
  gallery: GalleryItem[];
  opened: string[];
  limits: { body: number; nodes: number };
}

export interface GameInfo {
  game: GameName;
  impossible: boolean;
  proved_cap: Whole | null;
  proved_by: string | null;
  proved_at: string | null;
}

export interface GraphInfo {
  id: string;
  name: string;
  graph: string;
  hash: string;
  nodes: number;
  edges: number;
  shape: string;
  depth: number;
  targets: number;
  given: number;
  needed_nodes: number;
  cost_unit: string;
  size_unit: string;
  needed_cost: Whole;
  total_size: Whole;
  fixed_size: Whole;
  largest_size: Whole;
  largest_node: string | null;
  written_peak: Whole;
  has_groups: boolean;
  training: boolean;
  games: GameInfo[];
}

export interface JobRequest {
  kind: "compare" | "plan" | "sweep" | "least";
  game: GameName | null;
  cap?: string;
  strategies: string[];
  policy: string | null;
  weights: WeightTexts;
  prices: Prices | null;
  time_ms: number;
  seed?: number;
  threads?: number;
  caps?: string[];
  points?: number;
}

export interface Progress {
  strategy: string | null;
  what: string | null;
  done: number;
  total: number;
  elapsed_ms: number;
}

export interface Bound {
  game: GameName;
  cap: Whole | null;
  least_cap: Whole | null;
  makespan: Whole | null;
  overhead: number | null;
  over: boolean;
}

export interface Incumbent {
  strategy: string;
  game: GameName;
  peak: Whole;
  makespan: Whole;
  overhead: number;
  recompute: Whole;
  gap: number | null;
  elapsed_ms: number;
  by?: string | null; // the strategy inside auto that found it
}

export interface ApiErrorBody {
  message: string;
  line?: number;
  column?: number;
  code?: string;
}

export interface Done {
  state: "done" | "stopped" | "failed";
  winner: string | null;
  winner_index?: number | null;
  error: ApiErrorBody | null;
  sentence?: string | null;
}

export interface SweepCell {
  cap: Whole;
  cap_share: number;
  strategy: string;
  chosen: string | null;
  game: GameName;
  outcome: Outcome;
  reason: string | null;
  metrics: Metrics | null;
  lower_bound: Whole | null;
  plan?: string | null;
}

export interface Flip {
  across: "caps" | "weights";
  before: number;
  after: number;
  winner_before: string;
  winner_after: string;
}

export interface Sweep {
  written_peak: Whole;
  needed_work: Whole;
  games: { game: GameName; proved_least_cap: Whole | null; least_peak: Whole | null }[];
  caps: Whole[];
  cells: SweepCell[];
  front: number[];
  knee: number | null;
  flips: Flip[];
}

export interface SweepDocument {
  sweeps: Sweep[];
}

export interface NodeRef {
  node: number;
  name: string;
}

export interface NodeInfo {
  node: number;
  name: string;
  op?: string | null;
  group: string | null;
  cost: Whole;
  size: Whole;
  work?: Whole;
  inputs: NodeRef[];
  readers: NodeRef[];
  input_count: number;
  reader_count: number;
  flags: string[];
}

export interface Wait {
  to_end: boolean;
  from: number;
  to: number;
  time: Whole;
  memory_time: Whole;
  saves: Whole | null;
  exact: boolean;
}

export interface Life {
  made_by: string;
  made: number | null;
  removed: number | null;
  removed_by: string | null;
  made_again: number | null;
  uses: number;
  first_use: number | null;
  last_use: number | null;
  while_away?: {
    memory: Whole;
    step: number;
    resident: string[];
    more: number;
    cap_to_keep: Whole;
    over_cap: Whole;
    keeping_spares: Whole;
  };
  waits: Wait[];
}

export interface NodeExplain {
  node: string;
  index: number;
  cost: Whole;
  size: Whole;
  computed: number;
  uncomputed: number;
  loaded: number;
  spent_again: Whole;
  memory_time: Whole;
  lives: Life[];
}

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: ApiErrorBody,
  ) {
    super(body.message);
  }
}

export interface JobHandlers {
  onState?(state: string): void;
  onProgress?(p: Progress): void;
  onBound?(b: Bound): void;
  onIncumbent?(i: Incumbent): void;
  onRow?(r: Row): void;
  onSweep?(s: SweepDocument): void;
  onDone(d: Done): void;
}

export interface JobHandle {
  id: string;
  stop(): Promise<void>; // keeps the best so far; the done event follows
  drop(): void; // stops listening and forgets the job
}

export type FileKind = "schedule" | "pbs" | "metrics" | "trace" | "csv" | "dot" | "decisions";

const TOKEN_KEY = "pebble-token";

/** Takes the token out of the address bar. A tab keeps it, as cookies are shared between ports. */
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

export class Api {
  private readonly token = takeToken();

  private path(path: string): string {
    if (!this.token) return path;
    return path + (path.includes("?") ? "&" : "?") + "token=" + encodeURIComponent(this.token);
  }

  private async call(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.token) headers.set("X-Pebble-Token", this.token);
    let response: Response;
    try {
      response = await fetch(path, { ...init, headers });
    } catch (reason) {
      if (init.signal?.aborted) throw reason;
      throw new ApiError(0, { message: "The server does not answer. Is pebble ui still running?" });
    }
    if (response.ok) return response;
    let body: ApiErrorBody = { message: `The server answered ${response.status} ${response.statusText}.` };
    try {
      const parsed = (await response.json()) as { error?: ApiErrorBody };
      if (parsed.error?.message) body = parsed.error;
    } catch {
      // an answer that is no JSON: the status says enough
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

  openFile(file: File, signal?: AbortSignal): Promise<GraphInfo> {
    return this.json(`/api/graphs?name=${encodeURIComponent(file.name)}`, {
      method: "POST",
      headers: { "Content-Type": "application/octet-stream" },
      body: file,
      signal,
    });
  }

  graph(id: string, signal?: AbortSignal): Promise<GraphInfo> {
    return this.json(`/api/graphs/${id}`, { signal });
  }

  async layout(id: string, options: { lanes: string; groups: string }, signal?: AbortSignal): Promise<ArrayBuffer> {
    const query = `lanes=${options.lanes}&groups=${options.groups}`;
    return (await this.call(`/api/graphs/${id}/layout?${query}`, { signal })).arrayBuffer();
  }

  async names(id: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    return (await this.call(`/api/graphs/${id}/names`, { signal })).arrayBuffer();
  }

  node(graph: string, node: number, signal?: AbortSignal): Promise<NodeInfo> {
    return this.json(`/api/graphs/${graph}/node?node=${node}`, { signal });
  }

  async frames(plan: string, signal?: AbortSignal): Promise<ArrayBuffer> {
    return (await this.call(`/api/plans/${plan}/frames`, { signal })).arrayBuffer();
  }

  explain(plan: string, node: number, signal?: AbortSignal): Promise<NodeExplain> {
    return this.json(`/api/plans/${plan}/explain?node=${node}`, { signal });
  }

  planFile(plan: string, kind: FileKind): string {
    return this.path(`/api/plans/${plan}/file?as=${kind}`);
  }

  graphFile(graph: string): string {
    return this.path(`/api/graphs/${graph}/file`);
  }

  async startJob(graph: string, request: JobRequest, on: JobHandlers): Promise<JobHandle> {
    const { job } = await this.json<{ job: string }>(`/api/graphs/${graph}/jobs`, this.post(request));
    const source = new EventSource(this.path(`/api/jobs/${job}/events`));
    const listen = <T>(name: string, act: ((data: T) => void) | undefined): void => {
      source.addEventListener(name, (event) => act?.(JSON.parse((event as MessageEvent<string>).data) as T));
    };
    listen<{ state: string }>("state", (data) => on.onState?.(data.state));
    listen("progress", on.onProgress);
    listen("bound", on.onBound);
    listen("incumbent", on.onIncumbent);
    listen("row", on.onRow);
    listen("sweep", on.onSweep);
    listen<Done>("done", (data) => {
      source.close();
      on.onDone(data);
    });
    source.onerror = () => {
      // While the server lives EventSource connects again and the events go on from their ids.
      if (source.readyState !== EventSource.CLOSED) return;
      on.onDone({ state: "failed", winner: null, error: { message: "The connection to the server was lost." } });
    };
    return {
      id: job,
      stop: async () => {
        await this.call(`/api/jobs/${job}/stop`, this.post({}));
      },
      drop: () => {
        source.close();
        void this.call(`/api/jobs/${job}`, { method: "DELETE", headers: { "Content-Type": "application/json" } }).catch(
          () => undefined,
        );
      },
    };
  }
}
