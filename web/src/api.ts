// The calls to the server.
import type {
  About, ApiErrorBody, Bound, Done, GraphInfo, Incumbent, JobRequest, NodeExplain, NodeInfo, Progress, Row, SweepDocument,
} from "./api_types";

export type * from "./api_types";

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
