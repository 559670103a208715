// Plain sentences: what each term means, and who wins and why.
import type { GameName, GraphInfo, Row, WeightTexts } from "./api";
import { costText, parseWeights, whole, winnerOf, ratio, type Weights } from "./exact";
import { amount, group, percent, short } from "./format";
import { provedIn, type Proved } from "./proved";

export const TERMS = {
  cap: "The memory limit. No plan may hold more than this at any moment.",
  infeasible: "No plan of any kind fits here: that is proved, not only not found.",
  flips: "At this cap another strategy becomes the cheapest.",
  game: "The rules. remat: compute again what was freed. reversible: values may only be uncomputed, never erased. tiered: values may also move to a slow memory.",
  strategies: "The planners to compare. auto tries the others and keeps the best.",
  policy: "What goes first when memory is full, for planners that evict as they go (demand).",
  alpha: "α: what one unit of peak memory costs. Raise it where memory is the scarce thing.",
  beta: "β: what holding one unit of memory for one unit of work costs. Raise it for energy or bandwidth.",
  gamma: "γ: what one unit of repeated work (recomputing, uncomputing, moving) costs. Raise it where computing is slow.",
  time: "How long to plan. The best plan so far is shown meanwhile.",
  outcome: "optimal: proved to cost the least. found: a verified plan. no plan: it does not fit or does not apply. impossible: proved that none exists.",
  peak: "The most memory that the plan holds at any moment.",
  work: "Everything that is computed, repeated work included.",
  recompute: "Work that is done again because a value had been given up.",
  flux: "Memory held, summed over the time it is held.",
  moves: "Computations, removals and transfers in the plan.",
  cost: "α·peak + β·flux + γ·(recompute + uncompute + transfers). The least cost wins.",
  gap: "How far the work is above the least that is proved to be needed. 0 % cannot be beaten.",
  incumbent: "The best plan found so far, as extra work over computing each value once.",
  bound: "No plan can need less extra work than this: that is proved.",
  front: "Plans that nothing beats in both memory and work.",
  knee: "The point on the front where less memory starts to cost much more work.",
} as const;

export const STATE_NAMES: { key: string; name: string; text: string }[] = [
  { key: "never", name: "not yet", text: "Not computed so far." },
  { key: "resident", name: "in memory", text: "Its value is in fast memory now." },
  { key: "computing", name: "computing", text: "It is being computed for the first time." },
  { key: "recomputing", name: "recomputing", text: "It is being computed again, as its value had been given up." },
  { key: "evicted", name: "given up", text: "It was computed and its value is no longer held." },
  { key: "uncomputing", name: "uncomputing", text: "It is being removed by computing it backwards." },
  { key: "slow", name: "slow memory", text: "Its value is held in slow memory only." },
];

export function rowKey(row: Row): string {
  return `${row.asked ?? row.strategy}/${row.game}`;
}

/** The name that a row goes by: auto with what it chose. */
export function rowName(row: Row): string {
  const asked = (row.asked ?? row.strategy).split(":")[0];
  return asked === "auto" && row.strategy !== "auto" ? `auto → ${row.strategy}` : (row.asked ?? row.strategy);
}

function isBaseline(row: Row): boolean {
  return row.strategy === "last-use" || row.strategy === "cache-all";
}

/** Why a row has no plan, without what its mark says already. */
export function failureText(row: Row): string {
  const reason = row.reason ?? "no plan";
  return reason.replace(/^does not fit: /, "").replace(/(\d),(?=\d{3}\b)/g, "$1\u202f"); // digits grouped as everywhere on the page
}

/** The same in a few words, with the row's own figure, for a sentence about others. */
function briefFailure(row: Row): string {
  const text = failureText(row);
  const found = /^move ([\d\u202f]+) .*, (.+ over the cap)( of .+)?$/.exec(text);
  return found ? `${rowName(row)} fails at move ${group(found[1])}, ${found[2]}.` : `${rowName(row)} fails: ${text}.`;
}

