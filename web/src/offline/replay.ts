// The controller of a page without a server: all plans are in the file, so nothing is planned.
import type { Row, WeightTexts } from "../api_types";
import { idlePlanning, rank, type Actions, type Model } from "../model";
import { peakStep } from "../playback";
import { Player } from "../player";
import { learnRow, learnSweep } from "../proved";
import { defaultView, type View } from "../store";
import { playable, rowKey } from "../words";
import { plainPicture } from "../scene/picture";
import type { Recording } from "./data";
import { nodeExplain, nodeInfo } from "./details";

export interface ReplayEvents {
  render(): void;
  playerChanged(): void;
  seek(step: number): void;
  focus(node: number): void;
}

function modelOf(file: Recording): Model {
  const view: View = { ...defaultView(), cap: file.cap, weights: file.weights };
  return {
    server: "up", about: null, opened: [], view, phase: "ready", opening: "", problem: null, graph: file.graph, layout: file.layout, picture: plainPicture(file.layout),
    planning: { ...idlePlanning(), state: "done" }, entries: file.rows.map((row) => ({ row, stale: false })), planWeights: [...file.weights], shown: null,
    frames: null, player: null, proved: {}, sweep: file.sweep, sweeping: false, following: null, beside: [],
  };
}

export class Replay implements Actions {
  readonly model: Model;
  private poster = true; // the playhead has not been moved: show the peak

  constructor(private readonly file: Recording, private readonly on: ReplayEvents) {
    this.model = modelOf(file);
    const cap = /^\d+$/.test(file.cap) ? BigInt(file.cap) : null;
    for (const row of file.rows) learnRow(this.model.proved, row, cap);
    if (file.sweep) learnSweep(this.model.proved, file.sweep);
  }

  get atPoster(): boolean {
    return this.poster;
  }

  stepped(): void {
    this.poster = false;
  }

  show(key: string | null): void {
    this.model.view = { ...this.model.view, shown: key };
    this.choose();
  }

  /** Ranks the rows anew; the plan that plays stays. */
  setWeights(weights: WeightTexts): void {
    this.model.view = { ...this.model.view, weights };
    this.on.render();
  }

  /** The chosen row, else the winner, else the first with a plan. */
  private choose(): void {
    const { fresh, winner } = rank(this.model);
    const chosen = fresh.find((row) => rowKey(row) === this.model.view.shown && playable(row));
    const row = chosen ?? (winner?.plan ? winner : fresh.find((one) => one.plan)) ?? null;
    if (row && row !== this.model.shown) this.play(row);
    this.on.render();
  }

  private play(row: Row): void {
    const model = this.model;
    const before = model.player;
    const frames = this.file.frames(row);
    if (!frames || !model.layout) return;
    const player = new Player(model.layout.nodeCount, frames, model.layout.size);
    const share = before ? before.step / Math.max(1, before.frames.moveCount) : 0;
    player.seek(this.poster || !before ? peakStep(frames) : Math.round(share * frames.moveCount));
    Object.assign(model, { shown: row, frames, player });
    this.on.playerChanged();
    if (model.following) this.follow(model.following.index);
  }

  seek(step: number): void {
    this.on.seek(step);
  }

  follow(node: number | null, focus = false): void {
    const { layout, graph, player } = this.model;
    this.model.following =
      node === null || !layout || !graph
        ? null
        : { index: node, info: nodeInfo(layout, graph, node), explain: player ? nodeExplain(layout, player, node) : null, error: null };
    if (node !== null && focus) this.on.focus(node);
    this.on.render();
  }

  // Without the command there is nothing to open or plan, and the page shows no controls for it.
  open(): void {}
  openFile(): void {}
  setCap(): void {}
  setGame(): void {}
  setStrategies(): void {}
  setAll(): void {}
  setPolicy(): void {}
  setPrices(): void {}
  edit(): Promise<void> {
    return Promise.resolve();
  }
  setBorrow(): void {}
  setMachine(): void {}
  setEffort(): void {}
  planAgain(): void {}
  retry(): void {}
  stop(): void {}
  dismissProblem(): void {}
  setLayout(): void {}
  openGroup(): void {}
  toggleBeside(): void {}
  setClock(clock: View["clock"]): void {
    this.model.view = { ...this.model.view, clock };
    this.on.playerChanged();
    this.on.render();
  }
  setPlace(place: number): void {
    this.model.view = { ...this.model.view, place };
    this.on.playerChanged();
    this.on.render();
  }
  setMemory(memory: View["memory"]): void {
    this.model.view = { ...this.model.view, memory };
    this.on.playerChanged();
    this.on.render();
  }
}
