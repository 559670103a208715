// Exact decimals. Sizes, costs and flux can be too large for a double, and the page must show the same figure
// as `pebble --json`, so weighted costs are integers times a power of ten, as in the library.
import type { Metrics, Row, WeightTexts } from "./api";

export type Whole = number | string; // a number up to 2^53, a decimal string beyond

export const MAX_DIGITS = 18; // digits after the decimal point that the command accepts in a weight
const LARGEST = (1n << 64n) - 1n;

export interface Weights {
  parts: [bigint, bigint, bigint];
  digits: number; // the value of each part is part / 10^digits
}

export function whole(value: Whole): bigint {
  return BigInt(value);
}

export interface Decimal {
  value: bigint;
  digits: number; // it is value / 10^digits
}

/** Reads a decimal such as 0.25 or 1e-11; null if the command would reject it. */
export function parseDecimal(text: string): Decimal | null {
  const match = /^(\d*)(?:\.(\d*))?(?:e([-+]?\d{1,3}))?$/i.exec(text.trim());
  if (!match || (!match[1] && !match[2])) return null;
  let value = BigInt((match[1] || "0") + (match[2] ?? ""));
  let digits = (match[2] ?? "").length - Number(match[3] ?? 0);
  if (value === 0n) return { value, digits: 0 };
  for (; digits > 0 && value % 10n === 0n; digits--) value /= 10n;
  if (digits < 0) value *= 10n ** BigInt(-digits);
  return value > LARGEST || digits > MAX_DIGITS ? null : { value, digits: Math.max(0, digits) };
}

export function parseWeights(texts: WeightTexts): Weights | null {
  const read = texts.map(parseDecimal);
  let digits = 0;
  for (const one of read) {
    if (!one) return null;
    digits = Math.max(digits, one.digits);
  }
  const parts = read.map((one) => (one ? one.value * 10n ** BigInt(digits - one.digits) : 0n));
  if (parts.some((part) => part > LARGEST)) return null;
  return { parts: [parts[0], parts[1], parts[2]], digits };
}

export function sameWeights(a: WeightTexts, b: WeightTexts): boolean {
  const x = parseWeights(a);
  const y = parseWeights(b);
  if (!x || !y) return false;
  const digits = Math.max(x.digits, y.digits);
  const scaled = (w: Weights, i: number): bigint => w.parts[i] * 10n ** BigInt(digits - w.digits);
  return [0, 1, 2].every((i) => scaled(x, i) === scaled(y, i));
}

export interface CostParts {
  peak: bigint;
  flux: bigint;
  extra: bigint;
  total: bigint; // all to be divided by 10^digits
}

/** What gamma weighs: recomputing, uncomputing and transfers. In the timed game, where these overlap, the makespan. */
export function spent(m: Metrics): bigint {
  return m.span === undefined ? whole(m.recompute) + whole(m.uncompute) + whole(m.io) : whole(m.makespan);
}

/** alpha·peak + beta·flux + gamma·what is spent, times 10^digits. */
export function costParts(m: Metrics, w: Weights): CostParts {
  const peak = w.parts[0] * whole(m.peak);
  const flux = w.parts[1] * whole(m.flux);
  const extra = w.parts[2] * spent(m);
  return { peak, flux, extra, total: peak + flux + extra };
}

/** value / 10^digits in its shortest form, as the command prints it. */
export function decimalText(value: bigint, digits: number): string {
  const text = value.toString().padStart(digits + 1, "0");
  const point = text.length - digits;
  const behind = text.slice(point).replace(/0+$/, "");
  return behind ? `${text.slice(0, point)}.${behind}` : text.slice(0, point);
}

export function costText(m: Metrics, w: Weights): string {
  return decimalText(costParts(m, w).total, w.digits);
}

function order(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The library's order of plans: cost, then work with transfers, then peak, then moves. */
export function comparePlans(a: Metrics, b: Metrics, w: Weights): number {
  return (
    order(costParts(a, w).total, costParts(b, w).total) ||
    order(whole(a.makespan), whole(b.makespan)) ||
    order(whole(a.peak), whole(b.peak)) ||
    order(whole(a.moves), whole(b.moves))
  );
}

/** Index of the winner under these weights; the first of equals, or -1 if no row has a plan. */
export function winnerOf(rows: readonly Row[], w: Weights): number {
  let best = -1;
  let min: Metrics | null = null;
  rows.forEach((row, i) => {
    if (row.metrics && (!min || comparePlans(row.metrics, min, w) < 0)) {
      best = i;
      min = row.metrics;
    }
  });
  return best;
}

/** a / b as a double, also if both are above 2^53. */
export function ratio(a: bigint, b: bigint): number {
  if (b === 0n) return 0;
  const scale = 1_000_000_000n;
  const quotient = (a * scale) / b;
  return Number(quotient) / 1e9;
}
