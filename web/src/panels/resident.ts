// What is in memory now, largest first. Follows the playhead; a click follows a value.
import { h, icon, setText } from "../dom";
import { amount, plural } from "../format";
import type { Actions, Model, Panel } from "../model";

const MOST = 80;
const WAIT_MS = 120; // between two lists while playing

export class Resident implements Panel {
  readonly element: HTMLElement;
  readonly toggle = h("button", { type: "button", class: "tool text", "aria-pressed": "false", "data-testid": "resident-toggle", "data-tip": "List what is in memory now, largest first (V)" }, "in memory");
  private readonly sum = h("p", { class: "facts", "data-testid": "resident-sum" });
  private readonly list = h("ol", { class: "resident-list" });
  private model: Model | null = null;
  private timer = 0;

  constructor(private readonly actions: Actions) {
    this.element = h(
      "aside",
      { class: "resident-panel", "aria-label": "In memory now", "data-testid": "resident", hidden: true },
      h("header", null, h("h2", null, "In memory now"), h("button", { type: "button", class: "quiet", "aria-label": "Close the list", click: () => this.show(false) }, icon("close"))),
      this.sum,
      this.list,
    );
    this.toggle.addEventListener("click", () => this.show(this.element.hidden === true));
  }

  show(on: boolean): void {
    this.element.hidden = !on;
    this.toggle.setAttribute("aria-pressed", String(on));
    this.draw();
  }

  update(model: Model): void {
    this.model = model;
    this.toggle.disabled = !model.player;
    this.drawStep();
  }

  drawStep(): void {
    if (this.element.hidden || this.timer) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.draw();
    }, WAIT_MS);
  }

  private draw(): void {
    const { model } = this;
    const player = model?.player;
    if (this.element.hidden || !model || !player || !model.layout || !model.graph) return;
    const { size, names } = model.layout;
    const unit = model.graph.size_unit;
    const nodes: number[] = [];
    let sum = 0;
    for (let node = 0; node < player.nodeCount; node++)
      if (player.isResident(node)) {
        nodes.push(node);
        sum += size[node];
      }
    nodes.sort((a, b) => size[b] - size[a] || a - b);
    const most = Math.max(1, size[nodes[0]] ?? 1);
    setText(this.sum, `${plural(nodes.length, "value")}, ${amount(sum, unit)}${nodes.length > MOST ? `; the largest ${MOST}:` : ""}`);
    this.list.replaceChildren(...nodes.slice(0, MOST).map((node) => {
      const bar = h("i");
      bar.style.width = `${(100 * size[node]) / most}%`;
      return h("li", null, h("button", { type: "button", click: () => this.actions.follow(node) }, bar, h("span", null, names.get(node)), h("small", null, amount(size[node], unit))));
    }));
  }
}
