"""One evaluation: what a day of a call centre costs under one staffing plan, on average over a simulated quarter.

    python evaluate.py peaks quarter 7

People call to order or with a question, and hang up if nobody answers in time. Many of those try again the next day.
The seed makes the quarter: how busy it is, who calls when, about what, for how long, and how patient. The plan has no
part in that, so all plans meet the same callers at one seed. The fidelity "week" is the first week of that quarter.
"""

import sys
from typing import NamedTuple

import numpy as np
import simpy

DAYS = {"week": 5, "quarter": 60}  # that are simulated, for each fidelity
HOUR = 60.0  # times are in minutes after opening
CALLS = (14, 20, 30, 30, 22, 18, 24, 26, 20, 12)  # mean number in each hour of an average day
BUSYNESS = (0.8, 1.2)  # ends of the factor by which a quarter is busier than the average one

GO_HOME, ORDER, QUESTION = -1, 0, 1  # a sign for agents, and the kinds of calls: who is served first has less
ORDERS = 0.35  # share of the calls
TALK = (5.0, 7.0)  # mean length, by kind
TALK_SPREAD = 0.7  # standard deviation of its logarithm
PATIENCE = 4.0  # mean time after which a caller hangs up
AGAIN = 0.65  # share of the callers who try again the next day if nobody has answered

ANNOYED = 3.5  # cost of a caller who hangs up, and tries again
LOST = (20.0, 7.0)  # cost of one who does not, by kind
WAIT = 0.3  # cost of a minute that an answered caller has waited
WAGE = 18.0  # of an agent, an hour


class Team(NamedTuple):
    """Agents who answer one queue."""

    kinds: tuple[int, ...]  # of calls that it takes
    agents: tuple[int, ...]  # present in each hour
    orders_first: bool = False  # else first come, first served


BOTH = (ORDER, QUESTION)
PLANS = {
    "flat": [Team(BOTH, (4, 4, 4, 4, 4, 4, 4, 4, 4, 4))],
    "early": [Team(BOTH, (4, 5, 5, 5, 4, 3, 4, 4, 3, 3))],
    "late": [Team(BOTH, (3, 3, 4, 5, 5, 4, 4, 5, 4, 3))],
    "peaks": [Team(BOTH, (3, 4, 5, 5, 4, 3, 4, 5, 4, 3))],
    "orders-first": [Team(BOTH, (3, 4, 5, 5, 4, 3, 4, 5, 4, 3), orders_first=True)],
    "generous": [Team(BOTH, (3, 4, 6, 6, 4, 4, 5, 5, 4, 3))],
    "lean": [Team(BOTH, (2, 3, 4, 4, 3, 3, 3, 4, 3, 2), orders_first=True)],
    "split": [Team((ORDER,), (1, 2, 2, 2, 2, 1, 2, 2, 2, 1)), Team((QUESTION,), (2, 3, 4, 4, 3, 3, 3, 3, 3, 2))],
}


class Call(NamedTuple):
    """What a caller brings along, whatever the plan."""

    arrival: float
    kind: int
    talk: float
    patience: float
    again: float | None = None  # arrival on the next day, if nobody answers


def draw_days(seed, count):
    """The calls of each of the first days of a quarter. A day has random numbers of its own, however many there are."""
    quarter, *days = np.random.default_rng(seed).spawn(1 + max(DAYS.values()))
    busyness = quarter.uniform(*BUSYNESS)
    return [draw_day(day, busyness) for day in days[:count]]


def draw_day(day, busyness):
    """The calls, in order. Five streams of random numbers: a change of one part leaves the others alone."""
    arrivals, kinds, talks, patiences, returns = day.spawn(5)
    counts = arrivals.poisson(busyness * np.array(CALLS))
    arrival = np.sort(HOUR * (np.repeat(np.arange(len(CALLS)), counts) + arrivals.random(counts.sum())))
    kind = np.where(kinds.random(arrival.size) < ORDERS, ORDER, QUESTION)
    talk = np.array(TALK)[kind] * talks.lognormal(-(TALK_SPREAD**2) / 2, TALK_SPREAD, arrival.size)
    patience = patiences.exponential(PATIENCE, arrival.size)
    comes_back = returns.random(arrival.size) < AGAIN
    again = np.where(comes_back, HOUR * len(CALLS) * returns.random(arrival.size), None)
    columns = (arrival, kind, talk, patience, again)
    return [Call(*call) for call in zip(*(column.tolist() for column in columns), strict=True)]


def mean_cost(plan, days):
    """Of a day, over all of them: those who hang up on one may call again on the next."""
    total, back = 0.0, []
    for calls in days:
        cost, back = work_day(plan, sorted([*calls, *back]))
        total += cost
    return total / len(days)


def work_day(plan, calls):
    """What the day costs in wages, waiting, and callers who hang up; and the calls that come back on the next."""
    env = simpy.Environment()
    queues = {}
    answered = {}  # number of the call: how long it has waited
    for team in plan:
        queue = simpy.PriorityStore(env)
        queues |= dict.fromkeys(team.kinds, (queue, team.orders_first))
        env.process(roster(env, queue, team.agents, calls, answered))
    env.process(telephone(env, queues, calls))
    env.run()
    hung_up = [call for number, call in enumerate(calls) if number not in answered]
    wages = WAGE * sum(sum(team.agents) for team in plan)
    missed = sum(LOST[call.kind] if call.again is None else ANNOYED for call in hung_up)
    back = [call._replace(arrival=call.again) for call in hung_up if call.again is not None]
    return wages + WAIT * sum(answered.values()) + missed, back


def roster(env, queue, agents, calls, answered):
    """Bring in agents at the full hour, or send home those who are free next. At closing time all go."""
    present = 0
    for wanted in (*agents, 0):
        for _ in range(wanted - present):
            env.process(agent(env, queue, calls, answered))
        for _ in range(present - wanted):
            queue.put((GO_HOME, 0))
        present = wanted
        yield env.timeout(HOUR)


def telephone(env, queues, calls):
    """Put each caller into the queue of a team when the time has come."""
    for number, call in enumerate(calls):
        yield env.timeout(call.arrival - env.now)
        queue, orders_first = queues[call.kind]
        queue.put((call.kind if orders_first else ORDER, number))


def agent(env, queue, calls, answered):
    """Take the next caller who is still there, or go home."""
    while True:
        rank, number = yield queue.get()
        if rank == GO_HOME:
            return
        waited = env.now - calls[number].arrival
        if waited <= calls[number].patience:
            answered[number] = waited
            yield env.timeout(calls[number].talk)


def evaluate(arm, fidelity, seed):
    """For mfbai.identify."""
    return mean_cost(PLANS[arm], draw_days(seed, DAYS[fidelity]))


def main(arguments):
    if len(arguments) != 3:
        return fault("usage: python evaluate.py ARM FIDELITY SEED")
    arm, fidelity, seed = arguments
    if arm not in PLANS:
        return fault(f"no arm {arm!r}; known: {', '.join(PLANS)}")
    if fidelity not in DAYS:
        return fault(f"no fidelity {fidelity!r}; known: {', '.join(DAYS)}")
    print(evaluate(arm, fidelity, int(seed)))
    return 0


def fault(message):
    print(f"error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
