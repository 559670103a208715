// One line about the plan: where a file has a single plan, this replaces the comparison.
import { h, setText } from "../dom";
import { amount, group, percent } from "../format";
import type { Model, Panel } from "../model";
import { effort, rowName } from "../words";

const OUTCOMES = { optimal: "optimal", found: "found", gave_up: "no plan", infeasible: "infeasible" };

export class Facts implements Panel {
  readonly element: HTMLElement;
  private readonly name = h("b", { class: "graph-name", "data-testid": "graph-name" });
  private readonly size = h("span", { class: "graph-size" });
  private readonly plan = h("span", { class: "offline-plan", "data-testid": "plan-facts" });

  constructor(theme: HTMLElement) {
    this.element = h("header", { class: "topbar" }, h("h1", null, "Pebble-Bridge"), this.name, this.size, this.plan, h("span", { class: "spring" }), theme);
  }

  update(model: Model): void {
    const { graph, shown } = model;
    if (!graph) return;
    setText(this.name, graph.name);
    setText(this.size, `${group(graph.nodes)} nodes`);
    const m = shown?.metrics;
    if (!shown || !m) return setText(this.plan, "");
    const cap = shown.plan && model.frames && Number.isFinite(model.frames.cap) ? ` under a cap of ${amount(model.frames.cap, graph.size_unit)}` : "";
    const extra = m.overhead ? `${percent(m.overhead)} extra ${effort(graph)}` : `no extra ${effort(graph)}`;
    setText(this.plan, `${OUTCOMES[shown.outcome]} by ${rowName(shown)} in the ${shown.game} game: peak ${amount(m.peak, graph.size_unit)}${cap}, ${extra}`);
  }
}
