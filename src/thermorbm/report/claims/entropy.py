"""Claims about pseudo-likelihood, entropy and pseudo-entropy: figure 8, appendix A, and the supplement."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.chart import NO_MACHINES, smallest
from thermorbm.report.claims.kinds import NOWHERE_HIGHER, Answer, claim, falls_with_size, listed, need
from thermorbm.report.labels import at, percent, short, size_label, with_error
from thermorbm.report.run import Family, Missing, Values, estimate, look
from thermorbm.report.thermodynamics import entropies

NO_LIKELIHOOD = "pseudo-likelihoods were not computed"
Curve = dict[float, float]


def _curve(item: Values | None, name: str = "pseudo_likelihood_per_spin") -> Curve:
    found = need(look(item, "curves", name), NO_LIKELIHOOD)
    return {x: y for x, y in zip(found["x"], found["values"], strict=True) if y is not None}


def _by_size(family: Family, role: str = "main") -> dict[int, Curve]:
    items = family.indicators(role)
    if not items:
        raise Missing(NO_MACHINES[role])
    return {item["n_hidden"]: _curve(item) for item in items}


def _common(*curves: Curve) -> list[float]:
    return sorted(set.intersection(*(set(curve) for curve in curves)))


def likelihood_falls(family: Family) -> Answer:
    return falls_with_size(family, "pseudo_likelihood_per_spin", NO_LIKELIHOOD)


def union_above(family: Family) -> Answer:
    union, single = _by_size(family, "union"), _by_size(family)
    sizes = [n for n in union if n in single]
    if not sizes:
        raise Missing("no size is common to both kinds of machines")
    told, holds = [], True
    for n in sizes:
        common = _common(union[n], single[n])
        above = [x for x in common if union[n][x] > single[n][x]]
        mean = sum(union[n][x] - single[n][x] for x in common) / len(common)
        holds &= len(above) == len(common)
        told.append(
            Markup("{}: at {} of {} temperatures, by {} per spin on average").format(
                size_label(n).markup, len(above), len(common), short(mean, 2)
            )
        )
    return holds, listed(told)


def smallest_nearest(family: Family) -> Answer:
    """Root mean square distance of L~ from S over all temperatures, for each size."""
    found, entropy = _by_size(family), need(entropies(family), "the entropy is not known")
    if len(found) < 2:
        raise Missing("there is one number of hidden units only")
    distances = {}
    for n, curve in found.items():
        common = _common(curve, entropy)
        if not common:
            raise Missing("the entropy is not known at these temperatures")
        distances[n] = (sum((curve[x] - entropy[x]) ** 2 for x in common) / len(common)) ** 0.5
    told = [Markup("{}: {}").format(size_label(n).markup, short(d, 3)) for n, d in distances.items()]
    best = min(distances, key=lambda n: distances[n])
    return best == min(distances), Markup("root mean square distance from <i>S</i> per spin {}").format(
        listed(told)
    )


def pseudo_entropy_below(family: Family) -> Answer:
    entropy = need(entropies(family), "the entropy is not known")
    known = need(
        look(family.thermodynamics, "curves", "pseudo_entropy_per_spin"), "pseudo-entropies were not computed"
    )
    rows = [
        (entropy[x] - y, error or 0.0, x)
        for x, y, error in zip(known["x"], known["values"], known["errors"], strict=True)
        if x in entropy and y is not None
    ]
    if not rows:
        raise Missing("the entropy is not known at these temperatures")
    good = [gap > -2 * error for gap, error, _ in rows]
    gap, error, x = max(rows)
    return all(good), Markup(
        "at {} of {} temperatures within 2 errors; largest gap {} per spin at {}"
    ).format(sum(good), len(good), with_error(gap, error), at(family.run, x).markup)


def integration_agrees(family: Family) -> Answer:
    """S from T = 0 minus S from T = infinity; the same at every temperature."""
    gap = need(
        estimate(family.thermodynamics, "entropy", "mismatch"), "no energies were measured for integration"
    )
    return abs(gap[0]) <= max(3 * gap[1], 1e-4), Markup("they differ by {} per spin").format(with_error(*gap))


def zero_bias_same(family: Family) -> Answer:
    n = smallest(family, "zero-bias")
    without, with_biases = _by_size(family, "zero-bias")[n], _by_size(family).get(n)
    usual = need(with_biases, NO_MACHINES["main"])
    common = _common(without, usual)
    rows = [(abs(without[x] / usual[x] - 1), x) for x in common if usual[x]]
    if not rows:
        raise Missing("no temperature is common to both kinds of machines")
    worst, x = max(rows)
    return worst <= 0.05, Markup("<i>L̃</i> differs by at most {}, at {} ({})").format(
        percent(worst), at(family.run, x).markup, size_label(n).markup
    )


def reconstruction_improves(family: Family) -> Answer:
    return falls_with_size(family, "cross_entropy", NO_LIKELIHOOD)


def enumeration(family: Family) -> Answer:
    raise Missing("a study does not test it; the test suite compares each with enumeration of tiny machines")


CLAIMS = (
    claim(
        "likelihood-size",
        "Fig. 8",
        "<i>L̃</i> falls with <i>n</i><sub>h</sub>.",
        NOWHERE_HIGHER,
        likelihood_falls,
    ),
    claim(
        "likelihood-union",
        "Fig. 8",
        "<i>L̃</i> of all-temperature machines is above that of single-temperature ones.",
        "at every temperature, for each common size",
        union_above,
    ),
    claim(
        "nearest-entropy",
        "Text",
        "The smallest <i>n</i><sub>h</sub> gives the <i>L̃</i> nearest to <i>S</i>.",
        "smallest root mean square distance over all temperatures",
        smallest_nearest,
    ),
    claim(
        "pseudo-entropy",
        "Text",
        "<i>S̃</i> &lt; <i>S</i>.",
        "at no temperature above S by more than 2 standard errors",
        pseudo_entropy_below,
    ),
    claim(
        "integration",
        "App. A",
        "Integration from <i>T</i> = 0 and from <i>T</i> = ∞ gives the same entropy.",
        "difference within 3 standard errors or 1e-4 per spin",
        integration_agrees,
    ),
    claim(
        "enumeration",
        "App. B, C",
        "Visible energy, conditionals, gradients, KL, CE, CD-<i>k</i> and PCD-<i>k</i> are as derived.",
        "each against brute-force enumeration on tiny machines",
        enumeration,
    ),
    claim(
        "zero-bias",
        "Supp.",
        "Machines without biases give the same physics.",
        "L~ within 5 % at every common temperature",
        zero_bias_same,
    ),
    claim(
        "reconstruction",
        "Supp.",
        "The reconstruction error falls with <i>n</i><sub>h</sub>.",
        "cross entropy: " + NOWHERE_HIGHER,
        reconstruction_improves,
    ),
)
