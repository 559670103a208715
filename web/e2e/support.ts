// Starts the real command and a real browser for the tests.
//   PEBBLE     the command (../build/pebble)
//   CHROMIUM   the browser (/usr/bin/chromium)
//   PEBBLE_STATIC   a folder from `make web-static`: the page without a server, for the same tests
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { tmpdir } from "node:os";
import { extname, join, normalize, resolve } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";

export const web = process.env.PEBBLE_WEB ?? process.cwd();
export const pebble = process.env.PEBBLE ?? resolve(web, "../build/pebble");
const CHROMIUM = process.env.CHROMIUM ?? ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);

/** Why the tests cannot run here, or null. */
export function missing(): string | null {
  if (!existsSync(pebble)) return `there is no command at ${pebble}`;
  return CHROMIUM && existsSync(CHROMIUM) ? null : "there is no chromium";
}

export interface Server {
  address: string;
  stop(): Promise<void>;
  kill(): Promise<void>; // at once, as if it had crashed
}

export const staticFolder = process.env.PEBBLE_STATIC ? resolve(web, process.env.PEBBLE_STATIC) : null;

/** A plain server of files, as any web host has: no headers of its own, in a folder below the root. */
export async function startStatic(folder: string): Promise<Server> {
  const types: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
  const server = createServer((request, response) => {
    const path = normalize(new URL(request.url ?? "/", "http://h").pathname).replace(/^\/site/, "");
    readFile(join(folder, path === "/" ? "index.html" : path)).then(
      (bytes) => response.writeHead(200, { "Content-Type": types[extname(path || ".html")] ?? (path === "/" ? "text/html" : "application/octet-stream") }).end(bytes),
      () => response.writeHead(404).end(),
    );
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  server.unref();
  const stop = (): Promise<void> =>
    new Promise((done) => {
      server.closeAllConnections();
      server.close(() => done());
    });
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/site/`, stop, kill: stop };
}

/** `pebble ui` on a free port. It serves the page built into it, or web/dist where PEBBLE_PAGE names it. */
export async function startServer(...args: string[]): Promise<Server> {
  if (staticFolder) return startStatic(staticFolder);
  const page = process.env.PEBBLE_PAGE ? ["--page", process.env.PEBBLE_PAGE] : [];
  const child: ChildProcess = spawn(pebble, ["ui", "--no-open", ...(args.includes("--port") ? [] : ["--port", "0"]), ...page, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  process.once("exit", () => child.kill()); // a test that crashes leaves no server behind
  const address = await new Promise<string>((done, fail) => {
    let text = "";
    child.stdout?.on("data", (part: Buffer) => {
      text += part.toString();
      const found = /https?:\/\/\S+/.exec(text);
      if (found) done(found[0]);
    });
    child.on("exit", (code) => fail(new Error(`pebble ui ended with ${code} before it told its address`)));
    setTimeout(() => fail(new Error("pebble ui told no address within 20 s")), 20_000).unref();
  });
  child.unref(); // the tests end even if one of them fails and leaves its server running
  (child.stdout as Socket).unref();
  const end = (signal: NodeJS.Signals): Promise<void> =>
    new Promise((done) => {
      if (child.exitCode !== null || child.signalCode !== null) return done();
      child.ref();
      child.on("exit", () => done());
      child.kill(signal);
    });
  return { address, stop: () => end("SIGINT"), kill: () => end("SIGKILL") };
}

export function launch(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
    args: [
      "--headless", "--no-sandbox", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update",
      "--disable-sync", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    ],
  });
}

export interface Opened {
  page: Page;
  errors: string[]; // what the page threw or logged as an error
  close(): Promise<void>;
}

export async function openPage(browser: Browser, address: string, { picture = true, ...options }: BrowserContextOptions & { picture?: boolean } = {}): Promise<Opened> {
  // Less motion: software rendering of every glow would take most of the time of the tests.
  const context = await browser.newContext({ reducedMotion: "reduce", viewport: { width: 1280, height: 800 }, acceptDownloads: true, ...options });
  const page = await context.newPage();
  page.setDefaultTimeout(60_000); // every wait is for an event, which may be late on a busy machine
  if (!picture) await withoutPicture(page);
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    if (message.type() === "error") errors.push(message.text());
  });
  await page.goto(address);
  return { page, errors, close: () => context.close() };
}

/** Waits until nothing is on its way: a graph is open, its rows are planned and the plan that plays is loaded. */
export async function ready(page: Page): Promise<void> {
  await page.waitForFunction(() => window.pebble.settled());
}

/** Waits until the picture stands still: two frames with the same camera. */
export async function still(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const frame = (): Promise<unknown> => new Promise((done) => requestAnimationFrame(done));
    const camera = (): string => JSON.stringify(window.pebble.scene()?.view);
    await frame();
    for (let before = "", now = camera(); now !== before; now = camera()) {
      before = now;
      await frame();
      await frame();
    }
  });
}

/** For pages whose picture is not looked at: without it they start in half the time. */
export async function withoutPicture(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const get = HTMLCanvasElement.prototype.getContext as (this: HTMLCanvasElement, kind: string, ...rest: unknown[]) => unknown;
    HTMLCanvasElement.prototype.getContext = function (this: HTMLCanvasElement, kind: string, ...rest: unknown[]) {
      return kind === "webgl2" ? null : get.call(this, kind, ...rest);
    } as typeof HTMLCanvasElement.prototype.getContext;
  });
}

/** Runs the command; its output also where it ends with a status of its own. */
export function run(args: string[]): Promise<{ code: number; out: string; err: string }> {
  return new Promise((done) => {
    execFile(pebble, args, { maxBuffer: 64 << 20 }, (error, out, err) => {
      const code = error ? ((error as { code?: number }).code ?? 1) : 0;
      done({ code, out, err });
    });
  });
}

export async function scratch(): Promise<{ dir: string; drop(): Promise<void> }> {
  const dir = await mkdtemp(join(tmpdir(), "pebble-e2e-"));
  return { dir, drop: () => rm(dir, { recursive: true, force: true }) };
}
