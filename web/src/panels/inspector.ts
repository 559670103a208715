// Details of one node: what it is, when its value is in memory, and why it is recomputed.
import type { Life, NodeExplain, NodeInfo, NodeRef } from "../api";
import { NONE } from "../binary";
import { h, icon, setText, svg } from "../dom";
import { amount, group, plural } from "../format";
import { Editor } from "./editor";
import type { Actions, Following, Model, Panel } from "../model";

const MAX_LIVES = 40;
const FLAG_WORDS: Record<string, string> = {
  given: "given at the start", target: "a result", pinned: "pinned", keep: "kept to the end", once: "computed at most once",
};

export class Inspector implements Panel {
  readonly element: HTMLElement;
  private readonly title = h("h2", { "data-testid": "node-name" });
  private readonly facts = h("p", { class: "facts" });
  private readonly strip = svg("svg", { class: "lives", role: "img", "aria-label": "When its value is in memory", preserveAspectRatio: "none" });
  private readonly head = svg("line", { class: "lives-head", y1: 0, y2: 14 });
  private readonly story = h("ol", { class: "story", "data-testid": "node-story" });
  private readonly links = h("div", { class: "node-links" });
  private readonly editor: Editor;
  private drawn: unknown[] = [];

  constructor(private readonly actions: Actions) {
    this.editor = new Editor((change) => actions.edit(change));
    this.element = h(
      "aside",
      { class: "inspector", "aria-label": "Node", "data-testid": "inspector", hidden: true },
      h(
        "header",
        null,
        this.title,
        h("button", { type: "button", class: "quiet", "aria-label": "Stop following this node", "data-tip": "Close (Esc)", click: () => actions.follow(null) }, icon("close")),
      ),
      h("div", { class: "inspector-body" }, this.facts, this.strip, this.story, this.links, this.editor.element),
    );
  }

  update(model: Model): void {
    const following = model.following;
    this.element.hidden = !following;
    if (!following || !model.layout) return;
    const seen = [model.picture, following.index, following.info, following.explain, following.error, model.player, model.graph];
    if (seen.every((value, i) => value === this.drawn[i])) return;
    this.drawn = seen;
    setText(this.title, model.layout.names.get(following.index));
    this.drawFacts(model, following.info);
    this.drawStrip(model, following);
    this.drawStory(model, following);
    this.drawLinks(following.info);
    this.editor.show(model, following.info);
    this.drawStep(model);
  }

  /** The playhead in the strip. */
  drawStep(model: Model): void {
    if (!model.following || !model.player) return;
    const x = (1000 * model.player.step) / Math.max(1, model.player.frames.moveCount);
    this.head.setAttribute("x1", String(x));
    this.head.setAttribute("x2", String(x));
  }

  private drawFacts(model: Model, info: NodeInfo | null): void {
    const graph = model.graph;
    if (!info || !graph) return setText(this.facts, "…");
    const facts = [
      info.op || null,
      `cost ${amount(info.cost, graph.node_cost_unit ?? graph.cost_unit)}`,
      `size ${amount(info.size, graph.size_unit)}`,
      info.work && Number(info.work) ? `workspace ${amount(info.work, graph.size_unit)}` : null,
      ...info.flags.filter((flag) => flag !== "needed").map((flag) => FLAG_WORDS[flag] ?? flag),
    ];
    this.facts.replaceChildren(facts.filter(Boolean).join(" · "), ...this.groupOf(model, info));
  }

  /** The group of the node, which can be closed where others are. */
  private groupOf(model: Model, info: NodeInfo): (string | HTMLElement)[] {
    const group = model.layout?.group[info.node] ?? NONE;
    if (!info.group || group === NONE) return [];
    if (!model.picture?.item) return [` · in ${info.group}`];
    const open = model.view.open.includes(group);
    return [` · in ${info.group} `, h("button", { type: "button", class: "small", "data-testid": "node-group", click: () => this.actions.openGroup(group, !open) }, open ? "Close the group" : "Open the group")];
  }

