// A curve over the cost, with the line that it must reach.

import uPlot from "./uplot/uPlot.esm.js";
import { h, setAttribute, setText } from "./dom.js";
import { number } from "./format.js";
import { frame } from "./frame.js";

const LINE = 2; // the series of the line to reach
const MOST_DECADES = 6; // with a text

/**
 * A panel of one curve. `kind` is {className, title, about, curve, line, colour, logarithmic} and the functions
 * format(value), formatLine(line), read(view) -> [values, line], range(low, line, high) -> [bottom, top], caption(view).
 */
export function chartPanel(kind) {
  const place = h("div", { class: "plot", role: "img" });
  const caption = h("p", { class: "muted note" });
  const root = frame(kind.className, kind.title, kind.about, place, caption);
  let chart = null;
  let view = null;

  const data = () => {
    const [values, line] = kind.read(view);
    const { cost } = view.history;
    if (!(cost.at(-1) > 0)) return [[0, 1], [null, null], [line, line]]; // nothing was spent: the goal alone
    return [cost, values, cost.map(() => line)];
  };
  const draw = () => {
    chart?.destroy();
    chart = place.clientWidth > 0 ? new uPlot(options(kind, place), data(), place) : null;
  };
  const resized = new ResizeObserver(() => {
    if (chart && place.clientWidth > 0) chart.setSize(sizeOf(place));
    else if (view) draw(); // it had no width before
  });
  resized.observe(place);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => view && draw(); // uPlot paints on a canvas, which knows nothing of style sheets
  scheme.addEventListener("change", redraw);

  return {
    root,
    update(now) {
      view = now;
      setText(caption, kind.caption(now));
      setAttribute(place, "aria-label", kind.caption(now));
      place.dataset.points = now.history.cost.length; // the number of points, for tests and tools
      if (chart) chart.setData(data());
      else draw();
      if (chart) showPresent(chart);
    },
    stop() {
      resized.disconnect();
      scheme.removeEventListener("change", redraw);
      chart?.destroy();
    },
  };
}

const numbers = (_, all) => all.map((value) => (value === null ? null : number(value, 5)));
const isDecade = (value) => Math.abs(Math.log10(value) - Math.round(Math.log10(value))) < 1e-9;
// Nine lines a decade would be a lot of ink, and so would be many decades.
const onlyDecades = (_, all) => {
  const every = Math.ceil(all.filter(isDecade).length / MOST_DECADES);
  return all.map((value) => (isDecade(value) && Math.round(Math.log10(value)) % every === 0 ? value : null));
};

const sizeOf = (place) => ({ width: place.clientWidth, height: 230 });

function options(kind, place) {
  const style = getComputedStyle(place);
  const colour = (name) => style.getPropertyValue(name).trim();
  const font = `12px ${style.fontFamily}`;
  const grid = { stroke: colour("--grid"), width: 1 };
  const axis = { stroke: colour("--muted"), font, grid, ticks: { show: false }, values: numbers };
  const curve = colour(kind.colour);
  const readable = (_, value) => (value === null ? "–" : kind.format(value));
  const common = { value: readable, points: { show: false } };
  return {
    ...sizeOf(place),
    hooks: { ready: [showPresent] },
    padding: [10, 30, 0, 0], // on the right for half of the last text
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
    legend: { markers: { width: 2, dash: (_, series) => (series === LINE ? "dashed" : "solid") } },
    scales: {
      x: { time: false, range: (_, low, high) => [Math.min(low, 0), high > 0 ? high : 1] },
      y: { distr: kind.logarithmic ? 3 : 1, range: (chart) => yRange(kind, chart) },
    },
    axes: [
      { ...axis, size: 32, label: "cost", labelSize: 20, labelFont: font },
      kind.logarithmic
        ? { ...axis, size: 62, filter: onlyDecades, grid: { ...grid, filter: onlyDecades } }
        : { ...axis, size: 62 },
    ],
    series: [
      { label: "cost", value: (_, value) => (value === null ? "–" : number(value)) },
      {
        ...common,
        label: kind.curve,
        stroke: curve,
        width: 2.5,
        fill: kind.logarithmic ? undefined : `${curve}22`, // a logarithmic axis has no bottom to fill from
        paths: uPlot.paths.stepped({ align: 1 }),
      },
      { ...common, value: (_, value) => kind.formatLine(value), label: kind.line, stroke: colour("--vermilion"), width: 1.5, dash: [6, 5] },
    ],
  };
}

/** The legend tells the newest values, unless one points at others. */
function showPresent(chart) {
  const last = chart.data[0].length - 1;
  if ((chart.cursor.idx ?? null) === null && chart.data[1][last] !== null) chart.setLegend({ idx: last });
}

/** The axis holds the whole curve and its goal, whatever is in view. */
function yRange(kind, chart) {
  const values = chart.data[1].filter((value) => value !== null);
  const goal = chart.data[2].at(-1) ?? 1;
  return kind.range(Math.min(...values, goal), goal, Math.max(...values, 0));
}
