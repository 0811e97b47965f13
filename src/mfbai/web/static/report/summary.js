// A certificate by itself: its verdict, what it rests on and its averages, as far as its journal says.

import { h } from "../dom.js";
import { number, risk, whole } from "../format.js";
import { frame } from "../frame.js";
import { groundsPanel } from "./grounds.js";
import { readProblem } from "./trials.js";

const MOST = 50; // arms in the table of averages

/** The panels that need no more than the first event and the verdict. */
export function summaryOf(certificate) {
  const first = JSON.parse(certificate.events[0]);
  const { verdict } = certificate.facts;
  const problem = readProblem(first);
  return {
    state: verdict?.state ?? "running",
    created: first.at,
    panels: [verdictPanel(first, verdict, problem), groundsPanel(groundsOf(first, verdict, problem))],
  };
}

function verdictPanel(first, verdict, problem) {
  const root = frame(
    "verdict",
    verdict ? "Verdict" : "Not decided yet",
    null,
    h("p", { class: "headline" }, sentence(verdict, problem)),
    h(
      "p",
      { class: "muted settings" },
      `${whole(problem.arms.length)} arms, ${problem.fidelities.length} fidelities. Goal ${number(first.delta)}. ` +
        `Strategy: ${first.strategy}. Stopping: ${first.stopping}. The ${problem.direction === "minimise" ? "smallest" : "largest"} value is sought. ` +
        "This is what the certificate says; its pictures need a report, as “mfbai study report” writes.",
    ),
  );
  root.dataset.state = verdict?.state ?? "running";
  return root;
}

function sentence(verdict, { arms }) {
  if (!verdict) return "The journal has no verdict.";
  const name = verdict.arm === null ? null : `“${arms[verdict.arm]}”`;
  const cost = `it cost ${number(verdict.cost)}, for ${whole(verdict.told)} evaluations`;
  if (verdict.state === "decided") return `The best is ${name}: the risk is ${risk(verdict.risk)} at most, if what is stated holds; ${cost}.`;
  if (verdict.state === "alarm") return `Stopped by an alarm, without an answer: the results contradict what was stated; ${cost}.`;
  return `Undecided within the budget: ${name === null ? "nothing is known" : `${name} leads, with a risk of ${risk(verdict.risk)} at most`}; ${cost}.`;
}

function groundsOf(first, verdict, { fidelities }) {
  const { family } = first.problem;
  const says = Object.entries(family).filter(([name, value]) => name !== "name" && typeof value !== "object");
  const stated = says.map(([name, value]) => `, ${name} ${value}`).join("");
  const seeds = first.problem.problem.seeds === "common" ? ["Differences at the same seed are symmetric."] : [];
  return {
    rests_on: [`The values are as the family “${family.name}” says${stated}.`, ...seeds],
    bounds: fidelities.slice(0, -1).map(boundOf),
    bears: bears(verdict),
  };
}

function boundOf({ name, bias, controlled }) {
  if (controlled) return `“${name}” is without bias, being corrected at shared seeds.`;
  if (bias === undefined) return `“${name}” may be off by any amount: nothing rests on it.`;
  if (typeof bias === "number") return `“${name}” is off by ${number(bias, 6)} at most.`;
  const shared = bias.length === 2 && bias.every((end) => typeof end === "number");
  return shared ? `“${name}” is off by ${number(bias[0], 6)} to ${number(bias[1], 6)}.` : `“${name}” is off by bounds that differ by arm.`;
}

function bears(verdict) {
  if (verdict?.state !== "decided") return "There is no answer, and so nothing that could bear more.";
  if (verdict.breakdown === "any") return "It rests on no bias bound.";
  if (typeof verdict.breakdown !== "number") return "How much wider the bounds may be is not known.";
  const without = verdict.untrusted < 1 ? `a risk of ${risk(verdict.untrusted)}` : "nothing is proven";
  return `It stands even if every bias bound is ${number(roundedDown(verdict.breakdown), 4)} times as wide. Without any bias bound: ${without}.`;
}

/** With four digits, and not more than is true. */
function roundedDown(factor) {
  const places = 3 - Math.floor(Math.log10(factor));
  return Math.floor(factor * 10 ** places) / 10 ** places;
}

/** The averages of all values told and added: which of them count, and when, a replay finds. */
export function averagesPanel({ cells, problem }) {
  const { arms, fidelities } = problem;
  const seen = arms.map((_, arm) => arm).filter((arm) => cells[arm] !== null);
  const head = h("tr", {}, ...["arm", ...fidelities.map(({ name }) => name), "spent"].map((text) => h("th", { scope: "col", dir: "auto" }, text)));
  const rows = seen.slice(0, MOST).map((arm) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", dir: "auto" }, arms[arm]),
      ...cells[arm].map(({ count, sum }) => h("td", {}, count === 0 ? "" : `${number(sum / count, 6)} (${count})`)),
      h("td", {}, number(cells[arm].reduce((total, { cost }) => total + cost, 0))),
    ),
  );
  const more = seen.length > MOST ? `The first ${MOST} of ${whole(seen.length)} arms that have values.` : "";
  return frame(
    "numbers",
    "Averages and cost",
    "For each [arm], the [mean|average] of all its values at each [fidelity], with their number in brackets, and what it cost.",
    h("div", { class: "scroller", tabindex: "0", role: "group", "aria-label": "Table of averages" }, h("table", {}, h("thead", {}, head), h("tbody", {}, ...rows))),
    h("p", { class: "muted note" }, more),
  );
}
