// The scene and the chart in a real browser, on made-up graphs and without a server.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch, trialPage } from "../dev/browser";

let browser: Browser;
let page: Page;
/** What the browser says of mistakes, as of wrong calls to the graphics card. */
const complaints: string[] = [];

before(async () => {
  browser = await launch();
  page = await trialPage(browser, true, 900, 640);
  page.on("console", (m) => complaints.push(m.text()));
  page.on("pageerror", (e) => complaints.push(e.message));
});

after(() => browser.close());

const show = (nodes: number, share = 0.7, tiered = false): Promise<{ nodes: number; moves: number }> =>
  page.evaluate(([n, s, t]) => window.trial.show("layered", n, s, t), [nodes, share, tiered] as const);

/** The words on the graphics card, read back, against the states of the player. */
const wrongOnCard = (): Promise<number> =>
  page.evaluate(() => {
    const { scene, player } = window.trial;
    scene.draw();
    const inside = scene as unknown as { gl: WebGL2RenderingContext; graphics: { states: { target: WebGLFramebuffer } } };
    const gl = inside.gl;
    gl.bindFramebuffer(gl.FRAMEBUFFER, inside.graphics.states.target);
    const rows = Math.ceil((player?.nodeCount ?? 0) / 1024);
    // Integer textures are read back with four parts to a texel.
    const words = new Uint32Array(4 * 1024 * rows);
    gl.readPixels(0, 0, 1024, rows, gl.RGBA_INTEGER, gl.UNSIGNED_INT, words);
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    let wrong = 0;
    for (const [v, state] of player?.states.entries() ?? []) wrong += (words[4 * v] & 15) === state ? 0 : 1;
    return wrong;
  });

test("states on the card equal those of the player, after steps and jumps in both directions", async () => {
  const { moves } = await show(3000, 0.6, true);
  assert.equal(await wrongOnCard(), 0);
  for (const step of [1, 2, 40, Math.floor(moves / 2), Math.floor(moves / 2) - 3, moves, 5, 0]) {
    await page.evaluate((s) => window.trial.player?.seek(s), step);
    assert.equal(await wrongOnCard(), 0, `at step ${step}`);
  }
});

test("bytes sent follow what changed, not the size of the graph", async () => {
  const sent: number[] = [];
  for (const nodes of [300, 3000]) {
    await show(nodes);
    sent.push(
      await page.evaluate(() => {
        const { scene, player } = window.trial;
        player?.seek(50);
        scene.draw();
        const start = scene.stats.bytesUploaded;
        for (let i = 0; i < 50; i++) {
          player?.next();
          scene.draw();
        }
        return (scene.stats.bytesUploaded - start) / 50;
      }),
    );
  }
  for (const bytes of sent) assert.ok(bytes > 0 && bytes < 200, `${bytes} bytes a step`);
});

test("every node is found where it is drawn; clicks select and nothing selects nothing", async () => {
  await show(400);
  const missed = await page.evaluate(() => {
    const { scene, player } = window.trial;
    let wrong = 0;
    for (let v = 0; v < (player?.nodeCount ?? 0); v++) if (scene.pick(...scene.place(v)) !== v) wrong++;
    return wrong;
  });
  assert.equal(missed, 0);
  const [x, y] = await page.evaluate(() => {
    const t = window.trial as typeof window.trial & { clicked?: number | null };
    t.scene.onSelect = (v) => (t.clicked = v);
    return t.scene.place(123);
  });
  const clicked = (): Promise<number | null | undefined> => page.evaluate(() => (window.trial as { clicked?: number | null }).clicked);
  await page.mouse.click(x, y);
  assert.equal(await clicked(), 123);
  await page.mouse.click(3, 3);
  assert.equal(await clicked(), null);
});

/** An eased zoom has come to its end, however slowly frames are drawn. */
async function zoomEnds(): Promise<void> {
  for (let before = -1, now = 0; before !== now; ) {
    before = now;
    now = await page.evaluate(
      () => new Promise<number>((tell) => {
        let frames = 4;
        const wait = (): unknown => (frames-- > 0 ? requestAnimationFrame(wait) : tell(window.trial.scene.view.scale));
        wait();
      }),
    );
  }
}

test("the wheel zooms around the pointer and dragging pans", async () => {
  await show(400);
  const place = (): Promise<[number, number]> => page.evaluate(() => window.trial.scene.place(200));
  const [x, y] = await place();
  await page.mouse.move(x, y);
  await page.mouse.wheel(0, -300);
  await page.waitForFunction(() => window.trial.scene.view.scale > 20);
  await zoomEnds();
  const zoomed = await place();
  assert.ok(Math.hypot(zoomed[0] - x, zoomed[1] - y) < 1, "the node under the pointer stays");
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 25, { steps: 6 });
  await page.mouse.up();
  const panned = await place();
  assert.ok(Math.hypot(panned[0] - x - 60, panned[1] - y - 25) < 7, `the node went along: ${panned.join()}`);
});

