// The page in a real browser, against the real command.
import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, test } from "node:test";
import type { Browser, Locator, Page } from "playwright-core";
import { launch, missing, openPage, ready, run, scratch, startServer, staticFolder, still, withoutPicture, type Opened, type Server } from "./support";

const reason = missing();
const options = { skip: reason ?? false };
let server: Server;
let browser: Browser;
let dir: Awaited<ReturnType<typeof scratch>>;
let shared: Opened | null = null;

before(async () => {
  if (reason) return;
  dir = await scratch();
  server = await startServer();
  browser = await launch();
});

after(async () => {
  await shared?.close();
  await browser?.close();
  await server?.stop();
  await dir?.drop();
});

const by = (page: Page, id: string): Locator => page.getByTestId(id);

/** A page of its own. */
async function load(fragment = "", more = {}): Promise<Opened> {
  const opened = await openPage(browser, server.address + fragment, more);
  await ready(opened.page);
  return opened;
}

/** Another graph in the page that the tests share: as quick as for a user who follows a link. */
async function open(fragment: string): Promise<Page> {
  if (!shared) shared = await load(fragment);
  else {
    await shared.page.evaluate(async (hash) => {
      const before = location.href;
      const heard = new Promise((done) => addEventListener("hashchange", () => setTimeout(done), { once: true }));
      location.hash = hash;
      if (location.href !== before) await heard; // however busy the machine is
    }, fragment);
    await ready(shared.page);
  }
  shared.errors.length = 0;
  return shared.page;
}

async function page60(page: Page): Promise<void> {
  await page.waitForFunction(() => document.querySelector("[data-testid=graph-size]")?.textContent === "60 nodes");
  await ready(page);
}

async function step(page: Page): Promise<number> {
  return Number(await by(page, "step").getAttribute("data-step"));
}

/** The line that shows this row: strategies with identical plans share one. */
function line(page: Page, key: string): Locator {
  return page.locator(`tr[data-keys~="${key}"]`);
}

async function figures(page: Page, key: string): Promise<Record<string, string>> {
  return line(page, key)
    .locator("[data-col]")
    .evaluateAll((cells) => Object.fromEntries(cells.map((cell) => [cell.getAttribute("data-col"), cell.getAttribute("data-value") ?? ""])));
}

async function type(page: Page, id: string, text: string): Promise<void> {
  await by(page, id).fill(text);
  await by(page, id).press("Enter");
}

/** Sets the cap and waits for the rows of it. */
async function setCap(page: Page, text: string): Promise<void> {
  await type(page, "cap-input", text);
  await page.keyboard.press("Escape");
  await ready(page);
}

interface CompareRow {
  strategy: string;
  outcome: string;
  reason: string | null;
  gap: number | null;
  metrics: Record<string, number | string> | null;
  operations: number | null;
}

async function compare(graph: string, args: string[]): Promise<{ winner: string; strategies: CompareRow[] }> {
  const { out } = await run(["compare", graph, "--json", ...args]);
  return JSON.parse(out) as { winner: string; strategies: CompareRow[] };
}

test("the first screen is an example, planned and ready to play", options, async () => {
  shared = await load();
  const { page, errors } = shared;
  assert.equal(await by(page, "graph-name").textContent(), "Tree under a cap of 50");
  assert.ok(await by(page, "hint").isVisible());
  assert.match((await by(page, "verdict-title").textContent()) ?? "", /wins/);
  assert.ok(!page.url().includes("token"), "the token is out of the address bar");
  await by(page, "play").click();
  await page.waitForFunction(() => window.pebble.playback.playing && window.pebble.playback.player!.step > 2);
  const at = await step(page);
  await page.keyboard.press("Space");
  assert.ok(at > 0);
  assert.deepEqual(errors, []);
});

test("the first example: the baseline fails under a cap that partial and reversible plans fit", options, async () => {
  const page = await open("#example=tree");
  assert.equal(await by(page, "cap-input").getAttribute("data-value"), "50");
  assert.match((await line(page, "cache-all/remat").textContent()) ?? "", /baseline cache-all.*move 50 .* needs 51 .*, 1 over the cap/);
  assert.equal((await figures(page, "partial/remat")).operations, "127");
  assert.equal(await page.locator("tr.winner .name").textContent(), "program order, partial, chen, dtr");
  await line(page, "cache-all/remat").click();
  await page.waitForFunction(() => document.querySelector("[data-testid=plan-name]")?.textContent?.startsWith("baseline up to"));
  await page.keyboard.press("End");
  assert.equal(await step(page), 51, "move 50, counted from 0, is the last");
  assert.match((await by(page, "now").textContent()) ?? "", /^stops: compute n90, 1 pebble over the cap$/);
  assert.equal(await by(page, "memory-now").getAttribute("data-value"), "51");
  assert.ok(await page.locator(".memory-now.over").isVisible());
  await page.keyboard.press("ArrowLeft");
  assert.equal(await page.locator(".over").count(), 0);
  const reversible = await figures(page, "bennett/reversible");
  assert.deepEqual([reversible.operations, reversible.total], ["407", "407"]);
  assert.match((await line(page, "bennett/reversible").textContent()) ?? "", /reversible bennett/);
  const cells = await line(page, "bennett/reversible").locator("td.num:visible").allTextContents();
  assert.deepEqual(cells.map((text) => text.replaceAll("\u202f", " ")), ["50", "77", "203", "407", "220 %", "0 %"]);
  assert.equal(127 + Number(reversible.recompute) + Number(reversible.uncompute) + Number(reversible.io), Number(reversible.total), "the parts add up");
});

test("a row that is chosen is shown once its moves have arrived, whatever happens meanwhile", options, async () => {
  const opened = await load("#family=tree&p.height=4&cap=20&strategies=cache-all;last-use;bennett", { picture: false });
  const { page } = opened;
  const name = await by(page, "plan-name").textContent();
  let pass: () => void = () => undefined;
  let asked: () => void = () => undefined;
  const arrived = new Promise<void>((done) => (asked = done));
  const held = new Promise<void>((done) => (pass = done));
  await page.exposeFunction("holdFrames", async () => {
    asked();
    await held;
  });
  await page.evaluate(() => window.pebble.holdFrames(() => (window as unknown as { holdFrames(): Promise<void> }).holdFrames()));
  await line(page, "cache-all/remat").click();
  await arrived;
  await type(page, "weight-alpha", "3"); // ranks the rows again
  assert.equal(await by(page, "plan-name").textContent(), name, "the old plan plays under its own name");
  pass();
  await ready(page);
  assert.match((await by(page, "plan-name").textContent()) ?? "", /^baseline up to/);
  await opened.close();
});

