// The line that says when the server does not answer.

import { setText } from "./dom.js";

/** null: there is a connection. A text: why the server does not answer, if it said. */
export function showLost(reason) {
  const words = reason === null ? "" : `Connection lost, trying again. ${reason}`.trim();
  setText(document.getElementById("connection"), words);
}
