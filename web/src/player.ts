// A plan as states over steps: where every value is after any number of moves.
//
// `step` counts moves played, 0..M. One pass at construction records what every move changed, so stepping back is exact,
// and keeps a copy of the residency every few thousand moves, so that a jump replays only a short distance.
// Each touched node is collected once; drawing takes the list with `takeDirty` and updates only those nodes.

import { Frames, NONE, Op, RECOMPUTE_BIT } from "./binary";
import { NodeState } from "./node_state";
import { History } from "./player_history";
import type { Lifetime } from "./player_history";

export { NodeState } from "./node_state";
export type { Lifetime } from "./player_history";

/** All key frames together take at most about this many bytes. */
const KEY_FRAME_BYTES = 24 << 20;
const MIN_KEY_DISTANCE = 512;

const NODE_CHANGED = 1;
const OVER_CHANGED = 2;

const FAST = 1;
const MAX_PLACES = 31; // bits of a residency

type Bits = Uint8Array | Uint32Array;

export class Player {
  step = 0;
  readonly states: Uint8Array;
  /** Nodes whose state the last call changed, or that were computed and removed in it. */
  readonly changed: number[] = [];
  /** The state that each node last passed through; for trails. */
  readonly events: Uint8Array;
  onChange?: () => void;

  /** Bit 0: in fast memory; bit t: in slow tier t. In the timed game, a bit for each memory. */
  private readonly residency: Bits;
  /** The bits of memories that processors work in. */
  private readonly fast: number;
  /** In the timed game: the moves of each lane, in order. */
  private readonly lanes: Uint32Array[];
  private active: number[] = []; // moves that are being done
  /** Move that first computes each node; -1 for given nodes, moveCount for never. */
  private readonly first: Int32Array;
  private readonly undo: Uint8Array;
  private readonly undoAlso: Uint8Array;
  private readonly keys: Bits[] = [];
  private readonly keyDistance: number;
  private readonly touched: Uint8Array;
  private readonly dirtyMark: Uint8Array;
  private readonly dirtyNodes: Uint32Array;
  private dirtyCount = 0;
  private readonly startMemory: number;
  private readonly redone: Uint32Array;
  private past: History | null = null;

  /** `size` (of every node) is only used for the memory before the first move. */
  constructor(
    readonly nodeCount: number,
    readonly frames: Frames,
    size?: Float64Array,
  ) {
    const m = frames.moveCount;
    const { timed } = frames;
    const perNode = (timed ? timed.memories.length : frames.tierCount + 1) <= 8 ? 1 : 4;
    this.fast = timed ? timed.memories.reduce((bits, one, k) => bits | (one.fast ? placeBit(k) : 0), 0) : FAST;
    this.lanes = timed ? lanesOf(frames) : [];
    this.residency = perNode === 1 ? new Uint8Array(nodeCount) : new Uint32Array(nodeCount);
    this.states = new Uint8Array(nodeCount);
    this.events = new Uint8Array(nodeCount);
    this.touched = new Uint8Array(nodeCount);
    this.dirtyMark = new Uint8Array(nodeCount);
    this.dirtyNodes = new Uint32Array(nodeCount);
    this.first = new Int32Array(nodeCount).fill(m);
    this.undo = new Uint8Array(m);
    this.undoAlso = new Uint8Array(frames.also.length);
    this.redone = new Uint32Array(m + 1);
    const copies = Math.max(1, Math.floor(KEY_FRAME_BYTES / Math.max(1, nodeCount * perNode)));
    this.keyDistance = Math.max(MIN_KEY_DISTANCE, Math.ceil((m + 1) / copies));
    this.startMemory = size && m > 0 ? this.memoryBefore(size) : m > 0 ? Math.min(frames.after[0], frames.during[0]) : 0;
    this.record();
    this.refreshAll();
  }

  /** Moves to `step` moves played; far jumps start at the nearest key frame. */
  seek(step: number): void {
    const target = Math.max(0, Math.min(this.frames.moveCount, Math.round(step)));
    this.changed.length = 0;
    if (target === this.step) return;
    const key = Math.min(this.keys.length - 1, Math.round(target / this.keyDistance));
    const fromKey = Math.abs(target - key * this.keyDistance) + (this.nodeCount >> 3);
    if (Math.abs(target - this.step) <= Math.max(fromKey, MIN_KEY_DISTANCE)) this.walk(target);
    else this.jump(key, target);
    this.onChange?.();
  }

  next(): boolean {
    if (this.step >= this.frames.moveCount) return false;
    this.seek(this.step + 1);
    return true;
  }

  back(): boolean {
    if (this.step <= 0) return false;
    this.seek(this.step - 1);
    return true;
  }

  /** Fast memory in use after `step` moves. */
  memory(step: number): number {
    return step <= 0 ? this.startMemory : this.frames.after[Math.min(step, this.frames.moveCount) - 1];
  }

