// What was spent on each arm and fidelity (a bar), against what the best plan would spend (a mark).

import { h, setAttribute, setStyle, setText, syncRows } from "../dom.js";
import { number, percent } from "../format.js";
import { frame } from "../frame.js";
import { namesIn } from "../names.js";

const TINY = 0.001; // an optimal share that is not worth a mark

export function makePanel({ arms }) {
  const head = h("tr");
  const body = h("tbody");
  const table = h("table", {}, h("thead", {}, head), body);
  const match = h("p", { class: "note" });
  const toggle = arms.makeToggle();
  const root = frame(
    "spend",
    "Where the money goes",
    "Bars: the [share] of the money that went to each [arm] and [fidelity]. Marks: the [optimal|optimal share], " +
      "where there is one. How far a fidelity may be off is its [biasBound|bias bound].",
    h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "Table of spending" }, table),
    match,
    toggle.root,
  );
  const rows = new Map();
  return {
    root,
    update(view) {
      const { status } = view;
      if (head.childElementCount === 0) fillHead(head, view);
      table.style.setProperty("--columns", status.fidelities.length);
      const more = sharesOf(view);
      const names = namesIn(root, status.arms, arms.shown());
      syncRows(body, rows, arms.shown(), (arm) => arm, (arm) => makeRow(arm, status), { ...more, names, leader: status.leader_index });
      setText(match, matchText(more));
      toggle.update();
    },
  };
}

function fillHead(head, { fidelities }) {
  head.append(h("th", { scope: "col" }, "arm"));
  for (const { name, costs, off: [least, most] } of fidelities) {
    const off = most === 0 ? "true" : most === null ? "bias unknown" : `off by ≤ ${span(least, most)}`;
    head.append(h("th", { scope: "col" }, h("span", { dir: "auto" }, name), h("small", {}, `${span(...costs)} each`), h("small", {}, off)));
  }
}

function span(least, most) {
  return least === most ? number(least) : `${number(least)} to ${number(most)}`;
}

/** Shares of the whole cost, of the optimum, and the largest that is shown, to which the bars are scaled. */
function sharesOf({ status, optimal, fidelities, match, forecasts }) {
  const total = sum(fidelities.map(({ spent }) => spent));
  const shares = status.spent.map((row) => row.map((cost) => (total > 0 ? cost / total : 0)));
  const top = Math.max(...shares.flat(), ...(optimal ?? [[0]]).flat(), 1e-9);
  return { shares, optimal, top, total, match, forecasts };
}

const sum = (values) => values.reduce((soFar, value) => soFar + value, 0);

function matchText({ optimal, total, match, forecasts }) {
  if (total === 0) return "Nothing was spent yet.";
  if (!forecasts) return "The optimal shares are not computed for so many arms.";
  if (optimal === null) return "The optimal shares are not known yet.";
  return `${percent(match)} of the money went where the best plan, by what is known now, would spend it.`;
}

function makeRow(arm, { arms, fidelities }) {
  const cells = fidelities.map(makeCell);
  const name = h("th", { scope: "row", dir: "auto", title: arms[arm] });
  const root = h("tr", {}, name, ...cells.map((cell) => cell.root));
  return {
    root,
    update(_, { shares, optimal, top, names, leader }) {
      const leads = arm === leader;
      setText(name, leads ? `★ ${names.get(arm)}` : names.get(arm));
      setAttribute(root, "data-state", leads ? "leads" : "open");
      cells.forEach((cell, m) => cell.update(shares[arm][m], optimal?.[arm]?.[m] ?? null, top));
    },
  };
}

function makeCell() {
  const bar = h("span", { class: "spent" });
  const mark = h("span", { class: "mark" });
  const words = h("span", { class: "share" });
  const ideal = h("span", { class: "hidden-text" });
  const bullet = h("span", { class: "bullet", "aria-hidden": "true" }, bar, mark);
  const root = h("td", {}, h("div", { class: "cell" }, bullet, words), ideal);
  return {
    root,
    update(share, best, top) {
      setStyle(bar, "width", `${((100 * share) / top).toFixed(2)}%`);
      mark.hidden = best === null || best < TINY;
      if (!mark.hidden) setStyle(mark, "left", `${((100 * best) / top).toFixed(2)}%`);
      setText(words, share === 0 ? "" : percent(share));
      setText(ideal, best === null ? "" : `optimal ${percent(best)}`);
    },
  };
}
