// Numbers rounded for reading. Tooltips and data attributes have the exact values.
import type { Whole } from "./exact";

const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
const METRIC = ["", "k", "M", "G", "T", "P", "E", "Z", "Y"];

const TIMES: [unit: string, shown: string, seconds: number][] = [["ns", "ns", 1e-9], ["us", "µs", 1e-6], ["ms", "ms", 1e-3], ["s", "s", 1]];

/** Whether it is one of the units of time, which are shown as people read them: 12.3 ms. */
export function isTime(unit: string): boolean {
  return TIMES.some(([name]) => name === unit);
}

export interface Scale {
  divide: number;
  unit: string; // shown after the number; "" for a bare count
}

function digitsFor(value: number): number {
  const size = Math.abs(value);
  return size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
}

/** A unit that suits values up to `max`. */
export function scaleFor(max: number, unit: string): Scale {
  if (unit === "byte") {
    const power = max >= 1024 ? Math.min(6, Math.floor(Math.log2(max) / 10)) : 0;
    return { divide: 1024 ** power, unit: BINARY[power] };
  }
  const own = TIMES.find(([name]) => name === unit);
  if (own) {
    const [, shown, seconds] = [...TIMES].reverse().find(([, , one]) => one === own[2] || max * own[2] >= one) ?? own;
    return { divide: seconds / own[2], unit: shown };
  }
  const power = max >= 1e5 ? Math.min(8, Math.floor(Math.log10(max) / 3)) : 0;
  return { divide: 1000 ** power, unit: METRIC[power] + (power ? (unit === "flop" ? "flop" : "") : "") };
}

const FLOPS = ["flop", "Kflop", "Mflop", "Gflop", "Tflop", "Pflop"];

/** A unit for memory over time up to `max`, such as GiB·s. Size and cost grow in turns, as in the command. */
export function fluxScale(max: number, size: string, cost: string): Scale {
  const own = TIMES.findIndex(([name]) => name === cost);
  const sizes = size === "byte" ? BINARY.slice(0, 4) : [size];
  const costs = own >= 0 ? TIMES.slice(own).map(([, shown]) => shown) : cost === "flop" ? FLOPS : [cost];
  if (sizes.length === 1 && costs.length === 1) {
    const { divide, unit } = scaleFor(max, "");
    return { divide, unit: `${unit}${unit && " "}${size}·${cost}` };
  }
  let [divide, s, c] = [1, 0, 0];
  for (let turn = true; s + 1 < sizes.length || c + 1 < costs.length; turn = !turn) {
    const bySize = (turn && s + 1 < sizes.length) || c + 1 === costs.length;
    const step = bySize ? 1024 : 1000;
    if (max / divide < step) break;
    divide *= step;
    if (bySize) s++;
    else c++;
  }
  return { divide, unit: `${sizes[s]}·${costs[c]}` };
}

export function group(value: Whole | bigint): string {
  const text = String(value);
  const [head, tail] = text.split(".");
  const grouped = head.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  return tail ? `${grouped}.${tail}` : grouped;
}

function roundedTo(value: number, round: "up" | "down"): string {
  const digits = digitsFor(value);
  const power = 10 ** digits;
  const whole = value * power;
  return ((round === "up" ? Math.ceil(whole - 1e-9) : Math.floor(whole + 1e-9)) / power).toFixed(digits);
}

export function scaled(value: Whole, scale: Scale): string {
  const number = Number(value) / scale.divide;
  if (scale.divide === 1 && Number.isInteger(number)) return group(value);
  return number === 0 ? "0" : number.toFixed(digitsFor(number));
}

/** A large number without unit, shortened: 1.5e18 becomes 1.50 E. */
export function short(value: Whole): string {
  const number = Number(value);
  if (Math.abs(number) < 1e5) return Number.isInteger(number) ? group(number) : String(Number(number.toPrecision(4)));
  const power = Math.floor(Math.log10(Math.abs(number)) / 3);
  if (power >= METRIC.length) return number.toExponential(2).replace("e+", "e");
  const shown = number / 1000 ** power;
  return shown.toFixed(digitsFor(shown)) + "\u202f" + METRIC[power];
}

/** A number and its percent sign on one line. */
export function unbroken(text: string): string {
  return text.replace(/(\d) %/g, "$1\u202f%");
}

/** The plural: units that are words take an s, symbols such as ms or kWh do not. */
export function unitWord(unit: string, count: number): string {
  if (count === 1 || !/^[a-z]{4,}$/.test(unit) || unit.endsWith("s")) return unit;
  return unit + (/(sh|ch|x)$/.test(unit) ? "es" : "s");
}

/** With its unit: 4.20 GiB, 13 pebbles. A bound is rounded up or down so that the statement about it remains true. */
export function amount(value: Whole, unit: string, round?: "up" | "down"): string {
  const scale = scaleFor(Number(value), unit);
  const shown = round && scale.divide > 1 ? roundedTo(Number(value) / scale.divide, round) : scaled(value, scale);
  if (unit === "byte" || isTime(unit)) return `${shown} ${scale.unit}`;
  if (unit === "flop") return `${shown} ${scale.unit || unit}`;
  const word = unit.startsWith("0.") ? `× ${unit}` : unitWord(unit, Number(value)); // 12 × 0.1 step
  return scale.divide === 1 ? `${shown} ${word}` : `${shown} ${scale.unit} ${word}`;
}

/** The unit of a column whose figures have this scale, never a bare M: MiB, Gflop, steps, M steps. */
export function columnUnit(scale: Scale, unit: string): string {
  if (unit === "" || unit === "byte" || isTime(unit)) return scale.unit;
  if (unit === "flop") return scale.unit || unit;
  const word = unit.startsWith("0.") ? `× ${unit}` : unitWord(unit, 2);
  return scale.divide === 1 ? word : `${scale.unit} ${word}`;
}

/** Without a share, a dash. */
export function percent(share: number | null, signed = false): string {
  if (share === null) return "–";
  const value = share * 100;
  const size = Math.abs(value);
  if (size >= 1e6) return `${short(Math.round(share))}\u202f×`; // a factor is easier to read
  if (size > 0 && size < 0.005) return "<0.01\u202f%"; // not 0, but less than two digits can show
  const text = size === 0 ? "0" : size >= 99.95 ? value.toFixed(0) : size < 0.05 ? value.toFixed(2) : value.toFixed(1);
  return `${signed && value > 0 ? "+" : ""}${text}\u202f%`;
}

export function seconds(ms: number): string {
  if (ms < 1) return "less than 1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s` : `${Math.round(ms / 60_000)} min`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${group(count)} ${count === 1 ? one : many}`;
}
