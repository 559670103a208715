// The page: builds the panels, connects them to the controller, and draws frames when needed.
import "./style.css";
import { Api } from "./api";
import { Controller } from "./controller";
import { LocalCore } from "./core/local";
import { debounce, h } from "./dom";
import type { SheetCell } from "./export/sheet";
import { Exports } from "./exports";
import { ViewHistory } from "./history";
import { installKeys } from "./keys";
import { Charts } from "./chart/show";
import { BesidePanel } from "./panels/beside";
import { CapSlider } from "./panels/cap_slider";
import { CostBars } from "./panels/cost_bar";
import { Finder } from "./panels/find";
import { ReadingSheet } from "./panels/reading";
import { Spoken } from "./panels/spoken";
import { Gallery } from "./panels/gallery";
import { Generator } from "./panels/generator";
import { Help } from "./panels/help";
import { Hover } from "./panels/hover";
import { Inspector } from "./panels/inspector";
import { Knobs } from "./panels/knobs";
import { Legend } from "./panels/legend";
import { MachineKnob } from "./panels/machine";
import { Minimap } from "./panels/minimap";
import { Resident } from "./panels/resident";
import { Scatter } from "./panels/scatter";
import { ServerBanner } from "./panels/server_banner";
import { Stage } from "./panels/stage";
import { StatusPanel } from "./panels/status";
import { ComparisonTable } from "./panels/table";
import { Toasts } from "./panels/toast";
import { Tour } from "./panels/tour";
import { TopBar } from "./panels/topbar";
import { Transport } from "./panels/transport";
import { WeightKnobs } from "./panels/weights";
import { peakStep, Playback } from "./playback";
import { Scene } from "./scene/scene";
import { defaultView, fromFragment, galleryView, isBare, toFragment, type View } from "./store";
import { applyTheme, isDark, readTheme } from "./theme";
import { installTooltips } from "./tooltip";

/** The page of a static server names the core that it brings; the page of `pebble ui` has a server. */
const core = document.querySelector<HTMLMetaElement>('meta[name="pebble-core"]')?.content;
const api = new Api(core ? new LocalCore(new URL("core.js", document.baseURI).href, new URL(core, document.baseURI).href) : undefined);
const toasts = new Toasts();
const notify = toasts.notify.bind(toasts);
const playback = new Playback();
let scene: Scene | null = null;
let charts: Charts | null = null;
let owned = false; // the user has moved the camera
let renderDue = false;
let savedView: View | null = null;

const controller = new Controller(
  api,
  { render: renderSoon, layoutChanged, narrow: () => stage.canvas.clientWidth < 560, playerChanged, notify, seek: seekTo, play: playOpened, focus, askReading, view: () => presentView() },
  fromFragment(location.hash) ?? defaultView(),
  isBare(location.hash),
);
const model = controller.model;
const exportsOf = new Exports(api, model, notify);

const gallery = new Gallery(
  (item) => controller.open({ kind: "gallery", id: item.id }, galleryView(item, model.view)),
  (graph) => controller.openKnown(graph),
);
const generator = new Generator((family, parameters) => controller.open({ kind: "family", family, parameters }));
const help = new Help();
const finder = new Finder((node) => controller.follow(node, true));
const reading = new ReadingSheet();
const hover = new Hover();
const spoken = new Spoken(playback);
const past = new ViewHistory(() => saveSoon.cancel(), (view) => controller.restore(view));

const topbar = new TopBar({
  gallery: openGallery,
  openFile: (file) => controller.openFile(file),
  generate: openGenerator,
  exportPlan: (kind) => void exportsOf.plan(kind),
  exportGraph: () => void exportsOf.graph(),
  exportPicture: (kind) => {
    if (scene) void exportsOf.picture(kind, sheetCells(), readTheme(model.view.theme));
  },
  exportFilm: () => void exportsOf.film(playback, sheetCells, readTheme(model.view.theme)),
  exportCsv: (kind) => exportsOf.csv(kind),
  exportHtml: () => void exportsOf.html(),
  copyLink,
  toggleTheme,
  help: () => help.toggle(),
});
const cap = new CapSlider(controller);
const weights = new WeightKnobs(controller);
const table = new ComparisonTable(controller);
const legend = new Legend();
const inspector = new Inspector(controller);
const transport = new Transport(playback, playPause, (clock) => controller.setClock(clock), (memory) => controller.setMemory(memory));
const resident = new Resident(controller);
const minimap = new Minimap(readTheme(controller.model.view.theme), () => {
  owned = true;
  saveSoon();
});
const stage = new Stage(
  controller,
  { fit, zoom, gallery: openGallery, find: openFinder, tour: () => tour.start() },
  legend.element, hover.element, minimap.element, toasts.element, resident.element,
);
transport.tools.append(resident.toggle);
const beside = new BesidePanel(controller, playback, readTheme(controller.model.view.theme), stage.mainCell);
stage.mainCell.prepend(beside.main.head);
stage.mainCell.append(beside.main.strip);
stage.scenes.append(beside.element);
const tour = new Tour(controller, playback);
const left = [cap, new MachineKnob(controller), new Knobs(controller), weights, new StatusPanel(controller)];
const right = [table, new Scatter(controller), new CostBars()];
const banner = new ServerBanner(controller);
const panels = [banner, topbar, ...left, stage, beside, resident, legend, inspector, ...right, transport, spoken];