test("plans play side by side on one clock, and one that does not fit stops in red", options, async () => {
  const page = await open("#family=tree&p.height=6&cap=50&strategies=cache-all;last-use;partial;bennett&beside=cache-all/remat;bennett/reversible");
  const cells = by(page, "beside");
  assert.deepEqual(await cells.evaluateAll((all) => all.map((cell) => (cell as HTMLElement).dataset.key)), ["cache-all/remat", "bennett/reversible"]);
  await page.keyboard.press("End");
  assert.match((await cells.nth(0).textContent()) ?? "", /needs 51 pebbles, 1 pebble over the cap/);
  assert.ok(await cells.nth(0).evaluate((cell) => cell.classList.contains("over")), "in red");
  assert.match((await cells.nth(1).textContent()) ?? "", /done, 220.% extra/);
  // By work: when the shown plan is at half of its work, so are the others. By moves: at the same move.
  const steps = async (): Promise<number[]> => cells.evaluateAll((all) => all.map((cell) => Number((cell as HTMLElement).dataset.step)));
  await page.evaluate(() => window.pebble.playback.seek(60));
  const work = await page.evaluate(() => window.pebble.playback.player!.frames.time[59]);
  assert.deepEqual(await steps(), [work + 1, work + 1], "every move of these two is an operation of one unit");
  await by(page, "clock").selectOption("moves");
  assert.deepEqual(await steps(), [51, 60], "the baseline has ended");
  await page.keyboard.press("Home");
  await by(page, "speed").selectOption("64");
  await by(page, "play").click();
  await page.waitForFunction(() => !window.pebble.playback.playing);
  assert.deepEqual(await steps(), [51, 407], "playing goes on until the longest has ended");
  await page.waitForFunction(() => location.hash.includes("beside=") && location.hash.includes("clock=moves"));
  await line(page, "bennett/reversible").click();
  await ready(page);
  assert.deepEqual(await cells.evaluateAll((all) => all.map((cell) => (cell as HTMLElement).dataset.key)), ["cache-all/remat", "last-use/remat"], "they change places");
  await page.getByTestId("beside-cache-all/remat").click();
  await ready(page);
  assert.equal(await cells.count(), 1, "the button of a row takes it away again");
  assert.deepEqual(shared?.errors, []);
});

test("memory over time by value: the pointer names what is in memory, a click follows it, and the list agrees", options, async () => {
  const page = await open("#family=unet&p.depth=2&cap=70%25&game=remat&strategies=chen&memory=values");
  const chart = by(page, "memory-chart");
  const box = await chart.boundingBox();
  assert.ok(box);
  // The lowest band above memory that is always in use: whatever the plan, the pointer finds a value somewhere in this column.
  const tip = page.locator(".memory-chart-tip:not(.lane-tip)");
  let text = "";
  let y = box.y + box.height - 24;
  for (; y > box.y && !/in memory from move/.test(text); y -= 3) {
    await page.mouse.move(box.x + box.width * 0.4, y);
    text = (await tip.textContent()) ?? "";
  }
  assert.match(text, /in memory from move \d+ \((computed|recomputed|given)\) to/);
  assert.match(text, /kept (for .*, move \d+|to the end)|no longer read/);
  const name = text.split("\n")[1].split(":")[0];
  await page.mouse.click(box.x + box.width * 0.4, y + 3);
  await page.waitForFunction((wanted) => document.querySelector("[data-testid=node-name]")?.textContent === wanted, name);
  await page.keyboard.press("Escape");
  await page.keyboard.press("p");
  await page.keyboard.press("v");
  await by(page, "resident").waitFor();
  const { count, sizes } = await page.evaluate(() => {
    const player = window.pebble.playback.player!;
    let count = 0;
    for (let node = 0; node < player.nodeCount; node++) if (player.isResident(node)) count++;
    const bars = [...document.querySelectorAll<HTMLElement>(".resident-list i")].map((bar) => Number.parseFloat(bar.style.width));
    return { count, sizes: bars };
  });
  assert.match((await by(page, "resident-sum").textContent()) ?? "", new RegExp(`^${count} values`));
  assert.deepEqual(sizes, [...sizes].sort((a, b) => b - a), "largest first");
  await page.keyboard.press("v");
  // A range chosen with Shift is enlarged; a double click shows everything again.
  const shown = (): Promise<string> => chart.evaluate((host) => (host.querySelector("canvas") as HTMLCanvasElement).toDataURL());
  await page.mouse.move(box.x + box.width * 0.5, box.y - 60);
  const all = await shown();
  await page.keyboard.down("Shift");
  await page.mouse.move(box.x + box.width * 0.3, box.y + 40);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
  await page.mouse.up();
  await page.keyboard.up("Shift");
  await page.mouse.move(box.x + box.width * 0.5, box.y - 60);
  const near = await shown();

  assert.ok(near !== all, "another part is shown");
  await page.mouse.dblclick(box.x + box.width * 0.5, box.y + 40);
  await page.mouse.move(box.x + box.width * 0.5, box.y - 60);

  assert.ok((await shown()) === all, "everything is shown again");
});

