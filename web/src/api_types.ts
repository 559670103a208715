// The server's JSON. Keys are those of `pebble ... --json`.
import type { Whole } from "./exact";

export type GameName = "remat" | "reversible" | "tiered" | "timed";
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
  overhead: number | null; // null: several processors
  gap: number | null;
  span?: Whole; // of the timed game
}

/** What a lane of the timed game does. */
export interface LaneUse {
  name: string;
  kind: "processor" | "link";
  busy: Whole;
  begin: Whole;
  end: Whole;
  moves: Whole;
  stalls?: Record<string, Whole>;
}

export interface Failure {
  step: number;
  node: number | null;
  name: string | null;
  need: Whole | null;
  over?: Whole | null;
}

export interface Row {
  index?: number; // its place in the comparison; a later row with the same index replaces it
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
  title?: string | null; // "baseline", "program-order", "partial", "reversible": its name in comparisons
  operations?: Whole | null;
  plan?: string | null;
  attempt?: string | null; // without a plan: the moves up to the one that exceeds the cap, which can be played
  plan_hash?: string | null; // equal for the same moves
  failed?: Failure | null;
  peaks?: Record<string, Whole>; // of the timed game, as the next two
  stalls?: Record<string, Whole>; // how long processors wait, by cause
  lanes?: LaneUse[];
}

export interface StrategyInfo {
  name: string;
  summary: string;
  games: GameName[];
  strength: string;
  traits: string[]; // when it is worth asking: pb_trait of the library
  takes_policy: boolean;
  options: { key: string; default: string; help: string }[];
}

export interface Parameter {
  key: string;
  default: string | number;
  help: string;
  kind: "integer" | "real" | "word" | "list";
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

/** What the page needs of a machine file; the server lists the built-in ones in this form. */
export interface MachineFacts {
  name: string;
  text?: string;
  time_unit: string;
  memories: { name: string; cap?: Whole | null; reserve?: Whole }[];
  links: { name: string; from: string; to: string; bandwidth?: Whole | null; latency?: Whole; per_unit?: Whole }[];
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
  beside?: string[]; // rows to play next to the winner
  prices: Prices | null;
}

export interface About {
  version: string;
  games: GameName[];
  strategies: StrategyInfo[];
  policies: { name: string; summary: string }[];
  machines: MachineFacts[];
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
  machine?: MachineFacts | null; // the default: of the graph file, or of pebble ui --machine
  node_cost_unit?: string; // of the graph file; cost_unit and needed_cost are those of the plans, which a machine may price
  games: GameInfo[];
}

export interface JobRequest {
  kind: "compare" | "plan" | "sweep" | "least";
  game: GameName | null;
  cap?: string;
  strategies: string[];
  policy: string | null;
  weights: WeightTexts;
  machine?: string | MachineFacts | null; // a name, or the content of a file
  prices: Prices | null;
  borrow?: string;
  time_ms: number;
  ticks?: number;
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