test("exported pictures: PNG of the canvas, SVG with every node", async () => {
  await show(200);
  const got = await page.evaluate(async () => {
    const { scene } = window.trial;
    const png = await scene.toPNG();
    const image = await createImageBitmap(png);
    const sheet = new OffscreenCanvas(image.width, image.height);
    const c = sheet.getContext("2d");
    c?.drawImage(image, 0, 0);
    const data = c?.getImageData(0, 0, image.width, image.height).data ?? new Uint8ClampedArray();
    const colours = new Set<number>();
    for (let i = 0; i < data.length; i += 4) colours.add((data[i] << 16) | (data[i + 1] << 8) | data[i + 2]);
    const svg = new DOMParser().parseFromString(scene.toSVG(), "image/svg+xml");
    const { width, clientWidth } = document.querySelector("canvas")!;
    return { type: png.type, width: image.width, canvas: width, shown: clientWidth, colours: colours.size, bad: svg.querySelector("parsererror") !== null, root: svg.documentElement.nodeName };
  });
  assert.equal(got.canvas, got.shown, "the canvas is as it was");
  assert.deepEqual([got.type, got.width, got.bad, got.root], ["image/png", 1800, false, "svg"]);
  assert.ok(got.colours > 50, `${got.colours} colours`);
});

test("the scene is restored after its context was lost", async () => {
  await show(300);
  await page.evaluate(() => {
    window.trial.player?.seek(100);
    window.trial.scene.draw();
    const { gl } = window.trial.scene as unknown as { gl: WebGL2RenderingContext };
    const extension = gl.getExtension("WEBGL_lose_context");
    extension?.loseContext();
    window.trial.player?.seek(140);
    window.trial.scene.draw();
    setTimeout(() => extension?.restoreContext(), 50);
  });
  await page.waitForFunction(() => {
    const inside = window.trial.scene as unknown as { gl: WebGL2RenderingContext; graphics: unknown };
    return !inside.gl.isContextLost() && inside.graphics !== null;
  });
  assert.equal(await wrongOnCard(), 0);
});

test("the chart scrubs by drag and steps by keys", async () => {
  const { moves } = await show(300);
  const box = await page.locator(".memory-chart").boundingBox();
  assert.ok(box);
  const step = (): Promise<number> => page.evaluate(() => window.trial.player?.step ?? -1);
  await page.mouse.move(box.x + box.width - 14, box.y + 60);
  await page.mouse.down();
  assert.equal(await step(), moves);
  await page.mouse.move(box.x + box.width / 2, box.y + 60, { steps: 4 });
  await page.mouse.up();
  const middle = await step();
  assert.ok(Math.abs(middle - moves / 2) < moves * 0.06);
  await page.locator(".memory-chart").focus();
  await page.keyboard.press("ArrowRight");
  assert.equal(await step(), middle + 1);
  await page.keyboard.press("Home");
  assert.equal(await step(), 0);
  await page.mouse.move(box.x + box.width / 2, box.y + 60);
  assert.match(await page.locator(".memory-chart-tip").innerText(), /^move [\d,]+ of [\d,]+\n\w+ op\d+_\d+.*\nmemory /);
});

test("at every zoom level, with many edges and few, drawing is correct", async () => {
  await show(4000);
  for (const zoom of [1, 6, 12]) {
    const colours = await page.evaluate(async (z) => {
      const { scene, player } = window.trial;
      // From afar, so that no trails tint the values.
      player?.seek(0);
      player?.seek(Math.round(player.frames.moveCount * 0.58) + z);
      scene.select(900);
      scene.fit();
      scene.draw();
      scene.zoomBy(z);
      for (let i = 0; i < 12; i++) await new Promise((r) => requestAnimationFrame(r));
      const image = await createImageBitmap(await scene.toPNG());
      const c = new OffscreenCanvas(image.width, image.height).getContext("2d");
      c?.drawImage(image, 0, 0);
      const data = c?.getImageData(0, 0, image.width, image.height).data ?? new Uint8ClampedArray();
      const teal = [0x2f, 0xc6, 0xb0];
      let resident = 0;
      for (let i = 0; i < data.length; i += 4) if (teal.every((part, k) => Math.abs(data[i + k] - part) < 3)) resident++;
      return resident;
    }, zoom);
    assert.ok(colours > 20, `${colours} pixels of values in memory at zoom ${zoom}`);
  }
});

test("an idle scene draws nothing", async () => {
  await show(300);
  await page.waitForFunction(() => !window.trial.scene.busy, undefined, { timeout: 20_000 });
  const before = await page.evaluate(() => window.trial.scene.stats.frames);
  await page.waitForTimeout(300);
  assert.equal(await page.evaluate(() => window.trial.scene.stats.frames), before);
});

test("the browser reported no errors", () => {
  // Losing the context on purpose is told by the browser too, and reading pixels back is slow by intent.
  assert.deepEqual(complaints.filter((c) => !/CONTEXT_LOST|ReadPixels/.test(c)), []);
});
