// The risk over the cost, and the goal that it must come down to.

import { chartPanel } from "../chart.js";
import { number, plural, risk } from "../format.js";

const LEAST_RISK = 1e-12; // a logarithmic axis has no zero: the curve is cut here

export function makePanel() {
  return chartPanel({
    className: "risk-chart",
    title: "Risk, as the money is spent",
    about: "The [risk] of answering the leader. It must come down to the [delta|goal].",
    curve: "risk proven",
    line: "goal",
    colour: "--blue",
    logarithmic: true,
    format: cutRisk,
    formatLine: (goal) => (goal <= LEAST_RISK ? cutRisk(goal) : number(goal)),
    read: ({ history, status }) => [history.risk.map((value) => Math.max(value, LEAST_RISK)), Math.max(status.delta, LEAST_RISK)],
    range: (low, goal) => [Math.min(low, goal) / 2, 1.3],
    caption: (view) => `${provenText(view)} ${leadText(view.history.leader)}`,
  });
}

const cutRisk = (value) => (value <= LEAST_RISK ? `< ${number(LEAST_RISK)}` : risk(value));

/** From the curve's last point, as the legend. The verdict promises the goal, whatever more is proven. */
function provenText({ history, status, proof_decides: proofDecides }) {
  const { delta, state } = status;
  const proven = history.risk.at(-1) ?? 1;
  const what = proven >= 1 ? "nothing yet" : `a risk of ${cutRisk(proven)}`;
  const start = `After a cost of ${number(history.cost.at(-1) ?? 0)} the results prove ${what}`;
  if (state === "decided" && proofDecides) return `${start}; the verdict promises the goal, ${number(delta)}.`;
  return `${start}; the goal is ${number(delta)}.`;
}

function leadText(leaders) {
  const named = leaders.filter((leader) => leader !== null);
  const changes = named.filter((leader, i) => i > 0 && leader !== named[i - 1]).length;
  return changes === 0 ? "The lead never changed." : `The lead changed ${plural(changes, "time")}.`;
}
