import assert from "node:assert/strict";
import { test } from "node:test";
import type { GameName, StrategyInfo } from "../src/api";
import { askedStrategies, defaultView, fromFragment, quickFirst, toFragment, type View } from "../src/store";

const full: View = {
  source: { kind: "family", family: "unet", parameters: { depth: "3", dtype: "f16" } },
  game: "tiered",
  cap: "37.5%",
  strategies: ["every-k:k=10,limit=9", "auto"],
  all: true,
  policy: "oldest",
  machine: { name: "a100-40*4", slow: true },
  prices: { store_cost: 100, load_cost: 7, store_per_unit: 0, load_per_unit: "18446744073709551615", slow_cap: "none" },
  borrow: "25%",
  weights: ["1", "0.003", "0.5"],
  timeMs: 30000,
  ticks: null,
  shown: "auto/tiered",
  beside: ["cache-all/remat", "bennett/reversible"],
  clock: "moves",
  place: 2, memory: "values",
  step: 512,
  camera: { x: 1.25, y: -3, scale: 24.5 },
  node: 17,
  theme: "dark",
  lanes: "0",
  groups: "closed",
  open: [3, 7],
};

test("all strategies: every one that plays this game, without those that need a file or choose among others", () => {
  const one = (name: string, games: string[], traits: string[], strength = "heuristic"): StrategyInfo =>
    ({ name, summary: "", games, traits, strength, takes_policy: false, options: [] }) as StrategyInfo;
  const about = {
    games: ["remat", "reversible", "tiered"] as GameName[],
    strategies: [
      one("last-use", ["remat"], ["usual"]), one("keep", ["remat"], ["file"]), one("bennett", ["reversible"], []), one("partial", ["remat"], ["intervals"], "portfolio"),
      one("auto", ["remat"], [], "portfolio"), one("timed", ["timed"], []),
    ],
  };
  const view = { strategies: ["every-k:k=4", "auto"], all: false, game: null };
  assert.deepEqual(askedStrategies(about, view), view.strategies);
  assert.deepEqual(askedStrategies(about, { ...view, all: true }), ["every-k:k=4", "last-use", "bennett", "auto"]);
  assert.deepEqual(askedStrategies(about, { ...view, all: true, game: "remat" }), ["every-k:k=4", "last-use", "auto"]);
  assert.equal(fromFragment("#example=unet&all=1")?.all, true);
  assert.equal(fromFragment("#example=unet&all=maybe")?.all, false);
});

test("a link restores the exact view", () => {
  assert.deepEqual(fromFragment(toFragment(full)), full);
  const example: View = { ...defaultView(), cap: "", source: { kind: "gallery", id: "unet" } };
  assert.deepEqual(fromFragment(toFragment(example)), example);
  const file: View = { ...defaultView(), source: { kind: "file", name: "a & b+c #1.json", hash: "ab12" }, step: 0 };
  assert.deepEqual(fromFragment(toFragment(file)), file);
});

test("a link survives a round through an address", () => {
  const url = new URL("http://127.0.0.1:1234/" + toFragment(full));
  assert.deepEqual(fromFragment(url.hash), full);
});

test("invalid parts of a link are ignored", () => {
  assert.equal(fromFragment(""), null);
  assert.equal(fromFragment("#cap=40%"), null);
  const view = fromFragment("#example=unet&weights=1,x,2&step=-4&camera=1,2&game=chess&time=99999999999&theme=pink");
  assert.deepEqual(view, { ...defaultView(), cap: "", source: { kind: "gallery", id: "unet" } });
  const wild = ["cap=99999999999999999999GiB", "cap=-1", "cap=1e9", "cap=", "weights=18446744073709551615,0.000000001,1", "prices=1,1,0,18446744073709551616,none", "prices=1,1,0,0,lots"];
  for (const one of wild) assert.deepEqual(fromFragment(`#example=unet&${one}`), { ...defaultView(), cap: "", source: { kind: "gallery", id: "unet" } }, one);
});

test("auto comes last", () => {
  assert.deepEqual(quickFirst(["auto", "sqrt", "last-use"]), ["sqrt", "last-use", "auto"]);
});
