// Decoders of the server's binary responses: layouts, plan frames and names.
//
// Every decoder returns views into the received buffer, so a plan of a million moves costs no copies.
// Lengths are checked before any view is created: a short or foreign buffer is an error with a message, never a wrong picture.

export const NONE = 0xffffffff;

const LAYOUT_MAGIC = 0x314c4250;
const FRAMES_MAGIC = 0x31464250;

export const enum LayoutKind {
  Layered = 0,
  Tree = 1,
  Lanes = 2,
}

export const enum Op {
  Compute = 0,
  Uncompute = 1,
  Free = 2,
  Store = 3,
  Load = 4,
  Drop = 5,
  Copy = 6,
}

/** Set in `Frames.op` if the node was computed before. */
export const RECOMPUTE_BIT = 0x80;

export interface Layout {
  kind: LayoutKind;
  nodeCount: number;
  edgeCount: number;
  groupCount: number;
  width: number;
  height: number;
  x: Float32Array;
  y: Float32Array;
  radius: Float32Array;
  lane: Uint8Array;
  /** Group of each node, or NONE. */
  group: Uint32Array;
  edgeFrom: Uint32Array;
  edgeTo: Uint32Array;
  size: Float64Array;
  cost: Float64Array;
  /** Names of nodes, then of groups. */
  names: NameList;
}

export interface NameList {
  readonly count: number;
  get(i: number): string;
  list(count: number): string[];
}

/** A memory of the timed game. */
export interface Memory {
  name: string;
  cap: number;
  peak: number;
  /** What it holds before the first move. */
  start: number;
  /** A processor works in it. */
  fast: boolean;
  initial: Uint32Array;
}

/** What moves of the timed game have in addition. `time` is when they start. */
export interface Timed {
  memories: Memory[];
  /** The processors, then the lanes of links. */
  lanes: string[];
  processors: number;
  end: Float64Array;
  /** NONE: it takes no time on a lane (a free). */
  lane: Uint32Array;
  /** The memory that a move changes; `held` and `left` are of that one, during the move and once it has ended. */
  place: Uint32Array;
  held: Float64Array;
  left: Float64Array;
  /** The last end. */
  makespan: number;
}

export interface Frames {
  tierCount: number;
  /** In the timed game `during`, `after`, `cap` and `peak` are of this memory. */
  timed: Timed | null;
  memory: number;
  moveCount: number;
  op: Uint8Array;
  tier: Uint8Array;
  node: Uint32Array;
  over: Uint32Array;
  alsoStart: Uint32Array;
  also: Uint32Array;
  during: Float64Array;
  after: Float64Array;
  slow: Float64Array;
  time: Float64Array;
  cap: number;
  peak: number;
  peakStep: number;
  initialFast: Uint32Array;
  initialSlow: Uint32Array;
}

/** Reads consecutive sections and checks that each is inside the buffer. */
class Reader {
  constructor(
    private readonly buffer: ArrayBuffer,
    private readonly what: string,
    private at = 0,
  ) {}

  private take(bytes: number, align: number): number {
    const start = Math.ceil(this.at / align) * align;
    if (start + bytes > this.buffer.byteLength)
      throw new RangeError(`the ${this.what} from the server is cut off at byte ${this.buffer.byteLength}; reload the page`);
    this.at = start + bytes;
    return start;
  }
  u32(): number {
    return this.u32s(1)[0];
  }
  f32(): number {
    return this.f32s(1)[0];
  }
  f64(): number {
    return this.f64s(1)[0];
  }
  u8s(n: number): Uint8Array {
    return new Uint8Array(this.buffer, this.take(n, 4), n);
  }
  u32s(n: number): Uint32Array {
    return new Uint32Array(this.buffer, this.take(4 * n, 4), n);
  }
  f32s(n: number): Float32Array {
    return new Float32Array(this.buffer, this.take(4 * n, 4), n);
  }
  f64s(n: number): Float64Array {
    return new Float64Array(this.buffer, this.take(8 * n, 8), n);
  }
  text(): string {
    return new TextDecoder().decode(this.u8s(this.u32()));
  }
  expect(magic: number): void {
    if (this.u32() !== magic) throw new RangeError(`the server's response is not a ${this.what}; reload the page`);
  }
}

export function decodeLayout(buffer: ArrayBuffer, names: NameList): Layout {
  const r = new Reader(buffer, "layout");
  r.expect(LAYOUT_MAGIC);
  const kind = r.u32() as LayoutKind;
  const nodeCount = r.u32();
  const edgeCount = r.u32();
  const groupCount = r.u32();
  r.u32(); // flags
  const width = r.f32();
  const height = r.f32();
  const x = r.f32s(nodeCount);
  const y = r.f32s(nodeCount);
  const radius = r.f32s(nodeCount);
  const lane = r.u8s(nodeCount);
  const group = r.u32s(nodeCount);
  const edgeFrom = r.u32s(edgeCount);
  const edgeTo = r.u32s(edgeCount);
  r.f32s(5 * groupCount); // boxes around the members
  const size = r.f64s(nodeCount);
  const cost = r.f64s(nodeCount);
  return {
    kind, nodeCount, edgeCount, groupCount, width, height,
    x, y, radius, lane, group, edgeFrom, edgeTo, size, cost, names,
  };
}

