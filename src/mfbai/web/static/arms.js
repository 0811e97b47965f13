// Which arms are shown, and in which order: all of a few; of many, those that matter most, or those searched for.

import { findArms } from "./api.js";
import { h, setAttribute, setText } from "./dom.js";

const FEW = 12;
const MANY = 20; // of more than these, the server sends the rows of so many
const TABLES = ["arms", "evidence", "spent", "counts", "means", "intervals", "differences"]; // of a status
const STATED = ["costs", "biases", "optimal"]; // of a view

/** One choice for all panels of a study, `page.name`. `onChange` is called when other arms are to be shown. */
export function armChoice(page, onChange) {
  let all = false;
  let shown = [];
  let total = 0;
  let search = null; // {text, offset, found}: `found` is null until the server has answered
  let latest = 0; // the last question to the server: answers to earlier ones are out of date
  let waiting = false;

  const ask = async (next) => {
    latest += 1;
    const mine = latest;
    waiting = true;
    try {
      const found = await findArms(page, next.text, MANY, next.offset);
      if (mine !== latest) return;
      search = { ...next, found };
      onChange();
    } finally {
      if (mine === latest) waiting = false;
    }
  };
  return {
    /** The view, with a row in each table for every arm that is known here, at the arm's own index. */
    choose(view) {
      const found = search?.found;
      const whole = spread(view, found);
      total = view.n_arms;
      if (found?.total > 0) shown = found.shown;
      else shown = total <= FEW ? view.shown : byRelevance(whole.status, view.shown).slice(0, all || total > MANY ? total : FEW);
      return whole;
    },
    shown: () => shown,
    search: () => search,
    /** Show the arms whose names contain a text, from the offset on; the usual ones if there is no text. */
    async find(text, offset = 0) {
      if (text !== "") return ask({ text, offset });
      latest += 1;
      waiting = false;
      search = null;
      onChange();
    },
    /** Look again, as the study has changed. If that fails, the next time will do. */
    refresh() {
      if (search && !waiting) ask(search).catch(() => {});
    },
    /** A button, which hides itself while all arms fit anyway, or are too many. */
    makeToggle() {
      const button = h("button", { type: "button", class: "quiet", onclick: () => { all = !all; onChange(); } });
      const update = () => {
        button.hidden = total <= FEW || total > MANY;
        setText(button, all ? `Show the ${FEW} that matter most` : `Show all ${total} arms`);
        setAttribute(button, "aria-pressed", String(all));
      };
      return { root: button, update };
    },
  };
}

function spread(view, found) {
  const sources = [{ ...view.status, ...view }, ...(found ? [found] : [])];
  const tables = (names) => Object.fromEntries(names.map((name) => [name, tableOf(name, sources, view)]));
  return { ...view, ...tables(STATED), status: { ...view.status, ...tables(TABLES) } };
}

/** An array with a place for every arm. Those that nothing is known of are left out by map, filter and the like. */
function tableOf(name, sources, { n_arms: length }) {
  if (sources[0][name] === null) return null;
  const table = new Array(length);
  for (const source of sources) source[name]?.forEach((row, i) => { table[source.shown[i]] = row; });
  return table;
}

/** The leader first, then the rivals that are the least settled. */
function byRelevance({ evidence, leader_index: leader }, arms) {
  const proof = (arm) => (arm === leader ? -Infinity : evidence[arm] ?? Infinity);
  return [...arms].sort((a, b) => proof(a) - proof(b) || a - b);
}
