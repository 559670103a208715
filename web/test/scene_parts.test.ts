import assert from "node:assert/strict";
import { test } from "node:test";
import { niceTicks, sampleMoves } from "../src/chart/samples";
import { Names, NONE, Op, type Frames, type Layout } from "../src/binary";
import { NodeState } from "../src/node_state";
import { Player } from "../src/player";
import { itemOf, membersOf, targetOf, type Picture } from "../src/scene/picture";
import { Vessels } from "../src/scene/shown";
import { moveWords } from "../src/move_words";
import { bandsOf } from "../src/scene/boxes";
import { Camera } from "../src/scene/camera";
import { Adjacency, flowOf } from "../src/scene/adjacency";
import { escapeXml, sceneSvg } from "../src/scene/export";
import { NodeGrid } from "../src/scene/grid";
import { placeLabels, shorten } from "../src/scene/labels";
import { SceneLayout, drawnRadius, folded, withRoom } from "../src/scene/shape";
import { packWord } from "../src/scene/states";
import { darkTheme, lightTheme, parseColour, withAlpha } from "../src/states_palette";
import { greedyPlan, layered, plainPeak, seeded, training, tree } from "./synthetic";

function camera(width = 800, height = 600): Camera {
  const c = new Camera();
  c.width = width;
  c.height = height;
  return c;
}

function ready(l: Layout): SceneLayout {
  return withRoom(l, new NodeGrid(l.x, l.y), 1, 1);
}

test("long chains fold into rows, neighbours staying neighbours", () => {
  const chain = layered(200, 1, 200);
  const f = folded(chain, 2);
  assert.ok(f.width < 40 && f.height > 10);
  for (let v = 1; v < 200; v++)
    assert.ok(Math.hypot(f.x[v] - f.x[v - 1], f.y[v] - f.y[v - 1]) < 3.5, `nodes ${v - 1} and ${v} are near`);
  assert.equal(new Set(Array.from(f.x, (x, v) => `${x},${f.y[v]}`)).size, 200, "no two on one place");
  const wide = layered(500, 1);
  assert.equal(folded(wide, 2), wide);
});

test("nodes never overlap, and lonely ones are large enough to see", () => {
  const l = ready(tree(7));
  for (const scale of [1, 3, 10, 40])
    for (let v = 1; v < l.nodeCount; v++) {
      const gap = Math.hypot(l.x[v] - l.x[v - 1], l.y[v] - l.y[v - 1]) * scale;
      assert.ok(drawnRadius(l, v, scale) + drawnRadius(l, v - 1, scale) < gap);
    }
  assert.ok(drawnRadius(l, l.nodeCount - 1, 3) > 4);
});

test("zooming keeps the point under the pointer in place", () => {
  const c = camera();
  c.minScale = 0.01;
  c.stretchY = 3;
  const before = c.toWorld(200, 450);
  c.zoomAt(2.5, 200, 450);
  const after = c.toWorld(200, 450);
  assert.ok(Math.abs(before[0] - after[0]) < 1e-9 && Math.abs(before[1] - after[1]) < 1e-9);
  c.zoomAt(4, 200, 450, 0);
  for (let now = 16; c.tick(now); now += 16) assert.ok(now < 5000, "the movement ends");
  const eased = c.toWorld(200, 450);
  assert.ok(Math.abs(before[0] - eased[0]) < 1e-6 && Math.abs(before[1] - eased[1]) < 1e-6);
  const [x, y] = c.toScreen(...c.toWorld(33, 44));
  assert.ok(Math.abs(x - 33) < 1e-9 && Math.abs(y - 44) < 1e-9);
});

test("fitting shows everything, and thin graphs use the height", () => {
  const c = camera();
  const extent = { left: -5, top: 2, right: 395, bottom: 8 };
  c.jump(c.fitted(extent, 40, 40));
  const [left, top] = c.toScreen(extent.left, extent.top);
  const [right, bottom] = c.toScreen(extent.right, extent.bottom);
  assert.ok(left >= 39.9 && top >= 39.9 && right <= 760.1 && bottom <= 560.1);
  assert.ok(right - left > 700 && bottom - top > 400);
});

test("the grid finds exactly the nodes inside a box", () => {
  const l = layered(2000, 8);
  const grid = new NodeGrid(l.x, l.y);
  const random = seeded(3);
  for (let i = 0; i < 100; i++) {
    const left = random() * l.width, top = (random() - 0.5) * l.height;
    const box = { left, top, right: left + random() * 8, bottom: top + random() * 8 };
    const found: number[] = [];
    grid.within(box, (v) => void found.push(v));
    const expected: number[] = [];
    for (let v = 0; v < l.nodeCount; v++)
      if (l.x[v] >= box.left && l.x[v] <= box.right && l.y[v] >= box.top && l.y[v] <= box.bottom) expected.push(v);
    assert.deepEqual(found.sort((a, b) => a - b), expected);
  }
});

