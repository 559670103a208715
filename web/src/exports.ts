// Exports: files of the plan and the graph, pictures, a link.
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

  async picture(kind: "png" | "svg", scene: Scene): Promise<void> {
    const blob = kind === "png" ? await scene.toPNG() : new Blob([scene.toSVG()], { type: "image/svg+xml" });
    offer(blob, `${safeName(this.model)}.${kind}`);
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
