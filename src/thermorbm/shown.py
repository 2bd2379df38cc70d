"""How things are shown: objects in notebooks as a small table, text without what steers a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape


def html_table(title: str, facts: Mapping[str, object]) -> str:
    """HTML of a title and of names with values; a value of None is left out."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(_text(value))}</td></tr>"
        for name, value in facts.items()
        if value is not None
    )
    return f"<div><b>{escape(title)}</b><table>{rows}</table></div>"


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def visible(text: str) -> str:
    """The same with \\x1b and the like for characters that steer a terminal; names in files may hold them."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
