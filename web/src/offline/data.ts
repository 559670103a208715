// What a file with a player contains: each part as base64 in an element of its own, written by `pebble ... html`.
import type { GraphInfo, Row, Sweep, SweepDocument, WeightTexts } from "../api_types";
import { decodeFrames, decodeLayout, Names, type Frames, type Layout } from "../binary";
import type { Whole } from "../exact";

/** Bytes of base64 text; blanks and line ends are skipped. */
export function bytesOf(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

interface Comparison {
  cap: Whole | null;
  weights: (number | string)[];
  strategies: Row[];
}

export interface Recording {
  graph: GraphInfo;
  layout: Layout;
  rows: Row[];
  cap: string;
  weights: WeightTexts;
  sweep: Sweep | null;
  frames(row: Row): Frames | null;
}

/** Reads the parts with `part`, which returns the text of one, or null if the file has none of that name. */
export function readRecording(part: (name: string) => string | null): Recording {
  const need = (name: string): Uint8Array => {
    const text = part(name);
    if (text === null) throw new Error(`this file has no part “${name}”; write it once more with pebble`);
    return bytesOf(text);
  };
  const json = <T>(name: string): T => JSON.parse(new TextDecoder().decode(need(name))) as T;
  const comparison = json<Comparison>("rows");
  const labels = json<string[]>("labels"); // what distinguishes the rows: the strategy as requested, or the cap
  const rows = comparison.strategies.map((row, i) => {
    const has = part(`frames-${i}`) !== null;
    return { ...row, index: i, asked: labels[i] ?? row.strategy, plan: has && row.metrics ? String(i) : null, attempt: has && !row.metrics ? String(i) : null };
  });
  const sweep = part("sweep") === null ? null : json<SweepDocument>("sweep").sweeps[0];
  return {
    graph: json<GraphInfo>("graph"),
    layout: decodeLayout(need("layout").buffer as ArrayBuffer, new Names(need("names").buffer as ArrayBuffer)),
    rows,
    cap: comparison.cap === null ? "none" : String(comparison.cap),
    weights: comparison.weights.map(String) as WeightTexts,
    sweep,
    frames: (row) => {
      const plays = row.plan ?? row.attempt;
      return plays ? decodeFrames(need(`frames-${plays}`).buffer as ArrayBuffer) : null;
    },
  };
}
