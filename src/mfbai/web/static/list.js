// The list of all studies: searched, filtered, sorted; some of them ticked, to be compared.

import { listStudies, sleep } from "./api.js";
import { compareLink, listLink, replaceAddress, routeTo } from "./address.js";
import { h, setAttribute, setText, syncRows } from "./dom.js";
import { showLost } from "./connection.js";
import { makeFilters } from "./list_filters.js";
import { makeRow } from "./list_row.js";
import { prose } from "./terms.js";
import { compareRoute, findGone, makeTicks, ticksText } from "./ticks.js";
import { takeWord } from "./word.js";

const ABOUT =
  "Each [study] finds the best of several alternatives at the least cost, and ends with a [verdict] of known [risk].";
const PAUSE = 2000; // ms between two looks
const CHECK = 10_000; // ms until ticked studies that the list does not show are looked for again
const STEP = 100; // studies shown, and as many more with each press of the button
const MOST = 1000; // the server lists no more at once
const NONE = "There is no study yet. “New study” creates one, with an example to start from.";

export function listPage(query) {
  const said = h("p", { class: "word", role: "status" }, takeWord());
  const list = h("ul", { class: "studies", "aria-label": "Studies" });
  const create = h("a", { class: "button primary", href: "#/new" }, "New study");
  const note = h("p", { class: "muted counted", role: "status" }, "Loading …");
  const ticks = makeTicks(query, () => {
    keepAddress();
    showTicks();
  });
  const filters = makeFilters(query, () => {
    keepAddress();
    restart();
  });
  const chosen = comparison(ticks);
  let limit = STEP;
  let stopper;
  let last = [];
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
    said,
    filters.root,
    chosen.root,
    note,
    list,
    more,
  );
  const rows = new Map();
  const showTicks = () => {
    syncRows(list, rows, last, (study) => study.name, (study) => makeRow(study, ticks), ticks);
    chosen.update();
  };
  const update = ({ studies, total, tags }) => {
    const before = last.length;
    const onMore = document.activeElement === more;
    last = studies;
    filters.update(tags);
    filters.root.hidden = total === 0 && !filters.some();
    showTicks();
    setText(note, noteFor(studies.length, total, filters.some()));
    more.hidden = studies.length >= Math.min(total, MOST);
    if (onMore && more.hidden) list.querySelectorAll("a.study")[before]?.focus(); // the first of those that were added
  };
  const keepAddress = () => {
    const now = filters.write();
    ticks.write(now);
    replaceAddress(routeTo("/", now));
    setAttribute(listLink(), "href", routeTo("/", now));
    setAttribute(compareLink(), "href", compareRoute(ticks));
  };
  let checked = { unseen: "", at: 0 };
  /** Untick what was deleted or renamed. What is filtered out, or not among the first, stays ticked. */
  const untickGone = async ({ studies }, signal) => {
    const shown = new Set(studies.map(({ name }) => name));
    const names = ticks.names().filter((name) => !shown.has(name));
    const unseen = names.join("\n");
    if (names.length === 0 || (unseen === checked.unseen && Date.now() - checked.at < CHECK)) return;
    const gone = await findGone(names);
    checked = { unseen, at: Date.now() };
    if (gone.length > 0 && !signal.aborted) ticks.drop(gone);
  };
  const restart = () => {
    stopper?.abort();
    stopper = new AbortController();
    const { signal } = stopper;
    const look = (found) => {
      update(found);
      return untickGone(found, signal);
    };
    poll(signal, () => ({ limit, ...filters.wanted() }), look);
  };
  list.addEventListener("keydown", moveInList);
  return {
    root,
    title: "Studies",
    start() {
      setAttribute(listLink(), "href", location.hash || "#/");
      setAttribute(compareLink(), "href", compareRoute(ticks));
      filters.load();
      restart();
    },
    stop() {
      stopper.abort();
      filters.stop();
    },
  };
}

function noteFor(shown, total, filtered) {
  if (total === 0) return filtered ? "No study matches." : NONE;
  const all = `${total} ${total === 1 ? "study" : "studies"}`;
  const what = filtered ? `${all} ${total === 1 ? "matches" : "match"}` : all;
  return shown < total ? `${what}; the first ${shown} are shown.` : `${what}.`;
}

/** What is ticked, and the way to the comparison. */
function comparison(ticks) {
  const link = h("a", { class: "button" }, "Compare");
  const clear = h("button", { type: "button" }, "Untick all");
  const note = h("span", { class: "muted", role: "status" });
  clear.addEventListener("click", () => {
    ticks.clear();
    link.focus();
  });
  const root = h("div", { class: "inline chosen" }, link, clear, note);
  const update = () => {
    const count = ticks.names().length;
    setAttribute(link, "href", compareRoute(ticks));
    setText(link, count === 0 ? "Compare studies" : `Compare ${count} ticked`);
    setText(note, count === 0 ? "Tick the studies to compare side by side." : ticksText(count));
    clear.hidden = count === 0;
  };
  update();
  return { root, update };
}

/** The arrow keys go from study to study, and stay with the links or with the ticks. */
function moveInList(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const kind = event.target.closest("a") ? "a.study" : "input";
  if (step === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
  const all = [...event.currentTarget.querySelectorAll(kind)].filter((each) => !each.disabled);
  const next = all[all.indexOf(event.target.closest(kind)) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

async function poll(signal, wanted, look) {
  while (!signal.aborted) {
    try {
      const found = await listStudies(wanted());
      if (signal.aborted) return;
      showLost(null);
      await look(found);
    } catch (error) {
      if (signal.aborted) return;
      showLost(error.status ? error.message : "");
    }
    await sleep(PAUSE, signal);
  }
}