test("a timed plan: a strip for each lane and a chart for each memory, with the cursor of memory over time", options, async () => {
  const page = await open("#family=unet&p.depth=2&cap=50%25&game=timed&machine=a100-40&strategies=overlap;back-to-back&ticks=50000");
  const lanes = by(page, "lane-chart");
  assert.match((await lanes.getAttribute("aria-label")) ?? "", /gpu works [\d.]+.%.*out works .*in works/);
  const { makespan, moves } = await page.evaluate(() => {
    const frames = window.pebble.playback.player!.frames;
    return { makespan: frames.timed!.makespan, moves: frames.moveCount };
  });
  assert.equal((await figures(page, "overlap/timed")).total, String(makespan), "the last end is the makespan of the row");
  const box = await lanes.boundingBox();
  assert.ok(box && box.height > 60);
  await page.mouse.move(box.x + box.width * 0.5, box.y + 8);
  assert.match((await page.locator(".lane-tip").textContent()) ?? "", /^gpu: works [\d.]+.% of the time\n((re)?compute .*\nfrom .* to |idle here)/);
  await page.mouse.click(box.x + box.width * 0.5, box.y + 8);
  const middle = await step(page);
  assert.ok(middle > 0 && middle < moves, "a click moves the playhead");
  await page.keyboard.press("Escape");
  const name = await page.evaluate(() => {
    const { frames } = window.pebble.playback.player!;
    return frames.timed!.memories[1].name;
  });
  assert.equal(name, "host");
  const before = await by(page, "memory-chart").evaluate((host) => (host.querySelector("canvas") as HTMLCanvasElement).toDataURL());
  await page.mouse.click(box.x + 30, box.y + box.height - 20); // the name of the small chart
  await page.waitForFunction(() => location.hash.includes("place=1"));
  assert.ok((await by(page, "memory-chart").evaluate((host) => (host.querySelector("canvas") as HTMLCanvasElement).toDataURL())) !== before, "the other memory is shown above");
  await by(page, "game-remat").click();
  await ready(page);
  assert.ok(await lanes.isHidden());
  assert.deepEqual(shared?.errors, []);
});

test("groups are single nodes until they are opened, and a map shows which part is visible", options, async () => {
  const page = await open("#family=unet&p.depth=3&cap=60%25&game=remat&strategies=chen&groups=closed");
  const drawn = (): Promise<number> => page.evaluate(() => window.pebble.scene()!.map()!.layout.nodeCount);
  const nodes = await page.evaluate(() => window.pebble.playback.player!.nodeCount);
  const closed = await drawn();
  assert.ok(closed < nodes / 4, `${closed} of ${nodes}`);
  await still(page);
  const spot = await page.evaluate(() => {
    const scene = window.pebble.scene()!;
    const box = document.querySelector("[data-testid=scene]")!.getBoundingClientRect();
    const whole = [...Array(scene.map()!.layout.nodeCount).keys()].find((v) => scene.pick(...scene.place(v)) !== v) ?? 0; // in a closed group
    const [px, py] = scene.place(whole);
    return { x: box.left + px, y: box.top + py };
  });
  await page.mouse.move(spot.x, spot.y);
  assert.match((await page.locator(".hover-card").textContent()) ?? "", /\d+ values, .* in memory, .* click to open/);
  await page.mouse.click(spot.x, spot.y);
  await ready(page);
  assert.ok((await drawn()) > closed, "the group that was clicked is open");
  await page.waitForFunction(() => /groups=closed&open=\d+/.test(location.hash));
  await by(page, "close-groups").click();
  await ready(page);
  assert.equal(await drawn(), closed);
  await page.keyboard.press("/");
  await by(page, "find-input").fill("bottom.conv1");
  await by(page, "find-input").press("Enter");
  await by(page, "node-group").click();
  await ready(page);
  assert.ok((await drawn()) > closed, "a node that was found opens its group");
  assert.equal(await by(page, "node-group").textContent(), "Close the group");
  await page.keyboard.press("Escape");
  await by(page, "groups").click();
  await ready(page);
  assert.equal(await drawn(), nodes);
  await page.keyboard.press("f");
  await still(page);
  assert.ok(await by(page, "minimap").isHidden());
  for (let i = 0; i < 4; i++) await by(page, "zoom-in").click();
  await still(page);
  const map = await by(page, "minimap").boundingBox();
  assert.ok(map);
  const before = await page.evaluate(() => window.pebble.scene()!.view);
  await page.mouse.click(map.x + 12, map.y + 12);
  const after = await page.evaluate(() => window.pebble.scene()!.view);
  assert.ok(after.x < before.x && after.scale === before.scale, "the map moves the picture to the left");
  for (let i = 0; i < 5; i++) await by(page, "zoom-out").click();
  await still(page);
  assert.ok((await page.evaluate(() => window.pebble.scene()!.view.scale)) < before.scale);
  assert.deepEqual(shared?.errors, []);
});

test("the tour points at each part in turn", options, async () => {
  const page = await open("#example=tree");
  await by(page, "tour").click();
  for (let stop = 1; stop <= 7; stop++) {
    assert.match((await by(page, "tour-card").textContent()) ?? "", new RegExp(`${stop} of 7`));
    assert.equal(await page.locator(".toured").count(), 1, `stop ${stop} points at something`);
    const card = await by(page, "tour-card").boundingBox();
    assert.ok(card && card.x >= 0 && card.y >= 0 && card.x + card.width <= 1280 && card.y + card.height <= 800, "inside the window");
    await by(page, "tour-next").click();
  }
  assert.ok(await by(page, "tour-card").isHidden());
});

test("all strategies are compared on request, and the link keeps that", options, async () => {
  const page = await open("#family=tree&p.height=4&cap=20&game=remat&strategies=cache-all;last-use&time=500");
  assert.equal(await page.locator("tr[data-key]").count(), 2);
  await by(page, "all-strategies").check();
  await ready(page);
  assert.equal(await line(page, "dtr/remat").count(), 1);
  assert.equal(await line(page, "keep/remat").count(), 0, "needs a file");
  assert.match((await by(page, "idle").textContent()) ?? "", /Not for this graph: .*chain/);
  await page.waitForFunction(() => location.hash.includes("&all=1"));
  await by(page, "all-strategies").uncheck();
  await ready(page);
  assert.equal(await page.locator("tr[data-key]").count(), 2);
});

