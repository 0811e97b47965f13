// Studies side by side: what is ticked is what is shown, live.

import { readView, sleep } from "./api.js";
import { TICKED, compareLink, listLink, replaceAddress, routeTo } from "./address.js";
import { stateOf } from "./badge.js";
import { comparedChart } from "./compare_chart.js";
import { comparedTable } from "./compare_table.js";
import { showLost } from "./connection.js";
import { h, setText } from "./dom.js";
import { makeMarks } from "./marks.js";
import { makePicker } from "./picker.js";
import { prose } from "./terms.js";
import { compareRoute, makeTicks } from "./ticks.js";

const ABOUT =
  "How far each [study] is, and what it took. Compare what can be compared: each study has its own problem, and counts its " +
  "[cost] in its own unit.";
const PAUSE = 2000; // ms between two looks
const GONE = "There is no study of this name: it was deleted, or has another name.";
const NONE = "No study is ticked.";

export function comparePage(query) {
  const entries = new Map(); // by name: {id, name, present, key, view, fault, stopper}
  const marksFor = makeMarks();
  const ticks = makeTicks(query, () => {
    keepAddress();
    followTicked();
    show();
  });
  const picker = makePicker(ticks);
  const note = h("p", { class: "muted none", role: "status" });
  const chart = comparedChart();
  const table = comparedTable((name) => {
    ticks.set(name, false);
    picker.focus();
  });
  const root = h(
    "section",
    { class: "compare" },
    h("div", { class: "title" }, h("h1", {}, "Compare studies")),
    h("p", { class: "lead muted" }, ...prose(ABOUT)),
    picker.root,
    note,
    chart.root,
    table.root,
  );
  let active = false;
  let made = 0;
  const show = () => {
    const shown = ticks.names().map((name) => entries.get(name));
    const marks = marksFor(shown.map(({ id }) => id));
    const marked = shown.map((entry, i) => ({ ...entry, mark: marks[i] }));
    setText(note, shown.length === 0 ? NONE : "");
    for (const part of [chart, table]) part.update(marked);
    picker.update(statesOf(shown));
  };
  const keepAddress = () => {
    replaceAddress(compareRoute(ticks));
    keepInLinks(ticks);
  };
  const followTicked = () => {
    if (!active) return;
    for (const [name, { stopper }] of entries) {
      if (ticks.has(name)) continue;
      stopper.abort();
      entries.delete(name);
    }
    for (const name of ticks.names()) {
      if (entries.has(name)) continue;
      made += 1;
      const entry = { id: made, name, present: name, key: null, view: null, fault: "", stopper: new AbortController() };
      entries.set(name, entry);
      follow(entry, look);
    }
  };
  /** What the server answered about one of them. */
  const look = (entry) => {
    const { name, present } = entry;
    if (present === name) return show();
    if (ticks.has(present)) return ticks.set(name, false); // it is there under its new name, too
    entries.delete(name);
    entries.set(present, entry);
    entry.name = present;
    ticks.rename(name, present); // which shows it
    picker.find();
  };
  return {
    root,
    title: "Compare studies",
    start() {
      active = true;
      keepInLinks(ticks);
      picker.find();
      followTicked();
      show();
    },
    stop() {
      active = false;
      for (const { stopper } of entries.values()) stopper.abort();
      picker.stop();
      chart.stop();
    },
  };
}

/** Where the studies stand, by their views; nothing is said of one that cannot be read. */
function statesOf(entries) {
  const seen = entries.filter(({ view, fault }) => view || fault);
  return new Map(seen.map(({ name, view, fault }) => [name, fault ? "" : stateOf(view)]));
}

/** The way back to the list has the same ticks, and so has that to the comparison. */
function keepInLinks(ticks) {
  compareLink().setAttribute("href", compareRoute(ticks));
  const [, text = ""] = listLink().getAttribute("href").split("?");
  const query = new URLSearchParams(text);
  query.delete(TICKED);
  ticks.write(query);
  listLink().setAttribute("href", routeTo("/", query));
}

async function follow(entry, onLook) {
  const { signal } = entry.stopper;
  while (!signal.aborted) {
    try {
      const view = await readView(entry);
      if (signal.aborted) return;
      Object.assign(entry, { view, key: view.key, present: view.status.name, fault: "" });
      showLost(null);
    } catch (error) {
      if (signal.aborted) return;
      showLost(error.status ? null : ""); // what the server answers concerns this study alone
      if (error.renamedTo) entry.present = error.renamedTo;
      else if (error.status) entry.fault = error.isMissing ? GONE : error.message;
    }
    onLook(entry);
    await sleep(PAUSE, signal);
  }
}
