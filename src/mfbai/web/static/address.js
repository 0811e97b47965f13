// The part of the address after the hash: a page, and what is chosen there.

/** "#/compare?with=a" is {path: "/compare", query}. */
export function readAddress(hash) {
  const [path, ...rest] = hash.replace(/^#/, "").split("?");
  return { path: path || "/", query: new URLSearchParams(rest.join("?")) };
}

export function routeTo(path, query) {
  const text = query.toString();
  return text === "" ? `#${path}` : `#${path}?${text}`;
}

export const studyRoute = (name) => `#/study/${encodeURIComponent(name)}`;

/** The names of studies that are ticked, as part of an address. */
export const TICKED = "with";

/** Write what is chosen into the address; the page is there already. */
export function replaceAddress(route) {
  if (location.hash !== route) history.replaceState(history.state, "", route);
}

/** The link to the list of studies leads back to what was chosen there. */
export const listLink = () => document.getElementById("to-list");

/** The link to the comparison leads to what is ticked. */
export const compareLink = () => document.getElementById("to-compare");
