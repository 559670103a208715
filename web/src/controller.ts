// The controller: it changes the model, starts jobs and makes the panels redraw.
import { Api, ApiError, type About, type GameName, type GraphInfo, type Prices, type Row, type WeightTexts } from "./api";
import { Beside, toggled } from "./beside";
import { decodeFrames, decodeLayout, Names, type Layout } from "./binary";
import { whole } from "./exact";
import { isTime } from "./format";
import { chosen as chosenMachine, type MachineChoice } from "./machine";
import { idlePlanning, isPlanning, rank, type Actions, type Model } from "./model";
import { nodeExplain } from "./offline/details";
import { Planner } from "./planner";
import { peakStep } from "./playback";
import { Player } from "./player";
import { minCap } from "./proved";
import { closedPicture, plainPicture, type Picture } from "./scene/picture";
import { packGraph, PACKED_NODES, unpackGraph } from "./packed";
import { named, type GraphDocument } from "./edit";
import { openDimensions } from "./reading";
import { closesGroups, defaultView, galleryView, STRATEGIES_TIMED, type Source, type View } from "./store";
import { playable, rowKey } from "./words";

export interface ControllerEvents {
  render(): void;
  layoutChanged(): void;
  narrow(): boolean; // the picture is small
  playerChanged(): void;
  notify(text: string, kind?: "note" | "error"): void;
  seek(step: number): void;
  play(): void; // the plan of a graph that was just opened
  focus(node: number): void;
  askReading(name: string, open: string[], done: (reading: string) => void): void; // of a model; `open`: dimensions without a size
  view(): View; // the current view, with the playhead and the camera
}

/** The caps to try for a new graph until one has a plan. Values of chains and trees are read once, so program order already has the
 * smallest peak; other graphs too may need more than a part of it. */
export function proposedCaps(graph: GraphInfo): string[] {
  const min = minCap(graph, { game: null, prices: null }, {});
  const peak = whole(graph.written_peak);
  if (graph.shape === "chain" || graph.shape.includes("tree")) return ["100%", "none"];
  return [60n, 75n, 90n].filter((share) => 100n * min <= share * peak).map((share) => `${share}%`).concat("100%", "none");
}

/** What planning depends on: if none of it changes, the rows are still valid. */
function planKey({ game, cap, strategies, all, policy, machine, prices, borrow, timeMs, ticks }: View): string {
  return JSON.stringify([game, cap, strategies, all, policy, machine, prices, borrow, timeMs, ticks]);
}

function sameSource(a: Source | null, b: Source | null): boolean {
  const key = (one: Source | null): string => JSON.stringify(one?.kind === "file" ? [one.hash, one.reading] : one);
  return key(a) === key(b);
}

export class Controller implements Actions {
  readonly model: Model;
  readonly planner: Planner;
  private readonly beside: Beside;
  private opening: AbortController | null = null;
  private loading: AbortController | null = null;
  private drawing: AbortController | null = null;
  private detailsRequest: AbortController | null = null;
  private playing: string | null = null; // the plan that is shown or being loaded
  private loaded: string | null = null;
  private poster = true; // the user has not chosen a step: show the peak
  private pendingStep: number | null = null; // from a link, used once
  private reading: { hash: string; how: string | undefined } | null = null; // of the last opened file
  private caps: string[] = []; // still to be tried if no plan fits the proposed one
  private opened = false; // plays once it can
  autoCap = false; // the cap was proposed by the page
  private file: { file: File; hash: string } | null = null; // the last opened file, to upload again if the server was restarted

  constructor(readonly api: Api, private readonly on: ControllerEvents, view: View, private readonly bare: boolean) {
    this.model = {
      server: "up", about: null, opened: [], view, phase: "starting", opening: "", problem: null, graph: null, layout: null, picture: null, planning: idlePlanning(),
      entries: [], planWeights: [...view.weights], shown: null, frames: null, player: null, proved: {}, sweep: null, sweeping: false, following: null, beside: [],
    };
    this.beside = new Beside(api, this.model, () => {
      on.playerChanged();
      on.render();
      this.fitLayout();
      this.playOpened();
    });
    this.planner = new Planner(api, this.model, () => on.render(), (done) => this.rowsArrived(done), (text) => on.notify(text, "error"));
    api.watch.onChange = (state) => {
      this.model.server = state;
      if (state === "up") void this.recover();
      else this.planner.lost();
      on.render();
    };
  }

