// The states that a scene shows: those of a player, or for closed groups what their members add up to.
import { NodeState, STATE_COUNT } from "../node_state";
import type { Player } from "../player";
import type { Picture } from "./picture";

export interface Shown {
  readonly nodeCount: number;
  readonly states: Uint8Array;
  readonly events: Uint8Array;
  /** How full each node is drawn, 0 to FULL; without: all are full. */
  readonly levels?: Uint8Array;
  readonly current: number | null;
  readonly hasDirty: boolean;
  takeDirty(visit: (node: number) => void): number;
}

export const FULL = 15;
const WORKING: readonly NodeState[] = [NodeState.Recomputing, NodeState.Computing, NodeState.Uncomputing, NodeState.Loading, NodeState.Storing];
const AT_REST: readonly NodeState[] = [NodeState.Slow, NodeState.Evicted];

function inFast(state: number): boolean {
  return state === NodeState.Resident || state === NodeState.Computing || state === NodeState.Recomputing || state >= NodeState.ResidentAndSlow;
}

/** Groups as vessels: as full as the share of their sizes that is in memory. */
export class Vessels implements Shown {
  readonly nodeCount: number;
  readonly states: Uint8Array;
  readonly events: Uint8Array;
  readonly levels: Uint8Array;
  private readonly item: Uint32Array;
  private readonly seen: Uint8Array; // the state of each value when it was last looked at
  private readonly counts: Uint32Array; // by item and state
  private readonly held: Float64Array; // sizes in memory, by item
  private readonly marks: Uint8Array;
  private readonly size: Float64Array;
  private readonly total: Float64Array;

  constructor(private readonly player: Player, picture: Picture) {
    const n = picture.layout.nodeCount;
    this.nodeCount = n;
    this.item = picture.item ?? new Uint32Array();
    this.size = picture.whole.size;
    this.total = picture.layout.size;
    this.states = new Uint8Array(n);
    this.events = new Uint8Array(n);
    this.levels = new Uint8Array(n);
    this.marks = new Uint8Array(n);
    this.counts = new Uint32Array(n * STATE_COUNT);
    this.held = new Float64Array(n);
    this.seen = player.states.slice();
    for (let v = 0; v < this.seen.length; v++) this.add(v, this.seen[v], 1);
    for (let i = 0; i < n; i++) this.settle(i);
  }

  get current(): number | null {
    const { current } = this.player;
    return current === null ? null : this.item[current];
  }

  get hasDirty(): boolean {
    return this.player.hasDirty;
  }

  takeDirty(visit: (node: number) => void): number {
    const touched: number[] = [];
    this.player.takeDirty((v) => {
      const i = this.item[v];
      const state = this.player.states[v];
      this.add(v, this.seen[v], -1);
      this.add(v, state, 1);
      this.seen[v] = state;
      this.events[i] = this.player.events[v];
      if (this.marks[i]) return;
      this.marks[i] = 1;
      touched.push(i);
    });
    for (const i of touched) {
      this.marks[i] = 0;
      this.settle(i);
      visit(i);
    }
    return touched.length;
  }

  private add(node: number, state: number, by: 1 | -1): void {
    const i = this.item[node];
    this.counts[i * STATE_COUNT + state] += by;
    if (inFast(state)) this.held[i] += by * this.size[node];
  }

  private has(i: number, state: NodeState): boolean {
    return this.counts[i * STATE_COUNT + state] > 0;
  }

  private settle(i: number): void {
    const working = WORKING.find((state) => this.has(i, state));
    const resident = this.has(i, NodeState.Resident) || this.has(i, NodeState.ResidentAndSlow);
    this.states[i] = working ?? (resident ? NodeState.Resident : (AT_REST.find((state) => this.has(i, state)) ?? NodeState.Never));
    this.levels[i] = this.total[i] > 0 ? Math.min(FULL, Math.ceil((FULL * this.held[i]) / this.total[i])) : FULL;
  }
}
