// The line that says when the server does not answer, or why it cannot.

import { setText } from "./dom.js";

/** null: all is well. A text: what the server says is wrong; empty if it does not answer at all. */
export function showLost(reason) {
  const words = reason === "" ? "Connection lost, trying again." : reason ?? "";
  setText(document.getElementById("connection"), words);
}
