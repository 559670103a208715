import assert from "node:assert/strict";
import { test } from "node:test";
import { inMemory, Names, NONE, decodeFrames, decodeLayout } from "../src/binary";

/** Writes sections as the server does: each padded to 4 bytes, doubles to 8. */
class Sections {
  private bytes: number[] = [];
  private align(to: number): void {
    while (this.bytes.length % to) this.bytes.push(0);
  }
  private put(array: Uint8Array | Uint32Array | Float32Array | Float64Array, to: number): this {
    this.align(to);
    this.bytes.push(...new Uint8Array(array.buffer));
    this.align(4);
    return this;
  }
  u8(...v: number[]): this {
    return this.put(Uint8Array.from(v), 4);
  }
  u32(...v: number[]): this {
    return this.put(Uint32Array.from(v), 4);
  }
  f32(...v: number[]): this {
    return this.put(Float32Array.from(v), 4);
  }
  f64(...v: number[]): this {
    return this.put(Float64Array.from(v), 8);
  }
  buffer(): ArrayBuffer {
    return Uint8Array.from(this.bytes).buffer;
  }
}

const names = Names.from(["a", "b", "c", "blöck"]);

test("names, with letters beyond ASCII", () => {
  assert.equal(names.count, 4);
  assert.equal(names.get(3), "blöck");
  assert.equal(names.get(4), "");
  assert.deepEqual(names.list(3), ["a", "b", "c"]);
  assert.deepEqual(names.list(9), ["a", "b", "c", "blöck"]);
});

function layoutBytes(): Sections {
  return new Sections()
    .u32(0x314c4250, 2, 3, 2, 1, 1)
    .f32(3, 2)
    .f32(0, 1, 2)
    .f32(0, 0.5, 1)
    .f32(0.25, 0.5, 0.6)
    .u8(0, 0, 1)
    .u32(0, NONE, 0)
    .u32(0, 1)
    .u32(1, 2)
    .f32(-1, -2, 3, 4)
    .u32(0)
    .f64(10, 20, 2 ** 53)
    .f64(1, 2, 3);
}

test("a layout", () => {
  const l = decodeLayout(layoutBytes().buffer(), names);
  assert.deepEqual([l.kind, l.nodeCount, l.edgeCount, l.groupCount], [2, 3, 2, 1]);
  assert.deepEqual([...l.lane], [0, 0, 1]);
  assert.deepEqual([...l.group], [0, NONE, 0]);
  assert.deepEqual([...l.edgeTo], [1, 2]);
  assert.deepEqual([...l.size], [10, 20, 2 ** 53]);
  assert.deepEqual([...l.cost], [1, 2, 3]);
});

function framesBytes(): Sections {
  return new Sections()
    .u32(0x31464250, 1, 3, 1)
    .u8(0, 0x80, 2)
    .u8(0, 0, 0)
    .u32(0, 1, 0)
    .u32(NONE, 0, NONE)
    .u32(0, 0, 1, 1)
    .u32(2)
    .f64(5, 6, 7)
    .f64(5, 6, 1)
    .f64(0, 0, 0)
    .f64(0, 1, 2)
    .f64(Infinity, 7)
    .u32(2, 1, 2, 0)
    .u32(0);
}

/** Value 0 is computed (5 and 2 of workspace, until 3), copied to slow memory from 3 to 9, freed at 9. */
function timedBytes(): Sections {
  const text = (s: string): Uint8Array => new TextEncoder().encode(s);
  return new Sections()
    .u32(0x31464250, 0, 3, 0)
    .u8(0, 6, 2)
    .u8(0, 0, 0)
    .u32(0, 0, 0)
    .u32(NONE, NONE, NONE)
    .u32(0, 0, 0, 0)
    .f64(8, 5, 1)
    .f64(6, 5, 1)
    .f64(0, 0, 0)
    .f64(0, 3, 9)
    .f64(10, 8)
    .u32(NONE, 0, 1, 2)
    .u32(2, 1, 1)
    .f64(3, 9, 9)
    .f64(10, 8, 1, Infinity, 5, 0)
    .u32(0, 1, NONE)
    .u32(0, 1, 0)
    .u32(0)
    .u32(0, 1, 2)
    .u32(4).u8(...text("fast")).u32(4).u8(...text("slow")).u32(3).u8(...text("cpu")).u32(3).u8(...text("out"));
}

test("the frames of a plan", () => {
  const f = decodeFrames(framesBytes().buffer());
  assert.deepEqual([f.moveCount, f.tierCount, f.cap, f.peak, f.peakStep], [3, 1, Infinity, 7, 2]);
  assert.deepEqual([...f.op], [0, 0x80, 2]);
  assert.deepEqual([...f.over], [NONE, 0, NONE]);
  assert.deepEqual([...f.also], [2]);
  assert.deepEqual([...f.after], [5, 6, 1]);
  assert.deepEqual([...f.initialFast], [2]);
  assert.deepEqual([...f.initialSlow], []);
});

test("the frames of a timed plan, seen from each memory", () => {
  const f = decodeFrames(timedBytes().buffer());
  assert.ok(f.timed);
  assert.deepEqual(f.timed.lanes, ["cpu", "out"]);
  assert.deepEqual(f.timed.memories.map(({ name, cap, peak, start, fast }) => [name, cap, peak, start, fast]), [["fast", 10, 8, 1, true], ["slow", Infinity, 5, 0, false]]);
  assert.deepEqual([[...f.during], [...f.after], f.peakStep], [[8, 6, 1], [6, 6, 1], 0]);
  const slow = inMemory(f, 1);
  assert.deepEqual([[...slow.during], slow.cap, slow.peakStep, [...slow.initialFast]], [[0, 5, 5], Infinity, 1, [2]]);
  assert.equal(f.timed.makespan, 9);
});

test("cut and foreign buffers are rejected with a message", () => {
  for (const whole of [layoutBytes().buffer(), framesBytes().buffer(), timedBytes().buffer()]) {
    const decode = (b: ArrayBuffer): unknown => (whole.byteLength === layoutBytes().buffer().byteLength ? decodeLayout(b, names) : decodeFrames(b));
    for (let cut = 0; cut < whole.byteLength; cut += 4) assert.throws(() => decode(whole.slice(0, cut)), /is cut off/);
    assert.throws(() => decode(new ArrayBuffer(64)), /is not a/);
  }
});
