// Peak versus work: a dot for every strategy at this cap, faint dots for other caps, the Pareto front with its knee,
// and the proved lower bound.
import type { GraphInfo, Metrics, Row } from "../api";
import { h, setText, svg } from "../dom";
import { amount, group, percent, scaleFor, unitWord } from "../format";
import { isPlanning, rank, type Actions, type Model, type Panel } from "../model";
import { minCap } from "../proved";
import { capValue } from "../sizes";
import { effort, rowKey, rowName, TERMS } from "../words";

const MARGIN = { left: 52, right: 14, top: 22, bottom: 28 };

interface Point {
  peak: number;
  work: number;
}

interface Space {
  x(value: number): number;
  y(value: number): number;
  width: number;
  height: number;
}

function pointOf(m: Metrics): Point {
  return { peak: Number(m.peak), work: Number(m.makespan) };
}

/** Round numbers for an axis. */
export function ticks(low: number, high: number, count: number): number[] {
  const span = high - low;
  if (!(span > 0)) return [low];
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((k) => k >= rough) ?? 10 * power;
  const out: number[] = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step * 1e-9; at += step) out.push(at);
  return out;
}

/** The points that no other point beats in both, by ascending peak. */
export function frontOf(points: Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a.peak - b.peak || a.work - b.work);
  const front: Point[] = [];
  for (const p of sorted) if (!front.length || p.work < front[front.length - 1].work) front.push(p);
  return front;
}

/** The point farthest below the line between the ends, as in a sweep; null if there is no bend. */
export function kneeOf(front: Point[]): Point | null {
  if (front.length < 3) return null;
  const last = front[0]; // least memory, most work
  const first = front[front.length - 1];
  let furthest = 1e-9;
  let knee: Point | null = null;
  for (let i = front.length - 2; i > 0; i--) {
    const x = (front[i].peak - last.peak) / (first.peak - last.peak);
    const y = (front[i].work - first.work) / (last.work - first.work);
    if (1 - x - y <= furthest) continue;
    furthest = 1 - x - y;
    knee = front[i];
  }
  return knee;
}

export class Scatter implements Panel {
  readonly element: HTMLElement;
  private readonly drawing = svg("svg", { class: "scatter", role: "img", "aria-label": "Peak memory versus work", "data-testid": "scatter" });
  private readonly note = h("span", { class: "chart-note", "data-testid": "scatter-note" });
  private drawn = "";
  private model: Model | null = null;

  constructor(private readonly actions: Actions) {
    this.element = h(
      "section",
      { class: "chart-card scatter-card", "aria-label": "Memory versus work" },
      h("div", { class: "chart-head" }, h("h2", { "data-tip": "Each dot is a plan. Down and to the left is better." }, "Memory versus work"), this.note),
      this.drawing,
    );
    new ResizeObserver(() => {
      this.drawn = "";
      if (this.model) this.update(this.model);
    }).observe(this.drawing);
  }