  private async meet(): Promise<About> {
    const about = (this.model.about = await this.api.about());
    const opened = await Promise.allSettled(about.opened.map((id) => this.api.graph(id)));
    this.model.opened = opened.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    return about;
  }

  async start(): Promise<void> {
    let about: About;
    try {
      about = await this.meet();
    } catch (reason) {
      return this.fail("The page cannot start", reason);
    }
    const { view } = this.model;
    if (view.source) this.open(view.source, this.bare ? undefined : view);
    else if (this.model.opened.length) this.openKnown(this.model.opened[0]);
    else if (about.gallery.length) this.open({ kind: "gallery", id: about.gallery[0].id });
    else {
      this.model.phase = "ready";
      this.on.render();
    }
  }

  retry(): void {
    void this.api.watch.check().then((state) => {
      if (state === "down") this.on.notify("The server does not answer yet.", "error");
      if (state === "refused") this.on.notify("The server still does not accept this page.", "error");
    });
  }

  /** The server is back. It may be the same process, or a new one without this graph. */
  private async recover(): Promise<void> {
    const model = this.model;
    const graph = model.graph;
    if (!model.about || !graph || model.phase !== "ready") return this.start();
    const view = this.on.view();
    try {
      const known = await this.api.graph(graph.id).catch((reason: unknown) => {
        if (reason instanceof ApiError && [404, 410].includes(reason.status)) return null;
        throw reason;
      });
      if (known?.hash === graph.hash) {
        if (model.planning.state === "lost") this.planner.compare();
        return;
      }
      await this.meet();
      const source = view.source;
      const held = this.file;
      if (source?.kind === "file" && held?.hash === source.hash) await this.load(source.name, view, (signal) => this.api.openFile(held.file, source.reading, signal));
      else if (source) this.open(source, view);
    } catch (reason) {
      if (model.server === "up") this.fail("The server no longer has this graph", reason);
    }
  }

  private fail(title: string, reason: unknown): void {
    const body = reason instanceof ApiError ? reason.body : { message: String(reason) };
    this.model.phase = this.model.graph ? "ready" : "failed";
    this.model.problem = { title, body };
    this.on.render();
  }

  open(source: Source, view?: View): void {
    const about = this.model.about;
    if (source.kind === "gallery") {
      const item = about?.gallery.find((one) => one.id === source.id);
      if (!item) return this.fail("No such example", new ApiError(404, { message: `There is no example called ${source.id}. Press G for the list.` }));
      const next = view ?? galleryView(item, this.model.view);
      return void this.load(item.title, next, (signal) => this.api.openGallery(item.id, signal));
    }
    if (source.kind === "family") {
      const next = view ?? { ...defaultView(), theme: this.model.view.theme, ...this.effort(), cap: "", source };
      return void this.load(source.family, next, (signal) => this.api.generate(source.family, source.parameters, signal));
    }
    this.model.phase = "opening"; // at once, so that the address is not written with the view that is left
    this.model.opening = source.name;
    void this.reopen(source, view ?? this.model.view);
  }

  /** The server may still have the file: from the command line, or opened in this tab. */
  private async reopen(source: { name: string; hash: string; data?: string }, view: View): Promise<void> {
    const known = this.model.opened.find((one) => one.hash === source.hash)?.id ?? sessionStorage.getItem(`pebble-file-${source.hash}`);
    try {
      if (!known) throw new Error("unknown");
      const graph = await this.api.graph(known);
      if (graph.hash !== source.hash) throw new Error("another");
      await this.load(graph.name, view, () => Promise.resolve(graph));
    } catch {
      this.model.view = view;
      const inside = source.data ? await unpackGraph(source.data).catch(() => null) : null;
      if (inside !== null) return this.load(source.name, view, (signal) => this.api.openFile(new File([inside], source.name), "", signal));
      this.fail("This link is to a file", new ApiError(0, { message: `A link does not contain the file. Open ${source.name} to restore the view.` }));
    }
  }