test("inputs and readers of a node", () => {
  const l = layered(300, 2);
  const a = new Adjacency(l);
  for (let v = 0; v < l.nodeCount; v++) {
    const inputs: number[] = [], readers: number[] = [];
    for (let e = 0; e < l.edgeCount; e++) {
      if (l.edgeTo[e] === v) inputs.push(l.edgeFrom[e]);
      if (l.edgeFrom[e] === v) readers.push(l.edgeTo[e]);
    }
    assert.deepEqual([...a.inputs(v)], inputs);
    assert.deepEqual([...a.readers(v)], readers);
  }
  assert.equal(flowOf(tree(5)).alongX, true);
});

test("labels are few, on the screen and never over each other", () => {
  const l = ready(training(300));
  const grid = new NodeGrid(l.x, l.y);
  const c = camera(1200, 700);
  c.jump({ x: 200, y: 2, scale: 40 });
  const width = (t: string): number => 6 * t.length;
  const labels = placeLabels({ layout: l, grid, camera: c, bands: [], chosen: [600], width });
  assert.ok(labels.length > 10 && labels.length <= 320);
  assert.equal(labels[0].kind, "chosen");
  const boxes = labels.map((t) => {
    const w = width(t.text);
    const left = t.align === "center" ? t.x - w / 2 : t.x;
    return { left, right: left + w, top: t.y, bottom: t.y + 11 };
  });
  for (let i = 0; i < boxes.length; i++)
    for (let j = 0; j < i; j++) {
      const a = boxes[i], b = boxes[j];
      assert.ok(a.left >= b.right || b.left >= a.right || a.top >= b.bottom || b.top >= a.bottom, `${labels[i].text} over ${labels[j].text}`);
    }
  c.jump({ x: 200, y: 2, scale: 3 });
  assert.equal(placeLabels({ layout: l, grid, camera: c, bands: [], chosen: [], width }).filter((t) => t.kind === "node").length, 0);
});

test("lanes have a band each, and a pair for each row of a folded layout", () => {
  const l = training(12);
  assert.deepEqual(bandsOf(l).map((b) => b.title), ["Forward", "Backward"]);
  // Two rows: the second half of both lanes moves below the first.
  const half = l.width / 2;
  const y = l.y.map((v, i) => (l.x[i] < half ? v : v + 10));
  const rows = bandsOf({ ...l, y });
  assert.deepEqual(rows.map((b) => [b.lane, b.title]), [[0, "Forward"], [1, "Backward"], [0, ""], [1, ""]]);
  for (let i = 1; i < rows.length; i++) assert.ok(rows[i - 1].top + rows[i - 1].height < rows[i].top, "bands do not overlap");
  assert.deepEqual(bandsOf(layered(50)), []);
});

test("names are shortened only as far as they remain useful", () => {
  const width = (t: string): number => t.length;
  assert.equal(shorten("conv1", 10, width), "conv1");
  assert.equal(shorten("encoder.layer1.relu", 6, width), "relu");
  assert.equal(shorten("convolution", 9, width), "convolut…");
  assert.equal(shorten("convolution", 4, width), "");
});

test("samples keep every extreme", () => {
  const l = layered(800, 6);
  const f = greedyPlan(l, Math.round(plainPeak(l) * 0.7), true);
  for (const columns of [1, 7, 100, f.moveCount * 3]) {
    const s = sampleMoves(f, 0, f.moveCount, columns);
    assert.equal(Math.max(...s.max), f.peak);
    assert.equal(Math.min(...s.min), f.after.reduce((a, b) => Math.min(a, b)));
    assert.equal(Math.max(...s.slow), f.slow.reduce((a, b) => Math.max(a, b)));
    assert.ok(s.max.every((v, i) => v >= s.min[i] && v <= f.cap));
  }
});

test("ticks are round and start at 0", () => {
  assert.deepEqual(niceTicks(100, 4), [0, 50, 100]);
  assert.deepEqual(niceTicks(0, 4), [0]);
  assert.deepEqual(niceTicks(4096, 4, true), [0, 1024, 2048, 3072, 4096]);
});

test("words of a node hold state, trail, time and level apart", () => {
  const w = packWord(9, 4, 0x1abcdef, 3);
  assert.deepEqual([w & 15, (w >> 4) & 15, (w >> 8) & 0xfffff, w >>> 28], [9, 4, 0xbcdef, 3]);
});

