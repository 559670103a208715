// A small card next to the pointer: name, size, cost and state of the node below it.
import { h, setText } from "../dom";
import { amount } from "../format";
import type { Model } from "../model";
import { STATE_WORDS } from "../node_state";

export class Hover {
  readonly element = h("div", { class: "hover-card", hidden: true, "aria-hidden": "true" });
  private readonly name = h("b");
  private readonly text = h("span");

  constructor() {
    this.element.append(this.name, this.text);
  }

  show(model: Model, node: number | null, x: number, y: number): void {
    const { layout, graph } = model;
    this.element.hidden = node === null || !layout || !graph;
    if (node === null || !layout || !graph) return;
    setText(this.name, layout.names.get(node));
    const state = model.player ? STATE_WORDS[model.player.states[node]] : "";
    setText(this.text, `${amount(layout.size[node], graph.size_unit)} · ${amount(layout.cost[node], graph.node_cost_unit ?? graph.cost_unit)}${state ? ` · ${state}` : ""}`);
    const host = this.element.parentElement;
    const flip = host && x > host.clientWidth - 240;
    this.element.style.left = flip ? "" : `${x + 14}px`;
    this.element.style.right = flip && host ? `${host.clientWidth - x + 14}px` : "";
    this.element.style.top = `${y + 14}px`;
  }
}
