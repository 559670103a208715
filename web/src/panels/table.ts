// Comparison of the strategies, best first. The figures are those of the server's rows; only the cost depends on the weights.
import type { Metrics, Row } from "../api";
import { h, icon, setText } from "../dom";
import { comparePlans, costText, ratio, sameWeights, whole, type Weights } from "../exact";
import { amount, columnUnit, fluxScale, group, percent, scaled, scaleFor, type Scale } from "../format";
import { isIdle, lineName, linesOf, type Line } from "../lines";
import { isPlanning, rank, type Actions, type Entry, type Model, type Panel } from "../model";
import { capValue } from "../sizes";
import { askedStrategies } from "../store";
import { suggestion } from "../suggestion";
import { effort, playable, rowKey, rowName, TERMS, verdict } from "../words";
import { failureCell } from "./failure_cell";

type Column = "strategy" | "outcome" | "peak" | "ratio" | "recompute" | "uncompute" | "io" | "total" | "extra" | "operations" | "flux" | "cost" | "gap";

const COLUMNS: { key: Column; label: string; tip: string }[] = [
  { key: "strategy", label: "strategy", tip: "Click a row to play its plan." },
  { key: "outcome", label: "", tip: TERMS.outcome },
  { key: "peak", label: "peak", tip: TERMS.peak },
  { key: "ratio", label: "× program", tip: TERMS.ratio },
  { key: "recompute", label: "recompute", tip: TERMS.recompute },
  { key: "uncompute", label: "uncompute", tip: TERMS.uncompute },
  { key: "io", label: "transfers", tip: TERMS.io },
  { key: "total", label: "total", tip: TERMS.total },
  { key: "extra", label: "extra", tip: TERMS.extra },
  { key: "operations", label: "operations", tip: TERMS.operations },
  { key: "flux", label: "flux", tip: TERMS.flux },
  { key: "cost", label: "cost", tip: TERMS.cost },
  { key: "gap", label: "gap", tip: TERMS.gap },
];

const OUTCOMES = {
  optimal: { mark: "◆", text: "optimal: proved to have the lowest cost" },
  found: { mark: "●", text: "found: a verified plan" },
  infeasible: { mark: "⊘", text: "impossible: proved that no plan fits" },
  gave_up: { mark: "✗", text: "no plan" },
};

interface Scales {
  peak: Scale;
  total: Scale;
  flux: Scale;
  operations: Scale;
  cost: Scale;
}

export class ComparisonTable implements Panel {
  readonly element: HTMLElement;
  private readonly title = h("h2", { "data-testid": "verdict-title" }, "\u00a0");
  private readonly text = h("p", { class: "verdict-text", "data-testid": "verdict" });
  private readonly raise = h("button", { type: "button", class: "small raise", hidden: true, "data-testid": "raise-cap" });
  private readonly all = h("input", { type: "checkbox", "data-testid": "all-strategies", change: () => this.actions.setAll(this.all.checked) });
  private readonly allLabel = h("label", { class: "all", "data-tip": TERMS.all, hidden: true }, this.all, "All strategies");
  private readonly heads: HTMLTableCellElement[];
  private readonly body = h("tbody");
  private readonly units: Partial<Record<Column, HTMLElement>> = {};
  private readonly table = h("table", { class: "compare", "data-testid": "comparison", "aria-label": "Comparison of strategies" });
  private readonly empty = h("p", { class: "empty" });
  private sort: { column: Column; down: boolean } | null = null;
  private model: Model | null = null;
  private drawn = "";

