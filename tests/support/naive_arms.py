"""Plain loops over all arms, for what `frugal` and the e-process know by tournaments and lists."""

from math import inf

from mfbai.stopping import e_process


def leader(model, work):
    """The first arm of the largest psi, the middle if that is an interval, that is not beaten."""
    arms = [a for a in range(len(work.psi_low)) if not model.beaten[a]]
    return max(arms, key=lambda a: work.psi_low[a] + work.psi_high[a])


def live(state, s):
    """The rivals that are not ruled out; all if there are none."""
    rivals = [j for j in range(len(state.gap)) if j != s]
    return [j for j in rivals if not e_process.ruled_out(state.rule, s, j, 0)] or rivals


def frugal_ask(model, stats, state, pending):
    """The cell of the largest rate: the leader's first, then by number."""
    s = int(state.leader[0])
    found, most = (s, 0), -1.0
    for m in range(pending.shape[1]):
        rate = state.total[m] * kept(stats, pending, s, m)
        if rate > most:
            found, most = (s, m), rate
    for j in range(len(pending)):
        rate = state.score[j] * kept(stats, pending, j, state.choice[j]) if not model.beaten[j] else -inf
        if rate > most:
            found, most = (j, int(state.choice[j])), rate
    return found


def kept(stats, pending, a, m):
    if pending[a, m] == 0:
        return 1.0
    share = (1.0 + stats.count[a, m]) / (1.0 + stats.count[a, m] + pending[a, m])
    return share * share
