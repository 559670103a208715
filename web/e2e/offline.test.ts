// Files that `pebble` writes with the player: they play in a browser without the command and without a network.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Locator, Page } from "playwright-core";
import { launch, missing, openPage, run, scratch, still, type Opened } from "./support";

const reason = missing();
const options = { skip: reason ?? false };
let browser: Browser;
let dir: Awaited<ReturnType<typeof scratch>>;

before(async () => {
  if (reason) return;
  dir = await scratch();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await dir?.drop();
});

const by = (page: Page, id: string): Locator => page.getByTestId(id);

async function step(page: Page): Promise<number> {
  return Number(await by(page, "step").getAttribute("data-step"));
}

async function pebble(...args: string[]): Promise<void> {
  const { code, err } = await run(args);
  assert.equal(code, 0, err);
}

/** Opens the file without a network; fails if it asks for anything. */
async function play(name: string, more = {}): Promise<Opened> {
  const opened = await openPage(browser, "about:blank", { offline: true, ...more });
  opened.page.on("request", (request) => {
    if (!request.url().startsWith("file:") && !request.url().startsWith("blob:")) opened.errors.push(`asked for ${request.url()}`);
  });
  await opened.page.goto(pathToFileURL(join(dir.dir, name)).href);
  await opened.page.waitForFunction(() => window.pebble?.playback.player);
  return opened;
}

test("one plan: it starts at its peak, plays, pauses and steps, and a node shows its story", options, async () => {
  const [graph, plan, file] = ["g.json", "s.json", "plan.html"].map((name) => join(dir.dir, name));
  await pebble("gen", "unet", "-o", graph);
  await pebble("plan", graph, "--cap", "60%", "--strategy", "chain", "-q", "-o", plan);
  await pebble("export", graph, plan, "--as", "html", "-o", file);
  const { page, errors, close } = await play("plan.html");
  const metrics = JSON.parse(await readFile(plan, "utf8")).metrics as { peak: number; moves: number };
  assert.equal(Number(await by(page, "memory-now").getAttribute("data-value")), metrics.peak);
  assert.match((await by(page, "plan-facts").textContent()) ?? "", /found by chain in the remat game: peak .* under a cap of /);
  await page.keyboard.press("Home");
  assert.equal(await step(page), 0);
  await page.keyboard.press("ArrowRight");
  assert.equal(await step(page), 1);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => (window.pebble.playback.player?.step ?? 0) > 5);
  await page.keyboard.press("Space");
  assert.equal(await page.evaluate(() => window.pebble.playback.playing), false);
  await page.keyboard.press("End");
  assert.equal(await step(page), metrics.moves);
  await page.keyboard.press("/");
  await by(page, "find-input").fill("down0.conv1");
  await page.keyboard.press("Enter");
  assert.match((await by(page, "node-story").textContent()) ?? "", /^Computed at move \d+, read \d+ times?, freed at move /);
  await still(page);
  assert.deepEqual(errors, []);
  await close();
});

test("a comparison: rows switch plans, weights rank them, failures name the move", options, async () => {
  const [graph, file] = ["c.json", "compare.html"].map((name) => join(dir.dir, name));
  await pebble("gen", "adjoint-chain", "60", "-o", graph);
  await pebble("compare", graph, "--cap", "30", "--game", "remat", "--strategy", "cache-all,chain,every-k:k=9", "-q", "--html", file);
  const { page, errors, close } = await play("compare.html", { picture: false });
  assert.match((await by(page, "row-cache-all/remat").textContent()) ?? "", /move/);
  assert.equal(await page.locator("tr.winner").getAttribute("data-key"), "chain/remat");
  await by(page, "row-every-k:k=9/remat").click();
  assert.match((await by(page, "plan-name").textContent()) ?? "", /every-k:k=9/);
  await by(page, "weight-alpha").fill("1000000");
  await page.keyboard.press("Enter");
  assert.equal(await page.locator("tr.winner").count(), 1);
  assert.equal(errors.filter((text) => text.startsWith("asked")).length, 0);
  await close();
});

test("a sweep: the plans of the front", options, async () => {
  const [graph, file] = ["f.json", "front.html"].map((name) => join(dir.dir, name));
  await pebble("gen", "adjoint-chain", "30", "-o", graph);
  await pebble("sweep", graph, "--strategy", "chain", "--points", "5", "--ticks", "100000", "-q", "--html", file);
  const { page, close } = await play("front.html", { picture: false });
  const rows = page.locator("tr[data-plan]");
  assert.ok((await rows.count()) >= 3);
  await rows.last().click();
  assert.equal(await rows.last().getAttribute("aria-selected"), "true");
  assert.equal(await page.locator("[data-testid=front]").count(), 1);
  await close();
});
