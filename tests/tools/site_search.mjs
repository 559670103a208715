// Types into the search box of the built site in a real browser: node site_search.mjs ROOT
// It says so and ends with 0 if there is no browser, or no package to control it.
import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { join, normalize } from "node:path";

const root = process.argv[2];
const executablePath = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const current = Number(process.versions.node.split(".")[0]) >= 20; // playwright-core needs it
if (!current || !executablePath || !existsSync(join(root, "web/node_modules/playwright-core"))) {
  console.log("there is no browser, no playwright-core or no Node.js 20: search is not tried");
  process.exit(0);
}
const { chromium } = createRequire(join(root, "web/package.json"))("playwright-core");

const types = { html: "text/html", js: "text/javascript", css: "text/css", json: "application/json", svg: "image/svg+xml" };
const server = createServer((request, response) => {
  const file = join(root, "build/site/html", normalize(new URL(request.url, "http://site").pathname));
  response.setHeader("Content-Type", types[file.split(".").pop()] ?? "application/octet-stream");
  createReadStream(file).on("error", () => response.writeHead(404).end()).pipe(response);
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu"] });
try {
  const page = await browser.newPage();
  page.setDefaultTimeout(20_000);
  await page.goto(`http://127.0.0.1:${server.address().port}/index.html`);
  const box = page.locator("[data-md-component=search-query]");
  // A word of a title, the field's own word for a game, a function of a header.
  for (const [word, address] of [["griewank", "docs/strategies/griewank.html"], ["rematerialization", "docs/glossary.html"], ["pb_graph_hash", "api/"]]) {
    await box.fill("");
    await box.pressSequentially(word);
    await page.locator(`.md-search-result__item a[href*="/${address}"][href*="h=${word}"]`).first().waitFor();
  }
  await page.locator(".md-search-result__item a[href*=pb_graph_hash]").first().click();
  await page.locator("mark", { hasText: "pb_graph_hash" }).first().waitFor();
} finally {
  await browser.close();
  server.close();
}
