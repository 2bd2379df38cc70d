"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from thermorbm.report.drawing import Shown
from thermorbm.report.interactive import Spec
from thermorbm.report.style import DPI
from thermorbm.report.tables import Table


@dataclass(frozen=True, eq=False)
class Section:
    id: str
    title: str
    charts: Sequence[Shown]
    left_out: Sequence[str]
    tables: Sequence[Table] = ()


def render(panels: dict[str, Spec], **context: Any) -> str:
    """The page as text. panels: what plotly draws, by id."""
    environment = Environment(
        loader=PackageLoader("thermorbm.report"), autoescape=True, undefined=StrictUndefined
    )
    return environment.get_template("report.html").render(
        style=Markup(_resource("report.css")),
        script=Markup(_resource("report.js")),
        plotly=Markup(plotly_source()),
        dpi=DPI,
        panel_data=Markup(script_json(panels)),
        **context,
    )


def _resource(name: str) -> str:
    return (files("thermorbm.report") / "templates" / name).read_text(encoding="utf-8")


def plotly_source() -> str:
    """plotly.js as the Python package brings it; only the full bundle is there."""
    return (files("plotly") / "package_data" / "plotly.min.js").read_text(encoding="utf-8")


def script_json(value: Any) -> str:
    """JSON that may stand inside a script element, whatever texts it holds."""
    text = json.dumps(value, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
