// The bar at the top: the graph, ways to open another one, exports.
import type { FileKind } from "../api";
import { h, icon, setText, svg } from "../dom";
import { group } from "../format";
import type { Model, Panel } from "../model";
import { isDark } from "../theme";
import { Menu } from "./dialog";

export interface TopActions {
  gallery(): void;
  openFile(file: File): void;
  generate(): void;
  exportPlan(kind: FileKind): void;
  exportGraph(): void;
  exportPicture(kind: "png" | "svg"): void;
  exportFilm(): void;
  exportCsv(kind: "comparison" | "sweep"): void;
  exportHtml(): void;
  copyLink(): void;
  toggleTheme(): void;
  help(): void;
}

function mark(): SVGSVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 32 20", class: "mark", "aria-hidden": "true" },
    svg("path", { d: "M4 15C8 3 24 3 28 15", class: "arch" }),
    svg("circle", { cx: 4.5, cy: 15, r: 3.4, class: "pebble" }),
    svg("circle", { cx: 16, cy: 6.2, r: 3.4, class: "pebble hot" }),
    svg("circle", { cx: 27.5, cy: 15, r: 3.4, class: "pebble" }),
  );
}

export class TopBar implements Panel {
  readonly element: HTMLElement;
  readonly exportMenu: Menu;
  private readonly name = h("span", { class: "graph-name", "data-testid": "graph-name" }, "Opening…");
  private readonly size = h("span", { class: "graph-size", "data-testid": "graph-size" });
  private readonly theme: HTMLButtonElement;
  private readonly file = h("input", { type: "file", hidden: true, "data-testid": "file-input", tabindex: "-1", "aria-hidden": "true" });

  constructor(actions: TopActions) {
    this.file.addEventListener("change", () => {
      const chosen = this.file.files?.[0];
      if (chosen) actions.openFile(chosen);
      this.file.value = "";
    });
    this.theme = h("button", { type: "button", class: "quiet", "data-testid": "theme", "aria-label": "Light or dark", "data-tip": "Light or dark (T)", click: actions.toggleTheme });
    const plan = (label: string, hint: string, kind: FileKind): { label: string; hint: string; testid: string; act: () => void } => ({
      label, hint, testid: `export-${kind}`, act: () => actions.exportPlan(kind),
    });
    this.exportMenu = new Menu(
      "Export", "save", "export",
      [
        plan("Schedule", "JSON, for pebble verify", "schedule"),
        plan("Schedule, binary", ".pbs", "pbs"),
        plan("Metrics", "JSON", "metrics"),
        plan("Decisions", "what to keep, free, recompute", "decisions"),
        plan("Moves", "CSV", "csv"),
        plan("Trace", "for Perfetto", "trace"),
        plan("Graph with plan", "DOT", "dot"),
        { label: "Graph", hint: "pebble-graph JSON", testid: "export-graph", act: actions.exportGraph },
        { label: "Picture", hint: "PNG", testid: "export-png", act: () => actions.exportPicture("png") },
        { label: "Picture", hint: "SVG", testid: "export-svg", act: () => actions.exportPicture("svg") },
        { label: "Video", hint: "WebM, plays the plan once", testid: "export-webm", act: actions.exportFilm },
        { label: "Page that plays", hint: "HTML, works offline", testid: "export-html", act: actions.exportHtml },
        { label: "Comparison", hint: "CSV", testid: "export-comparison", act: () => actions.exportCsv("comparison") },
        { label: "Sweep over caps", hint: "CSV", testid: "export-sweep", act: () => actions.exportCsv("sweep") },
      ],
      "Save the plan, its figures or the picture (E)",
    );
    const top = (iconName: string, label: string, testid: string, tip: string, act: () => void): HTMLButtonElement =>
      h("button", { type: "button", "data-testid": testid, "data-tip": tip, click: act }, icon(iconName), h("span", null, label));
    this.element = h(
      "header",
      { class: "topbar" },
      h("div", { class: "brand" }, mark(), h("h1", null, "Pebble-Bridge")),
      h(
        "button",
        { type: "button", class: "picker", "data-testid": "picker", "data-tip": "Choose an example (G)", click: actions.gallery },
        this.name, this.size, icon("down"),
      ),
      top("open", "Open", "open", "Open a graph file, or drop one anywhere (O)", () => this.openDialog()),
      top("make", "Generate", "generate", "Generate a graph of a known family (N)", actions.generate),
      this.file,
      h("span", { class: "spring" }),
      this.exportMenu.element,
      top("link", "Link", "link", "Copy a link to exactly this view (C)", actions.copyLink),
      this.theme,
      h("button", { type: "button", class: "quiet", "data-testid": "help", "aria-label": "Keys and help", "data-tip": "Keys and help (?)", click: actions.help }, icon("help")),
    );
  }

  openDialog(): void {
    this.file.click();
  }

  update(model: Model): void {
    const example = model.about?.gallery.find((item) => model.view.source?.kind === "gallery" && item.id === model.view.source.id);
    if (model.phase === "opening" || model.phase === "starting") setText(this.name, model.opening || "Opening…");
    else setText(this.name, example?.title ?? model.graph?.name ?? "No graph");
    const ready = model.phase === "ready" && model.graph;
    setText(this.size, ready && model.graph ? `${group(model.graph.nodes)} nodes` : "");
    this.exportMenu.setEnabled(model.graph !== null);
    const dark = isDark(model.view.theme);
    if (this.theme.dataset.dark !== String(dark)) {
      this.theme.dataset.dark = String(dark);
      this.theme.replaceChildren(icon(dark ? "sun" : "moon"));
    }
  }
}
