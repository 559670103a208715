// The rules and the planners: game, prices of slow memory, strategies, policy, planning time.
import type { GameName, Prices, StrategyInfo } from "../api";
import { h, setText } from "../dom";
import type { Actions, Model, Panel } from "../model";
import { quickFirst } from "../store";
import { TERMS } from "../words";

const GAMES: { value: GameName | ""; label: string; tip: string }[] = [
  { value: "", label: "all", tip: "Every game that applies; the winner is over all of them." },
  { value: "remat", label: "remat", tip: "Compute and free: what was freed is computed again." },
  { value: "reversible", label: "reversible", tip: "Nothing may be erased: values go by uncomputing them." },
  { value: "tiered", label: "tiered", tip: "As remat, and values may be stored in a slow memory at a price." },
];

const TIMES = [500, 1000, 2000, 5000, 15000, 60000];
const START_PRICES: Prices = { store_cost: 1, load_cost: 1, store_per_unit: 0, load_per_unit: 0, slow_cap: "none" };
const PRICE_FIELDS: { key: keyof Prices; label: string; tip: string }[] = [
  { key: "store_cost", label: "store", tip: "What each move of a value to slow memory costs." },
  { key: "load_cost", label: "load", tip: "What each move back costs." },
  { key: "store_per_unit", label: "store/u", tip: "Beside that, what each unit of size costs on the way out." },
  { key: "load_per_unit", label: "load/u", tip: "Beside that, what each unit of size costs on the way back." },
];

export class Knobs implements Panel {
  readonly element: HTMLElement;
  private readonly games: HTMLButtonElement[];
  private readonly prices = h("div", { class: "prices", hidden: true });
  private readonly chips = h("div", { class: "chips", role: "group", "aria-label": "Strategies to compare" });
  private readonly more = h("details", { class: "more" });
  private readonly moreList = h("div", { class: "more-list" });
  private readonly moreCount = h("summary", { "data-testid": "strategies-more" });
  private readonly policy = h("select", { "aria-label": "Eviction policy", "data-testid": "policy" });
  private readonly time = h("select", { "aria-label": "Planning time", "data-testid": "time" });
  private known = "";
  private pricesKey = "";

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
    this.policy.addEventListener("change", () => actions.setPolicy(this.policy.value || null));
    for (const ms of TIMES) this.time.append(h("option", { value: ms }, `${ms / 1000} s`));
    this.time.addEventListener("change", () => actions.setTime(Number(this.time.value)));
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
      { class: "knob", "aria-label": "Rules and planners" },
      h("h3", { "data-tip": TERMS.game }, "Game"),
      h("div", { class: "segments", role: "group", "aria-label": "Game" }, ...this.games),
      this.prices,
      h("div", { class: "knob-row" }, h("h3", { "data-tip": TERMS.strategies }, "Strategies"), this.more),
      this.chips,
      h(
        "div",
        { class: "pair" },
        h("label", null, h("span", { "data-tip": TERMS.policy }, "Policy"), this.policy),
        h("label", null, h("span", { "data-tip": TERMS.time }, "Time"), this.time),
      ),
    );
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
    this.drawPrices(model);
    this.drawChips(model);
    this.policy.value = model.view.policy ?? "";
    const time = String(model.view.timeMs);
    if (![...this.time.options].some((option) => option.value === time)) {
      this.time.append(h("option", { value: time }, `${model.view.timeMs / 1000} s`));
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
    const show = model.view.game === "tiered" || (model.view.game === null && model.view.prices !== null);
    this.prices.hidden = !show;
    const prices = model.view.prices ?? START_PRICES;
    const key = JSON.stringify(prices);
    if (!show || key === this.pricesKey || this.prices.contains(document.activeElement)) return;
    this.pricesKey = key;
    this.prices.replaceChildren(
      ...PRICE_FIELDS.map((field) => {
        const input = h("input", {
          type: "text", inputmode: "numeric", value: String(prices[field.key]), "data-testid": `price-${field.key}`,
          change: () => this.changePrice(field.key, input.value, prices),
        });
        return h("label", { "data-tip": field.tip }, h("span", null, field.label), input);
      }),
    );
  }

  private changePrice(key: keyof Prices, text: string, prices: Prices): void {
    if (!/^\d{1,18}$/.test(text)) return;
    const value = Number.isSafeInteger(Number(text)) ? Number(text) : text;
    this.actions.setPrices({ ...prices, [key]: value });
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
    const others = fits.filter((s) => !chosen.some((name) => name.split(":")[0] === s.name));
    setText(this.moreCount, others.length ? `Add (${others.length} more)` : "All compared");
    this.moreList.replaceChildren(
      this.presets(fits),
      this.own(about.strategies, chosen),
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
    const quick = fits.filter((s) => ["last-use", "cache-all", "sqrt", "chen", "dtr", "hcb", "bennett", "knill", "auto"].includes(s.name));
    return h(
      "div",
      { class: "presets" },
      h("button", { type: "button", class: "small", "data-testid": "strategies-few", click: () => this.actions.setStrategies(names(quick)) }, "Well known"),
      h("button", { type: "button", class: "small", "data-testid": "strategies-all", click: () => this.actions.setStrategies(names(fits)) }, "All"),
    );
  }

  /** A strategy with settings of its own, written as for the command. */
  private own(all: StrategyInfo[], chosen: string[]): HTMLElement {
    const input = h("input", {
      type: "text", placeholder: "every-k:k=10", spellcheck: "false", "aria-label": "A strategy with its settings", "data-testid": "strategy-own",
      "data-tip": "A strategy with settings, as the command takes it: every-k:k=10. Enter adds it.",
      keydown: (event: KeyboardEvent) => {
        if (event.key !== "Enter") return;
        const name = input.value.trim();
        const known = all.some((one) => one.name === name.split(":")[0]);
        input.setAttribute("aria-invalid", String(!known));
        if (known && !chosen.includes(name)) this.actions.setStrategies(quickFirst([...chosen, name]));
      },
    });
    return input;
  }

  private chip(name: string, all: StrategyInfo[], fits: StrategyInfo[], chosen: string[]): HTMLElement {
    const base = name.split(":")[0];
    const info = all.find((s) => s.name === base);
    const applies = fits.some((s) => s.name === base);
    const tip = `${info?.summary ?? "unknown"}${applies ? "" : " (not in this game)"}. Press to leave it out.`;
    return h(
      "button",
      {
        type: "button", class: applies ? "chip" : "chip off", "data-tip": tip, "aria-label": `Leave out ${name}`, "data-testid": `chip-${name}`,
        click: () => this.actions.setStrategies(chosen.filter((other) => other !== name)),
      },
      name,
      h("span", { "aria-hidden": "true" }, "×"),
    );
  }
}
