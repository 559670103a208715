// Back is undo: every choice is an entry of the browser's history, with the view that was in effect. The playhead and the camera belong
// to the current entry.
import { choiceKey, toFragment, type View } from "./store";

const DRAG_MS = 500; // a slider that moves on makes one entry

/** The one of these fields in which two views differ; null if they differ in anything else. */
function draggedField(before: string, after: string): string | null {
  const without = (key: string, field: string): string => key.replace(new RegExp(`([#&])${field}=[^&]*`), "$1");
  return ["cap", "weights", "prices"].find((field) => without(before, field) === without(after, field)) ?? null;
}

export class ViewHistory {
  /** Whether the browser went back or forward last, not to an address that was typed. */
  returned = false;
  private key: string | null = null; // of the current entry
  private changed = 0; // when
  private field: string | null = null; // what was changed

  /** `left`: the entry has changed, so what is still to be saved belongs to none. */
  constructor(left: () => void, restore: (view: View) => void) {
    addEventListener("popstate", (event) => {
      const view = (event.state as { pebble?: View } | null)?.pebble;
      left();
      this.key = null; // what is saved next is still this entry
      this.returned = view !== undefined;
      if (view) restore(view);
    });
  }

  /** Makes the address that of the view; a new choice becomes a new entry. */
  save(view: View, autoCap: boolean): void {
    const fragment = toFragment(view);
    const key = choiceKey(view, autoCap);
    const address = location.pathname + location.search + fragment;
    const other = this.key !== null && key !== this.key;
    const field = this.key !== null && other ? draggedField(this.key, key) : null;
    const drag = field !== null && field === this.field && performance.now() - this.changed < DRAG_MS;
    if (other) [this.changed, this.field] = [performance.now(), field];
    if (other && !drag) history.pushState({ pebble: view }, "", address);
    else if (fragment !== location.hash || this.key === null || drag) history.replaceState({ pebble: view }, "", address);
    this.key = key;
  }
}
