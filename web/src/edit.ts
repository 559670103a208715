// Changes of a small graph by hand: functions over its JSON document (docs/formats.md). Nodes are referred to by name, so that nothing else
// moves when one is removed.
export const EDIT_NODES = 300;

type Ref = string | number;

interface NodeDocument {
  name?: string;
  cost?: number | string;
  size: number | string;
  given?: boolean | string;
  inplace?: Ref[];
  byproduct_of?: Ref;
  recipes?: { inputs: Ref[]; inplace?: Ref[] }[];
  [key: string]: unknown;
}

export interface GraphDocument {
  nodes: NodeDocument[];
  edges?: [Ref, Ref][];
  targets?: Ref[];
  order?: Ref[];
  [key: string]: unknown;
}

export interface NodeChange {
  cost: string;
  size: string;
  reads: string[]; // names
}

export class EditError extends Error {}

/** The document with every reference as a name. */
export function named(text: string): GraphDocument {
  const graph = JSON.parse(text) as GraphDocument;
  for (const [i, node] of graph.nodes.entries()) node.name ??= String(i);
  const name = (ref: Ref): string => (typeof ref === "number" ? (graph.nodes[ref].name as string) : ref);
  for (const node of graph.nodes) {
    if (node.inplace) node.inplace = node.inplace.map(name);
    if (node.byproduct_of !== undefined) node.byproduct_of = name(node.byproduct_of);
    for (const recipe of node.recipes ?? []) {
      recipe.inputs = recipe.inputs.map(name);
      if (recipe.inplace) recipe.inplace = recipe.inplace.map(name);
    }
  }
  graph.edges = (graph.edges ?? []).map(([from, to]) => [name(from), name(to)]);
  if (graph.targets) graph.targets = graph.targets.map(name);
  if (graph.order) graph.order = graph.order.map(name);
  return graph;
}

export function readsOf(graph: GraphDocument, name: string): string[] {
  return (graph.edges ?? []).filter(([, to]) => to === name).map(([from]) => String(from));
}

function wholeNumber(text: string, what: string): string {
  if (!/^\d{1,19}$/.test(text)) throw new EditError(`${what} must be a whole number of 0 or more.`);
  return text;
}

/** As the reader wants it: a number up to 2^53, else text. */
function integer(text: string): number | string {
  return Number(text) <= Number.MAX_SAFE_INTEGER ? Number(text) : text;
}

function find(graph: GraphDocument, name: string): NodeDocument {
  const node = graph.nodes.find((one) => one.name === name);
  if (!node) throw new EditError(`There is no node called ${name}. Press / to search.`);
  return node;
}

/** Whether `to` can be reached from `from` along edges. */
function reaches(graph: GraphDocument, from: string, to: string): boolean {
  const seen = new Set([from]);
  const open = [from];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at === to) return true;
    for (const [a, b] of graph.edges ?? []) {
      if (a !== at || seen.has(String(b))) continue;
      seen.add(String(b));
      open.push(String(b));
    }
  }
  return false;
}

/** The program's order, if it is still one: every node after those that it reads. */
function keepOrder(graph: GraphDocument): void {
  if (!graph.order) return;
  const place = new Map(graph.order.map((ref, i) => [String(ref), i]));
  const computed = graph.nodes.filter((node) => !node.given && node.byproduct_of === undefined);
  const good = computed.every((node) => place.has(node.name as string)) && (graph.edges ?? []).every(([from, to]) => (place.get(String(from)) ?? -1) < (place.get(String(to)) ?? Infinity));
  if (!good) delete graph.order;
}

export function changeNode(graph: GraphDocument, name: string, { cost, size, reads }: NodeChange): void {
  const node = find(graph, name);
  const before = readsOf(graph, name);
  const same = before.length === reads.length && before.every((one) => reads.includes(one));
  node.size = integer(wholeNumber(size, "The size"));
  if (!/^\d{1,19}(\.\d{1,9})?$/.test(cost)) throw new EditError("The cost must be a number of 0 or more.");
  if (node.given) {
    if (Number(cost)) throw new EditError(`${name} is given at the start, so it has no cost.`);
  } else node.cost = /^\d+$/.test(cost) ? integer(cost) : Number(cost);
  if (same) return;
  if (node.given && reads.length) throw new EditError(`${name} is given at the start, so it reads nothing.`);
  graph.edges = (graph.edges ?? []).filter(([, to]) => to !== name);
  for (const from of new Set(reads)) {
    find(graph, from);
    if (reaches(graph, name, from)) throw new EditError(`${name} cannot read ${from}, which depends on it.`);
    graph.edges.push([from, name]);
  }
  if (node.inplace) node.inplace = node.inplace.filter((one) => reads.includes(String(one)));
  keepOrder(graph);
}

export function removeNode(graph: GraphDocument, name: string): void {
  find(graph, name);
  if (graph.nodes.length === 1) throw new EditError("A graph needs at least one node.");
  if (graph.nodes.some((node) => node.byproduct_of === name)) throw new EditError(`${name} has by-products. Remove them first.`);
  const other = (ref: Ref): boolean => ref !== name;
  graph.nodes = graph.nodes.filter((node) => node.name !== name);
  graph.edges = (graph.edges ?? []).filter(([from, to]) => from !== name && to !== name);
  if (graph.targets) graph.targets = graph.targets.filter(other);
  if (graph.order) graph.order = graph.order.filter(other);
  for (const node of graph.nodes) {
    if (node.inplace) node.inplace = node.inplace.filter(other);
    if (node.recipes) node.recipes = node.recipes.filter((recipe) => recipe.inputs.every(other));
  }
}

/** A node that reads another one; it costs and holds as much. Returns its name. */
export function addReader(graph: GraphDocument, from: string): string {
  const source = find(graph, from);
  let number = 1;
  while (graph.nodes.some((node) => node.name === `new${number}`)) number += 1;
  const name = `new${number}`;
  graph.nodes.push({ name, cost: source.cost ?? 1, size: source.size });
  graph.edges = [...(graph.edges ?? []), [from, name]];
  if (graph.order) graph.order.push(name);
  if (graph.targets?.length) graph.targets.push(name); // else nothing needs it
  return name;
}
