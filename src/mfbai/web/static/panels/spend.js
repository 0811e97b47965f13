// What was spent on each arm and fidelity (a bar), against what the best plan would spend (a mark).

import { h, setAttribute, setStyle, setText, syncRows } from "../dom.js";
import { number, percent, plural } from "../format.js";
import { term } from "../terms.js";
import { frame } from "./frame.js";

export function spendPanel(arms) {
  const head = h("tr");
  const body = h("tbody");
  const match = h("p", { class: "note" });
  const toggle = arms.makeToggle();
  const root = frame(
    "spend",
    "Where the money goes",
    [
      "Bars: each ", term("arm"), " and ", term("fidelity"), "'s ", term("share"), " of what was spent. Marks: the ", term("optimal", "optimal share"),
      ". The closer they are, the better it was spent.",
    ],
    h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "Table of spending" }, h("table", {}, h("thead", {}, head), body)),
    match,
    toggle.root,
  );
  const rows = new Map();
  return {
    root,
    update(view) {
      const { status } = view;
      if (head.childElementCount === 0) fillHead(head, view);
      const more = sharesOf(view);
      syncRows(body, rows, arms.shown(), (arm) => arm, (arm) => makeRow(arm, status), { ...more, view });
      setText(match, matchText(more));
      toggle.update();
    },
  };
}

function fillHead(head, { status, costs }) {
  head.append(h("th", { scope: "col" }, "arm"));
  status.fidelities.forEach((name, m) => {
    const price = costs.map((row) => row[m]);
    const [least, most] = [Math.min(...price), Math.max(...price)];
    const each = least === most ? number(least) : `${number(least)} to ${number(most)}`;
    head.append(h("th", { scope: "col" }, name, h("small", {}, `${each} each`)));
  });
}

/** Shares of the whole cost, of the optimum, and the largest of all, to which the bars are scaled. */
function sharesOf({ status, optimal }) {
  const total = sum(status.spent.map(sum));
  const shares = status.spent.map((row) => row.map((cost) => (total > 0 ? cost / total : 0)));
  const top = Math.max(...shares.flat(), ...(optimal ?? [[0]]).flat(), 1e-9);
  return { shares, optimal, top, total };
}

const sum = (values) => values.reduce((soFar, value) => soFar + value, 0);

function matchText({ shares, optimal, total }) {
  if (total === 0) return "Nothing was spent yet.";
  if (optimal === null) return "The optimal shares are not known yet.";
  const common = sum(shares.map((row, arm) => sum(row.map((share, m) => Math.min(share, optimal[arm][m])))));
  return `${percent(common)} of the money went where the best plan, by what is known now, would spend it.`;
}

function makeRow(arm, { arms, fidelities }) {
  const cells = fidelities.map(makeCell);
  const name = h("th", { scope: "row", title: arms[arm] });
  const root = h("tr", {}, name, ...cells.map((cell) => cell.root));
  return {
    root,
    update(_, { shares, optimal, top, view }) {
      const leads = arm === view.status.leader_index;
      setText(name, leads ? `★ ${arms[arm]}` : arms[arm]);
      setAttribute(root, "data-state", leads ? "leads" : "open");
      cells.forEach((cell, m) => cell.update(shares[arm][m], optimal?.[arm][m] ?? null, top, detail(view, arm, m)));
    },
  };
}

function detail({ status, biases }, arm, m) {
  const [low, high] = biases[arm][m];
  const off = low === 0 && high === 0 ? "true" : `off by ${number(low)} to ${number(high)}`;
  const count = status.counts[arm][m];
  return `${plural(count, "result")}, average ${number(status.means[arm][m])}, cost ${number(status.spent[arm][m])}; ${off}`;
}

function makeCell() {
  const bar = h("span", { class: "spent" });
  const mark = h("span", { class: "mark" });
  const words = h("span", { class: "share" });
  const ideal = h("span", { class: "hidden-text" });
  const root = h("td", {}, h("div", { class: "cell" }, h("span", { class: "bullet", "aria-hidden": "true" }, bar, mark), words), ideal);
  return {
    root,
    update(share, best, top, title) {
      setStyle(bar, "width", `${((100 * share) / top).toFixed(2)}%`);
      mark.hidden = best === null;
      if (best !== null) setStyle(mark, "left", `${((100 * best) / top).toFixed(2)}%`);
      setText(words, share === 0 ? "" : percent(share));
      setText(ideal, best === null ? "" : `optimal ${percent(best)}`);
      setAttribute(root, "title", title);
    },
  };
}
