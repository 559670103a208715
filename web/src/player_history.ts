// What happens to each node over a whole plan: its moves, lifetimes and number of computations.
// Built on first use, in one counting sort over the moves.

import { Frames, NONE, Op, RECOMPUTE_BIT } from "./binary";

export interface Lifetime {
  from: number;
  to: number;
  why: "compute" | "recompute" | "load" | "given";
}

export class History {
  /** Moves of node v: `moves[start[v]]` up to `moves[start[v + 1]]`, ascending. */
  private readonly start: Uint32Array;
  private readonly moves: Uint32Array;
  private readonly given: Uint8Array;

  constructor(
    nodeCount: number,
    private readonly frames: Frames,
  ) {
    this.start = new Uint32Array(nodeCount + 2);
    this.given = new Uint8Array(nodeCount);
    for (const node of frames.initialFast) this.given[node] = 1;
    this.each((node) => this.start[node + 2]++);
    for (let v = 2; v < this.start.length; v++) this.start[v] += this.start[v - 1];
    this.moves = new Uint32Array(this.start[nodeCount + 1]);
    this.each((node, move) => (this.moves[this.start[node + 1]++] = move));
  }

  movesOf(node: number): Uint32Array {
    return this.moves.subarray(this.start[node], this.start[node + 1]);
  }

  computeCount(node: number, step: number): number {
    let count = 0;
    for (const i of this.movesOf(node)) {
      if (i >= step) break;
      if (this.makes(i, node) && this.op(i) === Op.Compute) count++;
    }
    return count;
  }

  lifetimes(node: number): Lifetime[] {
    const out: Lifetime[] = [];
    const given = this.given[node] === 1;
    const places = new Set<number>(given ? [this.frames.memory] : []); // several only in the timed game
    let open: Lifetime | null = given ? { from: 0, to: 0, why: "given" } : null;
    let computed = false;
    for (const i of this.movesOf(node)) {
      const place = this.frames.timed?.place[i] ?? 0;
      if (this.frames.timed && !this.frames.timed.memories[place].fast) continue;
      if (this.makes(i, node)) {
        const why = this.op(i) !== Op.Compute ? "load" : computed ? "recompute" : "compute";
        open ??= { from: i + 1, to: 0, why };
        computed ||= this.op(i) === Op.Compute;
        places.add(place);
      } else if (open && this.removes(i, node)) {
        places.delete(place);
        if (places.size) continue;
        out.push({ ...open, to: i });
        open = null;
      }
    }
    if (open) out.push({ ...open, to: this.frames.moveCount });
    return out;
  }

  private op(i: number): Op {
    return this.frames.op[i] & ~RECOMPUTE_BIT;
  }

  private makes(i: number, node: number): boolean {
    const op = this.op(i);
    return (op === Op.Compute && this.frames.over[i] !== node) || op === Op.Load || op === Op.Copy;
  }

  private removes(i: number, node: number): boolean {
    const op = this.op(i);
    return op === Op.Free || op === Op.Uncompute || (op === Op.Compute && this.frames.over[i] === node);
  }

  private each(visit: (node: number, move: number) => void): void {
    const f = this.frames;
    for (let i = 0; i < f.moveCount; i++) {
      visit(f.node[i], i);
      if (f.over[i] !== NONE) visit(f.over[i], i);
      for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) visit(f.also[a], i);
    }
  }
}
