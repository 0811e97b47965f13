// Every term that is not everyday English, in a sentence or two; shown by hover, focus or touch.

import { h } from "./dom.js";

const TERMS = {
  study: ["Study", "One search for the best of several alternatives. It says what to evaluate next, takes the results, and ends with a verdict."],
  arm: ["Arm", "One of the alternatives that are compared: a design, a model, a setting."],
  fidelity: ["Fidelity", "A way to evaluate an arm. Cheap ones may be off by a known amount; the last one costs the most and is true."],
  leader: ["Leader", "The arm that the results so far favour. It can still change while the study is running."],
  rival: ["Rival", "Any arm but the leader. The study must prove that none of them is better."],
  verdict: ["Verdict", "How the study ended. Decided: the best arm, or one within the tolerance of it, is proven at the risk stated. Undecided: the budget did not allow the next evaluation. Alarm: the results contradict what was stated, so that nothing is proven."],
  risk: ["Risk", "The smallest risk of a wrong answer at which the leader is proven by now. 1 means that nothing is proven yet."],
  delta: ["Goal (delta)", "The risk of a wrong answer that you accept. The study goes on until its risk is this small."],
  evidence: ["Evidence", "How strongly the results prove that a rival is not better than the leader. Each 2.3 more divides the risk of being wrong by ten."],
  threshold: ["Line to reach", "The evidence that is needed against every rival. It follows from the goal and the number of arms."],
  interval: ["Interval", "Where the true value of an arm must be. All intervals are right, at all times, with a probability of one minus the goal."],
  difference: ["Difference to the leader", "The leader's true value minus that of the arm. All these intervals are right, at all times, with a probability of one minus the goal. They are narrower than those of single values where arms share seeds."],
  mean: ["Average", "The average of the results of an arm at one fidelity. At a cheap fidelity it may be off, by its bias bound at most."],
  trueValue: ["True value", "What an arm would yield on average at the last, true fidelity. The best arm is the one whose true value is best."],
  direction: ["Direction", "Whether large or small values are good. Values are typed and shown as they are, in either case."],
  cost: ["Cost", "The sum of what all results so far have cost, in your own unit: money, hours, anything. Failed evaluations cost nothing."],
  remaining: ["Predicted to finish", "A forecast from what is known now of what the study will still cost. It is rough in the beginning and changes with every result."],
  optimal: ["Optimal share", "The part of the money that the best possible plan would give to an arm and fidelity, if the averages seen so far were the truth."],
  share: ["Share", "The part of all the money spent so far that went to this arm at this fidelity."],
  biasBound: ["Bias bound", "How far the average of a cheap fidelity may be from the true value. You state it when you create the study; the proof rests on it."],
  alarm: ["Bias alarm", "The results contradict a bias bound: the fidelity is off by more than was stated. Then what is proven here cannot be trusted."],
  varianceAlarm: ["Variance alarm", "The results vary more around their averages than the stated variance allows. Then what is proven here cannot be trusted."],
  audit: ["Audit", "The part of the cost that goes to unbiased evaluations of the leader and of its closest rival. They count like all others, and show if a bias bound is wrong."],
  onAlarm: ["On an alarm", "Stop: when the results contradict a bias bound or a variance, nothing more is evaluated, and there is no answer. Continue: the study goes on, and shows the alarm."],
  reopen: ["Reopen", "Create a study with other bias bounds that counts all results of this one. Its answer is proven if the new bounds hold, even if you choose them after a look at the results."],
  evaluation: ["Evaluation", "Measuring one arm at one fidelity, once. Its result is a number, usually with some noise in it."],
  trial: ["Trial", "An evaluation that was handed out: it says which arm, which fidelity and which seed, and waits for its value."],
  waiting: ["Waiting", "Results that are back, but count only after an earlier trial is back, too. This keeps the proof right."],
  late: ["Late", "Results that came after the verdict. They are kept, and not counted."],
  seed: ["Seed", "A number to start the random numbers of an evaluation with, so that repeating it gives the same value. Ignore it if your evaluation uses none."],
  seeds: ["Seeds", "Independent: each evaluation has a seed of its own. Common: in each round all arms have the same seed, so the same arrivals, test items or weather. Use it if an evaluation is a function of its seed, and luck affects all arms alike."],
  lease: ["Lease", "How long a trial is yours. If no value has come by then, the next one to ask receives it. A value that comes later still counts, if it is the first."],
  fail: ["Failed", "The evaluation has no value and never will. It must not have failed because the value was bad, as that would mislead the study."],
  release: ["Give back", "You will not evaluate the trial after all. The next one to ask receives it."],
  certificate: ["Certificate", "A file with the problem, every event and the verdict. Anyone can replay it with “mfbai study verify” to check that the verdict follows."],
  strategy: ["Strategy", "What chooses the next evaluation. It affects the cost and not the risk, unless it stops by a rule of its own."],
  stopping: ["Stopping rule", "What decides when the study ends. “contrasts” (with the strategy “race”) and “e-process” are proven to keep the risk; the others are for comparison."],
  tolerance: ["Tolerance", "An answer within this of the best counts as right. Without a tolerance, a study of tied arms never ends."],
  option: ["Option", "A number that tunes the strategy or the stopping rule. Left empty, it has its default."],
  budget: ["Budget", "The study never spends more than this. If it is not enough, the verdict is “undecided”."],
  family: ["Family", "How the values vary around their average: normal with a known variance, 0 or 1, counts, and so on."],
  spec: ["Problem", "The arms, the fidelities with their costs and bias bounds, and the family of the values, in the TOML format."],
  event: ["Event", "A line of the study's journal. Lines are only ever added, never changed."],
};

