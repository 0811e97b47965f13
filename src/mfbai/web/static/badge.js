// The state of a study as a coloured word, with a sign for those who do not see the colour.

import { setAttribute, setText } from "./dom.js";

const SIGNS = { running: "●", decided: "✓", undecided: "?", opening: "…" };

export function setBadge(node, state) {
  setText(node, `${SIGNS[state] ?? ""} ${state}`);
  setAttribute(node, "data-state", state);
}
