// What there is to say of several studies, in a table with a column for each; on narrow screens, fact by fact.

import { studyRoute } from "./address.js";
import { setBadge, stateOf } from "./badge.js";
import { h, setAttribute, setStyle, setText, syncRows } from "./dom.js";
import { ago, number, percent, plural, risk } from "./format.js";
import { frame } from "./frame.js";
import { lineSwatch } from "./marks.js";
import { shortNames } from "./names.js";
import { term } from "./terms.js";

const LONGEST = 60; // characters of a name above its column; the legend of the curves has the whole

// Each fact: what it is called, and a maker of what its cells show, {root, update(view)}.
const FACTS = [
  [() => "State", badgeCell],
  [() => "In words", text(({ sentence }) => sentence)],
  [() => term("leader", "Leader"), text(({ status }) => status.leader ?? "none yet", true)],
  [() => "Proven", progressCell],
  [() => term("risk", "Risk"), text(({ status }) => `${risk(status.risk)}, goal ${number(status.delta)}`)],
  [() => "Spent", text(({ status }) => spentText(status))],
  [() => "Where it went", spendCell],
  [() => term("remaining", "Predicted to finish"), text(restText)],
  [() => "Results", text(({ status }) => countText(status))],
  [() => "Alarms", text(alarmText)],
  [() => term("strategy", "Strategy"), text(({ status, rule }) => `${status.strategy}; ${rule}`)],
  [() => "Problem", text(({ n_arms: arms, status }) => `${plural(arms, "arm")}, ${plural(status.fidelities.length, "fidelity", "fidelities")}`)],
  [() => "Tags", text(({ tags }) => tags.join(", ") || "–", true)],
  [() => "Last event", text(({ recent }) => (recent.length > 0 ? ago(recent[0].at) : "–"))],
];

/** `onRemove(name)` is called when a study is to be left out. */
export function comparedTable(onRemove) {
  const place = h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "Table of the studies" });
  const root = frame("compared", "In numbers and words", null, place);
  let columns = [];
  let seen = null;
  return {
    root,
    update(entries) {
      root.hidden = entries.length === 0;
      const now = entries.map(({ name, mark }) => `${name} ${mark.colour}`).join("\n");
      if (now !== seen) {
        const short = shortNames(entries.map(({ name }) => name), LONGEST);
        columns = entries.map((entry, i) => makeColumn(entry, short[i], onRemove));
        place.replaceChildren(makeTable(columns));
      }
      seen = now;
      columns.forEach((column, i) => column.update(entries[i]));
    },
  };
}

function makeTable(columns) {
  const head = h("tr", { role: "row" }, h("td", { role: "cell" }), ...columns.map(({ head }) => head));
  const rows = FACTS.map(([label], i) =>
    h("tr", { role: "row" }, h("th", { scope: "row", role: "rowheader" }, label()), ...columns.map(({ cells }) => cells[i])),
  );
  const table = h("table", { role: "table" }, h("thead", { role: "rowgroup" }, head), h("tbody", { role: "rowgroup" }, ...rows));
  setStyle(table, "--columns", String(columns.length));
  return table; // the roles are written, as narrow screens show it as blocks
}

function makeColumn({ name, mark }, short, onRemove) {
  const remove = h("button", { type: "button", class: "remove", "aria-label": `Leave out ${name}`, title: "Leave out" }, "×");
  remove.addEventListener("click", () => onRemove(name));
  const missing = h("p", { class: "missing", dir: "auto", hidden: true });
  const link = h("a", { href: studyRoute(name), dir: "auto", title: name }, short);
  const head = h("th", { scope: "col", role: "columnheader" }, h("div", { class: "column-head" }, lineSwatch(mark), link, remove), missing);
  const facts = FACTS.map(([, make]) => make());
  const whose = () => h("span", { class: "whose", "aria-hidden": "true" }, lineSwatch(mark), h("bdi", {}, short));
  const cells = facts.map((fact) => h("td", { role: "cell" }, whose(), fact.root));
  return {
    head,
    cells,
    update({ view, fault }) {
      setText(missing, fault);
      missing.hidden = fault === "";
      for (const cell of [head, ...cells]) setAttribute(cell, "data-missing", fault !== "" && "true");
      if (view) for (const fact of facts) fact.update(view);
    },
  };
}

function text(read, anyLanguage = false) {
  return () => {
    const root = h("span", { dir: anyLanguage ? "auto" : null });
    return { root, update: (view) => setText(root, read(view)) };
  };
}

function badgeCell() {
  const root = h("span", { class: "badge" });
  return { root, update: (view) => setBadge(root, stateOf(view)) };
}

function progressCell() {
  const bar = h("progress", { max: 1, value: 0, "aria-hidden": "true" });
  const words = h("span", { class: "done" });
  return {
    root: h("div", { class: "bar" }, bar, words),
    update({ progress }) {
      setAttribute(bar, "value", progress);
      setText(words, percent(progress));
    },
  };
}

/** A line for each fidelity: its part of the cost. */
function spendCell() {
  const root = h("ul", { class: "parts" });
  const rows = new Map();
  return {
    root,
    update({ fidelities }) {
      const total = fidelities.reduce((sum, { spent }) => sum + spent, 0);
      syncRows(root, rows, fidelities, ({ name }) => name, makePart, total);
    },
  };
}

function makePart({ name }) {
  const bar = h("span", { class: "part", "aria-hidden": "true" });
  const words = h("span", { class: "share" });
  return {
    root: h("li", {}, h("span", { class: "name", dir: "auto", title: name }, name), words, bar),
    update({ spent }, total) {
      const share = total > 0 ? spent / total : 0;
      setText(words, `${percent(share)}`);
      setStyle(bar, "width", `${(100 * share).toFixed(1)}%`);
    },
  };
}

function spentText({ cost, max_cost: budget }) {
  return budget === null ? number(cost) : `${number(cost)} of a budget of ${number(budget)}`;
}

function restText({ status, remaining }) {
  if (status.state === "decided") return "nothing: there is a verdict";
  if (status.state !== "running") return "nothing: it has stopped";
  return remaining === null ? "no forecast yet" : `${number(remaining, 2)} more`;
}

function countText({ told, pending, failed }) {
  const more = [pending > 0 && `${pending} under way`, failed > 0 && `${failed} failed`].filter(Boolean);
  return [String(told), ...more].join(", ");
}

function alarmText({ alarms, variance_alarms: varied }) {
  const some = [alarms.length && plural(alarms.length, "bias alarm"), varied.length && plural(varied.length, "variance alarm")];
  return some.some(Boolean) ? `⚠ ${some.filter(Boolean).join(", ")}` : "none";
}
