"""The letters of the page and what they mean, for readers who meet them first in a picture."""

from __future__ import annotations

from markupsafe import Markup

from thermorbm.report.labels import (
    ENTROPY,
    HEAT_CAPACITY,
    N_HIDDEN,
    PSEUDO_ENTROPY,
    PSEUDO_LIKELIHOOD,
    UPPER_EDGE,
    Label,
    text,
)
from thermorbm.report.run import Run

MACHINE = (
    ("$v_j$, $h_i$", "visible and hidden units, ±1; the visible ones are the spins of a configuration"),
    ("$N$, $n_v$", "number of spins"),
    (N_HIDDEN.tex, "number of hidden units of a machine"),
    ("$W_{ij}$", "weight between hidden unit $i$ and spin $j$; those of a hidden unit are its filter, those "
     "of a spin its inverse filter"),
    ("$b_j$, $c_i$", "biases, the fields on visible and on hidden units"),
    (r"$\mathcal{E}_\theta$", "visible energy: −ln of the weight that a machine gives a configuration"),
    (r"$\mathcal{E}_W$", "the same without biases"),
    ("ln $Z$", "logarithm of a machine's partition function"),
    ("NLL", "negative log-likelihood of held-out configurations, in nats"),
    (PSEUDO_LIKELIHOOD.tex, "pseudo-likelihood: −ln of the probability of a spin given all others, summed "
     "over spins; low is good"),
    (ENTROPY.tex, "entropy of the configurations, in nats"),
    (UPPER_EDGE.tex, "upper edge of the entropy, a bound from a machine and held-out configurations"),
    ("$m$, $m_h$", "mean of the spins of a configuration, and of a hidden layer"),
    ("$p_h$", "share of hidden units that point the way their filters ask for"),
    ("2.269(12)", "a value with one standard error in units of its last digits: 2.269 ± 0.012"),
)  # fmt: skip
UNKNOWN = (
    ("$J(r)$", "coupling of two spins at distance $r$ in −ln of the probability that a machine learned"),
)
ISING = (
    (PSEUDO_ENTROPY.tex, "pseudo-entropy: the pseudo-likelihood of the true model, never above the entropy"),
    (HEAT_CAPACITY.tex, "heat capacity"),
    (r"$J(r)\,T$", "coupling at distance $r$ that a machine learned, in units of the true one: 1 for "
     "neighbours"),
)  # fmt: skip


def symbol_rows(run: Run) -> list[tuple[Markup, Markup]]:
    """(symbol, meaning) of what this page speaks of."""
    control = run.results.study.control
    rows = [
        (run.control_label.html, text("{}, the parameter that is varied", control.name)),
        (run.critical_symbol.html, text("{} of the transition", control.name)),
    ]
    letters = (*MACHINE, *(ISING if run.speaks_of_paper else UNKNOWN))
    return [*rows, *((Label(symbol).html, Label(meaning).html) for symbol, meaning in letters)]
