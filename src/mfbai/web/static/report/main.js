// A report: a study's certificate with its pictures, trials and checks, in one file and without a server.

import { armChoice } from "../arms.js";
import { setBadge, stateOf } from "../badge.js";
import { h, setAttribute, setText } from "../dom.js";
import { plural, whole } from "../format.js";
import { frame } from "../frame.js";
import { markdown } from "../markdown.js";
import { fillGlossary, watchTerms } from "../terms.js";
import * as alarms from "../panels/alarms.js";
import * as evidence from "../panels/evidence.js";
import * as growth from "../panels/evidence_growth.js";
import * as intervals from "../panels/intervals.js";
import * as numbers from "../panels/numbers.js";
import * as risk from "../panels/risk.js";
import * as shares from "../panels/shares.js";
import * as spend from "../panels/spend.js";
import * as variance from "../panels/variance_alarms.js";
import * as verdict from "../panels/verdict.js";
import { checksPanel } from "./checks.js";
import { Unreadable, reasonOf } from "./exact.js";
import { groundsPanel } from "./grounds.js";
import { openerPanel } from "./opener.js";
import { inSlices } from "./slices.js";
import { ownSource, sourceOf } from "./source.js";
import { averagesPanel, summaryOf } from "./summary.js";
import { timeText, trialsPanel } from "./table.js";
import { readTrials } from "./trials.js";

const BEWARE = "⚠ Do not rely on this file";
const PICTURES = [alarms, variance, evidence, intervals, risk, growth, spend, shares, numbers];
const place = document.getElementById("report");
const answer = document.getElementById("answer");
let stop = () => {};
let bad = (told) => warn(`. ${told}`); // until a file is shown

/** In the plain answer, while there is nothing else. */
function warn(told) {
  setText(answer.querySelector(".warning"), `${BEWARE}${told}`);
}

/** Whatever fails must be seen: a check that did not run looks like one that found nothing. */
function failed(error) {
  if (error?.name !== "AbortError") bad(`Its program failed: ${error?.message ?? error}.`);
}

/** Show a file, in the place of the one that is shown. */
function show(source) {
  const stopper = new AbortController();
  const found = source.shown ? picturesOf(source) : summaryOf(source.certificate);
  const checks = checksPanel(source);
  const table = trialsPanel(source.certificate.facts.study);
  const warning = h("div", { class: "card warning", role: "alert", hidden: true });
  const last = h("span");
  const panels = h("div", { class: "panels" }, ...found.panels, table.root, ...noteOf(source.beside), checks.root);
  const badge = h("span", { class: "badge" });
  const name = source.certificate.facts.study;
  setText(badge, "… being checked");
  stop();
  stop = () => {
    stopper.abort();
    table.stop();
    found.stop?.();
  };
  place.replaceChildren(
    h(
      "article",
      {},
      h("div", { class: "title" }, h("div", { class: "heading" }, h("h1", { dir: "auto", tabindex: "-1" }, name), badge)),
      h("p", { class: "muted lead" }, source.ours ? "" : `From the file “${source.file}”, opened here${othersOf(source)}. `, `Created ${timeText(found.created)} UTC`, last, "."),
      warning,
      panels,
    ),
  );
  document.title = `${name} · mfbai report`;
  const said = new Set();
  bad = (told) => {
    if (said.size === 0) {
      warning.hidden = false;
      setText(badge, "⚠ not reliable");
      setAttribute(badge, "data-state", "alarm");
    }
    if (!said.has(told)) warning.append(h("p", {}, `${BEWARE}. ${told}`));
    said.add(told);
  };
  found.draw?.();
  const work = async () => {
    try {
      const trials = await inSlices(readTrials(source.certificate.events, source.beside), stopper.signal, (some) => table.set(some, false));
      table.set(trials, true);
      if (trials.last !== null) last.textContent = `, last event ${timeText(trials.last)} UTC`;
      if (!source.shown) panels.insertBefore(averagesPanel(trials), table.root);
    } catch (error) {
      if (stopper.signal.aborted) throw error;
      const told = `The journal cannot be shown as a table: ${reasonOf(error)}.`;
      table.fail(told);
      bad(told);
    }
    await checks.run(stopper.signal, bad);
    if (said.size > 0) return;
    last.append("; the chain of hashes is intact");
    setBadge(badge, found.state);
  };
  delete place.dataset.done;
  work()
    .catch(failed)
    .finally(() => {
      if (!stopper.signal.aborted) place.dataset.done = "true"; // for tests and tools
    });
}

/** That of several files one is shown. */
function othersOf({ others }) {
  return others > 0 ? `; ${plural(others, "other file")} that came with it ${others === 1 ? "was" : "were"} not opened: open one at a time` : "";
}

/** The panels that a view fills. */
function picturesOf({ shown, beside, certificate }) {
  const view = { ...shown.view, paused: beside.paused, note: beside.note, tags: beside.tags };
  const arms = armChoice(certificate.facts.study, () => draw());
  const context = { name: certificate.facts.study, arms };
  const first = verdict.makePanel(context);
  const rest = PICTURES.map((module) => module.makePanel(context));
  const all = [first, ...rest];
  const draw = () => {
    const chosen = arms.choose(view);
    for (const panel of all) {
      try {
        panel.update(chosen);
      } catch (error) {
        panel.root.replaceChildren(h("p", { class: "error" }, `This picture cannot be drawn: ${reasonOf(error)}.`));
        bad("A picture cannot be drawn.");
      }
    }
  };
  return {
    state: stateOf(view),
    created: view.created,
    panels: [first.root, groundsPanel(shown.grounds), ...someOf(view), ...rest.map((panel) => panel.root)],
    draw,
    stop: () => all.forEach((panel) => panel.stop?.()),
  };
}

/** Of many arms, which are in the pictures. */
function someOf({ n_arms: total, shown }) {
  if (total <= shown.length) return [];
  const told =
    `Of ${whole(total)} arms, the pictures show the ${shown.length} that matter most: the leader, and the rivals with the least ` +
    "[evidence] against them. The table has the trials of all.";
  return [frame("some", "Which arms are shown?", told)];
}

/** What people wrote beside the journal. */
function noteOf(beside) {
  if (!beside || (beside.note === "" && beside.tags.length === 0)) return [];
  const about = "Written by people beside the journal. It can be changed at any time, and the proof does not cover it.";
  const tags = beside.tags.length > 0 && h("p", { class: "muted" }, `Tags: ${beside.tags.join(", ")}`);
  return [frame("written", "Note", about, tags, h("div", { class: "markdown" }, ...markdown(beside.note)))];
}

async function open(file, text, others) {
  show({ ...sourceOf(file, text), others });
  scrollTo(0, 0);
  place.querySelector("h1").focus({ preventScroll: true });
}

/** Show this file. The answer in plain HTML stays if that fails, with its warning. */
function showOwn() {
  try {
    const source = ownSource();
    fillGlossary(document.querySelector("#glossary dl"));
    show(source);
    answer.hidden = true; // the panels say the same
    answer.querySelector(".warning").remove();
  } catch (error) {
    warn(`: ${error instanceof Unreadable ? "" : "its program failed: "}${error.message}.`);
  }
}

addEventListener("error", ({ error }) => error && failed(error)); // without one, it is only a remark on the layout
addEventListener("unhandledrejection", ({ reason }) => failed(reason));
watchTerms(document.getElementById("tip"));
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
showOwn();
place.after(openerPanel(open).root);
