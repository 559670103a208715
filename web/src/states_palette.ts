// The two themes: colours by state. States differ in lightness as well as in hue, and states at rest also in shape
// (ring, dot, disc, square), so that they can be distinguished without colour.

import { STATE_COUNT } from "./node_state";

export interface Theme {
  dark: boolean;
  background: string;
  edge: string;
  text: string;
  /** By NodeState. */
  states: string[];
  accent: string;
  group: string;
}

export const darkTheme: Theme = {
  dark: true,
  background: "#0b0f15",
  edge: "#64748b",
  text: "#cbd5e1",
  states: [
    "#485770", // never
    "#5f6c80", // freed
    "#2fc6b0", // in memory
    "#ffd479", // computing
    "#ff8055", // recomputing
    "#f17bc0", // uncomputing
    "#8f8cf5", // in slow memory
    "#2fc6b0", // in both
    "#6fb1ff", // loading
    "#b79dff", // storing
  ],
  accent: "#8fd3ff",
  group: "#7f93b2",
};

export const lightTheme: Theme = {
  dark: false,
  background: "#fbfaf7",
  edge: "#8490a3",
  text: "#334155",
  states: [
    "#b6bfcb", // never
    "#a3acb9", // freed
    "#0f9f8f", // in memory
    "#f0a30a", // computing
    "#e5532d", // recomputing
    "#d0409a", // uncomputing
    "#6a63dd", // in slow memory
    "#0f9f8f", // in both
    "#2f7fe0", // loading
    "#8b5cf6", // storing
  ],
  accent: "#1d6fd0",
  group: "#64748b",
};

/** Red, green and blue in 0..1 of "#rgb", "#rrggbb" or "rgb(r, g, b)". */
export function parseColour(text: string): [number, number, number] {
  const hex = text.trim().match(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i)?.[1];
  if (hex) {
    const wide = hex.length === 3 ? [...hex].map((c) => c + c).join("") : hex;
    const v = parseInt(wide, 16);
    return [(v >> 16) / 255, ((v >> 8) & 255) / 255, (v & 255) / 255];
  }
  const parts = text.match(/[\d.]+/g)?.map(Number) ?? [];
  if (parts.length < 3) throw new RangeError(`"${text}" is not a colour of the form #rrggbb or rgb(r, g, b)`);
  return [parts[0] / 255, parts[1] / 255, parts[2] / 255];
}

/** The same colour with an opacity, for a 2D canvas. */
export function withAlpha(text: string, alpha: number): string {
  const [r, g, b] = parseColour(text).map((c) => Math.round(c * 255));
  return `rgba(${r}, ${g}, ${b}, ${alpha})`;
}

/** All state colours as one array of floats, as a shader takes them. */
export function stateColours(theme: Theme): Float32Array {
  const out = new Float32Array(3 * STATE_COUNT);
  for (let s = 0; s < STATE_COUNT; s++) out.set(parseColour(theme.states[s] ?? theme.text), 3 * s);
  return out;
}
