// The two jobs that the page keeps running: the comparison at this cap, and in the background a sweep over caps.
// A changed setting drops the current job and starts another; rows of the old one are shown dimmed until they are replaced.
import type { About, Api, GameName, JobHandle, JobRequest, Row } from "./api";
import { ApiError } from "./api";
import { debounce } from "./dom";
import { BUSY, idlePlanning, type Model, type PlanningState } from "./model";
import { capRange } from "./panels/cap_slider";
import { minCap, learnBound, learnRow, learnSweep } from "./proved";
import { readCap } from "./sizes";
import { askedStrategies, quickFirst } from "./store";
import { rowKey } from "./words";

const SWEEP_MAX_NODES = 20_000; // larger graphs are not swept automatically
const SWEEP_TIME_MS = 4000;
const SWEEP_POINTS = 14;
const SWEEP_MOST = 12;
const TICKS_TIME_MS = 60_000; // a last resort: the ticks end planning long before
const SWEEP_WAIT_MS = 600; // without changes: dragging the cap starts a new comparison at once

/** Whether a strategy, with or without settings, supports a game. */
export function plays(about: Pick<About, "strategies">, text: string, game: GameName): boolean {
  return !!about.strategies.find((one) => one.name === text.split(":")[0])?.games.includes(game);
}

/** The shown state after the server reported the state of its job. A pending stop request takes precedence. */
export function nextState(now: PlanningState, reported: string): PlanningState {
  if (reported === "stopping" || now === "stopping") return BUSY.includes(now) ? "stopping" : now;
  if (reported === "queued") return now === "starting" ? "queued" : now;
  return reported === "running" && (now === "starting" || now === "queued") ? "running" : now;
}

/** The shown strategies, for the marks, then others, to find out what else fits. auto is last, because it takes the remaining
 * time. */
export function sweptStrategies(about: Pick<About, "strategies">, shown: readonly string[], fits: (name: string) => boolean): string[] {
  const own = shown.filter(fits);
  const usual = about.strategies.filter((one) => one.traits.includes("usual") && one.strength !== "baseline").map((one) => one.name);
  const others = usual.filter((name) => fits(name) && !own.includes(name));
  return quickFirst([...own, ...others.slice(0, Math.max(0, SWEEP_MOST - own.length))]);
}

/** At most one live job. `take` drops the previous one, also if the server has not answered its start yet. */
export class Slot {
  private handle: JobHandle | null = null;
  private turn = 0;
  private stopping = false; // also before there is a handle

  drop(): void {
    this.turn += 1;
    this.handle?.drop();
    this.handle = null;
    this.stopping = false;
  }

  begin(): number {
    this.drop();
    return this.turn;
  }

  holds(turn: number): boolean {
    return turn === this.turn;
  }

  async accept(turn: number, handle: JobHandle): Promise<void> {
    if (!this.holds(turn)) return handle.drop();
    this.handle = handle;
    if (this.stopping) await handle.stop();
  }

  finish(turn: number): void {
    if (this.holds(turn)) this.handle = null;
  }

  async stop(): Promise<void> {
    this.stopping = true;
    await this.handle?.stop();
  }
}

export class Planner {
  private readonly compareSlot = new Slot();
  private readonly sweepSlot = new Slot();
  private sweepKey = "";
  private readonly sweepLater = debounce(SWEEP_WAIT_MS, () => this.sweepNow());

  constructor(
    private readonly api: Api,
    private readonly model: Model,
    private readonly changed: () => void,
    private readonly rowsChanged: (done: boolean) => void,
    private readonly failed: (text: string) => void,
  ) {}

  private request(kind: "compare" | "sweep", strategies: string[]): JobRequest {
    const { view, graph } = this.model;
    const machine = view.machine?.document ?? view.machine?.name ?? null;
    const priced = machine ? machine !== "none" : !!graph?.machine; // its links are the slow memory
    return {
      kind, game: view.game, cap: view.cap, strategies, policy: view.policy, weights: view.weights, machine,
      prices: !priced && (view.game === "tiered" || view.game === null) ? view.prices : null,
      ...(view.borrow && view.game !== "timed" ? { borrow: view.borrow } : {}), ...(view.ticks === null ? { time_ms: view.timeMs } : { time_ms: TICKS_TIME_MS, ticks: view.ticks }),
    };
  }

  /** Compares the chosen strategies at this cap. */
  compare(): void {
    const model = this.model;
    const graph = model.graph;
    const turn = this.compareSlot.begin();
    this.dropSweep();
    model.planning = idlePlanning();
    model.planWeights = [...model.view.weights];
    for (const entry of model.entries) entry.stale = true;
    if (!graph || !askedStrategies(model.about, model.view).length) {
      model.entries = [];
      this.rowsChanged(true);
      return this.changed();
    }
    model.planning.state = "starting";
    this.changed();
    void this.run(turn, graph.id);
  }

