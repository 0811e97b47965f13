// The head of a study's page: its name, and what can be done with the study as a whole.

import { pauseStudy, resumeStudy } from "./api.js";
import { stateOf } from "./badge.js";
import { deletion } from "./delete.js";
import { attempt, errorBox, h, setAttribute, setText } from "./dom.js";
import { certificateButton, reportButton, tableButton } from "./download.js";
import { renaming } from "./rename.js";
import { term } from "./terms.js";

const WORDS = { true: "Paused: the study hands out nothing until you resume it.", false: "Resumed." };

/** `page.name` is the study's present name; `said` a place for a word on what was done. */
export function careTools(page, { heading, badge, said, onRenamed }) {
  const box = errorBox();
  const pause = pauseButton(page, box, said);
  const rename = renaming(page, onRenamed);
  const remove = deletion(page);
  const title = h("div", { class: "heading" }, heading, badge);
  const certificate = h("span", { class: "inline" }, certificateButton(page, box), term("certificate", "what is this?"));
  const copies = [tableButton(page, box), reportButton(page, box), certificate];
  for (const copy of copies) copy.hidden = true; // until there is a view: of a study that cannot be read there are none
  const buttons = h("div", { class: "tools" }, pause.root, rename.button, ...copies, remove.button);
  const root = h("header", { class: "head" }, h("div", { class: "title" }, title, buttons), rename.form, box, remove.dialog);
  return {
    root,
    update(view) {
      for (const copy of copies) copy.hidden = false;
      pause.update(view);
      remove.update(view);
    },
    /** The study has another name. */
    moved: remove.moved,
    /** There is no such study any more. */
    end() {
      buttons.hidden = true;
      rename.close();
      remove.dialog.close();
      setText(box, "");
    },
    stop: () => remove.dialog.close(),
  };
}

function pauseButton(page, box, said) {
  const button = h("button", { type: "button", hidden: true });
  let paused = false;
  let told = null; // what `said` was given; it is cleared once it is no longer true
  const show = () => {
    setText(button, paused ? "▶ Resume" : "‖ Pause");
    setAttribute(button, "title", paused ? "Hand out trials again" : "Hand out no trials for now");
  };
  button.addEventListener("click", () =>
    attempt(button, box, async () => {
      const wanted = !paused; // the view may say so before the answer does
      await (wanted ? pauseStudy : resumeStudy)(page);
      paused = wanted;
      show();
      told = WORDS[paused];
      setText(said, told);
    }).catch(() => {}),
  );
  return {
    root: button,
    update(view) {
      paused = stateOf(view) === "paused";
      if (told !== null && told !== WORDS[paused]) {
        if (said.textContent === told) setText(said, "");
        told = null;
      }
      button.hidden = view.status.state !== "running"; // what has a verdict hands out nothing anyway
      show();
    },
  };
}
