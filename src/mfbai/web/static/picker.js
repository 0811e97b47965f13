// Which studies are compared: boxes to tick, those ticked first, and a search for others.

import { listStudies } from "./api.js";
import { signOf } from "./badge.js";
import { errorBox, h, newId, setText, syncRows } from "./dom.js";
import { MOST, showTick, ticksText } from "./ticks.js";

const OFFERED = 20; // studies that are not ticked
const PAUSE = 250; // ms without a key press, until the search begins
const NONE = "There is no study yet: create some first.";
const AGAIN = 5000; // ms until the states of those that are offered are asked for again

export function makePicker(ticks) {
  const input = h("input", { id: newId("pick"), type: "search", maxlength: 200, autocomplete: "off", spellcheck: "false" });
  const list = h("ul", { class: "picks", "aria-label": "Studies to compare" });
  const note = h("p", { class: "muted note", role: "status" });
  const box = errorBox();
  const form = h("form", { role: "search", class: "inline", novalidate: true }, h("label", { for: input.id }, "Find a study"), input);
  const root = h("section", { class: "card picker", "aria-label": "Which studies are compared?" }, form, list, note, box);
  const rows = new Map();
  let first = ticks.names(); // what was ticked at the last search is on top, and no row moves or goes until the next one
  let found = { studies: [], total: null }; // nothing is known yet
  let states = new Map();
  let followed = new Map(); // states that are known better, as these studies are shown
  let latest = 0;
  let timer = null;
  let again = null;
  const show = () => {
    const names = [...new Set([...first, ...found.studies.map(({ name }) => name), ...ticks.names()])];
    const known = new Map([...states, ...followed]);
    syncRows(list, rows, names, (name) => name, (name) => makeRow(name, ticks), known);
    setText(note, ticksText(ticks.names().length) || restOf(found, input.value.trim()));
  };
  const ask = async (accept) => {
    clearTimeout(timer);
    clearTimeout(again);
    latest += 1;
    const mine = latest;
    try {
      const answer = await listStudies({ limit: OFFERED, search: input.value.trim(), sort: "active", descending: true });
      if (mine !== latest) return;
      states = new Map(answer.studies.map(({ name, state }) => [name, state]));
      accept(answer);
      setText(box, "");
      show();
    } catch (error) {
      if (mine === latest) setText(box, error.message);
    }
    if (mine === latest) again = setTimeout(refresh, AGAIN);
  };
  const find = () =>
    ask((answer) => {
      found = answer;
      first = ticks.names();
    });
  const refresh = () => (found.studies.length === 0 ? find() : ask(() => {}));
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(find, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    find();
  });
  return {
    root,
    /** `now` are the states of studies that are shown beside it, by name. */
    update(now) {
      followed = now;
      show();
    },
    find,
    focus: () => input.focus(),
    stop() {
      latest += 1;
      clearTimeout(timer);
      clearTimeout(again);
    },
  };
}

function restOf({ studies, total }, search) {
  if (total === null) return "";
  if (total === 0) return search === "" ? NONE : "No study matches.";
  const rest = total - studies.length;
  return rest > 0 ? `The ${studies.length} that changed last, of ${total}: search for others.` : `Tick up to ${MOST}.`;
}

function makeRow(name, ticks) {
  const box = h("input", { type: "checkbox" });
  box.addEventListener("change", () => ticks.set(name, box.checked));
  const state = h("span", { class: "muted state" });
  return {
    root: h("li", {}, h("label", {}, box, h("span", { class: "name", dir: "auto" }, name), state)),
    update(_, states) {
      showTick(box, name, ticks);
      const known = states.get(name);
      setText(state, known ? `${signOf(known)} ${known}` : "");
    },
  };
}
