"""What a verdict can bear, by slow, obvious replays: the evaluations of a finished study once more, with the tilts that
they had and bias bounds that are s times as wide; and bisection for the largest s at which all rivals are ruled out."""

from collections import defaultdict
from math import inf, log, log1p

import numpy as np

from mfbai import Bounded, Gaussian, Problem, StudyOver, Symmetric, create_study
from mfbai.kernels.stats import ROOM, SEEDS, make_stats
from mfbai.run import loop
from mfbai.run.state import own_model
from support.naive_contrasts import SCALES, NaiveBooks, NaiveRounds, log1p_tanh, weights
from support.naive_e_values import Claims

DELTA = 0.05
MOST = 1000.0
KINDS = ("books", "e-process", "symmetric", "bounded", "common seeds")
FAMILIES = {"symmetric": Symmetric(-4.0, 5.0), "bounded": Bounded(-1.0, 2.0)}


def random_study(kind, number):
    """A finished study of random arms, whose biases are inside their bounds; the top is often worth its cost."""
    rng = np.random.default_rng([number, KINDS.index(kind)])
    K, M = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    tops = 0.3 * rng.random(K)
    tops[rng.integers(K)] += 0.4
    low, high = -0.15 * rng.random((K, M)), 0.15 * rng.random((K, M))
    low[:, -1], high[:, -1] = 0.0, 0.0
    deviation = rng.uniform(0.1, 0.3, (K, M))
    seeds = "common" if kind == "common seeds" else "independent"
    family = FAMILIES.get(kind, Gaussian(deviation**2))
    costs = np.sort(rng.uniform(0.4, 1.0, M))
    direction = str(rng.choice(["maximise", "minimise"]))
    if direction == "minimise":
        tops = -tops
    problem = Problem(K, costs, (low, high), family, direction=direction, seeds=seeds)
    strategy = "frugal" if kind == "e-process" else "race"
    study = create_study(problem, DELTA, storage="sqlite://", strategy=strategy)
    means = tops[:, None] + low + (high - low) * rng.random((K, M))
    while True:
        try:
            trial = study.ask()
        except StudyOver:
            return study
        shared = np.random.default_rng(trial.seed).normal() if seeds == "common" else rng.normal()
        luck = 0.8 * shared + 0.6 * rng.normal()
        cell = trial.arm_index, trial.fidelity_index
        value = means[cell] + deviation[cell] * luck
        study.tell(trial, float(np.clip(value, -1.0, 2.0) if kind == "bounded" else value))


def counted(study):
    """The evaluations of a study that was never asked for two at once: its `ask` events, with values."""
    bodies = [event.body for event in study.journal()]
    values = {body["trial"]: body["value"] for body in bodies if body["kind"] == "tell"}
    return [{**body, "value": values[body["trial"]]} for body in bodies if body["kind"] == "ask"]


def wider(problem, s):
    low, high = problem.bias_low, problem.bias_high
    return problem.replace(biases=(low - (s - 1) * abs(low), high + (s - 1) * abs(high)))


def tilts(study):
    """What the strategy had written into its books before each evaluation: the leader, shares and tilts."""
    parts = study.settings.parts
    state, model = parts.make_state(), own_model(parts.model)
    records = make_stats(model.cost.shape), state, parts.make_rule(state), loop.make_outcome(1)
    for body in counted(study):
        books = state.rule
        yield int(books.leader[0]), books.share.copy(), books.tilt.copy()
        loop.step(model, *records, body["arm"], body["fidelity"], study.problem.sign * body["value"])


class NotedRounds(NaiveRounds):
    """Keeps what its bets consist of."""

    def __init__(self, problem, deltas):
        super().__init__(problem, deltas)
        self.noted = defaultdict(list)  # rival: (leader, its fidelity, the rival's, tilt, difference)

    def bet(self, row, s, m, x, ns, j, k, y, nj, ratio):
        self.noted[j].append((s, m, k, self.tilt(s, m, ns, j, k, nj, ratio), x - y))
        super().bet(row, s, m, x, ns, j, k, y, nj, ratio)


