// What a scene draws: a layout of all values, or of groups as single nodes. Outside of the scene, nodes and groups have their numbers in
// the whole graph: nodes first, then groups.
import { decodeLayout, NONE, readClosed, type Layout, type NameList } from "../binary";

export interface Picture {
  layout: Layout;
  whole: Layout;
  /** Of each node of the whole graph: what is drawn for it. null: itself. */
  item: Uint32Array | null;
  /** Of each drawn node: a node of the whole graph, or its number of nodes + a group. */
  of: Uint32Array | null;
}

export function plainPicture(layout: Layout): Picture {
  return { layout, whole: layout, item: null, of: null };
}

/** Reads a layout with closed groups. */
export function closedPicture(buffer: ArrayBuffer, whole: Layout): Picture {
  const drawn = decodeLayout(buffer, whole.names);
  const { item, of } = readClosed(buffer, drawn);
  const get = (i: number): string => whole.names.get(i < of.length ? of[i] : whole.nodeCount + i - of.length);
  const names: NameList = { count: drawn.nodeCount + whole.groupCount, get, list: (count) => Array.from({ length: count }, (_, i) => get(i)) };
  // Groups that are open have their numbers in the whole graph.
  const group = Uint32Array.from(of, (target) => (target < whole.nodeCount ? whole.group[target] : NONE));
  return { layout: { ...drawn, names, group, groupCount: whole.groupCount }, whole, item, of };
}

/** What is drawn for a node. */
export function itemOf(picture: Picture, node: number): number {
  return picture.item ? picture.item[node] : node;
}

/** What a drawn node stands for. */
export function targetOf(picture: Picture, item: number): number {
  return picture.of ? picture.of[item] : item;
}

/** The members that a drawn group stands for, in one pass. */
export function membersOf(picture: Picture, item: number): number[] {
  const out: number[] = [];
  picture.item?.forEach((one, node) => {
    if (one === item) out.push(node);
  });
  return out;
}