test("every example opens, plans and plays", options, async () => {
  const page = await open("#example=chain");
  await by(page, "time").selectOption("500");
  await by(page, "picker").click();
  const ids = await page.locator(".example").evaluateAll((all) => all.map((one) => one.getAttribute("data-testid") ?? ""));
  await page.keyboard.press("Escape");
  assert.ok(ids.length >= 6, `there are ${ids.length} examples`);
  const places = new Set<string>();
  for (const id of ids) {
    await page.keyboard.press("g");
    const title = (await by(page, id).locator("b").textContent()) ?? "";
    await by(page, id).click();
    await page.waitForFunction((name) => document.querySelector("[data-testid=graph-name]")?.textContent === name && !document.querySelector(".cover.loading:not([hidden])"), title);
    await ready(page);
    places.add(await page.locator(".scenes").evaluate((scenes) => JSON.stringify(scenes.getBoundingClientRect())));
    // A slow machine may find no plan for thousands of nodes in this time; at the peak in program order there is one.
    const large = Number(((await by(page, "graph-size").textContent()) ?? "").replace(/\D/g, "")) > 5000;
    if (large) await setCap(page, "100%");
    assert.match((await by(page, "verdict-title").textContent()) ?? "", /wins/, `${title}: someone wins at the proposed cap`);
    const start = await step(page);
    await page.keyboard.press("ArrowRight");
    assert.notEqual(await step(page), start, title);
    await page.keyboard.press("End");
    const last = await step(page);
    assert.equal(last, await page.evaluate(() => window.pebble.playback.player!.frames.moveCount), title);
  }
  assert.deepEqual([...places], [[...places][0]], "the picture stays where it is, however long the text above and the legend below");
  assert.deepEqual(shared?.errors, []);
});

test("figures equal those of pebble compare", options, async () => {
  const graph = join(dir.dir, "figures.json");
  await run(["gen", "unet", "--depth", "2", "-o", graph]);
  const strategies = ["last-use", "sqrt", "chen", "dtr"];
  const weights = "0.5,0.000000003,2.25";
  const told = await compare(graph, ["--cap", "70%", "--game", "remat", "--strategy", strategies.join(","), "--weights", weights]);
  // Bounds are sharper with more time, so it must not run out on a slow machine.
  const page = await open(`#family=unet&p.depth=2&cap=70%25&game=remat&strategies=${strategies.join(";")}&weights=${weights}&time=60000`);
  for (const row of told.strategies) {
    const key = `${row.strategy}/remat`;
    assert.equal(await line(page, key).getAttribute("data-outcome"), row.outcome, key);
    if (!row.metrics) continue;
    const shown = await figures(page, key);
    for (const column of ["peak", "flux", "cost"]) assert.equal(shown[column], String(row.metrics[column]), `${key} ${column}`);
    assert.equal(shown.total, String(row.metrics.makespan), `${key} total`);
    assert.equal(Number(shown.extra), row.metrics.overhead, `${key} extra`);
    assert.equal(shown.operations, String(row.operations), `${key} operations`);
    assert.equal(Number(shown.gap), row.gap, `${key} gap`);
  }
  assert.match((await page.locator("tr.winner").getAttribute("data-key")) ?? "", new RegExp(`^${told.winner}/`));
});

test("playing, stepping, scrubbing and jumping to the peak", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=40%25&strategies=sqrt");
  const moves = await page.evaluate(() => window.pebble.playback.player!.frames.moveCount);
  await page.keyboard.press("Home");
  assert.equal(await step(page), 0);
  await page.keyboard.press("ArrowRight");
  await by(page, "forward").click();
  assert.equal(await step(page), 2);
  await by(page, "back").click();
  assert.equal(await step(page), 1);
  await by(page, "peak").click();
  const { peak, during } = await page.evaluate(() => {
    const frames = window.pebble.playback.player!.frames;
    return { peak: frames.peak, during: frames.during[window.pebble.playback.player!.step - 1] };
  });
  assert.equal(during, peak);
  const box = await by(page, "memory-chart").boundingBox();
  assert.ok(box);
  await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
  const middle = await step(page);
  assert.ok(Math.abs(middle - moves / 2) < moves / 5, `scrubbed to ${middle} of ${moves}`);
  await by(page, "speed").selectOption("64");
  await by(page, "play").click();
  await page.waitForFunction(() => !window.pebble.playback.playing);
  assert.equal(await step(page), moves);
});

test("lowering the cap makes the baseline fail, and the table shows where", options, async () => {
  const graph = join(dir.dir, "cap.json");
  await run(["gen", "adjoint-chain", "30", "-o", graph]);
  const page = await open("#family=adjoint-chain&p.steps=30&cap=100%25&game=remat&strategies=last-use;sqrt;chain");
  const baseline = line(page, "last-use/remat");
  assert.equal(await baseline.getAttribute("data-outcome"), "optimal");
  for (let tries = 0; tries < 20 && (await baseline.getAttribute("data-outcome")) !== "gave_up"; tries++) {
    await page.keyboard.press("[");
    await ready(page);
  }
  const cap = (await by(page, "cap-input").getAttribute("data-value")) ?? "";
  const told = await compare(graph, ["--cap", cap, "--game", "remat", "--strategy", "last-use,sqrt,chain"]);
  const text = (await baseline.getByTestId("reason").locator("span").textContent()) ?? "";
  assert.equal(`does not fit: ${text}`, told.strategies[0].reason);
  assert.match(text, /move \d+ .* over the cap/);
  const failed = baseline.getByTestId("show-failed");
  const name = (await failed.textContent()) ?? "";
  await failed.click();
  await page.waitForFunction((wanted) => document.querySelector("[data-testid=node-name]")?.textContent === wanted, name);
  await page.keyboard.press("Escape");
  await setCap(page, "3");
  assert.match((await by(page, "verdict-title").textContent()) ?? "", /No plan fits/);
  assert.match((await by(page, "status").textContent()) ?? "", /no plan found/);
  assert.ok(await by(page, "memory-chart").getAttribute("data-note"), "the empty chart says what it is for");
  await setCap(page, "none");
  assert.match((await by(page, "verdict-title").textContent()) ?? "", /program order wins/);
});

