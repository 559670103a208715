// The page inside a file that `pebble export --as html` writes: plays its plans without the command and without a network.
import { h, icon } from "../dom";
import { installKeys } from "../keys";
import { CostBars } from "../panels/cost_bar";
import { Finder } from "../panels/find";
import { Hover } from "../panels/hover";
import { Inspector } from "../panels/inspector";
import { Legend } from "../panels/legend";
import { Scatter } from "../panels/scatter";
import { ComparisonTable } from "../panels/table";
import { Transport } from "../panels/transport";
import { WeightKnobs } from "../panels/weights";
import { peakStep, Playback } from "../playback";
import { plainPicture } from "../scene/picture";
import { Scene } from "../scene/scene";
import { Charts } from "../chart/show";
import { applyTheme, isDark, readTheme } from "../theme";
import { installTooltips } from "../tooltip";
import { readRecording, type Recording } from "./data";
import { Facts } from "./facts";
import { Replay } from "./replay";

function start(file: Recording): void {
  const playback = new Playback();
  let scene: Scene | null = null;
  let charts: Charts | null = null;
  const seek = (step: number): void => {
    playback.pause();
    playback.seek(step);
  };
  const focus = (node: number): void => scene?.focus(node);
  const replay = new Replay(file, { render, playerChanged, seek, focus });
  const model = replay.model;

  const themeButton = h("button", { type: "button", class: "quiet", "data-testid": "theme", "aria-label": "Light or dark", "data-tip": "Light or dark (T)", click: toggleTheme });
  const transport = new Transport(playback, playPause, (clock) => replay.setClock(clock), (memory) => replay.setMemory(memory));
  const legend = new Legend();
  const hover = new Hover();
  const inspector = new Inspector(replay);
  const finder = new Finder((node) => replay.follow(node, true));
  const table = new ComparisonTable(replay);
  const alone = file.rows.length === 1 && !file.sweep;
  const right = alone ? [] : [table, new Scatter(replay), new WeightKnobs(replay), new CostBars()];
  const panels = [new Facts(themeButton), ...right, legend, inspector, transport];

  const canvas = h("canvas", { class: "gl", tabindex: "0", "aria-label": "The graph. Press / to find a node by name.", "data-testid": "scene" });
  const overlay = h("canvas", { class: "labels", "aria-hidden": "true" });
  const problem = h("p", { class: "offline-problem", role: "alert", hidden: true });
  const tool = (name: string, label: string, key: string, act: () => void): HTMLElement =>
    h("button", { type: "button", class: "tool", "aria-label": label, "data-tip": `${label} (${key})`, click: act }, icon(name));
  const tools = h(
    "div",
    { class: "tools", role: "group", "aria-label": "View" },
    tool("target", "Find a node", "/", () => finder.open(file.layout)),
    tool("make", "Closer", "+", () => scene?.zoomBy(1.3)),
    tool("minus", "Farther", "-", () => scene?.zoomBy(1 / 1.3)),
    tool("fit", "Show the whole graph", "F", () => scene?.fit()),
  );

  function assemble(): void {
    const app = document.getElementById("app");
    app?.classList.add("offline");
    app?.classList.toggle("alone", alone);
    app?.replaceChildren(
      panels[0].element,
      h("main", { class: "stage" }, h("div", { class: "scene" }, canvas, overlay, hover.element, problem), h("div", { class: "stage-foot" }, legend.element, tools), alone ? inspector.element : null),
      ...(alone ? [] : [h("aside", { class: "right", "aria-label": "Comparison" }, ...right.map((panel) => panel.element), inspector.element)]),
      transport.element,
    );
  }

  function render(): void {
    for (const panel of panels) panel.update(model);
    scene?.select(model.following?.index ?? null);
  }

  function playerChanged(): void {
    playback.setPlayer(model.player);
    scene?.setPlayer(model.player);
    charts?.show(model);
    transport.drawStep();
  }

  function playPause(): void {
    // The first picture shows the peak; playing starts at the first move.
    if (!playback.playing && replay.atPoster) playback.seek(0);
    playback.toggle();
  }

  function setTheme(theme: "system" | "light" | "dark"): void {
    model.view = { ...model.view, theme };
    applyTheme(theme);
    const colours = readTheme(theme);
    scene?.setTheme(colours);
    charts?.setTheme(colours);
    themeButton.replaceChildren(icon(isDark(theme) ? "sun" : "moon"));
    render();
  }

  function toggleTheme(): void {
    setTheme(isDark(model.view.theme) ? "light" : "dark");
  }

  function showRow(index: number): void {
    const keys = table.keys();
    if (keys.length) replay.show(keys[Math.max(0, Math.min(keys.length - 1, index))]);
  }

  function row(by: number): void {
    showRow(table.shownIndex() + by);
  }

  function keys(): void {
    const moves = (): number => playback.player?.frames.moveCount ?? 0;
    const nothing = (): void => {};
    installKeys({
      playPause, fit: () => scene?.fit(), theme: toggleTheme, row, nthRow: showRow, find: () => finder.open(file.layout),
      stepBy: (by) => playback.stepBy(by),
      pageBy: (direction) => playback.stepBy(direction * Math.max(1, Math.round(moves() / 20))),
      first: () => seek(0),
      last: () => seek(moves()),
      peak: () => seek(model.frames ? peakStep(model.frames) : 0),
      faster: (direction) => playback.faster(direction),
      winner: () => replay.show(null),
      focusNode: () => model.following && focus(model.following.index),
      escape: () => replay.follow(null),
      sceneKey: (event) => event.key !== "0" && (scene?.handleKey(event) ?? false),
      nudgeCap: nothing, typeCap: nothing, weights: nothing, planAgain: nothing, stop: nothing, gallery: nothing, open: nothing, generate: nothing, exportMenu: nothing, link: nothing, help: nothing,
    });
  }

  function showScene(): void {
    const theme = readTheme("system");
    transport.charts = charts = new Charts(transport.chartHost, theme, replay, model);
    try {
      scene = new Scene(canvas, overlay, theme);
    } catch (reason) {
      // The memory chart, the table and the steps work without it.
      problem.hidden = false;
      problem.textContent = reason instanceof Error ? reason.message : String(reason);
      return;
    }
    scene.onSelect = (node) => replay.follow(node);
    scene.onHover = (node, x, y) => hover.show(model, node, x, y);
    scene.setPicture(plainPicture(file.layout));
  }

  function frame(now: number): void {
    playback.tick(now);
    scene?.draw();
    requestAnimationFrame(frame);
  }

  playback.onStep = () => {
    replay.stepped();
    transport.drawStep();
    inspector.drawStep(model);
  };
  playback.onState = () => transport.drawState();
  assemble();
  installTooltips();
  keys();
  showScene();
  setTheme("system");
  replay.show(null);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    if (model.view.theme === "system") setTheme("system");
  });
  requestAnimationFrame(frame);
  window.pebble = { scene: () => scene, playback, settled: () => true, loading: () => false, holdFrames: () => undefined };
}

declare global {
  interface Window {
    // For tests and measurements only.
    pebble: { scene: () => Scene | null; playback: Playback; settled: () => boolean; loading: () => boolean; holdFrames(until: () => Promise<void>): void };
  }
}

start(readRecording((name) => document.getElementById(`data-${name}`)?.textContent ?? null));
