// The state of a study as a coloured word, with a sign for readers who do not see the colour.

import { setAttribute, setText } from "./dom.js";

const SIGNS = { running: "●", decided: "✓", undecided: "?", alarm: "⚠", opening: "…", paused: "‖", unreadable: "⚠", gone: "×" };

export const signOf = (state) => SIGNS[state] ?? "";

export function setBadge(node, state) {
  setText(node, `${signOf(state)} ${state}`);
  setAttribute(node, "data-state", state);
}

/** The state in the words of the list: a running study that hands out nothing for now is paused. */
export const stateOf = ({ paused, status: { state } }) => (paused && state === "running" ? "paused" : state);
