// Taking things away: files of the plan and the graph, pictures, a link.
import type { Api, FileKind, Row } from "./api";
import { h } from "./dom";
import type { Model } from "./model";
import type { Scene } from "./scene/scene";

function offer(blob: Blob, name: string): void {
  const address = URL.createObjectURL(blob);
  const link = h("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}

/** The server names files after the strategy; with the settings that were asked for two rows of one strategy are told apart. */
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
  constructor(
    private readonly api: Api,
    private readonly model: Model,
    private readonly say: (text: string, kind?: "note" | "error") => void,
  ) {}

  async plan(kind: FileKind): Promise<void> {
    const row = this.model.shown;
    if (!row?.plan) return this.say("There is no plan to export at this cap.", "error");
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
      this.say(reason instanceof Error ? reason.message : String(reason), "error");
    }
  }

  async picture(kind: "png" | "svg", scene: Scene): Promise<void> {
    const blob = kind === "png" ? await scene.toPNG() : new Blob([scene.toSVG()], { type: "image/svg+xml" });
    offer(blob, `${safeName(this.model)}.${kind}`);
  }

  async link(address: string): Promise<void> {
    const file = this.model.view.source?.kind === "file" ? " The file itself is not in it and must be opened again." : "";
    try {
      await navigator.clipboard.writeText(address);
      this.say(`The link to this view is copied.${file}`);
    } catch {
      // Without leave for the clipboard the address bar holds the same link.
      this.say(`The address bar now holds the link to this view.${file}`);
    }
  }
}
