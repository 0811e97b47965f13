// Where the true value of each arm must be: intervals on a common axis, with the averages that were seen. Where arms
// share seeds, only differences are known: then the bars say how far the leader is ahead.

import { h, setAttribute, setStyle, setText, syncRows } from "../dom.js";
import { interval, isEmpty, ticks, tickTexts } from "../format.js";
import { frame } from "../frame.js";
import { namesIn } from "../names.js";
import { prose } from "../terms.js";

const MOST_WORDS = 23; // characters
const AXIS_ROOM = 26; // characters
const ABOUT = "The bar is the [interval] that holds the [trueValue|true value] of the [arm]; dots are the [mean|averages] seen.";
const ABOUT_SHARED =
  "The bar holds how much better the [leader] is than the [arm]: the [difference] of their [trueValue|true values]. " +
  "Of single values nothing is said, as the arms share [seeds].";

export function makePanel({ arms }) {
  const list = h("ul", { class: "rows interval-rows" });
  const axis = h("div", { class: "axis", "aria-hidden": "true" });
  const better = h("p", { class: "better muted" });
  const key = h("p", { class: "key muted" });
  const toggle = arms.makeToggle();
  const root = frame(
    "intervals",
    "How good is each arm?",
    ABOUT,
    list,
    h("div", { class: "rows axis-row" }, axis),
    better,
    key,
    toggle.root,
  );
  const about = root.querySelector(".about");
  const rows = new Map();
  const marks = new Map();
  return {
    root,
    update({ status, biases, fidelities }) {
      const shared = status.seeds === "common";
      if (shared && !about.querySelector("[data-term=seeds]")) about.replaceChildren(...prose(ABOUT_SHARED));
      const drawn = shared ? sharedPicture(status, arms.shown()) : picture(status, fidelities);
      const domain = domainOf(drawn, arms.shown());
      const names = namesIn(root, status.arms, arms.shown());
      syncRows(list, rows, arms.shown(), (arm) => arm, (arm) => makeRow(arm, status, biases[arm]), { status, drawn, domain, names });
      setStyle(root, "--words", `${0.85 * wordsWidth(status, drawn, arms.shown())}ch`);
      syncRows(axis, marks, marksOf(domain), (mark) => mark.tick, makeTick, domain);
      setText(better, drawn.better);
      setAttribute(better, "data-direction", shared ? "maximise" : status.direction);
      setText(key, drawn.key);
      toggle.update();
    },
  };
}

/** What is drawn: a bar for each arm, dots at its averages, and a line. */
function picture(status, fidelities) {
  const { intervals, means, direction } = status;
  const better = direction === "minimise" ? "← smaller is better" : "larger is better →";
  return { intervals, means, better, line: lineOf(status), key: keyFor(status, fidelities) };
}

function sharedPicture(status, shown) {
  const { fidelities, leader_index: leader } = status;
  return {
    intervals: Object.fromEntries(shown.map((arm) => [arm, ahead(status, arm)])),
    means: Object.fromEntries(shown.map((arm) => [arm, fidelities.map(() => null)])),
    better: "the leader is further ahead →",
    line: leader === null ? null : 0,
    key: leader === null ? "" : "Dashed line: no difference. Right of it, the leader is better.",
  };
}

/** By how much the leader is better than an arm, whichever direction is sought. */
function ahead({ differences, direction }, arm) {
  const [low, high] = differences[arm];
  if (direction !== "minimise") return [low, high];
  return [high, low].map((end) => (end === null ? null : 0 - end));
}

/** From the least to the largest finite number there is to show, and a little more. */
function domainOf({ intervals, means }, shown) {
  const seen = shown.flatMap((arm) => [...intervals[arm], ...means[arm]]).filter((value) => value !== null);
  if (seen.length === 0) return [0, 1];
  const low = Math.min(...seen);
  const high = Math.max(...seen);
  const margin = 0.04 * (high - low) || Math.abs(low) || 1;
  return [low - margin, high + margin];
}

/** The texts beside the bars, which are small, get as much room as the longest needs; very long ones are broken. */
function wordsWidth(status, { intervals }, shown) {
  const longest = (arm) => Math.max(interval(...intervals[arm]).length, aheadText(status, arm).length);
  return Math.min(Math.max(0, ...shown.map(longest)), MOST_WORDS);
}

