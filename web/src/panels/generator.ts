// A form for every family of graphs, built from the server's list of parameters.
import type { About, Family, Parameter } from "../api";
import { h, setText, uniqueId } from "../dom";
import { LARGEST } from "../sizes";
import { Sheet } from "./dialog";

export class Generator {
  private readonly sheet = new Sheet("Generate a graph", "generator");
  private readonly families = h("select", { "aria-label": "Family", "data-testid": "generate-family" });
  private readonly help = h("p", { class: "muted" });
  private readonly fields = h("div", { class: "fields" });
  private readonly error = h("p", { class: "form-error", role: "alert", "data-testid": "generate-error" });
  private about: About | null = null;
  private inputs = new Map<string, { input: HTMLInputElement | HTMLSelectElement; parameter: Parameter }>();

  constructor(private readonly make: (family: string, parameters: Record<string, string>) => void) {
    this.families.addEventListener("change", () => this.drawFields());
    const form = h(
      "form",
      { method: "dialog", submit: (event: SubmitEvent) => this.submit(event) },
      h("label", { class: "field" }, h("span", null, "Family"), this.families),
      this.help,
      this.fields,
      this.error,
      h(
        "div",
        { class: "form-end" },
        h("button", { type: "button", click: () => this.sheet.close() }, "Cancel"),
        h("button", { type: "submit", class: "primary", "data-testid": "generate-make" }, "Generate"),
      ),
    );
    this.sheet.body.append(form);
  }

  open(about: About, family?: string, values: Record<string, string> = {}): void {
    if (this.about !== about) {
      this.about = about;
      this.families.replaceChildren(...about.families.map((one) => h("option", { value: one.name }, one.name)));
    }
    if (family) this.families.value = family;
    this.drawFields(values);
    this.sheet.open();
  }

  private family(): Family | undefined {
    return this.about?.families.find((one) => one.name === this.families.value);
  }

  private drawFields(values: Record<string, string> = {}): void {
    const family = this.family();
    this.inputs.clear();
    setText(this.error, "");
    if (!family) return;
    setText(this.help, family.help);
    const main = family.parameters.filter((parameter) => parameter.main);
    const first = main.length ? main : family.parameters.slice(0, 3);
    const rest = family.parameters.filter((parameter) => !first.includes(parameter));
    const field = (parameter: Parameter): HTMLElement => this.field(parameter, values[parameter.key]);
    const more = h("details", { class: "more-fields" }, h("summary", null, `${rest.length} more settings`), ...rest.map(field));
    this.fields.replaceChildren(...first.map(field), ...(rest.length ? [more] : []));
    if (rest.some((parameter) => values[parameter.key] !== undefined)) more.open = true;
  }

  private field(parameter: Parameter, value: string | undefined): HTMLElement {
    const id = uniqueId("field");
    const shown = value ?? String(parameter.default);
    const words = parameter.kind === "word" ? (parameter.words ?? []) : [];
    const input = words.length
      ? h("select", { id, "data-testid": `generate-${parameter.key}` }, ...words.map((word) => h("option", { value: word }, word)))
      : h("input", { id, type: "text", inputmode: parameter.kind === "list" ? "text" : "numeric", spellcheck: "false", "data-testid": `generate-${parameter.key}` });
    input.value = shown;
    this.inputs.set(parameter.key, { input, parameter });
    return h("div", { class: "field" }, h("label", { for: id }, parameter.key), input, h("small", null, parameter.help));
  }

  private submit(event: SubmitEvent): void {
    event.preventDefault();
    const family = this.family();
    if (!family) return;
    const parameters: Record<string, string> = {};
    for (const [key, { input, parameter }] of this.inputs) {
      const value = input.value.trim();
      const wrong = this.wrong(parameter, value);
      input.setAttribute("aria-invalid", String(wrong !== null));
      if (wrong !== null) {
        setText(this.error, wrong);
        input.focus();
        return;
      }
      if (value !== String(parameter.default)) parameters[key] = value;
    }
    this.sheet.close();
    this.make(family.name, parameters);
  }

  private wrong(parameter: Parameter, value: string): string | null {
    if (parameter.kind === "word" || parameter.kind === "list") return null; // the generator checks lists
    const form = parameter.kind === "integer" ? /^\d+$/ : /^\d+(\.\d+)?$/;
    if (!form.test(value)) return `${parameter.key} must be ${parameter.kind === "integer" ? "a whole number" : "a number such as 0.5"}.`;
    if (parameter.kind === "integer" && BigInt(value) > LARGEST) return `${parameter.key} is too large: it must be below 2^64.`;
    const number = Number(value);
    if (parameter.least != null && number < Number(parameter.least)) return `${parameter.key} must be at least ${parameter.least}.`;
    if (parameter.most != null && number > Number(parameter.most)) return `${parameter.key} must be at most ${parameter.most}.`;
    return null;
  }
}
