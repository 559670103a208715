// A picture of what the page shows, to save or to film: title and figures, the graphs side by side, what the colours mean, and memory over
// time of the shown plan with its cap and playhead.
import { axisOf } from "../chart/axis";
import { sampleMoves } from "../chart/samples";
import type { Row } from "../api_types";
import { amount, group, percent, plural } from "../format";
import type { Model } from "../model";
import { moveWords } from "../move_words";
import { NodeState } from "../node_state";
import type { Player } from "../player";
import type { Scene } from "../scene/scene";
import { withAlpha, type Theme } from "../states_palette";
import { capText, effort, rowName, shownStates } from "../words";
import { CanvasPen, SvgPen, type Pen, type Point } from "./pen";

export interface SheetCell {
  scene: Scene;
  row: Row | null;
  player: Player | null;
}

const PAD = 16;
const HEAD = 66; // title and figures
const CELL = 52; // name and state of each plan
const LEGEND = 28;
const CHART = 128;
const STATE_KEYS = ["never", "evicted", "resident", "computing", "recomputing", "uncomputing", "slow", "both", "loading", "storing"];

interface Size {
  width: number;
  height: number; // of the graphs
}

function sizeOf(cells: readonly SheetCell[]): Size {
  return { width: Math.max(420, cells.reduce((sum, { scene }) => sum + scene.size.width, 0)), height: Math.max(...cells.map(({ scene }) => scene.size.height)) };
}

export function sheetSize(cells: readonly SheetCell[]): { width: number; height: number } {
  const { width, height } = sizeOf(cells);
  return { width: Math.ceil(width), height: Math.ceil(HEAD + CELL + height + LEGEND + CHART) };
}

function headline(model: Model): string[] {
  const { graph, shown, frames, player, layout } = model;
  if (!graph) return ["", ""];
  const title = `${graph.name}, ${plural(graph.nodes, "node")}`;
  const m = shown?.metrics;
  const facts: string[] = [];
  if (shown) facts.push(`${rowName(shown)}, ${shown.game} game`);
  if (frames && Number.isFinite(frames.cap)) facts.push(`cap ${capText(frames.cap, graph)}`);
  if (frames) facts.push(`peak ${amount(frames.peak, graph.size_unit)}`);
  if (m) facts.push(`${percent(m.overhead)} extra ${effort(graph)}`, `total ${amount(m.makespan, graph.cost_unit)}`);
  if (frames && player && layout && player.step > 0) facts.push(moveWords(frames, player.step - 1, layout.names));
  return [title, facts.join(" · ")];
}

function stateOf(cell: SheetCell, model: Model): { lines: string[]; over: boolean } {
  const { player, row } = cell;
  if (!player || !row || !model.graph) return { lines: [], over: false };
  const { frames, step } = player;
  const used = step > 0 ? frames.during[step - 1] : player.memory(0);
  const unit = model.graph.size_unit;
  const over = !row.plan && step >= frames.moveCount && used > frames.cap;
  if (over) return { lines: [`stops: needs ${amount(used, unit)}`, `${amount(used - frames.cap, unit)} over the cap`], over };
  return { lines: [`move ${group(step)} of ${group(frames.moveCount)}`, `${amount(used, unit)} in memory`], over };
}

/** Everything but the graphs. */
function drawAround(pen: Pen, model: Model, cells: readonly SheetCell[], theme: Theme): void {
  const { width, height } = sizeOf(cells);
  const whole = sheetSize(cells);
  pen.rect(0, 0, whole.width, whole.height, theme.background);
  const soft = withAlpha(theme.text, 0.75);
  const [title, facts] = headline(model);
  pen.text(PAD, 28, title, { fill: theme.text, size: 17, bold: true }, width - 2 * PAD);
  pen.text(PAD, 50, facts, { fill: soft, size: 12.5 }, width - 2 * PAD);
  let left = 0;
  for (const cell of cells) {
    const room = cell.scene.size.width - 2 * PAD;
    const { lines, over } = stateOf(cell, model);
    const colour = over ? theme.states[NodeState.Recomputing] : null;
    pen.text(left + PAD, HEAD + 14, cell.row ? rowName(cell.row) : "", { fill: colour ?? theme.text, size: 12.5, bold: true }, room);
    for (const [i, text] of lines.entries()) pen.text(left + PAD, HEAD + 30 + 15 * i, text, { fill: colour ?? soft, size: 11.5 }, room);
    left += cell.scene.size.width;
  }
  drawLegend(pen, model, theme, HEAD + CELL + height + 18);
  drawChart(pen, model, theme, { top: HEAD + CELL + height + LEGEND, width });
}

