// What to offer where no row has a plan: a strategy that the sweep saw fit under this cap, else the least cap at which anything did.
import type { Sweep } from "./api_types";
import { whole, type Whole } from "./exact";

export type WayOut = { kind: "add"; strategy: string } | { kind: "raise"; cap: Whole };

export function wayOut(sweep: Sweep | null, cap: number | null, asked: readonly string[]): WayOut | null {
  const works = (sweep?.cells ?? []).flatMap((cell) => (cell.metrics ? [{ strategy: cell.strategy, peak: cell.metrics.peak }] : []));
  if (!works.length || cap === null) return null;
  const least = works.reduce((a, b) => (whole(b.peak) < whole(a.peak) ? b : a));
  if (Number(least.peak) > cap) return { kind: "raise", cap: least.peak };
  const fits = works.find((one) => Number(one.peak) <= cap && !asked.some((name) => name === one.strategy || name.split(":")[0] === one.strategy));
  return fits ? { kind: "add", strategy: fits.strategy } : null;
}
