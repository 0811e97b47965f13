// Which arms are shown, and in which order: all of a few; of many, those that matter most.

import { h, setAttribute, setText } from "./dom.js";

const FEW = 12;

/** One choice for all panels of a study. `onChange` is called when the user wants more or fewer arms. */
export function armChoice(onChange) {
  let all = false;
  let shown = [];
  let total = 0;
  return {
    choose(status) {
      total = status.arms.length;
      shown = total <= FEW ? [...status.arms.keys()] : byRelevance(status).slice(0, all ? total : FEW);
    },
    shown: () => shown,
    /** A button, which hides itself while all arms fit anyway. */
    makeToggle() {
      const button = h("button", { type: "button", class: "quiet", onclick: () => { all = !all; onChange(); } });
      const update = () => {
        button.hidden = total <= FEW;
        setText(button, all ? `Show the ${FEW} that matter most` : `Show all ${total} arms`);
        setAttribute(button, "aria-pressed", String(all));
      };
      return { root: button, update };
    },
  };
}

/** The leader first, then the rivals that are the least settled. */
function byRelevance({ arms, evidence, leader_index: leader }) {
  const proof = (arm) => (arm === leader ? -Infinity : evidence[arm] ?? Infinity);
  return [...arms.keys()].sort((a, b) => proof(a) - proof(b) || a - b);
}