/** What follows a layout with closed groups: what is drawn for each node, and what each drawn node stands for. */
export function readClosed(buffer: ArrayBuffer, drawn: Layout): { item: Uint32Array; of: Uint32Array } {
  const r = new Reader(buffer, "layout", drawn.cost.byteOffset + drawn.cost.byteLength);
  const item = r.u32s(r.u32());
  return { item, of: r.u32s(drawn.nodeCount) };
}

export function decodeFrames(buffer: ArrayBuffer): Frames {
  const r = new Reader(buffer, "plan");
  r.expect(FRAMES_MAGIC);
  const tierCount = r.u32();
  const moveCount = r.u32();
  const alsoCount = r.u32();
  const op = r.u8s(moveCount);
  const tier = r.u8s(moveCount);
  const node = r.u32s(moveCount);
  const over = r.u32s(moveCount);
  const alsoStart = r.u32s(moveCount + 1);
  const also = r.u32s(alsoCount);
  const during = r.f64s(moveCount);
  const after = r.f64s(moveCount);
  const slow = r.f64s(moveCount);
  const time = r.f64s(moveCount);
  const cap = r.f64();
  const peak = r.f64();
  const peakStep = r.u32();
  const initialFast = r.u32s(r.u32());
  const initialSlow = r.u32s(r.u32());
  const timed = readTimed(r, moveCount, during, after);
  const plain: Frames = {
    tierCount, timed, memory: 0, moveCount, op, tier, node, over, alsoStart, also,
    during, after, slow, time, cap, peak, peakStep, initialFast, initialSlow,
  };
  return timed ? inMemory(plain, 0) : plain;
}

function readTimed(r: Reader, moveCount: number, held: Float64Array, left: Float64Array): Timed | null {
  const memoryCount = r.u32();
  if (!memoryCount) return null;
  const processors = r.u32();
  const links = r.u32();
  const end = r.f64s(moveCount);
  const figures = r.f64s(3 * memoryCount);
  const lane = r.u32s(moveCount);
  const place = r.u32s(moveCount);
  const fast = new Set(r.u32s(processors));
  const initial = Array.from({ length: memoryCount }, () => r.u32s(r.u32()));
  const memories = initial.map((nodes, i): Memory => ({
    name: r.text(), cap: figures[3 * i], peak: figures[3 * i + 1], start: figures[3 * i + 2], fast: fast.has(i), initial: nodes,
  }));
  const lanes = Array.from({ length: processors + links }, () => r.text());
  return { memories, lanes, processors, end, lane, place, held, left, makespan: end.reduce((a, b) => Math.max(a, b), 0) };
}

/** The same plan seen from another memory of the timed game. */
export function inMemory(f: Frames, memory: number): Frames {
  const t = f.timed;
  if (!t) return f;
  const { cap, peak, start, initial } = t.memories[memory];
  const during = new Float64Array(f.moveCount);
  const after = new Float64Array(f.moveCount);
  let now = start;
  let owed = 0; // what a computation gives back
  let until = 0;
  let peakStep = NONE;
  for (let i = 0; i < f.moveCount; i++) {
    if (owed && until <= f.time[i]) {
      now -= owed;
      owed = 0;
      if (i) after[i - 1] = now;
    }
    if (t.place[i] === memory) {
      now = t.held[i];
      if (t.held[i] !== t.left[i]) [owed, until] = [t.held[i] - t.left[i], t.end[i]];
    }
    during[i] = after[i] = now;
    if (now >= peak && peakStep === NONE && start < peak) peakStep = i;
  }
  if (f.moveCount && owed) after[f.moveCount - 1] = now - owed;
  return { ...f, memory, during, after, cap, peak, peakStep, initialFast: initial };
}

/** Names of nodes, then of groups; decoded only when asked for. */
export class Names implements NameList {
  readonly count: number;
  private readonly offset: Uint32Array;
  private readonly bytes: Uint8Array;
  private readonly decoder = new TextDecoder();

  constructor(buffer: ArrayBuffer) {
    const r = new Reader(buffer, "list of names");
    this.count = r.u32();
    this.offset = r.u32s(this.count + 1);
    this.bytes = r.u8s(this.offset[this.count]);
  }

  get(i: number): string {
    if (i < 0 || i >= this.count) return "";
    return this.decoder.decode(this.bytes.subarray(this.offset[i], this.offset[i + 1]));
  }

  /** The first `count` names at once: a single decoding if all are ASCII, which is nearly always so. */
  list(count: number): string[] {
    const max = Math.min(count, this.count);
    const text = this.decoder.decode(this.bytes.subarray(0, this.offset[max]));
    const plain = text.length === this.offset[max];
    return Array.from({ length: max }, (_, i) => (plain ? text.slice(this.offset[i], this.offset[i + 1]) : this.get(i)));
  }

  /** The same form from plain strings, for pictures that do not come from a server. */
  static from(list: readonly string[]): Names {
    const encoded = list.map((s) => new TextEncoder().encode(s));
    const total = encoded.reduce((sum, e) => sum + e.length, 0);
    const head = 4 * (list.length + 2);
    const buffer = new ArrayBuffer(head + 4 * Math.ceil(total / 4));
    const words = new Uint32Array(buffer);
    const bytes = new Uint8Array(buffer, head);
    words[0] = list.length;
    encoded.forEach((e, i) => {
      bytes.set(e, words[1 + i]);
      words[2 + i] = words[1 + i] + e.length;
    });
    return new Names(buffer);
  }
}