test("new weights re-rank the rows without planning, and the winner changes", options, async () => {
  const graph = join(dir.dir, "weights.json");
  await run(["gen", "adjoint-chain", "30", "-o", graph]);
  const page = await open("#family=adjoint-chain&p.steps=30&cap=60%25&game=remat&strategies=chain;recompute-all&weights=10,0,1");
  let jobs = 0;
  // The sweep in the background begins when the page has been quiet for a while, which is not for these weights.
  page.on("request", (request) => (jobs += request.method() === "POST" && request.postData()?.includes('"kind":"compare"') ? 1 : 0));
  const winner = (): Promise<string | null> => page.locator("tr.winner").getAttribute("data-key");
  assert.equal(await winner(), "chain/remat");
  await type(page, "weight-alpha", "1000.125");
  assert.equal(await winner(), "recompute-all/remat");
  assert.match((await by(page, "verdict-title").textContent()) ?? "", /recompute-all wins/);
  await page.waitForFunction(() => document.querySelector("[data-testid=plan-name]")?.textContent?.includes("recompute-all"));
  assert.equal(jobs, 0, "nothing was planned for that");
  const told = await compare(graph, ["--cap", "60%", "--game", "remat", "--strategy", "chain,recompute-all", "--weights", "1000.125,0,1"]);
  for (const row of told.strategies) {
    // Only the same plans cost the same: chain may plan otherwise for other weights.
    const shown = await figures(page, `${row.strategy}/remat`);
    if (row.metrics && shown.peak === String(row.metrics.peak) && shown.total === String(row.metrics.makespan)) assert.equal(shown.cost, String(row.metrics.cost));
  }
  assert.ok(await by(page, "plan-again").isVisible());
  await type(page, "weight-alpha", "x");
  assert.equal(await by(page, "weight-alpha").getAttribute("aria-invalid"), "true");
});

test("a broken file is rejected with line and column, and the graph is kept", options, async () => {
  const page = await open("#example=chain");
  const name = await by(page, "graph-name").textContent();
  const transfer = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['{"format":"pebble-graph/1",\n "nodes":[{"name":"a","size":1},\n {"name":}]}'], "broken.json"));
    return data;
  });
  await page.dispatchEvent("body", "drop", { dataTransfer: transfer });
  await by(page, "problem").waitFor();
  assert.match((await by(page, "problem").textContent()) ?? "", /broken\.json cannot be opened/);
  assert.match((await by(page, "problem-place").textContent()) ?? "", /Line 3/);
  assert.ok(((await by(page, "problem-text").textContent()) ?? "").length > 10);
  await by(page, "problem-close").click();
  assert.equal(await by(page, "graph-name").textContent(), name);
  assert.ok(await by(page, "play").isEnabled());
});

test("a file opens, and a link to it requires the file", options, async () => {
  const file = join(dir.dir, "mine.json");
  await run(["gen", "tree", "--height", "4", "-o", file]);
  const { page, close } = await load("", { picture: false });
  await by(page, "file-input").setInputFiles(file);
  await page.waitForFunction(() => document.querySelector("[data-testid=graph-size]")?.textContent === "31 nodes");
  await ready(page);
  await setCap(page, "80%");
  await page.waitForFunction(() => location.hash.includes("file=mine.json") && location.hash.includes("cap=80"));
  const hash = await page.evaluate(() => location.hash);
  await page.reload();
  await ready(page);
  assert.equal(await by(page, "graph-size").textContent(), "31 nodes", "this tab has the file still");
  assert.equal(await by(page, "cap-input").inputValue(), "80%");
  await close();
  assert.match(hash, /&graph=[\w-]+/, "the link contains a small graph");
  // A link without it, as of a larger file, requires the file.
  const other = await openPage(browser, server.address + hash.replace(/&graph=[\w-]+/, ""), { picture: false });
  await by(other.page, "problem").waitFor();
  assert.match((await by(other.page, "problem").textContent()) ?? "", /Open mine\.json to restore/);
  await by(other.page, "file-input").setInputFiles(file);
  await ready(other.page);
  assert.equal(await by(other.page, "cap-input").inputValue(), "80%");
  await other.close();
});

test("a link with a small graph inside shows the same moves in another browser profile", options, async () => {
  const file = join(dir.dir, "shared.json");
  await run(["gen", "layered", "--nodes", "60", "--seed", "7", "-o", file]);
  const moves = async (page: Page): Promise<string> => {
    await page.waitForFunction(() => window.pebble.settled() && window.pebble.playback.player);
    return page.evaluate(() => {
      const { op, node } = window.pebble.playback.player!.frames;
      return [...op].map((one, i) => `${one} ${node[i]}`).join();
    });
  };
  const first = await load("#family=chain&ticks=20000", { picture: false });
  await by(first.page, "file-input").setInputFiles(file);
  await page60(first.page);
  await setCap(first.page, "90%");
  await first.page.waitForFunction(() => /&graph=[\w-]+/.test(location.hash) && location.hash.includes("cap=90"));
  const hash = await first.page.evaluate(() => location.hash);
  const shown = await moves(first.page);
  const verdict = await by(first.page, "verdict").textContent();
  await first.close();
  const strange = await launch(); // another process with a profile of its own
  const second = await openPage(strange, server.address + hash, { picture: false });
  await ready(second.page);
  await page60(second.page);
  assert.ok((await moves(second.page)) === shown, "the same moves");
  assert.equal(await by(second.page, "verdict").textContent(), verdict);
  assert.equal(await by(second.page, "graph-name").textContent(), "shared.json");
  assert.deepEqual(second.errors, []);
  await strange.close();
});

test("planning is stopped, and the best plan so far is kept", options, async () => {
  const page = await open("#family=unet&p.depth=4&cap=60%25&game=remat&strategies=auto&time=500");
  await by(page, "time").selectOption("60000");
  await page.waitForFunction(() => document.querySelector(".status.busy") && document.querySelector("[data-testid=incumbent]")?.textContent !== "–");
  const before = Date.now();
  await by(page, "stop").click();
  await ready(page);
  assert.ok(Date.now() - before < 8000, "it stops soon");
  assert.match((await by(page, "status").textContent()) ?? "", /[Ss]topped/);
  assert.equal(await page.locator("tr[data-plan]").count(), 1);
});

