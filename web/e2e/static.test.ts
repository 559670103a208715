// The page without a server (`make web-static`), with the network cut off once it is loaded. Prints its size, and the time to its
// first plan. Skipped if the folder does not exist: building it takes longer than all tests of the page.
import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import { gzipSync } from "node:zlib";
import type { Browser, Locator, Page } from "playwright-core";
import { launch, missing, openPage, ready, run, scratch, startStatic, staticFolder, web, type Opened, type Server } from "./support";

const folder = staticFolder ?? resolve(web, "../build-wasm/web-static");
const reason = existsSync(join(folder, "pebble.wasm")) ? missing() : "make web-static builds the page without a server first";
const options = { skip: reason ?? false };
const by = (page: Page, id: string): Locator => page.getByTestId(id);
let server: Server;
let browser: Browser;
let dir: Awaited<ReturnType<typeof scratch>>;

before(async () => {
  if (reason) return;
  dir = await scratch();
  server = await startStatic(folder);
  browser = await launch();
});

after(async () => {
  await browser?.close();
  await server?.stop();
  await dir?.drop();
});

async function load(fragment = ""): Promise<Opened> {
  const opened = await openPage(browser, server.address + fragment, { picture: false });
  await ready(opened.page);
  return opened;
}

test("size, and time to the first plan", options, async (t) => {
  const files = readdirSync(folder).map((name) => readFileSync(join(folder, name)));
  const bytes = files.reduce((sum, file) => sum + file.length, 0);
  const packed = files.reduce((sum, file) => sum + gzipSync(file).length, 0);
  assert.ok(packed < 1 << 20, `${packed} bytes compressed`);
  const { page, errors, close } = await load();
  const ms = await page.evaluate(() => performance.getEntriesByName("pebble-first-plan")[0]?.startTime);
  assert.ok(ms > 0, "the page marks its first plan");
  t.diagnostic(`${Math.round(bytes / 1024)} KiB, ${Math.round(packed / 1024)} KiB compressed; first plan ${Math.round(ms)} ms after the page was asked for`);
  assert.deepEqual(errors, []);
  await close();
});

test("with the network cut off: examples, files of four formats, plan, compare, play, export", options, async () => {
  const { page, errors, close } = await load("#example=chain");
  await page.context().setOffline(true);
  await page.keyboard.press("g");
  await page.locator(".example").nth(1).click();
  await ready(page);
  const graph = join(dir.dir, "g.json");
  await run(["gen", "adjoint-chain", "20", "-o", graph]);
  for (const [ext, name] of [["dot", "g.dot"], ["csv", "g.csv"]]) await run(["export", graph, "--as", ext, "-o", join(dir.dir, name)]);
  const model = resolve(web, "../tests/fuzz/corpus/graph_onnx/image.onnx");
  for (const file of [graph, join(dir.dir, "g.dot"), join(dir.dir, "g.csv"), model].filter(existsSync)) {
    await by(page, "file-input").setInputFiles(file);
    if (file.endsWith(".onnx")) await by(page, "reading-open").click();
    await page.waitForFunction((name) => document.querySelector("[data-testid=graph-name]")?.textContent === name, file.split("/").pop());
    await ready(page);
  }
  await by(page, "file-input").setInputFiles(graph);
  await page.waitForFunction(() => document.querySelector("[data-testid=graph-name]")?.textContent === "g.json");
  await by(page, "cap-input").fill("50%");
  await by(page, "cap-input").press("Enter");
  await ready(page);
  assert.match((await by(page, "verdict-title").textContent()) ?? "", /wins/);
  await page.keyboard.press("End");
  assert.equal(Number(await by(page, "step").getAttribute("data-step")), await page.evaluate(() => window.pebble.playback.player!.frames.moveCount));
  await by(page, "export").click();
  const [download] = await Promise.all([page.waitForEvent("download"), by(page, "export-schedule").click()]);
  const file = join(dir.dir, "schedule.json");
  await writeFile(file, await readFile(await download.path()));
  const told = await run(["verify", graph, file]);
  assert.equal(told.code, 0, told.err);
  assert.deepEqual(errors.filter((text) => !/ERR_INTERNET_DISCONNECTED/.test(text)), []);
  await close();
});

test("equal ticks give the plans of the command", options, async () => {
  const { page, close } = await load("#family=unet&p.depth=2&cap=70%25&game=remat&strategies=search;cut&time=60000");
  const graph = join(dir.dir, "unet.json");
  await run(["gen", "unet", "--depth", "2", "-o", graph]);
  const told = JSON.parse((await run(["compare", graph, "--cap", "70%", "--game", "remat", "--strategy", "search,cut", "--json"])).out) as {
    strategies: { strategy: string; metrics: { peak: number; makespan: number; flux: string } }[];
  };
  for (const row of told.strategies) {
    const cells = page.locator(`tr[data-keys~="${row.strategy}/remat"]`);
    for (const [column, value] of [["peak", row.metrics.peak], ["total", row.metrics.makespan]])
      assert.equal(await cells.locator(`[data-col=${column}]`).getAttribute("data-value"), String(value), `${row.strategy} ${column}`);
  }
  await close();
});
