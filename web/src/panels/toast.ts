// Short messages at the foot of the scene. They are announced to screen readers and go by themselves.
import { h } from "../dom";

export class Toasts {
  readonly element = h("div", { class: "toasts", role: "status", "aria-live": "polite" });

  say(text: string, kind: "note" | "error" = "note"): void {
    const toast = h("div", { class: `toast ${kind}`, "data-testid": "toast" }, text);
    this.element.replaceChildren(toast);
    setTimeout(() => toast.remove(), kind === "error" ? 8000 : 3500);
  }
}
