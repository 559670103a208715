// Takes the pictures of docs/ from the real page, light and dark.
//   npm run screenshots [-- FOLDER [NAME...]]
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { launch, openPage, ready, startServer, still, web } from "./support";

const folder = resolve(process.argv[2] ?? join(web, "../docs/images"));
const only = process.argv.slice(3);

interface Shot {
  name: string;
  hash: string;
  width?: number;
  height?: number;
  /** What is in the picture; by default the window. */
  part?: string;
  before?: (page: Page) => Promise<void>;
}

const COMPARE = "#example=chain&cap=25%25&game=remat&strategies=cache-all;last-use;partial;chen;griewank;hcb;dtr;auto";
const SHOTS: Shot[] = [
  { name: "ui-main", hash: "#example=unet&cap=50%25&machine=rtx4090&game=remat&strategies=cache-all;last-use;partial;chen;dtr;auto&step=240" },
  { name: "ui-compare", hash: COMPARE, width: 1920, height: 1080, part: ".comparison" },
  { name: "ui-pareto", hash: COMPARE, width: 1920, height: 1080, part: ".scatter-card" },
  {
    name: "ui-beside", hash: "#example=tree",
    before: (page) => page.evaluate(() => window.pebble.playback.seek(160)),
  },
  { name: "ui-memory", hash: "#example=transformer&cap=60%25&game=remat&strategies=chen;auto&memory=groups&groups=closed", width: 1280, height: 900 },
  { name: "ui-lanes", hash: "#family=unet&p.depth=3&cap=50%25&game=timed&machine=a100-40&strategies=overlap;back-to-back&ticks=50000&groups=closed", width: 1280, height: 900 },
  { name: "ui-phone", hash: "#example=unet&cap=55%25&game=remat&strategies=cache-all;last-use;chen", width: 390, height: 844 },
];

async function swept(page: Page): Promise<void> {
  await ready(page);
  await page.waitForFunction(() => document.querySelector("[data-testid=front], [data-game=timed][aria-pressed=true]") && !document.querySelector("[data-testid=scatter-note]")?.textContent);
  await page.waitForFunction(() => !window.pebble.scene()?.busy); // lights of the scene come to rest
  await still(page);
}

await mkdir(folder, { recursive: true });
const server = await startServer();
const browser = await launch();
let count = 0;
try {
  for (const scheme of ["light", "dark"] as const)
    for (const { name, hash, width = 1280, height = 800, part, before } of SHOTS) {
      if (only.length && !only.includes(name)) continue;
      const { page, close } = await openPage(browser, server.address + hash, { colorScheme: scheme, viewport: { width, height } });
      await swept(page);
      await before?.(page);
      await swept(page);
      const path = join(folder, `${name}-${scheme}.png`);
      if (part) await page.locator(part).screenshot({ path });
      else await page.screenshot({ path });
      await close();
      count++;
    }
} finally {
  await browser.close();
  await server.stop();
}
console.log(`${count} pictures are in ${folder}`);
