// A page for trying the scene without a server: window.trial makes graphs and plans and shows them.

import { darkTheme, lightTheme } from "../src/states_palette";
import { Frames, Layout, Names, decodeFrames, decodeLayout } from "../src/binary";
import { MemoryChart } from "../src/chart/memory";
import { moveWords } from "../src/move_words";
import { plainPicture } from "../src/scene/picture";
import { Player } from "../src/player";
import { Scene } from "../src/scene/scene";
import { greedyPlan, layered, plainPeak, training, tree } from "../test/synthetic";

export type Shape = "layered" | "training" | "tree" | "chain";

function shape(kind: Shape, count: number): Layout {
  if (kind === "training") return training(Math.max(1, Math.round(count / 6)));
  if (kind === "tree") return tree(Math.max(1, Math.round(Math.log2(count)) - 1));
  return layered(count, 7, kind === "chain" ? count : 2);
}

class Trial {
  scene: Scene;
  chart: MemoryChart;
  player: Player | null = null;
  playing = 0;
  /** Script time of whole frames: playing and drawing. */
  frameMs: number[] = [];
  frameBytes: number[] = [];

  constructor(dark: boolean) {
    const theme = dark ? darkTheme : lightTheme;
    const get = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
    document.body.style.background = theme.background;
    document.body.style.color = theme.text;
    this.scene = new Scene(get<HTMLCanvasElement>("scene"), get<HTMLCanvasElement>("overlay"), theme);
    this.chart = new MemoryChart(get("chart"), theme);
    this.chart.onScrub = (step) => this.player?.seek(step);
    requestAnimationFrame(this.frame);
  }

  /** The same from what a server sent, in base 64; without frames the graph alone. */
  showBytes(layoutBytes: string, nameBytes: string, frameBytes: string): void {
    const bytes = (text: string): ArrayBuffer => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
    const layout = decodeLayout(bytes(layoutBytes), new Names(bytes(nameBytes)));
    this.display(layout, frameBytes ? decodeFrames(bytes(frameBytes)) : null);
  }

  private display(layout: Layout, frames: Frames | null): void {
    this.scene.setPicture(plainPicture(layout));
    this.player = frames && new Player(layout.nodeCount, frames, layout.size);
    this.scene.setPlayer(this.player);
    const describe = frames ? (i: number): string => moveWords(frames, i, layout.names) : undefined;
    this.chart.setFrames(frames, (v) => `${v.toLocaleString("en")} u`, describe);
  }

  show(kind: Shape, count: number, share: number, tiered = false): { nodes: number; edges: number; moves: number } {
    const layout = shape(kind, count);
    const frames = greedyPlan(layout, Math.round(plainPeak(layout) * share), tiered);
    this.display(layout, frames);
    return { nodes: layout.nodeCount, edges: layout.edgeCount, moves: frames.moveCount };
  }

  /** Plays `moves` moves a frame. */
  play(moves: number): void {
    this.frameMs = [];
    this.frameBytes = [];
    this.playing = moves;
  }

  private readonly frame = (): void => {
    const start = performance.now();
    if (this.player && this.playing > 0) {
      this.player.seek(this.player.step + this.playing);
      this.chart.setStep(this.player.step);
      if (this.player.step >= this.player.frames.moveCount) this.playing = 0;
    }
    const before = this.scene.stats.bytesUploaded;
    this.scene.draw();
    if (this.playing > 0) {
      this.frameMs.push(performance.now() - start);
      this.frameBytes.push(this.scene.stats.bytesUploaded - before);
    }
    requestAnimationFrame(this.frame);
  };
}

declare global {
  interface Window {
    trial: Trial;
    makeTrial: (dark: boolean) => void;
  }
}
window.makeTrial = (dark) => {
  window.trial = new Trial(dark);
};
export type { Trial };
