// What people wrote about the study, in Markdown, and its tags. The proof rests on neither.

import { writeNote, writeTags } from "../api.js";
import { routeTo } from "../address.js";
import { choices } from "../choices.js";
import { attempt, errorBox, h, newId, setAttribute, setText, syncRows } from "../dom.js";
import { whole } from "../format.js";
import { frame } from "../frame.js";
import { markdown } from "../markdown.js";

const ABOUT = "For people: why this study exists, what was found. It is kept beside the journal, and the proof does not rest on it.";
const drafts = new Map(); // what was being written when the page was left, by the key of the study
let unsaved = () => false; // whether something is being written on the page that is shown

addEventListener("beforeunload", (event) => {
  if (drafts.size > 0 || unsaved()) event.preventDefault();
});

export function makePanel(page) {
  const shown = h("div", { class: "markdown" });
  const edit = h("button", { type: "button" }, "Write a note");
  const tags = tagLine(page, () => show());
  const editor = makeEditor(page, () => {
    show();
    edit.focus();
  });
  const root = frame("about-it", "Note and tags", ABOUT, shown, editor.root, tags.list,
    h("div", { class: "inline under" }, edit, tags.edit), tags.form);
  let note = "";
  let drawn = null;
  const show = () => {
    shown.hidden = editor.open() || note === "";
    edit.hidden = editor.open();
    setText(edit, note === "" ? "Write a note" : "Edit the note");
    root.querySelector(".about").hidden = !editor.open();
    setAttribute(root, "data-empty", note === "" && !editor.open() && !tags.editing() && "true");
    if (drawn !== note) shown.replaceChildren(...markdown(note));
    drawn = note;
  };
  const begin = (draft) => {
    editor.begin(note, draft);
    show();
  };
  edit.addEventListener("click", () => begin(null));
  const update = (now) => {
    note = now.note;
    tags.update(now.tags);
    editor.see(note);
    const draft = drafts.get(page.key);
    drafts.delete(page.key);
    if (draft && !editor.open()) begin(draft);
    else show();
    unsaved = () => editor.draft() !== null || tags.unsaved();
  };
  return {
    root,
    update,
    care: update,
    stop() {
      unsaved = () => false;
      const draft = editor.draft();
      if (draft && page.key && !root.closest("[data-gone]")) drafts.set(page.key, draft);
    },
  };
}

/** What somebody else has saved since one began to write, if that is not what is `typed()` now; all are texts. */
function makeRival(what, typed, save) {
  const theirs = h("pre", { tabindex: "0", dir: "auto" });
  const words = `Somebody else has changed the ${what} since you began. What you typed is kept here; saved is now:`;
  const changed = h("div", { class: "changed", hidden: true }, h("p", {}, words), theirs);
  const usual = save.textContent;
  let began = ""; // what the text was made from
  let present = ""; // what is saved now, as far as the page knows
  const compare = () => {
    changed.hidden = present === began || present === typed();
    setText(theirs, present === "" ? "(empty)" : present);
    setText(save, changed.hidden ? usual : "Save mine instead");
  };
  return {
    root: h("div", { role: "alert" }, changed),
    began: () => began,
    present: () => present,
    begin(from) {
      began = from;
      compare();
    },
    see(now) {
      present = now;
      compare();
    },
  };
}

/** The server refused to overwrite what the page has not seen: the next view has it. */
function explain(error, box) {
  if (error.type === "LabelChanged") setText(box, `Not saved: ${error.message}`);
}

