// Bias alarms: hidden while there is none, hard to overlook otherwise.

import { h, setText, syncRows } from "../dom.js";
import { risk } from "../format.js";
import { frame } from "./frame.js";

export function alarmsPanel() {
  const list = h("ul");
  const root = frame(
    "alarms",
    "⚠ The results contradict a stated bias bound",
    "A [biasBound|bias bound] says how far a cheap [fidelity] may be off. Here the results say that it is off by more. " +
      "What is proven on this page rests on these bounds: do not rely on it before you know which of them is wrong " +
      "([alarm|bias alarm]).",
    list,
  );
  root.setAttribute("role", "alert");
  const rows = new Map();
  return {
    root,
    update({ status }) {
      root.hidden = status.alarms.length === 0;
      syncRows(list, rows, status.alarms, (alarm) => JSON.stringify([alarm.arm, alarm.fidelity]), makeRow);
    },
  };
}

function makeRow() {
  const root = h("li");
  return { root, update: (alarm) => setText(root, describe(alarm)) };
}

function describe({ arm, fidelity, level, certain }) {
  const what = certain
    ? `“${fidelity}” is off by more than was stated for “${arm}”: its results contradict those of the true fidelity.`
    : `Some bound of “${arm}” is wrong; “${fidelity}” is the fidelity that fits the least.`;
  return `${what} If all bounds were right, this would happen with a probability of ${risk(level)} at most.`;
}
