"""The page "Which game strategy?": points by hand, chances against theory, whole games of known dice, shared luck."""

import numpy as np
import pytest


@pytest.fixture(scope="module")
def game(definitions):
    return definitions("game")


def table(throws):
    """As `luck` makes it, of one game: what the dice show in each round and throw."""
    shown = np.array(throws)[None] - 1
    codes = np.zeros((*shown.shape[:-1], 6), dtype=int)
    codes[..., 1:] = np.cumsum(6**shown, axis=-1)
    return codes


def always(face):
    return [[face] * 5] * 3


@pytest.mark.parametrize(
    ("dice", "upper", "lower"),
    [
        # three of a kind, four of a kind, full house, small straight, large straight, yahtzee, chance
        ((1, 1, 1, 1, 1), [5, 0, 0, 0, 0, 0], [5, 5, 0, 0, 0, 50, 5]),
        ((2, 2, 2, 5, 5), [0, 6, 0, 0, 10, 0], [16, 0, 25, 0, 0, 0, 16]),
        ((3, 3, 6, 6, 6), [0, 0, 6, 0, 0, 18], [24, 0, 25, 0, 0, 0, 24]),
        ((4, 4, 4, 4, 6), [0, 0, 0, 16, 0, 6], [22, 22, 0, 0, 0, 0, 22]),
        ((1, 2, 3, 4, 5), [1, 2, 3, 4, 5, 0], [0, 0, 0, 30, 40, 0, 15]),
        ((2, 3, 4, 5, 6), [0, 2, 3, 4, 5, 6], [0, 0, 0, 30, 40, 0, 20]),
        ((1, 3, 4, 5, 6), [1, 0, 3, 4, 5, 6], [0, 0, 0, 30, 0, 0, 19]),
        ((1, 2, 3, 3, 4), [1, 2, 6, 4, 0, 0], [0, 0, 0, 30, 0, 0, 13]),
        ((1, 2, 3, 5, 6), [1, 2, 3, 0, 5, 6], [0, 0, 0, 0, 0, 0, 17]),
        ((2, 2, 4, 4, 6), [0, 4, 0, 8, 0, 6], [0, 0, 0, 0, 0, 0, 18]),
    ],
)
def test_points_by_hand(game, dice, upper, lower):
    assert game.points(dice) == upper + lower


def test_chances_of_a_throw(game):
    """They add up to one; and of five free dice, 6 in 6^5 throws are five of a kind, 240 in 6^5 a large straight."""
    odds = game.chances()
    assert odds.sum(axis=1) == pytest.approx(np.ones(462))
    all_free = odds[game.KEPT.index(())]
    assert all_free[game.FIVE > 0].sum() == pytest.approx(6 / 6**5)
    assert all_free[game.POINTS[:, game.BOXES.index("large straight")] > 0].sum() == pytest.approx(240 / 6**5)


def test_aims_are_worth_what_theory_says(game):
    """Re-rolled dice show a face once in three throws with 1 - (5/6)^3. One die is worth 14/3 if it may be thrown three
    times: keep 5 and 6 at first, 4 too in the second. And five of a kind come with a probability of 4.6029 %."""
    expected = dict(zip(game.BOXES, game.PAR, strict=True))
    for face, name in enumerate(game.SIX, start=1):
        assert expected[name] == pytest.approx(5 * face * (1 - (5 / 6) ** 3))
    assert expected["chance"] == pytest.approx(5 * 14 / 3)
    assert expected["yahtzee"] == pytest.approx(50 * yahtzee_chance())


def yahtzee_chance():
    """By the largest number of equal dice, which are kept: a Markov chain of three throws."""
    step = np.zeros((6, 6))  # from the number kept to the number after a throw
    for shown in np.ndindex(*[6] * 5):
        step[0, max(shown.count(face) for face in range(6))] += 1 / 6**5
    for kept in range(1, 6):
        for shown in np.ndindex(*[6] * (5 - kept)):
            more = [shown.count(face) for face in range(6)]
            step[kept, max(kept + more[0], *more)] += 1 / 6 ** (5 - kept)
    step[1] = step[0]  # one of each: throw all again
    return np.linalg.matrix_power(step, 3)[0, 5]


def test_those_who_chase_get_as_many_yahtzees_as_they_can(game):
    """In the first of 20,000 games' rounds. Within 4.5 standard errors: by luck, one test in 100,000 fails."""
    (after,) = game.play(game.STRATEGIES["yahtzees"], game.luck(1, 20_000), 1)
    chance = yahtzee_chance()
    assert (after == 50).mean() == pytest.approx(chance, abs=4.5 * np.sqrt(chance * (1 - chance) / after.size))


