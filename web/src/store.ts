// The user's choices, and the link that restores them. Nothing here comes from the server.
import type { About, GameName, GalleryItem, Prices, WeightTexts } from "./api";
import type { MachineChoice } from "./machine";
import { parseWeights } from "./exact";
import { readCap, readPrice } from "./sizes";

export type Source =
  | { kind: "gallery"; id: string }
  | { kind: "family"; family: string; parameters: Record<string, string> }
  | { kind: "file"; name: string; hash: string; reading?: string; data?: string }; // reading: of a model, as in docs/server.md; data: a small graph, packed

export interface Camera {
  x: number;
  y: number;
  scale: number;
}

export interface View {
  source: Source | null;
  game: GameName | null; // null: every game that applies
  cap: string; // as typed; the server reads it as the command does
  strategies: string[];
  all: boolean; // compare every strategy, not only the chosen ones
  policy: string | null;
  machine: MachineChoice | null; // null: that of the graph file, if it has one
  prices: Prices | null;
  borrow: string | null; // memory in addition to the cap that holds other data
  weights: WeightTexts;
  timeMs: number; // the limit, if ticks does not limit the effort
  ticks: number | null; // effort for each strategy: equal on every machine
  shown: string | null; // asked/game of the shown row; null: the winner
  beside: string[]; // rows that play next to it, on one clock
  clock: "work" | "moves"; // that clock, and the x axis of memory over time
  place: number; // the memory of a machine that is shown over time
  memory: "total" | "groups" | "values"; // how memory over time is divided
  step: number | null; // null: the peak
  camera: Camera | null; // null: the whole graph
  node: number | null;
  theme: "system" | "light" | "dark";
  lanes: "auto" | "0" | "1";
  groups: "auto" | "closed" | "open"; // closed: each group is one node; auto: where nodes could not be told apart
  open: number[]; // groups that are open while the others are closed
}

export const GAME_NAMES: readonly GameName[] = ["remat", "reversible", "tiered", "timed"];
export const WEIGHTS_DEFAULT: WeightTexts = ["0", "0", "1"];
export const TIME_DEFAULT = 2000;
export const TICKS_DEFAULT = 1_000_000;
export const BESIDE_MOST = 2;
/** What plays the timed game when nothing else was chosen. */
export const STRATEGIES_TIMED: readonly string[] = ["overlap", "offload-all", "back-to-back", "auto"];
/** The rows that `pebble compare` shows first: baseline, program order, partial, the usual choices, reversible and the best. */
export const STRATEGIES_DEFAULT: readonly string[] = ["cache-all", "last-use", "partial", "chen", "dtr", "bennett", "auto"];

export function defaultView(): View {
  return {
    source: null,
    game: null,
    cap: "60%",
    strategies: [...STRATEGIES_DEFAULT],
    all: false,
    policy: null,
    machine: null,
    prices: null,
    borrow: null,
    weights: [...WEIGHTS_DEFAULT],
    timeMs: TIME_DEFAULT,
    ticks: TICKS_DEFAULT,
    shown: null,
    beside: [],
    clock: "work",
    place: 0,
    memory: "total",
    step: null,
    camera: null,
    node: null,
    theme: "system",
    lanes: "auto",
    groups: "auto",
    open: [],
  };
}

/** The view that a gallery example proposes. Theme and planning time do not change. */
export function galleryView(item: GalleryItem, before: View): View {
  return {
    ...defaultView(),
    theme: before.theme,
    timeMs: before.timeMs,
    ticks: before.ticks,
    source: { kind: "gallery", id: item.id },
    game: item.game,
    cap: item.cap,
    strategies: quickFirst(item.strategies),
    beside: (item.beside ?? []).slice(0, BESIDE_MOST),
    prices: item.prices,
  };
}

const CLOSED_NODES = 2000;
const CLOSED_NODES_SMALL = 150; // for pictures that are a third as large

/** Whether groups are drawn as single nodes. */
export function closesGroups(view: Pick<View, "groups" | "beside">, graph: { nodes: number; has_groups: boolean }, narrow: boolean): boolean {
  if (!graph.has_groups || view.groups !== "auto") return graph.has_groups && view.groups === "closed";
  return graph.nodes > (narrow || view.beside.length ? CLOSED_NODES_SMALL : CLOSED_NODES);
}

/** `auto` takes the remaining time, so it comes last. The order breaks ties between equal plans. */
export function quickFirst(strategies: readonly string[]): string[] {
  const slow = (name: string): boolean => name === "auto" || name.startsWith("auto:");
  return [...strategies.filter((name) => !slow(name)), ...strategies.filter(slow)];
}

