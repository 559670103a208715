import assert from "node:assert/strict";
import { test } from "node:test";
import { amount, fluxScale, group, percent, scaled, scaleFor, short, unbroken } from "../src/format";

test("sizes in bytes take binary units", () => {
  assert.equal(amount(1700094464, "byte"), "1.58 GiB");
  assert.equal(amount(512, "byte"), "512 B");
  assert.equal(amount(13, "pebble"), "13 pebbles");
  assert.equal(amount(1, "pebble"), "1 pebble");
  assert.equal(amount(9, "hash"), "9 hashes");
  assert.equal(amount(9, "ms"), "9 ms");
  assert.equal(amount(12, "flop"), "12 flop");
  assert.equal(amount(12, "0.1 step"), "12 × 0.1 step");
  assert.equal(amount(1_300_000, "unit"), "1.30 M units");
});

test("times take the unit that fits", () => {
  assert.equal(amount(95_160_123, "ns"), "95.2 ms");
  assert.equal(amount(1500, "ms"), "1.50 s");
  assert.equal(amount(7, "ns"), "7 ns");
  assert.equal(amount(12_340, "ns"), "12.3 µs");
  const scale = scaleFor(2e9, "ns");
  assert.equal(scale.unit, "s");
  assert.equal(scaled(250_000_000, scale), "0.250");
});

test("a bound is still true after rounding", () => {
  assert.equal(amount(21248, "byte"), "20.8 KiB"); // 20.75
  assert.equal(amount(21248, "byte", "down"), "20.7 KiB");
  assert.equal(amount(21248, "byte", "up"), "20.8 KiB");
  assert.equal(amount(21197, "byte", "up"), "20.8 KiB"); // 20.70019
  assert.equal(amount(20 * 1024, "byte", "up"), "20.0 KiB");
  assert.equal(amount(5, "pebble", "down"), "5 pebbles");
});

test("a column shares one scale", () => {
  const scale = scaleFor(1313194639360, "flop");
  assert.equal(scale.unit, "Tflop");
  assert.equal(scaled(154815954944, scale), "0.155");
});

test("memory over time has a unit of size and one of cost", () => {
  assert.deepEqual(fluxScale(1023, "byte", "ns"), { divide: 1, unit: "B·ns" });
  assert.deepEqual(fluxScale(1536, "byte", "ns"), { divide: 1024, unit: "KiB·ns" });
  assert.equal(fluxScale(8.7e16, "byte", "ns").unit, "GiB·ms");
  assert.equal(fluxScale(1.844674407370955e25, "byte", "flop").unit, "GiB·Pflop");
  assert.deepEqual(fluxScale(649000, "pebble", "ns"), { divide: 1000, unit: "pebble·µs" });
  assert.equal(fluxScale(649, "pebble", "step").unit, "pebble·step");
  assert.deepEqual(fluxScale(3e24, "pebble", "step"), { divide: 1e24, unit: "Y pebble·step" });
});

test("long numbers are grouped or shortened", () => {
  assert.equal(group("1234567"), "1\u202f234\u202f567");
  assert.equal(group(12), "12");
  assert.equal(short(1313194639360), "1.31\u202fT");
  assert.equal(percent(0.13364), "13.4\u202f%");
  assert.equal(percent(0.0001), "0.01\u202f%");
  assert.equal(percent(0.00001), "<0.01\u202f%");
  assert.equal(percent(0), "0\u202f%");
  assert.equal(unbroken("below 50 % and"), "below 50\u202f% and");
  assert.equal(percent(2.42), "242\u202f%");
  assert.equal(percent(6.3e19), "63.0\u202fE\u202f×");
});
