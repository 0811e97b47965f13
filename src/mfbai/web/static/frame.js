// What all panels look like: a card with a heading and a sentence on what is seen.

import { h, newId } from "./dom.js";
import { prose } from "./terms.js";

export function frame(className, title, about, ...content) {
  const id = newId("panel");
  return h(
    "section",
    { class: `card panel ${className}`, "aria-labelledby": id },
    h("h2", { id }, title),
    about && h("p", { class: "about muted" }, ...prose(about)),
    ...content,
  );
}
