// Finding a node by its name, without a pointer.
import type { Layout } from "../binary";
import { h } from "../dom";
import { Sheet } from "./dialog";

const MOST = 12;

export class Finder {
  private readonly sheet = new Sheet("Find a node", "finder");
  private readonly input = h("input", { type: "search", placeholder: "part of its name", "aria-label": "Part of the name", "data-testid": "find-input", autocomplete: "off" });
  private readonly list = h("div", { class: "found", role: "listbox", "aria-label": "Nodes" });
  private layout: Layout | null = null;
  private names: string[] = [];
  private lower: string[] = [];

  constructor(private readonly choose: (node: number) => void) {
    this.input.addEventListener("input", () => this.draw());
    this.input.addEventListener("keydown", (event) => {
      const buttons = [...this.list.querySelectorAll("button")];
      if (event.key === "Enter") buttons[0]?.click();
      else if (event.key === "ArrowDown") buttons[0]?.focus();
      else return;
      event.preventDefault(); // the key must not reach the element that gets the focus when the sheet closes
    });
    this.sheet.body.append(this.input, this.list);
  }

  open(layout: Layout): void {
    if (layout !== this.layout) {
      this.layout = layout;
      this.names = layout.names.list(layout.nodeCount);
      this.lower = this.names.map((name) => name.toLowerCase());
    }
    this.input.value = "";
    this.draw();
    this.sheet.open();
    this.input.focus();
  }

  private draw(): void {
    const searched = this.input.value.trim().toLowerCase();
    const hits: number[] = [];
    const exact = this.lower.indexOf(searched);
    if (exact >= 0) hits.push(exact);
    for (let i = 0; i < this.names.length && hits.length < MOST; i++) {
      if (i !== exact && this.lower[i].includes(searched)) hits.push(i);
    }
    this.list.replaceChildren(
      ...hits.map((node) =>
        h(
          "button",
          {
            type: "button", role: "option", "data-testid": "find-hit",
            click: () => {
              this.sheet.close();
              this.choose(node);
            },
          },
          this.names[node],
        ),
      ),
      ...(hits.length ? [] : [h("p", { class: "muted" }, "No node name contains this text. Try a shorter part of the name.")]),
    );
  }
}
