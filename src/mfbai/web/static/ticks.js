// Which studies are ticked, to be compared.

import { TICKED } from "./address.js";

export const MOST = 8; // compared at once: more curves cannot be told apart

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
    clear: () => change([]),
    write: (query) => {
      for (const name of names) query.append(TICKED, name);
    },
  };
}

/** A box to tick; more than MOST are not accepted. */
export function showTick(box, name, ticks) {
  box.checked = ticks.has(name);
  box.disabled = !box.checked && ticks.full();
}

export const ticksText = (count) => (count < MOST ? "" : `${MOST} at most: untick one to tick another.`);
