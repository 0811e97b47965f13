// The token that a server may want: asked for once, kept for as long as the tab lives.

import { errorBox, h } from "./dom.js";

const KEY = "mfbai-token";
const CONTROLS = /[\u0000-\u001f\u007f]/g; // no header can have them
let asking = null; // all requests that wait for a token wait for the same form

/** A header holds bytes, one a character: a token that has others must get to the server too, which refuses it. */
export function bearer() {
  const token = sessionStorage.getItem(KEY);
  return token ? { Authorization: `Bearer ${String.fromCharCode(...new TextEncoder().encode(token))}` } : {};
}

/** Resolves when there is another token than the one that was `sent` and refused. */
export function askForToken(sent, signal) {
  if (bearer().Authorization !== sent.Authorization) return Promise.resolve();
  asking ??= showForm(sent.Authorization !== undefined).finally(() => { asking = null; });
  return signal ? Promise.race([asking, aborted(signal)]) : asking;
}

function aborted(signal) {
  return new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason), { once: true }));
}

function showForm(wrong) {
  return new Promise((resolve) => {
    const input = h("input", { id: "token-input", type: "password", autocomplete: "current-password", required: true });
    // Browsers that remember passwords want to know whose.
    const user = h("input", { type: "text", autocomplete: "username", value: "mfbai", hidden: true });
    const form = h(
      "form",
      { class: "card token", "aria-labelledby": "token-title" },
      h("h2", { id: "token-title" }, "This server asks for a token"),
      h("p", { class: "muted" }, "Ask the person who started it. The token is kept until you close this tab."),
      h("label", { for: "token-input" }, "Token"),
      user,
      h("div", { class: "inline" }, input, h("button", { class: "primary" }, "Continue")),
      errorBox(),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      sessionStorage.setItem(KEY, input.value.replace(CONTROLS, "").trim());
      form.remove();
      resolve();
    });
    document.getElementById("token").replaceChildren(form);
    if (wrong) form.querySelector(".error").textContent = "That token was not accepted.";
    input.focus();
  });
}
