// Back is undo: every choice is an entry of the browser's history, with the view that was in effect. The playhead and the camera belong
// to the current entry.
import { choiceKey, toFragment, type View } from "./store";

const DRAG_MS = 500; // a slider that moves on makes one entry

function withoutNumbers(key: string): string {
  return key.replace(/[#&](cap|weights|prices)=[^&]*/g, "");
}

export class ViewHistory {
  /** Whether the browser went back or forward last, not to an address that was typed. */
  returned = false;
  private key: string | null = null; // of the current entry
  private pushed = 0; // when

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
    const drag = this.key !== null && performance.now() - this.pushed < DRAG_MS && withoutNumbers(key) === withoutNumbers(this.key);
    if (key !== this.key) this.pushed = performance.now();
    if (this.key !== null && key !== this.key && !drag) history.pushState({ pebble: view }, "", address);
    else if (fragment !== location.hash || this.key === null || drag) history.replaceState({ pebble: view }, "", address);
    this.key = key;
  }
}
