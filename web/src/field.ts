// A field for one value. Enter applies what was typed and leaves the field, so that keys are the page's again; Escape brings the
// last good value back and leaves too. What cannot be read stays while one is in the field, with a sentence below; whoever leaves
// it finds the last good value there, and the sentence until the next key.
import { h, setAttr, setText } from "./dom";
import type { Read } from "./sizes";

export interface FieldOptions<T> {
  read(text: string): Read<T>;
  apply(value: T): void;
  error: HTMLElement; // where the sentence goes; fields may share it
}

export function errorLine(testid: string): HTMLElement {
  return h("p", { class: "field-error", role: "alert", "data-testid": testid, hidden: true });
}

export class Field<T> {
  private good = ""; // as shown for the value that holds
  private touched = false;

  constructor(readonly input: HTMLInputElement, private readonly options: FieldOptions<T>) {
    input.addEventListener("input", () => {
      this.touched = true;
      this.say(null);
    });
    input.addEventListener("change", () => this.commit());
    input.addEventListener("blur", () => {
      if (input.getAttribute("aria-invalid")) this.restore();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation(); // the page has a use for both
      if (event.key === "Escape") {
        this.say(null);
        this.restore();
      } else if (!this.commit()) return;
      input.blur();
    });
  }

  /** The value that holds, as text. Does not disturb whoever types. */
  show(text: string): void {
    this.good = text;
    if (document.activeElement !== this.input || !this.touched) this.restore();
  }

  private restore(): void {
    this.touched = false;
    this.input.value = this.good;
    setAttr(this.input, "aria-invalid", null);
  }

  /** False where it cannot be read. What nobody has changed is not applied: it may be a rounded figure. */
  private commit(): boolean {
    if (!this.touched) return true;
    const read = this.options.read(this.input.value);
    if (!read.ok) {
      this.say(read.wrong);
      return false;
    }
    this.touched = false;
    this.say(null);
    this.options.apply(read.value);
    return true;
  }

  private say(wrong: string | null): void {
    const { error } = this.options;
    setAttr(this.input, "aria-invalid", wrong === null ? null : "true");
    setText(error, wrong ?? "");
    error.hidden = wrong === null;
  }
}
