// A modal sheet over the page, based on the dialog element: it traps the focus, and Escape closes it.
import { h, icon, uniqueId } from "../dom";

export class Sheet {
  readonly element: HTMLDialogElement;
  readonly body = h("div", { class: "sheet-body" });

  constructor(title: string, testid: string, wide = false) {
    const id = uniqueId("sheet");
    this.element = h(
      "dialog",
      { class: wide ? "sheet wide" : "sheet", "aria-labelledby": id, "data-testid": testid },
      h(
        "header",
        null,
        h("h2", { id }, title),
        h("button", { class: "quiet", type: "button", "aria-label": "Close", click: () => this.close() }, icon("close")),
      ),
      this.body,
    );
    this.element.addEventListener("click", (event) => {
      if (event.target === this.element) this.close();
    });
  }

  get isOpen(): boolean {
    return this.element.open;
  }

  open(): void {
    if (!this.element.isConnected) document.body.append(this.element);
    if (this.element.open) return;
    this.element.showModal();
    // Focus the first choice, not the close button.
    this.body.querySelector<HTMLElement>("[aria-current], button, input, select")?.focus();
  }

  close(): void {
    this.element.close();
  }
}

/** A button with a list of choices below it. */
export class Menu {
  readonly element: HTMLElement;
  private readonly button: HTMLButtonElement;
  private readonly list: HTMLElement;

  constructor(
    label: string,
    iconName: string,
    testid: string,
    private readonly items: { label: string; hint: string; testid: string; act: () => void }[],
    tip: string,
  ) {
    this.button = h(
      "button",
      {
        type: "button", "aria-haspopup": "menu", "aria-expanded": "false", "data-testid": testid, "data-tip": tip,
        click: () => this.toggle(),
      },
      icon(iconName),
      h("span", null, label),
      icon("down"),
    );
    this.list = h("div", { class: "menu", role: "menu", hidden: true });
    for (const item of items) {
      this.list.append(
        h(
          "button",
          { type: "button", role: "menuitem", "data-testid": item.testid, click: () => this.choose(item.act) },
          h("span", null, item.label),
          h("small", null, item.hint),
        ),
      );
    }
    this.element = h("div", { class: "menu-host" }, this.button, this.list);
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.element.addEventListener("focusout", (event) => {
      if (!this.element.contains(event.relatedTarget as Node | null)) this.close();
    });
  }

  setEnabled(enabled: boolean): void {
    this.button.disabled = !enabled;
  }

  toggle(): void {
    if (this.list.hidden) this.open();
    else this.close();
  }

  open(): void {
    if (this.button.disabled) return;
    this.list.hidden = false;
    this.button.setAttribute("aria-expanded", "true");
    (this.list.firstElementChild as HTMLElement | null)?.focus();
  }

  close(): void {
    this.list.hidden = true;
    this.button.setAttribute("aria-expanded", "false");
  }

  private choose(act: () => void): void {
    this.close();
    this.button.focus();
    act();
  }

  private key(event: KeyboardEvent): void {
    if (this.list.hidden) return;
    const buttons = [...this.list.querySelectorAll("button")];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    if (event.key === "Escape") {
      this.close();
      this.button.focus();
    } else if (event.key === "ArrowDown") buttons[(at + 1) % this.items.length]?.focus();
    else if (event.key === "ArrowUp") buttons[(at + this.items.length - 1) % this.items.length]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
