// Exports: files of the plan and the graph, pictures, a link.
import type { Api, FileKind, Row } from "./api";
import { h } from "./dom";
import type { Model } from "./model";
import type { Playback } from "./playback";
import type { Theme } from "./states_palette";
import { comparisonCsv, sweepCsv } from "./export/csv";
import { canFilm, film, type Film } from "./export/film";
import { playerHtml } from "./export/html";
import { sheetPng, sheetSvg, type SheetCell } from "./export/sheet";

function offer(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The server names files after the strategy. The settings are added, so that two rows of one strategy get different names. */
export function fileName(name: string, row: Pick<Row, "asked" | "strategy">): string {
  const settings = (row.asked ?? "").split(":").slice(1).join(":").replace(/[^\w.=-]+/g, "-");
  const at = name.lastIndexOf(`-${row.strategy}`);
  if (!settings || at < 0) return name;
  const end = at + 1 + row.strategy.length;
  return `${name.slice(0, end)}-${settings}${name.slice(end)}`;
}

function safeName(model: Model): string {
  return (model.graph?.name ?? "graph").replace(/\.[a-z]+$/i, "").replace(/[^\w.-]+/g, "-").replace(/^-+|-+$/g, "") || "graph";
}

export class Exports {
  private filming: Film | null = null;

  constructor(
    private readonly api: Api,
    private readonly model: Model,
    private readonly notify: (text: string, kind?: "note" | "error") => void,
  ) {}

  async plan(kind: FileKind): Promise<void> {
    const row = this.model.shown;
    if (!row?.plan) return this.notify("There is no plan to export at this cap. Raise the cap or add strategies.", "error");
    const { plan } = row;
    await this.save(() => this.api.planFile(plan, kind), (name) => fileName(name, row));
  }

  async graph(): Promise<void> {
    const graph = this.model.graph;
    if (graph) await this.save(() => this.api.graphFile(graph.id), (name) => name);
  }

  private async save(fetchFile: () => Promise<{ blob: Blob; name: string }>, named: (name: string) => string): Promise<void> {
    try {
      const { blob, name } = await fetchFile();
      offer(blob, named(name));
    } catch (reason) {
      this.notify(reason instanceof Error ? reason.message : String(reason), "error");
    }
  }

  /** What the page shows, with legend and figures. */
  async picture(kind: "png" | "svg", cells: SheetCell[], theme: Theme): Promise<void> {
    await this.save(
      async () => ({ blob: kind === "png" ? await sheetPng(this.model, cells, theme) : new Blob([sheetSvg(this.model, cells, theme)], { type: "image/svg+xml" }), name: `${safeName(this.model)}.${kind}` }),
      (name) => name,
    );
  }

  csv(kind: "comparison" | "sweep"): void {
    const { graph, sweep } = this.model;
    if (!graph) return;
    if (kind === "sweep" && !sweep) return this.notify("The sweep over caps has not ended yet; try again in a moment.", "error");
    const text = kind === "sweep" && sweep ? sweepCsv(graph, sweep) : comparisonCsv(this.model);
    offer(new Blob([text], { type: "text/csv" }), `${safeName(this.model)}-${kind}.csv`);
  }

  /** One file that plays the plans offline. */
  async html(): Promise<void> {
    const { graph, view } = this.model;
    if (!graph) return;
    const page = async (name: string): Promise<string> => {
      const response = await fetch(new URL(name, document.baseURI));
      if (!response.ok) throw new Error(`${name} cannot be read (${response.status}). Reload the page.`);
      return response.text();
    };
    let left = 0;
    await this.save(async () => {
      const made = await playerHtml(this.model, { layout: () => this.api.layout(graph.id, view.lanes, null), names: () => this.api.names(graph.id), frames: (plan) => this.api.frames(plan), part: page });
      left = made.left;
      return { blob: new Blob([made.html], { type: "text/html" }), name: `${safeName(this.model)}.html` };
    }, (name) => name);
    if (left) this.notify(`${left} plans are listed in the file without their moves, which would make it too large. Compare fewer strategies.`);
  }

  /** Records while the plan plays; a second call ends the recording. */
  async film(playback: Playback, cells: () => SheetCell[], theme: Theme): Promise<void> {
    if (this.filming) return this.filming.stop();
    if (!this.model.player || !cells().length) return this.notify("There is no plan to record at this cap. Raise the cap or add strategies.", "error");
    if (!canFilm()) return this.notify("This browser cannot record video. Use Chromium or Firefox.", "error");
    try {
      this.filming = film(this.model, playback, cells, theme);
      this.notify("Recording until the plan has ended; pausing ends it earlier.");
      offer(await this.filming.done, `${safeName(this.model)}.webm`);
    } catch (reason) {
      this.notify(reason instanceof Error ? reason.message : String(reason), "error");
    }
    this.filming = null;
  }

  async link(address: string): Promise<void> {
    const file = this.model.view.source?.kind === "file" ? " It does not contain the file: whoever follows it must open the file too." : "";
    try {
      await navigator.clipboard.writeText(address);
      this.notify(`Link copied.${file}`);
    } catch {
      // Without permission to use the clipboard: the address bar has the same link.
      this.notify(`The browser does not allow copying. Copy the link from the address bar.${file}`);
    }
  }
}
