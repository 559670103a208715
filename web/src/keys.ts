// The keyboard: one table from keys to actions. Keys typed into text fields are ignored here.

export interface KeyActions {
  playPause(): void;
  stepBy(moves: number): void;
  pageBy(direction: 1 | -1): void;
  first(): void;
  last(): void;
  peak(): void;
  faster(direction: 1 | -1): void;
  nudgeCap(direction: 1 | -1): void;
  typeCap(): void;
  weights(): void;
  planAgain(): void;
  stop(): void;
  row(move: 1 | -1): void;
  nthRow(index: number): void;
  winner(): void;
  fit(): void;
  find(): void;
  focusNode(): void;
  escape(): void;
  gallery(): void;
  open(): void;
  generate(): void;
  exportMenu(): void;
  link(): void;
  theme(): void;
  resident?(): void;
  help(): void;
  sceneKey(event: KeyboardEvent): boolean;
}

function typing(target: EventTarget | null): boolean {
  // A sheet that has just closed keeps the focus until the next frame.
  if (!(target instanceof HTMLElement) || target.closest("dialog:not([open])")) return false;
  if (target instanceof HTMLInputElement) return target.type !== "range" && target.type !== "checkbox";
  return target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement || target.isContentEditable;
}

/** A focused slider handles arrow keys; a focused button handles Space and Enter. */
function ownsKey(target: EventTarget | null, key: string): boolean {
  if (target instanceof HTMLInputElement && target.type === "range") return key.startsWith("Arrow") || ["Home", "End", "PageUp", "PageDown"].includes(key);
  if (target instanceof HTMLElement && target.closest("button, summary, a")) return key === " " || key === "Enter";
  // The memory chart is a slider too.
  if (target instanceof HTMLElement && target.getAttribute("role") === "slider") return key.startsWith("Arrow") || ["Home", "End", "PageUp", "PageDown"].includes(key);
  return false;
}

export function installKeys(actions: KeyActions): void {
  const table: Record<string, () => void> = {
    " ": () => actions.playPause(),
    ArrowLeft: () => actions.stepBy(-1),
    ArrowRight: () => actions.stepBy(1),
    PageUp: () => actions.pageBy(-1),
    PageDown: () => actions.pageBy(1),
    Home: () => actions.first(),
    End: () => actions.last(),
    p: () => actions.peak(),
    ",": () => actions.faster(-1),
    ".": () => actions.faster(1),
    "[": () => actions.nudgeCap(-1),
    "]": () => actions.nudgeCap(1),
    m: () => actions.typeCap(),
    w: () => actions.weights(),
    r: () => actions.planAgain(),
    x: () => actions.stop(),
    ArrowUp: () => actions.row(-1),
    ArrowDown: () => actions.row(1),
    b: () => actions.winner(),
    f: () => actions.fit(),
    "/": () => actions.find(),
    z: () => actions.focusNode(),
    Escape: () => actions.escape(),
    g: () => actions.gallery(),
    o: () => actions.open(),
    n: () => actions.generate(),
    e: () => actions.exportMenu(),
    c: () => actions.link(),
    t: () => actions.theme(),
    v: () => actions.resident?.(),
    "?": () => actions.help(),
  };
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape" && event.target instanceof HTMLSelectElement && !event.target.closest("dialog")) return event.target.blur(); // so that the page handles keys again
    if (document.querySelector("dialog[open]") || typing(event.target) || ownsKey(event.target, event.key)) return;
    if (actions.sceneKey(event)) return event.preventDefault();
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const act = /^[1-9]$/.test(key) ? () => actions.nthRow(Number(key) - 1) : table[key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}
