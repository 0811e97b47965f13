// The form for a new study. It stays as it was typed until a study was created from it.

import { createStudy } from "./api.js";
import { attempt, errorBox, h, setAttribute, setText } from "./dom.js";
import { readNumber } from "./format.js";
import { prose, term } from "./terms.js";

const EXAMPLE = `# Which of three designs is the best?
# A coarse simulation is cheap and a bit off, a fine one is dear and true.
[problem]
arms = ["baseline", "wide", "deep"]
direction = "maximise"  # or "minimise"

[[fidelity]]            # cheapest first
name = "coarse"
cost = 0.05             # of one evaluation, in any unit
bias = 0.03             # off by this much at most

[[fidelity]]            # the last one is true
name = "fine"
cost = 5.0

[family]                # how values vary around their average
name = "gaussian"       # or bernoulli, poisson, exponential, subgaussian
variance = 0.01
`;

const SPEC_HINT = "The [arm|arms], the [fidelity|fidelities] with [biasBound|bias bounds], the [family] of the values.";

// What needs further numbers (the rule "theorem", the strategies "lucb-explore-…") is left to the command line.
const MULTI = ["frugal", "mf-grad", "mf-grad-const", "mf-grad-row", "uniform"];
const TOP_ONLY = ["grad", "grad-const", "track-and-stop"];
const OWN_RULE = ["iise", "lucb"];
const STRATEGIES = [...MULTI, ...TOP_ONLY, ...OWN_RULE];
const RULES = ["e-process", "stylised", "kaufmann-koolen"];
const MORE = ["max_cost", "tolerance", "direction", "strategy", "stopping"];

export function newStudyPage() {
  const fields = makeFields();
  const box = errorBox();
  const button = h("button", { class: "primary" }, "Create the study");
  const form = h(
    "form",
    { class: "card create", novalidate: true },
    fields.spec.root,
    h("div", { class: "pair" }, fields.name.root, fields.delta.root),
    h(
      "details",
      { class: "more" },
      h("summary", {}, "More settings"),
      h("div", { class: "pair" }, ...MORE.map((name) => fields[name].root)),
    ),
    box,
    h("div", { class: "actions" }, button),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(fields, button, box);
  });
  const root = h(
    "section",
    {},
    h("h1", {}, "New study"),
    h("p", { class: "lead muted" }, "Say what is compared, and how. Then you are told, step by step, what to evaluate."),
    form,
  );
  return { root, title: "New study", start() {}, stop() {} };
}

function makeFields() {
  const area = h("textarea", { rows: 21, spellcheck: "false", autocapitalize: "off" });
  return {
    spec: textField("spec", area, "Problem", EXAMPLE, SPEC_HINT),
    name: textField("study", h("input", { type: "text", autocomplete: "off" }), "Name", "", "Left empty, one is made up."),
    delta: numberField("delta", "Risk that you accept", "0.05", "0.05: wrong in 1 of 20 such studies, at most."),
    max_cost: numberField("budget", "Budget", "", "Left empty, there is no limit."),
    tolerance: numberField("tolerance", "Tolerance", "", "Left empty, it is 0."),
    direction: choiceField("direction", "Direction", ["as the problem says", "maximise", "minimise"]),
    strategy: choiceField("strategy", "Strategy", STRATEGIES),
    stopping: choiceField("stopping", "Stopping rule", RULES),
  };
}

// A field is {root, input, label, read(), complain(text)}, explained by the term `key`. read() gives what to send, undefined to
// leave it to the server.

function textField(key, input, label, value, hint) {
  input.value = value;
  return field(key, input, label, hint, () => (input.value.trim() === "" ? undefined : input.value));
}

function numberField(key, label, value, hint) {
  const input = h("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
  input.value = value;
  const read = () => {
    if (input.value.trim() === "") return undefined;
    return readNumber(input.value);
  };
  return field(key, input, label, hint, read);
}

/** The first choice is what the server does by itself, and is not sent. */
function choiceField(key, label, choices) {
  const input = h("select", {}, ...choices.map((choice) => h("option", { value: choice }, choice)));
  return field(key, input, label, "", () => (input.selectedIndex === 0 ? undefined : input.value));
}

function field(key, input, label, hint, read) {
  const id = `new-${key}`;
  const fault = h("p", { class: "fault", id: `${id}-fault` });
  setAttribute(input, "id", id);
  setAttribute(input, "aria-describedby", `${id}-hint ${id}-fault`);
  const help = h("p", { class: "hint muted", id: `${id}-hint` }, ...prose(hint));
  const caption = h("div", { class: "caption" }, h("label", { for: id }, label), term(key, "what is this?"));
  const complain = (text) => {
    setText(fault, text);
    setAttribute(input, "aria-invalid", text ? "true" : null);
  };
  return { root: h("div", { class: "field" }, caption, input, help, fault), input, label, read, complain };
}

async function submit(fields, button, box) {
  for (const one of Object.values(fields)) one.complain("");
  try {
    await attempt(button, box, async () => {
      const settings = readAll(fields);
      const { name } = await createStudy(settings);
      fields.name.input.value = ""; // taken now: the next study needs another
      location.hash = `#/study/${encodeURIComponent(name)}`;
    });
  } catch (error) {
    showFaults(fields, box, error.faults ?? []);
  }
}

/** What is wrong with a field is said there; the box says the rest, and where to look. */
function showFaults(fields, box, faults) {
  const placed = faults.filter(({ field: name }) => fields[name]);
  if (placed.length === 0) return;
  for (const { field: name, message } of placed) fields[name].complain(sentence(fields[name].label, message));
  const others = faults.filter(({ field: name }) => !fields[name]).map(({ field: name, message }) => `${name} ${message}`);
  const labels = [...new Set(placed.map(({ field: name }) => `“${fields[name].label}”`))];
  setText(box, [`See what is said below ${labels.join(" and ")}.`, ...others].join("\n"));
  const { input } = fields[placed[0].field];
  const folded = input.closest("details");
  if (folded) folded.open = true;
  input.focus();
}

/** The server's messages go on after the name of the field: "is not TOML". */
const sentence = (label, message) => (/^[a-z]/.test(message) ? `${label} ${message}` : message);

function readAll(fields) {
  const settings = {};
  for (const [name, one] of Object.entries(fields)) {
    try {
      settings[name] = one.read(); // JSON leaves undefined ones out
    } catch (error) {
      throw Object.assign(error, { faults: [{ field: name, message: error.message }] });
    }
  }
  if (settings.delta === undefined) {
    const message = "Say the risk that you accept: 0.05, for example.";
    throw Object.assign(new Error(message), { faults: [{ field: "delta", message }] });
  }
  return { ...settings, spec: settings.spec ?? "" };
}
