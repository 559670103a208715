// Playing the plan: buttons, speed, current move, and the memory chart.
import { h, icon, setAttr, setText } from "../dom";
import { amount, group, isTime, percent } from "../format";
import type { Charts } from "../chart/show";
import { isPlanning, type Model, type Panel } from "../model";
import { moveWords } from "../move_words";
import { peakStep, SPEEDS, type Playback } from "../playback";
import { askedStrategies, type View } from "../store";
import { rowName } from "../words";

function button(name: string, label: string, key: string, testid: string, act: () => void): HTMLButtonElement {
  return h(
    "button",
    { type: "button", class: "round", "aria-label": label, "data-tip": `${label} (${key})`, "data-testid": testid, click: act },
    icon(name),
  );
}

export class Transport implements Panel {
  readonly element: HTMLElement;
  readonly chartHost = h("div", { class: "memory-host", "data-testid": "memory-chart", "data-note": "" });
  readonly tools = h("span", { class: "transport-tools" });
  private readonly play: HTMLButtonElement;
  private readonly buttons: HTMLButtonElement[];
  private readonly speed = h("select", { "aria-label": "Speed", "data-testid": "speed", "data-tip": "Speed (, and .)" });
  private readonly counter = h("span", { class: "counter", "data-testid": "step" }, "–");
  private readonly now = h("span", { class: "now", "data-testid": "now" });
  private readonly memory = h("span", { class: "memory-now", "data-testid": "memory-now" });
  private readonly title = h("span", { class: "plan-name", "data-testid": "plan-name" });
  private readonly clock = h("select", { "aria-label": "Clock", "data-testid": "clock", "data-tip": "What the x axis counts, and what plans side by side share: the work done, or the number of moves" });
  private readonly stacked = h("select", { "aria-label": "Memory by", "data-testid": "memory-by", "data-tip": "What memory holds over time: in total, by group, or by value" });
  private model: Model | null = null;
  charts: Charts | null = null;

  constructor(private readonly playback: Playback, startOver: () => void, setClock: (clock: View["clock"]) => void, setMemory: (memory: View["memory"]) => void) {
    this.play = button("play", "Play", "Space", "play", startOver);
    this.play.classList.add("primary");
    const seek = (step: number): void => {
      playback.pause();
      playback.seek(step);
    };
    const last = (): number => playback.player?.frames.moveCount ?? 0;
    this.buttons = [
      button("first", "First move", "Home", "first", () => seek(0)),
      button("back", "One move back", "←", "back", () => playback.stepBy(-1)),
      this.play,
      button("forward", "One move forward", "→", "forward", () => playback.stepBy(1)),
      button("last", "Last move", "End", "last", () => seek(last())),
      button("peak", "Jump to the peak", "P", "peak", () => seek(playback.player ? peakStep(playback.player.frames) : 0)),
    ];
    for (const value of SPEEDS) this.speed.append(h("option", { value }, `${value}×`));
    this.clock.append(h("option", { value: "work" }, "by work"), h("option", { value: "moves" }, "by moves"));
    this.clock.addEventListener("change", () => setClock(this.clock.value === "moves" ? "moves" : "work"));
    this.stacked.append(h("option", { value: "total" }, "total"), h("option", { value: "groups" }, "by group"), h("option", { value: "values" }, "by value"));
    this.stacked.addEventListener("change", () => setMemory(this.stacked.value as View["memory"]));
    this.speed.addEventListener("change", () => playback.setSpeed(Number(this.speed.value)));
    this.element = h(
      "footer",
      { class: "transport", "aria-label": "Playback" },
      h(
        "div",
        { class: "transport-line" },
        h("div", { class: "buttons", role: "group", "aria-label": "Playback" }, ...this.buttons),
        this.speed,
        this.clock,
        this.stacked,
        this.tools,
        this.counter,
        this.now,
        this.title,
        this.memory,
      ),
      this.chartHost,
    );
    this.drawState();
  }

  update(model: Model): void {
    this.model = model;
    for (const one of [...this.buttons, this.speed, this.clock, this.stacked]) one.disabled = !model.player;
    this.stacked.value = model.view.memory;
    const timed = !!model.frames?.timed; // moves overlap: time is the only axis
    const work = timed || isTime(model.graph?.cost_unit ?? "") ? "by time" : "by work";
    if (this.clock.options[0].textContent !== work) this.clock.options[0].textContent = work;
    this.clock.disabled ||= timed;
    this.clock.value = timed ? "work" : model.view.clock;
    const shown = model.shown;
    setText(this.title, shown ? (shown.plan ? `plan of ${rowName(shown)}` : `${rowName(shown)} up to the cap`) : "");
    this.drawStep();
  }

  drawState(): void {
    const playing = this.playback.playing;
    if (this.play.dataset.playing !== String(playing)) {
      this.play.dataset.playing = String(playing);
      this.play.replaceChildren(icon(playing ? "pause" : "play"));
      setAttr(this.play, "aria-label", playing ? "Pause" : "Play");
      setAttr(this.play, "data-tip", playing ? "Pause (Space)" : "Play (Space)");
    }
    this.speed.value = String(this.playback.speed);
  }

  private why(model: Model | null): string {
    if (model?.phase !== "ready" || !model.graph) return "";
    if (!askedStrategies(model.about, model.view).length) return "Choose at least one strategy on the left.";
    return isPlanning(model) || model.shown ? "Planning…" : "No plan to play at this cap. Raise the cap or add strategies.";
  }

  /** Called whenever the step changes; cheap. */
  drawStep(): void {
    const player = this.playback.player;
    const model = this.model;
    if (!player || !model?.graph || !model.layout) {
      setText(this.counter, "–");
      setText(this.now, this.why(model));
      setAttr(this.chartHost, "data-note", model?.phase === "ready" && !isPlanning(model) && !model.shown ? "Memory over time is shown here when there is a plan." : "");
      setText(this.memory, "");
      return;
    }
    const frames = player.frames;
    const step = player.step;
    setText(this.counter, `step ${group(step)} / ${group(frames.moveCount)}`);
    setAttr(this.counter, "data-step", String(step));
    setText(this.now, step === 0 ? "before the first move" : moveWords(frames, step - 1, model.layout.names));
    const used = step > 0 ? frames.during[step - 1] : player.memory(0);
    const cap = Number.isFinite(frames.cap) ? ` of ${amount(frames.cap, model.graph.size_unit)} (${percent(used / frames.cap)})` : "";
    setText(this.memory, `${amount(used, model.graph.size_unit)}${cap}`);
    setAttr(this.memory, "data-value", String(used));
    const over = !!model.shown && !model.shown.plan && used > frames.cap; // the last move of a row without a plan
    for (const one of [this.now, this.memory]) one.classList.toggle("over", over);
    if (over) setText(this.now, `stops: ${this.now.textContent}, ${amount(used - frames.cap, model.graph.size_unit)} over the cap`);
    this.charts?.setStep(step);
  }
}
