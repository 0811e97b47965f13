// Where what is shown comes from: this file, or one that was opened here. Files are read as text, never as pages.

import { readCertificate } from "./certificate.js";
import { Unreadable } from "./exact.js";

const BLOCKS = ["digests", "shown", "beside", "certificate"];
const END = "</script>";
const PARTS = 'style, script[type="importmap"], script[type="application/json"], #answer';
const WEB_PAGE = /^\ufeff?\s*<(!doctype|html)/i;

/** This file, as it was before the program changed the page. */
export function ownSource() {
  const texts = Object.fromEntries(BLOCKS.map((name) => [name, onlyOne(`script#${name}`).textContent]));
  const { digests, ...covered } = texts;
  covered.program = onlyOne('script[type="importmap"]').textContent;
  covered.style = onlyOne("style").textContent;
  covered.answer = onlyOne("#answer").innerHTML;
  covered.frame = frame();
  return { ...read(texts), covered, ours: true, file: decodeURIComponent(location.pathname.split("/").at(-1)) || "report.html" };
}

/** All of the page that is around the parts, without line breaks, of which browsers leave some out. */
function frame() {
  const copy = document.documentElement.cloneNode(true);
  for (const part of copy.querySelectorAll(PARTS)) part.replaceChildren();
  return `<!doctype ${document.doctype?.name}>${copy.outerHTML}`.replaceAll("\n", "");
}

function onlyOne(selector) {
  const found = document.querySelectorAll(selector);
  if (found.length !== 1) throw new Unreadable(`it has ${found.length} parts “${selector}”, and should have one`);
  return found[0];
}

/** A file that was opened. */
export function sourceOf(file, text) {
  if (!WEB_PAGE.test(text)) return { certificate: readCertificate(text), shown: null, beside: null, file };
  const texts = Object.fromEntries(BLOCKS.map((name) => [name, blockOf(text, name)]));
  const { digests, ...covered } = texts;
  return { ...read(texts), covered, ours: false, file };
}

function blockOf(text, name) {
  const pieces = text.split(`<script type="application/json" id="${name}">`);
  if (pieces.length === 1) throw new Unreadable(`it is a web page, but no report: its “${name}” is missing`);
  if (pieces.length > 2) throw new Unreadable(`it has its “${name}” ${pieces.length - 1} times`);
  const end = pieces[1].indexOf(END);
  if (end < 0) throw new Unreadable("it ends too early: the report is not complete");
  return pieces[1].slice(0, end);
}

function read({ certificate, shown, beside, digests }) {
  return { certificate: readCertificate(certificate), shown: parsed("shown", shown), beside: parsed("beside", beside), digests: parsed("digests", digests) };
}

function parsed(name, text) {
  try {
    return JSON.parse(text);
  } catch {
    throw new Unreadable(`its part “${name}” is not JSON`);
  }
}
