// Building and changing the page. Data only ever become text or attributes, never HTML.

/** An element: `h("p", {class: "muted", onclick: f}, "text", child, ...)`; null and false are left out. */
export function h(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

// What does not differ is not touched: no flicker, and a selection of text stays.

export function setText(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

export function setAttribute(node, name, value) {
  if (value === null || value === false) node.removeAttribute(name);
  else if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

export function setStyle(node, property, value) {
  if (node.style.getPropertyValue(property) !== value) node.style.setProperty(property, value);
}

/**
 * Make the children of `parent` one row per item, and keep the rows there are: what has the focus, or was typed, stays.
 * A row is {root, update(item, more)}; `rows` is a Map that belongs to this list alone.
 */
export function syncRows(parent, rows, items, keyOf, makeRow, more) {
  const wanted = new Set(items.map(keyOf));
  for (const [key, row] of rows) {
    if (!wanted.has(key)) {
      row.root.remove();
      rows.delete(key);
    }
  }
  const focused = parent.contains(document.activeElement) ? document.activeElement : null;
  let place = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    if (!rows.has(key)) rows.set(key, makeRow(item));
    const row = rows.get(key);
    row.update(item, more);
    if (row.root === place) place = place.nextElementSibling;
    else parent.insertBefore(row.root, place);
  }
  if (focused?.isConnected && focused !== document.activeElement) focused.focus({ preventScroll: true }); // its row was moved
}

let lastId = 0;

export function newId(prefix) {
  lastId += 1;
  return `${prefix}-${lastId}`;
}

/** A place for the errors of a form: read out when it changes, and takes no room while empty. */
export function errorBox() {
  return h("p", { class: "error", role: "alert" });
}

/** Run an action of a button or form: the button waits, and what goes wrong is shown in `box`. */
export async function attempt(button, box, action) {
  if (button.getAttribute("aria-disabled") === "true") return;
  button.setAttribute("aria-disabled", "true"); // not `disabled`, which would lose the focus
  setText(box, "");
  try {
    await action();
  } catch (error) {
    setText(box, error.message);
    throw error;
  } finally {
    button.removeAttribute("aria-disabled");
  }
}

/** A sentence that is read out: at once if `urgent`, otherwise every ten seconds at most, so that one can listen. */
export function announcer() {
  const root = h("p", { class: "hidden-text", "aria-live": "polite" });
  let timer = null;
  let next = "";
  const speak = () => {
    timer = null;
    setText(root, next);
  };
  return {
    root,
    say(text, urgent) {
      next = text;
      if (urgent) {
        clearTimeout(timer);
        speak();
      } else timer ??= setTimeout(speak, 10_000);
    },
    stop: () => clearTimeout(timer),
  };
}
