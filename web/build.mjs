// Builds the page: dist/index.html, dist/app.js, dist/app.css and dist/player.js (the script of files that play without
// the command), one file each, so that the command can embed them. `--watch` builds again on every change.
import { build, context } from "esbuild";
import { copyFile, mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const watch = process.argv.includes("--watch");
const out = process.env.PEBBLE_WEB_OUT ?? join(here, "dist");

const options = {
  absWorkingDir: here,
  entryPoints: { app: "src/main.ts", player: "src/offline/main.ts" },
  outdir: out,
  bundle: true,
  format: "esm",
  target: ["es2022"],
  minify: !watch,
  sourcemap: watch ? "inline" : false,
  legalComments: "none",
  logLevel: "warning",
};

await mkdir(out, { recursive: true });
for (const name of ["index.html", "favicon.svg"]) await copyFile(join(here, name), join(out, name));
if (watch) {
  const session = await context(options);
  await session.watch();
} else {
  await build(options);
}
