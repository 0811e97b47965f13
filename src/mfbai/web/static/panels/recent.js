// What happened last.

import { h, setText, syncRows } from "../dom.js";
import { clock, plural } from "../format.js";
import { frame } from "../frame.js";

const ABOUT = "The newest [event|events] in the study's journal.";
const SIGNS = { create: "+", ask: "→", tell: "←", fail: "×", add: "+", verdict: "★" };

export function makePanel() {
  const list = h("ol", { class: "events", tabindex: "0", "aria-label": "Recent events, newest first" });
  const total = h("p", { class: "muted note" });
  const root = frame("recent", "What happened last", ABOUT, list, total);
  const rows = new Map();
  return {
    root,
    update({ recent, events }) {
      syncRows(list, rows, recent, (event) => event.n, makeRow);
      setText(total, `${plural(events, "event")} in all.`);
    },
  };
}

function makeRow({ at, kind, text }) {
  const root = h(
    "li",
    { "data-kind": kind },
    h("time", { datetime: new Date(1000 * at).toISOString() }, clock(at)),
    h("span", { class: "sign", "aria-hidden": "true" }, SIGNS[kind] ?? "·"),
    h("span", { class: "what" }, text),
  );
  return { root, update() {} }; // what happened does not change
}
