"""Runs the code of a notebook from top to bottom and stores what it prints and draws.

    python tools/run_notebook.py examples/lecture.ipynb

Enough for notebooks of plain Python and matplotlib, without a Jupyter server.
"""

import base64
import contextlib
import io
import json
import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

DPI = 80


def code_cells(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def run(notebook, replacements=None):
    """Runs all code cells in one namespace, after replacing texts in them; gives their outputs."""
    space, outputs = {"__name__": "__main__"}, []
    for number, cell in enumerate(code_cells(notebook), 1):
        source = "".join(cell["source"])
        for old, new in (replacements or {}).items():
            source = source.replace(old, new)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(source, f"cell {number}", "exec"), space)
        outputs.append(_streams(printed.getvalue()) + [_picture(figure) for figure in _figures()])
        plt.close("all")
    return outputs


def _streams(text):
    return [{"output_type": "stream", "name": "stdout", "text": text.splitlines(True)}] if text else []


def _figures():
    return [plt.figure(number) for number in plt.get_fignums()]


def _picture(figure):
    target = io.BytesIO()
    figure.savefig(target, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
    data = base64.b64encode(target.getvalue()).decode()
    return {"output_type": "display_data", "data": {"image/png": data}, "metadata": {}}


def main(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for number, (cell, found) in enumerate(zip(code_cells(notebook), run(notebook), strict=True), 1):
        cell.update(outputs=found, execution_count=number)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
