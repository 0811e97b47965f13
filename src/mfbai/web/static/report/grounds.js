// What the answer rests on, and how much of it may be wrong.

import { h } from "../dom.js";
import { frame } from "../frame.js";

const ABOUT = "The risk holds if all of this is true. How far a cheap [fidelity] may be off is its [biasBound|bias bound].";

export function groundsPanel({ rests_on: restsOn, bounds, bears }) {
  const items = [...restsOn, ...bounds].map((text) => h("li", { dir: "auto" }, text));
  return frame(
    "grounds",
    "What it rests on, and how much it can bear",
    ABOUT,
    h("ul", { class: "plain" }, ...(items.length > 0 ? items : [h("li", {}, "Nothing but the results.")])),
    h("p", { class: "bears" }, bears),
  );
}
