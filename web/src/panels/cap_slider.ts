// The cap: a slider over the whole range. The part that is proved impossible is hatched, and marks stand where
// another strategy becomes the cheapest.
import type { GraphInfo, Row, Sweep, WeightTexts } from "../api";
import { debounce, h, setAttr, setText } from "../dom";
import { parseWeights, whole, winnerOf } from "../exact";
import { amount, capValue, percent } from "../format";
import type { Actions, Model, Panel } from "../model";
import { TERMS } from "../words";

const FINE = 2000; // positions of the slider where sizes are large

export interface FlipMark {
  cap: number; // the last cap at which `above` wins
  above: string;
  below: string;
}

/** Where the winner changes between neighbouring caps of the sweep, under any weights. */
export function flipMarks(sweep: Sweep, weights: WeightTexts): FlipMark[] {
  const w = parseWeights(weights);
  if (!w) return [];
  const caps = [...new Set(sweep.cells.map((cell) => String(cell.cap)))].sort((a, b) => Number(whole(b) - whole(a)));
  const marks: FlipMark[] = [];
  let lastCap = "";
  let lastName = "";
  for (const cap of caps) {
    const cells = sweep.cells.filter((cell) => String(cell.cap) === cap);
    const rows: Row[] = cells.map((cell) => ({ ...cell, gap: null, seconds: 0, bound_kind: null, note: null, options: {} }));
    const best = winnerOf(rows, w);
    if (best < 0) continue;
    // A strategy that still costs the same goes on winning: ties do not flip.
    const held = rows.find((row) => row.strategy === lastName && row.metrics);
    const stays = held !== undefined && winnerOf([held, rows[best]], w) === 0;
    const name = stays ? lastName : rows[best].strategy;
    if (lastName && lastName !== name) marks.push({ cap: Number(lastCap), above: lastName, below: name });
    lastCap = cap;
    lastName = name;
  }
  return marks;
}

/** The least cap that is not proved impossible, in the games at hand. */
export function provedCap(graph: GraphInfo, game: string | null): number {
  const games = graph.games.filter((one) => (game ? one.game === game : true));
  const caps = games.map((one) => Number(one.proved_cap ?? 0));
  return caps.length ? Math.min(...caps) : 0;
}

/** The least peak of the plans at hand and of the sweep. */
export function leastKnown(model: Pick<Model, "entries" | "sweep">): number | null {
  const rows = model.entries.filter((entry) => !entry.stale).map((entry) => entry.row.metrics?.peak);
  const cells = model.sweep?.cells.map((cell) => cell.metrics?.peak) ?? [];
  const peaks = [...rows, ...cells].filter((peak) => peak !== undefined).map(Number);
  return peaks.length ? Math.min(...peaks) : null;
}

export function capRange(graph: GraphInfo, game: string | null): number {
  const written = Number(graph.written_peak);
  const all = Number(graph.fixed_size) + Number(graph.total_size);
  const most = game === "reversible" || written < 4 ? Math.max(written, all) : written;
  return Math.max(1, Math.ceil(most * 1.08));
}

export class CapSlider implements Panel {
  readonly element: HTMLElement;
  private readonly range = h("input", {
    type: "range", min: 0, max: FINE, value: 0, "aria-label": "Memory cap", "data-testid": "cap-slider",
  });
  private readonly text = h("input", {
    type: "text", spellcheck: "false", autocomplete: "off", "aria-label": "Memory cap, typed", "data-testid": "cap-input",
    "data-tip": "Type a size: 40%, 8GiB, 500MB, a number in the graph's unit, or none.",
  });
  private readonly shareText = h("span", { class: "cap-share", "data-testid": "cap-share" });
  private readonly zone = h("div", { class: "cap-zone", "data-tip": TERMS.infeasible });
  private readonly unknown = h("div", { class: "cap-unknown" });
  private readonly fill = h("div", { class: "cap-fill" });
  private readonly marks = h("div", { class: "cap-marks" });
  private readonly written = h("div", { class: "cap-written" });
  private readonly least = h("span");
  private readonly flips = h("span", { "data-testid": "cap-flips" });
  private readonly late = debounce(140, (text: string) => this.actions.setCap(text));
  private graph: GraphInfo | null = null;
  private most = 1;
  private marksKey = "";

  constructor(private readonly actions: Actions) {
    this.range.addEventListener("input", () => this.slid());
    this.text.addEventListener("change", () => this.typed());
    this.text.addEventListener("keydown", (event) => {
      if (event.key === "Enter") this.typed();
      if (event.key === "Escape") this.text.blur();
    });
    const none = h(
      "button",
      { type: "button", class: "small", "data-testid": "cap-none", "data-tip": "No limit at all.", "aria-label": "No cap", click: () => actions.setCap("none") },
      "∞",
    );
    this.element = h(
      "section",
      { class: "knob cap", "aria-label": "Cap" },
      h("div", { class: "knob-head" }, h("h3", { "data-tip": TERMS.cap }, "Cap"), this.text, this.shareText, none),
      h("div", { class: "cap-track" }, this.fill, this.unknown, this.zone, this.written, this.range, this.marks),
      h("p", { class: "foot" }, this.least, this.flips),
    );
  }

