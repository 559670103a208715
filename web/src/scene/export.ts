// The scene as a picture to save: SVG of what is on the screen, with the same positions, states and colours.

import { NodeState } from "../node_state";
import type { Band } from "./boxes";
import type { Camera } from "./camera";
import type { Flow } from "./adjacency";
import type { NodeGrid } from "./grid";
import type { Label } from "./labels";
import { MAX_BEND } from "./shaders";
import { GroupBox, SceneLayout, boxOnScreen, drawnRadius } from "./shape";
import type { Theme } from "../states_palette";

const MAX_EDGES = 200_000;

export interface SvgSource {
  layout: SceneLayout;
  grid: NodeGrid;
  camera: Camera;
  flow: Flow;
  theme: Theme;
  bands: readonly Band[];
  labels: readonly Label[];
  states: Uint8Array | null;
  selected: number | null;
}

/** Sizes and opacities of states at rest, as in the shader. */
const SIZE = [0.74, 0.52, 1, 1.08, 1.08, 0.95, 0.86, 0.96, 1.04, 1.04];
const FILL = [0.1, 0.62, 1, 1, 1, 1, 0.26, 1, 1, 1];

/** States in which readers find the value in fast memory. */
const IN_FAST = new Set<number>([
  NodeState.Resident, NodeState.Computing, NodeState.Recomputing, NodeState.ResidentAndSlow, NodeState.Loading, NodeState.Storing,
]);

const short = (v: number): string => String(Math.round(v * 10) / 10);

export function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}

export function sceneSvg(s: SvgSource): string {
  const { width, height } = s.camera;
  const parts = [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${short(width)} ${short(height)}" width="${short(width)}" height="${short(height)}" font-family="system-ui, sans-serif" font-size="11">`,
    `<rect width="100%" height="100%" fill="${s.theme.background}"/>`,
    ...boxes(s),
    edges(s),
    ...nodes(s),
    ...s.labels.map((l) => label(l, s.theme)),
    "</svg>",
  ];
  return parts.join("\n");
}

function boxes(s: SvgSource): string[] {
  const rect = (b: Omit<GroupBox, "group">, corner: number, colour: string, fill: number, line: number): string => {
    const [left, top, right, bottom] = boxOnScreen(s.camera, b);
    const place = `x="${short(left)}" y="${short(top)}" width="${short(right - left)}" height="${short(bottom - top)}"`;
    return `<rect ${place} rx="${corner}" fill="${colour}" fill-opacity="${fill}" stroke="${colour}" stroke-opacity="${line}"/>`;
  };
  return [
    ...s.bands.map((b) => rect(b, 14, s.theme.states[b.lane === 0 ? NodeState.Resident : NodeState.Slow], 0.04, 0.12)),
    ...s.layout.boxes.map((b) => rect(b, 7, s.theme.group, 0.06, 0.24)),
  ];
}

function edges(s: SvgSource): string {
  const { layout, camera } = s;
  const seen = camera.visible(0);
  const plain: string[] = [];
  const held: string[] = [];
  for (let e = 0; e < layout.edgeCount && plain.length + held.length < MAX_EDGES; e++) {
    const u = layout.edgeFrom[e], v = layout.edgeTo[e];
    const ux = layout.x[u], uy = layout.y[u], vx = layout.x[v], vy = layout.y[v];
    if (Math.max(ux, vx) < seen.left || Math.min(ux, vx) > seen.right) continue;
    if (Math.max(uy, vy) < seen.top || Math.min(uy, vy) > seen.bottom) continue;
    (s.states && IN_FAST.has(s.states[u]) ? held : plain).push(curve(s, u, v));
  }
  const opacity = Math.max(0.05, 0.55 / (1 + (plain.length + held.length) / 1500));
  const path = (d: string[], colour: string, share: number): string =>
    `<path fill="none" stroke="${colour}" stroke-opacity="${Math.min(1, opacity * share).toFixed(3)}" d="${d.join("")}"/>`;
  return path(plain, s.theme.edge, 1) + path(held, s.theme.states[NodeState.Resident], 1.6);
}

