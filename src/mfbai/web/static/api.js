// Talking with the server: JSON, a token if it wants one, and the stream of a study's views.

import { askForToken, bearer } from "./token.js";

const ROOT = "/api/v1/studies";
const CHOICES = "/api/v1/choices";
const SILENCE = 60_000; // ms; the server sends a heartbeat far more often
const FIRST_PAUSE = 400; // ms, doubled at each failure
const LONGEST_PAUSE = 10_000;

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

/** The study was deleted while it was followed. */
export class Gone extends Error {}

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
const post = (page, action, body) => call("POST", pathOf(page, action), body);
const file = async (page, kind) => (await request(pathOf(page, kind), {})).blob();

/** `wanted` is {limit, offset, state, tag, search, sort, descending}: what is empty is left to the server. */
export function listStudies(wanted) {
  const given = Object.entries(wanted).filter(([, value]) => value !== undefined && value !== null && value !== "");
  return call("GET", `${ROOT}?${new URLSearchParams(given)}`);
}
export const readChoices = () => call("GET", CHOICES);
export const createStudy = (settings) => call("POST", ROOT, settings);

// In what follows, `page` is the study that is meant: {name, key}.

export const readView = (page) => call("GET", pathOf(page, "view"));
/** Some of the arms whose names contain a text, and how many there are. */
export const findArms = (page, search, limit, offset) => call("GET", pathOf(page, "arms", { search, limit, offset }));
export const renameStudy = (page, name) => post(page, "rename", { name });
export const pauseStudy = (page) => post(page, "pause", {});
export const resumeStudy = (page) => post(page, "resume", {});
/** Refused if the note is no longer the one that the editor began with, `before`. */
export const writeNote = (page, text, before) => post(page, "note", { text, before });
export const writeTags = (page, tags) => post(page, "tags", { tags });
/** The name is sent twice: in the address and as the confirmation. */
export const deleteStudy = (page) => post(page, "delete", { name: page.name });
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
    if (response.ok) return response;
    if (response.status !== 401) throw new Refusal(response.status, await response.json().catch(() => ({})));
    await askForToken(sent, options.signal);
  }
}

/**
 * Hand each view of a study to `onView` until `signal` aborts; reconnect for ever. `page` is {name, key, renamed(name)}. Ends with an
 * error if the study was deleted (Gone), or cannot be found (a Refusal).
 * `onLost(reason)` is called with a text when there is no connection, and with null when there is one again.
 */
export async function follow(page, signal, onView, onLost) {
  let pause = FIRST_PAUSE;
  while (!signal.aborted) {
    try {
      await readStream(pathOf(page, "events"), signal, ({ event, data }) => {
        if (event === "gone") throw new Gone(data.detail);
        pause = FIRST_PAUSE;
        onLost(event === "problem" ? data.detail : null); // the server cannot read the study now, and goes on trying
        if (event === "view") onView(data);
      });
      if (!signal.aborted) onLost("");
    } catch (error) {
      if (signal.aborted) return;
      if (error.renamedTo) page.renamed(error.renamedTo);
      else if (error instanceof Gone || error.isMissing) throw error;
      onLost(error instanceof Refusal ? error.message : "");
    }
    await sleep(pause, signal);
    pause = Math.min(2 * pause, LONGEST_PAUSE);
  }
}

async function readStream(path, signal, onMessage) {
  const stop = new AbortController();
  const abort = () => stop.abort();
  signal.addEventListener("abort", abort, { once: true });
  let silence;
  const heard = () => {
    clearTimeout(silence);
    silence = setTimeout(abort, SILENCE);
  };
  try {
    const response = await request(path, { headers: { Accept: "text/event-stream" }, signal: stop.signal });
    heard();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      heard();
      const blocks = (rest + value).replaceAll("\r\n", "\n").split("\n\n");
      rest = blocks.pop();
      const latest = blocks.map(readMessage).findLast((message) => message.data !== "");
      if (latest && !signal.aborted) onMessage({ ...latest, data: JSON.parse(latest.data) }); // older ones are out of date
    }
  } finally {
    clearTimeout(silence);
    signal.removeEventListener("abort", abort);
    stop.abort();
  }
}

function readMessage(block) {
  const fields = block.split("\n").map((line) => /^(\w+): ?(.*)$/.exec(line) ?? []);
  const read = (wanted) => fields.filter(([, name]) => name === wanted).map(([, , value]) => value);
  return { event: read("event").at(-1) ?? "message", data: read("data").join("\n") };
}

export function sleep(milliseconds, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, { once: true });
  });
}
