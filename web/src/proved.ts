// How much memory is proved to be needed, for each game: the strongest of what the server says of the graph, of the bounds and of
// the rows. What was proved at one cap holds at every other, so it is kept as long as the graph stays.
import type { Bound, GameName, GraphInfo, Prices, Row, Sweep } from "./api";
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

/** A row that is proved impossible at a cap proves that more is needed. */
export function learnRow(proved: Proved, row: Pick<Row, "game" | "outcome">, cap: bigint | null): void {
  if (row.outcome === "infeasible" && cap !== null && cap < LARGEST) raise(proved, row.game, cap + 1n);
}

export function learnSweep(proved: Proved, sweep: Sweep): void {
  for (const one of sweep.games) raise(proved, one.game, one.proved_least_cap);
  for (const cell of sweep.cells) learnRow(proved, cell, whole(cell.cap));
}

/** What one game needs at least; 0 where nothing is proved. */
export function provedIn(graph: GraphInfo, game: GameName, proved: Proved): bigint {
  const told = graph.games.find((one) => one.game === game)?.proved_cap ?? 0;
  const learnt = proved[game] ?? 0n;
  return whole(told) > learnt ? whole(told) : learnt;
}

/** The games that the view plays: all means those that can be played, and tiered only where slow memory has a price. */
export function gamesAtHand(graph: GraphInfo, view: { game: GameName | null; prices: Prices | null }): GameName[] {
  if (view.game) return [view.game];
  return graph.games.filter((one) => !one.impossible && (one.game !== "tiered" || view.prices !== null)).map((one) => one.game);
}

/** The least cap that is not proved impossible in the games at hand. */
export function leastCap(graph: GraphInfo, view: { game: GameName | null; prices: Prices | null }, proved: Proved): bigint {
  const caps = gamesAtHand(graph, view).map((game) => provedIn(graph, game, proved));
  return caps.length ? caps.reduce((a, b) => (b < a ? b : a)) : 0n;
}