  /** `reading`: how to read a model; without it the page asks. */
  openFile(file: File, reading?: string): void {
    const awaited = this.model.view.source;
    // The other choices of a link to a file are applied when the file is opened.
    const restore = awaited?.kind === "file" && this.model.graph === null;
    const how = reading ?? (restore ? awaited.reading : undefined);
    if (how === undefined && /\.onnx$/i.test(file.name)) return void this.askReading(file);
    const base = restore ? this.model.view : { ...defaultView(), theme: this.model.view.theme, ...this.effort(), cap: "" };
    void this.load(file.name, base, async (signal) => {
      const graph = await this.api.openFile(file, how, signal);
      this.file = { file, hash: graph.hash };
      this.reading = { hash: graph.hash, how };
      return graph;
    });
  }

  /** Asks how to read a model: the error of a first attempt names the dimensions that it leaves open. */
  private async askReading(file: File): Promise<void> {
    try {
      await this.api.openFile(file);
      this.on.askReading(file.name, [], (reading) => this.openFile(file, reading));
    } catch (reason) {
      const open = reason instanceof ApiError ? openDimensions(reason.body.message) : [];
      if (open.length) this.on.askReading(file.name, open, (how) => this.openFile(file, how));
      else this.fail(`${file.name} cannot be opened`, reason);
    }
  }

  /** Opens the graph with a change made by hand; `change` returns the node to follow. Back undoes it. */
  async edit(change: (graph: GraphDocument) => string | null): Promise<void> {
    const { graph, view } = this.model;
    if (!graph) return;
    const { blob } = await this.api.graphFile(graph.id);
    const document = named(await blob.text());
    const followed = change(document);
    const node = document.nodes.findIndex((one) => one.name === followed);
    const name = `${graph.name.replace(/(, changed)?\.json$/i, "")}, changed.json`;
    const file = new File([JSON.stringify(document)], name, { type: "application/json" });
    const next = { ...view, source: null, step: null, camera: null, open: [], node: node < 0 ? null : node };
    await this.load(name, next, async (signal) => {
      const changed = await this.api.openFile(file, "", signal);
      this.file = { file, hash: changed.hash };
      return changed;
    });
  }

  /** A graph that the server already has. */
  openKnown(graph: GraphInfo): void {
    const view = { ...defaultView(), theme: this.model.view.theme, ...this.effort(), cap: "" };
    void this.load(graph.name, view, () => Promise.resolve(graph));
  }

  /** Opens a graph; the previous one is shown until then. */
  private async load(name: string, view: View, fetchGraph: (signal: AbortSignal) => Promise<GraphInfo>): Promise<void> {
    this.opening?.abort();
    const opening = (this.opening = new AbortController());
    const model = this.model;
    model.phase = "opening";
    model.opening = name;
    model.problem = null;
    this.on.render();
    try {
      const graph = await fetchGraph(opening.signal);
      if (opening.signal.aborted) return;
      this.adoptGraph(graph, view);
      this.planner.compare(); // plans while the layout is loading
      const [layout, names] = await Promise.all([
        this.api.layout(graph.id, view.lanes, null, opening.signal),
        this.api.names(graph.id, opening.signal),
      ]);
      if (opening.signal.aborted) return;
      const whole = decodeLayout(layout, new Names(names));
      model.picture = await this.draw(graph, whole, opening.signal);
      if (opening.signal.aborted) return;
      model.layout = whole;
      model.phase = "ready";
      this.on.layoutChanged();
      this.on.playerChanged();
      this.choosePlan(!isPlanning(model));
      if (view.node !== null && view.node < graph.nodes) this.follow(view.node);
      void this.packFile(graph);
      this.on.render();
    } catch (reason) {
      if (!opening.signal.aborted) this.fail(`${name} cannot be opened`, reason);
    }
  }

  /** A small file becomes part of the link. */
  private async packFile(graph: GraphInfo): Promise<void> {
    const now = (): Source | null => this.model.view.source;
    if (now()?.kind !== "file" || graph.nodes > PACKED_NODES) return;
    const { blob } = await this.api.graphFile(graph.id);
    const data = await packGraph(await blob.text());
    const source = now();
    if (data === null || source?.kind !== "file" || source.hash !== graph.hash) return;
    this.model.view = { ...this.model.view, source: { ...source, data } };
    this.on.render();
  }

