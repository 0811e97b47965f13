// Whether the file is whole: the chain of hashes, what is stated beside it, and the page's own digests.

import { h, setAttribute, setText } from "../dom.js";
import { frame } from "../frame.js";
import { plural, whole } from "../format.js";
import { checkChain } from "./certificate.js";
import { sha256InSteps } from "./sha256.js";
import { inSlices } from "./slices.js";

const ABOUT = "Each [event] of the journal is sealed by a hash of itself and of all events before it. This browser computes them again.";
const NAMES = {
  certificate: "the certificate",
  shown: "the numbers of the pictures",
  beside: "the note, tags and workers",
  program: "the program of this page",
  style: "the styles of this page",
  answer: "the answer in plain text",
  frame: "the markup around the parts of this page (an extension of the browser that changes pages does so, too)",
};

/** `source` has the certificate and, of a report, the texts of its blocks with their digests. */
export function checksPanel(source) {
  const chain = h("li", {}, "…");
  const page = h("li", { hidden: true });
  const replay = h(
    "p",
    { class: "muted note" },
    "That the verdict follows from the events is another question, which takes a replay: run ",
    h("code", { class: "command" }, `mfbai study verify ${quoted(source.file)}`),
    ".",
  );
  const root = frame("checks", "Is this file whole?", ABOUT, h("ul", { role: "status" }, chain, page), replay);
  const say = (item, good, text) => {
    item.hidden = false;
    setAttribute(item, "data-state", good === null ? null : good ? "good" : "bad");
    setText(item, text);
    if (good === false) setAttribute(root, "data-state", "bad");
  };
  /** Run a check, which returns whether all is good, and a sentence. One that does not finish has failed. */
  const judge = async (item, check, onBad) => {
    const [good, told] = await check().catch((error) => {
      if (error.name === "AbortError") throw error;
      return [false, `A check did not finish: ${error.message}.`];
    });
    say(item, good, told);
    if (!good) onBad(told);
  };
  return {
    root,
    /** Check all; `onBad(told)` hears of what does not fit. */
    async run(signal, onBad) {
      say(chain, null, "Checking the chain …");
      await judge(chain, () => checkThatChain(source.certificate, signal, (told) => say(chain, null, told)), onBad);
      if (!source.covered) return; // a certificate by itself
      say(page, null, "Checking the page …");
      await judge(page, () => checkDigests(source, signal), onBad);
    },
  };
}

async function checkThatChain(certificate, signal, onProgress) {
  const { events, facts } = certificate;
  const share = (n) => onProgress(`Checking the chain: ${whole(n)} of ${plural(whole(events.length), "event")} …`);
  const wrong = await inSlices(checkChain(certificate), signal, share);
  if (wrong !== null) return [false, wrong.event === null ? `After the last event: ${wrong.told}.` : `Event ${wrong.event}: ${wrong.told}.`];
  return [true, `Chain intact: ${events.length === 1 ? "1 event" : `${whole(events.length)} events`}, the last with the hash ${facts.head}.`];
}

async function checkDigests({ covered, digests, ours }, signal) {
  const changed = [];
  for (const [name, text] of Object.entries(covered)) {
    if ((await inSlices(sha256InSteps(text), signal)) !== digests?.[name]) changed.push(NAMES[name] ?? name);
  }
  if (changed.length > 0) return [false, `Changed since the file was written: ${changed.join(", ")}.`];
  return [true, `${ours ? "Page" : "Numbers of the pictures"} intact, by digests. These find accidents: to find a forger, verify the file.`];
}

/** For a shell. */
function quoted(text) {
  return /^[\w./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
