// Short messages at the bottom of the scene. Screen readers announce them, and they disappear after a few seconds.
import { h } from "../dom";

export class Toasts {
  readonly element = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

  notify(text: string, kind: "note" | "error" = "note"): void {
    const toast = h("div", { class: `toast ${kind}`, "data-testid": "toast" }, text);
    this.element.replaceChildren(toast);
    setTimeout(() => toast.remove(), kind === "error" ? 8000 : 3500);
  }
}
