// One study, live: a page of panels, each of which is {root, update(view), stop?()}.

import { follow } from "./api.js";
import { armChoice } from "./arms.js";
import { setBadge, signOf } from "./badge.js";
import { showLost } from "./connection.js";
import { h, setText } from "./dom.js";
import { alarmsPanel } from "./panels/alarms.js";
import { certificateButton } from "./panels/certificate.js";
import { evidenceChart, riskChart } from "./panels/charts.js";
import { evidencePanel } from "./panels/evidence.js";
import { intervalsPanel } from "./panels/intervals.js";
import { numbersPanel } from "./panels/numbers.js";
import { recentPanel } from "./panels/recent.js";
import { spendPanel } from "./panels/spend.js";
import { trialsPanel } from "./panels/trials.js";
import { verdictPanel } from "./panels/verdict.js";

/** A fault of one panel is no reason for the others to stand still. */
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
  const arms = armChoice(() => last && update(last));
  const panels = [
    verdictPanel(),
    alarmsPanel(),
    evidencePanel(arms),
    intervalsPanel(arms),
    riskChart(),
    evidenceChart(),
    spendPanel(arms),
    trialsPanel(name),
    recentPanel(),
    numbersPanel(arms),
  ];
  content.append(...panels.map((panel) => panel.root));
  let last = null;
  const update = (view) => {
    last = view;
    setBadge(badge, view.status.state);
    document.title = `${signOf(view.status.state)} ${name} · mfbai`; // seen from another tab
    waiting.hidden = true;
    content.hidden = false;
    arms.choose(view.status);
    for (const panel of panels) updateOne(panel, view);
  };
  const stopper = new AbortController();
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
