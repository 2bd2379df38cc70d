"""Formulas as TeX once: what matplotlib's mathtext draws, as HTML for the page."""

from __future__ import annotations

import html
import re

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
