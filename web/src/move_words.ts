// One move of a plan as a sentence.

import { Frames, NameList, NONE, Op, RECOMPUTE_BIT } from "./binary";

const VERBS = ["compute", "uncompute", "free", "store", "load", "drop", "copy"];

/** Move `i` (0-based) as text, such as "recompute conv3 in place of relu2". */
export function moveWords(frames: Frames, i: number, names: NameList): string {
  const op = frames.op[i] & ~RECOMPUTE_BIT;
  const again = (frames.op[i] & RECOMPUTE_BIT) !== 0;
  let words = `${again ? "recompute" : VERBS[op] ?? "move"} ${names.get(frames.node[i])}`;
  if (op === Op.Store || op === Op.Load || op === Op.Drop) {
    const tier = frames.tierCount > 1 ? ` tier ${frames.tier[i]}` : " slow memory";
    words += `${op === Op.Store ? " to" : " from"}${tier}`;
  }
  const { timed } = frames;
  if (timed && op === Op.Copy) words += ` to ${timed.memories[timed.place[i]].name}`;
  if (timed && op === Op.Free) words += ` from ${timed.memories[timed.place[i]].name}`;
  if (timed && op === Op.Compute && timed.processors > 1) words += ` on ${timed.lanes[timed.lane[i]]}`;
  if (op === Op.Compute && frames.tier[i] === 1) words += " in borrowed memory";
  if (op === Op.Compute && frames.tier[i] > 1) words += ` by recipe ${frames.tier[i] - 1}`;
  if (frames.over[i] !== NONE) words += ` in place of ${names.get(frames.over[i])}`;
  const also = frames.alsoStart[i + 1] - frames.alsoStart[i];
  if (also === 1) words += ` and ${names.get(frames.also[frames.alsoStart[i]])}`;
  else if (also > 1) words += ` and ${also} by-products`;
  return words;
}