  constructor(private readonly actions: Actions) {
    this.heads = COLUMNS.map((column) => {
      const unit = h("small");
      this.units[column.key] = unit;
      return h(
        "th",
        { scope: "col", class: `col-${column.key}` },
        h(
          "button",
          {
            type: "button", "data-tip": column.tip, "data-testid": `sort-${column.key}`, "aria-label": column.label ? null : `Sort by ${column.key}`,
            click: () => this.sortBy(column.key),
          },
          column.label,
          unit,
        ),
      );
    });
    this.table.append(h("thead", null, h("tr", null, ...this.heads)), this.body);
    this.element = h(
      "section",
      { class: "comparison", "aria-label": "Comparison" },
      h("div", { class: "verdict", "aria-live": "polite" }, h("div", { class: "verdict-head" }, this.title, this.raise, this.allLabel), this.text),
      h("div", { class: "table-scroll", tabindex: "-1" }, this.table, this.empty),
    );
  }

  private sortBy(column: Column): void {
    // Ascending, then descending, then best first.
    if (this.sort?.column !== column) this.sort = { column, down: false };
    else this.sort = this.sort.down ? null : { column, down: true };
    this.drawn = "";
    if (this.model) this.update(this.model);
  }

  /** Keys of the rows in displayed order, for the keyboard. */
  keys(): string[] {
    return [...this.body.querySelectorAll<HTMLElement>("tr[data-plan]")].map((row) => row.dataset.key ?? "");
  }

  /** Place of the playing row among them; -1: none. */
  shownIndex(): number {
    return [...this.body.querySelectorAll("tr[data-plan]")].findIndex((row) => row.classList.contains("shown"));
  }

  update(model: Model): void {
    this.model = model;
    this.allLabel.hidden = !model.about;
    this.all.checked = model.view.all;
    const ranking = rank(model);
    this.element.classList.toggle("stale", model.entries.some((entry) => entry.stale));
    this.drawVerdict(model);
    const shown = model.shown ? rowKey(model.shown) : "";
    const key = JSON.stringify([model.entries, model.view.weights, shown, this.sort, model.view.all, model.view.beside, model.view.strategies, model.planWeights, model.phase, pending(model), model.planning.incumbent]);
    if (key === this.drawn) return;
    this.drawn = key;
    setText(this.empty, this.emptyText(model));
    if (!model.graph || !ranking.weights) return;
    const scales = this.scales(model, ranking.weights);
    // What no plan has, or what decides nothing under these weights, is left out.
    const costs = ranking.weights.parts[0] > 0n || ranking.weights.parts[1] > 0n;
    const none = (pick: (m: Metrics) => number | string): boolean => !model.entries.some((entry) => entry.row.metrics && Number(pick(entry.row.metrics)));
    const parts = [none((m) => m.recompute), none((m) => m.uncompute), none((m) => m.io)];
    for (const [i, name] of ["no-recompute", "no-uncompute", "no-io"].entries()) this.table.classList.toggle(name, parts[i]);
    this.table.classList.toggle("many", parts.filter((absent) => !absent).length > 1); // in a narrow window others make room for them
    // Where each operation costs one unit, the total is their number.
    this.table.classList.toggle("no-operations", model.entries.every(({ row }) => !row.metrics || String(row.operations) === String(row.metrics.makespan)));
    this.table.classList.toggle("no-flux", ranking.weights.parts[1] === 0n && !model.view.all);
    this.table.classList.toggle("no-cost", !costs);
    const live = sameWeights(model.planWeights, model.view.weights);
    const focused = this.body.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
    const entries = this.ordered(model, ranking.weights);
    const idle = entries.filter((entry) => isIdle(entry.row, model.view.strategies));
    const lines = linesOf(entries.filter((entry) => !idle.includes(entry)), ranking.winner);
    this.body.replaceChildren(
      ...lines.map((line) => this.drawLine(line, model, ranking.weights, scales, shown, ranking.winner, live)),
      ...(idle.length ? [idleRow(idle)] : []),
      ...pending(model).map((name, i, all) => this.drawPending(name, model, all.findIndex((other) => base(other) === base(name)) === i)),
    );
    if (focused) this.body.querySelector<HTMLElement>(`tr[data-key="${CSS.escape(focused)}"]`)?.focus();
    this.heads.forEach((head, i) => {
      const column = COLUMNS[i].key;
      head.setAttribute("aria-sort", this.sort?.column === column ? (this.sort.down ? "descending" : "ascending") : "none");
    });
  }

