// The page's texts: what each term means, and which row wins and why.
import type { GameName, GraphInfo, Row, WeightTexts } from "./api";
import { costText, parseWeights, whole, winnerOf, ratio, type Weights } from "./exact";
import { amount, group, isTime, percent } from "./format";
import { provedIn, type Proved } from "./proved";

export const TERMS = {
  cap: "The memory limit. No plan may use more than this at any time.",
  infeasible: "Proved: no plan fits under this cap.",
  flips: "At this cap another strategy becomes the cheapest.",
  game: "The rules. remat: values may be freed and recomputed. reversible: values may only be uncomputed, never erased. tiered: values may also move to a slow memory. timed: the lanes of a machine compute and copy at the same time.",
  machine: "Where the graph runs. It turns flops and bytes into times; its memory can be the cap, and its links lead to slow memories.",
  strategies: "The planners to compare. auto tries the others and keeps the best.",
  all: "Compares every strategy that plays this game, not only the chosen ones.",
  borrow: "Memory in addition to the cap that holds somebody else's data, such as 20% or 2GiB. Values may be computed there if the plan restores the data.",
  policy: "Which value is evicted first where a strategy's plan does not fit the cap. Without a policy such a strategy gives up.",
  alpha: "α: what one unit of peak memory costs. Raise it if memory is scarce. Units may be typed, as in 0.5s/GiB.",
  beta: "β: what one unit of memory costs while one unit of work is done. Raise it if energy or bandwidth matters. A unit of size may be typed, as in 0.01/GiB.",
  gamma: "γ: what one unit of extra work (recomputing, uncomputing, transfers) costs. Raise it if computing is slow.",
  time: "How much each strategy may search. Quick, normal and thorough count steps of the search (ticks), so everyone gets the same plans; with a time limit they depend on the machine. The best plan so far is shown while planning runs.",
  outcome: "optimal: proved to have the lowest cost. found: a verified plan. no plan: it does not fit or does not apply. impossible: proved that no plan exists.",
  peak: "The largest memory in use at any time.",
  work: "The cost of all computations, recomputations included.",
  recompute: "The cost of computing values again after they were freed.",
  uncompute: "The cost of removing values by reversing their computation.",
  io: "The cost of moving values to slow memory and back.",
  flux: "Memory in use, summed over time.",
  ratio: "The peak as a multiple of the peak in program order, which frees each value after its last use.",
  extra: "What the plan spends in addition, as a share of computing each value once.",
  total: "Everything that the plan spends: computing, recomputing, uncomputing and transfers.",
  operations: "Computations, uncomputations and transfers in the plan. Freeing is not counted.",
  cost: "α·peak + β·flux + γ·(recompute + uncompute + transfers). In the timed game, where these overlap, α·peak + β·flux + γ·makespan. The lowest cost wins.",
  gap: "How far the work is above the proved lower bound. 0 % is optimal.",
  incumbent: "The best plan found so far, as extra work over computing each value once.",
  bound: "Lower bound: proved that every plan needs at least this much extra work.",
  front: "Plans that no other plan beats in both memory and work.",
  knee: "The point on the front where less memory starts to cost much more work.",
} as const;

export const STATE_NAMES: { key: string; name: string; text: string }[] = [
  { key: "never", name: "not yet", text: "Not computed yet." },
  { key: "resident", name: "in memory", text: "Its value is in fast memory now." },
  { key: "computing", name: "computing", text: "It is being computed for the first time." },
  { key: "recomputing", name: "recomputing", text: "It is being computed again, because its value was freed." },
  { key: "evicted", name: "freed", text: "It was computed, and its value has been freed." },
  { key: "uncomputing", name: "uncomputing", text: "Its value is being removed by reversing its computation." },
  { key: "slow", name: "slow memory", text: "Its value is in slow memory only." },
  { key: "storing", name: "storing", text: "It is being copied to slow memory." },
  { key: "loading", name: "loading", text: "It is being copied from slow memory." },
];

/** The states that occur in a game. */
export function shownStates(game: GameName | null): typeof STATE_NAMES {
  const skip = new Set<string>();
  if (game !== "reversible") skip.add("uncomputing");
  if (game !== "tiered" && game !== "timed") for (const key of ["slow", "loading", "storing"]) skip.add(key);
  return STATE_NAMES.filter((state) => !skip.has(state.key));
}

export function rowKey(row: Row): string {
  return `${row.asked ?? row.strategy}/${row.game}`;
}

/** What plays for a row: its plan, or its moves up to the one that does not fit. */
export function playable(row: Row): string | null {
  return row.plan ?? row.attempt ?? null;
}

/** "program order" for last-use: what a strategy is called in comparisons; null if it has no name but its own. */
export function rowTitle(row: Row): string | null {
  return row.title?.replaceAll("-", " ") ?? null;
}

/** Its title; with settings, or without a title, the strategy as it was requested. For auto also the strategy that it chose. */
export function shortName(row: Row): string {
  const asked = row.asked ?? row.strategy;
  if (asked.split(":")[0] === "auto" && row.strategy !== "auto") return `auto → ${row.strategy}`;
  return asked.includes(":") ? asked : (rowTitle(row) ?? asked);
}

/** The displayed name of a row; for auto and partial, with the strategy that it chose. */
export function rowName(row: Row): string {
  const asked = row.asked ?? row.strategy;
  const name = shortName(row);
  return name === asked && name === rowTitle(row) && row.strategy !== asked ? `${name} → ${row.strategy}` : name;
}