/** The curve of an edge, by the same rule as in the edge shader. */
function curve(s: SvgSource, u: number, v: number): string {
  const { layout, camera, flow } = s;
  const [x0, y0] = camera.toScreen(layout.x[u], layout.y[u]);
  const [x1, y1] = camera.toScreen(layout.x[v], layout.y[v]);
  const crossing = layout.lane[u] !== layout.lane[v];
  const leanX = flow.alongX !== crossing;
  const slot = camera.view.scale * (flow.alongX ? camera.stretchX : camera.stretchY);
  const slotAside = camera.view.scale * (flow.alongX ? camera.stretchY : camera.stretchX);
  const along = Math.abs(flow.alongX ? x1 - x0 : y1 - y0);
  const aside = Math.abs(flow.alongX ? y1 - y0 : x1 - x0);
  let bend = 0;
  if (!crossing && along > 1.8 * slot && aside < 0.4 * slot)
    bend = Math.min(0.3 * along, Math.min(0.4 + 0.1 * Math.sqrt(along / slot), MAX_BEND) * slotAside, 80) * 1.33 * (layout.lane[u] ? flow.bow : -flow.bow);
  const bx = flow.alongX ? 0 : bend, by = flow.alongX ? bend : 0;
  const cx = leanX ? (x1 - x0) / 2 : 0, cy = leanX ? 0 : (y1 - y0) / 2;
  const first = `${short(x0 + cx + bx)} ${short(y0 + cy + by)}`;
  return `M${short(x0)} ${short(y0)}C${first} ${short(x1 - cx + bx)} ${short(y1 - cy + by)} ${short(x1)} ${short(y1)}`;
}

function nodes(s: SvgSource): string[] {
  const { layout, camera, theme } = s;
  const byState = new Map<number, string[]>();
  s.grid.within(camera.visible(30), (v) => {
    const state = s.states ? s.states[v] : NodeState.Never;
    const [x, y] = camera.toScreen(layout.x[v], layout.y[v]);
    const r = Math.max(0.8, drawnRadius(layout, v, camera.view.scale) * SIZE[state]);
    const list = byState.get(state) ?? [];
    if (list.length === 0) byState.set(state, list);
    if (state === NodeState.Slow)
      list.push(`<rect x="${short(x - 0.86 * r)}" y="${short(y - 0.86 * r)}" width="${short(1.72 * r)}" height="${short(1.72 * r)}" rx="${short(0.3 * r)}"/>`);
    else list.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(r)}"/>`);
    if (v === s.selected) list.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(r + 4)}" fill="none" stroke="${theme.accent}" stroke-width="2"/>`);
  });
  const out: string[] = [];
  for (const [state, list] of [...byState].sort((a, b) => a[0] - b[0])) {
    const colour = theme.states[state];
    const ground = FILL[state] < 1 ? `<g fill="${theme.background}">${list.join("")}</g>` : "";
    out.push(`${ground}<g fill="${colour}" fill-opacity="${FILL[state]}" stroke="${colour}" stroke-width="${FILL[state] < 1 ? 1.3 : 0}">${list.join("")}</g>`);
  }
  return out;
}

function label(l: Label, theme: Theme): string {
  const anchor = l.align === "center" ? ' text-anchor="middle"' : "";
  const weight = l.kind === "node" ? "" : ' font-weight="600"';
  const colour = l.kind === "group" ? theme.group : theme.text;
  return `<text x="${short(l.x)}" y="${short(l.y + 10)}"${anchor}${weight} fill="${colour}" fill-opacity="${l.opacity.toFixed(2)}">${escapeXml(l.text)}</text>`;
}

/** Both canvases in one picture. The first must have been drawn in the same task. */
export function flatten(scene: HTMLCanvasElement, overlay: HTMLCanvasElement): Promise<Blob> {
  const sheet = document.createElement("canvas");
  sheet.width = scene.width;
  sheet.height = scene.height;
  const c = sheet.getContext("2d");
  if (!c) return Promise.reject(new Error("the browser does not provide a 2D canvas; try another browser"));
  c.drawImage(scene, 0, 0);
  c.drawImage(overlay, 0, 0);
  return new Promise((resolve, reject) => {
    sheet.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the browser could not write the picture; try SVG, or a smaller window"))), "image/png");
  });
}