test("an exported schedule passes pebble verify", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=40%25&game=remat&strategies=sqrt;chain");
  const save = async (id: string, name: string): Promise<string> => {
    await by(page, "export").click();
    const [download] = await Promise.all([page.waitForEvent("download"), by(page, id).click()]);
    const path = join(dir.dir, name);
    await download.saveAs(path);
    return path;
  };
  const graph = await save("export-graph", "g.json");
  const schedule = await save("export-schedule", "s.json");
  const { code, out, err } = await run(["verify", graph, schedule]);
  assert.equal(code, 0, out + err);
  const shown = await figures(page, "chain/remat");
  const written = JSON.parse(await readFile(schedule, "utf8")) as { metrics: Record<string, number | string> };
  assert.equal(String(written.metrics.peak), shown.peak);
  assert.equal(String(written.metrics.makespan), shown.total);
  const png = await readFile(await save("export-png", "p.png"));
  assert.equal(png.subarray(1, 4).toString(), "PNG");
  const svg = await readFile(await save("export-svg", "p.svg"), "utf8");
  assert.match(svg, /<svg/);
  await writeFile(schedule, JSON.stringify({ ...written, moves: [] }));
  assert.notEqual((await run(["verify", graph, schedule])).code, 0, "the check can fail");
});

test("a link restores the exact view", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=40%25&game=remat&strategies=last-use;sqrt;chain");
  await type(page, "weight-beta", "0.01");
  await line(page, "sqrt/remat").click();
  await page.waitForFunction(() => document.querySelector("[data-testid=plan-name]")?.textContent?.includes("sqrt"));
  for (let i = 0; i < 3; i++) await page.keyboard.press("+");
  await page.keyboard.press("Home");
  for (let i = 0; i < 7; i++) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("t");
  await still(page);
  await by(page, "link").click();
  const hash = await page.evaluate(() => location.hash);
  const camera = await page.evaluate(() => window.pebble.scene()!.view);
  const theme = await page.evaluate(() => document.documentElement.dataset.theme);
  const second = await load(hash);
  assert.equal(await step(second.page), 7);
  assert.equal(await by(second.page, "weight-beta").inputValue(), "0.01");
  assert.match((await by(second.page, "plan-name").textContent()) ?? "", /sqrt/);
  assert.equal(await second.page.evaluate(() => document.documentElement.dataset.theme), theme);
  const again = await second.page.evaluate(() => window.pebble.scene()!.view);
  for (const key of ["x", "y", "scale"] as const) assert.ok(Math.abs(again[key] - camera[key]) < 1e-3 * Math.max(1, Math.abs(camera[key])), key);
  await second.close();
});

test("a node is followed: its lifetimes and why it is recomputed", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=40%25&game=remat&strategies=chain");
  await page.keyboard.press("/");
  await by(page, "find-input").fill("x_5");
  await by(page, "find-input").press("Enter");
  await by(page, "inspector").waitFor();
  assert.equal(await by(page, "node-name").textContent(), "x_5");
  await page.waitForFunction(() => document.querySelectorAll("[data-testid=node-story] li").length >= 2);
  const story = (await by(page, "node-story").textContent()) ?? "";
  assert.match(story, /Recomputed at move \d+, because move \d+ needs it/);
  const move = by(page, "story-move").first();
  const wanted = Number(((await move.textContent()) ?? "").replace(/\D/g, ""));
  await move.click();
  assert.equal(await step(page), wanted + 1);
  assert.match((await by(page, "now").textContent()) ?? "", /compute x_5/);
  await page.keyboard.press("Escape");
  assert.ok(await by(page, "inspector").isHidden());
  await page.keyboard.press("f");
  await still(page);
  const place = await page.evaluate(() => {
    const box = document.querySelector("[data-testid=scene]")!.getBoundingClientRect();
    const [x, y] = window.pebble.scene()!.place(8);
    return { x: box.left + x, y: box.top + y };
  });
  await page.mouse.click(place.x, place.y);
  await page.waitForFunction(() => document.querySelector("[data-testid=node-name]")?.textContent === "x_8");
  await page.keyboard.press("Escape");
});

test("a generated graph opens from the form, which reports wrong numbers", options, async () => {
  const page = await open("#example=chain");
  await page.keyboard.press("n");
  await by(page, "generate-family").selectOption("grid");
  await by(page, "generate-rows").fill("none");
  await by(page, "generate-make").click();
  assert.match((await by(page, "generate-error").textContent()) ?? "", /rows must be a whole number/);
  await by(page, "generate-rows").fill("4");
  await by(page, "generate-cols").fill("6");
  await by(page, "generate-make").click();
  await page.waitForFunction(() => document.querySelector("[data-testid=graph-size]")?.textContent === "24 nodes");
  await ready(page);
});

test("the table sorts, the keyboard chooses rows, sheets open and close", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=60%25&game=remat&strategies=recompute-all;chain;sqrt&weights=2,0,1");
  const keys = (): Promise<string[]> => page.locator("tr[data-key]").evaluateAll((rows) => rows.map((row) => row.getAttribute("data-key") ?? ""));
  assert.equal((await keys())[0], "sqrt/remat");
  await by(page, "sort-peak").click();
  assert.equal((await keys())[0], "recompute-all/remat");
  await by(page, "sort-peak").click();
  assert.equal((await keys()).at(-1), "recompute-all/remat");
  await by(page, "sort-peak").click();
  await page.locator("body").click({ position: { x: 600, y: 20 } });
  await page.keyboard.press("2");
  await page.waitForFunction(() => document.querySelector("tr.shown")?.getAttribute("data-key") === "chain/remat");
  await page.keyboard.press("b");
  await page.waitForFunction(() => document.querySelector("tr.shown")?.getAttribute("data-key") === "sqrt/remat");
  await page.keyboard.press("n");
  await page.keyboard.press("Escape");
  await page.keyboard.press("?"); // at once: the field of the sheet before does not take it
  assert.ok(await by(page, "help-sheet").isVisible());
  await page.keyboard.press("Escape");
  assert.ok(await by(page, "help-sheet").isHidden());
  assert.deepEqual(shared?.errors, []);
});

