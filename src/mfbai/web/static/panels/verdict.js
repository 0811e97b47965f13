// The verdict, or how far it is: one sentence, a bar and a few numbers.

import { announcer, h, setAttribute, setText, syncRows } from "../dom.js";
import { number, percent, plural, risk } from "../format.js";
import { prose, term } from "../terms.js";
import { frame } from "../frame.js";

export function makePanel() {
  const sentence = h("p", { class: "headline" });
  const spoken = announcer();
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress towards the verdict" });
  const done = h("span", { class: "muted done" });
  const leader = tile("leader", "Leader");
  const risky = tile("risk", "Risk now");
  const cost = tile("cost", "Spent");
  const rest = tile("remaining", "Predicted to finish");
  const results = tile("evaluation", "Evaluations");
  const root = frame(
    "verdict",
    "Verdict",
    null,
    sentence,
    spoken.root,
    h("div", { class: "bar" }, bar, done),
    h("div", { class: "tiles" }, leader.root, risky.root, cost.root, rest.root, results.root),
  );
  const settings = h("p", { class: "muted settings" });
  root.append(settings);
  const counts = new Map();
  let state = null;
  return {
    root,
    update(view) {
      const { status } = view;
      setText(sentence, view.sentence);
      spoken.say(view.sentence, status.state !== state);
      state = status.state;
      setText(root.querySelector("h2"), state === "running" ? "Not decided yet" : "Verdict");
      setAttribute(root, "data-state", state);
      setAttribute(bar, "value", view.progress);
      setText(done, doneText(view));
      leader.set(status.leader ?? "none yet", directionText(status));
      risky.set(risk(status.risk), riskText(view));
      cost.set(number(status.cost), budgetText(status));
      rest.set(restOf(view), restText(view));
      results.set(String(status.told));
      const some = Object.keys(COUNTS).filter((kind) => status[kind] > 0);
      syncRows(results.note, counts, some, (kind) => kind, makeCount, status);
      if (!settings.hasChildNodes()) settings.append(...settingsOf(view));
    },
    stop: spoken.stop,
  };
}

function settingsOf({ status, rule }) {
  const { strategy, arms, fidelities, seeds, tolerance = 0 } = status;
  return [
    `${plural(arms.length, "alternative")} (`,
    term("arm", "arms"),
    `), ${plural(fidelities.length, "way")} to evaluate them (`,
    term("fidelity", "fidelities"),
    "). ",
    term("strategy", "Strategy"),
    `: ${strategy}. `,
    term("stopping", "Stopping"),
    `: ${rule}.`,
    ...(seeds === "common" ? [" ", term("seeds", "Seeds"), ": common."] : []),
    ...(tolerance > 0 ? [" ", term("tolerance", "Tolerance"), `: ${number(tolerance)}.`] : []),
  ];
}

function tile(key, label) {
  const value = h("strong", { dir: "auto" });
  const note = h("span", { class: "muted" });
  return {
    root: h("div", { class: `tile ${key}` }, h("span", { class: "label" }, term(key, label)), value, note),
    note,
    set(text, more) {
      setText(value, text);
      if (more !== undefined) setText(note, more);
    },
  };
}

function directionText({ direction }) {
  return direction === "minimise" ? "the smallest value is sought" : "the largest value is sought";
}

function doneText({ status, progress, rule, proof_decides: proofDecides }) {
  if (status.state === "decided") return "finished";
  if (!proofDecides) return `${rule} decides, not the proof`;
  return `${status.state === "running" ? "" : "stopped at "}${percent(progress)} of the proof`;
}

/** The proof promises its goal when it decides: not more, even if the results prove more by then. */
function riskText({ status: { state, risk: now, delta }, proof_decides: proofDecides }) {
  if (state === "decided" && proofDecides) return "at most, as promised by the verdict";
  return `${now >= 1 ? "nothing is proven yet; " : ""}goal ${number(delta)}`;
}

function budgetText({ max_cost: budget, cost, late, result }) {
  const limit = budget === null ? "no budget" : `of a budget of ${number(budget)}`;
  return late > 0 && result && cost > result.cost ? `${limit}; ${number(cost - result.cost)} of it after the verdict` : limit;
}

// Why there is nothing left to do, though no answer is proven.
const STOPPED = {
  undecided: "it has stopped: the budget does not allow the next evaluation",
  alarm: "it has stopped: the results contradict what was stated",
};

function restOf({ status, remaining }) {
  if (STOPPED[status.state]) return "–";
  return status.state === "decided" ? "0" : number(remaining, 2);
}

function restText({ status, remaining, forecasts }) {
  if (STOPPED[status.state]) return STOPPED[status.state];
  if (status.state === "decided") return "there is a verdict";
  if (!forecasts) return "no forecast for so many arms";
  return remaining === null ? "no forecast yet" : "more, by the results so far";
}

// What the numbers of evaluations are called, by their name in the status.
const COUNTS = {
  pending: "under way",
  waiting: "[waiting]",
  failed: "[fail|failed]",
  imported: "imported",
  late: "[late]",
};

function makeCount(name) {
  const count = h("span");
  const root = h("span", { class: "count" }, count, " ", ...prose(COUNTS[name]));
  return { root, update: (_, status) => setText(count, String(status[name])) };
}
