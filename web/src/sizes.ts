// Typed numbers, read as the command reads them, with an error message. The input fields are in field.ts.
import type { WeightTexts } from "./api";
import { type Decimal, decimalText, MAX_DIGITS, parseDecimal, parseWeights, whole, type Whole } from "./exact";

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

const CAP_DIGITS = 9; // after the point, in a cap or a price
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
  if (behind.length > CAP_DIGITS) return bad(`${quoted(text)} has more than ${CAP_DIGITS} digits after the decimal point. Write fewer.`);
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

/** The units of the graph's sizes and costs. */
export interface Units {
  size_unit: string;
  cost_unit: string;
}

/** times / parts of the graph's own unit are in one of a typed unit. */
interface Ratio {
  times: bigint;
  parts: bigint;
}

const PICOSECONDS: Readonly<Record<string, bigint>> = {
  ps: 1n, ns: 10n ** 3n, us: 10n ** 6n, µs: 10n ** 6n, ms: 10n ** 9n, s: 10n ** 12n, min: 60n * 10n ** 12n, h: 3600n * 10n ** 12n,
};

function unitFlops(unit: string): bigint | null {
  const match = /^([kKMGTP]?)flops?$/.exec(unit);
  return match ? 1000n ** BigInt(" KMGTP".indexOf(match[1].toUpperCase() || " ")) : null;
}

function ratio(unit: string, own: string, count: (unit: string) => bigint | null): Ratio | null {
  if (unit === own) return { times: 1n, parts: 1n };
  const times = count(unit);
  const parts = count(own);
  return times && parts ? { times, parts } : null;
}

function costRatio(unit: string, own: string): Ratio | null {
  const fine = /^0\.(0*1) (.+)$/.exec(own); // "0.001 step": the unit of a file whose costs had decimals
  if (fine && unit === fine[2]) return { times: 10n ** BigInt(fine[1].length), parts: 1n };
  return ratio(unit, own, (name) => PICOSECONDS[name] ?? null) ?? ratio(unit, own, unitFlops);
}

const WEIGHT_FORMS = ["Write a weight such as 2, 0.25, 1e-9 or, with units, 0.5s/GiB.", "Write a weight such as 2, 0.25 or, with a unit of size, 0.01/GiB.", "Write a weight such as 2 or 0.25."];

/** In how many of the graph's units one of the weight's is, and what is wrong with its unit. */
function weightRatio(unit: string, which: number, units: Units): Read<Ratio> {
  const [cost, size] = [unit.split("/")[0], unit.includes("/") ? unit.slice(unit.indexOf("/") + 1) : null];
  if (which === 2) return bad(`the weight of recompute has no unit. ${WEIGHT_FORMS[2]}`);
  if (which === 1 && cost) return bad(`the weight of flux has only a unit of size. ${WEIGHT_FORMS[1]}`);
  const ofCost = cost ? costRatio(cost, units.cost_unit) : { times: 1n, parts: 1n };
  if (!ofCost) return bad(`${quoted(cost)} is not a unit of this graph's costs, which are in ${units.cost_unit}.`);
  const ofSize = size === null ? { times: 1n, parts: 1n } : ratio(size, units.size_unit, unitBytes);
  if (!ofSize) return bad(`${quoted(size ?? "")} is not a unit of this graph's sizes, which are in ${units.size_unit}.`);
  return good({ times: ofCost.times * ofSize.parts, parts: ofCost.parts * ofSize.times });
}

/** As many digits as fit next to the other weights, rounded to the nearest; null if that loses more than half a percent. */
function converted(number: Decimal, by: Ratio, fits: (text: string) => boolean): string | null {
  const parts = by.parts * 10n ** BigInt(number.digits);
  for (let digits = MAX_DIGITS; digits >= 0; digits--) {
    const exact = number.value * by.times * 10n ** BigInt(digits);
    const rounded = (2n * exact + parts) / (2n * parts);
    const text = decimalText(rounded, digits);
    if ((exact % parts === 0n || rounded >= 100n) && fits(text)) return text;
  }
  return null;
}

/** One of the three weights, in the graph's units. They share one number of decimal digits, so they must fit together. */
export function readWeight(typed: string, which: number, others: WeightTexts, units: Units): Read<WeightTexts> {
  const text = typed.replace(/\s+/g, "");
  if (text === "") return bad("The weight is empty. Write 0 to ignore this part of the cost.");
  if (/^[-−]/.test(text)) return bad(`${quoted(text)} is negative. A weight is 0 or more.`);
  const match = /^((?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)(.*)$/i.exec(text);
  if (!match) return bad(`${quoted(text)} is not a number. ${WEIGHT_FORMS[which]}`);
  const number = parseDecimal(match[1]);
  if (!number) return bad(`${quoted(text)} is too large or too fine: a weight is below 2^64 and has at most ${MAX_DIGITS} digits after the decimal point.`);
  const next = (weight: string): WeightTexts => [0, 1, 2].map((i) => (i === which ? weight : others[i])) as WeightTexts;
  const fits = (weight: string): boolean => parseWeights(next(weight)) !== null;
  let weight: string | null = decimalText(number.value, number.digits);
  if (match[2]) {
    const by = weightRatio(match[2], which, units);
    if (!by.ok) return bad(`${quoted(text)}: ${by.wrong}`);
    weight = converted(number, by.value, fits);
  }
  if (weight === null || !fits(weight)) return bad(`${quoted(text)} is too large or too fine next to the other weights: with the same number of decimal digits each must be below 2^64. Multiply all three by one number, or set the smallest to 0.`);
  return good(next(weight));
}

/** A price: a decimal such as 2 or 0.5. Anything but a small whole number remains a string, so that it is exact. */
export function readPrice(typed: string): Read<Whole> {
  const text = typed.trim();
  if (text === "") return bad("The price is empty. Write 0 for no price.");
  if (/^[-−]/.test(text)) return bad(`${quoted(text)} is negative. A price is 0 or more.`);
  if (!/^\d+(\.\d+)?$/.test(text)) return bad(`${quoted(text)} is not a number. Write a price such as 2 or 0.5.`);
  if ((text.split(".")[1] ?? "").length > CAP_DIGITS) return bad(`${quoted(text)}: a price has at most ${CAP_DIGITS} digits after the decimal point. Write fewer.`);
  const read = parseDecimal(text);
  if (!read) return bad(`${quoted(text)} is too large: a price must be below 2^64.`);
  const shown = decimalText(read.value, read.digits);
  return good(!read.digits && read.value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(read.value) : shown);
}
