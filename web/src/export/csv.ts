// Comparison and sweep as CSV. Figures are exact, in the units of the graph; names are those of `pebble sweep --csv`.
import type { GraphInfo, Metrics, Row, Sweep } from "../api_types";
import { costText, ratio, whole } from "../exact";
import type { Model } from "../model";
import { rank } from "../model";
import { rowName } from "../words";

type Value = string | number | null | undefined;

const METRICS = ["peak", "work", "io", "makespan", "recompute", "recompute_count", "uncompute", "flux", "moves", "depth"] as const;

/** RFC 4180: quoted if it contains a comma, a quote or a line break. */
function field(value: Value): string {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function table(rows: readonly (readonly Value[])[]): string {
  return rows.map((row) => row.map(field).join(",")).join("\n") + "\n";
}

function figures(m: Metrics | null): Value[] {
  return METRICS.map((name) => m?.[name]);
}

function units(graph: GraphInfo): [string, string] {
  return [graph.size_unit, graph.cost_unit];
}

export function comparisonCsv(model: Model): string {
  const { graph } = model;
  if (!graph) return "";
  const { fresh, winner, weights } = rank(model);
  const [alpha, beta, gamma] = model.view.weights;
  const peak = whole(graph.written_peak);
  const head = ["graph", "game", "strategy", "name", "alpha", "beta", "gamma", "cap", "outcome", "reason", ...METRICS, "operations", "program_order_peak", "peak_share", "cost", "overhead", "lower_bound", "gap", "winner", "size_unit", "cost_unit"];
  const line = (row: Row): Value[] => {
    const m = row.metrics;
    return [
      graph.name, row.game, row.asked ?? row.strategy, rowName(row), alpha, beta, gamma, model.view.cap, row.outcome, row.reason, ...figures(m), m ? row.operations : null,
      graph.written_peak, m && peak ? ratio(whole(m.peak), peak) : null, m && weights ? costText(m, weights) : null, m?.overhead, row.lower_bound, row.gap, row === winner ? 1 : 0, ...units(graph),
    ];
  };
  return table([head, ...fresh.map(line)]);
}

export function sweepCsv(graph: GraphInfo, sweep: Sweep): string {
  const head = ["graph", "game", "strategy", "chosen", "cap", "cap_share", "outcome", "reason", ...METRICS, "overhead", "lower_bound", "front", "knee", "size_unit", "cost_unit"];
  const rows = sweep.cells.map((cell, i): Value[] => [
    graph.name, cell.game, cell.strategy, cell.chosen, cell.cap, cell.cap_share, cell.outcome, cell.reason, ...figures(cell.metrics), cell.metrics?.overhead, cell.lower_bound,
    sweep.front.includes(i) ? 1 : 0, sweep.knee === i ? 1 : 0, ...units(graph),
  ]);
  return table([head, ...rows]);
}
