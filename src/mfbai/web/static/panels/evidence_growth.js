// The least evidence over the cost, and the line that it must reach.

import { chartPanel } from "../chart.js";
import { number } from "../format.js";

export function makePanel() {
  return chartPanel({
    className: "evidence-chart",
    title: "Evidence, as the money is spent",
    about: "The [evidence] against the [rival] that is the least settled. It must reach the [threshold|line].",
    curve: "evidence",
    line: "needed",
    colour: "--green",
    logarithmic: false,
    format: (value) => number(value, 3),
    formatLine: (value) => number(value),
    read: ({ history, status }) => [history.evidence.map(atLeastZero), status.needed],
    range: (_, needed, high) => [0, 1.15 * Math.max(needed, high)],
    caption: ({ history, status }) => {
      const least = atLeastZero(history.evidence.at(-1) ?? 0);
      return `The least evidence is ${number(least, 3)}; ${number(status.needed, 3)} is needed.`;
    },
  });
}

const atLeastZero = (value) => (value === null ? null : Math.max(value, 0)); // less than zero proves as little as zero