def test_those_who_aim_at_a_box_get_its_par(game):
    """In one round, each box: within 4.5 standard errors of 20,000 games."""
    for number, expected in enumerate(game.PAR):
        (after,) = game.play(lambda worth, left, aim=number: np.eye(13)[aim] + 0 * worth, game.luck(2, 20_000), 1)
        assert after.mean() == pytest.approx(expected, abs=4.5 * after.std() / np.sqrt(after.size))


def test_the_best_game_of_all(game):
    """Thirteen yahtzees, so that each further one is at home: 105 + 35 above, 185 + 50 below, and 1,200."""
    codes = table([always(6), *(always(face) for face in range(1, 7)), *[always(6)] * 6])
    assert game.play(game.STRATEGIES["greedy"], codes, 13)[-1].tolist() == [1575]
    assert game.problem.family.high == 1575


def test_jokers_by_hand(game):
    """Sixes only: yahtzee, sixes (30), straights (40, 30), kinds and chance (90), house (25), and five zeros."""
    after = game.play(game.STRATEGIES["greedy"], table([always(6)] * 13), 13)[:, 0]
    assert np.diff(after, prepend=0).tolist() == [50, 130, 140, 130, 130, 130, 130, 125, *[100] * 5]


def test_a_yahtzee_crossed_out_earns_no_more(game):
    """Nothing in round 1, booked as yahtzee; a yahtzee of ones later has its five points and no hundred."""

    def cross_out(worth, left):
        return 100 * (np.arange(13) == game.YAHTZEE) + 10 * (np.arange(13) == 0) + 0 * worth

    mixed = [[1, 2, 3, 4, 6], [6, 5, 4, 3, 2], [6, 5, 4, 3, 2]]
    after = game.play(cross_out, table([mixed, always(1)]), 2)[:, 0]
    assert after.tolist() == [0, 5]


@pytest.mark.parametrize(("ones", "points"), [(3, 63 + 35), (2, 62)])
def test_the_bonus_needs_63_points(game, ones, points):
    """Three of each face make exactly as many."""

    def show(face, count):
        others = [other for other in range(1, 7) if other != face]
        rest = others[: 5 - count]
        return [[face] * count + rest, others, others]

    rounds = [show(face, 3) for face in range(2, 7)] + [show(1, ones)]

    def in_turn(worth, left):  # sixes last
        return -np.array([6, 1, 2, 3, 4, 5, *[9] * 7]) + 0 * worth

    assert game.play(in_turn, table(rounds), 6)[-1].tolist() == [points]


@pytest.mark.parametrize("name", ["greedy", "bonus", "yahtzees", "lower first"])
def test_an_opening_is_the_beginning_of_its_game(game, name):
    codes = game.luck(3, 50)
    whole = game.play(game.STRATEGIES[name], codes, 13)
    assert (game.play(game.STRATEGIES[name], codes, 4) == whole[:4]).all()
    assert game.evaluate(name, "opening", 3) == game.play(game.STRATEGIES[name], game.luck(3, game.GAMES), 4)[3].mean()


def test_every_strategy_fills_every_box_once(game):
    """Points of a game never fall, and stay below the most there is."""
    for strategy in game.STRATEGIES.values():
        after = game.play(strategy, game.luck(4, 200), 13)
        assert (np.diff(after, axis=0) >= 0).all()
        assert (after[-1] <= 1575).all()


def test_a_seed_means_the_same_dice_for_all(game):
    """Two that choose alike have the same games; and those that do not share some luck."""
    codes = game.luck(5, 300)
    greedy, bonus = (game.play(game.STRATEGIES[name], codes, 13) for name in ("greedy", "bonus"))
    scaled = game.play(lambda worth, left: 3 * worth, codes, 13)
    assert (scaled == greedy).all()
    assert (greedy[0] == bonus[0]).any()
    assert np.corrcoef(greedy[-1], bonus[-1])[0, 1] > 0.2
    assert game.evaluate("bonus", "game", 5) == game.evaluate("bonus", "game", 5) != game.evaluate("bonus", "game", 6)


def test_the_opening_misleads(game):
    """Greedy is ahead after four rounds and behind after thirteen, by more than ten standard errors each."""
    codes = game.luck(6, 4_000)
    ahead = game.play(game.STRATEGIES["greedy"], codes, 13) - game.play(game.STRATEGIES["bonus"], codes, 13)
    scores = ahead.mean(axis=1) / (ahead.std(axis=1) / np.sqrt(4_000))
    assert scores[3] > 10
    assert scores[12] < -10
