// Random input from a seed: no exception, and the page always comes to rest. Short by default; the long tier gives it ten minutes.
//   PEBBLE_MONKEY_SECONDS   how long (5)
//   PEBBLE_MONKEY_SEED      the first seed (1)
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { launch, missing, openPage, startServer, type Server } from "./support";

const options = { skip: missing() ?? false };
const SECONDS = Number(process.env.PEBBLE_MONKEY_SECONDS ?? 5);
const SEED = Number(process.env.PEBBLE_MONKEY_SEED ?? 1);
const ACTIONS = 60; // between two looks at the page
const START = "#family=unet&p.depth=2&cap=60%25&strategies=last-use;chen;dtr&ticks=5000";
const KEYS = [" ", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End", "p", ",", ".", "[", "]", "m", "w", "r", "x", "ArrowUp", "ArrowDown", "b", "f", "/", "z", "Escape", "g", "n", "e", "t", "v", "?", "+", "-", "1", "3", "Tab", "Enter", "Escape"];
const TEXTS = ["", "0", "1", "40%", "none", "3GiB", "-1", "x", "1e-3", "conv1", "99999999999999999999"];

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

/** Numbers from 0 to 1 that depend on the seed alone. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** One action, as a user might do it; returns its name. */
async function act(page: Page, next: () => number): Promise<string> {
  const pick = <T>(list: readonly T[]): T => list[Math.floor(next() * list.length)];
  const { width, height } = page.viewportSize() ?? { width: 1280, height: 800 };
  const spot = (): [number, number] => [Math.floor(next() * width), Math.floor(next() * height)];
  const kind = next();
  if (kind < 0.4) {
    const key = pick(KEYS);
    await page.keyboard.press(key);
    return `key ${key}`;
  }
  if (kind < 0.5) {
    const [x, y] = spot();
    await page.mouse.click(x, y);
    return `click ${x},${y}`;
  }
  if (kind < 0.58) {
    const [[x, y], [x2, y2]] = [spot(), spot()];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x2, y2, { steps: 3 });
    await page.mouse.up();
    return `drag ${x},${y} to ${x2},${y2}`;
  }
  if (kind < 0.62) {
    await page.mouse.move(...spot());
    await page.mouse.wheel(0, (next() - 0.5) * 600);
    return "wheel";
  }
  if (kind < 0.65) {
    const wide = pick([390, 800, 1024, 1280, 1920]);
    await page.setViewportSize({ width: wide, height: 800 });
    return `window ${wide}`;
  }
  if (kind < 0.67) {
    await page.evaluate((by) => {
      const { currentEntry } = (window as unknown as { navigation: { currentEntry: { index: number } } }).navigation;
      if (by > 0 || currentEntry.index > 0) history.go(by); // not to what was before the page
    }, next() < 0.7 ? -1 : 1);
    return "back or forward";
  }
  // A control that is visible, by its number. Not those that leave the page or plan for minutes.
  return page.evaluate(
    ([which, value, text]) => {
      const all = [...document.querySelectorAll<HTMLElement>("button, select, input:not([type=file]), tr[data-plan], summary")].filter(
        (one) => one.checkVisibility() && !(one as HTMLButtonElement).disabled && !/^(open|time|generate-make|export-webm|machine)$|^example-large/.test(one.dataset.testid ?? ""),
      );
      const dialog = document.querySelector("dialog[open]");
      const list = dialog ? all.filter((one) => dialog.contains(one)) : all;
      const one = list[Math.floor(which * list.length)];
      if (!one) return "nothing";
      if (one instanceof HTMLSelectElement) {
        one.selectedIndex = Math.floor(value * one.options.length);
        one.dispatchEvent(new Event("change", { bubbles: true }));
      } else if (one instanceof HTMLInputElement && one.type !== "checkbox") {
        one.focus();
        one.value = one.type === "range" ? String(Number(one.min) + value * (Number(one.max) - Number(one.min))) : text;
        one.dispatchEvent(new Event("input", { bubbles: true }));
        one.dispatchEvent(new Event("change", { bubbles: true }));
      } else one.click();
      return `${one.tagName} ${one.dataset.testid ?? one.textContent?.slice(0, 30)}`;
    },
    [next(), next(), pick(TEXTS)] as const,
  );
}

async function run(seed: number, until: number): Promise<number> {
  const opened = await openPage(browser, server.address + START, { reducedMotion: seed % 2 ? "reduce" : "no-preference" });
  const { page } = opened;
  const next = random(seed);
  const done: string[] = [];
  const told = (): string => `seed ${seed}, last actions: ${done.slice(-12).join("; ")}`;
  page.on("filechooser", () => undefined);
  page.on("download", (one) => void one.delete().catch(() => undefined));
  await page.waitForFunction(() => window.pebble.settled());
  do {
    for (let i = 0; i < ACTIONS && (i < 20 || Date.now() < until); i++) done.push(await act(page, next));
    await page.evaluate(() => {
      for (const one of document.querySelectorAll("dialog")) one.close();
    });
    await page.waitForFunction(() => window.pebble.settled() || document.querySelector("[data-testid=problem]"), undefined, { timeout: 90_000 }).catch(() => assert.fail(`stuck: ${told()}`));
    assert.deepEqual(opened.errors.filter((text) => !/status of 4\d\d/.test(text)), [], told());
    assert.ok(await page.evaluate(() => document.querySelector(".topbar") !== null), told());
  } while (Date.now() < until && done.length < 600);
  await opened.close();
  return done.length;
}

test(`random input for ${SECONDS} seconds: no exception, no stuck state`, { ...options, timeout: (SECONDS + 300) * 1000 }, async (t) => {
  const until = Date.now() + SECONDS * 1000;
  let [actions, seeds] = [0, 0];
  for (let seed = SEED; Date.now() < until; seed++, seeds++) actions += await run(seed, until);
  t.diagnostic(`${actions} actions from ${seeds} seeds`);
  assert.ok(actions > 0);
});
