// One study, live: a page of panels, updated with every view that the server sends.

import { Gone, follow } from "./api.js";
import { listLink, replaceAddress, studyRoute } from "./address.js";
import { armChoice } from "./arms.js";
import { setBadge, signOf, stateOf } from "./badge.js";
import { careTools } from "./care.js";
import { showLost } from "./connection.js";
import { h, setText } from "./dom.js";
import { makePanels } from "./panels/list.js";
import { takeWord } from "./word.js";

const SETTLING = 3000; // ms after a new name, in which a view may still come with the old one
const DELETED = "This study was deleted. What is shown is what was known of it last.";
const NOT_THERE = "This study is not there any more: it was deleted, or has another name. What is shown is what was known of it last.";

/** An error in one panel does not stop the others. */
function updateOne(panel, view) {
  try {
    panel.update(view);
  } catch (error) {
    reportError(error);
  }
}

export function studyPage(name) {
  // The name changes when the study is renamed; the key never does.
  const page = { name, key: null, renamed: (next) => moveTo(next, `“${page.name}” is now called “${next}”.`) };
  const heading = h("h1", { dir: "auto" }, name);
  const badge = h("span", { class: "badge" });
  const waiting = h("p", { class: "muted waiting", role: "status" }, "Opening the study …");
  const said = h("p", { class: "word", role: "status" }, takeWord());
  const content = h("div", { class: "panels", hidden: true });
  const stopper = new AbortController();
  let left = { name: null, at: 0 }; // the name that it had before
  const show = () => {
    const view = arms.choose(last);
    const state = stateOf(view);
    setBadge(badge, state);
    document.title = `${signOf(state)} ${page.name} · mfbai`; // seen from another tab
    waiting.hidden = true;
    content.hidden = false;
    tools.update(view);
    for (const panel of panels) updateOne(panel, view);
  };
  const moveTo = (next, words) => {
    if (next === page.name || (next === left.name && Date.now() - left.at < SETTLING)) return;
    left = { name: page.name, at: Date.now() };
    page.name = next;
    setText(heading, next);
    replaceAddress(studyRoute(next)); // not another page: what was typed stays
    setText(said, words);
  };
  const update = (view) => {
    page.renamed(view.status.name);
    page.key = view.key;
    last = view;
    show();
    arms.refresh();
  };
  const end = (error) => {
    const lost = error instanceof Gone || error.isMissing;
    tools.end();
    waiting.hidden = false;
    content.hidden = last === null; // someone may want to copy what is there, or was typed
    if (last !== null && lost) setBadge(badge, "deleted");
    else badge.hidden = true;
    const words = error instanceof Gone || error.type === "StudyGone" ? DELETED : NOT_THERE;
    waiting.replaceChildren(last !== null && lost ? words : error.message, " ", h("a", { href: listLink().getAttribute("href") }, "To the studies"));
    document.title = `${page.name} · mfbai`;
  };
  let last = null;
  const arms = armChoice(page, () => last && !stopper.signal.aborted && show());
  page.arms = arms;
  const tools = careTools(page, { heading, badge, said, onRenamed: (next) => moveTo(next, `Renamed “${page.name}” to “${next}”.`) });
  const panels = makePanels(page);
  content.append(...panels.map((panel) => panel.root));
  const root = h("article", {}, tools.root, waiting, said, content);
  return {
    root,
    title: name,
    start: () => follow(page, stopper.signal, update, showLost).catch((error) => {
      showLost(null);
      end(error);
    }),
    stop() {
      stopper.abort();
      tools.stop();
      for (const panel of panels) panel.stop?.();
    },
  };
}