function assemble(): void {
  document.getElementById("app")?.replaceChildren(
    banner.element,
    topbar.element,
    h("aside", { class: "left", "aria-label": "Knobs" }, ...left.map((panel) => panel.element)),
    stage.element,
    h("aside", { class: "right", "aria-label": "Comparison" }, ...right.map((panel) => panel.element), inspector.element),
    transport.element,
  );
  stage.element.append(spoken.element);
  stage.canvas.setAttribute("aria-describedby", "scene-text");
}

function renderSoon(): void {
  if (renderDue) return;
  renderDue = true;
  queueMicrotask(() => {
    renderDue = false;
    for (const panel of panels) panel.update(model);
    scene?.select(model.following?.index ?? null);
    document.title = model.graph ? `${model.graph.name} · Pebble-Bridge` : "Pebble-Bridge";
    if (savedView !== model.view && model.phase === "ready") saveNow(); // a choice, at once: Back may follow
  });
}

function layoutChanged(): void {
  if (!scene || !model.picture) return;
  hover.show(model, null, 0, 0);
  scene.setPicture(model.picture);
  owned = model.view.camera !== null;
  if (model.view.camera) scene.view = { ...model.view.camera };
}

function playerChanged(): void {
  playback.setPlayer(model.player);
  playback.setOthers(model.beside.map((one) => one.player), model.view.clock);
  scene?.setPlayer(model.player);
  scene?.select(model.following?.index ?? null);
  charts?.show(model);
  transport.chartHost.classList.toggle("empty", !model.frames);
  transport.drawStep();
}

/** A node is followed, a closed group opens. */
function select(target: number | null): void {
  const nodes = model.layout?.nodeCount ?? 0;
  if (target !== null && target >= nodes) controller.openGroup(target - nodes, true);
  else controller.follow(target);
}

/** A graph that was just opened plays, unless the system asks for less motion. */
function playOpened(): void {
  if (!playback.player || playback.playing || document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  playback.seek(0);
  playback.play();
}

function askReading(name: string, open: string[], done: (how: string) => void): void {
  reading.ask(name, open, done);
}

function seekTo(step: number): void {
  playback.pause();
  playback.seek(step);
}

playback.onStep = () => {
  controller.stepped();
  transport.drawStep();
  beside.drawStep();
  resident.drawStep();
  spoken.drawStep();
  inspector.drawStep(model);
  if (!playback.playing) saveSoon();
};
playback.onState = () => {
  transport.drawState();
  spoken.drawState();
  saveSoon();
};

function playPause(): void {
  // The first picture shows the peak; playing starts at the first move.
  if (!playback.playing && controller.atPoster && playback.player) playback.seek(0);
  playback.toggle();
}

/** The graphs that are shown, for a picture of all. */
function sheetCells(): SheetCell[] {
  return scene ? [{ scene, row: model.shown, player: model.player }, ...beside.pictures()] : [];
}

function openGallery(): void {
  const source = model.view.source;
  if (model.about) gallery.open(model.about, model.opened, source?.kind === "gallery" ? source.id : null);
}

function openGenerator(): void {
  if (!model.about) return;
  const source = model.view.source;
  if (source?.kind === "family") generator.open(model.about, source.family, source.parameters);
  else {
    const example = source?.kind === "gallery" ? model.about.gallery.find((item) => item.id === source.id) : undefined;
    generator.open(model.about, example?.family, example?.parameters);
  }
}

function openFinder(): void {
  if (model.layout) finder.open(model.layout);
}

function fit(): void {
  owned = false;
  model.view = { ...model.view, camera: null };
  scene?.fit();
  saveSoon();
}

function zoom(factor: number): void {
  owned = true;
  scene?.zoomBy(factor);
  saveSoon();
}

function focus(node: number): void {
  owned = true;
  scene?.focus(node);
}

/** The current view, with the playhead and the camera. */
function presentView(): View {
  const now = scene?.view;
  return {
    ...model.view,
    step: controller.atPoster || playback.playing ? null : (model.player?.step ?? model.view.step),
    camera: owned && now ? { x: now.x, y: now.y, scale: now.scale } : null,
  };
}

function saveNow(): void {
  if (!model.view.source || model.phase === "opening") return;
  saveSoon.cancel();
  savedView = model.view;
  past.save(presentView(), controller.autoCap);
}

const saveSoon = debounce(300, saveNow);

function copyLink(): void {
  if (!model.view.source) return;
  saveNow();
  const fragment = toFragment(presentView());
  void exportsOf.link(location.origin + location.pathname + fragment);
}

function toggleTheme(): void {
  setTheme(isDark(model.view.theme) ? "light" : "dark");
}

function setTheme(theme: View["theme"]): void {
  model.view = { ...model.view, theme };
  applyTheme(theme);
  const colours = readTheme(theme);
  scene?.setTheme(colours);
  charts?.setTheme(colours);
  beside.setTheme(colours);
  minimap.setTheme(colours);
  renderSoon();
}

function installDrop(): void {
  const holds = (event: DragEvent): boolean => !!event.dataTransfer?.types.includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) document.body.classList.remove("dropping");
  });
  document.addEventListener("drop", (event) => {
    document.body.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (!file) return;
    event.preventDefault();
    controller.openFile(file);
  });
}

