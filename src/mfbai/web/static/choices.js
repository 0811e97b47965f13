// What the server offers, asked for once.

import { readChoices } from "./api.js";

let loaded = null;

export function choices() {
  loaded ??= readChoices().catch((error) => {
    loaded = null; // the next caller tries again
    throw error;
  });
  return loaded;
}
