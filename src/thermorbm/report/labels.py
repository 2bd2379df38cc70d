"""Texts with formulas, once for matplotlib and once for the page, and numbers as people write them."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

from markupsafe import Markup

from thermorbm.report.run import Run


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

    @property
    def markup(self) -> Markup:
        return Markup(self.html)


def plain(text: object) -> Label:
    """A label of somebody's text: nothing in it is markup."""
    known = str(text)
    return Label(known.replace("\\", "\\\\").replace("$", r"\$"), html.escape(known))


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
ENERGY = Label(r"$\langle E\rangle/N$", "⟨<i>E</i>⟩/<i>N</i>")
ABS_MAGNETIZATION = Label(r"$\langle|m|\rangle$", "⟨|<i>m</i>|⟩")
VISIBLE_ENERGY = Label(r"$\mathcal{E}_\theta$", "ℰ<sub>θ</sub>")
P_HIDDEN = Label("$p_h$", "<i>p</i><sub>h</sub>")
DENSITY = plain("probability density")


def control_label(run: Run) -> Label:
    """The axis of the control parameter, with its unit."""
    control = run.study.get("control") or {}
    symbol, unit = control_symbol(run), str(control.get("unit", ""))
    if unit == "J/k_B":
        unit_label = Label(r"$J/k_\mathrm{B}$", "<i>J</i>/<i>k</i><sub>B</sub>")
    else:
        unit_label = plain(unit)
    return symbol + " (" + unit_label + ")" if unit else symbol


def control_symbol(run: Run) -> Label:
    symbol = str((run.study.get("control") or {}).get("symbol", "T"))
    return T if symbol == "T" else plain(symbol)


def at(run: Run, value: float) -> Label:
    """T = 2.25."""
    return control_symbol(run) + f"\u00a0=\u00a0{value:g}"


def size_label(n_hidden: int) -> Label:
    return N_HIDDEN + f"\u00a0=\u00a0{n_hidden}"


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


def short(value: float | None, digits: int = 4) -> str:
    """Four significant digits, with a true minus sign; a dash for what is not known."""
    if value is None or not math.isfinite(value):
        return "–"
    text = f"{value:.0f}" if 10 ** (digits - 1) <= abs(value) < 1e6 else f"{value:.{digits}g}"
    return text.replace("-", "−")


def percent(value: float, signed: bool = False, digits: int = 2) -> str:
    sign = "+" if signed else ""
    return f"{100 * value:{sign}.{digits}f}\u00a0%".replace("-", "−")
