"""Texts with formulas, once for matplotlib and once for the page, and numbers as people write them."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup


@dataclass(frozen=True)
class Label:
    """tex: matplotlib's mathtext. html: the same for page and interactive curves."""

    tex: str
    html: str

    def __add__(self, other: Label | str) -> Label:
        more = plain(other) if isinstance(other, str) else other
        return Label(self.tex + more.tex, self.html + more.html)

    def __radd__(self, other: str) -> Label:
        return plain(other) + self

    def __html__(self) -> Markup:
        """What `Markup.format` and templates put in the place of a label."""
        return Markup(self.html)

    @property
    def markup(self) -> Markup:
        return Markup(self.html)


def plain(text: object) -> Label:
    """A label of somebody's text: nothing in it is markup."""
    letters = str(text)
    return Label(letters.replace("\\", "\\\\").replace("$", r"\$"), html.escape(letters))


NOTHING = plain("")
T = Label("$T$", "<i>T</i>")
TC = Label("$T_c$", "<i>T</i><sub>c</sub>")
N_HIDDEN = Label("$n_h$", "<i>n</i><sub>h</sub>")
N_VISIBLE = Label("$n_v$", "<i>n</i><sub>v</sub>")
ENTROPY = Label("$S$", "<i>S</i>")
PSEUDO_ENTROPY = Label(r"$\widetilde{S}$", "<i>S̃</i>")
PSEUDO_LIKELIHOOD = Label(r"$\widetilde{\mathcal{L}}$", "<i>L̃</i>")
UPPER_EDGE = Label(r"$S_\mathrm{up}$", "<i>S</i><sub>up</sub>")
PER_SPIN = Label("$/N$", "/<i>N</i>")
HEAT_CAPACITY = Label("$c_V$", "<i>c</i><sub>V</sub>")
SUSCEPTIBILITY = Label(r"$\chi_{|m|}$", "χ<sub>|m|</sub>")
ENERGY = Label(r"$\langle E\rangle/N$", "⟨<i>E</i>⟩/<i>N</i>")
ABS_MAGNETIZATION = Label(r"$\langle|m|\rangle$", "⟨|<i>m</i>|⟩")
VISIBLE_ENERGY = Label(r"$\mathcal{E}_\theta$", "ℰ<sub>θ</sub>")
VISIBLE_MEAN = Label(r"$\langle\mathcal{E}_\theta\rangle/N$", "⟨ℰ<sub>θ</sub>⟩/<i>N</i>")
VISIBLE_VARIANCE = Label(r"Var $\mathcal{E}_\theta/N$", "Var ℰ<sub>θ</sub>/<i>N</i>")
W = Label("$W_{ij}$", "<i>W<sub>ij</sub></i>")
B = Label("$b_j$", "<i>b<sub>j</sub></i>")
C = Label("$c_i$", "<i>c<sub>i</sub></i>")
FILTER_SUM = Label(r"$\Sigma_j W_{ij}/n_v$", "Σ<sub>j</sub> <i>W<sub>ij</sub></i>/<i>n</i><sub>v</sub>")
INVERSE_SUM = Label(r"$\Sigma_i W_{ij}/n_h$", "Σ<sub>i</sub> <i>W<sub>ij</sub></i>/<i>n</i><sub>h</sub>")
ABS_VARIANCE = Label(r"Var $|\Sigma_j W_{ij}|$", "Var |Σ<sub>j</sub> <i>W<sub>ij</sub></i>|")
P_HIDDEN = Label("$p_h$", "<i>p</i><sub>h</sub>")
DENSITY = plain("probability density")


def size_label(n_hidden: int) -> Label:
    return N_HIDDEN + f"\u00a0=\u00a0{n_hidden}"


def text(template: str, *values: object) -> Markup:
    """A template of our own with values in its places: labels and markup as they are, all else escaped."""
    return Markup(template).format(*values)


def list_with(word: str, pairs: Iterable[tuple[object, object]], between: str = ", ") -> Markup:
    """Pairs joined by a word or a sign, one after the other: 0.1 at T = 1, 0.2 at T = 2."""
    return Markup(between).join(text("{}" + word + "{}", first, second) for first, second in pairs)


def by_size(pairs: Iterable[tuple[int, object]]) -> Markup:
    """What is said of each number of hidden units: n_h = 4: 0.1; n_h = 9: 0.2."""
    return list_with(": ", [(size_label(n_hidden), words) for n_hidden, words in pairs], "; ")


def with_error(value: float, error: float | None) -> str:
    """2.2691(12): the error in units of the last two digits; six digits where there is no error."""
    if error is None or not math.isfinite(error) or error <= 0 or not math.isfinite(value):
        return short(value)
    digits = 1 - math.floor(math.log10(error))
    if digits > 0:
        scaled = round(error * 10**digits)
        shown = f"{scaled}" if error < 1 else f"{error:.{digits}f}"
        return f"{value:.{digits}f}({shown})".replace("-", "−")
    return f"{value:.0f}({error:.0f})".replace("-", "−")


def pair_cell(pair: tuple[float, float] | None, scale: float = 1) -> str:
    """A value and its error over a common scale; a dash for what is not known."""
    return "–" if pair is None else with_error(pair[0] / scale, pair[1] / scale)


def short(value: float | None, digits: int = 4) -> str:
    """Four significant digits, with a true minus sign; a dash for what is not known."""
    if value is None or not math.isfinite(value):
        return "–"
    letters = f"{value:.0f}" if 10 ** (digits - 1) <= abs(value) < 1e6 else f"{value:.{digits}g}"
    return letters.replace("-", "−")


def percent(value: float | None, signed: bool = False, digits: int = 2) -> str:
    """A share in per cent; a dash for what is not known."""
    if value is None:
        return "–"
    sign = "+" if signed else ""
    return f"{100 * value:{sign}.{digits}f}\u00a0%".replace("-", "−")
