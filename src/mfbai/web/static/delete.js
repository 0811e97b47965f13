// Deleting a study, after a dialog that says what is lost.

import { deleteStudy } from "./api.js";
import { listLink } from "./address.js";
import { attempt, errorBox, h, newId, setText } from "./dom.js";
import { certificateButton, tableButton } from "./download.js";
import { number, plural } from "./format.js";
import { leaveWord } from "./word.js";

/** {button, dialog, update(view), moved()}: `moved` when the study has another name. */
export function deletion(page) {
  const id = newId("delete");
  const title = h("h2", { id, dir: "auto" });
  const lost = h("p", {}, "Everyone loses it: its journal, its note and its verdict, if it has one.");
  const under = h("p", { class: "under-way", hidden: true });
  const moved = h("p", { class: "moved", role: "alert" });
  const box = errorBox();
  const keep = h("button", { type: "button" }, "Keep the study");
  const remove = h("button", { type: "button", class: "danger" }, "Delete it for good");
  const copies = h(
    "div",
    { hidden: true }, // until there is a view: of a study that cannot be read there are none
    h("p", {}, "Keep a copy first: with the certificate, anyone can still check the study."),
    h("div", { class: "inline" }, certificateButton(page, box), tableButton(page, box)),
  );
  const dialog = h(
    "dialog",
    { class: "card delete", "aria-labelledby": id },
    title,
    moved,
    lost,
    under,
    h("p", {}, "It cannot be undone."),
    copies,
    box,
    h("div", { class: "actions inline" }, keep, remove),
  );
  const button = h("button", { type: "button", class: "danger", "aria-haspopup": "dialog" }, "Delete …");
  let asked = ""; // the name in the question
  const ask = () => {
    asked = page.name;
    setText(title, `Delete “${asked}”?`);
  };
  button.addEventListener("click", () => {
    ask();
    setText(moved, "");
    setText(box, "");
    dialog.showModal(); // which holds the focus, ends with Escape, and gives the focus back
    keep.focus();
  });
  keep.addEventListener("click", () => dialog.close());
  dialog.addEventListener("cancel", (event) => {
    if (remove.getAttribute("aria-disabled")) event.preventDefault(); // it is under way
  });
  remove.addEventListener("click", () => {
    const work = async () => {
      const name = asked;
      try {
        await deleteStudy(page, name);
      } catch (error) {
        if (!error.renamedTo) throw error;
        return page.renamed(error.renamedTo); // which asks again
      }
      page.leave();
      leaveWord(`Deleted “${name}”.`);
      dialog.close();
      location.hash = listLink().getAttribute("href");
    };
    attempt(remove, box, work).catch(() => {});
  });
  return {
    button,
    dialog,
    moved() {
      if (!dialog.open || asked === page.name) return;
      setText(moved, `“${asked}” has just been renamed: it is called “${page.name}” now.`);
      ask();
    },
    update({ status, note }) {
      copies.hidden = false;
      const results = `${plural(status.told, "result")}, which cost ${number(status.cost)}`;
      const added = status.imported > 0 ? `, its ${plural(status.imported, "value")} from elsewhere` : "";
      setText(lost, `Everyone loses it: its ${results}${added}, its journal${note ? ", its note" : ""} and its verdict, if it has one.`);
      const { pending } = status;
      under.hidden = pending === 0;
      setText(under, `${plural(pending, "trial")} under way: ${pending === 1 ? "its value is" : "their values are"} lost, too.`);
    },
  };
}