function memoryPart(row: Row, graph: GraphInfo): string {
  const m = row.metrics;
  if (!m) return "";
  const written = whole(graph.written_peak);
  const share = ratio(whole(m.peak), written);
  if (whole(m.peak) === written) return "takes all the memory of the program as written";
  return share < 1
    ? `fits in ${percent(share)} of the memory that it takes as written`
    : `needs ${share >= 2 ? `${share.toFixed(1)} times` : percent(share)} the memory of the program as written`;
}

function workPart(row: Row): string {
  const m = row.metrics;
  if (!m) return "";
  return m.overhead > 0 ? `for ${percent(m.overhead)} more work` : "with no extra work";
}

function proofPart(row: Row, live: boolean): string {
  if (row.outcome === "optimal" && live) return "Proved: nothing can do better.";
  if (row.gap === 0) return "Proved: no plan can do with less work.";
  if (row.gap !== null && row.gap > 0) return `Its work is at most ${percent(row.gap)} above the least possible.`;
  return "";
}

function rivalPart(rows: readonly Row[], winner: Row, w: Weights): string {
  const failed = rows.find((row) => isBaseline(row) && !row.metrics && row.game === winner.game);
  if (failed) return briefFailure(failed);
  const others = rows.filter((row) => row !== winner && row.metrics);
  const next = winnerOf(others, w);
  if (next < 0) return "";
  const rival = others[next];
  if (!rival.metrics || !winner.metrics) return "";
  const mine = costText(winner.metrics, w);
  const theirs = costText(rival.metrics, w);
  return mine === theirs ? `${rowName(rival)} costs the same.` : `Next is ${rowName(rival)}, at a cost of ${short(theirs)}.`;
}

export interface Verdict {
  title: string;
  text: string;
}

/** Who wins and why, in words. */
export function verdict(rows: readonly Row[], graph: GraphInfo, weights: WeightTexts, live: boolean, proved: Proved = {}): Verdict | null {
  const w = parseWeights(weights);
  if (!w || rows.length === 0) return null;
  const index = winnerOf(rows, w);
  if (index < 0) return nobody(rows, graph, proved);
  const row = rows[index];
  const parts = [
    `It ${memoryPart(row, graph)}, ${workPart(row)}.`,
    proofPart(row, live),
    rivalPart(rows, row, w),
  ];
  return { title: `${rowName(row)} wins`, text: parts.filter(Boolean).join(" ") };
}

/** What to do where no row has a plan. One row that is proved impossible speaks for all rows of its game. */
function nobody(rows: readonly Row[], graph: GraphInfo, proved: Proved): Verdict {
  const games = [...new Set(rows.map((row) => row.game))];
  const proof = (game: GameName): Row | undefined => rows.find((row) => row.game === game && row.outcome === "infeasible");
  const closed = games.filter((game) => proof(game));
  const needs = (game: GameName): string => amount(provedIn(graph, game, proved).toString(), graph.size_unit, "up");
  const low = (list: GameName[]): GameName => list.reduce((a, b) => (provedIn(graph, b, proved) < provedIn(graph, a, proved) ? b : a));
  const each = closed.map((game, i) => `${game}${i ? "" : " needs"} at least ${needs(game)}`).join(", ");
  if (closed.length === games.length) {
    const least = low(games);
    const why = games.length > 1 ? each : failureText(proof(least) as Row);
    return { title: "No plan can fit", text: `This is proved: ${why}. Raise the cap to ${needs(least)} or more.` };
  }
  const open = rows.filter((row) => !closed.includes(row.game));
  const timed = open.find((row) => /time limit|ticks|stopped/.test(row.reason ?? ""));
  const row = timed ?? open[0];
  const rest = closed.length ? ` Proved: ${each}.` : "";
  return { title: "No plan found", text: `${rowName(row)}: ${failureText(row)}.${rest} Raise the cap${timed ? ", add strategies or plan longer" : " or add strategies"}.` };
}

export function capText(value: number, graph: GraphInfo): string {
  if (!Number.isFinite(value)) return "no cap";
  return amount(value, graph.size_unit);
}
