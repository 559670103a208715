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
const MAX_TIERS = 31;

type Bits = Uint8Array | Uint32Array;

export class Player {
  step = 0;
  readonly states: Uint8Array;
  /** Nodes whose state the last call changed, or that were computed and removed in it. */
  readonly changed: number[] = [];
  /** The state that each node last passed through; for trails. */
  readonly events: Uint8Array;
  onChange?: () => void;

  /** Bit 0: in fast memory; bit t: in slow tier t. */
  private readonly residency: Bits;
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
    const perNode = frames.tierCount <= 7 ? 1 : 4;
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
    return (this.residency[node] & FAST) !== 0;
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
    for (const node of f.initialFast) this.residency[node] |= FAST;
    for (const node of f.initialSlow) this.residency[node] |= 2;
    for (const node of f.initialFast) this.first[node] = -1;
    for (const node of f.initialSlow) this.first[node] = -1;
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
    if (over !== NONE && this.residency[over] & FAST) this.undo[i] |= OVER_CHANGED;
    for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++)
      this.undoAlso[a] = this.residency[f.also[a]] & FAST ? 0 : 1;
    this.flip(i);
  }

  private bitOf(i: number): number {
    const op = this.frames.op[i] & ~RECOMPUTE_BIT;
    if (op !== Op.Store && op !== Op.Drop) return FAST;
    return 1 << Math.max(1, Math.min(MAX_TIERS - 1, this.frames.tier[i]));
  }

  private adds(i: number): boolean {
    const op = this.frames.op[i] & ~RECOMPUTE_BIT;
    return op === Op.Compute || op === Op.Load || op === Op.Store;
  }

  /** Applies or undoes move i: it flips what the move changed, which is its own inverse. */
  private flip(i: number): void {
    const f = this.frames;
    const undo = this.undo[i];
    if (undo & NODE_CHANGED) this.residency[f.node[i]] ^= this.bitOf(i);
    if (undo & OVER_CHANGED) this.residency[f.over[i]] ^= FAST;
    for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) if (this.undoAlso[a]) this.residency[f.also[a]] ^= FAST;
  }

  private walk(target: number): void {
    const forward = target > this.step;
    this.touchActive(this.step);
    if (forward) {
      for (let i = this.step; i < target; i++) this.flipAndTouch(i, true);
    } else {
      for (let i = this.step - 1; i >= target; i--) this.flipAndTouch(i, false);
    }
    this.step = target;
    this.touchActive(target);
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

  private touchActive(step: number): void {
    if (step <= 0) return;
    const f = this.frames;
    this.touchQuietly(f.node[step - 1]);
    for (let a = f.alsoStart[step - 1]; a < f.alsoStart[step]; a++) this.touchQuietly(f.also[a]);
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
    if (places & FAST) return places > FAST ? NodeState.ResidentAndSlow : NodeState.Resident;
    if (places) return NodeState.Slow;
    return this.first[node] < this.step ? NodeState.Evicted : NodeState.Never;
  }

  /** The move just played is shown as work in progress until the next one. */
  private showActive(): void {
    if (this.step <= 0) return;
    const f = this.frames;
    const i = this.step - 1;
    const op = f.op[i] & ~RECOMPUTE_BIT;
    if (op === Op.Free || op === Op.Drop) return;
    const state = this.eventOf(i);
    this.states[f.node[i]] = state;
    for (let a = f.alsoStart[i]; a < f.alsoStart[i + 1]; a++) this.states[f.also[a]] = state;
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
    for (let node = 0; node < this.nodeCount; node++) this.states[node] = this.restState(node);
    this.showActive();
  }

  private markDirty(node: number): void {
    if (this.dirtyMark[node]) return;
    this.dirtyMark[node] = 1;
    this.dirtyNodes[this.dirtyCount++] = node;
  }
}
