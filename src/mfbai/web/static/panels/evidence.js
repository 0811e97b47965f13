// How strongly each rival is proven not to be better than the leader: bars, and the line that all must reach.

import { h, setAttribute, setStyle, setText, syncRows } from "../dom.js";
import { number } from "../format.js";
import { namesIn } from "../names.js";
import { prose } from "../terms.js";
import { frame } from "../frame.js";

const LINE_AT = 0.7; // of the width: the line stays where it is, and what is far beyond it is cut

export function makePanel({ arms }) {
  const list = h("ul", { class: "rows evidence-rows" });
  const needed = h("span", { class: "needed" });
  const note = h("p", { class: "muted note" });
  const toggle = arms.makeToggle();
  const root = frame(
    "evidence",
    "Is it proven?",
    " ", // filled by the first view, which has the tolerance
    h("div", { class: "scale", "aria-hidden": "true" }, needed),
    list,
    note,
    toggle.root,
  );
  root.style.setProperty("--line-at", `${100 * LINE_AT}%`);
  const about = root.querySelector(".about");
  const rows = new Map();
  return {
    root,
    update(view) {
      const { status } = view;
      if (!about.querySelector(".term")) about.replaceChildren(...prose(aboutFor(status)));
      setText(needed, `needed: ${number(status.needed, 3)}`);
      const names = namesIn(root, status.arms, arms.shown());
      syncRows(list, rows, arms.shown(), (arm) => arm, (arm) => makeRow(arm, status.arms[arm]), { status, names });
      setText(note, noteFor(view));
      toggle.update();
    },
  };
}

function aboutFor({ tolerance = 0 }) {
  const claim =
    tolerance > 0
      ? `The [evidence] that each [rival] is not better than the [leader] by more than the [tolerance], ${number(tolerance)}. `
      : "The [evidence] that the [leader] is better than each [rival]. ";
  return `${claim}When all bars reach the [threshold|dashed line], it is proven.`;
}

function noteFor({ status, n_arms: total, ruled_out: settled, rule, proof_decides: proofDecides }) {
  const count = status.leader_index === null ? "No results count yet." : `${settled} of ${total - 1} rivals are settled.`;
  if (proofDecides) return count;
  return `${count} This study stops by ${rule}; the bars show what is proven about its answer.`;
}

function makeRow(arm, armName) {
  const name = h("span", { class: "arm", dir: "auto", title: armName });
  const fill = h("span", { class: "fill" });
  const value = h("span", { class: "value" });
  const root = h("li", {}, name, h("span", { class: "track", "aria-hidden": "true" }, fill), value);
  return {
    root,
    update(_, { status: { evidence, needed, leader_index: leader }, names }) {
      const leads = arm === leader;
      const proof = evidence[arm] ?? Infinity;
      const reached = leads || proof >= needed;
      setText(name, names.get(arm));
      setText(value, leads ? "★ leads" : `${number(Math.max(proof, 0), 3)}${reached ? " ✓" : ""}`);
      setAttribute(root, "data-state", leads ? "leads" : reached ? "reached" : "open");
      setStyle(fill, "width", `${100 * width(leads ? 0 : proof, needed)}%`);
    },
  };
}

function width(proof, needed) {
  return Math.min(Math.max((proof / needed) * LINE_AT, 0), 1);
}
