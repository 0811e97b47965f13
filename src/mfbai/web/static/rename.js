// Giving a study another name: a form below its name, folded away until it is wanted.

import { renameStudy } from "./api.js";
import { choices } from "./choices.js";
import { attempt, errorBox, h, newId } from "./dom.js";
import { whole } from "./format.js";

const HINT = "Links to the old name no longer lead here. The certificate keeps the name that the study was created with.";

/** {button, form, close()}; `onRenamed(before, name)` is called when the server has agreed. */
export function renaming(page, onRenamed) {
  const input = h("input", { id: newId("rename"), type: "text", autocomplete: "off", spellcheck: "false", dir: "auto" });
  const save = h("button", { class: "primary" }, "Save the name");
  const cancel = h("button", { type: "button" }, "Cancel");
  const box = errorBox();
  const form = h(
    "form",
    { class: "card rename", novalidate: true, hidden: true },
    h("div", { class: "inline" }, h("label", { for: input.id }, "New name"), input, save, cancel),
    h("p", { class: "hint muted" }, HINT),
    box,
  );
  const button = h("button", { type: "button", "aria-expanded": "false" }, "Rename");
  const fold = (folded) => {
    form.hidden = folded;
    button.setAttribute("aria-expanded", String(!folded));
    box.textContent = "";
  };
  const close = () => {
    const inside = form.contains(document.activeElement);
    fold(true);
    if (inside) button.focus();
  };
  button.addEventListener("click", () => {
    if (!form.hidden) return close();
    fold(false);
    input.value = page.name;
    input.focus();
    input.select();
  });
  cancel.addEventListener("click", close);
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const work = async () => {
      const { name: before } = page;
      const wanted = await checked(input.value);
      if (wanted !== before) onRenamed(before, (await renameStudy(page, wanted)).name);
      close();
    };
    attempt(save, box, work).catch(() => input.focus());
  });
  return { button, form, close };
}

/** The name, if it can be one; the server has the last word. */
async function checked(name) {
  if (name.trim() === "") throw new Error("Type a name.");
  if (name.startsWith("-")) throw new Error("Choose a name that does not begin with “-”.");
  const { limits } = await choices();
  if ([...name].length > limits.name) throw new Error(`The name is too long: ${whole(limits.name)} characters at most.`);
  return name;
}