/** The text to change, with a preview; and the note that somebody else saved meanwhile, if so. */
function makeEditor(page, onEnd) {
  const area = h("textarea", { id: newId("note"), rows: 12, dir: "auto" });
  const preview = h("div", { class: "markdown preview", role: "region", "aria-label": "Preview", tabindex: "0" });
  const count = h("span", { class: "muted count" });
  const box = errorBox();
  const save = h("button", { class: "primary" }, "Save the note");
  const rival = makeRival("note", () => area.value, save);
  const cancel = h("button", { type: "button" }, "Cancel");
  const root = h("form", { class: "editor", novalidate: true, hidden: true },
    h("div", { class: "halves" },
      h("div", {}, h("label", { for: area.id }, "Note, in Markdown"), area),
      h("div", {}, h("span", { class: "label", "aria-hidden": "true" }, "Preview"), preview)),
    rival.root, box, h("div", { class: "inline actions" }, save, cancel, count));
  let limit = Infinity;
  const draw = () => {
    preview.replaceChildren(...markdown(area.value));
    const length = [...area.value].length;
    setText(count, limit === Infinity ? "" : `${whole(length)} of ${whole(limit)} characters`);
  };
  const end = () => {
    root.hidden = true;
    setText(box, "");
    onEnd();
  };
  area.addEventListener("input", draw);
  cancel.addEventListener("click", end);
  root.addEventListener("submit", (event) => {
    event.preventDefault();
    const work = async () => {
      if ([...area.value].length > limit) throw new Error(`The note is too long: ${whole(limit)} characters at most.`);
      await writeNote(page, area.value, rival.present());
      end();
    };
    attempt(save, box, work).catch((error) => {
      explain(error, box);
      area.focus();
    });
  });
  return {
    root,
    open: () => !root.hidden,
    draft: () => (root.hidden || area.value === rival.began() ? null : { before: rival.began(), text: area.value }),
    begin(note, draft) {
      area.value = draft?.text ?? note;
      rival.begin(draft?.before ?? note);
      root.hidden = false;
      choices().then(({ limits }) => {
        limit = limits.note ?? Infinity;
        draw();
      }, () => {}); // without it, the server says if the note is too long
      draw();
      area.focus();
    },
    see: rival.see,
  };
}

/** The tags, each a link to all studies that have it; and a line to change them in. */
function tagLine(page, onFold) {
  const list = h("ul", { class: "tags", "aria-label": "Tags" });
  const edit = h("button", { type: "button" }, "Add tags");
  const input = h("input", { id: newId("tags"), type: "text", autocomplete: "off", dir: "auto" });
  const hint = h("p", { class: "hint muted" });
  const save = h("button", { class: "primary" }, "Save the tags");
  const typed = () => tagsIn(input.value);
  const rival = makeRival("tags", () => textOf(typed()), save);
  const cancel = h("button", { type: "button" }, "Cancel");
  const box = errorBox();
  const form = h("form", { class: "editor", novalidate: true, hidden: true },
    h("div", { class: "inline" }, h("label", { for: input.id }, "Tags, with commas between them"), input, save, cancel), hint, rival.root, box);
  const rows = new Map();
  let tags = [];
  const end = () => {
    form.hidden = true;
    edit.hidden = false;
    setText(box, "");
    onFold();
    edit.focus();
  };
  edit.addEventListener("click", () => {
    form.hidden = false;
    edit.hidden = true;
    onFold();
    input.value = textOf(tags);
    rival.begin(input.value);
    input.focus();
    choices().then(({ limits }) => setText(hint, `${limits.tags} tags of ${limits.tag} characters at most.`), () => {});
  });
  cancel.addEventListener("click", end);
  form.addEventListener("keydown", (event) => event.key === "Escape" && end());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const work = async () => {
      await writeTags(page, typed(), tagsIn(rival.present()));
      end();
    };
    attempt(save, box, work).catch((error) => {
      explain(error, box);
      input.focus();
    });
  });
  return {
    list,
    form,
    edit,
    editing: () => !form.hidden,
    unsaved: () => !form.hidden && textOf(typed()) !== rival.began(),
    update(now) {
      tags = now;
      rival.see(textOf(tags));
      syncRows(list, rows, tags, (tag) => tag, makeTag);
      list.hidden = tags.length === 0;
      setText(edit, tags.length === 0 ? "Add tags" : "Edit the tags");
    },
  };
}

const tagsIn = (text) => text.split(",").map((tag) => tag.trim()).filter(Boolean);
const textOf = (tags) => tags.join(", ");

function makeTag(tag) {
  const href = routeTo("/", new URLSearchParams({ tag }));
  return { root: h("li", {}, h("a", { class: "tag", href, title: "All studies with this tag", dir: "auto" }, tag)), update() {} };
}
