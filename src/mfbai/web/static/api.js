// Talking with the server: JSON, a token if it wants one, and a study's views as it changes.

import { askForToken, bearer } from "./token.js";

const ROOT = "/api/v1/studies";
const CHOICES = "/api/v1/choices";
const PAUSE = 1000; // ms between two looks at a study
const UNSEEN_PAUSE = 10_000; // while nobody sees the page: its title says the state
const REST = 2; // times as long as a look took, until the next one
const FIRST_PAUSE = 400; // ms, doubled at each failure
const LONGEST_PAUSE = 10_000;
const NOT_CHANGED = 304;
const MOST_RENAMED = 3; // times during one call

/** A call that the server refused, with its message; `type` names an exception of mfbai, `faults` the fields. */
export class Refusal extends Error {
  constructor(status, { type = "", detail = "", title = "", faults = [], renamed_to = null }) {
    super(detail || title || `The server answered with status ${status}.`);
    this.status = status;
    this.type = type.split(":").at(-1);
    this.faults = faults ?? [];
    this.renamedTo = renamed_to; // the name that the study has now
  }

  /** Whether there is no study of that name. */
  get isMissing() {
    return this.status === 404;
  }
}

export class Unreachable extends Error {
  constructor() {
    super("The server cannot be reached. Check that it is running and try again: nothing that you typed is lost.");
  }
}

/**
 * The address of a call about a study, `page.name`. With its `page.key`, which each view has, no other study is meant that
 * has taken its name since.
 */
function pathOf({ name, key }, call, more = {}) {
  const query = new URLSearchParams(key ? { ...more, key } : more).toString();
  return `${ROOT}/${encodeURIComponent(name)}/${call}${query && `?${query}`}`;
}
const read = (page, what, more) => underItsName(page, () => call("GET", pathOf(page, what, more)));
const post = (page, action, body) => alone(page, () => underItsName(page, () => call("POST", pathOf(page, action), body)));
const file = (page, kind) => underItsName(page, async () => (await request(pathOf(page, kind), {})).blob());

/** Make a call about a study; if that has another name by now, the page moves there, and the call goes on with it. */
async function underItsName(page, work) {
  for (let renamed = 0; ; renamed += 1) {
    try {
      return await work();
    } catch (error) {
      if (!error.renamedTo || !page.renamed || renamed === MOST_RENAMED) throw error;
      page.renamed(error.renamedTo);
    }
  }
}

/** Not while the page looks at the study: what it has seen would be older than the answer. Then it looks again at once. */
const alone = (page, work) => (page.alone ?? ((now) => now()))(work);

/** `wanted` is {limit, offset, state, tag, search, sort, descending}: what is empty is left to the server. */
export function listStudies(wanted) {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return call("GET", `${ROOT}?${new URLSearchParams(given)}`);
}
export const readChoices = () => call("GET", CHOICES);
export const createStudy = (settings) => call("POST", ROOT, settings);

// In what follows, `page` is the study that is meant: {name, key}.

export const readView = (page) => read(page, "view");
/** Its name, note and tags, which can be read if its journal cannot. */
export const readLabel = (page) => read(page, "label");
/** Some of the arms whose names contain a text, and how many there are. */
export const findArms = (page, search, limit, offset) => read(page, "arms", { search, limit, offset });
export const renameStudy = (page, name) => post(page, "rename", { name });
export const pauseStudy = (page) => post(page, "pause", {});
export const resumeStudy = (page) => post(page, "resume", {});
/** Refused if the note is no longer `before`, or the tags. */
export const writeNote = (page, text, before) => post(page, "note", { text, before });
export const writeTags = (page, tags, before) => post(page, "tags", { tags, before });
/** Refused if the study is not called `name` any more: that is the confirmation. */
export const deleteStudy = (page, name) =>
  alone(page, () => call("POST", pathOf({ name, key: page.key }, "delete"), { name }));