  /** Moves the cap by a part of the range: for the keyboard. */
  nudge(parts: number): void {
    if (!this.graph) return;
    const step = Math.max(1, Math.round(Number(this.range.max) / 100));
    this.range.value = String(Number(this.range.value) + parts * step);
    this.slid();
  }

  focus(): void {
    this.text.focus();
    this.text.select();
  }

  private valueAt(position: number): number {
    return Math.round((position / Number(this.range.max)) * this.most);
  }

  private slid(): void {
    const value = this.valueAt(Number(this.range.value));
    this.draw(value, String(value));
    this.late(String(value));
  }

  private typed(): void {
    const text = this.text.value.replace(/\s+/g, "");
    const known = this.graph && capValue(text, this.graph.written_peak) !== null;
    this.text.setAttribute("aria-invalid", String(!known));
    this.text.setCustomValidity(known ? "" : "A cap is a size such as 8GiB, 500MB or 40%, a whole number in the graph's unit, or none.");
    this.text.reportValidity();
    this.late.cancel();
    if (known) this.actions.setCap(text);
  }

  update(model: Model): void {
    const graph = model.graph;
    this.range.disabled = this.text.disabled = !graph;
    if (!graph) return;
    this.graph = graph;
    this.most = capRange(graph, model.view.game);
    this.range.max = String(this.most <= FINE ? this.most : FINE);
    const proved = Math.min(this.most, provedCap(graph, model.view.game));
    this.zone.style.width = `${(100 * proved) / this.most}%`;
    this.drawUnknown(model, graph, proved);
    this.written.style.left = `${(100 * Math.min(this.most, Number(graph.written_peak))) / this.most}%`;
    this.written.dataset.tip = `As written the program needs ${amount(graph.written_peak, graph.size_unit)} (100 %).`;
    const value = capValue(model.view.cap, graph.written_peak);
    if (document.activeElement !== this.range && value !== null) this.draw(value, model.view.cap);
    this.drawMarks(model, graph);
    setText(this.least, proved > 0 ? `Below ${amount(proved, graph.size_unit)} nothing fits: proved.` : "");
    setText(this.flips, this.flipText(model));
  }

  /** Between what is proved impossible and the least peak of any plan so far: open. */
  private drawUnknown(model: Model, graph: GraphInfo, proved: number): void {
    const known = leastKnown(model);
    const end = known === null ? proved : Math.min(this.most, known);
    this.unknown.style.left = `${(100 * proved) / this.most}%`;
    this.unknown.style.width = `${(100 * Math.max(0, end - proved)) / this.most}%`;
    this.unknown.dataset.tip = `No plan is known below ${amount(end, graph.size_unit)}, and down to ${amount(proved, graph.size_unit)} none is ruled out.`;
  }

  private flipText(model: Model): string {
    const marks = this.marks.childElementCount;
    if (model.sweeping) return "Looking for where the winner changes…";
    if (!model.sweep) return "";
    return marks ? `The winner changes at the ${marks === 1 ? "mark" : `${marks} marks`}.` : "One strategy wins at every cap.";
  }

  private draw(value: number, text: string): void {
    const graph = this.graph;
    if (!graph) return;
    const finite = Number.isFinite(value);
    const position = finite ? Math.min(1, value / this.most) : 1;
    const most = Number(this.range.max);
    if (document.activeElement !== this.range) this.range.value = String(Math.round(position * most));
    this.fill.style.width = `${100 * position}%`;
    const typed = /^\d+$/.test(text) && graph.size_unit === "byte" ? amount(text, "byte") : text;
    if (document.activeElement !== this.text) this.text.value = typed;
    this.text.dataset.value = finite ? String(value) : "none";
    this.text.removeAttribute("aria-invalid");
    this.text.setCustomValidity("");
    const share = finite ? percent(value / Number(graph.written_peak)) : "";
    const spoken = finite ? amount(value, graph.size_unit) : "no cap";
    setText(this.shareText, text.endsWith("%") ? spoken : share);
    setAttr(this.shareText, "data-tip", finite ? `${spoken}: ${share} of what the program needs as written.` : null);
    setAttr(this.range, "aria-valuetext", `${spoken}, ${share} of the program as written`);
  }

  private drawMarks(model: Model, graph: GraphInfo): void {
    const marks = model.sweep ? flipMarks(model.sweep, model.view.weights) : [];
    const key = JSON.stringify([marks, this.most]);
    if (key === this.marksKey) return;
    this.marksKey = key;
    this.marks.replaceChildren(
      ...marks.map((mark) => {
        const tip = `From ${amount(mark.cap, graph.size_unit)} up ${mark.above} is the cheapest, just below it ${mark.below}.`;
        const button = h("button", {
          type: "button", class: "cap-mark", "aria-label": `Go to the cap where the winner changes. ${tip}`, "data-tip": tip,
          "data-testid": "cap-flip", click: () => this.actions.setCap(String(mark.cap)),
        });
        button.style.left = `${(100 * mark.cap) / this.most}%`;
        return button;
      }),
    );
  }
}
