// A curve over the cost, with the line that it must reach.

import uPlot from "./uplot/uPlot.esm.js";
import { h, setAttribute, setText } from "./dom.js";
import { number } from "./format.js";
import { frame } from "./frame.js";

const LINE = 2; // the series of the line to reach
const MOST_DECADES = 6; // with a text

/**
 * A uPlot chart, drawn again when it gets a width or the colours change, as a canvas knows nothing of style sheets.
 * `options(place)` and `data()` are uPlot's; `drawn(chart)` is called after each drawing.
 */
export function canvas(place, options, data, drawn = () => {}) {
  let chart = null;
  let ready = false;
  const draw = () => {
    chart?.destroy();
    chart = place.clientWidth > 0 ? new uPlot(options(place), data(), place) : null;
    if (chart) drawn(chart);
  };
  const resized = new ResizeObserver(() => {
    if (chart && place.clientWidth > 0) chart.setSize(sizeOf(place));
    else if (ready) draw(); // it had no width before
  });
  resized.observe(place);
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const redraw = () => ready && draw();
  scheme.addEventListener("change", redraw);
  return {
    /** Show what `data` says now; with `afresh` also what `options` say. */
    show(afresh = false) {
      ready = true;
      if (!chart || afresh) return draw();
      chart.setData(data());
      drawn(chart);
    },
    stop() {
      resized.disconnect();
      scheme.removeEventListener("change", redraw);
      chart?.destroy();
    },
  };
}

/**
 * A panel of one curve. `kind` is {className, title, about, curve, line, colour, logarithmic} and the functions
 * format(value), formatLine(line), read(view) -> [values, line], range(low, line, high) -> [bottom, top], caption(view).
 */
export function chartPanel(kind) {
  const place = h("div", { class: "plot", role: "img" });
  const caption = h("p", { class: "muted note" });
  const root = frame(kind.className, kind.title, kind.about, place, caption);
  let view = null;

  const data = () => {
    const [values, line] = kind.read(view);
    const { cost } = view.history;
    if (!(cost.at(-1) > 0)) return [[0, 1], [null, null], [line, line]]; // nothing was spent: the goal alone
    return [cost, values, cost.map(() => line)];
  };
  const chart = canvas(place, () => options(kind, place), data, showPresent);
  return {
    root,
    update(now) {
      view = now;
      setText(caption, kind.caption(now));
      setAttribute(place, "aria-label", kind.caption(now));
      place.dataset.points = now.history.cost.length; // the number of points, for tests and tools
      chart.show();
    },
    stop: chart.stop,
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

/** What all charts over the cost share: {colour(name), axis, common}. */
export function looks(place) {
  const style = getComputedStyle(place);
  const colour = (name) => style.getPropertyValue(name).trim();
  const font = `12px ${style.fontFamily}`;
  const grid = { stroke: colour("--grid"), width: 1 };
  const axis = { stroke: colour("--muted"), font, grid, ticks: { show: false }, values: numbers };
  const common = {
    ...sizeOf(place),
    padding: [10, 30, 0, 0], // on the right for half of the last text
    cursor: { drag: { x: false, y: false }, points: { size: 7 } },
  };
  const costs = {
    scale: { time: false, range: (_, low, high) => [Math.min(low, 0), high > 0 ? high : 1] },
    axis: { ...axis, size: 32, label: "cost", labelSize: 20, labelFont: font },
  };
  return { colour, font, axis, common, costs };
}

function options(kind, place) {
  const { colour, axis, common, costs } = looks(place);
  const curve = colour(kind.colour);
  const readable = (_, value) => (value === null ? "–" : kind.format(value));
  const each = { value: readable, points: { show: false } };
  return {
    ...common,
    hooks: { ready: [showPresent] },
    legend: { markers: { width: 2, dash: (_, series) => (series === LINE ? "dashed" : "solid") } },
    scales: {
      x: costs.scale,
      y: { distr: kind.logarithmic ? 3 : 1, range: (chart) => yRange(kind, chart) },
    },
    axes: [
      costs.axis,
      kind.logarithmic
        ? { ...axis, size: 62, filter: onlyDecades, grid: { ...axis.grid, filter: onlyDecades } }
        : { ...axis, size: 62 },
    ],
    series: [
      { label: "cost", value: (_, value) => (value === null ? "–" : number(value)) },
      {
        ...each,
        label: kind.curve,
        stroke: curve,
        width: 2.5,
        fill: kind.logarithmic ? undefined : `${curve}22`, // a logarithmic axis has no bottom to fill from
        paths: uPlot.paths.stepped({ align: 1 }),
      },
      { ...each, value: ({ data }) => kind.formatLine(data[LINE].at(-1)), label: kind.line, stroke: colour("--vermilion"), width: 1.5, dash: [6, 5] },
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