  private drawStrip(model: Model, following: Following): void {
    this.strip.replaceChildren();
    const player = model.player;
    if (!player) return;
    const max = Math.max(1, player.frames.moveCount);
    this.strip.setAttribute("viewBox", "0 0 1000 14");
    this.strip.append(svg("rect", { class: "lives-base", x: 0, y: 5, width: 1000, height: 4 }));
    for (const life of player.lifetimes(following.index)) {
      const from = (1000 * life.from) / max;
      const width = Math.max(3, (1000 * (life.to - life.from)) / max);
      this.strip.append(svg("rect", { class: `life ${life.why}`, x: from, y: 1, width, height: 12, rx: 2 }));
    }
    this.strip.append(this.head);
  }

  private drawStory(model: Model, following: Following): void {
    const explain = following.explain;
    if (following.error) return this.story.replaceChildren(h("li", { class: "muted" }, following.error));
    if (!explain) return this.story.replaceChildren(h("li", { class: "muted" }, model.player ? "…" : "There is no plan yet."));
    const lives = explain.lives.slice(0, MAX_LIVES).map((life, i) => this.life(life, i, explain, model));
    if (explain.lives.length > MAX_LIVES) lives.push(h("li", { class: "muted" }, `and ${explain.lives.length - MAX_LIVES} more lifetimes`));
    if (!lives.length) lives.push(h("li", { class: "muted" }, "This plan never computes it."));
    this.story.replaceChildren(...lives);
  }

  private move(step: number): HTMLElement {
    return h(
      "button",
      { type: "button", class: "move", "data-testid": "story-move", "aria-label": `Go to move ${step}`, click: () => this.actions.seek(step + 1) },
      `move ${group(step)}`,
    );
  }

  private life(life: Life, index: number, explain: NodeExplain, model: Model): HTMLElement {
    const unit = model.graph?.size_unit ?? "";
    const work = model.graph?.cost_unit ?? "";
    const item = h("li", { class: index > 0 ? "again" : "" });
    const again = index > 0 && life.made_by === "compute";
    if (life.made === null) item.append("In memory from the start");
    else item.append(life.made_by === "load" ? "Loaded at " : again ? "Recomputed at " : "Computed at ", this.move(life.made));
    if (again && life.first_use !== null) item.append(", because ", this.move(life.first_use), " needs it");
    item.append(life.uses ? `, read ${plural(life.uses, "time")}` : ", never read");
    if (life.removed !== null) {
      const how = life.removed_by === "uncompute" ? "uncomputed" : life.removed_by === "free" ? "freed" : `removed (${life.removed_by ?? "?"})`;
      item.append(`, ${how} at `, this.move(life.removed));
    } else item.append(", in memory to the end");
    item.append(".");
    const away = life.while_away;
    if (away) {
      const room = Number(away.over_cap) > 0
        ? `would need a cap of ${amount(away.cap_to_keep, unit)}, ${amount(away.over_cap, unit)} more,`
        : `fits under this cap (${amount(away.cap_to_keep, unit)})`;
      item.append(h("small", null, `Keeping it in memory ${room} and would save ${amount(away.keeping_spares, work)}.`));
    }
    const saved = life.waits.filter((wait) => wait.saves !== null && Number(wait.saves) > 0);
    if (saved.length && index === explain.lives.length - 1) {
      const best = saved.reduce((a, b) => (Number(a.saves) >= Number(b.saves) ? a : b));
      item.append(h("small", null, `Keeping it until move ${group(best.to)} saves ${amount(best.saves ?? 0, work)}.`));
    }
    return item;
  }

  private drawLinks(info: NodeInfo | null): void {
    const list = (label: string, refs: NodeRef[], total: number): HTMLElement | null =>
      refs.length
        ? h(
            "p",
            null,
            h("span", null, label),
            ...refs.slice(0, 24).map((ref) =>
              h("button", { type: "button", class: "chip node", click: () => this.actions.follow(ref.node, true) }, ref.name),
            ),
            total > 24 ? h("span", { class: "muted" }, `and ${group(total - 24)} more`) : null,
          )
        : null;
    const parts = info ? [list("reads", info.inputs, info.input_count), list("read by", info.readers, info.reader_count)] : [];
    this.links.replaceChildren(...parts.filter((part): part is HTMLElement => part !== null));
  }
}
