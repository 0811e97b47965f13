// Evaluating by hand: ask for a trial, see what to evaluate, tell the value.

import { ask, fail, release, tell } from "../api.js";
import { stateOf } from "../badge.js";
import { attempt, errorBox, h, newId, setAttribute, setText, syncRows } from "../dom.js";
import { number, plural, readNumber, readNumbers } from "../format.js";
import { term } from "../terms.js";
import { frame } from "../frame.js";

const MINUTES = "60";
const PAUSED = "The study is paused: it hands out no trial until it is resumed. Values of trials under way are still taken.";
const GONE = "This trial is no longer under way: someone else told its value, or gave it up.";

export function makePanel(page) {
  const askButton = h("button", { type: "button", class: "primary" }, "Ask for a trial");
  const lease = h("input", { id: newId("lease"), type: "text", inputmode: "decimal", size: 6, autocomplete: "off" });
  lease.value = MINUTES;
  const label = h("label", { for: lease.id }, "for");
  const duration = h("span", { class: "lease" }, label, lease, "minutes", term("lease", "?"));
  const asking = h("div", { class: "inline ask" }, askButton, duration);
  const box = errorBox();
  const said = h("p", { class: "said", role: "status" });
  const mine = h("ul", { class: "trials mine", "aria-label": "Your trials" });
  const others = h("ul", { class: "trials others", "aria-label": "Other trials under way" });
  const summary = h("summary", {});
  const elsewhere = h("details", { class: "elsewhere", hidden: true }, summary, others); // programs' trials come and go
  const note = h("p", { class: "muted note" });
  const root = frame(
    "by-hand",
    "Evaluate by hand",
    "Ask for a [trial], evaluate what it says, and tell the value. Programs can do the same at the same time.",
    asking,
    box,
    said,
    mine,
    elsewhere,
    note,
  );
  const trials = openTrials();
  const myRows = new Map();
  const otherRows = new Map();
  let status = { state: "running", pending: 0 };
  let paused = false;
  const refresh = () => {
    const items = trials.items((id) => (myRows.get(id) ?? otherRows.get(id))?.inUse() ?? false);
    const idOf = (trial) => trial.id;
    const show = (list, rows, some) => syncRows(list, rows, some, idOf, (trial) => makeRow(page, trial, done));
    show(mine, myRows, items.filter((trial) => trial.mine));
    show(others, otherRows, items.filter((trial) => !trial.mine));
    const unseen = Math.max(status.pending - items.length, 0);
    elsewhere.hidden = otherRows.size === 0;
    setText(summary, `${plural(otherRows.size + unseen, myRows.size ? "other trial" : "trial")} under way`);
    setText(note, noteFor(status, unseen, paused));
  };
  const done = (trial, words) => {
    trials.close(trial.id);
    refresh();
    if (words) {
      setText(said, words);
      askButton.focus(); // the row with the focus is gone; this is what comes next
    }
  };
  let request = newRequest(); // the same until it was answered: a trial is not handed out twice
  askButton.addEventListener("click", () =>
    attempt(askButton, box, async () => {
      const minutes = readNumber(lease.value);
      if (!(minutes > 0)) throw new Error(`“${lease.value}” is not a number of minutes.`);
      const [trial] = (await ask(page, 60 * minutes, request)).trials;
      request = newRequest();
      trials.open(trial);
      refresh();
      setText(said, "");
      myRows.get(trial.id).focus();
    }).catch((error) => {
      if (error.status) request = newRequest();
    }),
  );
  return {
    root,
    update(view) {
      status = view.status;
      paused = stateOf(view) === "paused";
      asking.hidden = status.state !== "running" || paused;
      trials.see(view.open, status.pending);
      refresh();
    },
  };
}

/** A unique name. (randomUUID exists only on pages served by https.) */
function newRequest() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function noteFor({ state, pending }, unseen, paused) {
  if (state === "undecided") return "The study has stopped: the budget does not allow the next evaluation.";
  if (state === "alarm") return "The study has stopped: the results contradict what was stated.";
  if (state === "decided") return "There is a verdict: nothing more has to be evaluated.";
  if (paused) return PAUSED;
  if (pending === 0) return "Nothing is under way.";
  return unseen === 0 ? "" : `${plural(unseen, "trial")} under way ${unseen === 1 ? "is" : "are"} not shown.`;
}

/**
 * The trials under way: those of the last view, and those asked for here that no view has shown yet. What is no longer
 * under way stays while someone is typing into it, marked `gone`.
 */
