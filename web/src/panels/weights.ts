// The weights of the cost. Changing one re-ranks the rows at once, without planning.
import type { GraphInfo, WeightTexts } from "../api";
import { h, setAttr } from "../dom";
import { sameWeights } from "../exact";
import { errorLine, Field } from "../field";
import { isPlanning, type Actions, type Model, type Panel } from "../model";
import { readWeight, type Units } from "../sizes";
import { TERMS } from "../words";

/** Stops of the sliders. In the middle, a term of program order weighs as much as its work: a peak or a flux as large as that of program
 * order costs as much as computing each value once. */
const STOPS = ["0", "0.001", "0.003", "0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100", "300", "1000", "3000"];
const NAMES = [
  { letter: "α", name: "peak", tip: TERMS.alpha, testid: "alpha", middle: "memory as large as the peak of program order costs as much as computing each value once." },
  { letter: "β", name: "flux", tip: TERMS.beta, testid: "beta", middle: "memory as large as the peak of program order, in use all the time, costs as much as computing each value once." },
  { letter: "γ", name: "recompute", tip: TERMS.gamma, testid: "gamma", middle: "extra work costs what it is." },
];

/** The weight that is 1 on its slider, as a number: for extra work 1, as it is measured in work. */
export function middleWeights(graph: Pick<GraphInfo, "written_peak" | "needed_cost">): [number, number, number] {
  const [peak, work] = [Math.max(1, Number(graph.written_peak)), Math.max(1, Number(graph.needed_cost))];
  return [work / peak, 1 / peak, 1];
}

/** A number as a weight that the command reads: a decimal of two digits. */
export function weightText(value: number): string {
  if (value === 0) return "0";
  const digits = Math.min(18, Math.max(0, 1 - Math.floor(Math.log10(value))));
  return digits ? value.toFixed(digits).replace(/\.?0+$/, "") : BigInt(Math.round(Number(value.toPrecision(2)))).toString();
}

function nearestStop(value: number): number {
  let best = 0;
  STOPS.forEach((stop, i) => {
    const far = (s: string): number => Math.abs(Math.log10(Math.max(1e-9, Number(s))) - Math.log10(Math.max(1e-9, value)));
    if (far(stop) < far(STOPS[best])) best = i;
  });
  return value === 0 ? 0 : best;
}

export class WeightKnobs implements Panel {
  readonly element: HTMLElement;
  private readonly ranges: HTMLInputElement[];
  private readonly fields: Field<WeightTexts>[];
  private readonly error = errorLine("weights-error");
  private readonly note: HTMLElement;
  private middle: [number, number, number] = [1, 1, 1];
  private weights: WeightTexts = ["0", "0", "1"];
  private units: Units = { size_unit: "", cost_unit: "" };

  constructor(private readonly actions: Actions) {
    this.ranges = NAMES.map((one, i) =>
      h("input", {
        type: "range", min: 0, max: STOPS.length - 1, step: 1, "aria-label": `Weight of ${one.name}`, "data-testid": `weight-${one.testid}-slider`,
        input: () => this.slid(i, weightText(Number(STOPS[Number(this.ranges[i].value)]) * this.middle[i])),
      }),
    );
    this.fields = NAMES.map((one, i) => {
      const input = h("input", {
        type: "text", spellcheck: "false", "aria-label": `Weight of ${one.name}, typed`, "data-testid": `weight-${one.testid}`,
      });
      return new Field(input, { read: (text) => readWeight(text, i, this.weights, this.units), apply: (weights) => actions.setWeights(weights), error: this.error });
    });
    this.note = h(
      "button",
      {
        type: "button", class: "small weights-note", "data-testid": "plan-again", click: () => actions.planAgain(),
        "data-tip": "The rows are ranked with these weights, but were planned for other weights. Plan again to search for better plans.",
      },
      "Plan for these weights",
    );
    this.element = h(
      "section",
      { class: "knob", "aria-label": "Weights" },
      h("div", { class: "knob-row" }, h("h2", { "data-tip": TERMS.cost }, "Weights"), this.note),
      ...NAMES.map((one, i) =>
        h(
          "div",
          { class: "weight" },
          h("span", { class: `weight-name part-${one.testid}`, "data-tip": one.tip }, h("i", null, one.letter), one.name),
          h("span", { class: "weight-slider", "data-tip": `In the middle, ${one.middle}` }, this.ranges[i]),
          this.fields[i].input,
        ),
      ),
      this.error,
    );
  }

  private slid(which: number, text: string): void {
    const read = readWeight(text, which, this.weights, this.units);
    if (read.ok) this.actions.setWeights(read.value);
  }

  update(model: Model): void {
    this.weights = model.view.weights;
    if (model.graph) {
      this.units = model.graph;
      this.middle = middleWeights(model.graph);
    }
    this.weights.forEach((text, i) => {
      const stop = nearestStop(Number(text) / this.middle[i]);
      if (document.activeElement !== this.ranges[i]) this.ranges[i].value = String(stop);
      this.fields[i].show(text);
      setAttr(this.ranges[i], "aria-valuetext", STOPS[stop] === "0" ? "does not count" : `${STOPS[stop]} times the work of program order`);
    });
    const changed = model.entries.length > 0 && !sameWeights(model.planWeights, this.weights) && !isPlanning(model);
    this.note.classList.toggle("on", changed);
  }
}
