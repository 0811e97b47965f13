// Of many arms: how many are not shown, and a search for these by name.

import { errorBox, h, newId, setAttribute, setText } from "../dom.js";
import { whole } from "../format.js";
import { frame } from "../frame.js";

const ABOUT = "A search finds every [arm] by its name, also one that is ruled out.";
const PAGE = 20; // arms shown at once
const PAUSE = 250; // ms without a key press, until the search begins

export function makePanel({ arms }) {
  const input = h("input", { id: newId("find"), type: "search", maxlength: 200, autocomplete: "off", spellcheck: "false" });
  const label = h("label", { for: input.id }, "Find an arm by its name");
  const button = h("button", {}, "Find");
  const back = h("button", { type: "button" }, "Back to those that matter most");
  const earlier = h("button", { type: "button" }, "Previous");
  const later = h("button", { type: "button" }, "Next");
  const pages = h("div", { class: "inline pages" }, earlier, later);
  const box = errorBox();
  const counts = h("p", { class: "counts" });
  const said = h("p", { class: "result", role: "status" });
  const form = h("form", { role: "search", class: "inline", novalidate: true }, label, input, button, back);
  const root = frame("find", "Which arms are shown?", ABOUT, counts, form, box, said, pages);
  let timer = null;
  const find = (text, offset = 0) => {
    clearTimeout(timer);
    setText(box, "");
    arms.find(text, offset).catch((error) => setText(box, error.message));
  };
  const findTyped = () => find(input.value.trim());
  const turn = (button, step) => {
    const { text, offset } = arms.search();
    if (button.getAttribute("aria-disabled") !== "true") find(text, offset + step);
  };
  const clear = () => {
    input.value = "";
    find("");
    input.focus();
  };
  earlier.addEventListener("click", () => turn(earlier, -PAGE));
  later.addEventListener("click", () => turn(later, PAGE));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    findTyped();
  });
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(findTyped, PAUSE);
  });
  input.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && input.value !== "") {
      event.preventDefault();
      clear();
    }
  });
  back.addEventListener("click", clear);
  return {
    root,
    update(view) {
      root.hidden = view.n_arms <= view.shown.length;
      if (root.hidden) return;
      const search = arms.search();
      setText(counts, countsOf(view));
      setText(said, search === null ? "" : resultOf(search));
      back.hidden = search === null;
      pages.hidden = search === null || search.found.total <= PAGE;
      if (pages.hidden) return;
      setAttribute(earlier, "aria-disabled", search.offset === 0 && "true"); // not `disabled`, which would lose the focus
      setAttribute(later, "aria-disabled", search.offset + PAGE >= search.found.total && "true");
    },
    stop: () => clearTimeout(timer),
  };
}

/** What is not among those that matter most. */
function countsOf({ n_arms: total, shown, ruled_out: settled, status }) {
  const out = settled - shown.filter((arm) => isRuledOut(status, arm)).length;
  const others = total - shown.length;
  const top = `Of ${whole(total)} arms, the ${shown.length} that matter most: the leader, and the rivals with the least evidence against them.`;
  return `${top} Of the ${whole(others)} others, ${out === others ? "all" : whole(out)} ${out === 1 ? "is" : "are"} ruled out.`;
}

const isRuledOut = ({ evidence, needed, leader_index: leader }, arm) => arm !== leader && (evidence[arm] ?? Infinity) >= needed;

function resultOf({ text, offset, found }) {
  const { total, shown } = found;
  if (total === 0) return `No arm matches “${text}”. Those that matter most are shown.`;
  const matching = `${whole(total)} ${total === 1 ? "arm matches" : "arms match"} “${text}”`;
  if (total <= PAGE) return `${matching}: shown below.`;
  return `${matching}: ${whole(offset + 1)} to ${whole(offset + shown.length)} are shown below.`;
}