test("every control has a name, and nothing overflows its panel at either size", options, async () => {
  const page = await open("#example=unet");
  const nameless = await page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("button, input:not([type=file]), select, [role=slider], canvas[tabindex]")]
      .filter((one) => !one.hidden && !(one.getAttribute("aria-label") || one.textContent?.trim() || (one as HTMLInputElement).labels?.length))
      .map((one) => one.outerHTML.slice(0, 120)),
  );
  assert.deepEqual(nameless, []);
  for (const size of [{ width: 1280, height: 800 }, { width: 1920, height: 1080 }]) {
    await page.setViewportSize(size);
    await still(page);
    const wide = await page.evaluate(() =>
      [".topbar", ".left", ".right", ".table-scroll", ".transport-line", ".stage", "html"].filter((css) => {
        const one = document.querySelector(css);
        return one !== null && one.scrollWidth > one.clientWidth + 1;
      }),
    );
    assert.deepEqual(wide, [], `at ${size.width} × ${size.height}`);
    const hidden = await page.evaluate(() => {
      const status = document.querySelector(".status")!.getBoundingClientRect();
      const gamma = document.querySelector("[data-testid=weight-gamma]")!.getBoundingClientRect();
      return gamma.bottom > status.top;
    });
    assert.ok(!hidden, `all knobs are in sight at ${size.width} × ${size.height}`);
  }
  for (const width of [900, 600]) {
    await page.setViewportSize({ width, height: 800 });
    const [inside, chart] = await page.evaluate(() => [
      document.documentElement.scrollWidth <= document.documentElement.clientWidth,
      document.querySelector("[data-testid=memory-chart]")!.getBoundingClientRect().height,
    ]);
    assert.ok(inside, `a window ${width} wide scrolls downwards alone`);
    assert.ok(Number(chart) > 80, "and has room for memory over time");
  }
  await page.setViewportSize({ width: 1280, height: 800 });
});

test("a server that is killed while planning is reported, and the page continues when it is back", { skip: options.skip || staticFolder !== null }, async () => {
  const file = join(dir.dir, "mortal.json"); // only the page has it when the server is another one
  await run(["gen", "unet", "--depth", "4", "-o", file]);
  const mortal = await startServer();
  const { page, close } = await openPage(browser, `${mortal.address}#family=chain&cap=100%25&strategies=sqrt&time=500`, { picture: false });
  await ready(page);
  await by(page, "file-input").setInputFiles(file);
  await page.waitForFunction(() => document.querySelector("[data-testid=graph-name]")?.textContent === "mortal.json");
  await ready(page);
  await by(page, "time").selectOption("60000");
  await page.waitForFunction(() => document.querySelector(".status.busy") && /auto/.test(document.querySelector("[data-testid=status]")?.textContent ?? "") && !window.pebble.loading()); // the other rows are there
  const plan = await by(page, "plan-name").textContent();
  await mortal.kill();
  await by(page, "server-banner").waitFor();
  assert.match((await by(page, "server-banner").textContent()) ?? "", /The server has stopped\. Start pebble ui again/);
  assert.equal(await page.locator(".status.busy").count(), 0, "nothing is planned any more");
  assert.match((await by(page, "status").textContent()) ?? "", /interrupted/);
  assert.equal(await by(page, "plan-name").textContent(), plan, "the last plan stays");
  const at = await step(page);
  await page.keyboard.press("ArrowRight");
  assert.equal(await step(page), at + 1, "and plays");
  await by(page, "server-retry").click();
  await page.waitForFunction(() => /does not answer yet/.test(document.querySelector("[data-testid=toast]")?.textContent ?? ""));
  const next = await startServer("--port", new URL(mortal.address).port);
  await by(page, "server-retry").click();
  await page.waitForFunction(() => /does not accept this page/.test(document.querySelector("[data-testid=server-banner]")?.textContent ?? ""));
  assert.match((await by(page, "server-banner").textContent()) ?? "", /Open the address that it prints/);
  const other = await page.context().newPage(); // as a user who follows that advice
  await withoutPicture(other);
  await other.goto(next.address);
  await by(page, "server-banner").waitFor({ state: "hidden" });
  await page.waitForFunction(() => document.querySelector(".status.busy"));
  assert.equal(await by(page, "graph-name").textContent(), "mortal.json");
  assert.equal(await step(page), at + 1, "the view is as it was");
  await by(page, "stop").click();
  await ready(page);
  await close();
  await next.stop();
});

test("a machine makes costs times, and its memories tiers", options, async () => {
  const page = await open("#family=unet&p.depth=2&cap=70%25&game=remat&strategies=last-use;sqrt;chen&time=500");
  const graph = join(dir.dir, "priced.json");
  await run(["gen", "unet", "--depth", "2", "-o", graph]);
  const told = await compare(graph, ["--cap", "70%", "--game", "remat", "--strategy", "last-use,sqrt,chen", "--machine", "a100-40"]);
  await by(page, "machine").selectOption("a100-40");
  await page.waitForFunction(() => /more time|extra time/.test(document.querySelector("[data-testid=verdict]")?.textContent ?? ""));
  await ready(page);
  for (const row of told.strategies) if (row.metrics) assert.equal((await figures(page, `${row.strategy}/remat`)).total, String(row.metrics.makespan));
  assert.match((await by(page, "machine-text").textContent()) ?? "", /NVIDIA A100.* tier 1: host, 25 GB\/s and 10.0 µs/);
  await page.waitForFunction(() => location.hash.includes("machine=a100-40"));
  await by(page, "machine-cap").click();
  await ready(page);
  assert.equal(await by(page, "cap-input").inputValue(), "37.3 GiB");

  const file = join(dir.dir, "three.json");
  const machine = {
    format: "pebble-machine/1", name: "three", time_unit: "ns", memories: [{ name: "a", cap: 1000 }, { name: "b" }, { name: "c" }],
    processors: [{ name: "p", memory: "a", rates: { other: 1_000_000_000 } }],
    links: ["b", "c"].flatMap((m, i) => [{ name: `o${i}`, from: "a", to: m, latency: 5 }, { name: `i${i}`, from: m, to: "a", latency: 5 }]),
  };
  await writeFile(file, JSON.stringify(machine));
  await by(page, "machine-file").setInputFiles(file);
  await page.waitForFunction(() => document.querySelector("[data-testid=machine-text]")?.textContent?.includes("tier 1: b, 5 ns · tier 2: c, 5 ns"));
  await ready(page);
  assert.ok(await by(page, "price-store_cost").isHidden(), "its links are the slow memory");
  await writeFile(file, '{"format":"pebble-graph/1"}');
  await by(page, "machine-file").setInputFiles(file);
  await by(page, "machine-error").waitFor();
  assert.match((await by(page, "machine-error").textContent()) ?? "", /not a machine file/);
});

