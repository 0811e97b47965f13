"""The picture of docs/guides/is_it_for_me.md: a ladder of questions, and where a no leads."""

from pathlib import Path

from matplotlib.patches import FancyBboxPatch

from mfbai.plots import style

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "is_it_for_me.png"
STEPS = (
    ("Can you list the alternatives,\nand test each at least once?", "Bayesian optimisation;\nthen the short list"),
    ("Do repeated tests give\ndifferent values?", "Test each once"),
    ("Does a test cost something?", "Test each very often"),
    ("Can you choose the next test\nafter seeing results?", "A fixed sample, a t-test;\nan A/B-testing tool"),
    ("Do you want to know the risk\nof being wrong?", "Successive halving"),
    ("Cheap tests, or no smallest\ndifference that you can name?", "Kim-Nelson's procedure"),
)


def main() -> None:
    with style.figure(PICTURE, (6.0, 6.4)) as drawn:
        axes = drawn.subplots()
        axes.set(xlim=(-0.6, 100.6), ylim=(-(len(STEPS) + 0.42), 0.42))
        axes.axis("off")

        def box(x: float, y: float, width: float, text: str, colour: str) -> None:
            edge = {"boxstyle": "round,pad=0,rounding_size=1.5", "mutation_aspect": 0.06}
            axes.add_patch(
                FancyBboxPatch((x, y - 0.29), width, 0.58, facecolor="white", edgecolor=colour, linewidth=1.8, **edge)
            )
            axes.text(x + width / 2, y, text, ha="center", va="center", fontsize=11)

        def arrow(start: tuple[float, float], end: tuple[float, float], colour: str) -> None:
            axes.annotate("", end, start, arrowprops={"arrowstyle": "-|>", "color": colour, "linewidth": 1.8})

        for number, (question, elsewhere) in enumerate(STEPS):
            arrow((24, -number - 0.29), (24, -number - 0.71), style.GREEN)
            arrow((48, -number), (57, -number), style.RED)
            axes.text(26, -number - 0.5, "yes", color=style.GREEN, va="center", fontsize=11)
            axes.text(52, -number + 0.13, "no", color=style.RED, ha="center", fontsize=11)
            box(0, -number, 48, question, style.BLUE)
            box(57, -number, 43, elsewhere, style.RED)
        box(0, -len(STEPS), 48, "mfbai: see what to take", style.GREEN)


if __name__ == "__main__":
    main()
