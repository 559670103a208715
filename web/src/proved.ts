// The lower bound on the cap, for each game: the largest of the graph's own bound, the bounds of jobs and the infeasible rows.
// A bound that was proved at one cap holds at every cap, so it is kept until another graph is opened.
import type { Bound, GameName, GraphInfo, Prices, Row, Sweep } from "./api";
import { hasSlowMachine, type MachineChoice } from "./machine";
import { whole, type Whole } from "./exact";
import { LARGEST } from "./sizes";

export type Proved = Partial<Record<GameName, bigint>>; // no plan fits below

function raise(proved: Proved, game: GameName, cap: Whole | bigint | null): void {
  if (cap === null) return;
  const value = BigInt(cap);
  if (value > (proved[game] ?? 0n)) proved[game] = value;
}

export function learnBound(proved: Proved, bound: Bound): void {
  raise(proved, bound.game, bound.least_cap);
}

/** A row that is proved infeasible at a cap proves that more memory is needed. */
export function learnRow(proved: Proved, row: Pick<Row, "game" | "outcome">, cap: bigint | null): void {
  if (row.outcome === "infeasible" && cap !== null && cap < LARGEST) raise(proved, row.game, cap + 1n);
}

export function learnSweep(proved: Proved, sweep: Sweep): void {
  for (const one of sweep.games) raise(proved, one.game, one.proved_least_cap);
  for (const cell of sweep.cells) learnRow(proved, cell, whole(cell.cap));
}

/** The lower bound of one game; 0 if nothing is proved. */
export function provedIn(graph: GraphInfo, game: GameName, proved: Proved): bigint {
  const ofGraph = graph.games.find((one) => one.game === game)?.proved_cap ?? 0;
  const learned = proved[game] ?? 0n;
  return whole(ofGraph) > learned ? whole(ofGraph) : learned;
}

export interface Rules {
  game: GameName | null;
  prices: Prices | null;
  machine?: MachineChoice | null;
}

/** Slow memory has a price, by itself or as part of a machine. */
export function hasSlow(graph: GraphInfo, view: Rules): boolean {
  return view.prices !== null || hasSlowMachine(graph, view.machine);
}

/** The games of the view. "all" means every feasible game; tiered only if slow memory has a price. */
export function gamesOfView(graph: GraphInfo, view: Rules): GameName[] {
  if (view.game) return [view.game];
  return graph.games.filter((one) => !one.impossible && (one.game !== "tiered" || hasSlow(graph, view))).map((one) => one.game);
}

/** The smallest cap that is not proved infeasible in the games of the view. */
export function minCap(graph: GraphInfo, view: Rules, proved: Proved): bigint {
  const caps = gamesOfView(graph, view).map((game) => provedIn(graph, game, proved));
  return caps.length ? caps.reduce((a, b) => (b < a ? b : a)) : 0n;
}
