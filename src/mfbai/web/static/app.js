// The page as a whole: which of its views is shown, by the address after the hash.

import { readAddress } from "./address.js";
import { comparePage } from "./compare.js";
import { h } from "./dom.js";
import { newStudyPage } from "./create.js";
import { listPage } from "./list.js";
import { studyPage } from "./study.js";
import { fillGlossary, watchTerms } from "./terms.js";

const main = document.getElementById("main");
const form = newStudyPage(); // made once: what was typed is still there when one comes back
let current = { stop() {} };
let first = true;

/** A page is {root, title, start(), stop()}. */
function pageFor(hash) {
  const { path, query } = readAddress(hash);
  if (path === "/") return listPage(query);
  if (path === "/compare") return comparePage(query);
  if (path === "/new") return form;
  const name = /^\/study\/(.+)$/.exec(path)?.[1];
  try {
    if (name) return studyPage(decodeURIComponent(name));
  } catch {
    // a stray percent sign: no such page
  }
  const root = h("section", {}, h("h1", {}, "There is no such page"), h("a", { href: "#/" }, "To the studies"));
  return { root, title: "Not found", start() {}, stop() {} };
}

function show() {
  if (location.hash === "#main") return;
  current.stop();
  current = pageFor(location.hash);
  document.title = `${current.title} · mfbai`;
  document.getElementById("connection").textContent = "";
  main.replaceChildren(current.root);
  markPlace();
  current.start();
  if (!first) {
    main.focus({ preventScroll: true }); // a reader's next key press starts in the new page
    scrollTo(0, 0);
  }
  first = false;
}

function markPlace() {
  for (const link of document.querySelectorAll("nav a")) {
    const here = readAddress(link.getAttribute("href")).path === readAddress(location.hash).path;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault(); // the address is that of the page, not of a place in it
  main.focus();
});
fillGlossary(document.querySelector("#glossary dl"));
watchTerms(document.getElementById("tip"));
window.addEventListener("hashchange", show);
show();
