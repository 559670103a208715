// Everything that the panels show, and the actions that they may request. Only the controller writes it.
import type {
  About, ApiErrorBody, Bound, GameName, GraphInfo, Incumbent, NodeExplain, NodeInfo, Prices, Progress, Row, Sweep, WeightTexts,
} from "./api";
import type { Frames, Layout } from "./binary";
import type { GraphDocument } from "./edit";
import { parseWeights, winnerOf, type Weights } from "./exact";
import type { MachineChoice } from "./machine";
import type { Player } from "./player";
import type { Picture } from "./scene/picture";
import type { BesideRow } from "./beside";
import type { Proved } from "./proved";
import type { ServerState } from "./server_watch";
import type { Source, View } from "./store";

export type PlanningState = "idle" | "starting" | "queued" | "running" | "stopping" | "done" | "stopped" | "failed" | "lost"; // queued: other jobs run first; lost: the server stopped
export const BUSY: readonly PlanningState[] = ["starting", "queued", "running", "stopping"];

export interface Planning {
  state: PlanningState;
  progress: Progress | null;
  incumbent: Incumbent | null;
  bounds: Bound[]; // one for each game
  error: string | null;
}

export interface Entry {
  row: Row;
  stale: boolean; // of an earlier cap: shown dimmed until it is replaced
}

export interface Following {
  index: number;
  info: NodeInfo | null;
  explain: NodeExplain | null;
  error: string | null;
}

export interface Model {
  server: ServerState;
  about: About | null;
  opened: GraphInfo[]; // those named on the command line
  view: View;
  phase: "starting" | "opening" | "ready" | "failed";
  opening: string; // name of the graph that is being opened
  problem: { title: string; body: ApiErrorBody } | null;
  graph: GraphInfo | null;
  layout: Layout | null;
  picture: Picture | null; // of the layout: with closed groups, or as it is
  planning: Planning;
  entries: Entry[];
  planWeights: WeightTexts; // the weights that the rows were planned for
  shown: Row | null;
  frames: Frames | null;
  player: Player | null;
  beside: BesideRow[]; // rows that play next to it
  proved: Proved; // of this graph, at any cap
  sweep: Sweep | null;
  sweeping: boolean;
  following: Following | null;
}

export interface Actions {
  open(source: Source, view?: View): void;
  openFile(file: File, reading?: string): void;
  setCap(text: string): void;
  setGame(game: GameName | null): void;
  setStrategies(strategies: string[]): void;
  setAll(all: boolean): void;
  setPolicy(policy: string | null): void;
  setPrices(prices: Prices | null): void;
  setBorrow(borrow: string | null): void;
  setMachine(machine: MachineChoice | null): void;
  setWeights(weights: WeightTexts): void;
  setEffort(effort: { timeMs: number } | { ticks: number }): void;
  planAgain(): void;
  retry(): void; // check whether the server is back
  stop(): void;
  show(key: string | null): void;
  toggleBeside(key: string): void;
  setClock(clock: View["clock"]): void;
  setMemory(memory: View["memory"]): void;
  setPlace(place: number): void;
  seek(step: number): void;
  edit(change: (graph: GraphDocument) => string | null): Promise<void>;
  follow(node: number | null, focus?: boolean): void;
  dismissProblem(): void;
  setLayout(change: Partial<Pick<View, "lanes" | "groups" | "open">>): void;
  openGroup(group: number, open: boolean): void;
}

export interface Panel {
  readonly element: HTMLElement;
  update(model: Model): void;
}

export function idlePlanning(): Planning {
  return { state: "idle", progress: null, incumbent: null, bounds: [], error: null };
}

export function isPlanning(model: Model): boolean {
  return BUSY.includes(model.planning.state);
}

export interface Ranking {
  weights: Weights | null;
  fresh: Row[];
  winner: Row | null;
}

/** The rows of this cap and the winner under the current weights. */
export function rank(model: Model): Ranking {
  const weights = parseWeights(model.view.weights);
  const fresh = model.entries.filter((entry) => !entry.stale).map((entry) => entry.row);
  const index = weights ? winnerOf(fresh, weights) : -1;
  return { weights, fresh, winner: index < 0 ? null : fresh[index] };
}
