// The details of a node that follow from the graph and the moves alone, as the server would send them.
import type { GraphInfo, Life, NodeExplain, NodeInfo, NodeRef } from "../api_types";
import { NONE, Op, RECOMPUTE_BIT, type Layout } from "../binary";
import type { Player } from "../player";

const MAX_NEIGHBOURS = 200;

export function nodeInfo(layout: Layout, graph: GraphInfo, node: number): NodeInfo {
  const ref = (v: number): NodeRef => ({ node: v, name: layout.names.get(v) });
  const inputs: number[] = [];
  const readers: number[] = [];
  for (let e = 0; e < layout.edgeCount; e++) {
    if (layout.edgeTo[e] === node) inputs.push(layout.edgeFrom[e]);
    if (layout.edgeFrom[e] === node) readers.push(layout.edgeTo[e]);
  }
  const group = layout.group[node];
  return {
    node,
    name: layout.names.get(node),
    group: graph.has_groups && group !== NONE ? layout.names.get(layout.nodeCount + group) : null,
    cost: layout.cost[node],
    size: layout.size[node],
    inputs: inputs.slice(0, MAX_NEIGHBOURS).map(ref),
    readers: readers.slice(0, MAX_NEIGHBOURS).map(ref),
    input_count: inputs.length,
    reader_count: readers.length,
    flags: [],
  };
}

/** When the node is in memory, and what reads it. */
export function nodeExplain(layout: Layout, player: Player, node: number): NodeExplain {
  const readers = new Set<number>();
  for (let e = 0; e < layout.edgeCount; e++) if (layout.edgeFrom[e] === node) readers.add(layout.edgeTo[e]);
  const reads = [...readers].flatMap((v) => [...player.movesOf(v)].filter((i) => readsInputs(player, i, v))).sort((a, b) => a - b);
  const ends = player.frames.moveCount;
  const lives = player.lifetimes(node).map((life): Life => {
    const uses = reads.filter((i) => i >= life.from && i <= Math.min(life.to, ends - 1));
    const removed = life.to < ends ? life.to : null;
    return {
      made_by: life.why === "recompute" ? "compute" : life.why,
      made: life.why === "given" ? null : life.from - 1,
      removed,
      removed_by: removed === null ? null : ["over", "uncompute", "free"][op(player, removed)] ?? null,
      made_again: null,
      uses: uses.length,
      first_use: uses[0] ?? null,
      last_use: uses[uses.length - 1] ?? null,
      waits: [],
    };
  });
  return { node: layout.names.get(node), index: node, cost: layout.cost[node], size: layout.size[node], computed: player.computeCount(node), uncomputed: 0, loaded: 0, spent_again: 0, memory_time: 0, lives };
}

function op(player: Player, move: number): Op {
  return player.frames.op[move] & ~RECOMPUTE_BIT;
}

function readsInputs(player: Player, move: number, reader: number): boolean {
  return player.frames.node[move] === reader && (op(player, move) === Op.Compute || op(player, move) === Op.Uncompute);
}