test("colours", () => {
  assert.deepEqual(parseColour("#ff0080"), [1, 0, 128 / 255]);
  assert.deepEqual(parseColour("#fff"), [1, 1, 1]);
  assert.deepEqual(parseColour("rgb(255, 0, 51)"), [1, 0, 0.2]);
  assert.throws(() => parseColour("red"), /is not a colour/);
  assert.equal(withAlpha("#010203", 0.5), "rgba(1, 2, 3, 0.5)");
  for (const t of [darkTheme, lightTheme]) assert.equal(t.states.length, 10);
});

test("a move as text", () => {
  const l = layered(50, 2);
  const f = greedyPlan(l, Math.round(plainPeak(l) * 0.5), true);
  assert.equal(moveWords(f, 0, l.names), "compute op0_0");
  const store = f.op.indexOf(3);
  if (store >= 0) assert.match(moveWords(f, store, l.names), /^store op\d+_\d+ to slow memory$/);
});

test("SVG of a scene holds every visible node once and escapes names", () => {
  const l = ready(layered(120, 4));
  const c = camera();
  const grid = new NodeGrid(l.x, l.y);
  c.jump(c.fitted(grid.extent, 40, 40));
  const svg = sceneSvg({
    layout: l, grid, camera: c, flow: flowOf(l), theme: lightTheme, bands: [], states: new Uint8Array(120).fill(2), selected: null,
    labels: [{ text: "<a&b>", x: 1, y: 2, align: "left", kind: "node", opacity: 1 }],
  });
  assert.equal(svg.match(/<circle/g)?.length, 120);
  assert.equal(svg.match(/M/g)?.length, l.edgeCount);
  assert.ok(svg.includes("&#60;a&#38;b&#62;"));
  assert.equal(escapeXml(`"'`), "&#34;&#39;");
});

test("closed groups: what they stand for, and how full they are while a plan plays", () => {
  const names = Names.from(["a", "b", "c", "d", "g"]);
  const whole: Layout = {
    kind: 0, nodeCount: 4, edgeCount: 3, groupCount: 1, width: 4, height: 1, x: new Float32Array(4), y: new Float32Array(4), radius: new Float32Array(4),
    lane: new Uint8Array(4), group: Uint32Array.of(NONE, 0, 0, NONE), edgeFrom: Uint32Array.of(0, 1, 2), edgeTo: Uint32Array.of(1, 2, 3),
    size: Float64Array.of(1, 3, 1, 1), cost: new Float64Array(4), names,
  };
  const drawn = { ...whole, nodeCount: 3, edgeCount: 2, size: Float64Array.of(1, 4, 1) };
  const picture: Picture = { layout: drawn, whole, item: Uint32Array.of(0, 1, 1, 2), of: Uint32Array.of(0, 4, 3) };
  assert.deepEqual([itemOf(picture, 2), targetOf(picture, 1), targetOf(picture, 2), membersOf(picture, 1)], [1, 4, 3, [1, 2]]);
  const op = [Op.Compute, Op.Compute, Op.Free, Op.Compute, Op.Free, Op.Compute];
  const node = [0, 1, 0, 2, 1, 3];
  const after = [1, 4, 3, 4, 1, 2];
  const frames: Frames = {
    tierCount: 0, timed: null, memory: 0, moveCount: 6, op: Uint8Array.from(op), tier: new Uint8Array(6), node: Uint32Array.from(node), over: new Uint32Array(6).fill(NONE),
    alsoStart: new Uint32Array(7), also: new Uint32Array(), during: Float64Array.from(after), after: Float64Array.from(after), slow: new Float64Array(6),
    time: Float64Array.of(0, 1, 2, 2, 3, 3), cap: 5, peak: 4, peakStep: 1, initialFast: new Uint32Array(), initialSlow: new Uint32Array(),
  };
  const player = new Player(4, frames, whole.size);
  const vessels = new Vessels(player, picture);
  const look = (): [number, number] => {
    vessels.takeDirty(() => undefined);
    return [vessels.states[1], vessels.levels[1]];
  };
  const seen = op.map((_, i) => {
    player.seek(i + 1);
    return look();
  });
  assert.deepEqual(seen, [[NodeState.Never, 0], [NodeState.Computing, 12], [NodeState.Resident, 12], [NodeState.Computing, 15], [NodeState.Resident, 4], [NodeState.Resident, 4]]);
  player.seek(0);
  assert.deepEqual(look(), [NodeState.Never, 0], "and back");
  player.seek(4);
  assert.deepEqual([new Vessels(player, picture).states[1], new Vessels(player, picture).levels[1]], look(), "a new picture in the middle shows the same");
});
