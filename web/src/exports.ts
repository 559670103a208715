// Taking things away: files of the plan and the graph, pictures, a link.
import type { Api, FileKind } from "./api";
import { h } from "./dom";
import type { Model } from "./model";
import type { Scene } from "./scene";

function download(href: string, name: string | null): void {
  const link = h("a", { href, download: name ?? "" });
  document.body.append(link);
  link.click();
  link.remove();
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

  plan(kind: FileKind): void {
    const plan = this.model.shown?.plan;
    if (!plan) return this.say("There is no plan to export at this cap.", "error");
    download(this.api.planFile(plan, kind), null);
  }

  graph(): void {
    if (this.model.graph) download(this.api.graphFile(this.model.graph.id), null);
  }

  async picture(kind: "png" | "svg", scene: Scene): Promise<void> {
    const blob = kind === "png" ? await scene.toPNG() : new Blob([scene.toSVG()], { type: "image/svg+xml" });
    const address = URL.createObjectURL(blob);
    download(address, `${safeName(this.model)}.${kind}`);
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
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
