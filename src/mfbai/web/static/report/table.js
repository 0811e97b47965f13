// The table of trials: of any number of them, only the rows in view are in the page.

import { attempt, errorBox, h, newId, setAttribute, setText } from "../dom.js";
import { frame } from "../frame.js";
import { number, whole } from "../format.js";
import { inSlices } from "./slices.js";
import { COLUMNS } from "./trials.js";

const ROW = 34; // pixels, as the style sheet has it
const NARROW_ROW = 108; // where a row has four lines
const LINE = 18; // pixels for each further line of names
// Of columns with names: the characters that surely fit into a line, and how many lines there may be.
const FITS = { arm: 17, fidelity: 9, worker: 10 };
const NARROW_FITS = { arm: 13, fidelity: 15, worker: 12 };
const LINES = { arm: 4, fidelity: 3, worker: 3 };
const LONGEST = { arm: 52, fidelity: 27, worker: 30 }; // longer names are shortened in their middle
const TALLEST = 8_000_000; // pixels: browsers know no taller elements than some ten millions
const SPARE = 6; // rows above and below those in view
const PRINTED = 50; // rows
const PATIENCE = 400; // ms between two looks at trials that are still being read
const STATES = ["under way", "told", "late", "failed"];
const ABOUT =
  "A row for each [trial]: what was asked for, and what came back. Values that were added from elsewhere are not trials. " +
  "Scroll with the mouse, a finger or the arrow keys.";

export function trialsPanel(name) {
  const search = h("input", { id: newId("search"), type: "search", maxlength: 200, autocomplete: "off", spellcheck: "false" });
  const state = h("select", { id: newId("state") }, h("option", { value: "" }, "all"), ...STATES.map((text) => h("option", {}, text)));
  const sort = h("select", { id: newId("sort") }, ...COLUMNS.map(({ key, title }) => h("option", { value: key }, title)));
  const turn = h("button", { type: "button" });
  const download = h("button", { type: "button" }, "Download as CSV");
  const box = errorBox();
  const said = h("p", { class: "muted note", role: "status" });
  const printed = h("p", { class: "printed" });
  const head = h("div", { role: "row", class: "row head", "aria-rowindex": 1 });
  const body = h("div", { role: "rowgroup", class: "body" });
  const scroller = h(
    "div",
    { class: "trial-rows", tabindex: "0", role: "table", "aria-label": "Trials" },
    h("div", { role: "rowgroup", class: "heading" }, head),
    body,
  );
  const field = (label, input) => h("div", { class: "choice" }, h("label", { for: input.id }, label), input);
  const controls = h(
    "div",
    { class: "controls" },
    field("Find arms, fidelities, workers", search),
    field("State", state),
    field("Sort by", sort),
    turn,
    download,
  );
  const root = frame("table", "All trials", ABOUT, controls, box, said, printed, scroller);
  const narrow = matchMedia("(max-width: 640px)");
  const rows = [];
  let trials = null;
  let complete = false;
  let chosen = [];
  let by = "trial";
  let descending = false;
  let printing = false;
  let shownAt = -Infinity;

  const headers = COLUMNS.map(({ key, title }) => {
    const button = h("button", { type: "button", onclick: () => sortBy(key, key === by && !descending) }, title);
    const cell = h("div", { role: "columnheader", class: `of-${key}` }, button);
    head.append(cell);
    return { key, cell };
  });
  let height = ROW; // of all rows: what the longest names need
  let madeFor = null; // a narrow screen, or a wide one
  const makeRoom = () => {
    const { problem, workers } = trials;
    const names = { arm: problem.arms, fidelity: problem.fidelities.map(({ name }) => name), worker: workers };
    const fits = narrow.matches ? NARROW_FITS : FITS;
    const lines = Object.fromEntries(Object.keys(names).map((key) => [key, linesFor(names[key], fits[key], LINES[key])]));
    const more = Object.values(lines).map((count) => (count - 1) * LINE);
    height = narrow.matches ? NARROW_ROW + more[0] + more[1] + more[2] : ROW + Math.max(...more); // there, names are below each other
    scroller.style.setProperty("--row", `${height}px`);
    for (const key of Object.keys(lines)) scroller.style.setProperty(`--${key}-lines`, lines[key]);
    scroller.classList.toggle("no-workers", workers.length === 0);
    madeFor = narrow.matches;
  };
  const sortBy = (key, down) => {
    by = key;
    descending = down;
    sort.value = key;
    choose();
  };
  const choose = () => {
    if (!trials) return;
    chosen = trials.choose(search.value, state.value, by, descending);
    for (const { key, cell } of headers) setAttribute(cell, "aria-sort", key === by ? (descending ? "descending" : "ascending") : null);
    setText(turn, descending ? "↓ descending" : "↑ ascending");
    setText(said, counted(trials, chosen.length, complete));
    setAttribute(scroller, "aria-rowcount", chosen.length + 1);
    draw();
  };
  const draw = () => {
    if (!trials) return;
    if (madeFor !== narrow.matches) makeRoom();
    const room = scroller.clientHeight - (narrow.matches ? 0 : ROW);
    const whole = chosen.length * height;
    const tall = Math.min(whole, TALLEST);
    const most = Math.max(tall - room, 1);
    const at = Math.min(Math.max(scroller.scrollTop, 0), most);
    const from = whole > tall ? (at / most) * (whole - room) : at; // pixels in a table without a limit
    const first = printing ? 0 : Math.max(0, Math.floor(from / height) - SPARE);
    const last = Math.min(chosen.length, printing ? PRINTED : first + Math.ceil(room / height) + 2 * SPARE);
    body.style.height = printing ? "auto" : `${tall}px`;
    while (rows.length < last - first) {
      rows.push(makeRow());
      body.append(rows.at(-1).root);
    }
    rows.forEach((row, i) => {
      row.root.hidden = first + i >= last;
      if (row.root.hidden) {
        setAttribute(row.root, "aria-rowindex", null); // another row has it by now
        return;
      }
      const top = (first + i) * height - from + at;
      row.root.style.transform = printing ? "" : `translateY(${top}px)`;
      row.update(trials, chosen[first + i], first + i);
    });
  };
  let waiting = false;
  const soon = () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw();
    });
  };
  const print = (on) => {
    printing = on;
    root.classList.toggle("printing", on);
    setText(printed, `The first ${Math.min(PRINTED, chosen.length)} of ${whole(chosen.length)} rows. The file on a screen has all.`);
    draw();
  };
  const fromTop = () => {
    scroller.scrollTop = 0;
    choose();
  };
  let timer = null;
  search.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(fromTop, 120);
  });
  state.addEventListener("change", fromTop);
  sort.addEventListener("change", () => sortBy(sort.value, descending));
  turn.addEventListener("click", () => sortBy(by, !descending));
  download.addEventListener("click", () => attempt(download, box, () => save(name, trials, chosen)).catch(() => {}));
  scroller.addEventListener("scroll", soon, { passive: true });
  const resized = new ResizeObserver(soon);
  resized.observe(scroller);
  const before = () => print(true);
  const after = () => print(false);
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  return {
    root,
    /** Show trials, of which there may be more later. */
    set(found, isComplete) {
      const now = performance.now();
      if (!isComplete && now - shownAt < PATIENCE) return;
      trials = found;
      complete = isComplete;
      download.hidden = !isComplete;
      choose();
      shownAt = now;
    },
    fail(told) {
      setText(box, told);
    },
    stop() {
      resized.disconnect();
      clearTimeout(timer);
      removeEventListener("beforeprint", before);
      removeEventListener("afterprint", after);
    },
  };
}

