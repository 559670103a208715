// Bundles TypeScript tests and runs them.
//   node run_tests.mjs test          unit tests: every test/*.test.ts
//   node run_tests.mjs e2e           tests in the browser: every e2e/*.test.ts
//   node run_tests.mjs --script F    one script that is not a test, with what follows as its arguments
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

if (Number(process.versions.node.split(".")[0]) < 20) {
  console.error(`skipped: tests of the page need Node.js 20 or later, this is ${process.versions.node}`);
  process.exit(77);
}
const here = dirname(fileURLToPath(import.meta.url));
const [what = "test", ...rest] = process.argv.slice(2);
const script = what === "--script";
const filter = script ? null : rest[0];
const sources = script
  ? [resolve(here, rest.shift() ?? "")]
  : readdirSync(join(here, what))
      .filter((name) => name.endsWith(".test.ts") && (!filter || name.includes(filter)))
      .sort()
      .map((name) => join(here, what, name));
if (sources.length === 0) {
  console.error(`no tests in ${what}`);
  process.exit(1);
}

// The bundles are written inside the folder, so that they find the packages.
const out = mkdtempSync(join(here, "node_modules", ".pebble-tests-"));
let status = 1;
try {
  await build({
    entryPoints: sources,
    outdir: out,
    outbase: dirname(sources[0]),
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["playwright-core", "esbuild"],
    outExtension: { ".js": ".mjs" },
    logLevel: "warning",
    sourcemap: "inline",
  });
  const files = readdirSync(out).filter((name) => name.endsWith(".mjs")).map((name) => join(out, name));
  const flags = ["--enable-source-maps"];
  const named = process.env.PATTERN ? [`--test-name-pattern=${process.env.PATTERN}`] : []; // PATTERN=link: only these tests
  const args = script ? [...flags, files[0], ...rest] : [...flags, "--test", `--test-concurrency=${what === "e2e" ? 2 : 1}`, ...named, ...files];
  const run = spawnSync(process.execPath, args, {
    stdio: "inherit",
    cwd: here,
    env: { ...process.env, PEBBLE_WEB: here },
  });
  status = run.status ?? 1;
} finally {
  rmSync(out, { recursive: true, force: true });
}
process.exit(status);
