// Progress of planning: incumbent, lower bound and gap, and a button that stops and keeps the best plan.
import type { Bound, Incumbent } from "../api";
import { h, icon, setAttr, setText } from "../dom";
import { ratio, whole } from "../exact";
import { percent, seconds } from "../format";
import { isPlanning, rank, type Actions, type Model, type Panel } from "../model";
import { TERMS } from "../words";

function figure(label: string, tip: string, testid: string): { element: HTMLElement; value: HTMLElement } {
  const value = h("b", { "data-testid": testid }, "–");
  return { element: h("div", { class: "figure", "data-tip": tip }, h("span", null, label), value), value };
}

/** The full text; there is room for two lines. */
function planningError(model: Model): string | null {
  return model.planning.state === "failed" ? model.planning.error : null;
}

export class StatusPanel implements Panel {
  readonly element: HTMLElement;
  private readonly what = h("p", { class: "status-what", "aria-live": "polite", "data-testid": "status" });
  private readonly bar = h("div", { class: "progress" }, h("div"));
  private readonly incumbent = figure("best so far", TERMS.incumbent, "incumbent");
  private readonly bound = figure("lower bound", TERMS.bound, "bound");
  private readonly gap = figure("gap", TERMS.gap, "gap");
  private readonly button: HTMLButtonElement;

  constructor(private readonly actions: Actions) {
    this.button = h("button", { type: "button", class: "stop", "data-testid": "stop", click: () => this.press() }, icon("stop"), h("span", null, "Stop"));
    this.element = h(
      "section",
      { class: "knob status", "aria-label": "Planning" },
      h("div", { class: "status-line" }, this.what, this.button),
      this.bar,
      h("div", { class: "figures" }, this.incumbent.element, this.bound.element, this.gap.element),
    );
  }

  private busy = false;

  private press(): void {
    if (this.busy) this.actions.stop();
    else this.actions.planAgain();
  }

  update(model: Model): void {
    this.busy = isPlanning(model);
    this.element.classList.toggle("busy", this.busy);
    this.element.classList.toggle("failed", ["failed", "lost"].includes(model.planning.state));
    this.button.disabled = !model.graph || model.planning.state === "stopping";
    this.button.replaceChildren(icon(this.busy ? "stop" : "again"), h("span", null, this.busy ? "Stop" : "Plan"));
    this.button.setAttribute("data-tip", this.busy ? "Stop planning and keep the best plan so far. (X)" : "Plan again with these settings. (R)");
    setText(this.what, this.text(model));
    setAttr(this.what, "title", planningError(model));
    const progress = model.planning.progress;
    const share = progress && model.view.ticks === null && model.view.timeMs ? Math.min(1, progress.elapsed_ms / model.view.timeMs) : 0;
    (this.bar.firstElementChild as HTMLElement).style.width = this.busy ? `${100 * Math.max(0.03, share)}%` : "0";
    this.drawFigures(model);
  }

  private text(model: Model): string {
    const planning = model.planning;
    if (!model.graph) return "No graph yet";
    if (planning.state === "lost") return "Planning was interrupted: the server has stopped";
    if (planning.state === "failed") return planning.error ?? "Planning failed";
    if (planning.state === "stopping") return "Stopping…";
    if (planning.state === "stopped") return "Stopped; the best plan so far is kept";
    if (planning.state === "starting") return "Planning…";
    if (planning.state === "queued") return "Waiting for another job to end…";
    if (planning.state === "running") {
      const p = planning.progress;
      if (!p?.strategy) return "Planning…";
      return p.elapsed_ms < 100 ? `Planning: ${p.strategy}` : `Planning: ${p.strategy}, ${seconds(p.elapsed_ms)}`;
    }
    const longest = model.entries.reduce((sum, entry) => sum + (entry.stale ? 0 : entry.row.seconds), 0);
    if (!model.entries.length) return "Ready";
    const any = model.entries.some((entry) => entry.row.metrics);
    return `Planned in ${seconds(longest * 1000)}, ${any ? "every plan verified" : "no plan found"}`;
  }

  private drawFigures(model: Model): void {
    const ranking = rank(model);
    const best = ranking.winner?.metrics ?? null;
    const moving = this.busy ? model.planning.incumbent : null;
    const game = moving?.game ?? ranking.winner?.game ?? model.view.game ?? "remat";
    const bound = model.planning.bounds.find((one) => one.game === game) ?? null;
    const overhead = this.bestOverhead(best?.overhead ?? null, moving);
    const lower = this.boundShare(bound, model, ranking.winner?.lower_bound ?? null);
    setText(this.incumbent.value, overhead === null ? "–" : percent(overhead, true));
    setText(this.bound.value, lower === null ? "–" : percent(lower, true));
    const gap = overhead !== null && lower !== null ? (1 + overhead) / (1 + lower) - 1 : null;
    const exact = !this.busy ? (ranking.winner?.gap ?? gap) : gap;
    setText(this.gap.value, exact === null ? "–" : percent(Math.max(0, exact)));
  }

  private bestOverhead(row: number | null, moving: Incumbent | null): number | null {
    if (!moving) return row;
    return row === null ? moving.overhead : Math.min(row, moving.overhead);
  }

  private boundShare(bound: Bound | null, model: Model, rowBound: number | string | null): number | null {
    const makespan = rowBound ?? bound?.makespan ?? null;
    const needed = model.graph ? whole(model.graph.needed_cost) : 0n;
    if (makespan === null || needed === 0n) return bound?.overhead ?? null;
    return ratio(whole(makespan) - needed, needed);
  }
}
