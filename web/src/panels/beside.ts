// Plans side by side on one clock. The shown plan has the first cell; each other row gets a cell with its own picture. Every cell has a
// head with its memory now, and a strip with its memory over the clock. A row without a plan stops in red at the move that does not fit.
import type { BesideRow } from "../beside";
import { h, icon, setAttr, setText } from "../dom";
import { amount, group, percent } from "../format";
import type { Actions, Model, Panel } from "../model";
import { workEnd, type Playback } from "../playback";
import type { Player } from "../player";
import type { Picture } from "../scene/picture";
import { Scene } from "../scene/scene";
import { withAlpha, type Theme } from "../states_palette";
import { NodeState } from "../node_state";
import { rowKey, rowName } from "../words";
import type { SheetCell } from "../export/sheet";
import type { Row } from "../api";

const STRIP = 56;

/** The head and the strip of a plan. */
class Cell {
  readonly head: HTMLElement;
  readonly strip = h("canvas", { class: "beside-strip", "aria-hidden": "true" });
  private readonly name = h("b");
  private readonly figures = h("span", { class: "beside-figures" });
  private readonly verdict = h("span", { class: "beside-verdict" });
  private readonly fill = h("i");
  private readonly close = h("button", { type: "button", class: "quiet", "aria-label": "Do not play this row" }, icon("close"));
  private drawn = "";
  row: Row | null = null;
  player: Player | null = null;

  constructor(remove: ((key: string) => void) | null) {
    this.close.hidden = !remove;
    this.close.addEventListener("click", () => this.row && remove?.(rowKey(this.row)));
    this.head = h("div", { class: "beside-head" }, h("div", { class: "beside-line" }, this.name, this.verdict, this.close), h("div", { class: "beside-bar", "aria-hidden": "true" }, this.fill), this.figures);
  }

  /** True if the plan has stopped where it does not fit. */
  draw(model: Model, clock: { now: number; end: number }, theme: Theme): boolean {
    const { row, player } = this;
    if (!row || !player || !model.graph) return false;
    const { frames, step } = player;
    const unit = model.graph.size_unit;
    const used = step > 0 ? frames.during[step - 1] : player.memory(0);
    const over = !row.plan && step >= frames.moveCount && used > frames.cap;
    const cap = Number.isFinite(frames.cap) ? frames.cap : frames.peak;
    setText(this.name, rowName(row));
    const ended = step >= frames.moveCount;
    const extra = row.metrics ? percent(row.metrics.overhead) : "";
    setText(this.verdict, over ? "✗ stopped" : ended && row.metrics ? `✓ done, ${extra} extra` : "");
    this.verdict.classList.toggle("over", over);
    this.figures.classList.toggle("over", over);
    if (over) setText(this.figures, `needs ${amount(used, unit)}, ${amount(used - frames.cap, unit)} over the cap`);
    else setText(this.figures, `move ${group(step)} of ${group(frames.moveCount)} · ${amount(used, unit)}${Number.isFinite(frames.cap) ? ` of ${amount(frames.cap, unit)}` : ""} · peak ${amount(frames.peak, unit)}`);
    this.fill.style.width = `${Math.min(100, (100 * used) / Math.max(1, cap))}%`;
    this.fill.classList.toggle("over", over);
    this.drawStrip(clock, model.view.clock, theme, over);
    return over;
  }

  private drawStrip(clock: { now: number; end: number }, kind: "work" | "moves", theme: Theme, over: boolean): void {
    const { player, strip } = this;
    const dpr = Math.min(2, devicePixelRatio || 1);
    const width = strip.clientWidth;
    if (!player || width === 0) return;
    const key = [width, dpr, clock.now, clock.end, kind, theme.dark, player.frames.moveCount, player.frames.peak, over].join();
    if (key === this.drawn) return;
    this.drawn = key;
    strip.width = Math.round(width * dpr);
    strip.height = STRIP * dpr;
    const c = strip.getContext("2d");
    if (!c) return;
    c.scale(dpr, dpr);
    const f = player.frames;
    const top = Math.max(f.peak, Number.isFinite(f.cap) ? f.cap : 0, 1) * 1.08;
    const x = (time: number): number => (time / clock.end) * width;
    const y = (memory: number): number => STRIP - (memory / top) * STRIP;
    const colour = theme.states[NodeState.Resident];
    c.fillStyle = withAlpha(colour, 0.45);
    c.beginPath();
    c.moveTo(0, STRIP);
    for (let i = 0; i < f.moveCount; i++) {
      const from = kind === "moves" ? i : f.time[i];
      const to = kind === "moves" ? i + 1 : i + 1 < f.moveCount ? f.time[i + 1] : workEnd(f);
      c.lineTo(x(from), y(f.during[i]));
      c.lineTo(x(to), y(f.during[i]));
    }
    const last = kind === "moves" ? f.moveCount : workEnd(f);
    c.lineTo(x(last), STRIP);
    c.fill();
    c.fillStyle = withAlpha(theme.background, 0.6); // what is to come
    c.fillRect(x(clock.now), 0, width, STRIP);
    if (Number.isFinite(f.cap)) {
      c.strokeStyle = theme.states[NodeState.Recomputing];
      c.setLineDash([5, 4]);
      c.beginPath();
      c.moveTo(0, y(f.cap));
      c.lineTo(width, y(f.cap));
      c.stroke();
      c.setLineDash([]);
    }
    if (over) {
      c.fillStyle = theme.states[NodeState.Recomputing];
      c.fillRect(Math.min(width - 4, x(last)), 0, 4, STRIP);
    }
    c.fillStyle = theme.text;
    c.fillRect(Math.min(width - 1.5, x(clock.now)), 0, 1.5, STRIP);
  }
}

