// Typed numbers, read as the command reads them, with an error message. The input fields are in field.ts.
import type { WeightTexts } from "./api";
import { decimalText, MAX_DIGITS, parseDecimal, parseWeights, whole, type Whole } from "./exact";

export const LARGEST = (1n << 64n) - 1n; // as a cap it means no limit

export type Read<T> = { ok: true; value: T } | { ok: false; wrong: string };

const good = <T>(value: T): Read<T> => ({ ok: true, value });
const bad = (wrong: string): { ok: false; wrong: string } => ({ ok: false, wrong });

/** The typed text, shortened for a message. */
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
  if (text === "") return bad(`The cap is empty. ${CAP_FORMS}`);
  if (/^(none|unlimited)$/i.test(text)) return good(LARGEST);
  if (/^[-−]/.test(text)) return bad(`${quoted(text)} is negative. ${CAP_FORMS}`);
  const match = /^(\d+)(?:\.(\d+))?([a-z%]*)$/i.exec(text);
  if (!match) return bad(`${quoted(text)} is not a size. ${CAP_FORMS}`);
  const behind = match[2] ?? "";
  if (behind.length > MAX_DIGITS) return bad(`${quoted(text)} has more than ${MAX_DIGITS} digits after the decimal point. Write fewer.`);
  const number = BigInt(match[1] + behind);
  const scale = 10n ** BigInt(behind.length);
  let value: bigint;
  if (match[3] === "%") value = (number * whole(writtenPeak) + scale * 100n - 1n) / (scale * 100n);
  else if (match[3] === "") {
    if (behind) return bad(`${quoted(text)} has no unit, and a cap without a unit must be a whole number. ${CAP_FORMS}`);
    value = number;
  } else {
    const unit = unitBytes(match[3]);
    if (unit === null) return bad(`${quoted(text)}: ${quoted(match[3])} is not a unit of size. ${CAP_FORMS}`);
    const own = sizeUnit.length > 1 ? (unitBytes(sizeUnit) ?? 1n) : 1n; // a single letter is ambiguous
    value = (number * unit) / scale / own; // rounded down, so that the cap is never exceeded
  }
  if (value >= LARGEST || number > LARGEST) return bad(`${quoted(text)} is too large: sizes must be below 2^64 (16 EiB). For no limit write none.`);
  return good(value);
}

/** The cap as a number, for the slider and the charts: Infinity for none, null if it cannot be read. */
export function capValue(text: string, writtenPeak: Whole, sizeUnit: string): number | null {
  const read = readCap(text, writtenPeak, sizeUnit);
  if (!read.ok) return null;
  return read.value === LARGEST ? Infinity : Number(read.value);
}

/** One of the three weights. They share one number of decimal digits, so they must fit together. */
export function readWeight(typed: string, which: number, others: WeightTexts): Read<WeightTexts> {
  const text = typed.trim();
  if (text === "") return bad("The weight is empty. Write 0 to ignore this part of the cost.");
  if (/^[-−]/.test(text)) return bad(`${quoted(text)} is negative. A weight is 0 or more.`);
  if (/^\d*\.?\d*e[-+]?\d+$/i.test(text)) return bad(`${quoted(text)}: exponents are not accepted. Write 0.001 or 1000.`);
  const match = /^(\d*)(?:\.(\d*))?$/.exec(text);
  if (!match || (!match[1] && !match[2])) return bad(`${quoted(text)} is not a number. Write a weight such as 2 or 0.25.`);
  if ((match[2] ?? "").length > MAX_DIGITS) return bad(`A weight has at most ${MAX_DIGITS} digits after the decimal point. Write fewer.`);
  if (!parseDecimal(text)) return bad(`${quoted(text)} is too large: a weight must be below 2^64.`);
  const next: WeightTexts = [...others];
  next[which] = text;
  if (!parseWeights(next)) return bad(`${quoted(text)} is too large next to the other weights: with their decimal digits it exceeds 2^64. Use a smaller weight, or fewer digits in the others.`);
  return good(next);
}

/** A price: a decimal such as 2 or 0.5. Anything but a small whole number remains a string, so that it is exact. */
export function readPrice(typed: string): Read<Whole> {
  const text = typed.trim();
  if (text === "") return bad("The price is empty. Write 0 for no price.");
  if (/^[-−]/.test(text)) return bad(`${quoted(text)} is negative. A price is 0 or more.`);
  if (!/^\d+(\.\d+)?$/.test(text)) return bad(`${quoted(text)} is not a number. Write a price such as 2 or 0.5.`);
  if ((text.split(".")[1] ?? "").length > MAX_DIGITS) return bad(`${quoted(text)}: a price has at most ${MAX_DIGITS} digits after the decimal point. Write fewer.`);
  const read = parseDecimal(text);
  if (!read) return bad(`${quoted(text)} is too large: a price must be below 2^64.`);
  const shown = decimalText(read.value, read.digits);
  return good(!read.digits && read.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(read.value) : shown);
}
