// The core as WebAssembly: the handlers of `pebble ui` without HTTP (apps/worker/worker.h). One instance has one thread;
// while it runs a job it answers nothing, except what `onEvent` asks of it.

export interface CoreResponse {
  status: number;
  type: string;
  disposition: string;
  bytes: ArrayBuffer;
}

export interface CoreHooks {
  onEvent(name: string, data: string): void;
  stopRequested(): boolean;
}

interface Exports {
  memory: WebAssembly.Memory;
  _initialize(): void;
  malloc(bytes: number): number;
  worker_start(first: number, megabytes: number): number;
  worker_number_graph(number: number): void;
  worker_request(head: number, headLength: number, body: number, length: number): number;
  worker_release(): void;
  worker_run(): void;
}

const BAD_FILE = 8; // EBADF of WASI: there are no files

export class CoreModule {
  private readonly decoder = new TextDecoder();
  private readonly encoder = new TextEncoder();

  private constructor(private readonly wasm: Exports) {}

  static async create(module: WebAssembly.Module, hooks: CoreHooks, first: number, megabytes: number): Promise<CoreModule> {
    let core: CoreModule | null = null;
    const instance = await WebAssembly.instantiate(module, {
      env: {
        worker_event: (name: number, data: number, length: number) => {
          if (core) hooks.onEvent(core.text(name), core.decoder.decode(core.view(data, length)));
        },
        worker_stop_requested: () => (hooks.stopRequested() ? 1 : 0),
      },
      wasi_snapshot_preview1: {
        clock_time_get: (_clock: number, _precision: bigint, out: number) => {
          const now = BigInt(Math.round(performance.now() * 1e6));
          if (core) new DataView(core.wasm.memory.buffer).setBigUint64(out, now, true);
          return 0;
        },
        fd_close: () => BAD_FILE,
        fd_seek: () => BAD_FILE,
        fd_write: () => BAD_FILE,
      },
    });
    core = new CoreModule(instance.exports as unknown as Exports);
    core.wasm._initialize();
    core.wasm.worker_start(first, megabytes);
    return core;
  }

  private view(at: number, length: number): Uint8Array {
    return new Uint8Array(this.wasm.memory.buffer, at >>> 0, length >>> 0);
  }

  private text(at: number): string {
    const bytes = new Uint8Array(this.wasm.memory.buffer, at >>> 0);
    return this.decoder.decode(bytes.subarray(0, bytes.indexOf(0)));
  }

  private put(bytes: Uint8Array): number {
    const at = this.wasm.malloc(bytes.length + 1);
    if (!at) throw new RangeError("the page is out of memory; open a smaller file, or use the command pebble");
    this.view(at, bytes.length).set(bytes);
    return at;
  }

  numberGraph(number: number): void {
    this.wasm.worker_number_graph(number);
  }

  /** `path` is as in a request to the server, with its arguments. */
  request(method: string, path: string, type = "", body?: ArrayBuffer | string): CoreResponse {
    const url = new URL(path, "http://core");
    const texts = [method, decodeURIComponent(url.pathname), type, ...[...url.searchParams].flat()];
    const head = this.encoder.encode(texts.map((text) => `${text.replaceAll("\0", "")}\0`).join(""));
    const bytes = typeof body === "string" ? this.encoder.encode(body) : new Uint8Array(body ?? new ArrayBuffer(0));
    const headAt = this.put(head);
    const bodyAt = bytes.length ? this.put(bytes) : 0;
    const answer = this.wasm.worker_request(headAt, head.length, bodyAt, bytes.length);
    const [status, typeAt, dispositionAt, at, length] = new Uint32Array(this.wasm.memory.buffer, answer >>> 0, 5);
    const response = {
      status, type: this.text(typeAt), disposition: this.text(dispositionAt), bytes: this.view(at, length).slice().buffer as ArrayBuffer,
    };
    this.wasm.worker_release();
    return response;
  }

  /** Runs the job that the last request started, to its end. */
  run(): void {
    this.wasm.worker_run();
  }
}
