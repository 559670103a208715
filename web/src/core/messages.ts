// What the page and its workers say to each other.
import type { CoreResponse } from "./module";

export type ToWorker =
  | { kind: "start"; module: WebAssembly.Module; first: number; megabytes: number }
  | { kind: "request"; id: number; method: string; path: string; type: string; body?: ArrayBuffer; graph?: number } // graph: its number, if this makes one
  | { kind: "run"; flag: string };

export type FromWorker =
  | { kind: "response"; id: number; response: CoreResponse }
  | { kind: "event"; name: string; data: string }
  | { kind: "frames"; plan: string; bytes: ArrayBuffer } // of a row that was just sent: the worker cannot answer while it plans
  | { kind: "idle" }
  | { kind: "broken"; message: string };
