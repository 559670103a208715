// Numbers as people type them, read as the command reads them, with a sentence on what is wrong. No fields here: see field.ts.
import type { WeightTexts } from "./api";
import { decimalText, MOST_DIGITS, parseDecimal, parseWeights, whole, type Whole } from "./exact";

export const LARGEST = (1n << 64n) - 1n; // as a cap it stands for no limit

export type Read<T> = { ok: true; value: T } | { ok: false; wrong: string };

const good = <T>(value: T): Read<T> => ({ ok: true, value });
const bad = (wrong: string): { ok: false; wrong: string } => ({ ok: false, wrong });

/** At most this much of what was typed is repeated in a message. */
function quoted(text: string): string {
  return text.length > 40 ? `${text.slice(0, 39)}…` : text;
}

/** Bytes in a unit such as KiB, MB or k; null for anything else. */
function unitBytes(unit: string): bigint | null {
  if (/^(b|byte|bytes)$/i.test(unit)) return 1n;
  const match = /^([kmgtpe])(i?)b?$/i.exec(unit);
  if (!match) return null;
  const power = BigInt("kmgtpe".indexOf(match[1].toLowerCase()) + 1);
  return (match[2] ? 1024n : 1000n) ** power;
}

const CAP_FORMS = "A cap is a size such as 8GiB, 500MB or 40%, a whole number in the graph's unit, or none.";

/** A cap in the graph's unit, as the command reads it; LARGEST for none. */
export function readCap(typed: string, writtenPeak: Whole, sizeUnit: string): Read<bigint> {
  const text = typed.replace(/\s+/g, "");
  if (text === "") return bad(`There is no cap there. ${CAP_FORMS}`);
  if (/^(none|unlimited)$/i.test(text)) return good(LARGEST);
  if (/^[-−]/.test(text)) return bad(`${quoted(text)} is less than nothing. ${CAP_FORMS}`);
  const match = /^(\d+)(?:\.(\d+))?([a-z%]*)$/i.exec(text);
  if (!match) return bad(`${quoted(text)} is not a size. ${CAP_FORMS}`);
  const behind = match[2] ?? "";
  if (behind.length > MOST_DIGITS) return bad(`${quoted(text)} has more than ${MOST_DIGITS} digits behind the point.`);
  const number = BigInt(match[1] + behind);
  const scale = 10n ** BigInt(behind.length);
  let value: bigint;
  if (match[3] === "%") value = (number * whole(writtenPeak) + scale * 100n - 1n) / (scale * 100n);
  else if (match[3] === "") {
    if (behind) return bad(`${quoted(text)} has no unit, and without one a cap is a whole number. ${CAP_FORMS}`);
    value = number;
  } else {
    const unit = unitBytes(match[3]);
    if (unit === null) return bad(`${quoted(text)}: ${quoted(match[3])} is not a unit of size. ${CAP_FORMS}`);
    const own = sizeUnit.length > 1 ? (unitBytes(sizeUnit) ?? 1n) : 1n; // one letter says too little
    value = (number * unit) / scale / own; // down, so that the cap is never passed
  }
  if (value >= LARGEST || number > LARGEST) return bad(`${quoted(text)} is too large: sizes stay below 2^64 (16 EiB). For no limit write none.`);
  return good(value);
}

/** Where a cap lies, for the slider and the charts: Infinity for none, null where it cannot be read. */
export function capValue(text: string, writtenPeak: Whole, sizeUnit: string): number | null {
  const read = readCap(text, writtenPeak, sizeUnit);
  if (!read.ok) return null;
  return read.value === LARGEST ? Infinity : Number(read.value);
}

/** A weight among the others: all three share their digits behind the point, and must fit together. */
export function readWeight(typed: string, which: number, others: WeightTexts): Read<WeightTexts> {
  const text = typed.trim();
  if (text === "") return bad("There is no weight there. Write 0 where it does not count.");
  if (/^[-−]/.test(text)) return bad(`${quoted(text)} is less than nothing: weights begin at 0.`);
  if (/^\d*\.?\d*e[-+]?\d+$/i.test(text)) return bad(`${quoted(text)}: write it out, such as 0.001 or 1000.`);
  const match = /^(\d*)(?:\.(\d*))?$/.exec(text);
  if (!match || (!match[1] && !match[2])) return bad(`${quoted(text)} is not a number. A weight is one such as 2 or 0.25.`);
  if ((match[2] ?? "").length > MOST_DIGITS) return bad(`A weight has at most ${MOST_DIGITS} digits behind the point.`);
  if (!parseDecimal(text)) return bad(`${quoted(text)} is too large: weights stay below 2^64.`);
  const next: WeightTexts = [...others];
  next[which] = text;
  if (!parseWeights(next)) return bad(`${quoted(text)} is too far from the other weights: with their digits behind the point it passes 2^64.`);
  return good(next);
}

/** A price: a decimal such as 2 or 0.5. What is not a small whole number stays a text, so that it is exact. */
export function readPrice(typed: string): Read<Whole> {
  const text = typed.trim();
  if (text === "") return bad("There is no price there. Write 0 for none.");
  if (/^[-−]/.test(text)) return bad(`${quoted(text)} is less than nothing: a price begins at 0.`);
  if (!/^\d+(\.\d+)?$/.test(text)) return bad(`${quoted(text)} is not a number. A price is one such as 2 or 0.5.`);
  if ((text.split(".")[1] ?? "").length > MOST_DIGITS) return bad(`${quoted(text)}: a price has at most ${MOST_DIGITS} digits behind the point.`);
  const read = parseDecimal(text);
  if (!read) return bad(`${quoted(text)} is too large: a price stays below 2^64.`);
  const shown = decimalText(read.value, read.digits);
  return good(!read.digits && read.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(read.value) : shown);
}