  /** Is the value in fast memory at the current step? */
  isResident(node: number): boolean {
    return (this.residency[node] & this.fast) !== 0;
  }

  /** Recomputations among the first `step` moves. */
  recomputations(step: number): number {
    return this.redone[Math.max(0, Math.min(step, this.frames.moveCount))];
  }

  /** How often `node` was computed within the first `step` moves. */
  computeCount(node: number, step = this.frames.moveCount): number {
    return this.history().computeCount(node, step);
  }

  /** Indices of the moves that compute, remove, store or load `node`, in order. */
  movesOf(node: number): Uint32Array {
    return this.history().movesOf(node);
  }

  /** Spans of steps, both ends included, in which `node` is in fast memory. */
  lifetimes(node: number): Lifetime[] {
    return this.history().lifetimes(node);
  }

  /** The node of the move just played, or null before the first. */
  get current(): number | null {
    return this.step > 0 ? this.frames.node[this.step - 1] : null;
  }

  /** Calls `visit` once for each node touched since the last call, then clears the list. */
  takeDirty(visit: (node: number) => void): number {
    const count = this.dirtyCount;
    for (let i = 0; i < count; i++) {
      const node = this.dirtyNodes[i];
      this.dirtyMark[node] = 0;
      visit(node);
    }
    this.dirtyCount = 0;
    return count;
  }

  get hasDirty(): boolean {
    return this.dirtyCount > 0;
  }

  private history(): History {
    this.past ??= new History(this.nodeCount, this.frames);
    return this.past;
  }

  private memoryBefore(size: Float64Array): number {
    const f = this.frames;
    if (f.timed) return f.timed.memories[f.memory].start;
    const op = f.op[0] & ~RECOMPUTE_BIT;
    let made = 0;
    if (op === Op.Compute || op === Op.Load) made = size[f.node[0]];
    if (op === Op.Uncompute || op === Op.Free) made = -size[f.node[0]];
    for (let a = f.alsoStart[0]; a < f.alsoStart[1]; a++) made += size[f.also[a]];
    if (f.over[0] !== NONE) made -= size[f.over[0]];
    return f.after[0] - made;
  }

