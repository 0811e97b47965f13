// The trials of a journal, in columns: a row each, in the order they were asked for. Values that were added are none.

import { pythonFloat, Unreadable } from "./exact.js";

const UNDER_WAY = "under way";
const STEP = 50; // events

/** A column has a title, a text for people and one for CSV; those of numbers are sorted as numbers. */
export const COLUMNS = [
  { key: "trial", title: "trial", numeric: true },
  { key: "arm", title: "arm" },
  { key: "fidelity", title: "fidelity" },
  { key: "seed", title: "seed", numeric: true },
  { key: "value", title: "value", numeric: true },
  { key: "cost", title: "cost", numeric: true },
  { key: "asked", title: "asked", numeric: true },
  { key: "told", title: "told", numeric: true },
  { key: "worker", title: "worker" },
  { key: "state", title: "state" },
];

/** What the journal's first event says, as far as a table needs it. */
export function readProblem(first) {
  const { problem, fidelity: fidelities } = first.problem;
  const costs = fidelities.map(({ cost }) => cost);
  const places = new Map(fidelities.map(({ name }, m) => [name, m]));
  const costOf = (arm, m) => {
    const mixed = fidelities[m].controlled;
    if (mixed) return costOf(arm, fidelities.length - 1) + (1 + mixed.others) * costOf(arm, places.get(mixed.by));
    return Array.isArray(costs[m]) ? costs[m][arm] : costs[m];
  };
  return { key: first.key, arms: problem.arms, direction: problem.direction, fidelities, costOf };
}

/** For `inSlices`: reads the journal, and yields the trials as far as they are read; they go on growing. */
export function* readTrials(events, beside) {
  const trials = new Trials(readProblem(JSON.parse(events[0])), beside);
  for (let n = 1; n < events.length; n++) {
    trials.add(JSON.parse(events[n]));
    if (n % STEP === 0) yield trials;
  }
  return trials;
}

class Trials {
  constructor(problem, beside) {
    this.problem = problem;
    this.columns = Object.fromEntries(COLUMNS.map(({ key }) => [key, []]));
    this.length = 0;
    this.imported = 0; // values that were added
    this.cells = problem.arms.map(() => null); // of each arm and fidelity: {count, sum, cost}, of all values
    this.verdict = null;
    this.last = null; // when the last event happened
    this.workers = beside?.workers ?? [];
    this.workerOf = beside?.worker_of ?? [];
    this.rows = new Map(); // by the number of a trial that is under way
  }

  add(event) {
    this.last = event.at;
    if (event.kind === "ask") this.#ask(event);
    else if (event.kind === "tell") this.#close(event, this.verdict ? "late" : "told", event.value);
    else if (event.kind === "fail") this.#close(event, "failed", null);
    else if (event.kind === "add") {
      this.imported += event.values.length;
      for (const value of event.values) this.#count(event.arm, event.fidelity, value, 0);
    } else if (event.kind === "verdict") this.verdict = event;
  }

  #ask({ trial, arm, fidelity, seed, at }) {
    const { columns, problem } = this;
    this.rows.set(trial, this.length);
    columns.trial.push(trial);
    columns.arm.push(arm);
    columns.fidelity.push(fidelity);
    columns.seed.push(seed);
    columns.value.push(null);
    columns.cost.push(null);
    columns.asked.push(at);
    columns.told.push(null);
    columns.worker.push(this.workers[this.workerOf[trial - 1]] ?? "");
    columns.state.push(UNDER_WAY);
    if (!(arm < problem.arms.length && fidelity < problem.fidelities.length)) throw new Unreadable(`trial ${trial} is of no arm`);
    this.length += 1;
  }

  #close({ trial, at }, state, value) {
    const { columns } = this;
    const row = this.rows.get(trial);
    if (row === undefined) throw new Unreadable(`trial ${trial} was never asked for`);
    this.rows.delete(trial);
    const cost = value === null ? 0 : this.problem.costOf(columns.arm[row], columns.fidelity[row]);
    columns.value[row] = value;
    columns.cost[row] = cost;
    columns.told[row] = at;
    columns.state[row] = state;
    if (value !== null) this.#count(columns.arm[row], columns.fidelity[row], value, cost);
  }

  #count(arm, fidelity, value, cost) {
    this.cells[arm] ??= this.problem.fidelities.map(() => ({ count: 0, sum: 0, cost: 0 }));
    const cell = this.cells[arm][fidelity];
    cell.count += 1;
    cell.sum += value;
    cell.cost += cost;
  }

  arm(row) {
    return this.problem.arms[this.columns.arm[row]];
  }

  fidelity(row) {
    return this.problem.fidelities[this.columns.fidelity[row]].name;
  }

  /** The rows to show, in order: those that have every word of a search in their arm, fidelity, worker or state. */
  choose(search, state, by, descending) {
    const words = search.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const { columns } = this;
    const found = [];
    for (let row = 0; row < this.length; row++) {
      if (state !== "" && columns.state[row] !== state) continue;
      if (words.length === 0 || this.#has(row, words)) found.push(row);
    }
    if (by === "trial") return descending ? found.reverse() : found; // that is how they are kept
    const order = this.#orderOf(by);
    return found.sort((a, b) => (descending ? order(b, a) : order(a, b)) || a - b);
  }

  #has(row, words) {
    const text = `${this.arm(row)}\n${this.fidelity(row)}\n${this.columns.worker[row]}\n${this.columns.state[row]}`.toLowerCase();
    return words.every((word) => text.includes(word));
  }

  /** Numbers by size, what is missing first; arms and fidelities as the problem has them. */
  #orderOf(by) {
    const column = this.columns[by];
    if (by === "worker" || by === "state") return (a, b) => (column[a] < column[b] ? -1 : column[a] > column[b] ? 1 : 0);
    return (a, b) => (column[a] ?? -Infinity) - (column[b] ?? -Infinity) || 0;
  }

  /** For `inSlices`: the table as CSV, the same as `Study.to_csv` writes; yields it piece by piece. */
  *csv(rows, onText) {
    const { columns, problem } = this;
    onText(line(COLUMNS.map(({ key }) => key)));
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i];
      onText(
        line([
          `${columns.trial[row]}-${problem.key}`,
          this.arm(row),
          this.fidelity(row),
          String(columns.seed[row]),
          float(columns.value[row]),
          float(columns.cost[row]),
          time(columns.asked[row]),
          time(columns.told[row]),
          columns.worker[row],
          columns.state[row],
        ]),
      );
      if (i % STEP === 0) yield i;
    }
  }
}

const line = (cells) => `${cells.map((cell) => (/[",\r\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(",")}\r\n`;
const float = (value) => (value === null ? "" : pythonFloat(value));
const time = (at) => (at === null ? "" : new Date(Math.floor(1000 * at + 1e-3)).toISOString().replace("Z", "+00:00"));