class SideCell extends Cell {
  readonly element: HTMLElement;
  readonly scene: Scene | null;

  constructor(remove: (key: string) => void, select: (node: number | null) => void, theme: Theme) {
    super(remove);
    const canvas = h("canvas", { class: "gl", "aria-hidden": "true" });
    const overlay = h("canvas", { class: "labels", "aria-hidden": "true" });
    this.element = h("div", { class: "beside-cell", "data-testid": "beside" }, this.head, h("div", { class: "scene" }, canvas, overlay), this.strip);
    try {
      this.scene = new Scene(canvas, overlay, theme);
      this.scene.onSelect = select;
    } catch {
      this.scene = null; // the page has said why there are no pictures
    }
  }

  show(one: BesideRow, picture: Picture): void {
    this.row = one.row;
    if (this.player === one.player) return;
    this.player = one.player;
    this.element.dataset.key = one.key;
    this.scene?.setPicture(picture);
    this.scene?.setPlayer(one.player);
  }

  remove(): void {
    this.scene?.destroy();
    this.element.remove();
  }
}

export class BesidePanel implements Panel {
  readonly element = h("div", { class: "beside-cells" });
  /** The head and the strip of the shown plan, around its picture. */
  readonly main = new Cell(null);
  private readonly cells: SideCell[] = [];
  private picture: Picture | null = null;
  private model: Model | null = null;

  constructor(
    private readonly actions: Actions,
    private readonly playback: Playback,
    private theme: Theme,
    private readonly host: HTMLElement, // gets a class while there are cells
  ) {}

  setTheme(theme: Theme): void {
    this.theme = theme;
    for (const cell of this.cells) cell.scene?.setTheme(theme);
    this.drawStep();
  }

  update(model: Model): void {
    this.model = model;
    const rows = model.player && model.picture ? model.beside : [];
    if (this.picture !== model.picture) for (const cell of this.cells.splice(0)) cell.remove();
    this.picture = model.picture;
    while (this.cells.length > rows.length) this.cells.pop()?.remove();
    while (this.cells.length < rows.length) {
      const cell = new SideCell((key) => this.actions.toggleBeside(key), (node) => this.actions.follow(node), this.theme);
      this.cells.push(cell);
      this.element.append(cell.element);
    }
    rows.forEach((row, i) => {
      if (model.picture) this.cells[i].show(row, model.picture);
      this.cells[i].scene?.select(model.following?.index ?? null);
    });
    this.main.row = model.shown;
    this.main.player = model.player;
    setAttr(this.host, "data-beside", rows.length ? String(rows.length) : null);
    this.drawStep();
  }

  drawStep(): void {
    if (!this.model || !this.cells.length) return;
    const clock = this.playback.time;
    for (const cell of this.cells) {
      cell.element.classList.toggle("over", cell.draw(this.model, clock, this.theme));
      cell.element.dataset.step = String(cell.player?.step ?? 0);
    }
    this.host.classList.toggle("over", this.main.draw(this.model, clock, this.theme));
  }

  /** The cells with pictures, for a picture of all. */
  pictures(): SheetCell[] {
    return this.cells.flatMap(({ scene, row, player }) => (scene && row && player ? [{ scene, row, player }] : []));
  }

  /** Called for each frame; the cameras follow that of the shown plan. */
  frame(main: Scene | null): void {
    for (const cell of this.cells) {
      if (main && cell.scene) cell.scene.follow(main);
      cell.scene?.draw();
    }
  }
}
