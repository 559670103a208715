// What the colours mean: only the states that occur in the current game.
import { h } from "../dom";
import type { Model, Panel } from "../model";
import { shownStates } from "../words";

export class Legend implements Panel {
  readonly element = h("ul", { class: "legend", "aria-label": "Colours", "data-testid": "legend" });
  private game = "";

  update(model: Model): void {
    const game = model.shown?.game ?? model.view.game ?? "remat";
    this.element.hidden = !model.layout;
    if (game === this.game) return;
    this.game = game;
    this.element.replaceChildren(
      ...shownStates(game).map((state) =>
        h("li", { "data-tip": state.text }, h("i", { class: `swatch ${state.key}` }), state.name),
      ),
    );
  }
}
