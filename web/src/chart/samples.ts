// Memory over a range of moves, reduced to one sample per pixel column without losing any extreme.

import type { Frames } from "../binary";
import { axisOf, type Axis } from "./axis";

export interface Samples {
  /** Largest memory during any move of the column. */
  max: Float64Array;
  /** Smallest memory after any move of the column. */
  min: Float64Array;
  /** Largest slow memory after any move of the column. */
  slow: Float64Array;
}

/** `columns` columns over the places [from, to) of the axis; if there are fewer moves than columns, a move fills several. */
export function sampleMoves(f: Frames, from: number, to: number, columns: number, axis: Axis = axisOf(f, "moves")): Samples {
  const max = new Float64Array(columns);
  const min = new Float64Array(columns);
  const slow = new Float64Array(columns);
  const span = to - from;
  for (let c = 0; c < columns; c++) {
    const [first, last] = axis.moves(from + (c * span) / columns, from + ((c + 1) * span) / columns);
    let high = -Infinity, low = Infinity, deep = 0;
    for (let i = first; i < last; i++) {
      if (f.during[i] > high) high = f.during[i];
      if (f.after[i] < low) low = f.after[i];
      if (f.slow[i] > deep) deep = f.slow[i];
    }
    max[c] = high;
    min[c] = Math.min(low, high);
    slow[c] = deep;
  }
  return { max, min, slow };
}

/** Round values for an axis from 0 to `top`: at most `count` steps of 1, 2 or 5 times a power of ten (or of two for `binary`). */
export function niceTicks(top: number, count: number, binary = false): number[] {
  if (!(top > 0) || !Number.isFinite(top)) return [0];
  const raw = top / Math.max(1, count);
  let step: number;
  if (binary) {
    step = 2 ** Math.ceil(Math.log2(raw));
  } else {
    const unit = 10 ** Math.floor(Math.log10(raw));
    step = unit * ([1, 2, 5, 10].find((m) => m * unit >= raw * 0.999) ?? 10);
  }
  const out: number[] = [];
  for (let v = 0; v <= top * 1.0001; v += step) out.push(v);
  return out;
}
