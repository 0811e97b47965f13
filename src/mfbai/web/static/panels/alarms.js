// Bias alarms: hidden while there are none, hard to miss otherwise.

import { h, setText, syncRows } from "../dom.js";
import { frame } from "../frame.js";

export const makePanel = () =>
  makeAlarms(
    "bias",
    "⚠ The results contradict a stated bias bound",
    "A [biasBound|bias bound] says how far a cheap [fidelity] may be off. Here the results say that it is off by more. " +
      "What is proven on this page rests on these bounds: do not rely on it before you know which of them is wrong " +
      "([alarm|bias alarm]).",
    (view) => view.alarms,
  );

/** A panel for the sentences of one kind of alarm, which `pick` takes from a view. */
export function makeAlarms(kind, title, about, pick) {
  const list = h("ul");
  const root = frame(`alarms ${kind}`, title, about, list);
  root.setAttribute("role", "alert");
  const rows = new Map();
  return {
    root,
    update(view) {
      const alarms = pick(view);
      root.hidden = alarms.length === 0;
      syncRows(list, rows, alarms, (text) => text, makeRow);
    },
  };
}

function makeRow() {
  const root = h("li");
  return { root, update: (text) => setText(root, text) };
}
