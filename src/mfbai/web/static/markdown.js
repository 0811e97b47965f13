// Notes in Markdown, as elements: headings, emphasis, code, lists, quotes, links, breaks. Whatever it is, the text of a note
// only ever becomes text, and the address of a link to the web or of a mailbox.

import { h } from "./dom.js";

const DEEPEST = 8; // quotes, lists and emphases within each other; beyond it, signs are text
const REACH = 2000; // characters from the beginning of an emphasis to its end, so that long notes stay quick
const HIGHEST = 3; // the level of the first heading: the page has those above
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*)$/;
const QUOTE = /^ {0,3}> ?/;
const RULE = /^ {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])( +|$)/;
const SIGNS = new Set("\\`*_{}[]()#+-.!<>~|");
const TITLED = /^(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*\)/; // from the end of an address on: the title is not shown
const ADDRESS = /https?:\/\/[^\s<>"'`]+/y;
const WORD = /[\p{L}\p{N}]/u;

/** The elements of a note. */
export const markdown = (text) => blocks(text.replace(/\r\n?/g, "\n").replaceAll("\t", "    ").split("\n"), 0);

function blocks(lines, depth) {
  const made = [];
  let i = 0;
  const take = (belongs) => {
    const first = i;
    while (i < lines.length && belongs(lines[i], i > first)) i += 1;
    return lines.slice(first, i);
  };
  while (i < lines.length) {
    const line = lines[i];
    if (line.trim() === "") i += 1;
    else if (FENCE.test(line)) made.push(fenced(take, FENCE.exec(line)[1], () => { i += 1; }));
    else if (HEADING.test(line)) {
      const [, signs, words] = HEADING.exec(line);
      made.push(eitherWay(`h${Math.min(signs.length + HIGHEST - 1, 6)}`, inline(words.replace(/ #+ *$/, ""))));
      i += 1;
    } else if (RULE.test(line)) {
      made.push(h("hr"));
      i += 1;
    } else if (depth < DEEPEST && QUOTE.test(line)) {
      const quoted = take((each) => QUOTE.test(each)).map((each) => each.replace(QUOTE, ""));
      made.push(h("blockquote", {}, ...blocks(quoted, depth + 1)));
    } else if (depth < DEEPEST && ITEM.test(line)) {
      made.push(list(take, line, depth));
    } else {
      const words = take((each, more) => each.trim() !== "" && !(more && begins(each, depth)));
      made.push(eitherWay("p", inline(words.map((each) => each.trim()).join("\n"))));
    }
  }
  return made;
}

/** Text that is read from the left or from the right. (Said first, the browser would look again with each child.) */
function eitherWay(tag, children) {
  const made = h(tag, {}, ...children);
  made.dir = "auto";
  return made;
}

const begins = (line, depth) =>
  FENCE.test(line) || HEADING.test(line) || RULE.test(line) || (depth < DEEPEST && (QUOTE.test(line) || ITEM.test(line)));

/** Code between fences; to the end of the note if it is never closed. */
function fenced(take, fence, skip) {
  skip();
  const code = take((line) => !line.trim().startsWith(fence));
  skip();
  return h("pre", { tabindex: "0" }, h("code", {}, code.join("\n")));
}

/** Items of one kind: each with the lines below that are indented further. */
function list(take, first, depth) {
  const [, indent, mark] = ITEM.exec(first);
  const ordered = /\d/.test(mark);
  const isItem = (line) => {
    const found = ITEM.exec(line);
    return found !== null && found[1].length <= indent.length + 1 && /\d/.test(found[2]) === ordered;
  };
  const items = [];
  let blank = false;
  const belongs = (line) => {
    if (isItem(line)) items.push([line.replace(ITEM, "")]);
    else if (line.trim() === "") items.at(-1).push("");
    else if (line.startsWith(`${indent}  `)) items.at(-1).push(line.slice(indent.length + 2));
    else if (!blank && !begins(line, depth)) items.at(-1).push(line);
    else return false;
    blank = line.trim() === "";
    return true;
  };
  take(belongs);
  const start = ordered && parseInt(mark, 10) !== 1 ? { start: parseInt(mark, 10) } : {};
  return h(ordered ? "ol" : "ul", start, ...items.map((lines) => h("li", {}, ...tight(blocks(lines, depth + 1)))));
}

/** A paragraph alone is not set apart from its bullet. */
const tight = ([first, ...rest]) => (first?.tagName === "P" ? [eitherWay("span", first.childNodes), ...rest] : [first, ...rest]);

/** Text and elements of a few lines. */
function inline(text, depth = 0) {
  const made = [];
  let plain = "";
  let i = 0;
  const push = (node, end) => {
    made.push(plain, node);
    plain = "";
    i = end;
  };
  while (i < text.length) {
    const sign = text[i];
    const found = depth < DEEPEST ? (FINDERS[sign]?.(text, i, depth) ?? null) : null;
    if (sign === "\\" && SIGNS.has(text[i + 1])) {
      plain += text[i + 1];
      i += 2;
    } else if (sign === "\\" && text[i + 1] === "\n") i += 1; // the line ends anyway
    else if (sign === "\n") push(h("br"), i + 1);
    else if (found) push(found.node, found.end);
    else {
      const length = sign === "`" ? runOf(text, i) : 1; // a run of signs without an end is skipped as a whole
      plain += text.slice(i, i + length);
      i += length;
    }
  }
  return [...made, plain].filter((part) => part !== "");
}

// What may begin at a sign: {node, end}, or nothing.
const FINDERS = {
  "`": code,
  "*": emphasis,
  _: emphasis,
  "~": struck,
  "[": link,
  "!": (text, i) => (text[i + 1] === "[" ? link(text, i + 1) : null), // a picture is not fetched: a link to it
  h: bare,
};

function runOf(text, i) {
  let end = i;
  while (text[end] === text[i]) end += 1;
  return end - i;
}

function code(text, i) {
  const fence = "`".repeat(runOf(text, i));
  const close = text.indexOf(fence, i + fence.length);
  if (close < 0) return null;
  return { node: h("code", {}, text.slice(i + fence.length, close).replace(/^ (.+) $/, "$1")), end: close + fence.length };
}

function emphasis(text, i, depth) {
  const sign = text[i];
  const size = Math.min(runOf(text, i), 3);
  if (sign === "_" && WORD.test(text[i - 1] ?? " ")) return null; // snake_case
  const both = size === 3 ? enclosed(text, i, sign.repeat(3), "strong", depth) : null;
  if (both) both.node.replaceChildren(h("em", {}, ...both.node.childNodes));
  return both ?? enclosed(text, i, sign.repeat(Math.min(size, 2)), size > 1 ? "strong" : "em", depth);
}

function struck(text, i, depth) {
  return text[i + 1] === "~" ? enclosed(text, i, "~~", "s", depth) : null;
}

function enclosed(text, i, mark, tag, depth) {
  const from = i + mark.length;
  if (/\s/.test(text[from] ?? " ")) return null;
  const part = text.slice(from, from + REACH);
  for (let at = part.indexOf(mark, 1); at > 0; at = part.indexOf(mark, at + 1)) {
    const after = part[at + mark.length] ?? " ";
    const single = mark.length > 1 || (after !== mark && part[at - 1] !== mark);
    const ends = !/\s/.test(part[at - 1]) && part[at - 1] !== "\\" && !(mark[0] === "_" && WORD.test(after));
    if (single && ends) return { node: h(tag, {}, ...inline(part.slice(0, at), depth + 1)), end: from + at + mark.length };
  }
  return null;
}

function link(text, i) {
  const middle = text.slice(i, i + REACH).indexOf("](");
  if (middle < 2) return null;
  const part = text.slice(i + middle + 2, i + middle + 2 + REACH);
  const length = addressLength(part);
  const rest = TITLED.exec(part.slice(length));
  if (!rest) return null;
  const words = text.slice(i + 1, i + middle);
  const made = anchor(part.slice(0, length), inline(words, DEEPEST)); // no link within a link
  return made && { node: made, end: i + middle + 2 + length + rest[0].length };
}

/** Up to a blank, or to a bracket that was not opened within the address. */
function addressLength(part) {
  let open = 0;
  for (let i = 0; i < part.length; i += 1) {
    if (part[i] === "(") open += 1;
    if (part[i] === ")") open -= 1;
    if (open < 0 || /\s/.test(part[i])) return i;
  }
  return part.length;
}

/** An address as it is written, at the beginning of a word. */
function bare(text, i) {
  if (WORD.test(text[i - 1] ?? " ")) return null;
  ADDRESS.lastIndex = i;
  const address = ADDRESS.exec(text)?.[0].replace(/[.,;:!?)*_\]]+$/, "");
  const made = address && anchor(address, [address]);
  return made ? { node: made, end: i + address.length } : null;
}

/** A link to the web or to a mailbox; null if it is to anything else. */
function anchor(address, words) {
  const url = URL.canParse(address) ? new URL(address) : null;
  if (!["http:", "https:", "mailto:"].includes(url?.protocol)) return null;
  return h("a", { href: url.href, rel: "noopener noreferrer", target: "_blank" }, ...words);
}