  private emptyText(model: Model): string {
    if (model.entries.length) return "";
    if (model.phase === "opening" || model.phase === "starting") return "Opening…";
    if (!model.graph) return "Open a graph to compare strategies on it.";
    return askedStrategies(model.about, model.view).length ? "Planning…" : "Choose at least one strategy on the left.";
  }

  private drawVerdict(model: Model): void {
    const rows = rank(model).fresh;
    const live = sameWeights(model.planWeights, model.view.weights);
    this.drawRaise(model, rows);
    const settled = !isPlanning(model) || rows.some((row) => row.metrics);
    const result = model.graph && settled ? verdict(rows, model.graph, model.view.weights, live, model.proved) : null;
    if (model.graph && !settled && rows.length) {
      setText(this.title, "Planning…");
      setText(this.text, stillLooking(model, rows));
    } else if (result) {
      setText(this.title, result.title);
      setText(this.text, result.text);
    } else if (!model.entries.length) {
      const idle = model.graph && !askedStrategies(model.about, model.view).length;
      setText(this.title, idle ? "Nothing to compare" : model.graph ? "Planning…" : "Comparison");
      setText(this.text, "");
    }
  }

  private drawRaise(model: Model, rows: Row[]): void {
    const stuck = rows.length > 0 && !isPlanning(model) && rows.every((row) => !row.metrics);
    const graph = model.graph;
    const offer = stuck && graph ? suggestion(model.sweep, capValue(model.view.cap, graph.written_peak, graph.size_unit), model.view.strategies) : null;
    this.raise.hidden = !offer;
    if (!offer || !graph) return;
    if (offer.kind === "raise") {
      setText(this.raise, `Raise the cap to ${amount(offer.cap, graph.size_unit)}`);
      this.raise.onclick = () => this.actions.setCap(String(offer.cap));
    } else {
      setText(this.raise, `Add ${offer.strategy}, which fits`);
      this.raise.onclick = () => this.actions.setStrategies([...model.view.strategies, offer.strategy]);
    }
  }

  private scales(model: Model, weights: Weights | null): Scales {
    const rows = model.entries.map((entry) => entry.row.metrics).filter((m): m is Metrics => m !== null);
    const graph = model.graph;
    const max = (pick: (m: Metrics) => number | string): number => Math.max(0, ...rows.map((m) => Number(pick(m))));
    const peak = scaleFor(max((m) => m.peak), graph?.size_unit ?? "");
    const total = scaleFor(max((m) => m.makespan), graph?.cost_unit ?? "");
    const unit = (key: Column, text: string): void => {
      const element = this.units[key];
      if (element) setText(element, text);
    };
    const flux = fluxScale(max((m) => m.flux), graph?.size_unit ?? "", graph?.cost_unit ?? "");
    const operations = scaleFor(Math.max(0, ...model.entries.map((entry) => Number(entry.row.operations ?? 0))), "");
    const cost = scaleFor(weights ? max((m) => costText(m, weights)) : 0, graph?.cost_unit ?? "");
    const [size, work] = [columnUnit(peak, graph?.size_unit ?? ""), columnUnit(total, graph?.cost_unit ?? "")];
    unit("peak", size);
    unit("ratio", "order");
    unit("extra", effort(graph));
    for (const key of ["recompute", "uncompute", "io", "total"] as const) unit(key, work);
    unit("flux", flux.unit);
    unit("operations", operations.unit || "count");
    unit("cost", columnUnit(cost, graph?.cost_unit ?? ""));
    return { peak, total, flux, operations, cost };
  }

