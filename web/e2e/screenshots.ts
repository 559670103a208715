// Takes the pictures of docs/ from the real page: the main view, the comparison and the memory-against-work chart, light and dark.
//   npm run screenshots [-- FOLDER]
import { mkdir } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Page } from "playwright-core";
import { launch, openPage, ready, startServer, web } from "./support";

const folder = resolve(process.argv[2] ?? join(web, "../docs/images"));
const MAIN = "#example=unet&cap=50%25&machine=rtx4090&game=remat&strategies=cache-all;last-use;partial;chen;dtr;auto&step=240";
const COMPARE = "#example=chain&cap=25%25&game=remat&strategies=cache-all;last-use;partial;chen;griewank;hcb;dtr;auto";

async function swept(page: Page): Promise<void> {
  await ready(page);
  await page.waitForFunction(() => document.querySelector("[data-testid=front]") && !document.querySelector("[data-testid=scatter-note]")?.textContent);
  await page.waitForTimeout(600); // lights of the scene come to rest
}

await mkdir(folder, { recursive: true });
const server = await startServer();
const browser = await launch();
try {
  for (const scheme of ["light", "dark"] as const) {
    const small = await openPage(browser, server.address + MAIN, { colorScheme: scheme });
    await swept(small.page);
    await small.page.screenshot({ path: join(folder, `ui-main-${scheme}.png`) });
    await small.close();
    const wide = await openPage(browser, server.address + COMPARE, { colorScheme: scheme, viewport: { width: 1920, height: 1080 } });
    await swept(wide.page);
    await wide.page.locator(".comparison").screenshot({ path: join(folder, `ui-compare-${scheme}.png`) });
    await wide.page.locator(".scatter-card").screenshot({ path: join(folder, `ui-pareto-${scheme}.png`) });
    await wide.close();
  }
} finally {
  await browser.close();
  await server.stop();
}
console.log(`six pictures are in ${folder}`);
