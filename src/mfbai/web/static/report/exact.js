// Reads JSON and writes it as mfbai hashes it: keys sorted, no blanks, numbers and strings as Python writes them.
// JSON.parse would do for the values, but 1 and 1.0 would be the same number, and of two equal keys the last would win.

const DEEPEST = 50;
const BLANKS = /[ \t\n\r]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const PLAIN = /^"[ !#-[\]-~]*"$/; // nothing that would be written in another way
const ODD = /["\\]|[^ -~]/g;
const SHORT = { '"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\f": "\\f", "\b": "\\b" };

/** What cannot be read, in a sentence. */
export class Unreadable extends Error {}

/** Why a file cannot be shown, for people: what a browser says of what it does not find in it tells them nothing. */
export function reasonOf(error) {
  return error instanceof Unreadable ? error.message : "it is not as mfbai writes it";
}

/** Reads one value after another from a text. */
export class Reader {
  constructor(text, at = 0) {
    this.text = text;
    this.at = at;
  }

  /** The next sign that is not blank; nothing is taken. */
  peek() {
    BLANKS.lastIndex = this.at;
    BLANKS.test(this.text);
    this.at = BLANKS.lastIndex;
    return this.text[this.at];
  }

  take(sign) {
    if (this.peek() !== sign) throw this.error();
    this.at += 1;
  }

  /** Whether a list goes on after one of its parts: takes the comma, or the sign that ends it. */
  goesOn(end) {
    const sign = this.peek();
    if (sign !== "," && sign !== end) throw this.error();
    this.at += 1;
    return sign === ",";
  }

  /** The next value, as it is hashed. */
  value(depth = 0) {
    const sign = this.peek();
    if (depth > DEEPEST) throw new Unreadable("it is nested too deeply");
    if (sign === '"') return this.string();
    if (sign === "{") return written(this.object(depth));
    if (sign === "[") return this.#list(depth);
    return sign === "t" || sign === "f" || sign === "n" ? this.#match(WORD)[0] : this.#number();
  }

  /** The next object, as a map from its keys to its values; both as they are hashed. */
  object(depth = 0) {
    const entries = new Map();
    this.take("{");
    if (this.peek() === "}") {
      this.at += 1;
      return entries;
    }
    do {
      const key = this.key();
      if (entries.has(key)) throw new Unreadable("it has a key twice in one object");
      entries.set(key, this.value(depth + 1));
    } while (this.goesOn("}"));
    return entries;
  }

  key() {
    this.peek();
    const key = this.string();
    this.take(":");
    return key;
  }

  string() {
    const [text] = this.#match(STRING);
    return PLAIN.test(text) ? text : `"${JSON.parse(text).replace(ODD, escaped)}"`;
  }

  /** Nothing may follow. */
  end() {
    if (this.peek() !== undefined) throw this.error();
  }

  error() {
    const seen = this.at < this.text.length ? `at character ${this.at}` : "it ends too early";
    return new Unreadable(`it is not JSON: ${seen}`);
  }

  #list(depth) {
    const values = [];
    this.at += 1;
    if (this.peek() === "]") {
      this.at += 1;
      return "[]";
    }
    do values.push(this.value(depth + 1));
    while (this.goesOn("]"));
    return `[${values.join(",")}]`;
  }

  #number() {
    const [text, fraction, power] = this.#match(NUMBER);
    if (fraction === undefined && power === undefined) return text === "-0" ? "0" : text;
    const value = Number(text);
    if (!Number.isFinite(value)) throw new Unreadable("it holds a number that is not finite");
    return pythonFloat(value);
  }

  #match(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (found === null) throw this.error();
    this.at = pattern.lastIndex;
    return found;
  }
}

/** The text of an object, given its entries. */
export function written(entries) {
  const keys = [...entries.keys()].sort(byCodePoint);
  return `{${keys.map((key) => `${key}:${entries.get(key)}`).join(",")}}`;
}

/** As Python sorts text, where JavaScript sorts by 16-bit units. Keys are compared as text, not as they are escaped. */
function byCodePoint(one, other) {
  if (PLAIN.test(one) && PLAIN.test(other)) return one.slice(0, -1) < other.slice(0, -1) ? -1 : 1;
  const [left, right] = [one, other].map((key) => Array.from(JSON.parse(key), (sign) => sign.codePointAt(0)));
  const differs = left.findIndex((sign, i) => sign !== right[i]);
  return differs < 0 ? -1 : left[differs] - (right[differs] ?? -1);
}

/** A finite float as Python writes it: the shortest digits, with an exponent below 1e-4 and from 1e16 on. */
export function pythonFloat(value) {
  const size = Math.abs(value);
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  if (size >= 1e-4 && size < 1e16) return Number.isInteger(value) ? `${value}.0` : String(value);
  const [mantissa, power] = value.toExponential().split("e");
  return `${mantissa}e${power[0]}${power.slice(1).padStart(2, "0")}`;
}

const escaped = (sign) => SHORT[sign] ?? `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;