/** What the comparison plans: the chosen strategies, or every one that plays this game and needs no file. */
export function askedStrategies(about: Pick<About, "strategies" | "games"> | null, view: Pick<View, "strategies" | "all" | "game">): string[] {
  if (!view.all || !about) return view.strategies;
  const games = view.game ? [view.game] : about.games;
  const others = about.strategies.filter(
    (one) =>
      !view.strategies.includes(one.name) && !one.traits.includes("file") && one.games.some((game) => games.includes(game)) &&
      (one.strength !== "portfolio" || !one.traits.length), // partial and checkpoint choose among the others
  );
  return quickFirst([...view.strategies, ...others.map((one) => one.name)]);
}

const PRICE_KEYS = ["store_cost", "load_cost", "store_per_unit", "load_per_unit"] as const;

/** The fragment of a link, readable: #g=gallery:unet&cap=40%&game=remat&... Defaults are left out. */
export function toFragment(view: View): string {
  const plain = defaultView();
  const parts: [string, string][] = [];
  const source = view.source;
  if (source?.kind === "gallery") parts.push(["example", source.id]);
  if (source?.kind === "family") {
    parts.push(["family", source.family]);
    for (const [key, value] of Object.entries(source.parameters)) parts.push([`p.${key}`, value]);
  }
  if (source?.kind === "file") parts.push(["file", source.name], ["hash", source.hash]);
  if (source?.kind === "file" && source.reading) parts.push(["read", source.reading]);
  parts.push(["cap", view.cap]);
  if (view.game) parts.push(["game", view.game]);
  parts.push(["strategies", view.strategies.join(";")]);
  if (view.all) parts.push(["all", "1"]);
  if (view.policy) parts.push(["policy", view.policy]);
  if (view.machine && !view.machine.document) parts.push(["machine", view.machine.name]); // a link does not contain a file
  if (view.prices) {
    const prices = view.prices;
    parts.push(["prices", [...PRICE_KEYS.map((key) => String(prices[key])), prices.slow_cap].join(",")]);
  }
  if (view.borrow) parts.push(["borrow", view.borrow]);
  if (view.weights.join() !== plain.weights.join()) parts.push(["weights", view.weights.join(",")]);
  if (view.ticks === null) parts.push(["time", String(view.timeMs)]);
  else if (view.ticks !== plain.ticks) parts.push(["ticks", String(view.ticks)]);
  if (view.shown) parts.push(["show", view.shown]);
  if (view.beside.length) parts.push(["beside", view.beside.join(";")]);
  if (view.memory !== plain.memory) parts.push(["memory", view.memory]);
  if (view.place) parts.push(["place", String(view.place)]);
  if (view.clock !== plain.clock) parts.push(["clock", view.clock]);
  if (view.step !== null) parts.push(["step", String(view.step)]);
  if (view.node !== null) parts.push(["node", String(view.node)]);
  if (view.camera) {
    const { x, y, scale } = view.camera;
    parts.push(["camera", [x, y, scale].map((value) => Number(value.toPrecision(6))).join(",")]);
  }
  if (view.theme !== "system") parts.push(["theme", view.theme]);
  if (view.lanes !== "auto") parts.push(["lanes", view.lanes]);
  if (view.groups !== plain.groups) parts.push(["groups", view.groups]);
  if (view.open.length) parts.push(["open", view.open.join(".")]);
  if (source?.kind === "file" && source.data) parts.push(["graph", source.data]);
  return "#" + parts.map(([key, value]) => `${encode(key)}=${encode(value)}`).join("&");
}

/** What Back undoes: choices, but not the playhead, the camera and how memory is drawn. A cap that the page proposes is not a choice. */
export function choiceKey(view: View, autoCap: boolean): string {
  const { source } = view;
  const named: Source | null = source?.kind === "file" ? { ...source, data: undefined } : source;
  const plain = defaultView();
  const { theme, memory, clock, place, lanes } = plain;
  return toFragment({ ...view, source: named, cap: autoCap ? "" : view.cap, step: null, camera: null, node: null, theme, memory, clock, place, lanes });
}