function isBaseline(row: Row): boolean {
  return row.strategy === "last-use" || row.strategy === "cache-all";
}

/** Why a row has no plan, without the words that its outcome mark repeats. */
export function failureText(row: Row): string {
  const reason = row.reason ?? "no plan";
  return reason.replace(/^does not fit: /, "").replace(/(\d),(?=\d{3}\b)/g, "$1\u202f"); // digits grouped as elsewhere on the page
}

/** The same in short, with the row's name, for a sentence about other rows. */
function briefFailure(row: Row): string {
  const text = failureText(row);
  const found = /^move ([\d\u202f]+) .*, (.+ over the cap)( of .+)?$/.exec(text);
  return found ? `${rowName(row)} fails at move ${group(found[1])}, ${found[2]}.` : `${rowName(row)} fails: ${text}.`;
}

function memoryPart(row: Row, graph: GraphInfo): string {
  const m = row.metrics;
  if (!m) return "";
  const written = whole(graph.written_peak);
  if (row.strategy === "last-use" && whole(m.peak) === written) return `needs ${amount(m.peak, graph.size_unit)}`;
  const share = ratio(whole(m.peak), written);
  if (whole(m.peak) === written) return "uses as much memory as program order";
  return share < 1
    ? `fits in ${percent(share)} of the memory of program order`
    : `needs ${share >= 2 ? `${share.toFixed(1)} times` : percent(share)} the memory of program order`;
}

/** What plans take more of: time if the costs are times. */
export function effort(graph: Pick<GraphInfo, "cost_unit"> | null): "time" | "work" {
  return graph && isTime(graph.cost_unit) ? "time" : "work";
}

function workPart(row: Row, graph: GraphInfo): string {
  const m = row.metrics;
  if (!m) return "";
  if (m.overhead === null) return `in ${amount(m.makespan, graph.cost_unit)}`;
  return m.overhead > 0 ? `for ${percent(m.overhead)} more ${effort(graph)}` : `with no extra ${effort(graph)}`;
}

function proofPart(row: Row, live: boolean, graph: GraphInfo): string {
  if (row.outcome === "optimal" && live) return "Proved: no plan costs less.";
  if (row.gap === 0) return `Proved: no plan needs less ${effort(graph)}.`;
  if (row.gap !== null && row.gap > 0) return `Its ${effort(graph)} is at most ${percent(row.gap)} above the minimum.`;
  return "";
}

function rivalPart(rows: readonly Row[], winner: Row, w: Weights, graph: GraphInfo): string {
  const failed = rows.find((row) => isBaseline(row) && !row.metrics && row.game === winner.game);
  if (failed) return briefFailure(failed);
  const others = rows.filter((row) => row !== winner && row.metrics);
  const next = winnerOf(others, w);
  if (next < 0) return "";
  const rival = others[next];
  if (!rival.metrics || !winner.metrics) return "";
  const mine = costText(winner.metrics, w);
  const theirs = costText(rival.metrics, w);
  return mine === theirs ? `${rowName(rival)} costs the same.` : `Second: ${rowName(rival)}, with a cost of ${amount(theirs, graph.cost_unit)}.`;
}

export interface Verdict {
  title: string;
  text: string;
}

/** Which row wins and why, as text; null if there is nothing to compare. */
export function verdict(rows: readonly Row[], graph: GraphInfo, weights: WeightTexts, live: boolean, proved: Proved = {}): Verdict | null {
  const w = parseWeights(weights);
  if (!w || rows.length === 0) return null;
  const index = winnerOf(rows, w);
  if (index < 0) return noWinner(rows, graph, proved);
  const row = rows[index];
  const parts = [
    `It ${memoryPart(row, graph)}, ${workPart(row, graph)}.`,
    proofPart(row, live, graph),
    rivalPart(rows, row, w, graph),
  ];
  return { title: `${rowName(row)} wins`, text: parts.filter(Boolean).join(" ") };
}

/** What to do if no row has a plan. A proof of infeasibility in one row holds for all rows of its game. */
function noWinner(rows: readonly Row[], graph: GraphInfo, proved: Proved): Verdict {
  const games = [...new Set(rows.map((row) => row.game))];
  const proof = (game: GameName): Row | undefined => rows.find((row) => row.game === game && row.outcome === "infeasible");
  const closed = games.filter((game) => proof(game));
  const needs = (game: GameName): string => amount(provedIn(graph, game, proved).toString(), graph.size_unit, "up");
  const low = (list: GameName[]): GameName => list.reduce((a, b) => (provedIn(graph, b, proved) < provedIn(graph, a, proved) ? b : a));
  const each = closed.map((game, i) => `${game}${i ? "" : " needs"} at least ${needs(game)}`).join(", ");
  if (closed.length === games.length) {
    const smallest = low(games);
    const why = games.length > 1 ? each : failureText(proof(smallest) as Row);
    return { title: "No plan fits", text: `This is proved: ${why}. Raise the cap to ${needs(smallest)} or more.` };
  }
  const open = rows.filter((row) => !closed.includes(row.game));
  const timed = open.find((row) => /time limit|ticks|stopped/.test(row.reason ?? ""));
  const row = timed ?? open[0];
  const also = closed.length ? ` Proved: ${each}.` : "";
  return { title: "No plan found", text: `${rowName(row)}: ${failureText(row)}.${also} Raise the cap${timed ? ", add strategies or plan longer" : " or add strategies"}.` };
}

export function capText(value: number, graph: GraphInfo): string {
  if (!Number.isFinite(value)) return "no cap";
  return amount(value, graph.size_unit);
}