test("invalid numbers are rejected with the reason, and the last valid value is kept", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=40%25&game=tiered&strategies=last-use&prices=1,1,0,0,none&time=500");
  const cases: [string, string, string, string[]][] = [
    ["cap-input", "cap-error", "40%", ["99999999999999999999GiB", "-1", "NaN", "", "1e3", "4parsec", "18446744073709551615"]],
    ["weight-alpha", "weights-error", "0", ["99999999999999999999", "-1", "NaN", "", "1e99", "1GiB"]],
    ["price-store_cost", "prices-error", "1", ["99999999999999999999", "-1", "NaN", "", "1e3", "1.5.2", "2KiB"]],
  ];
  for (const [id, error, good, texts] of cases) {
    for (const text of texts) {
      await type(page, id, text);
      assert.equal(await by(page, id).getAttribute("aria-invalid"), "true", `${id} ${text}`);
      const said = (await by(page, error).textContent()) ?? "";
      assert.ok(said.length > 20 && said.includes(text.slice(0, 5)), `${id} ${text}: ${said}`);
    }
    await by(page, id).evaluate((input: HTMLInputElement) => input.blur());
    assert.equal(await by(page, id).inputValue(), good, `${id} has its last good value again`);
    assert.ok(await by(page, error).isVisible(), "and the reason stays to be read");
  }
  assert.equal(await by(page, "cap-share").textContent(), "13 pebbles");
  assert.ok(!(await page.evaluate(() => location.hash)).includes("99999"), "nor is it in the link");
});

test("Enter applies and leaves the field, Escape restores the value; then the page handles keys", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=40%25&game=tiered&strategies=last-use;sqrt&prices=1,1,0,0,none&time=500");
  for (const [id, text, shown] of [["cap-input", "50%", "50%"], ["weight-beta", "0.5", "0.5"], ["price-load_cost", "0.5", "0.5"]]) {
    await type(page, id, text);
    await ready(page);
    const theme = await page.evaluate(() => document.documentElement.dataset.theme);
    await page.keyboard.press("t");
    assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), theme, `${id}: the key is a shortcut`);
    assert.equal(await by(page, id).inputValue(), shown, id);
    await by(page, id).fill("9999");
    await by(page, id).press("Escape");
    await page.keyboard.press("t");
    assert.equal(await by(page, id).inputValue(), shown, `${id} after Escape`);
  }
  await by(page, "speed").focus();
  await page.keyboard.press("Escape");
  await page.keyboard.press("m");
  assert.ok(await by(page, "cap-input").evaluate((input) => input === document.activeElement), "a list is left with Escape too");
  await by(page, "cap-input").press("Enter");
  assert.equal(await by(page, "cap-input").inputValue(), "50%", "a field that nobody has changed is left as it is");
  await by(page, "strategies-more").click();
  await type(page, "strategy-own", "every-k:j=2");
  assert.match((await by(page, "strategy-error").textContent()) ?? "", /every-k takes k.*not j/);
  await type(page, "strategy-own", "every-k:k=2");
  await ready(page);
  await page.keyboard.press("Home");
  assert.equal(await step(page), 0, "nor does the field of strategies keep the keys");
});

test("rows of one strategy differ by their settings, in the table and in files", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=3&strategies=auto;every-k:k=2;every-k&time=500");
  const names = (): Promise<string[]> => page.locator("tr[data-key] .name").allTextContents();
  assert.deepEqual(await names(), ["every-k:k=2", "every-k", "auto", "auto"]);
  await setCap(page, "60%");
  await line(page, "every-k:k=2/remat").click();
  await page.waitForFunction(() => document.querySelector("[data-testid=plan-name]")?.textContent === "plan of every-k:k=2");
  await by(page, "export").click();
  const [download] = await Promise.all([page.waitForEvent("download"), by(page, "export-schedule").click()]);
  assert.match(download.suggestedFilename(), /every-k-k=2\.json$/);
  await by(page, "chip-every-k").click();
  await ready(page);
  await by(page, "strategies-more").click();
  assert.ok(await by(page, "add-every-k").isVisible(), "the plain one can be added again");
  await page.keyboard.press("Escape");
});

test("if all is proved infeasible the page shows the lower bound, and the slider agrees", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=4&strategies=last-use;bennett;auto&time=500");
  assert.equal(await by(page, "verdict-title").textContent(), "No plan fits");
  const text = (await by(page, "verdict").textContent()) ?? "";
  assert.match(text, /proved: remat needs at least 5 pebbles, reversible at least \d+ pebbles\. Raise the cap to 5 pebbles or more\.$/);
  assert.match((await page.locator(".cap .foot").textContent()) ?? "", /Proved: nothing fits below 5 pebbles/);
  await by(page, "game-reversible").click();
  await ready(page);
  await setCap(page, "5");
  assert.doesNotMatch((await by(page, "verdict").textContent()) ?? "", /longer/);
  const least = /Raise the cap to (\d+) pebbles/.exec((await by(page, "verdict").textContent()) ?? "")?.[1];
  assert.ok(Number(least) >= 6);
  assert.match((await page.locator(".cap .foot").textContent()) ?? "", new RegExp(`nothing fits below ${least} pebbles`));
});

test("marks on the slider show where the winner among the shown rows changes", options, async () => {
  const page = await open("#family=adjoint-chain&p.steps=30&cap=60%25&game=remat&strategies=sqrt&time=500");
  const swept = (): Promise<unknown> => page.waitForFunction(() => /wins|changes at/.test(document.querySelector("[data-testid=cap-flips]")?.textContent ?? ""));
  await swept();
  assert.equal(await by(page, "cap-flip").count(), 0, "one row has nobody to lose to");
  await open("#family=adjoint-chain&p.steps=30&cap=60%25&game=remat&strategies=last-use;sqrt&time=500");
  await swept();
  const tips = await by(page, "cap-flip").evaluateAll((all) => all.map((one) => one.getAttribute("data-tip") ?? ""));
  assert.equal(tips.length, 1);
  assert.match(tips[0], /last-use is the cheapest; just below, sqrt is/);
});