function openTrials() {
  const known = new Map(); // id -> {id, arm, fidelity, cost, seed, parts, mine, seen, gone}
  const closed = new Set(); // by us; a view that is older must not bring them back
  return {
    open(trial) {
      closed.delete(trial.id); // given back here before
      known.set(trial.id, { ...trial, mine: true, seen: false, gone: false });
    },
    close(id) {
      known.delete(id);
      closed.add(id);
    },
    see(open, pending) {
      const complete = open.length >= pending; // otherwise a trial may be open and not in the list
      const ids = new Set(open.map((trial) => trial.id));
      for (const id of closed) if (!ids.has(id)) closed.delete(id);
      for (const trial of open) {
        const mine = known.get(trial.id)?.mine ?? false;
        if (!closed.has(trial.id)) known.set(trial.id, { ...trial, mine, seen: true, gone: false });
      }
      for (const [id, trial] of known) if (trial.seen && complete && !ids.has(id)) trial.gone = true;
    },
    items(inUse) {
      for (const [id, trial] of known) if (trial.gone && !inUse(id)) known.delete(id);
      return [...known.values()];
    },
  };
}

function makeRow(page, trial, done) {
  const box = errorBox();
  const value = trial.parts
    ? h("textarea", { id: newId("values"), rows: 3, autocomplete: "off", spellcheck: "false" })
    : h("input", { id: newId("value"), type: "text", inputmode: "decimal", size: 10, autocomplete: "off" });
  const label = h("label", { for: value.id }, trial.parts ? `Values of ${trial.parts.length}, in this order` : "Value");
  const reason = h("input", { id: newId("reason"), type: "text", autocomplete: "off", placeholder: "why?" });
  const tellButton = h("button", { class: "primary" }, "Tell");
  const failButton = h("button", { type: "button" }, "It failed");
  const releaseButton = h("button", { type: "button" }, "Give it back");
  const dismiss = h("button", { type: "button" }, "Dismiss");
  dismiss.addEventListener("click", () => done(trial, "The trial was closed elsewhere."));
  const gone = h("p", { class: "gone" }, `${GONE} `, dismiss);
  const form = h(
    "form",
    { novalidate: true },
    h("div", { class: "inline" }, label, value, tellButton),
    h(
      "details",
      {},
      h("summary", {}, "There is no value"),
      h("div", { class: "inline" }, h("label", { for: reason.id }, "Reason"), reason, failButton, term("fail", "?")),
      h("div", { class: "inline" }, releaseButton, term("release", "?")),
    ),
    box,
  );
  const root = h("li", { class: "trial" }, what(trial), trial.parts && partsOf(trial), form, gone);
  const run = (button, action, words) => attempt(button, box, action).then(() => done(trial, words()), () => {});

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    let given;
    run(
      tellButton,
      async () => {
        given = trial.parts ? readNumbers(value.value) : readNumber(value.value);
        await tell(page, trial.id, given);
      },
      () => `Told ${trial.parts ? `${given.length} values` : given} for “${trial.arm}” at “${trial.fidelity}”.`,
    );
  });
  failButton.addEventListener("click", () =>
    run(failButton, () => fail(page, trial.id, reason.value), () => `Reported the trial of “${trial.arm}” as failed.`),
  );
  releaseButton.addEventListener("click", () =>
    run(releaseButton, () => release(page, trial.id), () => `Gave the trial of “${trial.arm}” back.`),
  );
  return {
    root,
    update(now) {
      gone.hidden = !now.gone;
      setAttribute(root, "data-gone", now.gone || null);
    },
    inUse: () => value.value !== "" || reason.value !== "" || root.contains(document.activeElement),
    focus: () => value.focus(),
  };
}

function what(trial) {
  const seed = h("code", {}, String(trial.seed));
  return h(
    "p",
    { class: "what" },
    "Evaluate ", h("strong", { dir: "auto" }, trial.arm), " at ", h("strong", { dir: "auto" }, trial.fidelity), " ",
    h("span", { class: "muted" }, `cost ${number(trial.cost)} · `, term("seed"), " ", seed, ` · ${trial.id}`),
  );
}

/** The evaluations that the trial is made of. */
function partsOf({ parts }) {
  const items = parts.map(({ fidelity, seed }) =>
    h("li", {}, h("strong", { dir: "auto" }, fidelity), " ", h("span", { class: "muted" }, "seed ", h("code", {}, String(seed)))),
  );
  return h("ol", { class: "parts", "aria-label": "Evaluations to make" }, ...items);
}
