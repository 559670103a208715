// Small typed helpers instead of a framework.

type Child = Node | string | null | undefined | false;
type Props = Record<string, string | number | boolean | null | undefined | ((event: never) => void)>;

function fill(element: Element, props: Props | null, children: Child[]): void {
  for (const [key, value] of Object.entries(props ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key, value as EventListener);
    else if (value === true) element.setAttribute(key, "");
    else element.setAttribute(key, String(value));
  }
  for (const child of children) if (child) element.append(child);
}

/** An element: attributes by name (functions become event handlers), then children. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props | null = null,
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  fill(element, props, children);
  return element;
}

export function svg<K extends keyof SVGElementTagNameMap>(
  tag: K,
  props: Props | null = null,
  ...children: Child[]
): SVGElementTagNameMap[K] {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(element, props, children);
  return element;
}

export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

export function setAttr(element: Element, name: string, value: string | null): void {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

export type Debounced<A extends unknown[]> = ((...args: A) => void) & { cancel(): void; pending(): boolean };

/** Runs `act` once, when there was no call for `ms`. */
export function debounce<A extends unknown[]>(ms: number, act: (...args: A) => void): Debounced<A> {
  let timer = 0;
  const cancel = (): void => {
    clearTimeout(timer);
    timer = 0;
  };
  const later = (...args: A): void => {
    cancel();
    timer = window.setTimeout(() => {
      timer = 0;
      act(...args);
    }, ms);
  };
  return Object.assign(later, { cancel, pending: () => timer !== 0 });
}

const PATHS: Record<string, string> = {
  first: "M4 3v10M13 3 6 8l7 5z",
  back: "M11 3 4 8l7 5z",
  play: "M5 3l8 5-8 5z",
  pause: "M5 3v10M11 3v10",
  forward: "M5 3l7 5-7 5z",
  last: "M12 3v10M3 3l7 5-7 5z",
  peak: "M2 13 7 4l3 5 2-3 3 7",
  sun: "M8 5.2A2.8 2.8 0 1 0 8 10.8 2.8 2.8 0 1 0 8 5.2M8 1.5v1.6M8 12.9v1.6M1.5 8h1.6M12.9 8h1.6M3.4 3.4l1.1 1.1M11.5 11.5l1.1 1.1M3.4 12.6l1.1-1.1M11.5 4.5l1.1-1.1",
  moon: "M13 9.5A5.6 5.6 0 0 1 6.5 3a5.6 5.6 0 1 0 6.5 6.5z",
  link: "M6.5 9.5l3-3M7 4.5l1.2-1.2a2.9 2.9 0 0 1 4.1 4.1L11.5 8.6M9 11.5l-1.2 1.2a2.9 2.9 0 0 1-4.1-4.1L4.5 7.4",
  open: "M2 12.5V4h4l1.5 1.5H14v7z",
  make: "M8 3v10M3 8h10",
  minus: "M3 8h10",
  save: "M8 2.5v7.5M5 7l3 3 3-3M3 13h10",
  help: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.5M8 12v.3",
  close: "M4 4l8 8M12 4l-8 8",
  down: "M4 6.5l4 4 4-4",
  stop: "M4.5 4.5h7v7h-7z",
  fit: "M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10",
  again: "M13 8a5 5 0 1 1-1.5-3.6M13 2.5v3h-3",
  beside: "M2 3h5v10H2zM9 3h5v10H9z",
  target: "M8 4.5a3.5 3.5 0 1 0 0 7 3.5 3.5 0 1 0 0-7M8 1.5v3M8 11.5v3M1.5 8h3M11.5 8h3",
};

const SOLID = new Set(["play", "stop", "back", "forward"]);

export function icon(name: string): SVGSVGElement {
  return svg(
    "svg",
    { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", class: SOLID.has(name) ? "icon solid" : "icon" },
    svg("path", { d: PATHS[name] ?? "" }),
  );
}

let nextId = 0;
export function uniqueId(prefix: string): string {
  nextId += 1;
  return `${prefix}-${nextId}`;
}
