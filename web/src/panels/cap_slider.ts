// The cap: a slider over the whole range. The part that is proved infeasible is hatched, and marks show the caps at which
// another strategy becomes the cheapest.
import type { GraphInfo, Row, Sweep, SweepCell, WeightTexts } from "../api";
import { debounce, h, setAttr, setText } from "../dom";
import { costText, parseWeights, whole, winnerOf } from "../exact";
import { errorLine, Field } from "../field";
import { amount, percent } from "../format";
import type { Actions, Model, Panel } from "../model";
import { hasSlow, minCap } from "../proved";
import { capValue, readCap, type Read } from "../sizes";
import { TERMS } from "../words";

const FINE = 2000; // positions of the slider if sizes are large

export interface FlipMark {
  cap: number; // the last cap at which `above` wins
  above: string;
  below: string;
}

/** Did planning stop early, so that another run might find a plan? */
function broken(cell: SweepCell): boolean {
  return cell.outcome === "gave_up" && /time limit|ticks|stopped/.test(cell.reason ?? "");
}

/** The caps of the sweep between which the winner among the shown strategies changes, under these weights. */
export function flipMarks(sweep: Sweep, weights: WeightTexts, shown: readonly string[]): FlipMark[] {
  const w = parseWeights(weights);
  if (!w) return [];
  const cells = sweep.cells.filter((cell) => shown.includes(cell.strategy));
  const caps = [...new Set(cells.map((cell) => String(cell.cap)))].sort((a, b) => Number(whole(b) - whole(a)));
  const marks: FlipMark[] = [];
  let lastCap = "";
  let lastName = "";
  for (const cap of caps) {
    const here = cells.filter((cell) => String(cell.cap) === cap).sort((a, b) => shown.indexOf(a.strategy) - shown.indexOf(b.strategy));
    if (here.some(broken)) continue; // the winner at this cap is unknown
    const rows: Row[] = here.map((cell) => ({ ...cell, gap: null, seconds: 0, bound_kind: null, note: null, options: {} }));
    const best = winnerOf(rows, w);
    if (best < 0) continue;
    // A tie does not change the winner.
    const held = rows.find((row) => row.strategy === lastName);
    const tied = held?.metrics && rows[best].metrics && costText(held.metrics, w) === costText(rows[best].metrics, w);
    const name = tied ? lastName : rows[best].strategy;
    if (lastName && lastName !== name) marks.push({ cap: Number(lastCap), above: lastName, below: name });
    lastCap = cap;
    lastName = name;
  }
  return marks;
}

/** The smallest peak of the shown plans and of the sweep. */
export function minKnownPeak(model: Pick<Model, "entries" | "sweep">): number | null {
  const rows = model.entries.filter((entry) => !entry.stale).map((entry) => entry.row.metrics?.peak);
  const cells = model.sweep?.cells.map((cell) => cell.metrics?.peak) ?? [];
  const peaks = [...rows, ...cells].filter((peak) => peak !== undefined).map(Number);
  return peaks.length ? Math.min(...peaks) : null;
}

/** The sweep covers one game, so with slow memory it cannot determine the winner over all games. Reversible plans are never cheaper
 * than remat plans. */
function severalGames(model: Model): boolean {
  return model.view.game === null && model.graph !== null && hasSlow(model.graph, model.view);
}

export function capRange(graph: GraphInfo, game: string | null): number {
  const written = Number(graph.written_peak);
  const all = Number(graph.fixed_size) + Number(graph.total_size);
  const max = game === "reversible" || written < 4 ? Math.max(written, all) : written;
  return Math.max(1, Math.ceil(max * 1.08));
}

export class CapSlider implements Panel {
  readonly element: HTMLElement;
  private readonly range = h("input", {
    type: "range", min: 0, max: FINE, value: 0, "aria-label": "Memory cap", "data-testid": "cap-slider",
  });
  private readonly text = h("input", {
    type: "text", spellcheck: "false", autocomplete: "off", "aria-label": "Memory cap, typed", "data-testid": "cap-input",
    "data-tip": "A size such as 40%, 8GiB or 500MB, a number in the graph's unit, or none.",
  });
  private readonly error = errorLine("cap-error");
  private readonly field: Field<string>;
  private readonly shareText = h("span", { class: "cap-share", "data-testid": "cap-share" });
  private readonly zone = h("div", { class: "cap-zone", "data-tip": TERMS.infeasible });
  private readonly unknown = h("div", { class: "cap-unknown" });
  private readonly fill = h("div", { class: "cap-fill" });
  private readonly marks = h("div", { class: "cap-marks" });
  private readonly written = h("div", { class: "cap-written" });
  private readonly min = h("span");
  private readonly flips = h("span", { "data-testid": "cap-flips" });
  private readonly late = debounce(140, (text: string) => this.actions.setCap(text));
  private graph: GraphInfo | null = null;
  private max = 1;
  private marksKey = "";

  constructor(private readonly actions: Actions) {
    this.range.addEventListener("input", () => this.slid());
    this.field = new Field(this.text, { read: (text) => this.read(text), apply: (text) => this.typed(text), error: this.error });
    const none = h(
      "button",
      { type: "button", class: "small", "data-testid": "cap-none", "data-tip": "Plan without a memory limit.", "aria-label": "No cap", click: () => actions.setCap("none") },
      "∞",
    );
    this.element = h(
      "section",
      { class: "knob cap", "aria-label": "Cap" },
      h("div", { class: "knob-head" }, h("h2", { "data-tip": TERMS.cap }, "Cap"), this.text, this.shareText, none),
      this.error,
      h("div", { class: "cap-track" }, this.fill, this.unknown, this.zone, this.written, this.range, this.marks),
      h("p", { class: "foot" }, this.min, this.flips),
    );
  }

