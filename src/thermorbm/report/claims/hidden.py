"""Claims about hidden layers and generated configurations: table 1, figures 5 and 6."""

from __future__ import annotations

from itertools import pairwise

from markupsafe import Markup

from thermorbm.report.chart import landmarks, near_critical, smallest
from thermorbm.report.claims.kinds import FLAT, Answer, claim, listed, need
from thermorbm.report.labels import at, percent, short, size_label, with_error
from thermorbm.report.run import Family, Missing, Values, estimate, look, observation

NO_HIDDEN = "hidden layers were not looked at"
NO_GENERATION = "no configurations were generated"
CHAIN_STEPS = 16  # for which chains are followed


def sign_rule(family: Family) -> Answer:
    critical = need(family.critical, "T_c is not known")
    items = family.indicators()
    curve = need(look(items[0] if items else None, "curves", "sign_rule"), NO_HIDDEN)
    rows = list(zip(curve["x"], curve["values"], curve["errors"], strict=True))
    ordered = [
        (value - 3 * (error or 0)) > 0.5 for x, value, error in rows if x <= critical and value is not None
    ]
    told = [
        Markup("{} at {}").format(with_error(value, error), at(family.run, x).markup)
        for x, value, error in rows
        if x in landmarks(family) and value is not None
    ]
    if not ordered:
        raise Missing("there are no temperatures below T_c")
    return all(ordered), Markup("fraction {} ({})").format(
        Markup(", ").join(told), size_label(items[0]["n_hidden"]).markup
    )


def _magnetization(family: Family, n_hidden: int, value: float) -> Values:
    machine = family.machine("main", n_hidden, value)
    found = None if machine is None else look(observation(machine), "hidden", "magnetization")
    return need(found, NO_HIDDEN)


def mean_zero(family: Family) -> Answer:
    told, holds = [], True
    for value in landmarks(family):
        mean, error = need(estimate(_magnetization(family, smallest(family), value), "mean"), NO_HIDDEN)
        holds &= abs(mean) <= max(0.05, 4 * error)
        told.append(Markup("{} at {}").format(with_error(mean, error), at(family.run, value).markup))
    return holds, Markup("⟨<i>m</i><sub>h</sub>⟩ = {}").format(Markup(", ").join(told))


def bimodal_when_small(family: Family) -> Answer:
    value, n_hidden = near_critical(family), smallest(family)
    found = float(_magnetization(family, n_hidden, value)["bimodality"])
    return found > FLAT, Markup("Sarle's coefficient {} at {}, {}").format(
        short(found, 2), at(family.run, value).markup, size_label(n_hidden).markup
    )


def narrower(family: Family) -> Answer:
    value, sizes = near_critical(family), family.sizes()
    if len(sizes) < 2:
        raise Missing("there is one number of hidden units only")
    widths = [float(_magnetization(family, n, value)["variance"]) ** 0.5 for n in sizes]
    told = [
        Markup("{}: {}").format(size_label(n).markup, short(width, 3))
        for n, width in zip(sizes, widths, strict=True)
    ]
    falls = all(after < before for before, after in pairwise(widths))
    return falls, Markup("standard deviation {}").format(listed(told))


def _energy_errors(family: Family) -> list[tuple[float, float]]:
    """(value, relative error of the energy of one-step reconstructions) at the landmarks."""
    found = []
    for value in landmarks(family):
        machine = family.machine("main", smallest(family), value)
        seen = None if machine is None else observation(machine)
        made = need(estimate(seen, "generation", "magnetization", "energy_per_spin"), NO_GENERATION)
        row = next((row for row in family.data() if row["value"] == value), None)
        data = need(estimate(row, "thermal", "energy_per_spin"), "energies were not measured")
        found.append((value, abs(made[0] / data[0] - 1)))
    if len(found) < 3:
        raise Missing("fewer than three temperatures")
    return found


def _told(family: Family, errors: list[tuple[float, float]]) -> Markup:
    told = [
        Markup("{} at {}").format(percent(error), at(family.run, value).markup) for value, error in errors
    ]
    return Markup("energy off by {}").format(Markup(", ").join(told))


def good_at_ends(family: Family) -> Answer:
    errors = _energy_errors(family)
    return max(errors[0][1], errors[-1][1]) <= 0.05, _told(family, errors)


def worse_near(family: Family) -> Answer:
    errors = _energy_errors(family)
    return errors[1][1] > max(errors[0][1], errors[-1][1]), _told(family, errors)


def faster_from_p_h(family: Family) -> Answer:
    told, gained = [], []
    for value in landmarks(family):
        machine = family.machine("main", smallest(family), value)
        seen = None if machine is None else observation(machine)
        steps = need(look(seen, "generation", "steps_to_equilibrium"), "relaxation times were not measured")
        gained.append(steps["random"] - steps["p_h"])
        counts = [str(n) if n <= CHAIN_STEPS else f"more than {CHAIN_STEPS}" for n in steps.values()]
        told.append(Markup("{} at {}").format(" and ".join(counts), at(family.run, value).markup))
    holds = min(gained) >= 0 and max(gained) > 0
    return holds, Markup("steps from <i>p</i><sub>h</sub> and from random starts: {}").format(listed(told))


def permutation(family: Family) -> Answer:
    """Needs `hidden.permutation_difference`: the largest relative change of a visible energy."""
    value = near_critical(family)
    machine = family.machine("main", smallest(family), value)
    seen = None if machine is None else observation(machine)
    found = need(
        look(seen, "hidden", "permutation_difference"), "hidden units were not permuted in this study"
    )
    return found <= 1e-5, Markup("largest relative change of a visible energy {}").format(short(found, 2))


CLAIMS = (
    claim(
        "sign-rule",
        "Tab. 1",
        "sign(<i>h<sub>i</sub></i>) = sign(<i>m</i>) sign(Σ<sub>j</sub><i>W<sub>ij</sub></i>).",
        "more than half of the pairs obey it, by 3 standard errors, at every temperature below T_c",
        sign_rule,
    ),
    claim(
        "mh-mean",
        "Fig. 5",
        "The mean hidden magnetisation is zero.",
        "|mean| <= 0.05 or 4 standard errors below, near and above T_c",
        mean_zero,
    ),
    claim(
        "mh-bimodal",
        "Fig. 5",
        "Near <i>T</i><sub>c</sub> its distribution has two peaks for the smallest <i>n</i><sub>h</sub>.",
        "Sarle's coefficient above 5/9",
        bimodal_when_small,
    ),
    claim(
        "mh-narrower",
        "Fig. 5",
        "It gets narrower with <i>n</i><sub>h</sub>.",
        "the standard deviation near T_c falls from size to size",
        narrower,
    ),
    claim(
        "generation-ends",
        "Fig. 6",
        "One-step reconstructions are good at low and high temperature.",
        "their energy is within 5 % of the data's at the low and the high temperature",
        good_at_ends,
    ),
    claim(
        "generation-near",
        "Fig. 6",
        "They are worse near <i>T</i><sub>c</sub>.",
        "their energy is further off near T_c than at the low and the high temperature",
        worse_near,
    ),
    claim(
        "faster-start",
        "Text",
        "From <i>p</i><sub>h</sub>, Gibbs chains reach equilibrium in fewer steps than from random <i>h</i>.",
        "fewer steps somewhere and nowhere more, below, near and above T_c, until ⟨|m|⟩ stays within 0.02",
        faster_from_p_h,
    ),
    claim(
        "permutation",
        "Text",
        "Permuting hidden units changes nothing.",
        "visible energies agree within 1e-5 of themselves",
        permutation,
    ),
)
