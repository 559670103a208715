// Asks how to read a model: the sizes that it leaves open, the batch, and whether to plan its training step.
import { h, setText, uniqueId } from "../dom";
import { OPTIMIZERS, readingArguments, wrongSize } from "../reading";
import { Sheet } from "./dialog";

export class ReadingSheet {
  private readonly sheet = new Sheet("Open a model", "reading");
  private readonly intro = h("p", { class: "muted" });
  private readonly dims = h("div", { class: "fields" });
  private readonly batch = h("input", { id: uniqueId("field"), type: "text", inputmode: "numeric", placeholder: "as in the model", "data-testid": "reading-batch" });
  private readonly train = h("input", { id: uniqueId("field"), type: "checkbox", "data-testid": "reading-train" });
  private readonly optimizer = h("select", { id: uniqueId("field"), "data-testid": "reading-optimizer" }, ...OPTIMIZERS.map((name) => h("option", { value: name }, name)));
  private readonly batchField: HTMLElement;
  private readonly error = h("p", { class: "form-error", role: "alert", "data-testid": "reading-error" });
  private inputs: { name: string; input: HTMLInputElement }[] = [];
  private done: (reading: string) => void = () => undefined;

  constructor() {
    this.train.addEventListener("change", () => this.trained());
    const field = (label: string, input: HTMLElement, help: string): HTMLElement => h("div", { class: "field" }, h("label", { for: input.id }, label), input, h("small", null, help));
    this.batchField = field("batch", this.batch, "The first dimension of the first input.");
    this.sheet.body.append(
      h(
        "form",
        { method: "dialog", submit: (event: SubmitEvent) => this.submit(event) },
        this.intro,
        this.dims,
        this.batchField,
        field("training step", this.train, "Adds a loss over the first output, and the gradients of all parameters."),
        field("optimizer", this.optimizer, "Its state is part of the fixed memory of a training step."),
        this.error,
        h("div", { class: "form-end" }, h("button", { type: "button", click: () => this.sheet.close() }, "Cancel"), h("button", { type: "submit", class: "primary", "data-testid": "reading-open" }, "Open")),
      ),
    );
  }

  /** `open`: the dimensions without a size; `done` gets the arguments of docs/server.md. */
  ask(name: string, open: string[], done: (reading: string) => void): void {
    this.done = done;
    setText(this.intro, open.length ? `${name} leaves sizes open. A plan is for one choice of them.` : `${name} can be opened as it is, or with other sizes.`);
    setText(this.error, "");
    this.inputs = open.map((one) => ({ name: one, input: h("input", { id: uniqueId("field"), type: "text", inputmode: "numeric", value: "1", "data-testid": `reading-dim-${one}` }) }));
    this.dims.replaceChildren(...this.inputs.map(({ name: label, input }) => h("div", { class: "field" }, h("label", { for: input.id }, label), input)));
    this.batchField.hidden = open.length > 0; // then the batch is one of them
    this.batch.value = "";
    this.trained();
    this.sheet.open();
  }

  private trained(): void {
    this.optimizer.disabled = !this.train.checked;
  }

  private submit(event: SubmitEvent): void {
    event.preventDefault();
    const batch = this.batchField.hidden ? "" : this.batch.value.trim();
    const dims: Record<string, string> = {};
    for (const { name, input } of this.inputs) {
      dims[name] = input.value.trim();
      if (this.refuse(input, wrongSize(dims[name], name, false))) return;
    }
    if (this.refuse(this.batch, wrongSize(batch, "batch", true))) return;
    this.sheet.close();
    this.done(readingArguments({ dims, batch, train: this.train.checked, optimizer: this.optimizer.value }));
  }

  private refuse(input: HTMLInputElement, wrong: string | null): boolean {
    input.setAttribute("aria-invalid", String(wrong !== null));
    setText(this.error, wrong ?? "");
    if (wrong !== null) input.focus();
    return wrong !== null;
  }
}
