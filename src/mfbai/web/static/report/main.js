// A report: a study's certificate with its pictures, trials and checks, in one file and without a server.

import { armChoice } from "../arms.js";
import { setBadge } from "../badge.js";
import { h } from "../dom.js";
import { whole } from "../format.js";
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
import { groundsPanel } from "./grounds.js";
import { openerPanel } from "./opener.js";
import { inSlices } from "./slices.js";
import { ownSource, sourceOf } from "./source.js";
import { averagesPanel, summaryOf } from "./summary.js";
import { timeText, trialsPanel } from "./table.js";
import { readTrials } from "./trials.js";

const PICTURES = [alarms, variance, evidence, intervals, risk, growth, spend, shares, numbers];
const place = document.getElementById("report");
let stop = () => {};

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
  setBadge(badge, found.state);
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
      h("p", { class: "muted lead" }, source.ours ? "" : `From the file “${source.file}”, opened here. `, `Created ${timeText(found.created)} UTC`, last, "."),
      warning,
      panels,
    ),
  );
  document.title = `${name} · mfbai report`;
  found.draw?.();
  const bad = (told) => {
    warning.hidden = false;
    warning.append(h("p", {}, `⚠ Do not rely on this file. ${told}`));
  };
  const ignoreStop = (error) => {
    if (error.name !== "AbortError") throw error;
  };
  const work = async () => {
    try {
      const trials = await inSlices(readTrials(source.certificate.events, source.beside), stopper.signal, (some) => table.set(some, false));
      table.set(trials, true);
      if (trials.last !== null) last.textContent = `, last event ${timeText(trials.last)} UTC`;
      if (!source.shown) panels.insertBefore(averagesPanel(trials), table.root);
    } catch (error) {
      if (stopper.signal.aborted) throw error;
      table.fail(`The journal cannot be shown as a table: ${error.message}.`);
    }
    await checks.run(stopper.signal, bad);
    if (warning.hidden) last.append("; the chain of hashes is intact");
    place.dataset.done = "true"; // for tests and tools
  };
  delete place.dataset.done;
  work().catch(ignoreStop);
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
        panel.root.replaceChildren(h("p", { class: "error" }, `This picture cannot be drawn: ${error.message}.`));
      }
    }
  };
  return {
    state: view.status.state,
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

async function open(file, text) {
  show(sourceOf(file, text));
  scrollTo(0, 0);
  place.querySelector("h1").focus({ preventScroll: true });
}

fillGlossary(document.querySelector("#glossary dl"));
watchTerms(document.getElementById("tip"));
document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  document.getElementById("main").focus();
});
place.after(openerPanel(open).root);
try {
  const source = ownSource();
  show(source);
  document.getElementById("answer").hidden = true; // the panels say the same
} catch (error) {
  place.append(h("div", { class: "card warning", role: "alert" }, h("p", {}, `⚠ Do not rely on this file: ${error.message}.`)));
}
