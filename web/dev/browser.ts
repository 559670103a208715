// Opens the trial page in a headless Chromium, without any server: the page is one string.

import { build } from "esbuild";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { Browser, Page, chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
];

export function launch(): Promise<Browser> {
  const found = [process.env.CHROMIUM ?? "", "/usr/bin/chromium", "/usr/bin/chromium-browser"].find((p) => p && existsSync(p));
  return chromium.launch({ executablePath: found, headless: true, args: FLAGS });
}

export async function trialPage(browser: Browser, dark: boolean, width = 1280, height = 800, ratio = 1): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height }, deviceScaleFactor: ratio });
  page.on("console", (m) => console.error(`page: ${m.text()}`));
  page.on("pageerror", (e) => console.error(`page: ${e.message}`));
  const built = await build({
    entryPoints: [join(process.env.PEBBLE_WEB ?? ".", "dev/trial.ts")],
    bundle: true,
    format: "iife",
    write: false,
    minify: true,
  });
  await page.setContent(`<!doctype html><style>
    body{margin:0;font-family:Inter,system-ui,sans-serif}
    #stage{position:absolute;inset:0 0 170px 0}#chart{position:absolute;left:0;right:0;bottom:0;height:170px}
    canvas{position:absolute;inset:0;width:100%;height:100%}#overlay{pointer-events:none}
    </style><div id="stage"><canvas id="scene"></canvas><canvas id="overlay"></canvas></div><div id="chart"></div>`);
  await page.addScriptTag({ content: built.outputFiles[0].text });
  await page.evaluate((d) => window.makeTrial(d), dark);
  return page;
}
