// Pictures of made-up graphs in both themes:  node run_tests.mjs --script dev/pictures.ts FOLDER [NAME...]

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Shape } from "./trial";
import { launch, trialPage } from "./browser";

interface Picture {
  name: string;
  shape: Shape;
  nodes: number;
  share: number;
  tiered?: boolean;
  at: number;
  zoom?: number;
  select?: number;
  play?: number;
}

const PICTURES: Picture[] = [
  { name: "training", shape: "training", nodes: 60, share: 0.5, at: 0.62, select: 14 },
  { name: "training-big", shape: "training", nodes: 1200, share: 0.3, at: 0.7 },
  { name: "tiered", shape: "layered", nodes: 300, share: 0.6, tiered: true, at: 0.6 },
  { name: "layered-1k", shape: "layered", nodes: 1000, share: 0.7, at: 0.55 },
  { name: "layered-1k-zoom", shape: "layered", nodes: 1000, share: 0.7, at: 0.55, zoom: 3.4, select: 480 },
  { name: "layered-100k", shape: "layered", nodes: 100000, share: 0.8, at: 0.6 },
  { name: "layered-100k-zoom", shape: "layered", nodes: 100000, share: 0.8, at: 0.6, zoom: 9 },
  { name: "tree", shape: "tree", nodes: 512, share: 1, at: 0.5 },
  { name: "chain", shape: "chain", nodes: 100, share: 0.6, at: 0.5 },
];

const [folder = "pictures", ...only] = process.argv.slice(2);
mkdirSync(folder, { recursive: true });
const browser = await launch();
for (const dark of [true, false]) {
  for (const p of PICTURES) {
    if (only.length > 0 && !only.includes(p.name)) continue;
    const page = await trialPage(browser, dark);
    const made = await page.evaluate((q) => window.trial.show(q.shape, q.nodes, q.share, q.tiered), p);
    await page.evaluate((q) => {
      const { player, scene, chart } = window.trial;
      if (!player) return;
      const goal = Math.round(player.frames.moveCount * q.at);
      player.seek(goal - Math.min(120, goal >> 1));
      scene.draw();
      player.seek(goal);
      chart.setStep(goal);
      if (q.zoom) scene.zoomBy(q.zoom);
      if (q.select !== undefined) scene.select(q.select);
    }, p);
    await page.waitForTimeout(p.nodes > 20000 ? 2500 : 450);
    const file = join(folder, `${p.name}-${dark ? "dark" : "light"}.png`);
    await page.screenshot({ path: file });
    console.log(`${file}: ${made.nodes} nodes, ${made.edges} edges, ${made.moves} moves`);
    await page.close();
  }
}
await browser.close();