  /** Moves the cap by a part of the range, for the keyboard. */
  nudge(parts: number): void {
    if (!this.graph) return;
    const step = Math.max(1, Math.round(Number(this.range.max) / 100));
    this.range.value = String(Number(this.range.value) + parts * step);
    this.slid();
  }

  /** A cap was chosen but not yet requested. */
  get pending(): boolean {
    return this.late.pending();
  }

  focus(): void {
    this.text.focus();
    this.text.select();
  }

  private valueAt(position: number): number {
    return Math.round((position / Number(this.range.max)) * this.max);
  }

  private slid(): void {
    const value = this.valueAt(Number(this.range.value));
    this.draw(value, String(value));
    this.late(String(value));
  }

  private read(typed: string): Read<string> {
    const text = typed.replace(/\s+/g, "");
    if (!this.graph) return { ok: false, wrong: "Open a graph first." };
    const read = readCap(text, this.graph.written_peak, this.graph.size_unit);
    return read.ok ? { ok: true, value: text.toLowerCase() === "unlimited" ? "none" : text } : read;
  }

  private typed(text: string): void {
    this.late.cancel();
    this.actions.setCap(text);
  }

  update(model: Model): void {
    const graph = model.graph;
    this.range.disabled = this.text.disabled = !graph;
    if (!graph) return;
    this.graph = graph;
    this.max = capRange(graph, model.view.game);
    this.range.max = String(this.max <= FINE ? this.max : FINE);
    const proved = Math.min(this.max, Number(minCap(graph, model.view, model.proved)));
    this.zone.style.width = `${(100 * proved) / this.max}%`;
    this.drawUnknown(model, graph, proved);
    this.written.style.left = `${(100 * Math.min(this.max, Number(graph.written_peak))) / this.max}%`;
    this.written.dataset.tip = `Program order needs ${amount(graph.written_peak, graph.size_unit)} (100 %).`;
    const value = capValue(model.view.cap, graph.written_peak, graph.size_unit);
    if (document.activeElement !== this.range && value !== null) this.draw(value, model.view.cap);
    this.drawMarks(model, graph);
    setText(this.min, proved > 0 ? `Proved: nothing fits below ${amount(proved, graph.size_unit, "down")}.` : "");
    setText(this.flips, this.flipText(model));
  }

  /** The caps between the lower bound and the smallest peak of any plan so far: it is unknown whether a plan exists. */
  private drawUnknown(model: Model, graph: GraphInfo, proved: number): void {
    const known = minKnownPeak(model);
    const end = known === null ? proved : Math.min(this.max, known);
    this.unknown.style.left = `${(100 * proved) / this.max}%`;
    this.unknown.style.width = `${(100 * Math.max(0, end - proved)) / this.max}%`;
    this.unknown.dataset.tip = `Unknown: no plan has been found below ${amount(end, graph.size_unit)}; below ${amount(proved, graph.size_unit)} none exists.`;
  }

  private flipText(model: Model): string {
    const marks = this.marks.childElementCount;
    if (model.sweeping) return "Searching for caps where the winner changes…";
    if (!model.sweep) return "";
    if (severalGames(model)) return "Choose one game to see where the winner changes.";
    return marks ? `The winner changes at the ${marks === 1 ? "mark" : `${marks} marks`}.` : "The same strategy wins at every cap tried.";
  }

  private draw(value: number, text: string): void {
    const graph = this.graph;
    if (!graph) return;
    const finite = Number.isFinite(value);
    const position = finite ? Math.min(1, value / this.max) : 1;
    const max = Number(this.range.max);
    if (document.activeElement !== this.range) this.range.value = String(Math.round(position * max));
    this.fill.style.width = `${100 * position}%`;
    const typed = /^\d+$/.test(text) && graph.size_unit === "byte" ? amount(text, "byte") : text;
    this.field.show(typed);
    this.text.dataset.value = finite ? String(value) : "none";
    const share = finite ? percent(value / Number(graph.written_peak)) : "";
    const spoken = finite ? amount(value, graph.size_unit) : "no cap";
    setText(this.shareText, text.endsWith("%") ? spoken : share);
    setAttr(this.shareText, "data-tip", finite ? `${spoken}: ${share} of the memory of program order.` : null);
    setAttr(this.range, "aria-valuetext", `${spoken}, ${share} of the memory of program order`);
  }

  private drawMarks(model: Model, graph: GraphInfo): void {
    const marks = model.sweep && !severalGames(model) ? flipMarks(model.sweep, model.view.weights, model.view.strategies) : [];
    const key = JSON.stringify([marks, this.max]);
    if (key === this.marksKey) return;
    this.marksKey = key;
    this.marks.replaceChildren(
      ...marks.map((mark) => {
        const tip = `At ${amount(mark.cap, graph.size_unit)} and above, ${mark.above} is the cheapest; just below, ${mark.below} is.`;
        const button = h("button", {
          type: "button", class: "cap-mark", "aria-label": `Go to the cap where the winner changes. ${tip}`, "data-tip": tip,
          "data-testid": "cap-flip", click: () => this.actions.setCap(String(mark.cap)),
        });
        button.style.left = `${(100 * mark.cap) / this.max}%`;
        return button;
      }),
    );
  }
}