  /** One pass over the plan: first computations, what each move changed, key frames. Ends at step 0. */
  private record(): void {
    const f = this.frames;
    const initial = f.timed ? f.timed.memories.map((one) => one.initial) : [f.initialFast, f.initialSlow];
    initial.forEach((nodes, k) => {
      for (const node of nodes) {
        this.residency[node] |= placeBit(k);
        this.first[node] = -1;
      }
    });
    const start = this.residency.slice();
    for (let i = 0; i < f.moveCount; i++) {
      if (i % this.keyDistance === 0) this.keys.push(this.residency.slice());
      this.redone[i + 1] = this.redone[i] + (f.op[i] >> 7);
      if ((f.op[i] & ~RECOMPUTE_BIT) === Op.Compute) {
        if (this.first[f.node[i]] === f.moveCount) this.first[f.node[i]] = i;
        for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++)
          if (this.first[f.also[a]] === f.moveCount) this.first[f.also[a]] = i;
      }
      this.recordMove(i);
    }
    if (this.keys.length === 0) this.keys.push(start.slice());
    this.residency.set(start);
  }

  private recordMove(i: number): void {
    const f = this.frames;
    const bit = this.bitOf(i);
    const adds = this.adds(i);
    if (((this.residency[f.node[i]] & bit) !== 0) !== adds) this.undo[i] |= NODE_CHANGED;
    const over = f.over[i];
    if (over !== NONE && this.residency[over] & bit) this.undo[i] |= OVER_CHANGED;
    for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++)
      this.undoAlso[a] = this.residency[f.also[a]] & bit ? 0 : 1;
    this.flip(i);
  }

  /** The bit of the memory that move i changes. */
  private bitOf(i: number): number {
    const { op, tier, timed } = this.frames;
    if (timed) return placeBit(timed.place[i]);
    const kind = op[i] & ~RECOMPUTE_BIT;
    return kind === Op.Store || kind === Op.Drop ? placeBit(Math.max(1, tier[i])) : FAST;
  }

  private adds(i: number): boolean {
    const op = this.frames.op[i] & ~RECOMPUTE_BIT;
    return op === Op.Compute || op === Op.Load || op === Op.Store || op === Op.Copy;
  }

  /** Applies or undoes move i: it flips what the move changed, which is its own inverse. */
  private flip(i: number): void {
    const f = this.frames;
    const undo = this.undo[i];
    const bit = this.bitOf(i);
    if (undo & NODE_CHANGED) this.residency[f.node[i]] ^= bit;
    if (undo & OVER_CHANGED) this.residency[f.over[i]] ^= bit;
    for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) if (this.undoAlso[a]) this.residency[f.also[a]] ^= bit;
  }

  private walk(target: number): void {
    const forward = target > this.step;
    this.touchActive();
    if (forward) {
      for (let i = this.step; i < target; i++) this.flipAndTouch(i, true);
    } else {
      for (let i = this.step - 1; i >= target; i--) this.flipAndTouch(i, false);
    }
    this.step = target;
    this.active = this.activeMoves();
    this.touchActive();
    for (const node of this.changed) {
      this.touched[node] = 0;
      this.states[node] = this.restState(node);
      this.markDirty(node);
    }
    this.showActive();
  }

  private flipAndTouch(i: number, forward: boolean): void {
    const f = this.frames;
    this.flip(i);
    const event = forward ? this.eventOf(i) : NodeState.Never;
    this.touch(f.node[i], event);
    if (f.over[i] !== NONE) this.touch(f.over[i], forward ? NodeState.Resident : NodeState.Never);
    for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) this.touch(f.also[a], event);
  }

  private touch(node: number, event: NodeState): void {
    this.events[node] = event;
    if (this.touched[node]) return;
    this.touched[node] = 1;
    this.changed.push(node);
  }

  private touchActive(): void {
    const f = this.frames;
    for (const i of this.active) {
      this.touchQuietly(f.node[i]);
      for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) this.touchQuietly(f.also[a]);
    }
  }

  /** The move just played; in the timed game, all that have started and not ended. */
  private activeMoves(): number[] {
    const { step } = this;
    const { timed, time } = this.frames;
    if (step <= 0) return [];
    if (!timed) return [step - 1];
    const now = time[step - 1];
    return this.lanes.flatMap((moves) => {
      const at = countBelow(moves, step) - 1; // the last one that has started
      return at >= 0 && (timed.end[moves[at]] > now || moves[at] === step - 1) ? [moves[at]] : [];
    });
  }

  private touchQuietly(node: number): void {
    if (this.touched[node]) return;
    this.touched[node] = 1;
    this.changed.push(node);
  }

  /** The state of the node during this move: a trail starts with its colour. */
  private eventOf(i: number): NodeState {
    const op = this.frames.op[i];
    switch (op & ~RECOMPUTE_BIT) {
      case Op.Compute:
        return op & RECOMPUTE_BIT ? NodeState.Recomputing : NodeState.Computing;
      case Op.Uncompute:
        return NodeState.Uncomputing;
      case Op.Store:
        return NodeState.Storing;
      case Op.Copy:
        return this.frames.timed?.memories[this.frames.timed.place[i]].fast ? NodeState.Loading : NodeState.Storing;
      case Op.Load:
        return NodeState.Loading;
      case Op.Drop:
        return NodeState.Slow;
      default:
        return NodeState.Resident;
    }
  }

  private restState(node: number): NodeState {
    const places = this.residency[node];
    if (places & this.fast) return places & ~this.fast ? NodeState.ResidentAndSlow : NodeState.Resident;
    if (places) return NodeState.Slow;
    return this.first[node] < this.step ? NodeState.Evicted : NodeState.Never;
  }

  /** Moves are shown as work in progress until the next one; in the timed game until they end. */
  private showActive(): void {
    const f = this.frames;
    for (const i of this.active) {
      const op = f.op[i] & ~RECOMPUTE_BIT;
      if (op === Op.Free || op === Op.Drop) continue;
      const state = this.eventOf(i);
      this.states[f.node[i]] = state;
      for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) this.states[f.also[a]] = state;
    }
  }

  private jump(key: number, target: number): void {
    this.residency.set(this.keys[key]);
    const start = key * this.keyDistance;
    for (let i = start; i < target; i++) this.flip(i);
    for (let i = start - 1; i >= target; i--) this.flip(i);
    const before = this.states.slice();
    this.step = target;
    this.refreshAll();
    for (let node = 0; node < this.nodeCount; node++) {
      if (before[node] === this.states[node]) continue;
      this.events[node] = NodeState.Never;
      this.changed.push(node);
      this.markDirty(node);
    }
  }

  private refreshAll(): void {
    this.active = this.activeMoves();
    for (let node = 0; node < this.nodeCount; node++) this.states[node] = this.restState(node);
    this.showActive();
  }

  private markDirty(node: number): void {
    if (this.dirtyMark[node]) return;
    this.dirtyMark[node] = 1;
    this.dirtyNodes[this.dirtyCount++] = node;
  }
}

function placeBit(place: number): number {
  return 1 << Math.min(MAX_PLACES - 1, place);
}

/** The moves of each lane, in order. */
function lanesOf(f: Frames): Uint32Array[] {
  const { timed } = f;
  if (!timed) return [];
  const lists = timed.lanes.map((): number[] => []);
  for (let i = 0; i < f.moveCount; i++) if (timed.lane[i] !== NONE) lists[timed.lane[i]].push(i);
  return lists.map((list) => Uint32Array.from(list));
}

/** How many of the ascending numbers are below `limit`. */
function countBelow(list: Uint32Array, limit: number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (list[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
