// Shown over everything while the server does not answer. The graph and the plan are in the page, so they can still be played.
import { h, icon, setText } from "../dom";
import type { Actions, Model, Panel } from "../model";

export class ServerBanner implements Panel {
  readonly element: HTMLElement;
  private readonly title = h("b");
  private readonly text = h("span");

  constructor(actions: Actions) {
    const retry = h("button", { type: "button", class: "primary", "data-testid": "server-retry", click: () => actions.retry() }, icon("again"), h("span", null, "Retry"));
    this.element = h("div", { class: "server-banner", role: "alert", "data-testid": "server-banner", hidden: true }, h("p", null, this.title, " ", this.text), retry);
  }

  update(model: Model): void {
    this.element.hidden = model.server === "up";
    if (model.server === "down") {
      setText(this.title, "The server has stopped.");
      setText(this.text, "Start pebble ui again and open the address that it prints. If the --port is the same, this page reconnects; until then you can still play its plan.");
    } else if (model.server === "refused") {
      setText(this.title, "The server does not accept this page.");
      setText(this.text, "pebble ui was restarted and has a new key. Open the address that it prints; then this page works again too.");
    }
  }
}
