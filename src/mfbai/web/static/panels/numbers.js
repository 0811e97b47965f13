// Every number behind the plots, in a table that one can read out or copy.

import { h, setText, syncRows } from "../dom.js";
import { interval, number, precise } from "../format.js";
import { frame } from "../frame.js";

export function makePanel({ arms }) {
  const head = h("tr");
  const body = h("tbody");
  const table = h("table", {}, h("thead", {}, head), body);
  const details = h(
    "details",
    {},
    h("summary", {}, "Show the table"),
    h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "Table of all numbers" }, table),
  );
  const about =
    "For each [arm]: the [mean|average] of its results at each [fidelity], with their number in brackets; " +
    "the [interval] of its [trueValue|true value]; the [difference]; the [evidence].";
  const root = frame("numbers", "All numbers", about, details);
  const rows = new Map();
  let last = null;
  const fill = () => {
    if (!details.open || last === null) return; // it is folded
    if (head.childElementCount === 0) fillHead(head, last.status);
    syncRows(body, rows, arms.shown(), (arm) => arm, (arm) => makeRow(arm, last.status), last.status);
  };
  details.addEventListener("toggle", fill);
  return {
    root,
    update(view) {
      last = view;
      fill();
    },
  };
}

function fillHead(head, { fidelities, seeds }) {
  const known = seeds === "common" ? [] : ["true value"]; // of single arms nothing is known there
  const names = ["arm", ...fidelities, ...known, "difference to the leader", "evidence"];
  head.append(...names.map((name) => h("th", { scope: "col", dir: "auto" }, name)));
}

function makeRow(arm, { arms, fidelities, seeds }) {
  const cells = fidelities.map(() => h("td"));
  const range = seeds !== "common" && h("td");
  const difference = h("td");
  const evidence = h("td");
  return {
    root: h("tr", {}, h("th", { scope: "row", dir: "auto" }, arms[arm]), ...cells, range, difference, evidence),
    update(_, status) {
      const [low, high] = status.intervals[arm];
      const width = low === null || high === null ? null : Math.abs(high - low);
      cells.forEach((cell, m) => setText(cell, cellText(status.means[arm][m], status.counts[arm][m], width)));
      if (range) setText(range, interval(low, high));
      setText(difference, arm === status.leader_index ? "0" : interval(...status.differences[arm]));
      setText(evidence, arm === status.leader_index ? "leads" : number(status.evidence[arm]));
    },
  };
}

const cellText = (mean, count, width) => (count === 0 ? "" : `${precise(mean, width)} (${count})`);
