// How graphs open, and how choices are made and undone.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { launch, missing, openPage, ready, startServer, web, type Opened, type Server } from "./support";

const options = { skip: missing() ?? false };
const by = (page: Page, id: string): Locator => page.getByTestId(id);
let server: Server;
let browser: Browser;

before(async () => {
  if (options.skip) return;
  server = await startServer();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

async function load(fragment: string, more = {}): Promise<Opened> {
  const opened = await openPage(browser, server.address + fragment, { picture: false, ...more });
  await ready(opened.page);
  return opened;
}

async function type(page: Page, id: string, text: string): Promise<void> {
  await by(page, id).fill(text);
  await by(page, id).press("Enter");
  await ready(page);
}

test("every family opens at a cap that works", options, async () => {
  const { page, errors, close } = await load("#family=chain&ticks=20000");
  await page.keyboard.press("n");
  const families = await by(page, "generate-family").locator("option").allTextContents();
  await page.keyboard.press("Escape");
  assert.ok(families.length >= 16, String(families.length));
  for (const family of families) {
    await page.evaluate((name) => {
      const arrived = new Promise((done) => addEventListener("hashchange", done, { once: true }));
      location.hash = `#family=${name}&strategies=last-use;partial;chen;order&ticks=20000`;
      return arrived;
    }, family);
    await ready(page);
    assert.equal(await page.locator("tr.winner").count(), 1, `${family} at ${await by(page, "cap-input").inputValue()}: ${await by(page, "verdict").textContent()}`);
    assert.ok(await by(page, "play").isEnabled(), family);
  }
  assert.deepEqual(errors, []);
  await close();
});

test("a graph that was opened plays, a link to a move does not, and neither with reduced motion", options, async () => {
  const plays = (page: Page): Promise<boolean> => page.evaluate(() => window.pebble.playback.playing);
  const { page, close } = await load("#family=adjoint-chain&p.steps=30&strategies=chain", { reducedMotion: "no-preference" });
  await page.waitForFunction(() => window.pebble.playback.playing && window.pebble.playback.player!.step > 1);
  await page.keyboard.press("Space");
  assert.equal(await plays(page), false);
  await close();
  const still = await load("#family=adjoint-chain&p.steps=30&strategies=chain&step=5", { reducedMotion: "no-preference" });
  assert.equal(await plays(still.page), false);
  assert.equal(await by(still.page, "step").getAttribute("data-step"), "5");
  await still.close();
  const calm = await load("#family=adjoint-chain&p.steps=30&strategies=chain");
  assert.equal(await plays(calm.page), false);
  await calm.close();
});

test("Back undoes choices one by one, Forward repeats them", options, async () => {
  const { page, errors, close } = await load("#family=adjoint-chain&p.steps=30&cap=60%25&strategies=chain;sqrt");
  const saved = (part: string): Promise<unknown> => page.waitForFunction((text) => location.hash.includes(text), part);
  await saved("cap=60");
  const entries = await page.evaluate(() => history.length);
  await type(page, "cap-input", "40%");
  await saved("cap=40");
  await type(page, "weight-alpha", "7");
  await saved("weights=7");
  await page.keyboard.press("ArrowRight"); // the playhead is not a choice
  await page.keyboard.press("n");
  await by(page, "generate-family").selectOption("grid");
  await by(page, "generate-make").click();
  await saved("family=grid");
  await ready(page);
  assert.equal(await page.evaluate(() => history.length), entries + 3);
  const back = async (direction: -1 | 1): Promise<void> => {
    await page.evaluate((by) => {
      const moved = new Promise((done) => addEventListener("popstate", done, { once: true }));
      history.go(by);
      return moved;
    }, direction);
    await ready(page);
  };
  await back(-1);
  assert.match((await by(page, "graph-name").textContent()) ?? "", /^adjoint-chain/);
  assert.equal(await by(page, "weight-alpha").inputValue(), "7");
  await back(-1);
  assert.equal(await by(page, "weight-alpha").inputValue(), "0");
  assert.equal(await by(page, "cap-input").inputValue(), "40%");
  await back(-1);
  assert.equal(await by(page, "cap-input").inputValue(), "60%");
  await back(1);
  assert.equal(await by(page, "cap-input").inputValue(), "40%");
  assert.equal(await page.locator("tr.winner").count(), 1);
  assert.deepEqual(errors, []);
  await close();
});

test("an ONNX model asks for open dimensions, batch and training", options, async () => {
  const model = resolve(web, "../tests/fuzz/corpus/graph_onnx/text_open.onnx");
  assert.ok(existsSync(model));
  const { page, close } = await load("#family=chain&strategies=last-use&ticks=20000");
  const opens = async (act: () => Promise<void>): Promise<number> => {
    await by(page, "file-input").setInputFiles(model);
    await by(page, "reading").waitFor();
    await act();
    await by(page, "reading-open").click();
    await page.waitForFunction(() => document.querySelector("[data-testid=graph-name]")?.textContent === "text_open.onnx");
    await ready(page);
    return Number(((await by(page, "graph-size").textContent()) ?? "").replace(/\D/g, ""));
  };
  const forward = await opens(async () => {
    await by(page, "reading-dim-tokens").fill("none");
    await by(page, "reading-open").click();
    assert.match((await by(page, "reading-error").textContent()) ?? "", /tokens must be a whole number/);
    await by(page, "reading-dim-tokens").fill("16");
  });
  await page.waitForFunction(() => location.hash.includes("read=dims"));
  const training = await opens(async () => {
    await by(page, "reading-dim-batch").fill("4");
    await by(page, "reading-train").check();
    await by(page, "reading-optimizer").selectOption("adam");
  });
  assert.ok(training > forward, `${training} nodes for training, ${forward} forward`);
  assert.equal(await page.locator("tr.winner").count(), 1);
  await close();
});

test("borrowed memory and the size of slow memory are fields, and plans use them", options, async () => {
  const { page, close } = await load("#family=adjoint-chain&p.steps=30&cap=20%25&game=tiered&strategies=two-level;demand&prices=1,1,0,0,none");
  await type(page, "price-slow_cap", "3");
  await page.waitForFunction(() => location.hash.includes("0,0,3"));
  const slow = await page.evaluate(() => Math.max(...(window.pebble.playback.player?.frames.slow ?? [0])));
  assert.ok(slow <= 3, `${slow} in slow memory`);
  await type(page, "price-slow_cap", "x");
  assert.equal(await by(page, "price-slow_cap").getAttribute("aria-invalid"), "true");
  await page.keyboard.press("Escape");
  await by(page, "game-remat").click();
  await ready(page);
  await type(page, "borrow", "25%");
  await page.waitForFunction(() => location.hash.includes("borrow=25"));
  assert.equal(await by(page, "borrow").inputValue(), "25%");
  await type(page, "borrow", "");
  await page.waitForFunction(() => !location.hash.includes("borrow"));
  await close();
});

test("a small graph is changed by hand, and Back undoes it", options, async () => {
  const { page, errors, close } = await load("#family=tree&p.height=3&cap=none&strategies=last-use");
  const nodes = async (): Promise<number> => Number(((await by(page, "graph-size").textContent()) ?? "").replace(/\D/g, ""));
  const follow = async (name: string): Promise<void> => {
    await page.keyboard.press("/");
    await by(page, "find-input").fill(name);
    await by(page, "find-input").press("Enter");
    await page.waitForFunction((wanted) => document.querySelector("[data-testid=node-name]")?.textContent === wanted, name);
    await page.waitForFunction(() => (document.querySelector("[data-testid=edit-cost]") as HTMLInputElement).value !== "");
    if (!(await by(page, "editor").evaluate((one: HTMLDetailsElement) => one.open))) await by(page, "editor").locator("summary").click();
  };
  const size = (text: string): Promise<unknown> => page.waitForFunction((wanted) => document.querySelector("[data-testid=graph-size]")?.textContent === wanted, text);
  const before = await nodes();
  const name = await page.evaluate(() => document.querySelector("[data-testid=now]")?.textContent?.split(" ")[1] ?? "");
  await follow(name);
  await by(page, "edit-add").click();
  await size(`${before + 1} nodes`);
  await ready(page);
  await page.waitForFunction(() => document.querySelector("[data-testid=node-name]")?.textContent === "new1");
  await follow("new1");
  await by(page, "edit-size").fill("9");
  await by(page, "edit-apply").click();
  await page.waitForFunction(() => document.querySelector("[data-testid=inspector] .facts")?.textContent?.includes("size 9"));
  await ready(page);
  assert.ok(await page.evaluate(() => window.pebble.playback.player!.frames.peak >= 9));
  await follow("new1");
  await by(page, "edit-reads").fill("nobody");
  await by(page, "edit-apply").click();
  await page.waitForFunction(() => /no node called nobody/.test(document.querySelector("[data-testid=edit-error]")?.textContent ?? ""));
  await by(page, "edit-remove").click();
  await size(`${before} nodes`);
  await ready(page);
  const back = (): Promise<unknown> => page.evaluate(() => history.back());
  await back();
  await size(`${before + 1} nodes`);
  await ready(page);
  await back();
  await page.waitForFunction(() => (window.pebble.playback.player?.frames.peak ?? 9) < 9);
  await ready(page);
  await back();
  await size(`${before} nodes`);
  assert.deepEqual(errors, []);
  await close();
});