  private adoptGraph(graph: GraphInfo, view: View): void {
    const model = this.model;
    this.planner.drop();
    if (model.graph?.hash !== graph.hash) model.proved = {};
    delete model.proved.tiered; // it depends on the prices
    model.graph = { ...graph, node_cost_unit: graph.cost_unit };
    this.autoCap = view.cap === "";
    this.caps = this.autoCap ? proposedCaps(graph) : [];
    if (this.autoCap) view = { ...view, cap: this.caps.shift() ?? "none" };
    this.opened = view.step === null;
    if (!view.source || view.source.kind === "file") sessionStorage.setItem(`pebble-file-${graph.hash}`, graph.id);
    const how = this.reading?.hash === graph.hash ? this.reading.how : undefined;
    model.view = view.source ? view : { ...view, source: { kind: "file", name: graph.name, hash: graph.hash, ...(how ? { reading: how } : {}) } };
    model.layout = model.picture = null;
    model.entries = [];
    model.sweep = null;
    model.shown = model.frames = model.player = null;
    this.beside.clear();
    this.loading?.abort();
    this.playing = this.loaded = null;
    model.following = null;
    this.pendingStep = view.step;
    this.poster = view.step === null;
  }

  /** The picture that the view asks for: of all nodes, or with closed groups. */
  private async draw(graph: GraphInfo, whole: Layout, signal: AbortSignal): Promise<Picture> {
    const { view } = this.model;
    if (!closesGroups(view, graph, this.on.narrow())) return plainPicture(whole);
    const open = view.open.filter((group) => group < whole.groupCount);
    return closedPicture(await this.api.layout(graph.id, view.lanes, open, signal), whole);
  }

  /** Draws again, where the view asks for another picture. */
  async setLayout(change: Partial<Pick<View, "lanes" | "groups" | "open">>): Promise<void> {
    const { model } = this;
    const lanes = change.lanes !== undefined && change.lanes !== model.view.lanes;
    model.view = { ...model.view, ...change };
    const { graph, layout } = model;
    if (!graph || !layout) return;
    this.drawing?.abort();
    const drawing = (this.drawing = new AbortController());
    try {
      const whole = lanes ? decodeLayout(await this.api.layout(graph.id, model.view.lanes, null, drawing.signal), layout.names) : layout;
      const picture = await this.draw(graph, whole, drawing.signal);
      if (drawing.signal.aborted || model.graph?.id !== graph.id) return;
      model.layout = whole;
      model.picture = picture;
      this.on.layoutChanged();
      this.on.playerChanged();
    } catch (reason) {
      if (!drawing.signal.aborted) this.on.notify(reason instanceof Error ? reason.message : String(reason), "error");
    }
    if (this.drawing === drawing) this.drawing = null;
    this.on.render();
    this.playOpened();
  }

  openGroup(group: number, open: boolean): void {
    const others = this.model.view.open.filter((one) => one !== group);
    void this.setLayout({ groups: "closed", open: open ? [...others, group] : others });
  }

  /** The window became narrow or wide, or plans play side by side: groups may close. */
  fitLayout(): void {
    const { graph, picture, view } = this.model;
    if (graph && picture && (picture.item !== null) !== closesGroups(view, graph, this.on.narrow())) void this.setLayout({});
  }

  dismissProblem(): void {
    this.model.problem = null;
    if (this.model.phase === "failed") this.model.phase = "ready";
    this.on.render();
  }

  setCap(text: string): void {
    if (text === this.model.view.cap) return;
    this.change({ cap: text });
  }

  setGame(game: GameName | null): void {
    const about = this.model.about;
    const plays = (name: string): boolean => !game || !!about?.strategies.find((one) => one.name === name.split(":")[0])?.games.includes(game);
    const asked = this.model.view.strategies;
    const strategies = game === "timed" && !asked.some((name) => name !== "auto" && plays(name)) ? [...STRATEGIES_TIMED] : asked.some(plays) ? asked : [...asked, "auto"];
    const free: Prices = { store_cost: 1, load_cost: 1, store_per_unit: 0, load_per_unit: 0, slow_cap: "none" };
    const prices = game === "tiered" ? (this.model.view.prices ?? free) : this.model.view.prices;
    this.change({ game, strategies, prices, shown: null, ...(game === "timed" ? this.withLanes() : {}) });
    this.model.sweep = null;
  }

  /** The timed game needs the lanes of a machine. */
  private withLanes(): Partial<View> {
    const { view, graph, about } = this.model;
    if (view.machine ? view.machine.name !== "none" : graph?.machine) return {};
    const name = graph && (graph.cost_unit === "flop" || isTime(graph.cost_unit)) ? "a100-40" : "red-blue";
    const machine = about?.machines.find((one) => one.name === name);
    if (!machine) return {};
    this.on.notify(`The timed game needs the lanes of a machine: ${name} was chosen. Others are in the list of machines.`);
    return { machine: chosenMachine(machine) };
  }

