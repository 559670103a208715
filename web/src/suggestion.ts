// What to suggest if no row has a plan: a strategy that fit under this cap in the sweep, else the smallest cap with a known plan.
import type { Sweep } from "./api_types";
import { whole, type Whole } from "./exact";

export type Suggestion = { kind: "add"; strategy: string } | { kind: "raise"; cap: Whole };

export function suggestion(sweep: Sweep | null, cap: number | null, asked: readonly string[]): Suggestion | null {
  const known = (sweep?.cells ?? []).flatMap((cell) => (cell.metrics ? [{ strategy: cell.strategy, peak: cell.metrics.peak }] : []));
  if (!known.length || cap === null) return null;
  const smallest = known.reduce((a, b) => (whole(b.peak) < whole(a.peak) ? b : a));
  if (Number(smallest.peak) > cap) return { kind: "raise", cap: smallest.peak };
  const fits = known.find((one) => Number(one.peak) <= cap && !asked.some((name) => name === one.strategy || name.split(":")[0] === one.strategy));
  return fits ? { kind: "add", strategy: fits.strategy } : null;
}