/** A word with its explanation. A real button, so that it works by keyboard and by touch, too. */
export function term(key, text) {
  const label = text ?? TERMS[key][0].toLowerCase();
  const button = h("button", { type: "button", class: "term", "aria-describedby": `about-${key}` }, label);
  button.dataset.term = key;
  return button;
}

/** Our own words, never data, with the terms in brackets: "the [evidence]", "the [threshold|dashed line]". */
export function prose(text) {
  return text.split(/\[(.+?)\]/).map((part, i) => (i % 2 === 1 ? term(...part.split("|")) : part));
}

export function fillGlossary(list) {
  for (const [key, [name, text]] of Object.entries(TERMS)) {
    list.append(h("dt", {}, name), h("dd", { id: `about-${key}` }, text));
  }
}

/** One bubble for all terms: shown for what is hovered or has the focus; Escape hides it. */
export function watchTerms(tip) {
  let owner = null;
  let leaving;
  const show = (button) => {
    clearTimeout(leaving);
    owner = button;
    const [name, text] = TERMS[button.dataset.term];
    tip.replaceChildren(h("strong", {}, name), " ", text);
    tip.hidden = false;
    place(tip, button);
  };
  const hide = () => {
    clearTimeout(leaving);
    owner = null;
    tip.hidden = true;
  };
  const termOf = (event) => event.target.closest?.(".term");
  document.addEventListener("pointerover", (event) => {
    if (termOf(event)) show(termOf(event));
    else if (owner && tip.contains(event.target)) clearTimeout(leaving); // one may point at the bubble itself
    else if (owner && owner !== document.activeElement) {
      clearTimeout(leaving);
      leaving = setTimeout(hide, 150);
    }
  });
  document.addEventListener("focusin", (event) => (termOf(event) ? show(termOf(event)) : hide()));
  document.addEventListener("focusout", hide);
  document.addEventListener("click", (event) => (termOf(event) ? show(termOf(event)) : hide()));
  document.addEventListener("keydown", (event) => event.key === "Escape" && hide());
  window.addEventListener("scroll", () => owner && place(tip, owner), { passive: true });
  window.addEventListener("hashchange", hide);
}

function place(tip, button) {
  const box = button.getBoundingClientRect();
  const margin = 8;
  const below = box.bottom + tip.offsetHeight + margin < innerHeight;
  const left = Math.min(box.left, document.documentElement.clientWidth - tip.offsetWidth - margin);
  tip.style.left = `${Math.max(margin, left)}px`;
  tip.style.top = `${below ? box.bottom + 6 : Math.max(margin, box.top - tip.offsetHeight - 6)}px`;
}