  private ordered(model: Model, w: Weights): Entry[] {
    const entries = model.entries.map((entry, i) => ({ entry, i }));
    const natural = (a: Entry, b: Entry): number => {
      if (a.row.metrics && b.row.metrics) return comparePlans(a.row.metrics, b.row.metrics, w);
      return Number(!a.row.metrics) - Number(!b.row.metrics);
    };
    const sort = this.sort;
    const by = (a: Entry, b: Entry): number => {
      if (!sort) return natural(a, b);
      const x = this.sortValue(a.row, sort.column, w);
      const y = this.sortValue(b.row, sort.column, w);
      if (x === null || y === null) return Number(x === null) - Number(y === null);
      const order = x < y ? -1 : x > y ? 1 : natural(a, b);
      return sort.down ? -order : order;
    };
    return entries.sort((a, b) => by(a.entry, b.entry) || a.i - b.i).map(({ entry }) => entry);
  }

  private sortValue(row: Row, column: Column, w: Weights): bigint | number | string | null {
    if (column === "strategy") return rowName(row);
    if (column === "outcome") return ["optimal", "found", "gave_up", "infeasible"].indexOf(row.outcome);
    const m = row.metrics;
    if (!m) return null;
    if (column === "gap") return row.gap ?? Infinity;
    if (column === "cost") {
      const cost = costText(m, w).split(".");
      return BigInt(cost[0] + (cost[1] ?? "").padEnd(9, "0"));
    }
    if (column === "extra") return m.overhead;
    if (column === "operations") return whole(row.operations ?? m.moves);
    return whole(column === "ratio" ? m.peak : column === "total" ? m.makespan : m[column]);
  }

  private drawLine(
    line: Line, model: Model, w: Weights | null, scales: Scales, shown: string, winner: Row | null, live: boolean,
  ): HTMLElement {
    const entry = line.lead;
    const row = entry.row;
    const key = rowKey(row);
    const plays = playable(row);
    const keys = line.entries.map((one) => rowKey(one.row));
    const playing = keys.includes(shown);
    const wins = winner === row && !entry.stale;
    // A proof for other weights does not hold for these.
    const outcome = row.outcome === "optimal" && !live ? "found" : row.outcome;
    const element = h("tr", {
      class: [entry.stale ? "stale" : "", wins ? "winner" : "", playing ? "shown" : "", row.metrics ? "" : "failed"].join(" ").trim(),
      "data-testid": `row-${key}`, "data-key": key, "data-keys": keys.join(" "), "data-plan": plays, "data-outcome": row.outcome,
      tabindex: plays ? "0" : null, "aria-selected": String(playing),
      click: plays ? () => this.actions.show(key) : null,
      keydown: (event: KeyboardEvent) => {
        if (event.key === "Enter" && plays) this.actions.show(key);
      },
    });
    const games = new Set(model.entries.map((one) => one.row.game));
    const { name, detail } = lineName(line, askedStrategies(model.about, model.view), wins);
    element.append(
      h(
        "th",
        { scope: "row", title: line.entries.map((one) => this.nameTip(one.row)).join("\n\n") },
        h(
          "div",
          null,
          h("span", { class: "star", "aria-label": wins ? "winner" : null }, wins ? "★" : ""),
          nameSpan(name, detail),
          plays && model.about ? this.besideButton(keys, key, playing, model) : null,
          games.size > 1 && row.game !== "remat" ? h("small", { class: "tag", title: `in the ${row.game} game` }, row.game.slice(0, 3)) : null,
        ),
      ),
      h("td", { class: `outcome ${outcome}`, title: OUTCOMES[outcome].text, "aria-label": OUTCOMES[outcome].text }, OUTCOMES[outcome].mark),
    );
    if (row.metrics && w) element.append(...this.figures(row, row.metrics, model, w, scales));
    else element.append(failureCell(row, (node) => this.actions.follow(node, true)));
    return element;
  }

