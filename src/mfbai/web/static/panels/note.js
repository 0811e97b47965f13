// What people wrote about the study, in Markdown, and its tags. The proof rests on neither.

import { writeNote, writeTags } from "../api.js";
import { routeTo } from "../address.js";
import { choices } from "../choices.js";
import { attempt, errorBox, h, newId, setAttribute, setText, syncRows } from "../dom.js";
import { whole } from "../format.js";
import { frame } from "../frame.js";
import { markdown } from "../markdown.js";

const ABOUT = "For people: why this study exists, what was found. It is kept beside the journal, and the proof does not rest on it.";
const drafts = new Map(); // what was being written when the page was left, by the name of the study

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
  return {
    root,
    update(view) {
      note = view.note;
      tags.update(view.tags);
      editor.see(note);
      const draft = drafts.get(page.name);
      drafts.delete(page.name);
      if (draft && !editor.open()) begin(draft);
      else show();
    },
    stop() {
      if (editor.draft()) drafts.set(page.name, editor.draft());
    },
  };
}

/** The text to change, with a preview; and the note that somebody else saved meanwhile, if so. */
function makeEditor(page, onEnd) {
  const area = h("textarea", { id: newId("note"), rows: 12, dir: "auto" });
  const preview = h("div", { class: "markdown preview", role: "region", "aria-label": "Preview", tabindex: "0" });
  const count = h("span", { class: "muted count" });
  const theirs = h("pre", { tabindex: "0", dir: "auto" });
  const changed = h("div", { class: "changed", hidden: true },
    h("p", {}, "Somebody else has changed the note since you began. Yours is kept here; the note is now:"), theirs);
  const alarm = h("div", { role: "alert" }, changed);
  const box = errorBox();
  const save = h("button", { class: "primary" }, "Save the note");
  const cancel = h("button", { type: "button" }, "Cancel");
  const root = h("form", { class: "editor", novalidate: true, hidden: true },
    h("div", { class: "halves" },
      h("div", {}, h("label", { for: area.id }, "Note, in Markdown"), area),
      h("div", {}, h("span", { class: "label", "aria-hidden": "true" }, "Preview"), preview)),
    alarm, box, h("div", { class: "inline actions" }, save, cancel, count));
  let before = ""; // what the text was made from
  let present = ""; // what the note is now
  let limit = Infinity;
  const draw = () => {
    preview.replaceChildren(...markdown(area.value));
    const length = [...area.value].length;
    setText(count, limit === Infinity ? "" : `${whole(length)} of ${whole(limit)} characters`);
  };
  const compare = () => {
    changed.hidden = root.hidden || present === before || present === area.value;
    setText(theirs, present === "" ? "(empty)" : present);
    setText(save, changed.hidden ? "Save the note" : "Save mine instead");
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
      await writeNote(page, area.value, changed.hidden ? before : present);
      end();
    };
    attempt(save, box, work).catch((error) => {
      if (error.type === "NoteChanged") setText(box, `Not saved: ${error.message}`); // the next view has the other note
      area.focus();
    });
  });
  return {
    root,
    open: () => !root.hidden,
    draft: () => (root.hidden || area.value === before ? null : { before, text: area.value }),
    begin(note, draft) {
      before = draft?.before ?? note;
      area.value = draft?.text ?? note;
      root.hidden = false;
      choices().then(({ limits }) => {
        limit = limits.note ?? Infinity;
        draw();
      }, () => {}); // without it, the server says if the note is too long
      draw();
      compare();
      area.focus();
    },
    see(note) {
      present = note;
      compare();
    },
  };
}

/** The tags, each a link to all studies that have it; and a line to change them in. */
function tagLine(page, onFold) {
  const list = h("ul", { class: "tags", "aria-label": "Tags" });
  const edit = h("button", { type: "button" }, "Add tags");
  const input = h("input", { id: newId("tags"), type: "text", autocomplete: "off", dir: "auto" });
  const hint = h("p", { class: "hint muted" });
  const save = h("button", { class: "primary" }, "Save the tags");
  const cancel = h("button", { type: "button" }, "Cancel");
  const box = errorBox();
  const form = h("form", { class: "editor", novalidate: true, hidden: true },
    h("div", { class: "inline" }, h("label", { for: input.id }, "Tags, with commas between them"), input, save, cancel), hint, box);
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
    input.value = tags.join(", ");
    input.focus();
    choices().then(({ limits }) => setText(hint, `${limits.tags} tags of ${limits.tag} characters at most.`), () => {});
  });
  cancel.addEventListener("click", end);
  form.addEventListener("keydown", (event) => event.key === "Escape" && end());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const work = async () => {
      await writeTags(page, input.value.split(",").map((tag) => tag.trim()).filter(Boolean));
      end();
    };
    attempt(save, box, work).catch(() => input.focus());
  });
  return {
    list,
    form,
    edit,
    editing: () => !form.hidden,
    update(now) {
      tags = now;
      syncRows(list, rows, tags, (tag) => tag, makeTag);
      list.hidden = tags.length === 0;
      setText(edit, tags.length === 0 ? "Add tags" : "Edit the tags");
    },
  };
}

function makeTag(tag) {
  const href = routeTo("/", new URLSearchParams({ tag }));
  return { root: h("li", {}, h("a", { class: "tag", href, title: "All studies with this tag", dir: "auto" }, tag)), update() {} };
}
