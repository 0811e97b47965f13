// The form for a new study, with what the server offers. It keeps what was typed until a study was created from it.

import { createStudy, readChoices } from "./api.js";
import { attempt, errorBox, h, setAttribute, setText } from "./dom.js";
import { readNumber } from "./format.js";
import { prose, term } from "./terms.js";

const LEAD = "Say what is compared, and how. The study then tells you, step by step, what to evaluate.";
const SPEC_HINT = "The [arm|arms], the [fidelity|fidelities] with [biasBound|bias bounds], the [family] of the values.";
const AS_STATED = "as the problem says";
const CHOSEN = "chosen for the problem";
const SEEDS_HINT = "common: all arms are evaluated with the same seeds, so that what they share cancels when they are compared.";
const AUDIT_HINT = "0.1: a tenth of the cost checks the leader and its closest rival without bias. Left empty, it is 0.";
const MORE = ["max_cost", "tolerance", "audit", "on_alarm", "direction", "seeds", "strategy", "stopping"];

function exampleOf({ families, directions }) {
  const others = families.map(({ name }) => name).filter((name) => name !== "gaussian");
  return `# Which of three designs is the best?
# A coarse simulation is cheap and slightly off, a fine one is expensive and true.
[problem]
arms = ["baseline", "wide", "deep"]
direction = "${directions[0]}"  # or ${directions.slice(1).map((name) => `"${name}"`).join(", ")}

[[fidelity]]            # cheapest first
name = "coarse"
cost = 0.05             # of one evaluation, in any unit
bias = 0.03             # off by this much at most

[[fidelity]]            # the last one is true
name = "fine"
cost = 5.0

[family]                # how values vary around their average
name = "gaussian"       # or ${others.join(", ")}
variance = 0.01
`;
}

export function newStudyPage() {
  const place = h("div", {}, h("p", { class: "muted" }, "Loading …"));
  const root = h("section", {}, h("h1", {}, "New study"), h("p", { class: "lead muted" }, LEAD), place);
  let loaded = null;
  const load = async () => place.replaceChildren(makeForm(await readChoices()));
  const start = () => {
    loaded ??= load().catch((error) => {
      loaded = null; // the next visit tries again
      place.replaceChildren(h("p", { class: "error", role: "alert" }, error.message));
    });
  };
  return { root, title: "New study", start, stop() {} };
}

function makeForm(choices) {
  const fields = makeFields(choices);
  const options = optionFields(fields, choices);
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
      options.root,
    ),
    box,
    h("div", { class: "actions" }, button),
  );
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit(fields, options.fields(), button, box);
  });
  return form;
}

function makeFields(choices) {
  const { rules, directions, seeds, on_alarm } = choices;
  const strategies = choices.strategies.filter((strategy) => !strategy.needs_truth); // which no study knows
  const area = h("textarea", { rows: 21, spellcheck: "false", autocapitalize: "off" });
  const name = h("input", { type: "text", autocomplete: "off" });
  return {
    spec: textField("spec", area, "Problem", exampleOf(choices), SPEC_HINT),
    name: textField("study", name, "Name", "", "Left empty, the server picks one."),
    delta: numberField("delta", "Risk that you accept", "0.05", "0.05: wrong in 1 of 20 such studies, at most."),
    max_cost: numberField("budget", "Budget", "", "Left empty, there is no limit."),
    tolerance: numberField("tolerance", "Tolerance", "", "Left empty, it is 0."),
    audit: numberField("audit", "Audit", "", AUDIT_HINT),
    on_alarm: onAlarmField(on_alarm),
    direction: overrideField("direction", "Direction", directions, ""),
    seeds: overrideField("seeds", "Seeds", seeds, SEEDS_HINT),
    strategy: choiceField("strategy", "Strategy", strategies, "the cheapest that the problem allows"),
    stopping: choiceField("stopping", "Stopping rule", rules, "the proven rule that goes with the strategy"),
  };
}

