"""Texts with formulas, once for matplotlib and once for the page, and numbers as people write them."""

from __future__ import annotations

import html
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from markupsafe import Markup

from thermorbm.study.quantities import QUANTITIES

SYMBOLS = {
    "langle": "⟨", "rangle": "⟩", "theta": "θ", "chi": "χ", "beta": "β", "gamma": "γ", "nu": "ν",
    "sigma": "σ", "Sigma": "Σ", "Delta": "Δ", "sum": "∑", "infty": "∞", "leq": "≤", "geq": "≥", "approx": "≈",
    "times": "×", "cdot": "·", "pm": "±", "ell": "ℓ", ",": " ", ";": " ",
}  # fmt: skip
LETTERS = {" ": "", "-": "−", "'": "′", "=": " = "}
SCRIPT = {"E": "ℰ", "L": "<i>L</i>"}  # a calligraphic L is missing from many fonts
TILDE = "\u0303"
TOKEN = re.compile(r"\\[A-Za-z]+|\\.|[{}_^]|.", re.DOTALL)


def to_html(text: str) -> str:
    """Text with formulas between dollar signs, as HTML: "$T_c$" becomes "<i>T</i><sub>c</sub>"."""
    parts = re.split(r"(?<!\\)\$", text)
    return "".join(
        _formula(part) if place % 2 else html.escape(part.replace(r"\$", "$").replace("\\\\", "\\"))
        for place, part in enumerate(parts)
    )


def _formula(tex: str) -> str:
    tokens = TOKEN.findall(tex)
    written = ""
    while tokens:
        if tokens[0] in "_^":
            mark = "sub" if tokens.pop(0) == "_" else "sup"
            written += f"<{mark}>{_without_italics(_next(tokens))}</{mark}>"
        else:
            written += _next(tokens)
    return written


def _next(tokens: list[str]) -> str:
    """The HTML of the next letter, group or command, which is taken from the tokens."""
    token = tokens.pop(0)
    if token == "{":
        return _formula("".join(_group(tokens)))
    if token == r"\mathrm":
        return _without_italics(_next(tokens))
    if token == r"\mathcal":
        letter = _without_italics(_next(tokens))
        return SCRIPT.get(letter, letter)
    if token in (r"\widetilde", r"\tilde"):
        inner = _next(tokens)
        return inner[: -len("</i>")] + TILDE + "</i>" if inner.endswith("</i>") else inner + TILDE
    if token.startswith("\\"):
        return SYMBOLS.get(token[1:], token[1:])
    return f"<i>{token}</i>" if token.isalpha() else LETTERS.get(token, html.escape(token))


def _group(tokens: list[str]) -> list[str]:
    """The tokens up to the bracket that closes the group."""
    depth, inner = 1, list[str]()
    while tokens:
        token = tokens.pop(0)
        depth += (token == "{") - (token == "}")
        if not depth:
            break
        inner.append(token)
    return inner


def _without_italics(text: str) -> str:
    return text.replace("<i>", "").replace("</i>", "")


class Measured(Protocol):
    """A value with its standard error."""

    @property
    def value(self) -> float: ...
    @property
    def error(self) -> float: ...


@dataclass(frozen=True)
class Label:
    """tex: text with formulas between dollar signs, for matplotlib. html: the same for the page."""

    tex: str

    def __add__(self, other: Label | str) -> Label:
        return Label(self.tex + (plain(other) if isinstance(other, str) else other).tex)

    def __radd__(self, other: str) -> Label:
        return plain(other) + self

    @property
    def html(self) -> Markup:
        return Markup(to_html(self.tex))

    @property
    def n_letters(self) -> int:
        """How many letters wide it is, roughly."""
        return len(self.html.striptags())

    def __html__(self) -> Markup:
        """What `Markup.format` and templates put in the place of a label."""
        return self.html


def plain(text: object) -> Label:
    """A label of somebody's text: nothing in it is markup."""
    return Label(str(text).replace("\\", "\\\\").replace("$", r"\$"))


def symbol(quantity: str) -> Label:
    """The symbol of a quantity by its name."""
    return Label(QUANTITIES[quantity].tex)


def axis(quantity: str) -> Label:
    """The label of an axis for a quantity by its name."""
    return Label(QUANTITIES[quantity].axis)


NOTHING = plain("")
T, TC = Label("$T$"), Label("$T_c$")
N_HIDDEN = Label("$n_h$")
PER_SPIN = Label("$/N$")
ENTROPY, PSEUDO_ENTROPY = symbol("entropy_per_spin"), symbol("pseudo_entropy_per_spin")
UPPER_EDGE, HEAT_CAPACITY = symbol("entropy_upper_per_spin"), symbol("heat_capacity_per_spin")
PSEUDO_LIKELIHOOD = symbol("pseudo_likelihood_per_spin")
# By the names of their moments in the results.
WEIGHTS = {
    "W": Label("$W_{ij}$"),
    "b": Label("$b_j$"),
    "c": Label("$c_i$"),
    "filter_sums": Label(r"$\Sigma_j W_{ij}/n_v$"),
    "inverse_filter_sums": Label(r"$\Sigma_i W_{ij}/n_h$"),
}
DENSITY = plain("probability density")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
FORMULA = re.compile(r"\$[^$]+\$")


def size_label(n_hidden: int) -> Label:
    return N_HIDDEN + f"\u00a0=\u00a0{n_hidden}"


def text(template: str, *values: object) -> Markup:
    """A template of our own with values in its places: labels and markup as they are, all else escaped.

    The template may hold markup, and formulas between dollar signs.
    """
    return Markup(FORMULA.sub(lambda formula: to_html(formula[0]), template)).format(*values)


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


def cell(measured: Measured | None, scale: float = 1) -> str:
    """A value and its error over a common scale; a dash for what is not known."""
    return "–" if measured is None else with_error(measured.value / scale, measured.error / scale)


def short(value: float | None, digits: int = 4) -> str:
    """Four significant digits, 2·10⁻⁵ for small ones; a dash for what is not known."""
    if value is None or not math.isfinite(value):
        return "–"
    letters = f"{value:.0f}" if 10 ** (digits - 1) <= abs(value) < 1e6 else f"{value:.{digits}g}"
    factor, e, power = letters.partition("e")
    return factor.replace("-", "−") + (f"·{power_of_ten(int(power))}" if e else "")


def power_of_ten(power: int) -> str:
    """10⁻⁵ for -5."""
    return "10" + str(power).translate(RAISED)


def percent(value: float | None, signed: bool = False, digits: int = 2) -> str:
    """A share in per cent; a dash for what is not known."""
    if value is None:
        return "–"
    sign = "+" if signed else ""
    return f"{100 * value:{sign}.{digits}f}\u00a0%".replace("-", "−")
