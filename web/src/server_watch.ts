// Is the server there? Calls that fail and streams that break or fall silent raise a doubt; one question to the server settles it.
// While it is away it is asked again from time to time, so that the page goes on by itself.

export type ServerState = "up" | "down" | "refused"; // refused: it answers, but not to this page

const FIRST_WAIT_MS = 1000;
const MOST_WAIT_MS = 4000;

export class ServerWatch {
  state: ServerState = "up";
  onChange: (state: ServerState) => void = () => undefined;
  private asking: Promise<ServerState> | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private wait = FIRST_WAIT_MS;

  /** `probe` gives the status of an answer, 0 where there is none. */
  constructor(private readonly probe: () => Promise<number>, private readonly firstWait = FIRST_WAIT_MS) {
    this.wait = firstWait;
  }

  /** Asks now; those who ask at the same time share the answer. */
  check(): Promise<ServerState> {
    clearTimeout(this.timer);
    this.asking ??= this.ask().finally(() => (this.asking = null));
    return this.asking;
  }

  private async ask(): Promise<ServerState> {
    const status = await this.probe().catch(() => 0);
    const state = status === 0 ? "down" : status === 401 || status === 403 ? "refused" : "up";
    const before = this.state;
    this.state = state;
    if (state === "up") this.wait = this.firstWait;
    else {
      this.timer = setTimeout(() => void this.check(), this.wait);
      this.wait = Math.min(MOST_WAIT_MS, this.wait * 1.5);
    }
    if (state !== before) this.onChange(state);
    return state;
  }
}
