// One tooltip for the whole page: it shows the data-tip of the element that is hovered or focused.
import { h } from "./dom";

const DELAY = 350;

export function installTooltips(): void {
  const tip = h("div", { class: "tooltip", role: "tooltip", id: "tooltip", hidden: true });
  document.body.append(tip);
  let timer = 0;
  let owner: Element | null = null;

  const hide = (): void => {
    clearTimeout(timer);
    tip.hidden = true;
    owner?.removeAttribute("aria-describedby");
    owner = null;
  };
  const show = (target: Element): void => {
    tip.textContent = target.getAttribute("data-tip");
    tip.hidden = false;
    target.setAttribute("aria-describedby", "tooltip");
    const box = target.getBoundingClientRect();
    const left = Math.max(8, Math.min(box.left + box.width / 2 - tip.offsetWidth / 2, innerWidth - tip.offsetWidth - 8));
    const below = box.bottom + 8;
    const fits = below + tip.offsetHeight < innerHeight - 4;
    tip.style.left = `${left}px`;
    tip.style.top = `${fits ? below : Math.max(4, box.top - tip.offsetHeight - 8)}px`;
  };
  const enter = (event: Event, delay: number): void => {
    const target = event.target instanceof Element ? event.target.closest("[data-tip]") : null;
    if (target === owner) return;
    hide();
    if (!target) return;
    owner = target;
    timer = window.setTimeout(() => show(target), delay);
  };
  document.addEventListener("pointerover", (event) => enter(event, DELAY));
  document.addEventListener("focusin", (event) => {
    if (event.target instanceof Element && event.target.matches(":focus-visible")) enter(event, DELAY);
  });
  document.addEventListener("focusout", hide);
  document.addEventListener("pointerdown", hide, true);
  document.addEventListener("keydown", hide, true);
}