  setStrategies(strategies: string[]): void {
    this.change({ strategies, shown: null });
  }

  setAll(all: boolean): void {
    this.change({ all });
  }

  setPolicy(policy: string | null): void {
    this.change({ policy });
  }

  setPrices(prices: Prices | null): void {
    delete this.model.proved.tiered; // it depends on the size of slow memory
    this.change({ prices });
  }

  setBorrow(borrow: string | null): void {
    this.model.sweep = null;
    this.change({ borrow });
  }

  setMachine(machine: MachineChoice | null): void {
    delete this.model.proved.tiered; // it depends on the size of slow memory
    this.model.sweep = null;
    this.change({ machine, shown: null });
  }

  /** A limit in time, or in ticks, with which everyone gets the same plans. */
  setEffort(effort: { timeMs: number } | { ticks: number }): void {
    this.change("ticks" in effort ? effort : { ...effort, ticks: null });
  }

  private effort(): Pick<View, "timeMs" | "ticks"> {
    const { timeMs, ticks } = this.model.view;
    return { timeMs, ticks };
  }

  /** Re-ranks the existing rows without planning. */
  setWeights(weights: WeightTexts): void {
    this.model.view = { ...this.model.view, weights };
    this.choosePlan(true);
    this.on.render();
  }

  planAgain(): void {
    this.planner.compare();
  }

  stop(): void {
    this.planner.stop().catch((reason) => this.on.notify(String(reason), "error"));
  }

  private change(some: Partial<View>): void {
    this.autoCap = false;
    this.caps = [];
    this.model.view = { ...this.model.view, ...some };
    this.planner.compare();
  }

  /** Back to an earlier view, which may be of another graph. */
  restore(view: View): void {
    const { model } = this;
    const before = model.view;
    if (!view.source || !model.graph || model.phase === "opening" || !sameSource(view.source, before.source)) {
      if (view.source) this.open(view.source, view);
      return;
    }
    const { theme, memory, clock, place, node } = before;
    const prices = JSON.stringify([before.prices, before.machine]) !== JSON.stringify([view.prices, view.machine]);
    if (prices) delete model.proved.tiered;
    this.autoCap = false;
    this.caps = [];
    model.view = { ...view, theme, memory, clock, place, node };
    if (planKey(before) !== planKey(view)) {
      model.sweep = null;
      this.planner.compare();
    } else this.choosePlan(true);
    const layout = ({ lanes, groups, open }: View): string => JSON.stringify([lanes, groups, open]);
    if (layout(before) !== layout(view)) void this.setLayout({});
    this.on.render();
  }

  /** With no plan at a proposed cap, the next one is tried. */
  private rowsArrived(done: boolean): void {
    const { model } = this;
    const next = this.caps[0];
    if (done && next !== undefined && model.planning.state === "done" && rank(model).fresh.every((row) => !row.metrics)) {
      this.caps.shift();
      model.view = { ...model.view, cap: next };
      return this.planner.compare();
    }
    this.choosePlan(done);
    this.playOpened();
  }

  private playOpened(): void {
    if (!this.opened || !this.settled || !this.model.player) return;
    this.opened = false;
    if (this.poster) this.on.play();
  }

  show(key: string | null): void {
    const { view, shown } = this.model;
    const beside = view.beside.map((one) => (one === key && shown ? rowKey(shown) : one)); // they change places
    this.model.view = { ...view, shown: key, beside };
    this.choosePlan(true);
    this.on.render();
  }

  setMemory(memory: View["memory"]): void {
    this.model.view = { ...this.model.view, memory };
    this.on.playerChanged();
    this.on.render();
  }

  setPlace(place: number): void {
    this.model.view = { ...this.model.view, place };
    this.on.playerChanged();
    this.on.render();
  }

  /** Shows the plan of the chosen row, else of the winner; an old plan is shown until the new one is loaded. */
  private choosePlan(done: boolean): void {
    const model = this.model;
    const { fresh, winner } = rank(model);
    const chosen = fresh.find((row) => rowKey(row) === model.view.shown && playable(row));
    const row = chosen ?? (model.view.shown && !done ? null : winner);
    const plays = row && playable(row);
    if (row && plays) {
      if (plays !== this.playing) void this.loadPlan(row);
      else if (plays === this.loaded) model.shown = row; // else what is shown stays what plays
    } else if (done && !row) this.setPlan(null, null);
    this.beside.update(done);
  }

