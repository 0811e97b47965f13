// Going on with other bias bounds: a small form, shown when the results contradict one.

import { reopenStudy } from "../api.js";
import { textField } from "../create.js";
import { attempt, errorBox, h } from "../dom.js";
import { readNumber } from "../format.js";
import { frame } from "../frame.js";

const ABOUT =
  "[reopen|Reopen] the study with wider [biasBound|bias bounds]: a new study, which counts all results of this one. " +
  "Its answer is proven if the new bounds hold.";
const HINT = "0.2, or −0.1 to 0.3. Left as it is, it stays.";

export function makePanel(page) {
  const place = h("div");
  const root = frame("reopen", "Go on with wider bounds", ABOUT, place);
  return {
    root,
    update(view) {
      root.hidden = view.alarms.length === 0 || view.status.seeds === "common"; // which cannot be reopened
      if (!root.hidden && !place.hasChildNodes()) place.append(makeForm(page, view));
    },
  };
}

function makeForm(page, { fidelities }) {
  const input = () => h("input", { type: "text", autocomplete: "off" });
  const name = textField("study", input(), "Name of the new study", `${page.name} 2`, "It must be another.", "reopen-name");
  const bounds = fidelities.slice(0, -1).map(({ name: fidelity, bias }, m) => {
    const before = boundOf(bias);
    return { fidelity, before, ...textField("biasBound", input(), `Bound of “${fidelity}”`, before, HINT, `reopen-${m}`) };
  });
  const box = errorBox();
  const button = h("button", { class: "primary" }, "Reopen the study");
  const fields = h("div", { class: "pair" }, name.root, ...bounds.map((bound) => bound.root));
  const form = h("form", { class: "create", novalidate: true }, fields, box, h("div", { class: "actions" }, button));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const work = async () => {
      const made = await reopenStudy(page, { name: name.read() ?? "", bias: readBounds(bounds) });
      location.hash = `#/study/${encodeURIComponent(made.name)}`;
    };
    attempt(button, box, work).catch(() => {});
  });
  return form;
}

/** The bound that all arms have, as text; empty if they differ, or there is none. */
function boundOf(bias) {
  if (bias === null) return "";
  const [low, high] = bias;
  return low === -high ? String(high) : `${low} to ${high}`;
}

/** Those that were changed, by fidelity. */
function readBounds(bounds) {
  const changed = bounds.filter(({ input, before }) => input.value.trim() !== before && input.value.trim() !== "");
  if (changed.length === 0) throw new Error("Change at least one bound: the results contradict those of this study.");
  return Object.fromEntries(
    changed.map(({ fidelity, input }) => {
      const ends = input.value.split(" to ").map(readNumber);
      return [fidelity, ends.length === 1 ? ends[0] : ends];
    }),
  );
}
