// All data of one layout on the graphics card, and the order in which a frame is drawn.
// It can be rebuilt at any time from the layout and the player, for example after the context was lost.

import { NodeState } from "../node_state";
import { BOX_ATTRIBUTES, Band, BoxLayer } from "./boxes";
import type { Camera } from "./camera";
import { EdgeFrame, EdgeKind, EdgeLayer } from "./edges";
import { GL, Program, Unit, bindTexture, makeProgram } from "./gl";
import type { NodeGrid } from "./grid";
import { Mark, NodeLayer } from "./nodes";
import {
  BOX_FRAGMENT, BOX_VERTEX, EDGE_FRAGMENT, EDGE_VERTEX, LAYER_FRAGMENT, LAYER_VERTEX, NODE_FRAGMENT, NODE_VERTEX, SCATTER_FRAGMENT, SCATTER_VERTEX,
} from "./shaders";
import type { SceneLayout } from "./shape";
import { FULL, type Shown } from "./shown";
import { StateTexture, TICK_MS, packWord } from "./states";
import { Theme, parseColour, stateColours } from "../states_palette";

/** Starts to compile the programs of all layers, so that they are ready when there is something to draw. */
export function warmUp(gl: GL): void {
  makeProgram(gl, BOX_VERTEX, BOX_FRAGMENT, BOX_ATTRIBUTES);
  makeProgram(gl, NODE_VERTEX, NODE_FRAGMENT);
  makeProgram(gl, EDGE_VERTEX, EDGE_FRAGMENT);
  makeProgram(gl, SCATTER_VERTEX, SCATTER_FRAGMENT, ["aPair"]);
  makeProgram(gl, LAYER_VERTEX, LAYER_FRAGMENT);
}

export interface Choice {
  selected: number | null;
  hovered: number | null;
}

export interface FrameInput {
  camera: Camera;
  dpr: number;
  now: number;
  viewChanged: boolean;
  /** Animation of active nodes and their inputs. */
  lively: boolean;
}

const PULSE_MS = 1_400;
/** Pixels per slot below which nodes are drawn as points; a point vanishes when its centre leaves the screen. */
const SMALL_SLOT = 14;

export class Graphics {
  readonly edges: EdgeLayer;
  private readonly nodes: NodeLayer;
  private readonly states: StateTexture;
  private readonly boxes: BoxLayer;
  private colours: Float32Array = new Float32Array();
  private background: [number, number, number] = [0, 0, 0];
  private edge: [number, number, number] = [0, 0, 0];
  private accent: [number, number, number] = [0, 0, 0];
  private dark = true;
  private bytes = 0;

  constructor(
    private readonly gl: GL,
    private readonly layout: SceneLayout,
    grid: NodeGrid,
    private readonly bands: readonly Band[],
    theme: Theme,
  ) {
    this.boxes = new BoxLayer(gl);
    this.nodes = new NodeLayer(gl, layout);
    this.edges = new EdgeLayer(gl, layout, grid);
    this.states = new StateTexture(gl, layout.nodeCount);
    this.setTheme(theme);
  }

  setTheme(theme: Theme): void {
    this.colours = stateColours(theme);
    this.background = parseColour(theme.background);
    this.edge = parseColour(theme.edge);
    this.accent = parseColour(theme.accent);
    this.dark = theme.dark;
    this.boxes.set(this.layout, this.bands, theme);
    this.edges.forget();
  }

  /** Reloads all states; without a player all nodes are at rest. */
  showAll(player: Shown | null): void {
    player?.takeDirty(() => undefined);
    this.states.setAll((words) => {
      for (let v = 0; v < this.layout.nodeCount; v++)
        words[v] = packWord(player ? player.states[v] : NodeState.Never, 0, 0, player?.levels ? player.levels[v] : FULL);
    });
  }

