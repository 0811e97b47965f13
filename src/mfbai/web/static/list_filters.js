// What the list shows: a text to search for, a state, a tag, and the order. The server says what there is to choose.

import { choices } from "./choices.js";
import { h, newId, setText, syncRows } from "./dom.js";

const PAUSE = 250; // ms without a key press, until the search begins
const AGAIN = 4000; // ms until the choices are asked for again, if they could not be had
const USUAL = { sort: "created", descending: true };
const RISING = new Set(["name", "state", "risk"]); // sorts that begin with the least
// What a sort is called, and its two directions, rising and falling.
const SORTS = {
  created: ["created", "oldest first", "newest first"],
  active: ["last activity", "longest ago first", "latest first"],
  name: ["name", "A to Z", "Z to A"],
  state: ["state", "running first", "alarms first"],
  risk: ["risk", "smallest first", "largest first"],
  cost: ["cost", "least first", "most first"],
};

/** Controls that begin with what is in the address; `onChange` is called when something else is chosen. */
export function makeFilters(query, onChange) {
  const chosen = {
    search: query.get("search") ?? "",
    state: query.get("state") ?? "",
    tag: query.get("tag") ?? "",
    sort: query.get("sort") ?? USUAL.sort,
    descending: (query.get("descending") ?? String(USUAL.descending)) === "true",
  };
  const choose = (changes) => {
    Object.assign(chosen, changes);
    show();
    onChange();
  };
  const search = h("input", { id: newId("search"), type: "search", maxlength: 200, autocomplete: "off", spellcheck: "false" });
  search.value = chosen.search;
  const state = choice("State", "any state", (value) => choose({ state: value }));
  const tag = choice("Tag", "any tag", (value) => choose({ tag: value }));
  const sort = choice("Sort by", null, (value) => choose({ sort: value, descending: !RISING.has(value) }));
  const order = h("button", { type: "button", title: "Reverse the order" });
  const clear = h("button", { type: "button" }, "Show all");
  const label = h("label", { for: search.id }, "Search");
  const form = h("form", { role: "search", class: "filters", novalidate: true },
    h("div", { class: "filter wide" }, label, search), state.root, tag.root,
    h("div", { class: "inline" }, sort.root, order), clear);
  let offered = { states: [], sorts: [USUAL.sort] };
  let tags = [];
  let timer = null;
  let waiting = null;
  const show = () => {
    state.show(offered.states, chosen.state);
    tag.show(tags, chosen.tag);
    sort.show(offered.sorts, chosen.sort, (name) => SORTS[name]?.[0] ?? name);
    const [, rising, falling] = SORTS[chosen.sort] ?? ["", "rising", "falling"];
    setText(order, chosen.descending ? `↓ ${falling}` : `↑ ${rising}`);
    tag.root.hidden = tags.length === 0 && chosen.tag === "";
    clear.hidden = !some();
  };
  const some = () => chosen.search.trim() !== "" || chosen.state !== "" || chosen.tag !== "";
  const searchNow = () => {
    clearTimeout(timer);
    if (search.value !== chosen.search) choose({ search: search.value });
  };
  const showAll = () => {
    search.value = "";
    choose({ search: "", state: "", tag: "" });
    search.focus();
  };
  const load = () =>
    choices().then(
      ({ list }) => {
        offered = list ?? offered;
        show();
      },
      () => { waiting = setTimeout(load, AGAIN); },
    );
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(searchNow, PAUSE);
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    searchNow();
  });
  order.addEventListener("click", () => choose({ descending: !chosen.descending }));
  clear.addEventListener("click", showAll);
  show();
  return {
    root: form,
    load,
    /** Whether some studies may be left out. */
    some,
    /** For the server. */
    wanted: () => ({ ...chosen, search: chosen.search.trim() }),
    /** For the address: what differs from what is usual. */
    write() {
      const { search: text, state: only, tag: tagged, sort: by, descending } = chosen;
      const entries = { search: text, state: only, tag: tagged, sort: by === USUAL.sort ? "" : by };
      if (by !== USUAL.sort || descending !== USUAL.descending) entries.descending = String(descending);
      return new URLSearchParams(Object.entries(entries).filter(([, value]) => value !== ""));
    },
    update(now) {
      tags = now;
      show();
    },
    stop() {
      clearTimeout(timer);
      clearTimeout(waiting);
    },
  };
}

/** A labelled list to choose one from; `none` is what no choice is called, if it is one. */
function choice(text, none, onChoice) {
  const select = h("select", { id: newId("choice") });
  const root = h("div", { class: "filter" }, h("label", { for: select.id }, text), select);
  const rows = new Map();
  select.addEventListener("change", () => onChoice(select.value));
  return {
    root,
    show(names, chosen, nameOf = (name) => name) {
      const all = new Set([...(none === null ? [] : [""]), ...names, chosen]); // what was chosen stays, also if it is gone
      const makeOption = (name) => ({ root: h("option", { value: name }, name === "" ? none : nameOf(name)), update() {} });
      syncRows(select, rows, [...all], (name) => name, makeOption);
      if (select.value !== chosen) select.value = chosen;
    },
  };
}
