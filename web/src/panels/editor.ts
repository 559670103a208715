// Changes of the followed node by hand: cost, size and what it reads, a new reader, removal. Each change opens the changed graph; Back
// undoes it.
import { addReader, changeNode, EDIT_NODES, EditError, removeNode, type GraphDocument } from "../edit";
import { h, setText, uniqueId } from "../dom";
import type { NodeInfo } from "../api_types";
import type { Model } from "../model";

/** Applies a change to the document of the graph; the name of the node to follow, or null. */
export type Edit = (change: (graph: GraphDocument) => string | null) => Promise<void>;

export class Editor {
  readonly element: HTMLDetailsElement;
  private readonly cost = this.input("edit-cost");
  private readonly size = this.input("edit-size");
  private readonly reads = this.input("edit-reads");
  private readonly error = h("p", { class: "form-error", role: "alert", "data-testid": "edit-error" });
  private name = "";
  private shown = ""; // the node as it was when the fields were filled

  constructor(private readonly edit: Edit) {
    const field = (label: string, input: HTMLInputElement): HTMLElement => h("div", { class: "field" }, h("label", { for: input.id }, label), input);
    const button = (label: string, testid: string, act: () => void): HTMLElement => h("button", { type: "button", class: "small", "data-testid": testid, click: act }, label);
    this.element = h(
      "details",
      { class: "editor", "data-testid": "editor" },
      h("summary", null, "Change the graph"),
      h(
        "form",
        {
          submit: (event: SubmitEvent) => {
            event.preventDefault();
            const change = { cost: this.cost.value.trim(), size: this.size.value.trim(), reads: this.names() };
            this.apply((graph) => {
              changeNode(graph, this.name, change);
              return this.name;
            });
          },
        },
        field("cost", this.cost),
        field("size", this.size),
        field("reads", this.reads),
        this.error,
        h(
          "div",
          { class: "editor-buttons" },
          h("button", { type: "submit", class: "small", "data-testid": "edit-apply" }, "Apply"),
          button("Add a reader", "edit-add", () => this.apply((graph) => addReader(graph, this.name))),
          button("Remove", "edit-remove", () => this.apply((graph) => {
            removeNode(graph, this.name);
            return null;
          })),
          button("Undo", "edit-undo", () => history.back()),
        ),
      ),
    );
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") event.stopPropagation(); // letters are not shortcuts here
    });
  }

  private input(testid: string): HTMLInputElement {
    return h("input", { type: "text", id: uniqueId("edit"), spellcheck: "false", "data-testid": testid });
  }

  private names(): string[] {
    return this.reads.value.split(",").map((name) => name.trim()).filter(Boolean);
  }

  private apply(change: (graph: GraphDocument) => string | null): void {
    setText(this.error, "");
    this.edit(change).catch((reason: unknown) => setText(this.error, reason instanceof EditError ? reason.message : String(reason)));
  }

  show(model: Model, info: NodeInfo | null): void {
    const small = (model.graph?.nodes ?? Infinity) <= EDIT_NODES && !!model.about;
    this.element.hidden = !small || !info || info.input_count > info.inputs.length;
    if (!info) return;
    const shown = JSON.stringify([model.graph?.id, info.name, info.cost, info.size, info.inputs.map((one) => one.name)]);
    if (shown === this.shown) return; // what is being typed stays
    this.shown = shown;
    this.name = info.name;
    this.cost.value = String(info.cost);
    this.size.value = String(info.size);
    this.reads.value = info.inputs.map((one) => one.name).join(", ");
    setText(this.error, "");
  }
}