  /** The server reports the strategy without its settings: of several pending rows, the first is being planned. */
  private drawPending(name: string, model: Model, first: boolean): HTMLElement {
    const best = model.planning.incumbent;
    const mine = first && best && base(best.strategy) === base(name) ? best : null;
    const size = model.graph?.size_unit ?? "";
    const text = mine ? `so far ${amount(mine.peak, size)} and ${percent(mine.overhead)} extra ${effort(model.graph)}` : "planning…";
    return h(
      "tr",
      { class: "pending", "data-testid": `pending-${name}` },
      h("th", { scope: "row" }, h("div", null, h("span", { class: "star" }), nameSpan(name))),
      h("td", { class: "outcome" }, "…"),
      h("td", { class: "so-far", colspan: "11" }, text),
    );
  }

  /** Plays this row next to the shown one. */
  private besideButton(keys: string[], key: string, playing: boolean, model: Model): HTMLElement {
    const on = keys.find((one) => model.view.beside.includes(one));
    const label = on ? "Do not play this row next to the shown one" : "Play this row next to the shown one";
    return h(
      "button",
      {
        type: "button", class: "beside-toggle", "aria-pressed": String(on !== undefined), "aria-label": label, "data-tip": label, "data-testid": `beside-${key}`,
        disabled: playing && !on,
        click: (event: MouseEvent) => {
          event.stopPropagation();
          this.actions.toggleBeside(on ?? key);
        },
        keydown: (event: KeyboardEvent) => event.stopPropagation(),
      },
      icon("beside"),
    );
  }

  private nameTip(row: Row): string {
    const options = Object.entries(row.options ?? {}).map(([key, value]) => `${key}=${value}`);
    const asked = row.asked ?? row.strategy;
    const name = rowName(row) === asked ? asked : `${rowName(row)}: ${asked}`;
    return [`${name} in the ${row.game} game`, options.join(", "), row.note ?? ""].filter(Boolean).join("\n");
  }

  private figures(row: Row, m: Metrics, model: Model, w: Weights, scales: Scales): HTMLElement[] {
    const graph = model.graph;
    const size = graph?.size_unit ?? "";
    const cost = graph?.cost_unit ?? "";
    const text = costText(m, w);
    const peaks = model.entries.map((entry) => Number(entry.row.metrics?.peak ?? 0));
    const totals = model.entries.map((entry) => Number(entry.row.metrics?.makespan ?? 0));
    const written = graph ? whole(graph.written_peak) : 0n;
    const share = written ? ratio(whole(m.peak), written) : 1;
    const operations = row.operations ?? m.moves;
    const parts = ([["recomputing", m.recompute], ["uncomputing", m.uncompute], ["transfers", m.io]] as const).filter(([, value]) => Number(value));
    const extra = parts.map(([what, value]) => `${what} ${group(value)} ${cost}`).join(", ") || "nothing is computed twice";
    return [
      cell("peak", scaled(m.peak, scales.peak), m.peak, `${amount(m.peak, size)} = ${group(m.peak)} ${size}`, Number(m.peak) / Math.max(1, ...peaks)),
      cell("ratio", share.toFixed(share < 0.0995 ? 3 : 2), m.peak, `${group(m.peak)} of ${group(written)} ${size} in program order`),
      ...(["recompute", "uncompute", "io"] as const).map((key) => cell(key, scaled(m[key], scales.total), m[key], `${group(m[key])} ${cost}`)),
      cell("total", scaled(m.makespan, scales.total), m.makespan, sumText(m, cost), Number(m.makespan) / Math.max(1, ...totals)),
      cell("extra", percent(m.overhead), String(m.overhead), extra),
      cell("operations", scaled(operations, scales.operations), operations, `${group(operations)} operations, ${group(m.recompute_count)} of them compute a value again; ${group(m.moves)} moves with those that free; critical path ${group(m.depth)}`),
      cell("flux", scaled(m.flux, scales.flux), m.flux, fluxTip(m, size, cost)),
      cell("cost", shortCost(text, scales.cost), text, `${group(text)} with weights ${model.view.weights.join(", ")}`),
      cell("gap", row.gap === null ? "–" : percent(row.gap), row.gap, row.lower_bound === null ? "" : `lower bound ${group(row.lower_bound)} ${cost}`),
    ];
  }
}

