// The parts of the cost: alpha·peak, beta·flux and gamma·recompute, for the cheapest rows.
import type { Row } from "../api";
import { h } from "../dom";
import { comparePlans, costParts, decimalText, ratio, type Weights } from "../exact";
import { columnUnit, group, percent, scaled, scaleFor, type Scale } from "../format";
import { rank, type Model, type Panel } from "../model";
import { rowKey, rowName, TERMS } from "../words";

const MOST = 4;
const PARTS = [
  { key: "peak", name: "α·peak", css: "alpha" },
  { key: "flux", name: "β·flux", css: "beta" },
  { key: "extra", name: "γ·extra work", css: "gamma" },
] as const;

export class CostBars implements Panel {
  readonly element: HTMLElement;
  private readonly list = h("div", { class: "cost-list" });
  private drawn = "";

  constructor() {
    this.element = h(
      "section",
      { class: "chart-card cost-card", "aria-label": "Parts of the cost", "data-testid": "cost-bars" },
      h(
        "div",
        { class: "chart-head" },
        h("h2", { "data-tip": TERMS.cost }, "Cost"),
        h("span", { class: "cost-keys" }, ...PARTS.map((part) => h("span", { class: `key part-${part.css}` }, part.name))),
      ),
      this.list,
    );
  }

  update(model: Model): void {
    const { fresh, weights } = rank(model);
    const shown = model.shown ? rowKey(model.shown) : "";
    const key = JSON.stringify([fresh.map((row) => [rowKey(row), row.metrics]), model.view.weights, shown]);
    if (key === this.drawn || !weights) return;
    this.drawn = key;
    const rows = fresh.filter((row) => row.metrics);
    rows.sort((a, b) => (a.metrics && b.metrics ? comparePlans(a.metrics, b.metrics, weights) : 0));
    const top = rows.slice(0, MOST);
    const max = top.reduce((largest, row) => {
      const total = row.metrics ? costParts(row.metrics, weights).total : 0n;
      return total > largest ? total : largest;
    }, 0n);
    const scale = scaleFor(Number(decimalText(max, weights.digits)), model.graph?.cost_unit ?? "");
    this.list.replaceChildren(...top.map((row) => this.bar(row, weights, max, scale, { unit: columnUnit(scale, model.graph?.cost_unit ?? ""), shown: rowKey(row) === shown })));
    if (!top.length && fresh.length) this.list.append(h("p", { class: "muted" }, "No plan at this cap. Raise the cap or add strategies."));
  }

  private bar(row: Row, w: Weights, max: bigint, scale: Scale, { unit, shown }: { unit: string; shown: boolean }): HTMLElement {
    const m = row.metrics;
    const parts = m ? costParts(m, w) : null;
    const track = h("div", { class: "cost-track" });
    const tips: string[] = [];
    for (const part of PARTS) {
      const value = parts ? parts[part.key] : 0n;
      if (!parts || value === 0n) continue;
      const text = decimalText(value, w.digits);
      tips.push(`${part.name} ${group(text)} (${percent(ratio(value, parts.total))})`);
      const fill = h("i", { class: `part-${part.css}`, "data-part": part.key, "data-value": text });
      fill.style.width = `${100 * ratio(value, max)}%`;
      track.append(fill);
    }
    const total = parts ? decimalText(parts.total, w.digits) : "";
    const tip = tips.length ? tips.join(" + ") : "With these weights the cost is 0.";
    return h(
      "div",
      { class: shown ? "cost-row shown" : "cost-row", title: tip },
      h("span", { class: "cost-name" }, rowName(row)),
      track,
      h("span", { class: "cost-total", "data-value": total }, `${scale.divide === 1 && total.length <= 7 ? total : scaled(total, scale)} ${unit}`),
    );
  }
}
