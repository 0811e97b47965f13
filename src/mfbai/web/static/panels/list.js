// The panels of a study's page, in the order in which they are shown. Each is a file of this folder that exports
// makePanel(page) -> {root, update(view), stop?()}; to add one, write its file and add its name here.

const PANELS = [
  "verdict",
  "alarms",
  "variance_alarms",
  "reopen",
  "note",
  "find",
  "evidence",
  "intervals",
  "risk",
  "evidence_growth",
  "spend",
  "shares",
  "trials",
  "recent",
  "numbers",
];

const modules = await Promise.all(PANELS.map((name) => import(`./${name}.js`)));

/** The panels of a study's page: {name, key, arms}; `name` changes when the study is renamed. */
export const makePanels = (page) => modules.map((module) => module.makePanel(page));