/** Settings may wrap to their own line, so that they are visible: they distinguish rows of one strategy. */
function nameSpan(name: string, detail = ""): HTMLElement {
  const [head, ...settings] = name.split(/(?<=:)/);
  const wraps = settings.length || detail || /[→,]/.test(name);
  const span = h("span", { class: wraps ? "name settings" : "name" }, head, ...settings.flatMap((text) => [h("wbr"), text]));
  if (detail) span.append(" ", h("small", null, detail));
  return span;
}

/** One line instead of a row for each: these would hide the rows with plans. */
function idleRow(idle: Entry[]): HTMLElement {
  const names = [...new Set(idle.map((entry) => entry.row.asked ?? entry.row.strategy))].join(", ");
  const why = [...new Set(idle.map((entry) => `${entry.row.strategy}: ${entry.row.reason ?? ""}`))].join("\n");
  return h("tr", { class: "idle", "data-testid": "idle", title: why }, h("td", { colspan: "13" }, `Not for this graph: ${names}`));
}

function base(text: string): string {
  return text.split(":")[0];
}

/** Requested strategies that have no row yet, not even an old one. */
function pending(model: Model): string[] {
  if (!isPlanning(model)) return [];
  const game = model.view.game;
  const plays = (name: string): boolean => {
    const info = model.about?.strategies.find((one) => one.name === name.split(":")[0]);
    return info !== undefined && (!game || info.games.includes(game));
  };
  const there = new Set(model.entries.map((entry) => entry.row.asked ?? entry.row.strategy));
  return askedStrategies(model.about, model.view).filter((name) => plays(name) && !there.has(name));
}

function stillLooking(model: Model, rows: Row[]): string {
  const best = model.planning.incumbent;
  const none = rows.length === 1 ? `${rowName(rows[0])} has no plan here.` : `${rows.length} strategies have no plan here.`;
  if (!best || !model.graph) return `${none} The others are still planning.`;
  return `${none} ${best.strategy} has one with ${percent(best.overhead)} extra ${effort(model.graph)} and is searching for a better one.`;
}

/** What the total is made of, exactly. In the timed game the parts overlap, so they do not add up. */
function sumText(m: Metrics, unit: string): string {
  const parts = ([["recompute", m.recompute], ["uncompute", m.uncompute], ["transfers", m.io]] as const).filter(([, value]) => Number(value));
  const once = whole(m.makespan) - parts.reduce((sum, [, value]) => sum + whole(value), 0n);
  if (m.span !== undefined || once < 0n) return `${group(m.makespan)} ${unit} from the first move to the end of the last`;
  return [`computing each value once ${group(once)}`, ...parts.map(([what, value]) => `${what} ${group(value)}`)].join(" + ") + ` = ${group(m.makespan)} ${unit}`;
}

/** In a unit of its own, and exactly. */
function fluxTip(m: Metrics, size: string, cost: string): string {
  const scale = fluxScale(Number(m.flux), size, cost);
  const exact = `${group(m.flux)} ${size}·${cost}`;
  return scale.unit.includes("·") ? `${scaled(m.flux, scale)} ${scale.unit} = ${exact}` : exact;
}

/** Short costs are shown in full, longer ones in the unit of their column. */
function shortCost(text: string, scale: Scale): string {
  return text.length <= 6 && scale.divide === 1 ? text : scaled(text, scale);
}

function cell(column: Column, text: string, value: number | string | null, tip: string, bar: number | null = null): HTMLElement {
  const td = h("td", { class: `num col-${column}`, title: tip, "data-col": column, "data-value": value === null ? "" : String(value) }, h("span", null, text));
  if (bar !== null) {
    const fill = h("i", { class: "bar" });
    fill.style.width = `${Math.max(2, 100 * bar)}%`;
    td.append(fill);
  }
  return td;
}
