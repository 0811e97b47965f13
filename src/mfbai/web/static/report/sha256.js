// SHA-256, by hand: browsers offer it only to pages that came by https, and never step by step.

const STEP = 65_536; // characters at once
const primes = [];
for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p !== 0)) primes.push(n);
const fraction = (value) => ((value - Math.floor(value)) * 2 ** 32) | 0;
const ROUNDS = Int32Array.from(primes, (p) => fraction(Math.cbrt(p)));
const START = Int32Array.from(primes.slice(0, 8), (p) => fraction(Math.sqrt(p)));
const words = new Int32Array(64);

/** Take in 64 bytes. */
function compress(state, bytes, at) {
  for (let i = 0; i < 16; i++, at += 4) {
    words[i] = (bytes[at] << 24) | (bytes[at + 1] << 16) | (bytes[at + 2] << 8) | bytes[at + 3];
  }
  for (let i = 16; i < 64; i++) {
    const x = words[i - 15];
    const y = words[i - 2];
    const low = ((x >>> 7) | (x << 25)) ^ ((x >>> 18) | (x << 14)) ^ (x >>> 3);
    const high = ((y >>> 17) | (y << 15)) ^ ((y >>> 19) | (y << 13)) ^ (y >>> 10);
    words[i] = (words[i - 16] + low + words[i - 7] + high) | 0;
  }
  let a = state[0];
  let b = state[1];
  let c = state[2];
  let d = state[3];
  let e = state[4];
  let f = state[5];
  let g = state[6];
  let h = state[7];
  for (let i = 0; i < 64; i++) {
    const high = ((e >>> 6) | (e << 26)) ^ ((e >>> 11) | (e << 21)) ^ ((e >>> 25) | (e << 7));
    const first = (h + high + ((e & f) ^ (~e & g)) + ROUNDS[i] + words[i]) | 0;
    const low = ((a >>> 2) | (a << 30)) ^ ((a >>> 13) | (a << 19)) ^ ((a >>> 22) | (a << 10));
    const second = (low + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0] += a;
  state[1] += b;
  state[2] += c;
  state[3] += d;
  state[4] += e;
  state[5] += f;
  state[6] += g;
  state[7] += h;
}

class Digest {
  #state = START.slice();
  #rest = new Uint8Array(64);
  #filled = 0;
  #length = 0;

  update(bytes) {
    let at = 0;
    this.#length += bytes.length;
    if (this.#filled > 0) {
      at = Math.min(64 - this.#filled, bytes.length);
      this.#rest.set(bytes.subarray(0, at), this.#filled);
      this.#filled += at;
      if (this.#filled < 64) return;
      compress(this.#state, this.#rest, 0);
    }
    for (; at + 64 <= bytes.length; at += 64) compress(this.#state, bytes, at);
    this.#rest.set(bytes.subarray(at));
    this.#filled = bytes.length - at;
  }

  hex() {
    const length = this.#length;
    const end = new Uint8Array(((this.#filled < 56 ? 56 : 120) - this.#filled) + 8);
    end[0] = 0x80;
    new DataView(end.buffer).setBigUint64(end.length - 8, 8n * BigInt(length));
    this.update(end);
    return Array.from(this.#state, (word) => (word >>> 0).toString(16).padStart(8, "0")).join("");
  }
}

const encoder = new TextEncoder();

/** The digest of a text, in hexadecimal. */
export function sha256(text) {
  const digest = new Digest();
  digest.update(encoder.encode(text));
  return digest.hex();
}

/** The same of a long text, for `inSlices`. */
export function* sha256InSteps(text) {
  const digest = new Digest();
  for (let at = 0; at < text.length; ) {
    let end = Math.min(at + STEP, text.length);
    if (end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end += 1; // not within a pair
    digest.update(encoder.encode(text.slice(at, end)));
    at = end;
    yield;
  }
  return digest.hex();
}
