// Machines as the page needs them: names, memories and links, from the server or from a machine file.
import type { GraphInfo, MachineFacts } from "./api";
import type { Whole } from "./exact";
import { amount, isTime } from "./format";

export interface MachineChoice {
  name: string; // none: no machine, also if the graph has its own
  slow: boolean; // it has a slow memory, so that the tiered game applies
  document?: MachineFacts; // the content of a file; built-in machines are known by their name
}

export interface Tier {
  memory: string;
  text: string;
}

const MAX_TIERS = 8; // of the tiered game

/** The slow memories that plans use, and in one sentence those that the tiered game has no room for. */
export function slowText(machine: MachineFacts): string[] {
  const tiers = tiersOf(machine);
  const used = tiers.slice(0, MAX_TIERS).map((tier, i) => `tier ${i + 1}: ${tier.memory}, ${tier.text}`);
  const rest = tiers.slice(MAX_TIERS).map((tier) => tier.memory);
  return rest.length ? [...used, `not used: ${rest.join(", ")} (the tiered game has at most ${MAX_TIERS} tiers)`] : used;
}

/** Memories with links from and to the first one, as the server finds them. */
export function tiersOf(machine: MachineFacts): Tier[] {
  const [first, ...others] = machine.memories ?? [];
  const link = (from: string, to: string) => machine.links?.find((one) => one.from === from && one.to === to);
  return others.flatMap((memory) => {
    const store = link(first.name, memory.name);
    const load = link(memory.name, first.name);
    if (!store || !load) return [];
    const one = linkText(store, machine.time_unit);
    const two = linkText(load, machine.time_unit);
    return [{ memory: memory.name, text: one === two ? one : `${one} out, ${two} in` }];
  });
}

function linkText(link: MachineFacts["links"][number], unit: string): string {
  const parts = [];
  if (link.bandwidth && isTime(unit)) parts.push(`${perSecond(link.bandwidth)}B/s`);
  if (Number(link.per_unit ?? 0)) parts.push(`${amount(link.per_unit ?? 0, unit)} per unit`);
  if (Number(link.latency ?? 0) || !parts.length) parts.push(amount(link.latency ?? 0, unit));
  return parts.join(" and ");
}

function perSecond(rate: Whole): string {
  const power = Math.min(6, Math.floor(Math.log10(Math.max(1, Number(rate))) / 3));
  return `${Number((Number(rate) / 1000 ** power).toPrecision(4))} ${["", "k", "M", "G", "T", "P", "E"][power]}`;
}

/** The memory that values may take: the cap of the first memory without what is reserved; null: no limit. */
export function memoryOf(machine: MachineFacts): bigint | null {
  const first = machine.memories?.[0];
  if (!first || first.cap === null || first.cap === undefined) return null;
  return BigInt(first.cap) - BigInt(first.reserve ?? 0);
}

export function chosen(machine: MachineFacts, document?: MachineFacts): MachineChoice {
  return { name: machine.name, slow: tiersOf(machine).length > 0, ...(document ? { document } : {}) };
}

/** Whether plans of this view can use slow memories of a machine. */
export function hasSlowMachine(graph: Pick<GraphInfo, "machine">, choice: MachineChoice | null | undefined): boolean {
  if (choice) return choice.slow;
  return !!graph.machine && tiersOf(graph.machine).length > 0;
}

/** The content of a machine file, or what is wrong with it. The server checks the rest. */
export function readMachine(text: string): { ok: true; machine: MachineFacts } | { ok: false; wrong: string } {
  try {
    const read = JSON.parse(text) as MachineFacts & { format?: string };
    if (read.format !== "pebble-machine/1") return { ok: false, wrong: "This is not a machine file: its format is not pebble-machine/1." };
    if (typeof read.name !== "string" || typeof read.time_unit !== "string" || !Array.isArray(read.memories) || !read.memories.length)
      return { ok: false, wrong: "The machine needs a name, a time_unit and memories." };
    return { ok: true, machine: read };
  } catch (reason) {
    return { ok: false, wrong: `The machine file cannot be read: ${String(reason instanceof Error ? reason.message : reason)}` };
  }
}