  update(model: Model): void {
    this.model = model;
    setText(this.note, model.sweeping ? "sweeping caps…" : "");
    const graphMin = model.graph ? String(minCap(model.graph, model.view, model.proved)) : "";
    const key = JSON.stringify([
      model.entries.map((entry) => [rowKey(entry.row), entry.stale, entry.row.metrics?.peak, entry.row.metrics?.makespan]),
      model.sweep?.cells.length, model.sweep?.front, model.shown && rowKey(model.shown), model.view.cap, model.view.weights, model.graph?.id, graphMin, isPlanning(model) && model.planning.incumbent,
    ]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.draw(model);
  }

  private draw(model: Model): void {
    const graph = model.graph;
    const width = this.drawing.clientWidth || 400;
    const height = this.drawing.clientHeight || 180;
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.drawing.replaceChildren();
    if (!graph) return;
    const rows = model.entries.filter((entry) => entry.row.metrics).map((entry) => entry.row);
    const cells = model.sweep?.cells.filter((cell) => cell.metrics) ?? [];
    const points = rows.map((row) => pointOf(row.metrics as Metrics));
    const swept = (model.sweep?.front ?? []).map((i) => model.sweep?.cells[i]?.metrics).filter((m): m is Metrics => !!m).map(pointOf);
    const front = swept.length ? frontOf([...swept, ...points]) : [];
    const best = isPlanning(model) ? model.planning.incumbent : null;
    if (best) points.push({ peak: Number(best.peak), work: Number(best.makespan) });
    const space = this.space(graph, points, front, width, height);
    this.axes(graph, space, height);
    this.proved(model, graph, space);
    for (const cell of cells) {
      const p = pointOf(cell.metrics as Metrics);
      if (p.work <= space.height) this.drawing.append(svg("circle", { class: "dot other", cx: space.x(p.peak), cy: space.y(p.work), r: 2 }));
    }
    this.frontLine(front, space);
    this.knee(graph, front, space);
    this.rows(model, rows, space);
    this.incumbent(model, space);
  }

  /** Work may be many times the minimum: the axis ends above the front, and plans beyond it are rings at its edge. */
  private space(graph: GraphInfo, points: Point[], front: Point[], width: number, height: number): Space {
    const needed = Number(graph.needed_cost);
    const highX = Math.max(Number(graph.written_peak), ...points.map((p) => p.peak), ...front.map((p) => p.peak)) * 1.06 || 1;
    const min = Math.min(...points.map((p) => p.work), Infinity);
    const ends = (front.length ? front : points).map((p) => p.work);
    const max = Math.max(needed, Number.isFinite(min) ? min : needed, ...ends);
    const highY = Math.max(needed * 1.04, max + (max - needed) * 0.15);
    const lowY = needed - (highY - needed) * 0.1;
    return {
      x: (value) => MARGIN.left + (Math.min(value, highX) / highX) * (width - MARGIN.left - MARGIN.right),
      y: (value) => height - MARGIN.bottom - ((Math.min(value, highY) - lowY) / (highY - lowY || 1)) * (height - MARGIN.top - MARGIN.bottom),
      width: highX,
      height: highY,
    };
  }

  private axes(graph: GraphInfo, space: Space, height: number): void {
    const base = height - MARGIN.bottom;
    const end = space.x(space.width);
    const scale = scaleFor(space.width, graph.size_unit);
    for (const tick of ticks(0, space.width / scale.divide, 5)) {
      const x = space.x(tick * scale.divide);
      this.drawing.append(
        svg("line", { class: "grid", x1: x, x2: x, y1: MARGIN.top, y2: base }),
        svg("text", { class: "tick", x, y: base + 12, "text-anchor": "middle" }, group(Number(tick.toPrecision(4)))),
      );
    }
    const needed = Number(graph.needed_cost);
    for (const tick of ticks(0, space.height / needed - 1, 5)) {
      const y = space.y(needed * (1 + tick));
      this.drawing.append(
        svg("line", { class: "grid", x1: MARGIN.left, x2: end, y1: y, y2: y }),
        svg("text", { class: "tick", x: MARGIN.left - 5, y: y + 3, "text-anchor": "end" }, tick === 0 ? "once" : percent(tick, true).replace(".0", "")),
      );
    }
    this.drawing.append(
      svg("text", { class: "axis", x: end, y: base + 25, "text-anchor": "end" }, `peak memory (${scale.unit || unitWord(graph.size_unit, 2)})`),
      svg("text", { class: "axis", x: 4, y: 10 }, `extra ${effort(graph)}`),
    );
  }

  private proved(model: Model, graph: GraphInfo, space: Space): void {
    const top = space.y(space.height);
    const min = Math.min(Number(minCap(graph, model.view, model.proved)), space.width);
    const bottom = Number(this.drawing.getAttribute("viewBox")?.split(" ")[3] ?? 0) - MARGIN.bottom;
    if (min > 0) {
      const zone = svg("rect", { class: "zone", x: MARGIN.left, y: top, width: Math.max(0, space.x(min) - MARGIN.left), height: bottom - top });
      zone.append(svg("title", null, TERMS.infeasible));
      this.drawing.append(zone);
    }
    const cap = capValue(model.view.cap, graph.written_peak, graph.size_unit);
    if (cap !== null && Number.isFinite(cap) && cap <= space.width) {
      const x = space.x(cap);
      const best = rank(model).winner?.metrics;
      const high = best ? space.y(Number(best.makespan)) < top + 26 : false; // the winner's name is there
      const line = svg("line", { class: "cap-line", x1: x, x2: x, y1: top, y2: bottom });
      line.append(svg("title", null, `the cap, ${amount(cap, graph.size_unit)}`));
      this.drawing.append(line, svg("text", { class: "cap-label", x: x + 4, y: high ? bottom - 4 : top + 8 }, "cap"));
    }
    const winner = rank(model).winner;
    const bound = winner?.lower_bound ?? null;
    if (bound !== null && cap !== null) {
      const y = space.y(Number(bound));
      const line = svg("line", { class: "bound", x1: MARGIN.left, x2: space.x(Math.min(cap, space.width)), y1: y, y2: y });
      line.append(svg("title", null, "Lower bound: proved that no plan under this cap needs less work"));
      this.drawing.append(line);
      if (space.x(Math.min(cap, space.width)) > MARGIN.left + 150) {
        this.drawing.append(svg("text", { class: "bound-label", x: MARGIN.left + 5, y: y - 4 }, "lower bound at this cap"));
      }
    }
  }

  private frontLine(points: Point[], space: Space): void {
    const sorted = points.filter((p) => p.work <= space.height);
    if (!sorted.length) return;
    let d = "";
    sorted.forEach((p, i) => {
      // A plan also serves every larger cap, so the front is a staircase.
      d += i === 0 ? `M${space.x(p.peak)} ${space.y(p.work)}` : `H${space.x(p.peak)}V${space.y(p.work)}`;
    });
    const line = svg("path", { class: "front", d: `${d}H${space.x(space.width)}`, "data-testid": "front" });
    line.append(svg("title", null, TERMS.front));
    this.drawing.append(line);
  }

  private knee(graph: GraphInfo, front: Point[], space: Space): void {
    const p = kneeOf(front);
    if (!p) return;
    const ring = svg("circle", { class: "knee", cx: space.x(p.peak), cy: space.y(p.work), r: 7, "data-testid": "knee" });
    ring.append(svg("title", null, `${TERMS.knee} Here: ${amount(p.peak, graph.size_unit)}.`));
    const x = space.x(p.peak);
    const y = space.y(p.work);
    const low = y + 17 > space.y(Number(graph.needed_cost)) + 6; // the numbers of the axis are there
    this.drawing.append(ring, svg("text", { class: "knee-label", x: x - 6, y: low ? y - 10 : y + 17, "text-anchor": "end" }, "knee"));
  }

  /** The best plan of a search that is still running. */
  private incumbent(model: Model, space: Space): void {
    const best = model.planning.incumbent;
    if (!best || !isPlanning(model)) return;
    const dot = svg("circle", { class: "dot incumbent", cx: space.x(Number(best.peak)), cy: space.y(Number(best.makespan)), r: 5, "data-testid": "incumbent-dot" });
    dot.append(svg("title", null, `${best.strategy} so far: ${percent(best.overhead)} extra ${effort(model.graph)}`));
    this.drawing.append(dot);
  }

  private rows(model: Model, rows: Row[], space: Space): void {
    const winner = rank(model).winner;
    const shown = model.shown ? rowKey(model.shown) : "";
    for (const row of [...rows].sort((a, b) => Number(a === winner) - Number(b === winner))) {
      const p = pointOf(row.metrics as Metrics);
      const key = rowKey(row);
      const beyond = p.work > space.height;
      const dot = svg("circle", {
        class: `dot ${row === winner ? "winner" : ""} ${key === shown ? "shown" : ""} ${beyond ? "beyond" : ""}`,
        cx: space.x(p.peak), cy: space.y(p.work), r: row === winner ? 5.5 : 4, "data-key": key,
        click: row.plan ? () => this.actions.show(key) : null,
      });
      const unit = model.graph?.size_unit ?? "";
      const share = row.metrics ? percent(row.metrics.overhead) : "";
      dot.append(svg("title", null, `${rowName(row)}: ${amount(p.peak, unit)}, ${share} extra ${effort(model.graph)}${beyond ? " (beyond the axis)" : ""}`));
      this.drawing.append(dot);
      if (row !== winner) continue;
      const x = space.x(p.peak);
      const late = x > space.x(space.width) * 0.75; // no room on the right
      this.drawing.append(svg("text", { class: "dot-label", x: late ? x - 9 : x + 9, y: space.y(p.work) - 7, "text-anchor": late ? "end" : "start" }, rowName(row)));
    }
  }
}
