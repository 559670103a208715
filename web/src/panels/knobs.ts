// Rules and strategies: game, prices of slow memory, strategies, policy, planning time.
import type { GameName, Prices, StrategyInfo } from "../api";
import { h, setAttr, setText } from "../dom";
import { errorLine, Field } from "../field";
import type { Whole } from "../exact";
import type { Actions, Model, Panel } from "../model";
import { readCap, readPrice, type Read, type Units } from "../sizes";
import { quickFirst, STRATEGIES_DEFAULT } from "../store";
import { TERMS } from "../words";

const GAMES: { value: GameName | ""; label: string; tip: string }[] = [
  { value: "", label: "all", tip: "Every game that applies. The cheapest plan of all games wins." },
  { value: "remat", label: "remat", tip: "Values may be freed and recomputed." },
  { value: "reversible", label: "reversible", tip: "Values may not be erased, only uncomputed." },
  { value: "tiered", label: "tiered", tip: "Like remat, and values may also be stored in a slow memory, at a price." },
  { value: "timed", label: "timed", tip: "Like tiered, on the lanes of a machine: copies overlap computation." },
];

const TIMES = [500, 1000, 2000, 5000, 15000, 60000];
const TICKS: [number, string][] = [[100_000, "quick"], [1_000_000, "normal"], [10_000_000, "thorough"]];
const START_PRICES: Prices = { store_cost: 1, load_cost: 1, store_per_unit: 0, load_per_unit: 0, slow_cap: "none" };
type PriceKey = Exclude<keyof Prices, "slow_cap">;
const NO_UNITS: Units & { written_peak: Whole } = { size_unit: "", cost_unit: "", written_peak: 1 };
const PRICE_FIELDS: { key: PriceKey; label: string; tip: string }[] = [
  { key: "store_cost", label: "store", tip: "Cost of each store to slow memory." },
  { key: "load_cost", label: "load", tip: "Cost of each load from slow memory." },
  { key: "store_per_unit", label: "store/u", tip: "Additional cost of a store for each unit of size." },
  { key: "load_per_unit", label: "load/u", tip: "Additional cost of a load for each unit of size." },
];

/** What is wrong with a typed strategy; null if nothing. The server checks the values. */
export function wrongStrategy(text: string, all: StrategyInfo[]): string | null {
  const [name, ...rest] = text.split(":");
  const info = all.find((one) => one.name === name);
  if (!info) return text ? `There is no strategy called ${name}. The list below has all of them.` : "Write a strategy, such as every-k:k=10.";
  const settings = rest.join(":");
  if (!rest.length) return null;
  for (const setting of settings.split(",")) {
    const [key, value] = setting.split("=");
    const known = info.options.map((option) => option.key);
    if (!known.includes(key)) return known.length ? `${name} takes ${known.join(", ")}, not ${key || "an empty setting"}.` : `${name} takes no settings.`;
    if (!value) return `${key} has no value: write ${key}=…`;
  }
  return null;
}

export class Knobs implements Panel {
  readonly element: HTMLElement;
  private readonly games: HTMLButtonElement[];
  private readonly prices = h("div", { class: "prices", hidden: true });
  private readonly priceFields: { key: PriceKey; field: Field<Whole> }[];
  private readonly slowField: Field<string | null>;
  private readonly borrowField: Field<string | null>;
  private readonly borrowLabel: HTMLElement;
  private readonly borrowError = errorLine("borrow-error");
  private units = NO_UNITS;
  private readonly error = errorLine("prices-error");
  private readonly ownError = errorLine("strategy-error");
  private now: Prices = START_PRICES;
  private readonly chips = h("div", { class: "chips", role: "group", "aria-label": "Strategies to compare" });
  private readonly more = h("details", { class: "more" });
  private readonly moreList = h("div", { class: "more-list" });
  private readonly moreCount = h("summary", { "data-testid": "strategies-more" });
  private readonly policy = h("select", { "aria-label": "Eviction policy", "data-testid": "policy" });
  private readonly time = h("select", { "aria-label": "Effort of planning", "data-testid": "time" });
  private known = "";

