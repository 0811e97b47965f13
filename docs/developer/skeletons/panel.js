// How often each fidelity was evaluated: a list with a line for each.

import { h, setText, syncRows } from "../dom.js";
import { plural } from "../format.js";
import { frame } from "../frame.js";

/** Called once, when the page of a study opens: `page.name` is the study's present name, `page.arms.shown()` are the arms to show. */
export function makePanel(page) {
  const list = h("ul", {});
  const note = h("p", { class: "muted note" });
  // A class for style.css and for tests, a heading, and a sentence; a term in [brackets] is explained (see terms.js).
  const root = frame("fidelity-counts", "How often was each fidelity evaluated?", "The results at each [fidelity].", list, note);
  const rows = new Map();
  return {
    root,
    /** Called with every new view, once a second at most: GET /api/v1/studies/NAME/view. */
    update({ status, fidelities }) {
      syncRows(list, rows, fidelities, ({ name }) => name, makeRow);
      setText(note, `“${page.name}” shows ${page.arms.shown().length} of ${plural(status.arms.length, "arm")}.`);
    },
    stop() {}, // called when the page closes: end timers and observers here, or leave it out
  };
}

/** A row is kept while its item is there, so that a selection or the focus in it stays. */
function makeRow({ name }) {
  const root = h("li", { dir: "auto" });
  return {
    root,
    update({ results }) {
      setText(root, `${name}: ${plural(results, "result")}`);
    },
  };
}
