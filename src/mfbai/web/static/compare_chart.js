// The proof of several studies over what each has cost. Their lines to reach differ, so each is drawn as a part of its own.

import uPlot from "./uplot/uPlot.esm.js";
import { studyRoute } from "./address.js";
import { canvas, looks } from "./chart.js";
import { h, setAttribute, setText, syncRows } from "./dom.js";
import { number, percent } from "./format.js";
import { frame } from "./frame.js";
import { lineSwatch } from "./marks.js";

const ABOUT =
  "The least [evidence] of each study, as a part of what it needs, over its [cost]. At the [threshold|dashed line], 100 %, it is proven.";
const MOST = 1.5; // of the proof: what goes far beyond it is cut

export function comparedChart() {
  const place = h("div", { class: "plot bare", role: "img" });
  const legend = h("ul", { class: "legend lines", "aria-label": "Curves" });
  const root = frame("compared-chart", "Proof, as the money is spent", ABOUT, place, legend);
  const rows = new Map();
  let curves = [];
  let seen = "";
  const chart = canvas(place, () => options(place, curves), () => dataOf(curves));
  return {
    root,
    update(entries) {
      root.hidden = entries.length === 0;
      curves = entries.filter(({ view }) => view).map(curveOf);
      syncRows(legend, rows, curves, ({ id }) => id, makeRow);
      setAttribute(place, "aria-label", `Parts of the proof: ${curves.map(({ name, words }) => `${name}: ${words}`).join("; ")}.`);
      place.dataset.curves = curves.length;
      const now = curves.map(({ id, mark }) => `${id} ${mark.colour}`).join("\n");
      chart.show(now !== seen);
      seen = now;
    },
    stop: chart.stop,
  };
}

function curveOf({ id, name, mark, view }) {
  const { history, status } = view;
  const parts = history.evidence.map((evidence) => (evidence === null ? null : Math.min(Math.max(evidence / status.needed, 0), MOST)));
  return { id, name, mark, costs: history.cost, parts, words: `${percent(view.progress)} after a cost of ${number(status.cost)}` };
}

/** All curves over the costs of all of them, and the line to reach. */
function dataOf(curves) {
  const drawn = curves.map(({ costs, parts }) => (costs.length > 0 ? [costs, parts] : [[0], [null]]));
  const most = Math.max(...drawn.map(([costs]) => costs.at(-1)), 0) || 1;
  return uPlot.join([[[0, most], [1, 1]], ...drawn]);
}

function options(place, curves) {
  const { colour, axis, common, costs } = looks(place);
  const each = { points: { show: false } };
  return {
    ...common,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: costs.scale, y: { range: (_, low, high) => [0, Math.max(high, 1) * 1.08] } },
    axes: [costs.axis, { ...axis, size: 62, values: (_, all) => all.map((part) => percent(part)) }],
    series: [
      {},
      { ...each, stroke: colour("--muted"), width: 1.5, dash: [6, 5] },
      ...curves.map(({ mark }) => ({
        ...each,
        stroke: colour(mark.colour),
        width: 2.5,
        dash: mark.dash,
        paths: uPlot.paths.stepped({ align: 1 }),
        points: { show: true, size: 8, fill: colour(mark.colour), filter: onlyLast }, // where the study is now
      })),
    ],
  };
}

function onlyLast(chart, series) {
  const last = chart.data[series].findLastIndex((value) => value !== null && value !== undefined);
  return last < 0 ? [] : [last];
}

function makeRow({ mark, name }) {
  const link = h("a", { href: studyRoute(name), dir: "auto" }, name);
  const words = h("span", { class: "muted" });
  return {
    root: h("li", {}, lineSwatch(mark), link, words),
    update(now) {
      setText(link, now.name);
      setAttribute(link, "href", studyRoute(now.name));
      setText(words, now.words);
    },
  };
}
