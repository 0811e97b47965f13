// The certificate as a file.

import { certificate } from "./api.js";
import { attempt, errorBox, h } from "./dom.js";
import { term } from "./terms.js";

export function certificateButton(name) {
  const box = errorBox();
  const button = h("button", { type: "button" }, "Download the certificate");
  button.addEventListener("click", () => attempt(button, box, () => download(name)).catch(() => {}));
  return h("div", { class: "certificate" }, button, term("certificate", "what is this?"), box);
}

/** By script, since a link could not send the token. */
async function download(name) {
  const address = URL.createObjectURL(await certificate(name));
  h("a", { href: address, download: `${fileName(name)}.json` }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // not before the browser has begun to read it
}

const fileName = (name) => name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, "_");
