// Memory over time as the view asks for it, the lanes below it, and what its tooltip says about a value.
import { inMemory, Op, RECOMPUTE_BIT } from "../binary";
import { h } from "../dom";
import { amount, group } from "../format";
import type { Actions, Model } from "../model";
import { moveWords } from "../move_words";
import type { Theme } from "../states_palette";
import { LaneChart, timeText } from "./lanes";
import { MemoryChart } from "./memory";

/** The charts below the graph. They share the range of time, and one playhead. */
export class Charts {
  readonly lanesHost: HTMLElement;
  private readonly memory: MemoryChart;
  private readonly lanes: LaneChart;

  constructor(host: HTMLElement, theme: Theme, actions: Pick<Actions, "seek" | "follow" | "setPlace">, model: Model) {
    this.memory = new MemoryChart(host, theme);
    this.lanes = new LaneChart(theme);
    this.lanesHost = h("div", { class: "lanes-host" }, this.lanes.element);
    host.after(this.lanesHost);
    this.memory.onView = (plot) => this.lanes.follow(plot);
    this.memory.onAsk = (node, step) => valueLines(model, node, step);
    for (const one of [this.memory, this.lanes]) {
      one.onScrub = (step) => actions.seek(step);
      one.onPick = (node) => actions.follow(node);
    }
    this.lanes.onMemory = (place) => actions.setPlace(place);
  }

  setTheme(theme: Theme): void {
    this.memory.setTheme(theme);
    this.lanes.setTheme(theme);
  }

  setStep(step: number): void {
    this.memory.setStep(step);
    this.lanes.setStep(step);
  }

  /** Shows the plan of the model. Time is the only axis on which moves can overlap. */
  show(model: Model): void {
    const { layout, view, graph } = model;
    const timed = model.frames?.timed ?? null;
    const place = timed && view.place < timed.memories.length ? view.place : 0;
    const frames = model.frames && place !== model.frames.memory ? inMemory(model.frames, place) : model.frames;
    const words = (move: number): string => (frames && layout ? moveWords(frames, move, layout.names) : "");
    this.lanes.setFrames(frames, words);
    document.documentElement.style.setProperty("--lanes", `${this.lanes.height}px`);
    this.memory.setFrames(frames, (value) => amount(Math.round(value), graph?.size_unit ?? ""), words);
    this.memory.setAxis(timed ? "work" : view.clock, timeText(graph?.cost_unit ?? ""));
    this.memory.setStack(view.memory, layout, timed ? timed.memories[place].start : (model.player?.memory(0) ?? 0));
    this.setStep(model.player?.step ?? 0);
  }
}

const WHY = { compute: "computed", recompute: "recomputed", load: "loaded", given: "given" };

/** From when to when a value is in memory, and for whom it is kept. */
export function valueLines(model: Model, node: number, step: number): string[] {
  const { player, layout, frames } = model;
  if (!player || !layout || !frames) return [];
  const life = player.lifetimes(node).find((one) => one.from <= step && step <= one.to);
  if (!life) return [];
  const lines = [`in memory from move ${group(life.from)} (${WHY[life.why]}) to ${life.to >= frames.moveCount ? "the end" : group(life.to)}`];
  const readers = new Set<number>();
  for (let e = 0; e < layout.edgeCount; e++) if (layout.edgeFrom[e] === node) readers.add(layout.edgeTo[e]);
  for (let i = step; i < Math.min(frames.moveCount, life.to + 1); i++) {
    const op = frames.op[i] & ~RECOMPUTE_BIT;
    if (op > Op.Uncompute || !readers.has(frames.node[i])) continue;
    lines.push(`kept for ${layout.names.get(frames.node[i])}, move ${group(i + 1)}`);
    return lines;
  }
  lines.push(life.to >= frames.moveCount ? "kept to the end" : "no longer read");
  return lines;
}
