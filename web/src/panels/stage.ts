// The scene in the middle with its overlays: a hint, the legend, and the messages that are shown when there is no graph.
import { h, icon, setText } from "../dom";
import { plural, unbroken } from "../format";
import type { Actions, Model, Panel } from "../model";
import { capText } from "../words";

export interface StageActions {
  tour(): void;
  fit(): void;
  zoom(factor: number): void;
  gallery(): void;
  find(): void;
}

export class Stage implements Panel {
  readonly element: HTMLElement;
  readonly canvas = h("canvas", { class: "gl", tabindex: "0", "aria-label": "The graph. Press / to find a node by name.", "data-testid": "scene" });
  readonly overlay = h("canvas", { class: "labels", "aria-hidden": "true" });
  /** The shown plan, and next to it the cells of other rows. */
  readonly mainCell = h("div", { class: "beside-main" });
  readonly scenes = h("div", { class: "scenes" }, this.mainCell);
  private readonly title = h("b");
  private readonly text = h("span");
  private readonly hint: HTMLElement;
  private readonly cover = h("div", { class: "cover", "data-testid": "cover" });
  private readonly groups: HTMLButtonElement;
  private readonly close: HTMLButtonElement;
  private readonly lanes: HTMLButtonElement;
  private hidden = "";
  private coverKey = "";

  constructor(private readonly actions: Actions, private readonly stage: StageActions, legend: HTMLElement, ...over: HTMLElement[]) {
    this.hint = h(
      "div",
      { class: "hint", "data-testid": "hint" },
      h(
        "div",
        null,
        h("p", { class: "hint-text" }, this.title, this.text),
        h("p", { class: "todo" }, h("kbd", null, "Space"), h("span", null, "plays · drag the cap · click a node"), h("button", { type: "button", class: "small", "data-testid": "tour", click: () => stage.tour() }, "One-minute tour")),
      ),
      h("button", { type: "button", class: "quiet", "aria-label": "Hide this hint", click: () => this.hideHint() }, icon("close")),
    );
    const tool = (name: string, label: string, key: string, act: () => void, testid: string): HTMLButtonElement =>
      h("button", { type: "button", class: "tool", "aria-label": label, "data-tip": `${label} (${key})`, "data-testid": testid, click: act }, icon(name));
    this.groups = h("button", { type: "button", class: "tool text", "data-testid": "groups", "data-tip": "Draw each group as one node, as full as the share of its values in memory; click one to open it. Or draw all nodes" }, "groups");
    this.close = h("button", { type: "button", class: "tool text", "data-testid": "close-groups", hidden: true, "data-tip": "Close the groups that are open" }, "close all");
    this.lanes = h("button", { type: "button", class: "tool text", "data-testid": "lanes", "data-tip": "Draw the forward and backward pass as two parallel lanes, or arrange nodes by depth" }, "lanes");
    const tools = h(
      "div",
      { class: "tools", role: "group", "aria-label": "View" },
      this.close,
      this.groups,
      this.lanes,
    );
    const zoom = h(
      "div",
      { class: "zoom-tools", role: "group", "aria-label": "Zoom" },
      tool("target", "Find a node", "/", stage.find, "find"),
      tool("make", "Closer", "+", () => stage.zoom(1.3), "zoom-in"),
      tool("minus", "Farther", "-", () => stage.zoom(1 / 1.3), "zoom-out"),
      tool("fit", "Show the whole graph", "F", stage.fit, "fit"),
    );
    const scene = h("div", { class: "scene" }, this.canvas, this.overlay, zoom, ...over);
    this.mainCell.append(scene);
    this.element = h("main", { class: "stage" }, this.hint, this.scenes, h("div", { class: "stage-foot" }, legend, tools), this.cover);
    this.groups.addEventListener("click", () => actions.setLayout({ groups: this.groups.getAttribute("aria-pressed") === "true" ? "open" : "closed", open: [] }));
    this.close.addEventListener("click", () => actions.setLayout({ open: [] }));
    this.lanes.addEventListener("click", () => actions.setLayout({ lanes: this.lanes.getAttribute("aria-pressed") === "true" ? "0" : "1" }));
  }

  private hideHint(): void {
    this.hidden = this.title.textContent ?? "";
    this.hint.hidden = true;
  }

  update(model: Model): void {
    this.drawHint(model);
    this.drawCover(model);
    this.groups.hidden = !model.graph?.has_groups;
    const closed = !!model.picture?.item;
    this.groups.setAttribute("aria-pressed", String(closed));
    this.close.hidden = !closed || !model.view.open.length;
    this.lanes.hidden = !model.graph?.training;
    this.lanes.setAttribute("aria-pressed", String(model.layout ? model.layout.kind === 2 : false));
  }

  private drawHint(model: Model): void {
    const graph = model.graph;
    this.hint.classList.toggle("waiting", !graph);
    if (!graph || model.phase === "opening") {
      if (!graph) setText(this.title, "\u00a0"); // keeps the line's height
      return;
    }
    const source = model.view.source;
    const example = source?.kind === "gallery" ? model.about?.gallery.find((item) => item.id === source.id) : undefined;
    const title = example ? example.title : graph.name;
    setText(this.title, title);
    const own = `${plural(graph.nodes, "node")}, ${plural(graph.edges, "edge")}; program order needs ${capText(Number(graph.written_peak), graph)}.`;
    setText(this.text, example ? unbroken(example.text) : own);
    this.hint.hidden = this.hidden === title;
  }

  private drawCover(model: Model): void {
    const key = JSON.stringify([model.phase, model.opening, model.problem, model.graph === null]);
    if (key === this.coverKey) return;
    this.coverKey = key;
    this.cover.className = "cover";
    this.cover.hidden = model.phase === "ready" && !model.problem;
    if (model.phase === "starting" || model.phase === "opening") {
      this.cover.classList.add("loading");
      this.cover.replaceChildren(h("div", { class: "spinner", "aria-hidden": "true" }), h("p", { role: "status" }, model.opening ? `Opening ${model.opening}…` : "Starting…"));
    } else if (model.problem) {
      this.cover.replaceChildren(this.problem(model));
      this.cover.querySelector<HTMLElement>("button.primary")?.focus();
    }
    else if (!model.graph) {
      this.cover.replaceChildren(
        h("div", { class: "card" }, h("h2", null, "No graph yet"), h("p", null, "Drop a graph file here, or choose an example."), h("button", { type: "button", class: "primary", click: this.stage.gallery }, "Examples")),
      );
    }
  }

  private problem(model: Model): HTMLElement {
    const problem = model.problem;
    const body = problem?.body;
    const place = body?.line !== undefined ? `Line ${body.line}${body.column !== undefined ? `, column ${body.column}` : ""}` : "";
    const close = h("button", { type: "button", class: "primary", "data-testid": "problem-close", click: () => this.actions.dismissProblem() }, model.graph ? "Back to the graph" : "Close");
    const card = h(
      "div",
      { class: "card problem", role: "alert", "data-testid": "problem" },
      h("h2", null, problem?.title ?? ""),
      place ? h("p", { class: "place", "data-testid": "problem-place" }, place) : null,
      h("p", { "data-testid": "problem-text" }, body?.message ?? ""),
      h("div", { class: "form-end" }, h("button", { type: "button", click: this.stage.gallery }, "Examples"), close),
    );
    return card;
  }
}
