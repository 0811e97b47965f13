// Numbers, times and counts as people read them.

/** About four significant digits: 12,350, 0.01235, 1.2e−7. */
export function number(value, digits = 4) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(Math.min(digits, 3) - 1).replace("e+", "e").replaceAll("-", "−");
  return value.toLocaleString("en", { maximumSignificantDigits: digits }).replace("-", "−");
}

/** A risk is told with two digits: more would not mean anything. */
export function risk(value) {
  return number(value, 2);
}

export function percent(share) {
  if (share > 0 && share < 0.01) return "< 1 %";
  return `${Math.round(100 * share)} %`;
}

export function plural(count, one, many = `${one}s`) {
  return `${count} ${count === 1 ? one : many}`;
}

export function clock(unixSeconds) {
  const then = new Date(1000 * unixSeconds);
  const today = then.toDateString() === new Date().toDateString();
  const time = then.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" });
  return today ? time : `${then.toLocaleDateString()} ${time}`;
}

/** What someone typed as a number; NaN if it is none. Both decimal signs are understood. */
export function readNumber(text) {
  const plain = text.trim().replace("−", "-").replace(",", ".");
  return plain === "" ? NaN : Number(plain);
}

/** About `count` round numbers that cover [low, high]. */
export function ticks(low, high, count) {
  const span = high - low || 1;
  const rough = span / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough);
  const first = Math.ceil(low / step);
  const length = Math.floor(high / step + 1e-9) - first + 1;
  return Array.from({ length }, (_, i) => Number(((first + i) * step).toPrecision(12))); // 0.3, not 0.30000000000000004
}
