// The list of all studies.

import { listStudies, sleep } from "./api.js";
import { h, setAttribute, setText, syncRows } from "./dom.js";
import { number, percent, plural, risk } from "./format.js";
import { showLost } from "./connection.js";
import { setBadge } from "./badge.js";
import { prose } from "./terms.js";

const ABOUT =
  "Each [study] finds the best of several alternatives at the least cost, and ends with a [verdict] of known [risk].";
const PAUSE = 2000; // ms between two looks
const STEP = 100; // studies shown, and as many more with each press of the button
const MOST = 1000; // the server lists no more at once

export function listPage() {
  const list = h("ul", { class: "studies", "aria-label": "Studies" });
  const create = h("a", { class: "button primary", href: "#/new" }, "New study");
  const note = h("p", { class: "muted" }, "Loading …");
  let limit = STEP;
  let stopper;
  const more = h("button", { type: "button", class: "quiet", hidden: true }, "Show more");
  more.addEventListener("click", () => {
    limit = Math.min(limit + STEP, MOST);
    restart();
  });
  const root = h(
    "section",
    {},
    h("div", { class: "title" }, h("h1", {}, "Studies"), create),
    h("p", { class: "lead muted" }, ...prose(ABOUT)),
    note,
    list,
    more,
  );
  const rows = new Map();
  const update = ({ studies, total }) => {
    syncRows(list, rows, studies, (study) => study.name, makeRow);
    setText(note, noteFor(studies.length, total));
    more.hidden = studies.length >= Math.min(total, MOST);
  };
  const restart = () => {
    stopper?.abort();
    stopper = new AbortController();
    poll(stopper.signal, limit, update);
  };
  return {
    root,
    title: "Studies",
    start: restart,
    stop: () => stopper.abort(),
  };
}

function noteFor(shown, total) {
  if (total === 0) return "There is no study yet. “New study” creates one, with an example to start from.";
  return shown < total ? `The newest ${shown} of ${total} studies.` : "";
}

async function poll(signal, limit, update) {
  while (!signal.aborted) {
    try {
      const found = await listStudies(limit);
      if (signal.aborted) return;
      showLost(null);
      update(found);
    } catch (error) {
      if (signal.aborted) return;
      showLost(error.status ? error.message : "");
    }
    await sleep(PAUSE, signal);
  }
}

function makeRow(study) {
  const badge = h("span", { class: "badge" });
  const leader = h("span", { class: "leading" });
  const facts = h("span", { class: "muted facts" });
  const alarm = h("span", { class: "alarm-mark" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress towards the verdict" });
  const done = h("span", { class: "muted done" });
  const root = h(
    "li",
    {},
    h(
      "a",
      { class: "card study", href: `#/study/${encodeURIComponent(study.name)}` },
      h("span", { class: "name", dir: "auto" }, study.name),
      badge,
      leader,
      facts,
      h("span", { class: "bar" }, bar, done),
      alarm,
    ),
  );
  return {
    root,
    update(now) {
      setBadge(badge, now.state);
      const opening = now.state === "opening";
      setText(leader, opening ? "Opening …" : leaderText(now));
      setText(facts, opening ? "" : factsOf(now));
      bar.hidden = opening;
      setAttribute(bar, "value", now.progress ?? 0);
      setText(done, opening ? "" : percent(now.progress ?? 0));
      setText(alarm, alarmsOf(now));
    },
  };
}

function alarmsOf({ alarms, variance_alarms }) {
  const some = [alarms && plural(alarms, "bias alarm"), variance_alarms && plural(variance_alarms, "variance alarm")];
  const shown = some.filter(Boolean);
  return shown.length > 0 ? `⚠ ${shown.join(", ")}` : "";
}

function leaderText({ state, leader }) {
  if (leader === null) return "No results yet";
  return state === "decided" ? `Answer: ${leader}` : `${leader} leads`;
}

function factsOf(study) {
  const size = `${plural(study.arms, "arm")}, ${plural(study.fidelities, "fidelity", "fidelities")}`;
  const proof = `risk ${risk(study.risk)}, goal ${number(study.delta)}`;
  return `${proof} · cost ${number(study.cost)}, ${plural(study.told, "result")} · ${size}`;
}
