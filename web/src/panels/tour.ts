// A tour of a minute: points at one part of the page after the other, on the first example.
import { h, setText } from "../dom";
import type { Actions } from "../model";
import type { Playback } from "../playback";

interface Stop {
  target: string; // a selector
  title: string;
  text: string;
  act?: (tour: { actions: Actions; playback: Playback }) => void;
}

const STOPS: Stop[] = [
  {
    target: ".scenes", title: "One computation, three plans", text: "Each circle is a value, computed from those that point to it. All three plans compute the same tree under the same cap of 50 values, on one clock.",
    act: ({ playback }) => {
      playback.seek(0);
      playback.play();
    },
  },
  {
    target: "[data-testid=beside]", title: "Keeping everything aborts", text: "The baseline frees nothing. At move 50 it needs a 51st value: it stops there, in red, with what it lacks.",
    act: ({ playback }) => {
      playback.pause();
      playback.seek(60);
    },
  },
  { target: ".beside-main", title: "Partial checkpointing fits", text: "It frees values that it no longer needs, and computes others again if they are cheap. Here that costs nothing: 127 operations for 127 values." },
  { target: ".beside-cells > :last-child", title: "Reversible computing costs more", text: "If a value can only be removed by computing it backwards, as in quantum circuits, the same cap needs 407 operations." },
  { target: "[data-testid=comparison]", title: "All strategies at this cap", text: "The star is the best plan. Click a row to play it; the two small boxes play it next to the others." },
  { target: "[data-testid=cap-slider]", title: "Now drag the cap", text: "Plans are made while you drag. In the hatched part it is proven that nothing fits." },
  { target: "[data-testid=picker]", title: "The same for your graph", text: "Try a training step next, or drop a file: JSON, DOT, CSV or an ONNX model." },
];

export class Tour {
  private readonly count = h("span");
  private readonly title = h("b");
  private readonly text = h("p");
  private readonly next = h("button", { type: "button", class: "primary", "data-testid": "tour-next" }, "Next");
  private readonly card = h("div", { class: "tour", role: "dialog", "aria-label": "Tour", "data-testid": "tour-card", hidden: true });
  private at = -1;
  private marked: Element | null = null;

  constructor(private readonly actions: Actions, private readonly playback: Playback) {
    const end = h("button", { type: "button", click: () => this.end() }, "Close");
    this.card.append(this.title, this.text, h("div", { class: "tour-end" }, this.count, end, this.next));
    this.next.addEventListener("click", () => this.go(this.at + 1));
    this.card.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.end();
      event.stopPropagation();
    });
    document.body.append(this.card);
  }

  /** On the first example, which the texts are about. */
  start(): void {
    this.actions.open({ kind: "gallery", id: "tree" });
    this.go(0);
  }

  private end(): void {
    this.mark(null);
    this.card.hidden = true;
    this.at = -1;
  }

  private mark(element: Element | null): void {
    this.marked?.classList.remove("toured");
    this.marked = element;
    element?.classList.add("toured");
  }

  private go(to: number): void {
    if (to >= STOPS.length) return this.end();
    const stop = STOPS[to];
    this.at = to;
    const target = document.querySelector(stop.target);
    this.mark(target);
    setText(this.title, stop.title);
    setText(this.text, stop.text);
    setText(this.count, `${to + 1} of ${STOPS.length}`);
    setText(this.next, to + 1 === STOPS.length ? "Done" : "Next");
    this.card.hidden = false;
    target?.scrollIntoView({ block: "nearest" });
    this.place(target);
    this.next.focus();
    stop.act?.({ actions: this.actions, playback: this.playback });
  }

  /** Near the target, inside the window. */
  private place(target: Element | null): void {
    const card = this.card.getBoundingClientRect();
    const box = target?.getBoundingClientRect() ?? new DOMRect(innerWidth / 2, innerHeight / 2, 0, 0);
    const fits = (left: number, top: number): boolean => left >= 8 && top >= 8 && left + card.width <= innerWidth - 8 && top + card.height <= innerHeight - 8;
    const places: [number, number][] = [
      [box.right + 12, box.top], [box.left - card.width - 12, box.top], [box.left, box.bottom + 12], [box.left, box.top - card.height - 12],
    ];
    const [left, top] = places.find(([x, y]) => fits(x, y)) ?? [Math.max(8, Math.min(innerWidth - card.width - 8, box.left + 16)), Math.max(8, Math.min(innerHeight - card.height - 8, box.bottom - card.height - 16))];
    this.card.style.left = `${left}px`;
    this.card.style.top = `${top}px`;
  }
}
