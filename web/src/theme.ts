// The colours are in style.css. Canvases need them resolved, so they are read from a probe element.
import type { Theme } from "./scene/scene";

const STATES = ["never", "evicted", "resident", "computing", "recomputing", "uncomputing", "slow", "both", "loading", "storing"];

function colour(probe: HTMLElement, name: string): string {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

export function isDark(choice: "system" | "light" | "dark"): boolean {
  if (choice !== "system") return choice === "dark";
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

export function applyTheme(choice: "system" | "light" | "dark"): void {
  if (choice === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = choice;
}

export function readTheme(choice: "system" | "light" | "dark"): Theme {
  const probe = document.createElement("span");
  document.body.append(probe);
  const theme: Theme = {
    dark: isDark(choice),
    background: colour(probe, "scene"),
    edge: colour(probe, "edge"),
    text: colour(probe, "ink"),
    states: STATES.map((name) => colour(probe, `state-${name}`)),
    accent: colour(probe, "accent"),
    group: colour(probe, "group"),
  };
  probe.remove();
  return theme;
}
