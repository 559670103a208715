// One file that plays the plans of the page in any browser, offline: the same parts as in the files of `pebble export --as html`.
import type { Row } from "../api_types";
import type { Model } from "../model";
import { rank } from "../model";
import { capValue } from "../sizes";
import { playable } from "../words";

const MAX_BYTES = 48 << 20; // of moves

export interface HtmlSource {
  layout(): Promise<ArrayBuffer>;
  names(): Promise<ArrayBuffer>;
  frames(plan: string): Promise<ArrayBuffer>;
  /** A file of the page. */
  part(name: "player.js" | "app.css"): Promise<string>;
}

export function base64(bytes: Uint8Array): string {
  const pieces: string[] = [];
  const step = 0x6000; // a multiple of 3
  for (let at = 0; at < bytes.length; at += step) pieces.push(btoa(String.fromCharCode(...bytes.subarray(at, at + step))));
  return pieces.join("");
}

function part(name: string, content: ArrayBuffer | string): string {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : new Uint8Array(content);
  return `<script type="text/plain" id="data-${name}">${base64(bytes)}</script>\n`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

/** The rows, the shown one first for room: plans beyond it are listed without their moves. */
async function plans(rows: readonly Row[], shown: Row | null, source: HtmlSource): Promise<{ parts: string[]; left: number }> {
  const parts: string[] = [];
  let [used, left] = [0, 0];
  const order = [...rows.keys()].sort((a, b) => Number(rows[b] === shown) - Number(rows[a] === shown));
  for (const i of order) {
    const plan = playable(rows[i]);
    if (!plan) continue;
    const bytes = await source.frames(plan).catch(() => null); // the server may have removed it
    if (bytes && used + bytes.byteLength <= MAX_BYTES) {
      used += bytes.byteLength;
      parts.push(part(`frames-${i}`, bytes));
    } else left += 1;
  }
  return { parts, left };
}

/** The file, and how many plans it has no room for. */
export async function playerHtml(model: Model, source: HtmlSource): Promise<{ html: string; left: number }> {
  const { graph } = model;
  if (!graph) throw new Error("Open a graph first.");
  const rows = rank(model).fresh;
  const cap = capValue(model.view.cap, graph.written_peak, graph.size_unit);
  const comparison = { cap: cap !== null && Number.isFinite(cap) ? cap : null, weights: model.view.weights, strategies: rows };
  const [layout, names, script, style] = await Promise.all([source.layout(), source.names(), source.part("player.js"), source.part("app.css")]);
  const { parts, left } = await plans(rows, model.shown, source);
  const head = [
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">",
    `<title>${escaped(graph.name)} · Pebble-Bridge</title>`,
    `<style>\n${style}</style>\n</head>\n<body>`,
    '<div id="app"></div>\n<noscript>JavaScript is needed to play this plan.</noscript>\n',
  ].join("\n");
  const data = [
    part("graph", JSON.stringify(graph)), part("rows", JSON.stringify(comparison)), part("labels", JSON.stringify(rows.map((row) => row.asked ?? row.strategy))),
    part("layout", layout), part("names", names), ...(model.sweep ? [part("sweep", JSON.stringify({ sweeps: [model.sweep] }))] : []),
  ];
  return { html: `${head}${data.join("")}${parts.join("")}<script type="module">\n${script}</script>\n</body>\n</html>\n`, left };
}
