// A field for one value. Enter applies the text and leaves the field, so that the page handles keys again. Escape restores the
// last valid value and leaves too. An invalid text remains while the field has the focus, with an error below. Leaving the field
// restores the last valid value; the error is shown until the next key.
import { h, setAttr, setText } from "./dom";
import type { Read } from "./sizes";

export interface FieldOptions<T> {
  read(text: string): Read<T>;
  apply(value: T): void;
  error: HTMLElement; // shows the error; fields may share it
}

export function errorLine(testid: string): HTMLElement {
  return h("p", { class: "field-error", role: "alert", "data-testid": testid, hidden: true });
}

export class Field<T> {
  private good = ""; // the text of the value in effect
  private touched = false;

  constructor(readonly input: HTMLInputElement, private readonly options: FieldOptions<T>) {
    input.addEventListener("input", () => {
      this.touched = true;
      this.showError(null);
    });
    input.addEventListener("change", () => this.commit());
    input.addEventListener("blur", () => {
      if (input.getAttribute("aria-invalid")) this.restore();
    });
    input.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      event.stopPropagation(); // the page handles both keys too
      if (event.key === "Escape") {
        this.showError(null);
        this.restore();
      } else if (!this.commit()) return;
      input.blur();
    });
  }

  /** Shows the value in effect, unless the user is typing. */
  show(text: string): void {
    this.good = text;
    if (document.activeElement !== this.input || !this.touched) this.restore();
  }

  private restore(): void {
    this.touched = false;
    this.input.value = this.good;
    setAttr(this.input, "aria-invalid", null);
  }

  /** Returns false if the text cannot be read. Unchanged text is not applied: it may be a rounded figure. */
  private commit(): boolean {
    if (!this.touched) return true;
    const read = this.options.read(this.input.value);
    if (!read.ok) {
      this.showError(read.wrong);
      return false;
    }
    this.touched = false;
    this.showError(null);
    this.options.apply(read.value);
    return true;
  }

  private showError(wrong: string | null): void {
    const { error } = this.options;
    setAttr(this.input, "aria-invalid", wrong === null ? null : "true");
    setText(error, wrong ?? "");
    error.hidden = wrong === null;
  }
}
