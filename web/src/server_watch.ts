// Watches whether the server answers. A failed call or a broken or silent event stream calls check(), which sends one request.
// While the server does not answer, the request is repeated, so that the page continues as soon as the server is back.

export type ServerState = "up" | "down" | "refused"; // refused: it answers, but does not accept this page's token

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 4000;

export class ServerWatch {
  state: ServerState = "up";
  onChange: (state: ServerState) => void = () => undefined;
  private pending: Promise<ServerState> | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = FIRST_WAIT_MS;

  /** `probe` returns the HTTP status of the response, or 0 if there is none. */
  constructor(private readonly probe: () => Promise<number>, private readonly firstWait = FIRST_WAIT_MS) {
    this.wait = firstWait;
  }

  /** Sends a request now; concurrent calls share it. */
  check(): Promise<ServerState> {
    clearTimeout(this.timer);
    this.pending ??= this.send().finally(() => (this.pending = null));
    return this.pending;
  }

  private async send(): Promise<ServerState> {
    const status = await this.probe().catch(() => 0);
    const state = status === 0 ? "down" : status === 401 || status === 403 ? "refused" : "up";
    const before = this.state;
    this.state = state;
    if (state === "up") this.wait = this.firstWait;
    else {
      this.timer = setTimeout(() => void this.check(), this.wait);
      this.wait = Math.min(MAX_WAIT_MS, this.wait * 1.5);
    }
    if (state !== before) this.onChange(state);
    return state;
  }
}
