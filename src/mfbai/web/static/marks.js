// How curves and areas are told apart: by colour, by dashes, and by a name beside the same mark.

import { h, setStyle } from "./dom.js";

// Lines to reach are --muted.
const COLOURS = ["--blue", "--vermilion", "--green", "--pink", "--orange", "--sky", "--violet", "--text"];
// Lengths of lines and gaps, in pixels.
const DASHES = [[], [10, 5], [3, 4], [14, 4, 3, 4], [6, 3], [18, 6], [8, 3, 2, 3, 2, 3], [2, 2]];

export const MARKS = COLOURS.map((colour, i) => ({ colour, dash: DASHES[i] }));

/** Gives each key a mark, which it keeps for as long as it is among the keys. */
export function makeMarks() {
  const slots = new Map();
  return (keys) => {
    for (const key of [...slots.keys()]) if (!keys.includes(key)) slots.delete(key);
    for (const key of keys) {
      if (!slots.has(key)) slots.set(key, MARKS.findIndex((_, i) => ![...slots.values()].includes(i)));
    }
    return keys.map((key) => MARKS[slots.get(key)]);
  };
}

/** A piece of a curve, for a legend. */
export function lineSwatch({ colour, dash }) {
  const swatch = h("span", { class: "swatch line-swatch", "aria-hidden": "true" });
  let at = 0;
  const stops = (dash.length > 0 ? dash : [1]).map((length, i) => {
    const stop = `${i % 2 === 0 ? `var(${colour})` : "transparent"} ${at}px ${at + length}px`;
    at += length;
    return stop;
  });
  setStyle(swatch, "background-image", `repeating-linear-gradient(to right, ${stops.join(", ")})`);
  return swatch;
}

/** A piece of an area, for a legend. */
export function areaSwatch({ colour }) {
  const swatch = h("span", { class: "swatch area-swatch", "aria-hidden": "true" });
  setStyle(swatch, "--mark", `var(${colour})`);
  return swatch;
}
