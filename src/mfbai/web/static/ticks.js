// Which studies are ticked, to be compared.

import { listStudies } from "./api.js";
import { TICKED, routeTo } from "./address.js";

export const MOST = 8; // compared at once: more curves cannot be told apart
const PAGE = 1000; // names that the server lists at once

/** The names in an address, and `onChange` for when they are others. */
export function makeTicks(query, onChange) {
  let names = [...new Set(query.getAll(TICKED))].slice(0, MOST);
  const change = (next) => {
    names = next;
    onChange();
  };
  return {
    names: () => names,
    has: (name) => names.includes(name),
    full: () => names.length >= MOST,
    set: (name, on) => change(on ? [...new Set([...names, name])].slice(0, MOST) : names.filter((other) => other !== name)),
    rename: (name, next) => change([...new Set(names.map((other) => (other === name ? next : other)))]),
    drop: (gone) => change(names.filter((name) => !gone.includes(name))),
    clear: () => change([]),
    write: (query) => {
      for (const name of names) query.append(TICKED, name);
    },
  };
}

/** The address of the comparison of what is ticked. */
export function compareRoute(ticks) {
  const query = new URLSearchParams();
  ticks.write(query);
  return routeTo("/compare", query);
}

/** Those of the names that no study has; none if studies came or went while the server was asked. */
export async function findGone(names) {
  const there = new Set();
  for (let offset = 0, total = 1; offset < total; offset += PAGE) {
    const page = await listStudies({ brief: true, limit: PAGE, offset });
    if (offset > 0 && page.total !== total) return [];
    total = page.total;
    for (const { name } of page.studies) there.add(name);
  }
  return names.filter((name) => !there.has(name));
}

/** A box to tick; more than MOST are not accepted. */
export function showTick(box, name, ticks) {
  box.checked = ticks.has(name);
  box.disabled = !box.checked && ticks.full();
}

export const ticksText = (count) => (count < MOST ? "" : `${MOST} at most: untick one to tick another.`);