  /** Takes the states that changed, with trails or without; true if there were any. */
  showChanges(player: Shown, now: number, trails: boolean): boolean {
    if (!player.hasDirty) return false;
    const tick = Math.floor(now / TICK_MS);
    const { states, events, levels } = player;
    player.takeDirty((v) => this.states.set(v, packWord(states[v], trails ? events[v] : 0, tick, levels ? levels[v] : FULL)));
    return true;
  }

  /** Marks and highlighted edges: the selected node and the move being played. */
  choose(choice: Choice, player: Shown | null): void {
    const marks: { node: number; mark: number }[] = [];
    const lines: { node: number; kinds: EdgeKind[] }[] = [];
    const { selected, hovered } = choice;
    for (const node of new Set([hovered, selected])) {
      if (node === null) continue;
      lines.push({ node, kinds: [EdgeKind.Into, EdgeKind.OutOf] });
      marks.push({ node, mark: (node === selected ? Mark.Selected : Mark.Hovered) | Mark.OnTop });
    }
    const current = player?.current ?? null;
    if (current !== null && player) {
      const state = player.states[current];
      if (state >= NodeState.Computing && state <= NodeState.Uncomputing) lines.push({ node: current, kinds: [EdgeKind.Input] });
      if (current !== selected && current !== hovered) marks.push({ node: current, mark: Mark.OnTop });
    }
    this.bytes += this.nodes.mark(marks);
    this.edges.choose(lines);
  }

  get waiting(): boolean {
    return this.states.waiting;
  }

  /** Draws one frame; returns the bytes sent to the card for it. */
  draw(f: FrameInput): number {
    const gl = this.gl;
    const sent = this.states.flush();
    this.bytes += sent;
    const width = gl.drawingBufferWidth;
    const height = gl.drawingBufferHeight;
    gl.bindFramebuffer(gl.FRAMEBUFFER, null);
    gl.viewport(0, 0, width, height);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.clearColor(...this.background, 1);
    gl.clear(gl.COLOR_BUFFER_BIT);
    bindTexture(gl, Unit.States, this.states.texture);
    bindTexture(gl, Unit.Nodes, this.nodes.positions);

    const shared = this.sharedUniforms(f, width, height);
    const edgeFrame: EdgeFrame = {
      camera: f.camera,
      dpr: f.dpr,
      shared,
      edge: this.edge,
      accent: this.accent,
      now: f.now,
      lively: f.lively,
      viewChanged: f.viewChanged,
      statesChanged: sent > 0,
      strength: this.dark ? 0.95 : 1.05,
    };
    this.boxes.draw(shared);
    this.edges.draw(edgeFrame);
    gl.viewport(0, 0, width, height);
    this.edges.drawChosen(edgeFrame);
    this.nodes.draw({
      shared,
      unit: f.camera.view.scale * f.dpr,
      small: f.camera.view.scale < SMALL_SLOT,
      pulse: f.lively ? (f.now % PULSE_MS) / PULSE_MS : -1,
      dark: this.dark,
      accent: this.accent,
    });
    const all = this.bytes + this.edges.takeBytes();
    this.bytes = 0;
    return all;
  }

  private sharedUniforms(f: FrameInput, width: number, height: number): (p: Program) => void {
    const gl = this.gl;
    const { view, stretchX, stretchY } = f.camera;
    const scale = view.scale * f.dpr;
    const tick = Math.floor(f.now / TICK_MS) & 0xfffff;
    return (p) => {
      gl.uniform1i(p.at("uNodes"), Unit.Nodes);
      gl.uniform1i(p.at("uStates"), Unit.States);
      gl.uniform4f(p.at("uView"), view.x, view.y, scale * stretchX, scale * stretchY);
      gl.uniform2f(p.at("uHalf"), width / 2, height / 2);
      gl.uniform1f(p.at("uPixel"), f.dpr);
      gl.uniform1ui(p.at("uTick"), tick);
      gl.uniform3fv(p.at("uColours"), this.colours);
      gl.uniform3fv(p.at("uBackground"), this.background);
    };
  }

  release(): void {
    this.states.release();
    this.nodes.release();
    this.edges.release();
    this.boxes.release();
  }
}
