// What the page saves: pictures with legend and figures, tables, a file that plays offline, a video.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Browser, Locator, Page } from "playwright-core";
import { launch, missing, openPage, ready, scratch, startServer, type Opened, type Server } from "./support";

const options = { skip: missing() ?? false };
const TREE = "#family=tree&p.height=4&cap=20&strategies=cache-all;last-use;bennett&beside=cache-all/remat;bennett/reversible&weights=2,0,1";
const by = (page: Page, id: string): Locator => page.getByTestId(id);
let server: Server;
let browser: Browser;
let dir: Awaited<ReturnType<typeof scratch>>;
let opened: Opened;

before(async () => {
  if (options.skip) return;
  dir = await scratch();
  server = await startServer();
  browser = await launch();
  opened = await openPage(browser, server.address + TREE);
  await ready(opened.page);
  await opened.page.keyboard.press("End");
});

after(async () => {
  await browser?.close();
  await server?.stop();
  await dir?.drop();
});

async function save(id: string): Promise<{ name: string; path: string; bytes: Buffer }> {
  const { page } = opened;
  await by(page, "export").click();
  const [download] = await Promise.all([page.waitForEvent("download"), by(page, id).click()]);
  const name = download.suggestedFilename();
  const path = join(dir.dir, name);
  await download.saveAs(path);
  return { name, path, bytes: await readFile(path) };
}

/** Lines and fields of a CSV file without quoted line breaks. */
function cells(text: string): Record<string, string>[] {
  const split = (line: string): string[] => [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map((m) => (m[1] ?? m[2]).replaceAll('""', '"'));
  const [head, ...lines] = text.trimEnd().split("\n").map(split);
  return lines.map((line) => Object.fromEntries(head.map((key, i) => [key, line[i]])));
}

test("pictures show all plans, with legend and figures", options, async () => {
  const png = await save("export-png");
  assert.equal(png.bytes.subarray(1, 4).toString(), "PNG");
  const shown = await opened.page.evaluate(() => {
    const scenes = [...document.querySelectorAll<HTMLElement>(".scene")];
    return { width: scenes.reduce((sum, one) => sum + one.clientWidth, 0), height: Math.max(...scenes.map((one) => one.clientHeight)) };
  });
  const [width, height] = [png.bytes.readUInt32BE(16), png.bytes.readUInt32BE(20)];
  assert.ok(Math.abs(width - 2 * shown.width) <= 4, `${width} pixels for ${shown.width}`);
  assert.ok(height > 2 * shown.height + 300, "there is room for figures and memory over time");
  const svg = (await save("export-svg")).bytes.toString();
  for (const words of ["31 nodes", "cap 20 pebbles", "peak ", "program order", "stops: needs 21 pebbles", "1 pebble over the cap", "in memory", "recomputing", "memory over time"])
    assert.ok(svg.includes(words), words);
  const drawn = await opened.page.evaluate((text) => {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    return { bad: parsed.querySelector("parsererror") !== null, graphs: parsed.querySelectorAll("svg > svg").length };
  }, svg);
  assert.deepEqual(drawn, { bad: false, graphs: 3 });
});

test("tables have the exact figures of the rows", options, async () => {
  const rows = cells((await save("export-comparison")).bytes.toString());
  assert.equal(rows.length, 3);
  for (const row of rows) {
    const line = opened.page.locator(`tr[data-keys~="${row.strategy}/${row.game}"]`);
    assert.equal(await line.getAttribute("data-outcome"), row.outcome);
    if (!row.peak) {
      assert.match(row.reason, /needs 21/);
      continue;
    }
    for (const [column, key] of [["peak", "peak"], ["total", "makespan"], ["recompute", "recompute"], ["uncompute", "uncompute"], ["cost", "cost"], ["operations", "operations"]])
      assert.equal(await line.locator(`[data-col=${column}]`).getAttribute("data-value"), row[key], `${row.strategy} ${key}`);
  }
  assert.equal(rows.filter((row) => row.winner === "1").length, 1);
  await opened.page.waitForFunction(() => /wins|changes at|Choose one/.test(document.querySelector("[data-testid=cap-flips]")?.textContent ?? ""));
  const sweep = cells((await save("export-sweep")).bytes.toString());
  assert.ok(sweep.length > 10 && sweep.some((row) => row.front === "1"));
  assert.deepEqual([...new Set(sweep.map((row) => row.size_unit))], ["pebble"]);
});

test("a page that plays: the plans of the comparison, offline, also the one that stops", options, async () => {
  const file = await save("export-html");
  const played = await openPage(browser, "about:blank", { offline: true, picture: false });
  await played.page.goto(pathToFileURL(file.path).href);
  await played.page.waitForFunction(() => window.pebble?.playback.player);
  assert.equal(await played.page.locator("tr.winner").getAttribute("data-key"), await opened.page.locator("tr.winner").getAttribute("data-key"));
  await by(played.page, "row-bennett/reversible").click();
  await played.page.keyboard.press("End");
  const moves = await opened.page.evaluate(() => document.querySelectorAll("[data-testid=beside]")[1].textContent?.match(/of (\d+)/)?.[1]);
  assert.equal(await by(played.page, "step").getAttribute("data-step"), moves);
  await by(played.page, "row-cache-all/remat").click();
  await played.page.keyboard.press("End");
  assert.match((await by(played.page, "now").textContent()) ?? "", /^stops: compute .*, 1 pebble over the cap$/);
  assert.deepEqual(played.errors.filter((text) => !/WebGL2/.test(text)), []);
  await played.close();
});

test("a video of the playback", options, async () => {
  const { page, errors } = opened;
  await by(page, "speed").selectOption("64");
  const { name, bytes } = await save("export-webm");
  assert.match(name, /\.webm$/);
  assert.equal(bytes.subarray(0, 4).toString("hex"), "1a45dfa3", "it is Matroska");
  assert.ok(bytes.length > 5000, `${bytes.length} bytes`);
  const seen = await page.evaluate(async (address) => {
    const video = document.createElement("video");
    video.muted = true;
    const loaded = new Promise((done, fail) => {
      video.onloadeddata = done;
      video.onerror = () => fail(new Error(video.error?.message));
    });
    video.src = URL.createObjectURL(await (await fetch(address)).blob());
    await loaded;
    return { width: video.videoWidth, height: video.videoHeight };
  }, `data:video/webm;base64,${bytes.toString("base64")}`).catch((reason: unknown) => ({ width: -1, height: String(reason) }));
  if (seen.width !== -1) assert.ok(seen.width > 400, JSON.stringify(seen)); // a page with a policy may not load it
  assert.equal(await by(page, "step").getAttribute("data-step"), String(await page.evaluate(() => window.pebble.playback.player!.frames.moveCount)));
  assert.deepEqual(errors.filter((text) => !/Content Security Policy|violates/.test(text)), []);
});
