// The verdict, or how far it is: one sentence, a bar and a few numbers.

import { announcer, h, setAttribute, setText } from "../dom.js";
import { number, percent, plural, risk } from "../format.js";
import { term } from "../terms.js";
import { frame } from "./frame.js";

export function verdictPanel() {
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
      setText(done, state === "running" ? `${percent(view.progress)} of the proof` : "finished");
      leader.set(status.leader ?? "none yet", directionText(status));
      risky.set(status.risk >= 1 ? "1" : risk(status.risk), `${status.risk >= 1 ? "nothing is proven yet; " : ""}goal ${number(status.delta)}`);
      cost.set(number(status.cost), status.max_cost === null ? "no budget" : `of a budget of ${number(status.max_cost)}`);
      rest.set(state === "running" ? number(view.remaining, 2) : "0", restText(view));
      results.set(String(status.told), countsText(status));
      if (!settings.hasChildNodes()) settings.append(...settingsOf(status));
    },
    stop: spoken.stop,
  };
}

function settingsOf({ strategy, stopping, arms, fidelities }) {
  return [
    `${plural(arms.length, "alternative")} (`, term("arm", "arms"), `), ${plural(fidelities.length, "way")} to evaluate them (`,
    term("fidelity", "fidelities"), "). ", term("strategy", "Strategy"), `: ${strategy}. `, term("stopping", "Stopping rule"), `: ${stopping}.`,
  ];
}

function tile(key, label) {
  const value = h("strong", {});
  const note = h("span", { class: "muted" });
  return {
    root: h("div", { class: `tile ${key}` }, h("span", { class: "label" }, term(key, label)), value, note),
    set(text, more) {
      setText(value, text);
      setText(note, more);
    },
  };
}

const directionText = ({ direction }) => (direction === "minimise" ? "the smallest value is sought" : "the largest value is sought");

function restText({ status, remaining }) {
  if (status.state !== "running") return "there is a verdict";
  return remaining === null ? "no forecast yet" : "more, by the results so far";
}

function countsText({ pending, waiting, failed, imported, late }) {
  const parts = [
    [pending, "under way"],
    [waiting, "waiting"],
    [failed, "failed"],
    [imported, "imported"],
    [late, "after the verdict"],
  ];
  return parts.filter(([count]) => count > 0).map(([count, words]) => `${count} ${words}`).join(", ") || "none under way";
}
