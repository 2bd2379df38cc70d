"""Runs the code of a notebook from top to bottom and stores what it prints and draws.

    python tools/run_notebook.py examples/lecture.ipynb

Enough for notebooks of plain Python and matplotlib, without a Jupyter server.
"""

import base64
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from execution import picture, plt, run_python

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
        text, figures = run_python(source, space, f"cell {number}")
        outputs.append(_streams(text) + [_display(figure) for figure in figures])
        plt.close("all")
    return outputs


def _streams(text):
    return [{"output_type": "stream", "name": "stdout", "text": text.splitlines(True)}] if text else []


def _display(figure):
    data = base64.b64encode(picture(figure, "png", dpi=DPI)).decode()
    return {"output_type": "display_data", "data": {"image/png": data}, "metadata": {}}


def main(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    for number, (cell, outputs) in enumerate(zip(code_cells(notebook), run(notebook), strict=True), 1):
        cell.update(outputs=outputs, execution_count=number)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
