// A study in the list: a box to tick, and a link that says where the study stands.

import { studyRoute } from "./address.js";
import { setBadge } from "./badge.js";
import { h, setAttribute, setText, syncRows } from "./dom.js";
import { ago, clock, number, percent, plural, risk } from "./format.js";
import { showTick } from "./ticks.js";

const UNKNOWN = { opening: "Opening …", unreadable: "Its journal cannot be read here" };

export function makeRow({ name }, ticks) {
  const tick = h("input", { type: "checkbox", "aria-label": `Compare ${name}`, title: "Tick to compare" });
  tick.addEventListener("change", () => ticks.set(name, tick.checked));
  const badge = h("span", { class: "badge" });
  const leader = h("span", { class: "leading", dir: "auto" });
  const facts = h("span", { class: "muted facts" });
  const alarm = h("span", { class: "alarm-mark" });
  const bar = h("progress", { max: 1, value: 0, "aria-label": "Progress towards the verdict" });
  const done = h("span", { class: "muted done" });
  const active = h("time", { class: "muted active" });
  const tags = h("span", { class: "tags" });
  const tagRows = new Map();
  const link = h(
    "a",
    { class: "card study", href: studyRoute(name) },
    h("span", { class: "name", dir: "auto" }, name),
    badge,
    leader,
    facts,
    h("span", { class: "bar" }, bar, done),
    active,
    tags,
    alarm,
  );
  return {
    root: h("li", {}, h("label", { class: "pick" }, tick), link),
    update(now) {
      const unknown = now.told === undefined;
      showTick(tick, name, ticks);
      setBadge(badge, now.state);
      setText(leader, unknown ? UNKNOWN[now.state] : leaderText(now));
      setText(facts, unknown ? "" : factsOf(now));
      bar.hidden = unknown;
      setAttribute(bar, "value", now.progress ?? 0);
      setText(done, unknown ? "" : percent(now.progress ?? 0));
      showTime(active, now.active);
      syncRows(tags, tagRows, now.tags, (tag) => tag, makeTag);
      tags.hidden = tagRows.size === 0;
      setText(alarm, alarmsOf(now));
    },
  };
}

const makeTag = (tag) => ({ root: h("span", { class: "tag", dir: "auto" }, tag), update() {} });

/** How long ago, and exactly when. */
function showTime(node, at) {
  node.hidden = at === undefined || at === null;
  if (node.hidden) return;
  setText(node, `active ${ago(at)}`);
  setAttribute(node, "datetime", new Date(1000 * at).toISOString());
  setAttribute(node, "title", `last activity: ${clock(at)}`);
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