function drawLegend(pen: Pen, model: Model, theme: Theme, y: number): void {
  let x = PAD;
  for (const { key, name } of shownStates(model.shown?.game ?? model.view.game)) {
    const colour = theme.states[STATE_KEYS.indexOf(key)];
    const hollow = key === "never";
    if (key === "slow") pen.rect(x, y - 9, 10, 10, colour);
    else pen.circle(x + 5, y - 4, key === "evicted" ? 2.5 : 5, hollow ? null : colour, hollow ? colour : null);
    pen.text(x + 15, y, name, { fill: theme.text, size: 11.5 });
    x += 32 + name.length * 6.3;
  }
}

function drawChart(pen: Pen, model: Model, theme: Theme, { top, width }: { top: number; width: number }): void {
  const { frames, player, graph } = model;
  if (!frames || !player || !graph || !frames.moveCount) return;
  const [x0, x1, y0, y1] = [88, width - PAD, top + 10, top + CHART - 24];
  const capped = Number.isFinite(frames.cap) && frames.cap <= 4 * frames.peak;
  const ceiling = Math.max(frames.peak, capped ? frames.cap : 0, 1) * 1.06;
  const y = (memory: number): number => y1 - (memory / ceiling) * (y1 - y0);
  const axis = axisOf(frames, frames.timed ? "work" : model.view.clock);
  const columns = Math.max(1, Math.round(x1 - x0));
  const samples = sampleMoves(frames, 0, axis.end, columns, axis);
  const points: Point[] = [[x0, y1]];
  for (let i = 0; i < columns; i++) if (samples.max[i] >= 0) points.push([x0 + i, y(samples.max[i])], [x0 + i + 1, y(samples.max[i])]);
  points.push([x1, y1]);
  const label = { fill: withAlpha(theme.text, 0.75), size: 11, align: "right" as const };
  pen.area(points, withAlpha(theme.states[NodeState.Resident], 0.5));
  pen.line([[x0, y1], [x1, y1]], theme.edge, 1);
  pen.text(x0 - 6, y1 + 4, `0`, label);
  pen.text(x0 - 6, y(frames.peak) + 4, amount(frames.peak, graph.size_unit), label);
  if (capped) {
    const colour = theme.states[NodeState.Recomputing];
    pen.line([[x0, y(frames.cap)], [x1, y(frames.cap)]], colour, 1.2, [6, 4]);
    if (Math.abs(y(frames.cap) - y(frames.peak)) > 12) pen.text(x0 - 6, y(frames.cap) + 4, `cap ${amount(frames.cap, graph.size_unit)}`, { ...label, fill: colour });
  }
  const now = x0 + (axis.at(player.step) / axis.end) * (x1 - x0);
  pen.line([[now, y0 - 4], [now, y1]], theme.text, 1.6);
  const unit = axis.kind === "moves" ? plural(frames.moveCount, "move") : amount(Math.round(axis.end), graph.cost_unit);
  pen.text(x1, y1 + 16, unit, label);
  pen.text(x0, y1 + 16, "memory over time", { ...label, align: "left" });
}

/** Draws into a canvas of sheetSize times `scale`. The scenes are drawn now, at that scale if `sharp`. */
export function paintSheet(c: CanvasRenderingContext2D, model: Model, cells: readonly SheetCell[], theme: Theme, { scale, sharp }: { scale: number; sharp: boolean }): void {
  c.setTransform(scale, 0, 0, scale, 0, 0);
  drawAround(new CanvasPen(c), model, cells, theme);
  let left = 0;
  for (const { scene } of cells) {
    const { width, height } = scene.size;
    scene.paint(c, left, HEAD + CELL, width, height, sharp ? scale : 0);
    left += width;
  }
}

export async function sheetPng(model: Model, cells: readonly SheetCell[], theme: Theme, scale = 2): Promise<Blob> {
  const { width, height } = sheetSize(cells);
  const sheet = document.createElement("canvas");
  [sheet.width, sheet.height] = [width * scale, height * scale];
  const c = sheet.getContext("2d");
  if (!c) throw new Error("the browser does not provide a 2D canvas; try another browser");
  paintSheet(c, model, cells, theme, { scale, sharp: true });
  return new Promise((resolve, reject) => {
    sheet.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser could not write the picture; try SVG, or a smaller window"))), "image/png");
  });
}

export function sheetSvg(model: Model, cells: readonly SheetCell[], theme: Theme): string {
  const pen = new SvgPen();
  drawAround(pen, model, cells, theme);
  const { width, height } = sheetSize(cells);
  let left = 0;
  const graphs = cells.map(({ scene }) => {
    const inner = scene.toSVG().replace("<svg ", `<svg x="${Math.round(left)}" y="${HEAD + CELL}" `);
    left += scene.size.width;
    return inner;
  });
  const head = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="system-ui, sans-serif">`;
  return [head, ...pen.parts, ...graphs, "</svg>"].join("\n");
}
