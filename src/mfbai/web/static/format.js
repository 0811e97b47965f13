// Numbers, times and counts as people read them.

/** So many significant digits, as the server writes them in its sentences: 12,300, 0.0123, 1.2e−7. */
export function number(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size === Infinity) return minus(value < 0 ? "-∞" : "∞");
  const shown = rounded(value, digits);
  if (isExtreme(size)) return minus(shown.toExponential().replace("e+", "e"));
  return minus(shown.toLocaleString("en", { maximumSignificantDigits: digits }));
}

const minus = (text) => text.replaceAll("-", "−");
const isExtreme = (size) => size >= 1e10 || size < 1e-4; // unreadable without an exponent

/** Halves to the even neighbour, as Python does; toPrecision has them away from zero. */
function rounded(value, digits) {
  const [mantissa, power] = value.toExponential(60).split("e");
  const all = mantissa.replace(".", "");
  const kept = all.slice(0, digits + (value < 0));
  const isHalf = /^50*$/.test(all.slice(kept.length));
  const isEven = Number(kept.at(-1)) % 2 === 0;
  return isHalf && isEven ? Number(`${kept}e${power - digits + 1}`) : Number(value.toPrecision(digits));
}

/** A risk has two digits: more would mean nothing. */
export function risk(value) {
  return number(value, 2);
}

const EXACT = 15; // significant digits that a number surely has
const powerOf = (size) => Math.floor(Math.log10(size) + 1e-9);

/** The power of ten of the last digit to be shown, for numbers up to `size` of which steps of `width` matter. */
function lastDigit(size, width, digits) {
  const finest = size > 0 ? powerOf(size) - EXACT + 1 : -300;
  return Math.max(powerOf(width) - digits + 1, finest);
}

/** A count of 10^last, with an exponent if numbers of this size need one. */
function written(count, last, size) {
  const power = size > 0 && isExtreme(size) ? powerOf(size) : 0;
  const places = Math.max(power - last, 0);
  const value = Number(`${count}e${last - power}`) + 0; // no −0
  const text = value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
  return minus(power === 0 || value === 0 ? text : `${text}e${power}`);
}

/** Whether the results contradict each other, by the bias bounds: then the ends of an interval have changed places. */
export function isEmpty(low, high) {
  return low !== null && high !== null && low > high;
}

/** "0.123 to 0.457": so many digits that the width can be seen, rounded outwards: what is shown holds what is true. */
export function interval(low, high) {
  const ends = [low, high].filter((value) => value !== null);
  if (ends.length === 0) return "anything";
  if (isEmpty(low, high)) return "no value fits";
  const size = Math.max(...ends.map(Math.abs));
  if (low === high) return `${number(low, EXACT)} to ${number(high, EXACT)}`;
  const last = ends.length === 2 ? lastDigit(size, (high - low) / 2, 2) : lastDigit(size, size || 1, 3);
  const from = low === null ? "−∞" : written(countBelow(low, last), last, size);
  const to = high === null ? "∞" : written(0 - countBelow(0 - high, last), last, size);
  return `${from} to ${to}`;
}

/** How often 10^last fits below: in decimals, where a division is a bit off. */
function countBelow(value, last) {
  const count = Math.round(value / 10 ** last);
  return Number(`${count}e${last}`) > value ? count - 1 : count;
}

/** With at least six digits, and with what matters in something known up to `width`. */
export function precise(value, width) {
  if (value === null || value === undefined) return "–";
  const size = Math.abs(value);
  const last = width > 0 && size > 0 ? lastDigit(size, width, 3) : 0;
  return number(value, size > 0 && width > 0 ? Math.max(powerOf(size) - last + 1, 6) : EXACT);
}

/** What is short of the whole does not read as the whole, unless it is a matter of rounding; and so with nothing. */
export function percent(share) {
  if (share > 0 && share < 0.01) return "< 1 %";
  if (share >= 0.995 && share < 1 - 1e-9) return "> 99 %";
  return `${Math.round(100 * share)} %`;
}

export function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

/** A count in full: 99,980. */
export const whole = (count) => count.toLocaleString("en");

export function clock(unixSeconds) {
  const then = new Date(1000 * unixSeconds);
  const today = then.toDateString() === new Date().toDateString();
  const time = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  return today ? time : `${then.toLocaleDateString()} ${time}`;
}

const SPANS = [["year", 31_557_600], ["month", 2_629_800], ["week", 604_800], ["day", 86_400], ["hour", 3600], ["minute", 60]];

/** "3 minutes ago"; what is less than a minute ago was just now. */
export function ago(unixSeconds, now = Date.now() / 1000) {
  const since = now - unixSeconds;
  const [unit, seconds] = SPANS.find(([, size]) => since >= size) ?? [];
  return unit ? `${plural(Math.floor(since / seconds), unit)} ago` : "just now";
}

const PLAIN = /^[+-]?(\d+([.,]\d*)?|[.,]\d+)(e[+-]?\d+)?$/i;
const GROUPED = /^[+-]?[1-9]\d{0,2}(,\d{3})+(?![\d,])/; // a thousand, or one with three decimals: it is not clear

/** What someone typed as a number, with a decimal point or comma; an error says what is wrong with it. */
export function readNumber(text) {
  const typed = text.trim().replaceAll("−", "-");
  if (GROUPED.test(typed)) throw new Error(`“${text}” has a separator: write ${waysToWrite(typed)}.`);
  if (!PLAIN.test(typed)) throw new Error(`“${text}” is not a number: write it like 1000, 0.25 or 1e-6.`);
  const value = Number(typed.replace(",", "."));
  if (!Number.isFinite(value)) throw new Error(`“${text}” is too large.`);
  return value;
}

/** Several, with blanks or lines between them. */
export function readNumbers(text) {
  return text.trim().split(/[\s;]+/).map(readNumber);
}

function waysToWrite(typed) {
  const whole = typed.replaceAll(",", "");
  const decimal = typed.replace(",", ".");
  return PLAIN.test(decimal) && !decimal.includes(",") ? `${whole}, or ${decimal} if it is a decimal comma` : whole;
}

/** About `count` round numbers that cover [low, high]. */
export function ticks(low, high, count) {
  const span = high - low || 1;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.ceil(low / step);
  const length = Math.floor(high / step + 1e-9) - first + 1;
  const all = Array.from({ length }, (_, i) => (first + i) * step);
  return [...new Set(all.map((tick) => Number(tick.toPrecision(EXACT))))]; // 0.3, not 0.30000000000000004
}

/** The power of ten of the last digit of a round number. */
function lastPower(value) {
  const [mantissa, power] = Number(value.toPrecision(EXACT)).toExponential().split("e");
  return value === 0 ? NaN : Number(power) - (mantissa.split(".")[1] ?? "").length;
}

/** All with the same decimals: those that the longest of them has. */
export function tickTexts(all) {
  const size = Math.max(...all.map(Math.abs));
  const places = all.map(lastPower).filter(Number.isFinite);
  const last = Math.min(...places, powerOf(size || 1));
  return all.map((tick) => written(Math.round(tick / 10 ** last), last, size));
}