  constructor(private readonly actions: Actions) {
    this.games = GAMES.map((game) =>
      h(
        "button",
        {
          type: "button", "aria-pressed": "false", "data-game": game.value, "data-testid": `game-${game.value || "all"}`,
          "data-tip": game.tip, click: () => this.chooseGame(game.value),
        },
        game.label,
      ),
    );
    this.priceFields = PRICE_FIELDS.map(({ key, label, tip }) => {
      const input = h("input", { type: "text", inputmode: "decimal", "data-testid": `price-${key}` });
      this.prices.append(h("label", { "data-tip": tip }, h("span", null, label), input));
      const apply = (value: Whole): void => actions.setPrices({ ...this.now, [key]: value });
      return { key, field: new Field(input, { read: readPrice, apply, error: this.error }) };
    });
    const slow = h("input", { type: "text", spellcheck: "false", "data-testid": "price-slow_cap" });
    this.prices.append(h("label", { "data-tip": "Size of the slow memory: 64GiB, 200% of the memory of program order, or none for no limit." }, h("span", null, "size"), slow));
    this.slowField = new Field(slow, { read: (text) => this.readSize(text), apply: (size) => actions.setPrices({ ...this.now, slow_cap: size ?? "none" }), error: this.error });
    const borrow = h("input", { type: "text", spellcheck: "false", placeholder: "none", "data-testid": "borrow" });
    this.borrowLabel = h("label", null, h("span", { "data-tip": TERMS.borrow }, "Borrow"), borrow);
    this.borrowField = new Field(borrow, { read: (text) => this.readSize(text), apply: (size) => actions.setBorrow(size), error: this.borrowError });
    this.policy.addEventListener("change", () => actions.setPolicy(this.policy.value || null));
    for (const [ticks, name] of TICKS) this.time.append(h("option", { value: `t${ticks}` }, name));
    for (const ms of TIMES) this.time.append(h("option", { value: ms }, `${ms / 1000} s`));
    this.time.addEventListener("change", () => {
      const { value } = this.time;
      actions.setEffort(value.startsWith("t") ? { ticks: Number(value.slice(1)) } : { timeMs: Number(value) });
    });
    this.more.append(this.moreCount, this.moreList);
    document.addEventListener("pointerdown", (event) => {
      if (!this.more.contains(event.target as Node)) this.more.open = false;
    });
    this.more.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.more.open) return;
      this.more.open = false;
      this.moreCount.focus();
      event.stopPropagation();
    });
    this.element = h(
      "section",
      { class: "knob", "aria-label": "Rules and strategies" },
      h("h2", { "data-tip": TERMS.game }, "Game"),
      h("div", { class: "segments", role: "group", "aria-label": "Game" }, ...this.games),
      this.prices,
      this.error,
      h("div", { class: "knob-row" }, h("h2", { "data-tip": TERMS.strategies }, "Strategies"), this.more),
      this.chips,
      h(
        "div",
        { class: "pair" },
        h("label", null, h("span", { "data-tip": TERMS.policy }, "Policy"), this.policy),
        h("label", null, h("span", { "data-tip": TERMS.time }, "Effort"), this.time),
        this.borrowLabel,
      ),
      this.borrowError,
    );
  }

  /** A size; null for none. */
  private readSize(typed: string): Read<string | null> {
    const text = typed.replace(/\s+/g, "");
    if (text === "") return { ok: true, value: null };
    const read = readCap(text, this.units.written_peak, this.units.size_unit);
    return read.ok ? { ok: true, value: /^(none|unlimited|0)$/i.test(text) ? null : text } : { ok: false, wrong: read.wrong.replace(/cap/g, "size").replace("A size is a size", "Write a size") };
  }

  private chooseGame(value: GameName | ""): void {
    this.actions.setGame(value || null);
  }

  update(model: Model): void {
    if (!model.about) return;
    this.fillLists(model);
    for (const button of this.games) {
      button.setAttribute("aria-pressed", String((button.dataset.game || null) === model.view.game));
    }
    if (model.graph) this.units = model.graph;
    this.borrowLabel.hidden = model.view.game === "timed";
    this.borrowField.show(model.view.borrow ?? "");
    this.drawPrices(model);
    this.drawChips(model);
    this.policy.value = model.view.policy ?? "";
    const { ticks, timeMs } = model.view;
    const time = ticks === null ? String(timeMs) : `t${ticks}`;
    if (![...this.time.options].some((option) => option.value === time)) {
      this.time.append(h("option", { value: time }, ticks === null ? `${timeMs / 1000} s` : `${ticks} ticks`));
    }
    this.time.value = time;
  }

  private fillLists(model: Model): void {
    const about = model.about;
    if (!about || this.policy.options.length) return;
    this.policy.append(h("option", { value: "" }, "default"));
    for (const policy of about.policies) this.policy.append(h("option", { value: policy.name, title: policy.summary }, policy.name));
  }

  private drawPrices(model: Model): void {
    const priced = model.view.machine ? model.view.machine.name !== "none" : !!model.graph?.machine;
    const show = !priced && (model.view.game === "tiered" || (model.view.game === null && model.view.prices !== null));
    this.prices.hidden = !show;
    if (!show) this.error.hidden = true;
    this.now = model.view.prices ?? START_PRICES;
    for (const { key, field } of this.priceFields) field.show(String(this.now[key]));
    this.slowField.show(this.now.slow_cap);
  }

  private drawChips(model: Model): void {
    const about = model.about;
    if (!about) return;
    const game = model.view.game;
    const chosen = model.view.strategies;
    const key = JSON.stringify([game, chosen, model.view.prices !== null]);
    if (key === this.known) return;
    this.known = key;
    const applies = (s: StrategyInfo): boolean => (game ? s.games.includes(game) : true);
    const fits = about.strategies.filter(applies);
    const focused = this.element.contains(document.activeElement) ? document.activeElement?.getAttribute("data-testid") : null;
    this.chips.replaceChildren(...chosen.map((name) => this.chip(name, about.strategies, fits, chosen)));
    const others = fits.filter((s) => !chosen.includes(s.name) && !s.traits.includes("file")); // a strategy may be listed both with and without settings
    setText(this.moreCount, others.length ? `Add (${others.length} more)` : "All compared");
    this.moreList.replaceChildren(
      this.presets(fits),
      this.own(about.strategies, chosen),
      this.ownError,
      ...others.map((s) =>
        h(
          "button",
          {
            type: "button", class: "add", "data-testid": `add-${s.name}`,
            click: () => this.actions.setStrategies(quickFirst([...chosen, s.name])),
          },
          h("b", null, s.name),
          h("small", null, s.summary),
        ),
      ),
    );
    if (focused) this.element.querySelector<HTMLElement>(`[data-testid="${focused}"]`)?.focus();
  }

  private presets(fits: StrategyInfo[]): HTMLElement {
    const names = (list: StrategyInfo[]): string[] => quickFirst(list.map((s) => s.name));
    const quick = fits.filter((s) => s.traits.includes("usual") || s.traits.includes("compared") || s.strength === "portfolio");
    return h(
      "div",
      { class: "presets" },
      h("button", { type: "button", class: "small", "data-testid": "strategies-few", click: () => this.actions.setStrategies(names(quick)) }, "Well known"),
      h("button", { type: "button", class: "small", "data-testid": "strategies-default", click: () => this.actions.setStrategies([...STRATEGIES_DEFAULT]) }, "Default"),
    );
  }

  /** A strategy with settings, in the form that the command takes. */
  private own(all: StrategyInfo[], chosen: string[]): HTMLElement {
    const input = h("input", {
      type: "text", placeholder: "every-k:k=10", spellcheck: "false", "aria-label": "A strategy with its settings", "data-testid": "strategy-own",
      "data-tip": "A strategy with settings, as the command takes it: every-k:k=10. Enter adds it.",
      input: () => this.showOwnError(input, null),
      keydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter") return;
        event.preventDefault();
        const name = input.value.trim();
        const wrong = wrongStrategy(name, all) ?? (chosen.includes(name) ? `${name} is already in the list.` : null);
        this.showOwnError(input, wrong);
        if (wrong !== null) return;
        input.value = "";
        this.more.open = false;
        input.blur(); // so that the page handles keys again
        this.actions.setStrategies(quickFirst([...chosen, name]));
      },
    });
    return input;
  }

  private showOwnError(input: HTMLElement, wrong: string | null): void {
    setAttr(input, "aria-invalid", wrong === null ? null : "true");
    setText(this.ownError, wrong ?? "");
    this.ownError.hidden = wrong === null;
  }

  private chip(name: string, all: StrategyInfo[], fits: StrategyInfo[], chosen: string[]): HTMLElement {
    const base = name.split(":")[0];
    const info = all.find((s) => s.name === base);
    const applies = fits.some((s) => s.name === base);
    const tip = `${info?.summary ?? "unknown"}${applies ? "" : " (not in this game)"}. Click to remove it.`;
    return h(
      "button",
      {
        type: "button", class: applies ? "chip" : "chip off", "data-tip": tip, "aria-label": `Remove ${name}`, "data-testid": `chip-${name}`,
        click: () => this.actions.setStrategies(chosen.filter((other) => other !== name)),
      },
      name,
      h("span", { "aria-hidden": "true" }, "×"),
    );
  }
}
