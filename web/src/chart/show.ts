// Memory over time as the view asks for it, and what its tooltip says about a value.
import { Op, RECOMPUTE_BIT } from "../binary";
import { amount, group } from "../format";
import type { Model } from "../model";
import type { MemoryChart } from "./memory";

export function showMemory(chart: MemoryChart, model: Model): void {
  const unit = model.graph?.cost_unit ?? "";
  chart.setAxis(model.view.clock, (value) => amount(Number.isInteger(value) ? value : Number(value.toPrecision(3)), unit));
  chart.setStack(model.view.memory, model.layout, model.player?.memory(0) ?? 0);
}

const WHY = { compute: "computed", recompute: "recomputed", load: "loaded", given: "given" };

/** From when to when a value is in memory, and for whom it is kept. */
export function valueLines(model: Model, node: number, step: number): string[] {
  const { player, layout, frames } = model;
  if (!player || !layout || !frames) return [];
  const life = player.lifetimes(node).find((one) => one.from <= step && step <= one.to);
  if (!life) return [];
  const lines = [`in memory from move ${group(life.from)} (${WHY[life.why]}) to ${life.to >= frames.moveCount ? "the end" : group(life.to)}`];
  const readers = new Set<number>();
  for (let e = 0; e < layout.edgeCount; e++) if (layout.edgeFrom[e] === node) readers.add(layout.edgeTo[e]);
  for (let i = step; i < Math.min(frames.moveCount, life.to + 1); i++) {
    const op = frames.op[i] & ~RECOMPUTE_BIT;
    if (op > Op.Uncompute || !readers.has(frames.node[i])) continue;
    lines.push(`kept for ${layout.names.get(frames.node[i])}, move ${group(i + 1)}`);
    return lines;
  }
  lines.push(life.to >= frames.moveCount ? "kept to the end" : "no longer read");
  return lines;
}
