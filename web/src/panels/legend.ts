// What the colours mean: only the states that occur in the current game.
import { h } from "../dom";
import type { Model, Panel } from "../model";
import { STATE_NAMES } from "../words";

export class Legend implements Panel {
  readonly element = h("ul", { class: "legend", "aria-label": "Colours", "data-testid": "legend" });
  private game = "";

  update(model: Model): void {
    const game = model.shown?.game ?? model.view.game ?? "remat";
    this.element.hidden = !model.layout;
    if (game === this.game) return;
    this.game = game;
    const skip = new Set<string>();
    if (game !== "reversible") skip.add("uncomputing");
    if (game !== "tiered" && game !== "timed") for (const key of ["slow", "loading", "storing"]) skip.add(key);
    this.element.replaceChildren(
      ...STATE_NAMES.filter((state) => !skip.has(state.key)).map((state) =>
        h("li", { "data-tip": state.text }, h("i", { class: `swatch ${state.key}` }), state.name),
      ),
    );
  }
}
