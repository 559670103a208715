import assert from "node:assert/strict";
import { test } from "node:test";
import { capValue, LARGEST, readCap, readPrice, readWeight } from "../src/sizes";

const cap = (text: string): bigint | string => {
  const read = readCap(text, 32, "byte");
  return read.ok ? read.value : read.wrong;
};

test("a typed cap is read as the command reads it", () => {
  assert.equal(cap("40%"), 13n);
  assert.equal(cap("100 %"), 32n);
  assert.equal(cap("2KiB"), 2048n);
  assert.equal(cap("2k"), 2000n);
  assert.equal(cap("1.5 MB"), 1_500_000n);
  assert.equal(cap("0.0000005MB"), 0n, "down, so that the cap is never passed");
  assert.equal(cap("1EiB"), 1n << 60n);
  assert.equal(cap("none"), LARGEST);
  assert.equal(cap("17"), 17n);
  assert.equal(cap("18446744073709551614"), LARGEST - 1n);
  assert.deepEqual(readCap("2KiB", 32, "KiB"), { ok: true, value: 2n });
  assert.deepEqual(readCap("50%", "18446744073709551610", "byte"), { ok: true, value: 9223372036854775805n });
  assert.equal(capValue("none", 32, "byte"), Infinity);
});

test("an invalid cap is rejected with the reason", () => {
  assert.match(String(cap("99999999999999999999GiB")), /99999999999999999999GiB is too large: .*16 EiB/);
  assert.match(String(cap("18446744073709551615")), /too large/);
  assert.match(String(cap("20EiB")), /too large/);
  assert.match(String(cap("9".repeat(400))), /^9{39}… is too large/);
  assert.match(String(cap("-3")), /is negative/);
  assert.match(String(cap("")), /cap is empty/);
  assert.match(String(cap("4 parsec")), /parsec is not a unit/);
  assert.match(String(cap("1.5")), /whole number/);
  assert.match(String(cap("0.1234567891%")), /9 digits/);
  for (const text of ["abc", "1e3", "NaN", "Infinity", ".5%", "1.%", "%", "0x10", "1,5GiB"]) assert.match(String(cap(text)), /is not a (size|unit)/, text);
  assert.equal(capValue("99999999999999999999GiB", 32, "byte"), null);
});

const STEPS = { size_unit: "pebble", cost_unit: "step" };
const TIMES = { size_unit: "byte", cost_unit: "ns" };

test("weights are read together", () => {
  const read = (text: string): unknown => readWeight(text, 0, ["0", "0", "1"], STEPS);
  assert.deepEqual(read(" 0.25 "), { ok: true, value: ["0.25", "0", "1"] });
  assert.deepEqual(read("1e-11"), { ok: true, value: ["0.00000000001", "0", "1"] });
  assert.deepEqual(read("1e3"), { ok: true, value: ["1000", "0", "1"] });
  for (const text of ["", "-1", "NaN", "1e-19", "1e20", "x", ".", "0.1234567890123456789", "99999999999999999999", "1,5", "Infinity"]) {
    const one = readWeight(text, 0, ["0", "0", "1"], STEPS);
    assert.ok(!one.ok && one.wrong.length > 10, text);
  }
  assert.match((readWeight("18446744073709551615", 0, ["0", "0.000000001", "1"], STEPS) as { wrong: string }).wrong, /other weights/);
});

test("weights have the units of the command", () => {
  const read = (text: string, which: number, units = TIMES): unknown => {
    const one = readWeight(text, which, ["0", "0", "1"], units);
    return one.ok ? one.value[which] : one.wrong;
  };
  assert.equal(read("0.5s/GiB", 0), "0.465661287307739258"); // as `pebble plan --weights 0.5s/GiB,0,1` prints it
  assert.equal(read("0.5 s/GiB", 0), "0.465661287307739258");
  assert.equal(read("2Gflop/GB", 0, { size_unit: "byte", cost_unit: "flop" }), "2");
  assert.equal(read("3step/pebble", 0, STEPS), "3");
  assert.equal(read("3step", 0, { size_unit: "pebble", cost_unit: "0.001 step" }), "3000");
  assert.equal(read("0.01/GiB", 1), "0.000000000009313226");
  assert.match(String(read("0.01s/GiB", 1)), /only a unit of size/);
  assert.match(String(read("1s", 2)), /has no unit/);
  assert.match(String(read("1Gflop/GiB", 0)), /Gflop is not a unit of this graph's costs, which are in ns/);
  assert.match(String(read("1s/parsec", 0)), /parsec is not a unit of this graph's sizes, which are in byte/);
  assert.match(String(read("1s/", 0)), /is not a unit/);
  assert.match(String(read("1e-15/EiB", 1)), /too fine/);
});

test("prices are exact decimals below 2^64", () => {
  assert.deepEqual(readPrice("7"), { ok: true, value: 7 });
  assert.deepEqual(readPrice("0.5"), { ok: true, value: "0.5" });
  assert.deepEqual(readPrice("12.340"), { ok: true, value: "12.34" });
  assert.deepEqual(readPrice("3.0"), { ok: true, value: 3 });
  assert.deepEqual(readPrice("18446744073709551615"), { ok: true, value: "18446744073709551615" });
  for (const text of ["", "-1", "1.", ".", "1e3", "NaN", "18446744073709551616", "1GiB", "0.1234567891"]) assert.ok(!readPrice(text).ok, text);
});
