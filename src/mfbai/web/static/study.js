// One study, live: a page of panels, updated with every view that the server has.

import { follow, readLabel } from "./api.js";
import { listLink, replaceAddress, studyRoute } from "./address.js";
import { armChoice } from "./arms.js";
import { setBadge, signOf, stateOf } from "./badge.js";
import { careTools } from "./care.js";
import { showLost } from "./connection.js";
import { h, setText } from "./dom.js";
import { makePanels } from "./panels/list.js";
import { takeWord } from "./word.js";

const GONE =
  "The server has no such study any more: it was deleted, or the server has another storage now. What is shown is what was known of it last.";
const AWAY = 503; // the status of a server whose storage does not answer

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
  const page = { name, key: null, renamed: (next) => next !== page.name && moveTo(next, `“${page.name}” is now called “${next}”.`) };
  const heading = h("h1", { dir: "auto" }, name);
  const badge = h("span", { class: "badge" });
  const waiting = h("p", { class: "muted waiting", role: "status" }, "Opening the study …");
  const said = h("p", { class: "word", role: "status" }, takeWord());
  const content = h("div", { class: "panels", hidden: true });
  const stopper = new AbortController();
  const show = () => {
    const view = arms.choose(last);
    const state = stateOf(view);
    setBadge(badge, state);
    document.title = `${signOf(state)} ${page.name} · mfbai`; // seen from another tab
    waiting.hidden = true;
    content.hidden = false;
    delete content.dataset.unreadable;
    tools.update(view);
    for (const panel of panels) updateOne(panel, view);
  };
  const moveTo = (next, words) => {
    page.name = next;
    setText(heading, next);
    tools.moved();
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
  /** A study that was not seen yet, and cannot be read, is shown as far as it can be looked after. */
  const onLost = (error) => {
    const unreadable = last === null && error?.status && error.status !== AWAY;
    showLost(error === null || unreadable ? null : (error.status ? error.message : ""));
    if (!unreadable) return;
    setText(waiting, error.message);
    readLabel(page).then((label) => last === null && !stopper.signal.aborted && look(label), () => {});
  };
  const look = (label) => {
    page.renamed(label.name);
    page.key = label.key ?? page.key;
    setBadge(badge, "unreadable");
    document.title = `${signOf("unreadable")} ${page.name} · mfbai`;
    content.hidden = false;
    content.dataset.unreadable = "";
    for (const panel of panels) panel.care?.(label);
  };
  const end = (error) => {
    const known = !content.hidden && error.isMissing; // someone may want to copy what is there, or was typed
    tools.end();
    waiting.hidden = false;
    if (known) {
      setBadge(badge, "gone");
      content.dataset.gone = last?.status.state ?? "";
    } else badge.hidden = true;
    waiting.replaceChildren(known ? GONE : error.message, " ", h("a", { href: listLink().getAttribute("href") }, "To the studies"));
    document.title = `${page.name} · mfbai`;
  };
  page.leave = () => stopper.abort(); // it was deleted here
  let last = null;
  const arms = armChoice(page, () => last && !stopper.signal.aborted && show());
  page.arms = arms;
  const tools = careTools(page, { heading, badge, said, onRenamed: (before, next) => moveTo(next, `Renamed “${before}” to “${next}”.`) });
  const panels = makePanels(page);
  content.append(...panels.map((panel) => panel.root));
  const root = h("article", {}, tools.root, waiting, said, content);
  return {
    root,
    title: name,
    start: () => follow(page, stopper.signal, update, onLost).catch((error) => {
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