function counted({ length, imported }, shown, complete) {
  if (!complete) return `Reading the journal: ${whole(length)} trials so far …`;
  const added = imported > 0 ? ` ${whole(imported)} values were added from elsewhere.` : "";
  return `${shown === length ? "" : `${whole(shown)} of `}${whole(length)} trials.${added}`;
}

function linesFor(names, fits, most) {
  const longest = names.reduce((length, name) => Math.max(length, name.length), 1);
  return Math.min(Math.ceil(longest / fits), most);
}

/** Names often differ at their ends alone. */
function shortened(name, longest) {
  if (name.length <= longest) return name;
  const half = Math.floor((longest - 3) / 2);
  return `${name.slice(0, half)} … ${name.slice(-half)}`;
}

function makeRow() {
  const cells = COLUMNS.map(({ key }) => h("div", { role: "cell", class: `of-${key}`, dir: key === "arm" || key === "fidelity" ? "auto" : null }));
  const root = h("div", { role: "row", class: "row" }, ...cells);
  return {
    root,
    update(trials, row, place) {
      const { columns } = trials;
      setAttribute(root, "aria-rowindex", place + 2); // the head is the first
      setAttribute(root, "data-state", columns.state[row]);
      root.classList.toggle("even", place % 2 === 0);
      COLUMNS.forEach(({ key }, i) => {
        const text = textOf(trials, key, row);
        setText(cells[i], key in LINES ? shortened(text, LONGEST[key]) : text);
        if (key in LINES) setAttribute(cells[i], "title", text || null);
      });
    },
  };
}

const TIME = new Intl.DateTimeFormat("en-GB", {
  year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", second: "2-digit", timeZone: "UTC",
});

function textOf(trials, key, row) {
  const value = trials.columns[key][row];
  if (key === "arm") return trials.arm(row);
  if (key === "fidelity") return trials.fidelity(row);
  if (key === "value" || key === "cost") return value === null ? "–" : number(value, 6);
  if (key === "asked" || key === "told") return value === null ? "–" : timeText(value);
  return String(value);
}

/** In UTC, as in the CSV: readers of one file are in many places. */
export function timeText(at) {
  const part = Object.fromEntries(TIME.formatToParts(1000 * at).map(({ type, value }) => [type, value]));
  return `${part.year}-${part.month}-${part.day} ${part.hour}:${part.minute}:${part.second}`;
}

async function save(name, trials, chosen) {
  const pieces = [];
  await inSlices(trials.csv(chosen, (text) => pieces.push(text)));
  const address = URL.createObjectURL(new Blob(pieces, { type: "text/csv" }));
  h("a", { href: address, download: `${name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, "_")}.csv` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