/** After a click the page gets the keys again, so that Space plays. Keyboard users keep their focus. */
function installFocusRelease(): void {
  let pointed = false;
  document.addEventListener("pointerdown", () => (pointed = true), true);
  document.addEventListener("keydown", () => (pointed = false), true);
  const release = (event: Event): void => {
    const control = event.target instanceof Element ? event.target.closest("button, select, summary") : null;
    if (!pointed || !(control instanceof HTMLElement) || control.closest("dialog, .menu-host, .more")) return;
    if (event.type === "change" || !(control instanceof HTMLSelectElement)) control.blur();
  };
  document.addEventListener("click", release);
  document.addEventListener("change", release);
}

function showRow(index: number): void {
  const keys = table.keys();
  if (keys.length) controller.show(keys[Math.max(0, Math.min(keys.length - 1, index))]);
}

function installAllKeys(): void {
  const moves = (): number => playback.player?.frames.moveCount ?? 0;
  installKeys({
    playPause,
    stepBy: (by) => playback.stepBy(by),
    pageBy: (direction) => playback.stepBy(direction * Math.max(1, Math.round(moves() / 20))),
    first: () => seekTo(0),
    last: () => seekTo(moves()),
    peak: () => seekTo(model.frames ? peakStep(model.frames) : 0),
    faster: (direction) => playback.faster(direction),
    nudgeCap: (direction) => cap.nudge(direction),
    typeCap: () => cap.focus(),
    weights: () => weights.element.querySelector("input")?.focus(),
    planAgain: () => controller.planAgain(),
    stop: () => controller.stop(),
    row: (by) => showRow(table.shownIndex() + by),
    nthRow: showRow,
    winner: () => controller.show(null),
    fit,
    find: openFinder,
    focusNode: () => {
      if (model.following) focus(model.following.index);
    },
    escape: () => (model.problem ? controller.dismissProblem() : controller.follow(null)),
    gallery: openGallery,
    open: () => topbar.openDialog(),
    generate: openGenerator,
    exportMenu: () => topbar.exportMenu.open(),
    link: copyLink,
    theme: toggleTheme,
    resident: () => resident.toggle.click(),
    help: () => help.toggle(),
    sceneKey: (event) => {
      const moved = event.key !== "0" && (scene?.handleKey(event) ?? false);
      owned ||= moved;
      return moved;
    },
  });
}

function installScene(): void {
  const theme = readTheme(model.view.theme);
  transport.charts = charts = new Charts(transport.chartHost, theme, controller, model);
  try {
    scene = new Scene(stage.canvas, stage.overlay, theme);
  } catch (reason) {
    notify(reason instanceof Error ? reason.message : String(reason), "error");
    return;
  }
  scene.onSelect = (target) => select(target);
  scene.onHover = (target, x, y, item) => hover.show(model, target, x, y, item);
  const take = (): void => {
    owned = true;
    saveSoon();
  };
  stage.canvas.addEventListener("wheel", take, { passive: true });
  stage.canvas.addEventListener("pointermove", (event) => {
    if (event.buttons) take();
  });
  new ResizeObserver(() => {
    if (!owned) scene?.fit();
    controller.fitLayout();
  }).observe(stage.canvas);
}

function frame(now: number): void {
  playback.tick(now);
  scene?.draw();
  minimap.frame(scene);
  beside.frame(scene);
  requestAnimationFrame(frame);
}

applyTheme(model.view.theme);
assemble();
installTooltips();
installDrop();
installAllKeys();
installFocusRelease();
installScene();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  if (model.view.theme === "system") setTheme("system");
});
document.addEventListener("visibilitychange", () => {
  if (model.server !== "up" && !document.hidden) void api.watch.check(); // do not wait for the next retry when the user returns
});
addEventListener("hashchange", (event) => {
  if (past.returned) return; // it has the view already
  // The address may have changed since: the event has the requested one.
  const { hash } = new URL(event.newURL);
  const view = fromFragment(hash);
  if (!view?.source) return;
  saveSoon.cancel();
  setTheme(view.theme);
  controller.open(view.source, isBare(hash) ? undefined : view);
});
renderSoon();
requestAnimationFrame(frame);
void controller.start();

// For tests and measurements only.
declare global {
  interface Window {
    pebble: { scene: () => Scene | null; playback: Playback; settled: () => boolean; loading: () => boolean; holdFrames(until: () => Promise<void>): void };
  }
}
window.pebble = {
  scene: () => scene, playback, settled: () => controller.settled && !cap.pending, loading: () => controller.isLoading,
  holdFrames: (until) => {
    api.beforeFrames = until;
  },
};
