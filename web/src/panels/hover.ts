// A small card next to the pointer: name, size, cost and state of the node below it.
import type { GraphInfo } from "../api_types";
import type { Layout } from "../binary";
import { h, setText } from "../dom";
import { amount, plural } from "../format";
import { membersOf } from "../scene/picture";
import type { Model } from "../model";
import { STATE_WORDS } from "../node_state";

function nodeText(model: Model, layout: Layout, graph: GraphInfo, node: number): string {
  const state = model.player ? STATE_WORDS[model.player.states[node]] : "";
  return `${amount(layout.size[node], graph.size_unit)} · ${amount(layout.cost[node], graph.node_cost_unit ?? graph.cost_unit)}${state ? ` · ${state}` : ""}`;
}

function groupText(model: Model, layout: Layout, graph: GraphInfo, item: number): string {
  const members = model.picture ? membersOf(model.picture, item) : [];
  const sum = (nodes: number[]): number => nodes.reduce((all, node) => all + layout.size[node], 0);
  const held = members.filter((node) => model.player?.isResident(node));
  const text = `${plural(members.length, "value")}, ${amount(sum(members), graph.size_unit)}`;
  return `${text}${model.player ? ` · ${held.length} in memory, ${amount(sum(held), graph.size_unit)}` : ""} · click to open`;
}

export class Hover {
  readonly element = h("div", { class: "hover-card", hidden: true, "aria-hidden": "true" });
  private readonly name = h("b");
  private readonly text = h("span");

  constructor() {
    this.element.append(this.name, this.text);
  }

  /** `target`: a node, or after the nodes a group; `item`: what is drawn for it. */
  show(model: Model, target: number | null, x: number, y: number, item: number | null = target): void {
    const { layout, graph } = model;
    this.element.hidden = target === null || !layout || !graph;
    if (target === null || !layout || !graph) return;
    setText(this.name, layout.names.get(target));
    setText(this.text, target < layout.nodeCount ? nodeText(model, layout, graph, target) : groupText(model, layout, graph, item ?? 0));
    const host = this.element.parentElement;
    const flip = host && x > host.clientWidth - 240;
    this.element.style.left = flip ? "" : `${x + 14}px`;
    this.element.style.right = flip && host ? `${host.clientWidth - x + 14}px` : "";
    this.element.style.top = `${y + 14}px`;
  }
}