/** Fields for the options of the strategy and the rule that are chosen: `fields()` are those shown, by name. */
function optionFields({ strategy, stopping }, choices) {
  const root = h("div", { class: "pair options" });
  let shown = {};
  const update = () => {
    const chosen = choices.strategies.find(({ name }) => name === strategy.input.value);
    const rule = choices.rules.find(({ name }) => name === stopping.input.value);
    const ownRule = chosen?.own_rule ?? false;
    stopping.root.hidden = ownRule;
    const options = [...(chosen?.options ?? []), ...(ownRule ? [] : (rule?.options ?? []))];
    shown = Object.fromEntries(options.map((option) => [option.name, optionField(option)]));
    root.replaceChildren(...Object.values(shown).map((field) => field.root));
  };
  for (const { input } of [strategy, stopping]) input.addEventListener("change", update);
  update();
  return { root, fields: () => shown };
}

function optionField({ name, default: usual }) {
  const hint = usual === null ? "There is no default: it must be given." : `Left empty, it is ${usual}.`;
  return numberField("option", `Option “${name}”`, "", hint, `new-option-${name}`);
}

// A field is {root, input, label, read(), complain(text)}, explained by the term `key`. read() gives what to send, undefined to
// leave it to the server.

export function textField(key, input, label, value, hint, id) {
  input.value = value;
  return field(key, input, label, hint, () => (input.value.trim() === "" ? undefined : input.value), id);
}

function numberField(key, label, value, hint, id) {
  const input = h("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
  input.value = value;
  const read = () => {
    if (input.value.trim() === "") return undefined;
    return readNumber(input.value);
  };
  return field(key, input, label, hint, read, id);
}

/** What the problem says, or one of these instead. */
function overrideField(key, label, names, hint) {
  const input = select([AS_STATED, ...names]);
  return field(key, input, label, hint, () => (input.value === AS_STATED ? undefined : input.value));
}

function onAlarmField(names) {
  const input = select(names);
  return field("onAlarm", input, "On an alarm", "Whether the study ends when its results contradict what was stated.", () => input.value);
}

/** One of several strategies or rules, or the server's choice; what is special about it is said below. */
function choiceField(key, label, choices, usual) {
  const all = [{ name: CHOSEN, summary: usual }, ...choices];
  const input = select(all.map(({ name }) => name));
  const made = field(key, input, label, " ", () => (input.value === CHOSEN ? undefined : input.value));
  const hint = made.root.querySelector(".hint");
  const update = () => setText(hint, describe(all.find(({ name }) => name === input.value)));
  input.addEventListener("change", update);
  update();
  return made;
}

const select = (names) => h("select", {}, ...names.map((name) => h("option", { value: name }, name)));

function describe({ summary, own_rule: ownRule, top_only: topOnly }) {
  const remarks = [topOnly && "evaluates at the top fidelity alone", ownRule && "stops by a rule of its own"];
  const text = [summary, ...remarks.filter(Boolean)].join("; ");
  return `${text[0].toUpperCase()}${text.slice(1)}.`;
}

function field(key, input, label, hint, read, id = `new-${key}`) {
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

async function submit(fields, options, button, box) {
  const all = { ...fields, ...options };
  for (const one of Object.values(all)) one.complain("");
  try {
    await attempt(button, box, async () => {
      const { name } = await createStudy(readSettings(fields, options));
      fields.name.input.value = ""; // taken now: the next study needs another
      location.hash = `#/study/${encodeURIComponent(name)}`;
    });
  } catch (error) {
    showFaults(all, box, error.faults ?? []);
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

function readSettings(fields, options) {
  const settings = readAll(fields);
  if (settings.delta === undefined) {
    const message = "Say the risk that you accept: 0.05, for example.";
    throw Object.assign(new Error(message), { faults: [{ field: "delta", message }] });
  }
  return { ...settings, spec: settings.spec ?? "", options: readAll(options) };
}

function readAll(fields) {
  const read = {};
  for (const [name, one] of Object.entries(fields)) {
    try {
      read[name] = one.read(); // JSON leaves undefined ones out
    } catch (error) {
      throw Object.assign(error, { faults: [{ field: name, message: error.message }] });
    }
  }
  return read;
}
