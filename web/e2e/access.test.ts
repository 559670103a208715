// Accessibility: axe-core finds nothing, in either theme, at four widths, with every sheet open; and what axe cannot see.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch, missing, openPage, ready, startServer, web, type Opened, type Server } from "./support";

const options = { skip: missing() ?? false };
let server: Server;
let browser: Browser;
let source = "";

before(async () => {
  if (options.skip) return;
  server = await startServer();
  browser = await launch();
  source = await readFile(join(web, "node_modules/axe-core/axe.min.js"), "utf8");
});

after(async () => {
  await browser?.close();
  await server?.stop();
});

interface Result {
  violations: { id: string; help: string; nodes: { target: string[]; failureSummary?: string }[] }[];
}

async function load(fragment: string, more = {}): Promise<Opened> {
  const opened = await openPage(browser, server.address + fragment, more);
  await ready(opened.page);
  await opened.page.evaluate(source);
  return opened;
}

/** Violations as text, one line each. */
async function audit(page: Page, where: string): Promise<string[]> {
  const result = (await page.evaluate("axe.run(document, { resultTypes: ['violations'] })")) as Result;
  return result.violations.flatMap((one) => one.nodes.map((node) => `${where}: ${one.id} (${one.help}) ${node.target.join(" ")} ${node.failureSummary ?? ""}`));
}

async function sheets(page: Page, where: string): Promise<string[]> {
  const found: string[] = [];
  for (const [key, id] of [["g", "gallery"], ["n", "generator"], ["?", "help-sheet"], ["/", "finder"]]) {
    await page.keyboard.press(key);
    await page.getByTestId(id).waitFor();
    found.push(...(await audit(page, `${where}, ${id}`)));
    await page.keyboard.press("Escape");
  }
  return found;
}

const TREE = "#family=tree&p.height=5&cap=20&strategies=cache-all;last-use;bennett&beside=cache-all/remat;bennett/reversible&ticks=10000";
const TIMED = "#family=unet&p.depth=2&cap=50%25&game=timed&machine=a100-40&strategies=overlap;back-to-back&memory=groups&node=20&ticks=20000";

for (const theme of ["light", "dark"]) {
  test(`axe-core finds nothing: ${theme}`, options, async () => {
    const { page, errors, close } = await load(`${TREE}&theme=${theme}`, { viewport: { width: 1024, height: 768 }, picture: false });
    const found = await audit(page, "side by side");
    found.push(...(await sheets(page, "side by side")));
    for (const width of [390, 800, 1920]) {
      await page.setViewportSize({ width, height: 844 });
      found.push(...(await audit(page, `${width} wide`)));
    }
    await close();
    const timed = await load(`${TIMED}&theme=${theme}`, { picture: false });
    found.push(...(await audit(timed.page, "timed")));
    await timed.close();
    assert.deepEqual([...new Set(found)], []);
    assert.deepEqual([...errors, ...timed.errors].filter((text) => !/WebGL2/.test(text)), []);
  });
}

test("the picture has an equivalent as text, steps are announced, and sliders state their values", options, async () => {
  const { page, close } = await load(TREE, { picture: false });
  const text = (id: string): Promise<string | null> => page.getByTestId(id).textContent();
  assert.equal(await page.getByTestId("scene").getAttribute("aria-describedby"), "scene-text");
  assert.match((await text("scene-text")) ?? "", /63 nodes, 62 edges, \d+ deep\. Shown is the plan of .*\. Move \d+ of \d+: .* in memory\. In memory: /);
  await page.keyboard.press("Home");
  await page.waitForFunction(() => /^Before the first move/.test(document.querySelector("[data-testid=announced]")?.textContent ?? ""));
  await page.keyboard.press("ArrowRight");
  await page.waitForFunction(() => /^Move 1 of \d+: compute \S+\. 1 pebble of 20 pebbles in memory\.$/.test(document.querySelector("[data-testid=announced]")?.textContent ?? ""));
  await page.keyboard.press("Space");
  await page.waitForFunction(() => document.querySelector("[data-testid=announced]")?.textContent === "Playing.");
  await page.waitForFunction(() => window.pebble.playback.player!.step > 3);
  await page.keyboard.press("Space");
  await page.waitForFunction(() => /^Move/.test(document.querySelector("[data-testid=announced]")?.textContent ?? ""));
  const silent = await page.locator("input[type=range], [role=slider]").evaluateAll((all) => all.filter((one) => !one.getAttribute("aria-valuetext")).map((one) => one.outerHTML.slice(0, 100)));
  assert.deepEqual(silent, []);
  await close();
});