  private async run(turn: number, graph: string): Promise<void> {
    const model = this.model;
    const live = (act: () => void) => (): void => {
      if (!this.compareSlot.holds(turn)) return;
      act();
      this.changed();
    };
    try {
      const handle = await this.api.startJob(graph, this.request("compare", askedStrategies(model.about, model.view)), {
        onCosts: (costs) => live(() => {
          if (model.graph) model.graph = { ...model.graph, ...costs };
        })(),
        onState: (state) => live(() => { model.planning.state = nextState(model.planning.state, state); })(),
        onProgress: (progress) => live(() => { model.planning.progress = progress; })(),
        onBound: (bound) => live(() => {
          model.planning.bounds = [...model.planning.bounds.filter((one) => one.game !== bound.game), bound];
          learnBound(model.proved, bound);
        })(),
        onIncumbent: (incumbent) => live(() => { model.planning.incumbent = incumbent; })(),
        onRow: (row) => live(() => this.addRow(row))(),
        onDone: (done) => live(() => {
          this.compareSlot.finish(turn);
          model.planning.state = done.state;
          model.planning.error = done.error?.message ?? null;
          if (done.state === "failed") this.failed(model.planning.error ?? "Planning failed.");
          if (done.state !== "failed") model.entries = model.entries.filter((entry) => !entry.stale);
          this.rowsChanged(true);
          this.sweepLater();
        })(),
      });
      await this.compareSlot.accept(turn, handle);
    } catch (reason) {
      if (!this.compareSlot.holds(turn)) return;
      if (model.server !== "up") return this.lost();
      model.planning.state = "failed";
      model.planning.error = reason instanceof ApiError ? reason.message : String(reason);
      this.failed(model.planning.error);
      this.changed();
    }
  }

  /** Fresh rows come first, in the server's order, which also breaks ties. */
  private addRow(row: Row): void {
    const model = this.model;
    const cap = model.graph ? readCap(model.view.cap, model.graph.written_peak, model.graph.size_unit) : null;
    learnRow(model.proved, row, cap?.ok ? cap.value : null);
    const key = rowKey(row);
    const same = (other: Row): boolean => (row.index !== undefined && other.index !== undefined ? other.index === row.index : rowKey(other) === key);
    const fresh = model.entries.filter((entry) => !entry.stale && !same(entry.row));
    fresh.push({ row, stale: false });
    fresh.sort((a, b) => (a.row.index ?? 0) - (b.row.index ?? 0));
    const rest = model.entries.filter((entry) => entry.stale && rowKey(entry.row) !== key);
    model.entries = [...fresh, ...rest];
    this.rowsChanged(false);
  }

  async stop(): Promise<void> {
    if (!BUSY.includes(this.model.planning.state) || this.model.planning.state === "stopping") return;
    this.model.planning.state = "stopping";
    this.changed();
    await this.compareSlot.stop();
  }

  /** The server is gone, and its jobs with it. The page keeps what it shows. */
  lost(): void {
    const { planning } = this.model;
    if (BUSY.includes(planning.state)) planning.state = "lost";
    this.compareSlot.drop();
    this.dropSweep();
    this.changed();
  }

  drop(): void {
    this.compareSlot.drop();
    this.dropSweep();
    this.sweepKey = "";
  }

  private dropSweep(): void {
    this.sweepLater.cancel();
    this.sweepSlot.drop();
    this.model.sweeping = false;
  }

  /** After a comparison, while the machine is idle: once for each graph, game and choice of strategies. */
  private sweepNow(): void {
    const { graph, view, about } = this.model;
    if (!graph || !about || graph.nodes > SWEEP_MAX_NODES || BUSY.includes(this.model.planning.state)) return;
    const game = view.game ?? "remat";
    const strategies = sweptStrategies(about, view.strategies, (name) => plays(about, name, game));
    const key = JSON.stringify([graph.id, view.game, strategies, view.policy, view.prices, view.borrow, view.machine]);
    if (key === this.sweepKey || !strategies.length) return;
    void this.sweep(graph.id, strategies, key);
  }

  /** Whole numbers over the range of the slider, from what is proved to be needed. */
  private sweepCaps(): string[] {
    const { graph, view, proved } = this.model;
    if (!graph) return [];
    const max = capRange(graph, view.game);
    const min = Math.min(max, Math.max(1, Number(minCap(graph, view, proved))));
    const caps = Array.from({ length: SWEEP_POINTS }, (_, i) => Math.round(max - ((max - min) * i) / (SWEEP_POINTS - 1)));
    return [...new Set([...caps, Number(graph.written_peak)])].sort((a, b) => b - a).map(String);
  }

  private async sweep(graph: string, strategies: string[], key: string): Promise<void> {
    const model = this.model;
    const turn = this.sweepSlot.begin();
    model.sweeping = true;
    const request: JobRequest = {
      ...this.request("sweep", strategies), game: model.view.game ?? "remat", time_ms: SWEEP_TIME_MS, ticks: 0, caps: this.sweepCaps(),
    };
    delete request.cap;
    const end = (): void => {
      if (!this.sweepSlot.holds(turn)) return;
      this.sweepSlot.finish(turn);
      model.sweeping = false;
      this.changed();
    };
    try {
      const handle = await this.api.startJob(graph, request, {
        onSweep: (document) => {
          if (!this.sweepSlot.holds(turn) || !document.sweeps[0]) return;
          model.sweep = document.sweeps[0];
          learnSweep(model.proved, model.sweep);
          this.changed();
        },
        onDone: (done) => {
          if (this.sweepSlot.holds(turn) && done.state === "done") this.sweepKey = key;
          end();
        },
      });
      await this.sweepSlot.accept(turn, handle);
    } catch {
      end(); // marks are optional
    }
  }
}
