// The picture as text, for those who cannot see it: what the graph is, the current move, and what is in memory. Steps are announced,
// and the beginning and end of playing; moves while it plays are not, there are too many.
import { debounce, h, setText } from "../dom";
import { amount, group, plural } from "../format";
import type { Model, Panel } from "../model";
import { moveWords } from "../move_words";
import type { Playback } from "../playback";
import { capText, rowName } from "../words";

const LISTED = 8;
const WAIT_MS = 250; // between keys that step

export class Spoken implements Panel {
  readonly element = h("div", { class: "spoken" });
  private readonly text = h("p", { id: "scene-text", "data-testid": "scene-text" });
  private readonly live = h("p", { role: "status", "aria-live": "polite", "data-testid": "announced" });
  private model: Model | null = null;
  private readonly later = debounce(WAIT_MS, () => this.say());
  private playing = false;

  constructor(private readonly playback: Playback) {
    this.element.append(this.text, this.live);
  }

  update(model: Model): void {
    this.model = model;
    this.draw();
  }

  /** The playhead has moved. */
  drawStep(): void {
    if (!this.playback.playing) this.later();
  }

  drawState(): void {
    if (this.playback.playing === this.playing) return;
    this.playing = this.playback.playing;
    this.later.cancel();
    if (this.playing) setText(this.live, "Playing.");
    else this.say();
  }

  private say(): void {
    this.draw();
    const now = this.now();
    if (now) setText(this.live, now);
  }

  private now(): string {
    const { model } = this;
    const player = this.playback.player;
    if (!model?.graph || !model.layout || !player) return "";
    const { frames, step } = player;
    const used = step > 0 ? frames.during[step - 1] : player.memory(0);
    const move = step === 0 ? "Before the first move" : `Move ${group(step)} of ${group(frames.moveCount)}: ${moveWords(frames, step - 1, model.layout.names)}`;
    const cap = Number.isFinite(frames.cap) ? ` of ${capText(frames.cap, model.graph)}` : "";
    return `${move}. ${amount(used, model.graph.size_unit)}${cap} in memory.`;
  }

  private draw(): void {
    const { model } = this;
    const graph = model?.graph;
    if (!model || !graph || !model.layout || this.playback.playing) return;
    const parts = [`${graph.name}: ${plural(graph.nodes, "node")}, ${plural(graph.edges, "edge")}, ${group(graph.depth)} deep.`];
    if (model.shown) parts.push(`Shown is the plan of ${rowName(model.shown)}.`);
    const now = this.now();
    if (now) parts.push(now, this.resident(model));
    setText(this.text, parts.join(" "));
  }

  private resident(model: Model): string {
    const player = this.playback.player;
    if (!player || !model.layout || !model.graph) return "";
    const { size, names } = model.layout;
    const nodes: number[] = [];
    for (let node = 0; node < player.nodeCount; node++) if (player.isResident(node)) nodes.push(node);
    nodes.sort((a, b) => size[b] - size[a] || a - b);
    const unit = model.graph.size_unit;
    const list = nodes.slice(0, LISTED).map((node) => `${names.get(node)} (${amount(size[node], unit)})`).join(", ");
    return nodes.length ? `In memory: ${list}${nodes.length > LISTED ? ` and ${plural(nodes.length - LISTED, "more value")}` : ""}.` : "Nothing is in memory.";
  }
}
