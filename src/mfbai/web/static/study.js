// One study, live: a page of panels, updated with every view that the server sends.

import { follow } from "./api.js";
import { armChoice } from "./arms.js";
import { setBadge, signOf } from "./badge.js";
import { certificateButton } from "./certificate.js";
import { showLost } from "./connection.js";
import { h, setText } from "./dom.js";
import { makePanels } from "./panels/list.js";

/** An error in one panel does not stop the others. */
function updateOne(panel, view) {
  try {
    panel.update(view);
  } catch (error) {
    reportError(error);
  }
}

export function studyPage(name) {
  const download = certificateButton(name);
  const badge = h("span", { class: "badge" });
  const waiting = h("p", { class: "muted", role: "status" }, "Opening the study …");
  const content = h("div", { class: "panels", hidden: true });
  const root = h(
    "article",
    {},
    h("div", { class: "title" }, h("div", { class: "heading" }, h("h1", { dir: "auto" }, name), badge), download),
    waiting,
    content,
  );
  const stopper = new AbortController();
  const arms = armChoice(name, () => last && !stopper.signal.aborted && show());
  const panels = makePanels({ name, arms });
  content.append(...panels.map((panel) => panel.root));
  let last = null;
  const update = (view) => {
    last = view;
    show();
    arms.refresh();
  };
  const show = () => {
    const view = arms.choose(last);
    setBadge(badge, view.status.state);
    document.title = `${signOf(view.status.state)} ${name} · mfbai`; // seen from another tab
    waiting.hidden = true;
    content.hidden = false;
    for (const panel of panels) updateOne(panel, view);
  };
  return {
    root,
    title: name,
    start: () =>
      follow(name, stopper.signal, update, showLost).catch((error) => {
        for (const part of [content, badge, download]) part.hidden = true;
        waiting.hidden = false;
        setText(waiting, error.message);
      }),
    stop() {
      stopper.abort();
      for (const panel of panels) panel.stop?.();
    },
  };
}
