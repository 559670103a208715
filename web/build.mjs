// Builds the page: dist/index.html, dist/app.js, dist/app.css and dist/player.js (the script of files that play without
// the command), one file each, so that the command can embed them. `--watch` builds again on every change.
// `--static FOLDER --wasm FILE` writes the page that needs no server into FOLDER: the core is in it, as WebAssembly.
import { build, context } from "esbuild";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const watch = process.argv.includes("--watch");
const after = (name) => (process.argv.includes(name) ? process.argv[process.argv.indexOf(name) + 1] : undefined);
const folder = after("--static");
const out = folder ? resolve(folder) : (process.env.PEBBLE_WEB_OUT ?? join(here, "dist"));

const options = {
  absWorkingDir: here,
  entryPoints: folder ? { app: "src/main.ts", core: "src/core/worker.ts", player: "src/offline/main.ts" } : { app: "src/main.ts", player: "src/offline/main.ts" },
  outdir: out,
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: !watch,
  sourcemap: watch ? "inline" : false,
  legalComments: "none",
  logLevel: "warning",
};

// What the page may load: its own files, and what it makes itself. A server may send a stricter rule.
const POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; connect-src 'self' blob:; img-src 'self' blob: data:; base-uri 'none'; form-action 'none'";

if (folder) await rm(out, { recursive: true, force: true });
await mkdir(out, { recursive: true });
if (folder) {
  const page = await readFile(join(here, "index.html"), "utf8");
  const head = `<meta http-equiv="Content-Security-Policy" content="${POLICY}" />\n    <meta name="pebble-core" content="pebble.wasm" />\n    <title>`;
  await writeFile(join(out, "index.html"), page.replace("<title>", head));
  await writeFile(join(out, ".nojekyll"), ""); // hosts that would rewrite the files
  await copyFile(join(here, "favicon.svg"), join(out, "favicon.svg"));
  await copyFile(resolve(after("--wasm")), join(out, "pebble.wasm"));
} else for (const name of ["index.html", "favicon.svg"]) await copyFile(join(here, name), join(out, name));
if (watch) {
  const session = await context(options);
  await session.watch();
} else {
  await build(options);
}