/** Does not escape what a fragment may contain, so that links remain readable. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(/%2C/g, ",").replace(/%3B/g, ";").replace(/%2F/g, "/").replace(/%3A/g, ":");
}

function count(text: string | null): number | null {
  return text !== null && /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function readSource(fields: URLSearchParams): Source | null {
  const example = fields.get("example");
  if (example) return { kind: "gallery", id: example };
  const family = fields.get("family");
  if (family) {
    const parameters: Record<string, string> = {};
    for (const [key, value] of fields) if (key.startsWith("p.")) parameters[key.slice(2)] = value;
    return { kind: "family", family, parameters };
  }
  const file = fields.get("file");
  if (!file) return null;
  const data = fields.get("graph");
  const reading = fields.get("read");
  return { kind: "file", name: file, hash: fields.get("hash") ?? "", ...(reading ? { reading } : {}), ...(data && /^[\w-]+$/.test(data) ? { data } : {}) };
}

function readPrices(text: string | null): Prices | null {
  const parts = text?.split(",") ?? [];
  const read = parts.slice(0, 4).flatMap((part) => {
    const one = readPrice(part);
    return one.ok ? [one.value] : [];
  });
  if (parts.length !== 5 || read.length !== 4 || !isCap(parts[4])) return null;
  return { store_cost: read[0], load_cost: read[1], store_per_unit: read[2], load_per_unit: read[3], slow_cap: parts[4] };
}

/** Built-in machines have a slow memory. The server knows the names. */
function readMachineName(text: string | null): MachineChoice | null {
  return text && /^[\w.*-]+$/.test(text) ? { name: text, slow: text !== "none" } : null;
}

/** Can it be a cap of some graph? A share is accepted without knowing the graph. */
function isCap(text: string): boolean {
  return readCap(text, 1, "byte").ok;
}

function readCamera(text: string | null): Camera | null {
  const parts = text?.split(",").map(Number) ?? [];
  if (parts.length !== 3 || !parts.every(Number.isFinite) || parts[2] <= 0) return null;
  return { x: parts[0], y: parts[1], scale: parts[2] };
}

function oneOf<T extends string>(text: string | null, words: readonly T[], otherwise: T): T {
  return words.find((word) => word === text) ?? otherwise;
}

/** A link with only an example: the view that the example proposes is used. */
export function isBare(fragment: string): boolean {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  return fields.has("example") && !fields.has("cap");
}

/** Reads a link. Missing or invalid parts have their defaults; null if it names no graph. */
export function fromFragment(fragment: string): View | null {
  const fields = new URLSearchParams(fragment.replace(/^#/, "").replace(/\+/g, "%2B"));
  const source = readSource(fields);
  if (!source) return null;
  const view = defaultView();
  const weights = fields.get("weights")?.split(",") ?? [];
  const readable = weights.length === 3 && parseWeights([weights[0], weights[1], weights[2]]) !== null;
  const cap = fields.get("cap");
  const game = fields.get("game");
  const borrow = fields.get("borrow");
  const time = count(fields.get("time"));
  const ticks = count(fields.get("ticks"));
  return {
    source,
    game: game === null ? null : (GAME_NAMES.find((name) => name === game) ?? null),
    cap: cap !== null && isCap(cap) ? cap : "", // the page proposes one
    strategies: fields.get("strategies")?.split(";").filter(Boolean) ?? view.strategies,
    all: fields.get("all") === "1",
    policy: fields.get("policy"),
    machine: readMachineName(fields.get("machine")),
    prices: readPrices(fields.get("prices")),
    borrow: borrow !== null && isCap(borrow) && borrow !== "none" ? borrow : null,
    weights: readable ? [weights[0], weights[1], weights[2]] : view.weights,
    timeMs: time && time <= 3_600_000 ? time : view.timeMs,
    ticks: time && time <= 3_600_000 ? null : ticks || view.ticks,
    shown: fields.get("show"),
    beside: fields.get("beside")?.split(";").filter(Boolean).slice(0, BESIDE_MOST) ?? [],
    memory: oneOf(fields.get("memory"), ["total", "groups", "values"], "total"),
    place: count(fields.get("place")) ?? 0,
    clock: oneOf(fields.get("clock"), ["work", "moves"], "work"),
    step: count(fields.get("step")),
    camera: readCamera(fields.get("camera")),
    node: count(fields.get("node")),
    theme: oneOf(fields.get("theme"), ["system", "light", "dark"], "system"),
    lanes: oneOf(fields.get("lanes"), ["auto", "0", "1"], "auto"),
    groups: oneOf(fields.get("groups"), ["auto", "closed", "open"], "auto"),
    open: [...new Set((fields.get("open") ?? "").split(".").flatMap((text) => count(text || null) ?? []))],
  };
}
