// The machine that runs the graph: a built-in one, one from a file, or none.
import type { MachineFacts } from "../api";
import { h, setAttr, setText } from "../dom";
import { errorLine } from "../field";
import { amount } from "../format";
import { chosen, memoryOf, readMachine, slowText } from "../machine";
import type { Actions, Model, Panel } from "../model";
import { TERMS } from "../words";

const FILE = "\n"; // no machine has this name

export class MachineKnob implements Panel {
  readonly element: HTMLElement;
  private readonly select = h("select", { "aria-label": "Machine", "data-testid": "machine" });
  private readonly file = h("input", { type: "file", accept: ".json,application/json", hidden: true, "data-testid": "machine-file" });
  private readonly text = h("p", { class: "machine-text", "data-testid": "machine-text" });
  private readonly cap = h("button", { type: "button", class: "small", "data-testid": "machine-cap", "data-tip": "Use the memory of the machine as the cap.", hidden: true });
  private readonly error = errorLine("machine-error");
  private listed = "";

  constructor(private readonly actions: Actions) {
    this.select.addEventListener("change", () => this.choose());
    this.file.addEventListener("change", () => void this.read());
    this.element = h(
      "section",
      { class: "knob", "aria-label": "Machine" },
      h("div", { class: "knob-row" }, h("h2", { "data-tip": TERMS.machine }, "Machine"), this.select),
      this.file,
      h("div", { class: "machine-line" }, this.text, this.cap),
      this.error,
    );
  }

  private machines: MachineFacts[] = [];

  private choose(): void {
    this.error.hidden = true;
    if (this.select.value === FILE) return this.file.click();
    const machine = this.machines.find((one) => one.name === this.select.value);
    if (machine) this.actions.setMachine(chosen(machine));
    else this.actions.setMachine(this.select.value === "none" ? { name: "none", slow: false } : null);
  }

  private async read(): Promise<void> {
    const file = this.file.files?.[0];
    this.file.value = "";
    if (!file) return;
    const read = readMachine(await file.text());
    this.error.hidden = read.ok;
    if (read.ok) this.actions.setMachine(chosen(read.machine, read.machine));
    else setText(this.error, read.wrong);
  }

  update(model: Model): void {
    const { about, graph, view } = model;
    if (!about) return;
    this.machines = about.machines;
    const own = graph?.machine ?? null;
    const document = view.machine?.document;
    const key = JSON.stringify([own?.name, document?.name, about.machines.length]);
    if (key !== this.listed) {
      this.listed = key;
      this.select.replaceChildren(
        h("option", { value: "" }, own ? `${own.name} (default)` : "none: costs as in the graph"),
        ...(own ? [h("option", { value: "none" }, "none: costs as in the graph")] : []),
        ...about.machines.map((one) => h("option", { value: one.name, title: one.text ?? "" }, one.name)),
        ...(document ? [h("option", { value: `file ${document.name}` }, `${document.name} (file)`)] : []),
        h("option", { value: FILE }, "from a file…"),
      );
    }
    this.select.value = document ? `file ${document.name}` : (view.machine?.name ?? "");
    this.describe(model, document ?? (view.machine ? about.machines.find((one) => one.name === view.machine?.name) : own) ?? null);
  }

  private describe(model: Model, machine: MachineFacts | null): void {
    const unit = model.graph?.size_unit ?? "";
    const memory = machine && memoryOf(machine);
    const text = machine ? [machine.text || machine.name, ...slowText(machine)].join(" · ") : "";
    this.text.hidden = !machine;
    setText(this.text, text);
    setAttr(this.text, "data-tip", text || null);
    this.cap.hidden = memory === null;
    if (memory === null) return;
    setText(this.cap, `Cap ${amount(String(memory), unit)}`);
    this.cap.onclick = () => this.actions.setCap(String(memory));
  }
}
