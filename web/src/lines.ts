// The lines of the comparison: rows whose plans have the same moves share one, as in the table of `pebble compare`.
import type { Row } from "./api_types";
import type { Entry } from "./model";
import { rowTitle, shortName } from "./words";

export interface Line {
  lead: Entry; // its figures are shown: the winner, else a proved row, else the first
  entries: Entry[];
}

/** A remat plan is also a tiered plan without transfers. */
function sameGame(a: Row, b: Row): boolean {
  const moves = (row: Row): boolean => row.game !== "reversible" && !Number(row.metrics?.io ?? 0);
  return a.game === b.game || (moves(a) && moves(b));
}

/** The same plan; or, without plans, one strategy that fails in the same way in both games. */
function areSame(a: Row, b: Row): boolean {
  if (!sameGame(a, b) || !a.metrics !== !b.metrics) return false;
  if (a.metrics) return !!a.plan_hash && a.plan_hash === b.plan_hash;
  return a.strategy === b.strategy && a.asked === b.asked && a.reason === b.reason;
}

/** Lines in the order of the first row of each. */
export function linesOf(entries: readonly Entry[], winner: Row | null): Line[] {
  const lines: Line[] = [];
  for (const entry of entries) {
    const line = lines.find(({ entries: [first] }) => first.stale === entry.stale && areSame(first.row, entry.row));
    if (line) line.entries.push(entry);
    else lines.push({ lead: entry, entries: [entry] });
  }
  for (const line of lines) {
    const proved = line.entries.find((entry) => entry.row.outcome === "optimal");
    line.lead = line.entries.find((entry) => entry.row === winner) ?? proved ?? line.entries[0];
  }
  return lines;
}

const NAMES_MAX = 5;

/** "baseline", with "cache-all" behind it; names of rows that share a plan, in the order of `asked`. auto is named where it has a
 * plan of its own, as the best if it wins. */
export function lineName(line: Line, order: readonly string[], wins: boolean): { name: string; detail: string } {
  const place = (row: Row): number => order.indexOf(row.asked ?? row.strategy);
  const rows = line.entries.map((entry) => entry.row).sort((a, b) => place(a) - place(b));
  const own = rows.filter((row) => !isAuto(row));
  const names = [...new Set((own.length ? own : rows).map(shortName))];
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : "";
  if (names.length > 1) return { name: names.slice(0, NAMES_MAX).join(", ") + more, detail: "" };
  const row = own[0] ?? rows[0];
  const asked = row.asked ?? row.strategy;
  const title = rowTitle(row);
  if (isAuto(row)) return wins ? { name: "best", detail: names[0] } : { name: names[0], detail: "" };
  if (title === asked) return { name: title, detail: row.strategy === asked ? "" : (row.label ?? row.strategy) };
  return { name: names[0], detail: title ? asked : "" };
}

function isAuto(row: Row): boolean {
  return (row.asked ?? row.strategy).split(":")[0] === "auto";
}

const IDLE = "does not apply: ";

/** Strategies that were not chosen one by one, and that this graph is not for. */
export function isIdle(row: Row, chosen: readonly string[]): boolean {
  return !row.metrics && !!row.reason?.startsWith(IDLE) && !chosen.includes(row.asked ?? row.strategy);
}
