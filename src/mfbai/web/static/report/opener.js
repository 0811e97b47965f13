// Opening another file: by button, by dropping it on the page, or by pasting. It is read here, and goes nowhere.

import { attempt, errorBox, h } from "../dom.js";
import { frame } from "../frame.js";
import { reasonOf, Unreadable } from "./exact.js";

const LARGEST = 400_000_000; // bytes: a text of a browser can have little more
const ABOUT =
  "Choose a [certificate] or a report, drop it anywhere on this page, or paste its text. It is read in this browser and sent nowhere; " +
  "nothing in it is executed.";

/** `open(name, text, others)` shows a file, of several that came at once; or raises an error that says why not. */
export function openerPanel(open) {
  const input = h("input", { type: "file", accept: ".json,.html,application/json,text/html", hidden: true, "aria-label": "File to open" });
  const button = h("button", { type: "button" }, "Choose a file");
  const box = errorBox();
  const root = frame("opener", "Open another certificate", ABOUT, h("div", { class: "inline" }, button, input), box);
  const take = (name, read, others = 0) =>
    attempt(button, box, async () => {
      try {
        await open(name, await read(), others);
      } catch (error) {
        const more = others > 0 ? ` Nor was any other of the ${others + 1} files opened: open one at a time.` : "";
        throw new Error(`“${name}” cannot be shown: ${reasonOf(error)}.${more}`);
      }
    }).catch(() => root.scrollIntoView({ block: "nearest" }));
  const takeFirst = ([file, ...others]) => {
    if (!file) return;
    const read = () => {
      if (file.size > LARGEST) throw new Unreadable("it is too large for a browser; mfbai study verify can read it");
      return file.text();
    };
    take(file.name, read, others.length);
  };
  button.addEventListener("click", () => input.click());
  input.addEventListener("change", () => {
    takeFirst(input.files);
    input.value = ""; // the same file can be chosen again
  });
  document.addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  const leave = () => document.body.classList.remove("dropping");
  document.addEventListener("dragleave", (event) => event.relatedTarget === null && leave());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    leave();
    takeFirst(event.dataTransfer.files);
  });
  document.addEventListener("paste", (event) => {
    if (event.target.closest?.("input, textarea")) return;
    const { files } = event.clipboardData;
    const text = event.clipboardData.getData("text/plain");
    if (files.length > 0) takeFirst(files);
    else if (text !== "") take("pasted.json", () => text);
  });
  return { root };
}