export const reopenStudy = (page, changes) => post(page, "reopen", changes);
/** If the answer is lost, send it again with the same `request`: it returns the same trial. */
export const ask = (page, lease, request) => post(page, "ask", { n: 1, lease, request });
/** `value` is a number, or the list of numbers of a trial with parts. */
export const tell = (page, trial, value) => post(page, "tell", Array.isArray(value) ? { trial, values: value } : { trial, value });
export const fail = (page, trial, reason) => post(page, "fail", { trial, reason });
export const release = (page, trial) => post(page, "release", { trial });
/** The bytes as sent: reading and writing a number here could change its digits, and so its hash. */
export const certificate = (page) => file(page, "export");
export const report = (page) => file(page, "report");
export const trialsTable = (page) => file(page, "trials.csv");

async function call(method, path, body) {
  const response = await request(path, {
    method,
    headers: body === undefined ? {} : { "Content-Type": "application/json" },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return response.json();
}

/** A response that is fine. Asks for the token if there must be one, as often as it takes. */
async function request(path, options) {
  for (;;) {
    const sent = bearer();
    const headers = { ...options.headers, ...sent };
    const response = await fetch(path, { ...options, headers, cache: "no-store" }).catch((error) => {
      throw options.signal?.aborted ? error : new Unreachable();
    });
    if (response.ok || response.status === NOT_CHANGED) return response;
    if (response.status !== 401) throw new Refusal(response.status, await response.json().catch(() => ({})));
    await askForToken(sent, options.signal);
  }
}

/**
 * Hand each view of a study to `onView` until `signal` aborts. `page` is {name, key, renamed(name)}, and gets the method `alone`.
 * Ends with a Refusal if there is no such study. `onLost` is called with an error when there is no view to be had, and with
 * null when there is one again.
 *
 * It looks every second. It is no stream, which would hold one of the six connections that a browser opens to a server, for
 * all of its tabs.
 */
export async function follow(page, signal, onView, onLost) {
  const turns = takeTurns(page, signal);
  let known = null; // the mark of the last view
  let failed = FIRST_PAUSE; // after the next failure
  const look = async (now) => {
    const began = performance.now();
    const response = await request(pathOf(page, "view"), { headers: known ? { "If-None-Match": known } : {}, signal: now });
    const view = response.status === NOT_CHANGED ? null : await response.json();
    if (now.aborted) return 0;
    onLost(null);
    if (view) {
      onView(view);
      known = response.headers.get("ETag");
    }
    failed = FIRST_PAUSE;
    return REST * (performance.now() - began);
  };
  while (!signal.aborted) {
    const now = turns.begin();
    let pause = PAUSE;
    try {
      if (!turns.busy()) pause = Math.max(PAUSE, await look(now));
    } catch (error) {
      if (now.aborted) continue;
      if (error.isMissing && !error.renamedTo) throw error;
      if (error.renamedTo) page.renamed(error.renamedTo);
      else onLost(error);
      pause = failed;
      failed = Math.min(2 * failed, LONGEST_PAUSE);
    }
    if (!now.aborted) await sleep(document.hidden ? Math.max(pause, UNSEEN_PAUSE) : pause, now);
  }
}

/**
 * Looks and calls of a page take turns, so that no view is older than the answer to a call: `page.alone(work)` ends the look
 * that is under way, and the next one begins when the work is done.
 */
function takeTurns(page, signal) {
  let turn = new AbortController(); // a look, and the pause after it
  let calls = 0; // under way
  const again = () => turn.abort();
  signal.addEventListener("abort", again);
  document.addEventListener("visibilitychange", () => document.hidden || again(), { signal });
  page.alone = async (work) => {
    calls += 1;
    again();
    try {
      return await work();
    } finally {
      setTimeout(() => { // the caller acts on the answer first
        calls -= 1;
        again();
      });
    }
  };
  return {
    busy: () => calls > 0,
    begin() {
      turn = new AbortController();
      return turn.signal;
    },
  };
}

export function sleep(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
