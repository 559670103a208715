// A worker as the page sees it: requests that are answered in turn, and the job that it runs.
import type { FromWorker, ToWorker } from "./messages";
import type { CoreResponse } from "./module";

export class Instance {
  readonly graphs = new Set<string>(); // those that it has
  busy = false; // runs a job
  broken: string | null = null;
  onEvent: (name: string, data: string) => void = () => undefined;
  onFrames: (plan: string, bytes: ArrayBuffer) => void = () => undefined;
  onIdle: () => void = () => undefined;
  private readonly worker: Worker;
  private readonly waiting = new Map<number, { done(response: CoreResponse): void; fail(reason: Error): void }>();
  private ids = 0;

  constructor(script: string, module: WebAssembly.Module, readonly first: number, megabytes: number) {
    this.worker = new Worker(script, { type: "module" });
    this.worker.onmessage = (event: MessageEvent<FromWorker>) => this.take(event.data);
    this.worker.onerror = (event) => this.end(event.message || "a worker of the page failed; reload the page");
    this.post({ kind: "start", module, first, megabytes });
  }

  private post(message: ToWorker, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }

  private take(message: FromWorker): void {
    if (message.kind === "response") {
      this.waiting.get(message.id)?.done(message.response);
      this.waiting.delete(message.id);
    } else if (message.kind === "event") this.onEvent(message.name, message.data);
    else if (message.kind === "frames") this.onFrames(message.plan, message.bytes);
    else if (message.kind === "broken") this.end(message.message);
    else {
      this.busy = false;
      this.onIdle();
    }
  }

  request(method: string, path: string, type = "", body?: ArrayBuffer, graph?: number): Promise<CoreResponse> {
    if (this.broken) return Promise.reject(new Error(this.broken));
    const id = ++this.ids;
    return new Promise((done, fail) => {
      this.waiting.set(id, { done, fail });
      this.post({ kind: "request", id, method, path, type, body, graph });
    });
  }

  run(flag: string): void {
    this.busy = true;
    this.post({ kind: "run", flag });
  }

  /** Ends the worker, with what it holds. */
  end(why: string): void {
    if (this.broken) return;
    this.broken = why;
    this.worker.terminate();
    for (const one of this.waiting.values()) one.fail(new Error(why));
    this.waiting.clear();
    this.busy = false;
    this.onIdle();
  }
}
