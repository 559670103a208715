// Why a row has no plan. The name of the failing node is a button that shows the node in the graph.
import type { Row } from "../api";
import { h } from "../dom";
import { failureText } from "../words";

export function failureCell(row: Row, show: (node: number) => void): HTMLElement {
  const text = failureText(row);
  const pick = (node: number) => (event: Event): void => {
    event.stopPropagation(); // a click elsewhere in the row plays it
    show(node);
  };
  const words = h("span");
  const node = row.failed?.node;
  const name = row.failed?.name;
  const at = typeof node === "number" && name ? text.indexOf(` ${name})`) + 1 : 0;
  if (typeof node !== "number" || !name || at === 0) words.append(text);
  else {
    const label = `Show ${name} in the graph`;
    words.append(
      text.slice(0, at),
      h("button", { type: "button", "aria-label": label, "data-tip": label, "data-testid": "show-failed", click: pick(node) }, name),
      text.slice(at + name.length),
    );
  }
  return h("td", { class: "reason", colspan: "11", "data-testid": "reason" }, words);
}
