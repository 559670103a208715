// A layout prepared for the screen: very long thin graphs are folded into rows, and the free room around every node is computed.

import { Layout, LayoutKind } from "../binary";
import type { Camera } from "./camera";
import type { NodeGrid } from "./grid";
import { BOX_WITHIN } from "./shaders";

/** A box around members of a group; in two lanes a group has one in each. */
export interface GroupBox {
  group: number;
  left: number;
  top: number;
  width: number;
  height: number;
  /** In pixels. A negative margin means at most that many pixels, and never beyond the slots of the members. */
  margin: number;
}

/** A part of the layout from top to bottom, as the band of a lane. */
export interface Rows {
  top: number;
  height: number;
}

/** Where a box is on the screen: left, top, right, bottom. */
export function boxOnScreen(c: Camera, b: Omit<GroupBox, "group">): [number, number, number, number] {
  const [left, top] = c.toScreen(b.left, b.top);
  const [right, bottom] = c.toScreen(b.left + b.width, b.top + b.height);
  const max = b.margin < 0 ? BOX_WITHIN * c.view.scale : Infinity;
  const mx = Math.min(Math.abs(b.margin), max * c.stretchX);
  const my = Math.min(Math.abs(b.margin), max * c.stretchY);
  return [left - mx, top - my, right + mx, bottom + my];
}

export interface SceneLayout extends Layout {
  boxes: GroupBox[];
  /** Distance to the nearest other node in slots as stretched on the screen, at most MAX_ROOM. */
  room: Float32Array;
}

/** With the layout's radii neighbours almost touch; drawn a little smaller, edges are visible between them. */
export const NODE_SCALE = 0.85;
/** If there is room, the radius of a node is at least about this many pixels. */
export const WISHED_RADIUS = 5;
const USUAL_RADIUS = 0.33;
const ROOM_SHARE = 0.36;
const NEAR = 1.1;
const MAX_ROOM = 5;

const THIN = 4;
const LONG = 30;
const ROW_GAP = 1.3;
const BOX_MARGIN = 20;

/** Radius on the screen of a node at rest; the node shader uses the same rule. */
export function drawnRadius(l: SceneLayout, node: number, scale: number): number {
  const radius = l.radius[node];
  return Math.max(radius * NODE_SCALE * scale, Math.min((WISHED_RADIUS * radius) / USUAL_RADIUS, ROOM_SHARE * l.room[node] * scale));
}

/** Numbers of `drawnRadius` for the shader. */
export const RADIUS_RULE: readonly [number, number, number] = [NODE_SCALE, WISHED_RADIUS / USUAL_RADIUS, ROOM_SHARE];

/** Chains and similar graphs would be one line across an empty screen: they are folded into rows with alternating direction. */
export function folded(l: Layout, aspect: number): Layout {
  if (l.kind !== LayoutKind.Layered || l.groupCount > 0 || l.height > THIN || l.width < LONG) return l;
  const rowHeight = l.height + ROW_GAP;
  const rows = Math.ceil(Math.sqrt(l.width / (aspect * rowHeight)));
  if (rows < 2) return l;
  const length = Math.ceil(l.width / rows);
  const x = new Float32Array(l.nodeCount);
  const y = new Float32Array(l.nodeCount);
  for (let v = 0; v < l.nodeCount; v++) {
    const row = Math.min(rows - 1, Math.floor(l.x[v] / length));
    const along = l.x[v] - row * length;
    x[v] = row % 2 === 0 ? along : length - along;
    y[v] = l.y[v] + row * rowHeight;
  }
  return { ...l, x, y, width: length, height: rows * rowHeight };
}

export function withRoom(l: Layout, grid: NodeGrid, stretchX: number, stretchY: number, bands: readonly Rows[] = []): SceneLayout {
  const room = new Float32Array(l.nodeCount);
  for (let v = 0; v < l.nodeCount; v++) {
    const near = nearest(l, grid, v, NEAR, stretchX, stretchY);
    room[v] = near < NEAR ? near : nearest(l, grid, v, MAX_ROOM, stretchX, stretchY);
  }
  return { ...l, room, boxes: groupBoxes(l, bands) };
}

/** A tight box around the members of each group, one in each band. */
export function groupBoxes(l: Layout, bands: readonly Rows[]): GroupBox[] {
  const out: GroupBox[] = [];
  const made = new Map<number, GroupBox>();
  for (let v = 0; v < l.nodeCount; v++) {
    const g = l.group[v];
    if (g >= l.groupCount) continue;
    const band = bands.findIndex((b) => l.y[v] >= b.top && l.y[v] <= b.top + b.height);
    const key = g * (bands.length + 1) + band + 1;
    let b = made.get(key);
    if (!b) made.set(key, (b = { group: g, left: Infinity, top: Infinity, width: -Infinity, height: -Infinity, margin: -BOX_MARGIN }));
    b.left = Math.min(b.left, l.x[v]);
    b.top = Math.min(b.top, l.y[v]);
    // Right and bottom while members are added.
    b.width = Math.max(b.width, l.x[v]);
    b.height = Math.max(b.height, l.y[v]);
  }
  for (const b of made.values()) out.push({ ...b, width: b.width - b.left, height: b.height - b.top });
  return out;
}

function nearest(l: Layout, grid: NodeGrid, v: number, reach: number, sx: number, sy: number): number {
  const x = l.x[v], y = l.y[v];
  const box = { left: x - reach / sx, right: x + reach / sx, top: y - reach / sy, bottom: y + reach / sy };
  let min = reach * reach;
  grid.within(box, (u) => {
    const dx = (l.x[u] - x) * sx, dy = (l.y[u] - y) * sy;
    const d = dx * dx + dy * dy;
    if (d < min && u !== v) min = d;
  });
  return Math.sqrt(min);
}
