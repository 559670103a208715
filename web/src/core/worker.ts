// The script of a worker: one instance of the core.
import type { FromWorker, ToWorker } from "./messages";
import { CoreModule } from "./module";

const MOVES_AT_ONCE = 400_000; // plans with more moves are read when they are played, after the job

let core: CoreModule | null = null;
let flag = "";
let inRow = false;

function say(message: FromWorker, transfer: Transferable[] = []): void {
  (self as unknown as { postMessage(data: FromWorker, transfer: Transferable[]): void }).postMessage(message, transfer);
}

/** A running instance gets no messages. The page revokes the address of a blob to stop it, which a request notices. */
function flagIsSet(): boolean {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", flag, false);
    request.send();
    return false;
  } catch {
    return true;
  }
}

function sendFrames(data: string): void {
  const row = JSON.parse(data) as { plan: string | null; attempt: string | null; metrics: { moves: number } | null };
  const plan = row.plan ?? row.attempt;
  if (!core || !plan || inRow || Number(row.metrics?.moves ?? 0) > MOVES_AT_ONCE) return;
  inRow = true;
  const frames = core.request("GET", `/api/plans/${plan}/frames`);
  inRow = false;
  if (frames.status === 200) say({ kind: "frames", plan, bytes: frames.bytes }, [frames.bytes]);
}

async function start(message: ToWorker & { kind: "start" }): Promise<void> {
  const hooks = {
    onEvent: (name: string, data: string) => {
      say({ kind: "event", name, data });
      if (name === "row") sendFrames(data);
    },
    stopRequested: () => flag !== "" && flagIsSet(),
  };
  core = await CoreModule.create(message.module, hooks, message.first, message.megabytes);
}

function act(message: ToWorker): void {
  if (!core || message.kind === "start") return;
  if (message.kind === "request") {
    if (message.graph) core.numberGraph(message.graph);
    const response = core.request(message.method, message.path, message.type, message.body);
    return say({ kind: "response", id: message.id, response }, [response.bytes]);
  }
  flag = message.flag;
  if (flagIsSet()) flag = ""; // this browser has no such requests: the page ends the worker instead
  core.run();
  say({ kind: "idle" });
}

let last: Promise<void> = Promise.resolve();
self.onmessage = (event: MessageEvent<ToWorker>) => {
  last = last
    .then(() => (event.data.kind === "start" ? start(event.data) : act(event.data)))
    .catch((reason) => say({ kind: "broken", message: reason instanceof Error ? reason.message : String(reason) }));
};
