// The examples, each with two sentences on what it is and what to try.
import type { About, GalleryItem, GraphInfo } from "../api";
import { h, svg } from "../dom";
import { plural, unbroken } from "../format";
import { Sheet } from "./dialog";

/** A small drawing for a kind of graph, so that examples are easy to distinguish. */
function sketch(family: string): SVGSVGElement {
  const drawing = svg("svg", { viewBox: "0 0 72 40", class: "sketch", "aria-hidden": "true" });
  const line = (d: string): void => drawing.append(svg("path", { d }));
  const dots = (points: [number, number][], css = ""): void => {
    for (const [cx, cy] of points) drawing.append(svg("circle", { cx, cy, r: 3.2, class: css }));
  };
  if (family === "merkle" || family === "tree") {
    line("M36 7 20 20 12 33M20 20l8 13M36 7l16 13-8 13M52 20l8 13");
    dots([[36, 7]], "hot");
    dots([[20, 20], [52, 20], [12, 33], [28, 33], [44, 33], [60, 33]]);
  } else if (family === "unet") {
    line("M8 8 20 20 32 32H40L52 20 64 8M8 8H64M20 20H52");
    dots([[8, 8], [20, 20], [32, 32]]);
    dots([[40, 32], [52, 20], [64, 8]], "hot");
  } else if (family === "pipeline" || family === "grid") {
    line("M12 8H60M12 20H60M12 32H60M28 8v24M44 8v24");
    dots([[12, 8], [28, 8], [12, 20], [28, 20], [12, 32], [28, 32]]);
    dots([[44, 8], [60, 8], [44, 20], [60, 20], [44, 32], [60, 32]], "hot");
  } else if (family === "transformer" || family === "mlp" || family === "resnet" || family === "adjoint-chain") {
    line("M8 12H64M64 28H8M8 12v16M22 12v16M36 12v16M50 12v16M64 12v16");
    dots([[8, 12], [22, 12], [36, 12], [50, 12], [64, 12]]);
    dots([[8, 28], [22, 28], [36, 28], [50, 28], [64, 28]], "hot");
  } else if (family === "butterfly" || family === "pyramid" || family === "layered") {
    line("M12 8 36 20 60 8M12 32 36 20 60 32M12 8v24M60 8v24");
    dots([[12, 8], [12, 32], [36, 20]]);
    dots([[60, 8], [60, 32]], "hot");
  } else {
    line("M8 20H64");
    dots([[8, 20], [22, 20], [36, 20], [50, 20]]);
    dots([[64, 20]], "hot");
  }
  return drawing;
}

export class Gallery {
  private readonly sheet = new Sheet("Examples", "gallery", true);
  private readonly grid = h("div", { class: "gallery" });
  private readonly files = h("div", { class: "opened" });

  constructor(
    private readonly choose: (item: GalleryItem) => void,
    private readonly chooseOpened: (graph: GraphInfo) => void,
  ) {
    this.sheet.body.append(this.files, this.grid);
  }

  open(about: About, opened: GraphInfo[], current: string | null): void {
    this.files.hidden = opened.length === 0;
    this.files.replaceChildren(
      ...opened.map((graph) =>
        h(
          "button",
          {
            type: "button", "data-testid": "opened",
            click: () => {
              this.sheet.close();
              this.chooseOpened(graph);
            },
          },
          graph.name,
          h("small", { class: "muted" }, plural(graph.nodes, "node")),
        ),
      ),
    );
    this.grid.replaceChildren(
      ...about.gallery.map((item) =>
        h(
          "button",
          {
            type: "button", class: "example", "data-testid": `example-${item.id}`, "aria-current": item.id === current ? "true" : null,
            click: () => {
              this.sheet.close();
              this.choose(item);
            },
          },
          sketch(item.game === "reversible" ? "chain" : item.family),
          h("b", null, item.title),
          h("span", null, unbroken(item.text)),
        ),
      ),
    );
    this.sheet.open();
  }
}