  toggleBeside(key: string): void {
    const model = this.model;
    model.view = { ...model.view, beside: toggled(model.view.beside, key) };
    this.beside.update(true);
    this.on.render();
  }

  setClock(clock: View["clock"]): void {
    this.model.view = { ...this.model.view, clock };
    this.on.playerChanged();
    this.on.render();
  }

  private setPlan(row: Row | null, player: Player | null): void {
    const model = this.model;
    const before = model.player;
    this.loaded = row && playable(row);
    if (!row) {
      this.loading?.abort();
      this.playing = null;
    }
    model.shown = row;
    model.player = player;
    model.frames = player?.frames ?? null;
    if (player) player.seek(this.startStep(player, before));
    if (player && !before) performance.mark("pebble-first-plan");
    this.beside.update(!isPlanning(model));
    this.on.playerChanged();
    if (model.following) this.follow(model.following.index);
    this.on.render();
    this.playOpened();
  }

  private startStep(player: Player, before: Player | null): number {
    const frames = player.frames;
    if (this.pendingStep !== null) return this.pendingStep;
    if (this.poster || !before) return peakStep(frames);
    return Math.round((before.step / Math.max(1, before.frames.moveCount)) * frames.moveCount);
  }

  private async loadPlan(row: Row): Promise<void> {
    const plan = playable(row);
    if (!plan || !this.model.layout) return; // called again when the layout is loaded
    this.playing = plan;
    this.loading?.abort();
    const loading = (this.loading = new AbortController());
    const model = this.model;
    const graph = model.graph;
    if (!model.player) model.shown = row; // else what is shown stays what plays
    try {
      const buffer = await this.api.frames(plan, loading.signal);
      const layout = model.layout;
      if (loading.signal.aborted || !layout || model.graph !== graph) return;
      this.setPlan(row, new Player(layout.nodeCount, decodeFrames(buffer), layout.size));
    } catch (reason) {
      if (!loading.signal.aborted) this.playing = this.loaded;
      if (!loading.signal.aborted) this.on.notify(reason instanceof Error ? reason.message : String(reason), "error");
    }
  }

  /** The user moved the playhead: from now on the step is the user's choice. */
  stepped(): void {
    this.poster = false;
    this.pendingStep = null;
  }

  /** Nothing is pending: the graph is loaded, its rows are planned and the shown plan is loaded. */
  get settled(): boolean {
    const model = this.model;
    const quiet = model.phase === "ready" && !isPlanning(model) && model.entries.every((entry) => !entry.stale);
    return quiet && this.loaded === this.playing && this.drawing === null && this.beside.settled;
  }

  /** The moves of a plan are on their way. */
  get isLoading(): boolean {
    return this.loaded !== this.playing;
  }

  /** The playhead has not been moved yet: playing starts at the beginning. */
  get atPoster(): boolean {
    return this.poster;
  }

  seek(step: number): void {
    this.on.seek(step);
  }

  follow(node: number | null, focus = false): void {
    const model = this.model;
    this.detailsRequest?.abort();
    model.view = { ...model.view, node };
    if (node === null || !model.graph) {
      model.following = null;
      return this.on.render();
    }
    const same = model.following?.index === node;
    model.following = { index: node, info: same ? (model.following?.info ?? null) : null, explain: null, error: null };
    if (focus) this.on.focus(node);
    this.on.render();
    const detailsRequest = (this.detailsRequest = new AbortController());
    const put = (some: Partial<NonNullable<Model["following"]>>): void => {
      if (detailsRequest.signal.aborted || !model.following) return;
      model.following = { ...model.following, ...some };
      this.on.render();
    };
    const wrong = (reason: unknown): void => put({ error: reason instanceof Error ? reason.message : String(reason) });
    this.api.node(model.graph.id, node, detailsRequest.signal).then((info) => put({ info }), wrong);
    const plan = model.player ? model.shown?.plan : null;
    if (plan && model.frames?.timed && model.player && model.layout) put({ explain: nodeExplain(model.layout, model.player, node) });
    else if (plan) this.api.explain(plan, node, detailsRequest.signal).then((explain) => put({ explain }), wrong);
  }
}
