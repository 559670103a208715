// What the x axis of memory over time counts: moves, or work and transfers done before them.
import type { Frames } from "../binary";
import { stepAtWork, workEnd } from "../playback";

export type AxisKind = "moves" | "work";

export interface Axis {
  kind: AxisKind;
  end: number;
  /** Where a step is. */
  at(step: number): number;
  /** The step at a place. */
  step(place: number): number;
  /** The moves [first, last) that run between two places; at least one. */
  moves(from: number, to: number): [number, number];
}

export function axisOf(f: Frames | null, kind: AxisKind): Axis {
  const count = f?.moveCount ?? 0;
  const end = f ? workEnd(f) : 0;
  if (!f || kind === "moves" || !(end > 0)) {
    return {
      kind: "moves", end: Math.max(1, count), at: (step) => step,
      step: (place) => Math.max(0, Math.min(count, Math.round(place))),
      moves: (from, to) => {
        const first = Math.min(count - 1, Math.floor(from));
        return [first, Math.min(count, Math.max(first + 1, Math.floor(to)))];
      },
    };
  }
  return {
    kind: "work", end,
    at: (step) => (step <= 0 ? 0 : step >= count ? end : f.time[step - 1]),
    step: (place) => (place >= end ? count : stepAtWork(f, place)),
    moves: (from, to) => {
      const first = Math.max(0, stepAtWork(f, Math.max(from, 1e-300)) - 1);
      return [first, Math.max(first + 1, Math.min(count, to >= end ? count : stepAtWork(f, to)))];
    },
  };
}
