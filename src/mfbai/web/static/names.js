// Names of arms, which people may make long: shown so that they can be told apart.

const LONGEST = 48; // characters: two or three lines beside a bar
const WIDE = 18; // characters that fit into one line of the usual room

// What a name can be cut to, in the order in which it is tried: its beginning, both ends, its end, where names differ.
const CUTS = [
  (all, length) => [...all.slice(0, length - 1), "…"],
  (all, length) => [...all.slice(0, Math.ceil(length / 2) - 1), "…", ...all.slice(-Math.floor(length / 2))],
  (all, length) => ["…", ...all.slice(1 - length)],
  (all, length, from) => ["…", ...all.slice(from, from + length - 2), "…"],
];

/** The names with at most `longest` characters, if they still differ then; otherwise as they are. */
export function shortNames(names, longest = LONGEST) {
  const all = names.map((name) => [...name]);
  const long = all.filter(({ length }) => length > longest);
  if (long.length === 0) return names;
  const from = Math.max(sharedLength(long) - Math.floor(longest / 4), 1); // a little of what they share is left
  const cutAll = (cut) => all.map((name) => (name.length > longest ? cut(name, longest, from) : name).join(""));
  const count = new Set(names).size;
  return CUTS.map(cutAll).find((short) => new Set(short).size === count) ?? names;
}

/** With how many characters all of them begin. */
function sharedLength([first, ...others]) {
  const differs = first.findIndex((sign, i) => others.some((other) => other[i] !== sign));
  return differs < 0 ? 0 : differs;
}

/** What each of the arms that are shown is called in a panel; more room is made in it for names that need it. */
export function namesIn(panel, names, shown) {
  const short = shortNames(shown.map((arm) => names[arm]));
  panel.toggleAttribute("data-wide-names", short.some((name) => [...name].length > WIDE));
  return new Map(shown.map((arm, i) => [arm, short[i]]));
}
