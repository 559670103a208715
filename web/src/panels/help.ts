// All keys, and a short explanation of the page, on one sheet.
import { h } from "../dom";
import { TERMS } from "../words";
import { Sheet } from "./dialog";

export const KEYS: { group: string; keys: [string, string][] }[] = [
  {
    group: "Play",
    keys: [
      ["Space", "play or pause"], ["← →", "one move back, forward"], ["PgUp PgDn", "a twentieth of the plan"],
      ["Home End", "first, last move"], ["P", "jump to the peak"], [", .", "slower, faster"],
    ],
  },
  {
    group: "Knobs",
    keys: [
      ["[ ]", "lower, raise the cap"], ["M", "type a cap"], ["W", "change the weights"], ["R", "plan again"], ["X", "stop planning, keep the best plan"],
      ["↑ ↓", "play the plan of the row above, below"], ["1 … 9", "play the plan of that row"], ["B", "play the plan of the winner"],
    ],
  },
  {
    group: "Graph",
    keys: [
      ["+ −", "zoom in, out"], ["F", "show the whole graph"], ["Shift ←", "move the view (any arrow)"], ["/", "find and follow a node"],
      ["Click", "follow a node"], ["Z", "show the followed node"], ["Esc", "stop following"],
    ],
  },
  {
    group: "Page",
    keys: [
      ["G", "examples"], ["O", "open a file"], ["N", "generate a graph"], ["E", "export"], ["C", "copy a link to this view"],
      ["T", "light or dark"], ["?", "this sheet"],
    ],
  },
];

export class Help {
  private readonly sheet = new Sheet("Pebble-Bridge, in a minute", "help-sheet", true);

  constructor() {
    const terms: [string, string][] = [
      ["cap", TERMS.cap], ["peak", TERMS.peak], ["work", TERMS.work], ["recompute", TERMS.recompute], ["flux", TERMS.flux],
      ["cost", TERMS.cost], ["gap", TERMS.gap],
    ];
    this.sheet.body.append(
      h(
        "p",
        null,
        "A graph is a computation: every node computes a value from the values that it reads. Memory is limited, so values are freed and recomputed, ",
        "uncomputed, or moved to slow memory. A plan is the list of these moves. Press Space to play one; lower the cap to see which strategies still fit.",
      ),
      h(
        "div",
        { class: "keys" },
        ...KEYS.map((part) =>
          h(
            "section",
            null,
            h("h3", null, part.group),
            h("dl", null, ...part.keys.flatMap(([key, text]) => [h("dt", null, ...key.split(" ").map((one) => h("kbd", null, one))), h("dd", null, text)])),
          ),
        ),
      ),
      h("h3", null, "Words"),
      h("dl", { class: "terms" }, ...terms.flatMap(([term, text]) => [h("dt", null, term), h("dd", null, text)])),
    );
  }

  toggle(): void {
    if (this.sheet.isOpen) this.sheet.close();
    else this.sheet.open();
  }
}