/** For a rival beside its own interval: how far the leader is ahead of it. */
function aheadText(status, arm) {
  const unknown = status.seeds === "common" || status.leader_index === null || arm === status.leader_index;
  const ends = unknown ? [null, null] : ahead(status, arm);
  return ends.every((end) => end === null) ? "" : `behind by ${interval(...ends)}`;
}

/** As many ticks as there is room for their texts, and two at least. */
function marksOf(domain) {
  const choices = [4, 3, 2].map((count) => withTexts(ticks(...domain, count)));
  const all = ticks(...domain, 8);
  return choices.find(fits) ?? withTexts([all[0], all.at(-1)]);
}

function withTexts(all) {
  const texts = tickTexts(all);
  return all.map((tick, i) => ({ tick, text: texts[i] }));
}

function fits(marks) {
  return marks.length > 1 && marks.reduce((sum, { text }) => sum + text.length + 2, 0) <= AXIS_ROOM;
}

/** The leader's worst case: an arm whose interval is all beyond it is out. */
function lineOf({ leader_index: leader, intervals, direction }) {
  if (leader === null || isEmpty(...intervals[leader])) return null;
  return intervals[leader][direction === "minimise" ? 1 : 0];
}

function keyFor(status, fidelities) {
  const right = fidelities.filter(({ off }) => off[1] === 0).map(({ name }) => name);
  const cheap = right.length === fidelities.length ? "" : "Hollow dots: cheap fidelities, which may be off. ";
  const line = lineOf(status) === null ? "" : " Dashed line: the leader's worst case.";
  const full = right.length === 1 ? `Full dot: “${right[0]}”, the true one.` : `Full dots: ${right.map((name) => `“${name}”`).join(", ")}, without bias.`;
  return `${cheap}${full}${line}`;
}

/** Whether the mean of a fidelity is the true one: that of the top, or of a controlled one. */
function isUnbiased([low, high]) {
  return low === 0 && high === 0;
}

function makeRow(arm, { arms, fidelities }, biases) {
  const name = h("span", { class: "arm", dir: "auto", title: arms[arm] });
  const range = h("span", { class: "range" });
  const line = h("span", { class: "line" });
  const dots = fidelities.map((_, m) => h("span", { class: isUnbiased(biases[m]) ? "dot true" : "dot" }));
  const words = h("span");
  const behind = h("small", { class: "behind muted" });
  const track = h("span", { class: "track plain", "aria-hidden": "true" }, line, range, ...dots);
  const root = h("li", {}, name, track, h("span", { class: "value" }, words, behind));
  return {
    root,
    update(_, { status, drawn, domain, names }) {
      const [low, high] = drawn.intervals[arm];
      const worst = drawn.line;
      const leads = arm === status.leader_index;
      setText(name, leads ? `★ ${names.get(arm)}` : names.get(arm));
      setAttribute(root, "data-state", leads ? "leads" : "open");
      setStyle(range, "left", low === null ? "0%" : at(low, domain));
      setStyle(range, "right", high === null ? "0%" : `calc(100% - ${at(high, domain)})`);
      setAttribute(range, "data-open", openEnds(low, high));
      range.hidden = isEmpty(low, high);
      line.hidden = worst === null;
      if (worst !== null) setStyle(line, "left", at(worst, domain));
      dots.forEach((dot, m) => placeDot(dot, drawn.means[arm][m], domain));
      setText(words, leads && status.seeds === "common" ? "leads" : interval(low, high));
      setText(behind, aheadText(status, arm));
    },
  };
}

function placeDot(dot, mean, domain) {
  dot.hidden = mean === null;
  if (mean !== null) setStyle(dot, "left", at(mean, domain));
}

function openEnds(low, high) {
  return `${low === null ? "left " : ""}${high === null ? "right" : ""}`.trim() || null;
}

function makeTick() {
  const root = h("span", { class: "tick" });
  return {
    root,
    update({ tick, text }, domain) {
      setText(root, text);
      setStyle(root, "left", at(tick, domain));
    },
  };
}

function at(value, [low, high]) {
  return `${((100 * (value - low)) / (high - low)).toFixed(2)}%`;
}