def noted_rounds(study):
    rounds = defaultdict(list)
    for body in counted(study):
        place = body["seed_number"]
        rounds[place // SEEDS].append((place % SEEDS, body["arm"], body["fidelity"], body["part"], body["value"]))
    naive = NotedRounds(study.problem, [DELTA])
    for entries in rounds.values():
        missing = -entries[0][3] % ROOM - len(entries)
        naive.round([*entries, *[(1, 0, 0, 1, None)] * missing])
    return naive


def capital(naive, j, low, high, only=None):
    """The most that the bets against j ever made, in nats; of `only` those between these fidelities."""
    logs, most = np.zeros(len(SCALES)), 0.0
    for s, m, k, tilt, difference in naive.noted[j]:
        if only is not None and not {m, k} <= only:
            continue
        y = difference - high[s, m] + low[j, k]
        largest = 0.99 / (naive.most[k] - naive.least[m] + high[s, m] - low[j, k]) if naive.bounded else inf
        for n, scale in enumerate(SCALES):
            bet = min(scale * tilt, largest) * y
            logs[n] += log1p(bet) if naive.bounded else log1p_tanh(bet)
        top = max(0.0, logs.max())
        most = max(most, top + log(0.02 * np.exp(-top) + (weights(3.0) * np.exp(logs - top)).sum()))
    return most


def stands_by_books(study, given, s):
    naive = NaiveBooks(wider(study.problem, s), [DELTA])
    for body, (leader, share, tilt) in zip(counted(study), given, strict=True):
        naive.observe(body["arm"], body["fidelity"], body["value"], leader, share, tilt)
    return naive.proven[0], naive.targets[0]


def stands_by_rounds(study, naive, s):
    problem = wider(study.problem, s)
    low, high = problem.bias_low, problem.bias_high
    low, high = (low, high) if problem.sign > 0 else (-high, -low)
    return np.array([capital(naive, j, low, high) for j in range(problem.n_arms)]), naive.targets[0]


def stands_by_statistics(study, s):
    status, problem = study.status(), wider(study.problem, s)
    claims = Claims(problem, status.counts, np.nan_to_num(status.means))
    answer = study.result.arm_index
    found = [inf if j == answer else claims.least_pair(answer, j) for j in range(problem.n_arms)]
    return np.array(found), log((problem.n_arms - 1) / DELTA)


def breakdown(study, kind):
    """Infinite if no value of a biased cell counted."""
    if not study.status().counts[:, :-1].any():
        return inf
    if kind == "books":
        given = list(tilts(study))
        evidence = lambda s: stands_by_books(study, given, s)  # noqa: E731
    elif kind == "e-process":
        evidence = lambda s: stands_by_statistics(study, s)  # noqa: E731
    else:
        naive = noted_rounds(study)
        evidence = lambda s: stands_by_rounds(study, naive, s)  # noqa: E731

    def stands(s):
        found, target = evidence(s)
        return (np.delete(found, study.result.arm_index) >= target).all()

    if not stands(1.0):
        assert kind == "e-process"  # where a rival can be out by an earlier proof
        return 1.0
    if stands(MOST):
        return MOST
    low, high = 1.0, MOST
    while high / low > 1.0003:
        middle = np.sqrt(low * high)
        low, high = (middle, high) if stands(middle) else (low, middle)
    return low


def untrusted(study, kind):
    """The risk of the answer, from the top alone."""
    status, problem, answer = study.status(), study.problem, study.result.arm_index
    counts = status.counts.copy()
    if not counts[:, :-1].any():
        return status.risk
    rivals = [j for j in range(problem.n_arms) if j != answer]
    if kind in ("books", "e-process"):
        counts[:, :-1] = 0
        claims, tests = Claims(problem, counts, np.nan_to_num(status.means)), len(rivals)
        seen = [counts[j, -1] > 0 < counts[answer, -1] for j in rivals]
        least = min(claims.least_pair(answer, j) if known else 0.0 for j, known in zip(rivals, seen, strict=True))
    else:
        naive, nothing, tests = noted_rounds(study), np.zeros(problem.shape), 1
        least = min(capital(naive, j, nothing, nothing, {problem.n_fidelities - 1}) for j in rivals)
    return min(tests * np.exp(-least), 1.0)
