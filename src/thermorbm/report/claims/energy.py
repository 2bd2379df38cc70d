"""Claims about the visible energy: figure 7 and the remarks beside it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from markupsafe import Markup

from thermorbm.report.chart import near_critical, smallest
from thermorbm.report.claims.kinds import NOWHERE_HIGHER, Answer, claim, falls_with_size, need
from thermorbm.report.labels import at, percent, short, size_label, with_error
from thermorbm.report.run import Family, Missing, Values, estimate, look, observation

NO_ENERGY = "visible energies were not computed"
Point = tuple[float, float, float]


def mean_curve(item: Values) -> list[Point]:
    """(value, mean visible energy per spin, error)."""
    curve = need(look(item, "curves", "visible_energy_mean_per_spin"), NO_ENERGY)
    return list(zip(curve["x"], curve["values"], curve["errors"], strict=True))


def _items(family: Family, least: int = 1) -> list[Values]:
    items = family.indicators()
    if len(items) < least:
        raise Missing("there is one number of hidden units only" if items else NO_ENERGY)
    return items


def falls(points: list[Point]) -> list[tuple[float, float]]:
    """(value, step) wherever a curve goes down by more than two standard errors."""
    return [
        (x1, y1 - y0)
        for (_, y0, e0), (x1, y1, e1) in pairwise(points)
        if y1 - y0 < -2 * ((e0 or 0) ** 2 + (e1 or 0) ** 2) ** 0.5
    ]


def _shape(family: Family, item: Values) -> tuple[bool, Markup]:
    points = mean_curve(item)
    if len(points) < 3:
        raise Missing("fewer than three temperatures")
    drops = falls(points)
    ends = f"{short(points[0][1], 3)} to {short(points[-1][1], 3)} per spin"
    if not drops:
        return True, Markup("{}: rises all the way, {}").format(size_label(item["n_hidden"]).markup, ends)
    worst, step = min(drops, key=lambda drop: drop[1])
    return False, Markup("{}: {}, but falls {} times, most before {} (by {})").format(
        size_label(item["n_hidden"]).markup, ends, len(drops), at(family.run, worst).markup, short(-step, 2)
    )


def mean_rises(family: Family) -> Answer:
    return _shape(family, _items(family)[0])


def largest_not_monotone(family: Family) -> Answer:
    rises, told = _shape(family, _items(family, least=2)[-1])
    return not rises, told


def mean_falls(family: Family) -> Answer:
    return falls_with_size(family, "visible_energy_mean_per_spin", NO_ENERGY)


def _approximation(name: str) -> Callable[[Family], Answer]:
    def check(family: Family) -> Answer:
        rows = []
        for machine in family.machines("main", smallest(family)):
            known = look(observation(machine), "visible_energy")
            full = estimate(known, "train", "mean")
            other = look(known, name) if name == "all_up" else (estimate(known, name, "mean") or (None,))[0]
            if full is not None and other is not None and full[0] != 0:
                rows.append((abs(float(other) / full[0] - 1), machine["value"]))
        if not rows:
            raise Missing(NO_ENERGY)
        worst, value = max(rows)
        return worst <= 0.1, Markup("off by at most {}, at {} ({})").format(
            percent(worst), at(family.run, value).markup, size_label(smallest(family)).markup
        )

    return check


def overfitting(family: Family) -> Answer:
    """Whether the largest machines give held-out configurations higher visible energies."""
    value, sizes = near_critical(family), family.sizes()
    machine = family.machine("main", sizes[-1], value)
    known = None if machine is None else look(observation(machine), "visible_energy")
    train, held_out = (need(estimate(known, part, "mean"), NO_ENERGY) for part in ("train", "held_out"))
    gap, error = held_out[0] - train[0], (held_out[1] ** 2 + train[1] ** 2) ** 0.5
    return gap > 3 * error, Markup("held-out minus training mean {} nats at {}, {}").format(
        with_error(gap, error), at(family.run, value).markup, size_label(sizes[-1]).markup
    )


CLAIMS = (
    claim(
        "energy-rises",
        "Fig. 7",
        "The mean visible energy rises with temperature.",
        "no step down by more than 2 standard errors, smallest machines",
        mean_rises,
    ),
    claim(
        "energy-zero-bias",
        "Fig. 7",
        "ℰ<sub>W</sub>(<i>v</i>), without biases, is close to ℰ<sub>θ</sub>.",
        "means within 10 % at every temperature, smallest machines",
        _approximation("zero_bias"),
    ),
    claim(
        "energy-absolute",
        "Fig. 7",
        "ℰ̃<sub>W</sub>(<i>v</i>), with absolute values, is close to ℰ<sub>θ</sub>.",
        "means within 10 % at every temperature, smallest machines",
        _approximation("absolute"),
    ),
    claim(
        "energy-all-up",
        "Fig. 7",
        "ℰ̃<sub>W</sub>(<b>1</b>), all spins up, is close to ℰ<sub>θ</sub>.",
        "within 10 % of the mean at every temperature, smallest machines",
        _approximation("all_up"),
    ),
    claim(
        "energy-size",
        "Text",
        "The mean visible energy falls with <i>n</i><sub>h</sub>.",
        NOWHERE_HIGHER,
        mean_falls,
    ),
    claim(
        "energy-largest",
        "Text",
        "At the largest <i>n</i><sub>h</sub> it does not rise monotonically with temperature.",
        "a step down by more than 2 standard errors",
        largest_not_monotone,
    ),
    claim(
        "overfitting",
        "Text",
        "The largest machines overfit, which may be why their curves look odd.",
        "near T_c their visible energy of held-out configurations is above that of training ones by 3 "
        "standard errors",
        overfitting,
    ),
)
