// The rows that play next to the shown one: loads their plans, and keeps those that are shown while others are planned.
import type { Api, Row } from "./api";
import { decodeFrames } from "./binary";
import { rank, type Model } from "./model";
import { Player } from "./player";
import { BESIDE_MOST } from "./store";
import { playable, rowKey } from "./words";

export interface BesideRow {
  key: string;
  row: Row;
  player: Player;
}

/** The rows with this key added, or removed if it is there; the oldest gives way. */
export function toggled(keys: readonly string[], key: string): string[] {
  return keys.includes(key) ? keys.filter((one) => one !== key) : [...keys, key].slice(-BESIDE_MOST);
}

export class Beside {
  private wanted = ""; // the plans that are shown or being loaded
  private loading: AbortController | null = null;

  constructor(private readonly api: Api, private readonly model: Model, private readonly changed: () => void) {}

  get settled(): boolean {
    return this.loading === null;
  }

  clear(): void {
    this.loading?.abort();
    this.loading = null;
    this.wanted = "";
    this.model.beside = [];
  }

  /** Called when rows, the shown row or the choice changed. `done`: no more rows come. */
  update(done: boolean): void {
    const model = this.model;
    const { fresh } = rank(model);
    const shown = model.shown ? rowKey(model.shown) : "";
    const keys = model.view.beside.filter((key) => key !== shown);
    const rows = keys.flatMap((key) => fresh.find((row) => rowKey(row) === key && playable(row)) ?? []);
    if (!done && rows.length < keys.length) return; // what is shown stays until then
    const wanted = rows.map(playable).join();
    if (!model.layout || wanted === this.wanted) return;
    this.wanted = wanted;
    void this.load(rows);
  }

  private async load(rows: Row[]): Promise<void> {
    this.loading?.abort();
    const loading = (this.loading = new AbortController());
    const { layout, graph } = this.model;
    try {
      const loaded = await Promise.all(
        rows.map(async (row): Promise<BesideRow | null> => {
          const had = this.model.beside.find((one) => playable(one.row) === playable(row));
          if (had) return { ...had, row };
          const buffer = await this.api.frames(playable(row) ?? "", loading.signal);
          return layout ? { key: rowKey(row), row, player: new Player(layout.nodeCount, decodeFrames(buffer), layout.size) } : null;
        }),
      );
      if (loading.signal.aborted || this.model.graph?.id !== graph?.id) return;
      this.model.beside = loaded.filter((one) => one !== null);
    } catch {
      if (loading.signal.aborted) return;
      this.model.beside = []; // the plans were removed meanwhile
      this.wanted = "";
    }
    this.loading = null;
    this.changed();
  }
}
