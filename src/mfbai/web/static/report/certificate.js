// A certificate as text: its journal, event by event, and what it states beside that. Checks that they fit.

import { Reader, Unreadable, written } from "./exact.js";
import { sha256 } from "./sha256.js";

const FORMAT = "mfbai certificate 1";
const NOTHING = "0".repeat(64); // what the first event is chained to
const LINES = /\[\n {4}\{"/y; // how mfbai begins a journal: every event is a line
const END = "\n  ]";

/** {stated: a map of canonical texts, facts: the same as values, events: the text of each event}. */
export function readCertificate(text) {
  const reader = new Reader(text, text.startsWith("\ufeff") ? 1 : 0);
  const stated = new Map();
  let events = null;
  if (reader.peek() !== "{") throw new Unreadable("it is not a certificate: it is not a JSON object");
  reader.take("{");
  do {
    const key = reader.key();
    if (stated.has(key)) throw new Unreadable("it has a key twice in one object");
    if (key === '"journal"') {
      events = readJournal(reader);
      stated.set(key, null);
    } else stated.set(key, reader.value(1));
  } while (reader.goesOn("}"));
  reader.end();
  stated.delete('"journal"');
  const facts = Object.fromEntries([...stated].map(([key, value]) => [JSON.parse(key), JSON.parse(value)]));
  if (facts.format !== FORMAT) throw new Unreadable(`it is not a certificate: it does not say "format": "${FORMAT}"`);
  if (events === null || events.length === 0) throw new Unreadable("it has no journal");
  checkShape(readFirst(events[0]), facts.verdict);
  return { stated, facts, events };
}

function readFirst(text) {
  const reader = new Reader(text);
  const found = JSON.parse(reader.value());
  reader.end();
  return found;
}

/** What the page relies on: how the journal begins, and what the verdict says. */
function checkShape(first, verdict) {
  if (first?.kind !== "create") throw new Unreadable("it is not a certificate: its journal does not begin with the creation of a study");
  const { problem, fidelity, family } = first.problem ?? {};
  const named = (entries) => Array.isArray(entries) && entries.length > 0 && entries.every((entry) => typeof entry?.name === "string");
  const arms = Array.isArray(problem?.arms) && problem.arms.every((arm) => typeof arm === "string");
  if (!arms || !named(fidelity) || !named([family]) || !Number.isFinite(first.at)) {
    throw new Unreadable("it is not a certificate: its first event does not say what the study is about");
  }
  if (verdict === null) return;
  const numbers = ["cost", "told", "risk"].every((entry) => Number.isFinite(verdict?.[entry]));
  if (!numbers || typeof verdict.state !== "string" || !(verdict.arm === null || verdict.arm in problem.arms)) {
    throw new Unreadable("it is not a certificate: its verdict is not as mfbai writes one");
  }
}

function readJournal(reader) {
  reader.peek();
  LINES.lastIndex = reader.at;
  const end = LINES.test(reader.text) ? reader.text.indexOf(END, reader.at) : -1;
  if (end < 0) return readList(reader);
  const lines = reader.text.slice(reader.at + 2, end).split("\n");
  reader.at = end + END.length;
  return lines.map((line, i) => (i < lines.length - 1 && line.endsWith(",") ? line.slice(0, -1) : line));
}

/** A journal that another program wrote. */
function readList(reader) {
  const events = [];
  reader.take("[");
  do {
    reader.peek();
    const begin = reader.at;
    reader.value(1);
    events.push(reader.text.slice(begin, reader.at));
  } while (reader.goesOn("]"));
  return events;
}

/** The first thing that does not fit, as {event, told}; null if all does. For `inSlices`: yields the events checked. */
export function* checkChain({ stated, events }) {
  let head = NOTHING;
  let first = null;
  let verdict = "null";
  for (let n = 0; n < events.length; n++) {
    if (n % 20 === 0) yield n;
    try {
      const reader = new Reader(events[n]);
      const entries = reader.object();
      reader.end();
      const seal = entries.get('"hash"');
      entries.delete('"hash"');
      const found = sha256(`${head}\n${written(entries)}`);
      if (entries.get('"n"') !== String(n)) {
        return { event: n, told: `its number is ${entries.get('"n"')}: an event is missing, or there is one too many` };
      }
      if (seal !== `"${found}"`) return { event: n, told: "its hash does not fit: it, or an event before it, was changed" };
      head = found;
      first ??= entries;
      if (verdict === "null" && entries.get('"kind"') === '"verdict"') verdict = written(entries.set('"hash"', seal));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      return { event: n, told: error.message };
    }
  }
  const wanted = { study: first.get('"name"'), problem: first.get('"problem"'), verdict, events: String(events.length), head: `"${head}"` };
  const wrong = Object.keys(wanted).find((entry) => stated.get(`"${entry}"`) !== wanted[entry]);
  return wrong ? { event: null, told: `the ${wrong} that the certificate states is not that of its journal` } : null;
}
