// Each arm's share of the cost, over the cost: areas on top of each other, the largest named, and the present shares as text.

import { canvas, looks } from "../chart.js";
import { h, setAttribute, setText, syncRows } from "../dom.js";
import { number, percent, whole } from "../format.js";
import { frame } from "../frame.js";
import { areaSwatch, makeMarks } from "../marks.js";
import { shortNames } from "../names.js";

const MOST = 7; // arms with an area of their own: one more is for the others
const OTHERS = -1;
const ROOM = 18; // pixels of height that a name needs within its area
const LONGEST = 18; // characters of a name in the picture; the legend has what cannot be shortened to these
const ABOUT =
  "How the money that was spent by then was divided among the [arm|arms]. As the results come in, the arms that are hard to " +
  "tell from the [leader] receive more, and those that are ruled out nothing.";

export function makePanel() {
  const place = h("div", { class: "plot bare", role: "img" });
  const legend = h("ul", { class: "legend", "aria-label": "Present shares" });
  const note = h("p", { class: "muted note" });
  const picture = h("div", { class: "with-legend" }, place, legend);
  const root = frame("shares", "Who got the money, over time", ABOUT, picture, note);
  const marksFor = makeMarks();
  const rows = new Map();
  let areas = []; // from the bottom: {arm, name, short, mark, shares}
  let costs = [];
  let seen = "";
  const data = () => (costs.length > 0 ? [costs, ...stacked(areas, costs)] : [[0, 1], [0, 0]]);
  const chart = canvas(place, () => options(place, areas), data);
  return {
    root,
    update(view) {
      picture.hidden = !view.history.spent;
      if (picture.hidden) return setText(note, manyText(view));
      const points = view.history.cost.map((cost, i) => ({ cost, i })).filter(({ cost }) => cost > 0);
      costs = points.map(({ cost }) => cost);
      areas = points.length > 0 ? areasOf(view, points) : [];
      marksFor(areas.map(({ arm }) => arm)).forEach((mark, i) => { areas[i].mark = mark; });
      shortNames(areas.map(({ name }) => name)).forEach((short, i) => { areas[i].short = short; });
      syncRows(legend, rows, areas.toReversed(), ({ arm }) => arm, makeRow);
      setText(note, areas.length > 0 ? `After a cost of ${number(costs.at(-1))}.` : "Nothing was spent yet.");
      const words = areas.toReversed().map(({ name, shares }) => `${name} ${percent(shares.at(-1))}`);
      setAttribute(place, "aria-label", words.length > 0 ? `Shares of the cost: ${words.join(", ")}.` : "Nothing was spent yet.");
      place.dataset.areas = areas.length;
      const now = areas.map(({ arm, name }) => `${arm} ${name}`).join("\n");
      chart.show(now !== seen);
      seen = now;
    },
    stop: chart.stop,
  };
}

/** The server keeps the course of each arm's cost only if the arms are few. */
const manyText = ({ n_arms: arms }) =>
  `With as many as ${whole(arms)} arms, no record is kept of each one's share over time. “Where the money goes” shows the present shares.`;

/** Those that received the most, in a steady order, and the others together. */
function areasOf({ history, shown, status, n_arms: total }, points) {
  const last = points.at(-1).i;
  const row = new Map(shown.map((arm, k) => [arm, history.spent[k]]));
  const byMoney = [...shown].sort((a, b) => row.get(b)[last] - row.get(a)[last] || a - b);
  const top = (shown.length === total && total <= MOST + 1 ? shown : byMoney.slice(0, MOST)).toSorted((a, b) => a - b);
  const made = top.map((arm) => ({
    arm,
    name: status.arms[arm],
    shares: points.map(({ cost, i }) => row.get(arm)[i] / cost),
  }));
  const rest = points.map((_, p) => Math.max(1 - made.reduce((sum, { shares }) => sum + shares[p], 0), 0));
  return Math.max(...rest) > 1e-9 ? [{ arm: OTHERS, name: "all others", shares: rest }, ...made] : made;
}

/** The lower edge of all areas, then the upper edge of each. */
function stacked(areas, costs) {
  const edges = [costs.map(() => 0)];
  for (const { shares } of areas) edges.push(shares.map((share, p) => Math.min(edges.at(-1)[p] + share, 1)));
  return edges;
}

function makeRow(area) {
  const share = h("span", { class: "share" });
  const name = h("span", { class: "arm", dir: "auto", title: area.name });
  return {
    root: h("li", {}, areaSwatch(area.mark), name, share),
    update({ short, shares }) {
      setText(name, short);
      setText(share, percent(shares.at(-1)));
    },
  };
}

function options(place, areas) {
  const { colour, font, axis, common, costs } = looks(place);
  const edge = { points: { show: false }, width: 1.5 };
  return {
    ...common,
    legend: { show: false },
    cursor: { show: false },
    hooks: { draw: [(chart) => writeNames(chart, areas, colour("--text"), font)] },
    scales: { x: costs.scale, y: { range: () => [0, 1] } },
    axes: [costs.axis, { ...axis, size: 62, values: (_, all) => all.map((share) => percent(share)) }],
    series: [{}, { ...edge, width: 0 }, ...areas.map(({ mark }) => ({ ...edge, stroke: colour(mark.colour) }))],
    bands: areas.map(({ mark }, k) => ({ series: [k + 2, k + 1], fill: `${colour(mark.colour)}80` })),
  };
}

/** Each area has its name at its right end, if there is room. */
function writeNames(chart, areas, colour, font) {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.font = font.replace("12px", `${12 * devicePixelRatio}px`);
  ctx.fillStyle = colour;
  ctx.textAlign = "right";
  ctx.textBaseline = "middle";
  shortNames(areas.map(({ name }) => name), LONGEST).forEach((name, k) => {
    const [low, high] = [chart.data[k + 1], chart.data[k + 2]].map((edge) => chart.valToPos(edge.at(-1), "y", true));
    if (low - high < ROOM * devicePixelRatio || [...name].length > LONGEST) return;
    ctx.fillText(name, bbox.left + bbox.width - 8 * devicePixelRatio, (low + high) / 2);
  });
  ctx.restore();
}
