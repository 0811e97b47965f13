// Files to download: the certificate, alone or in a report, and the table of trials.

import { certificate, report, trialsTable } from "./api.js";
import { attempt, h } from "./dom.js";

export const certificateButton = (page, box) => downloadButton(page, box, "Download the certificate", certificate, "json");
export const reportButton = (page, box) => downloadButton(page, box, "Report (one page)", report, "html");
export const tableButton = (page, box) => downloadButton(page, box, "Table of trials (CSV)", trialsTable, "csv");

function downloadButton(page, box, label, read, ending) {
  const button = h("button", { type: "button" }, label);
  const work = async () => save(await read(page), `${fileName(page.name)}.${ending}`);
  button.addEventListener("click", () => attempt(button, box, work).catch(() => {}));
  return button;
}

/** By script, since a link could not send the token. */
function save(blob, name) {
  const address = URL.createObjectURL(blob);
  h("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000); // not before the browser has begun to read it
}

const fileName = (name) => name.replace(/[\\/:*?"<>|\u0000-\u001f]/g, "_");
