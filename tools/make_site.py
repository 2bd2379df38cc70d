"""Builds the documentation site in site/, offline and strict: a dead link or a missing name is an error.

    python tools/make_site.py [--no-code]

1. docs/ is copied to build/docs. Pages show pictures of results/, which lie beside docs/ in the repository:
   these are copied below it, links to them are written anew, and links to what is not part of the site become
   text. The lecture of examples/ becomes a page.
2. The code of tutorials runs (run_page.py), one page in a process; --no-code leaves it out.
3. Formulas become MathML, which browsers draw without a script.
4. mkdocs makes the pages.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from latex2mathml.converter import convert

ROOT = Path(__file__).parents[1]
BUILD, SITE = ROOT / "build" / "docs", ROOT / "site"
EXECUTED = ("first_steps.md", "howto.md", "tutorials/*.md")
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?:\.\./)+((?:results|examples|studies|tools)/[^)]+|[A-Z]+\.md)\)")
FORMULA = re.compile(r"\$\$(.+?)\$\$|(?<![\\$\w`])\$([^$\n`]+?)\$(?![\w$])", re.DOTALL)
CODE = re.compile(r"(^```.*?^```$|`[^`\n]+`)", re.DOTALL | re.MULTILINE)


def main(run_code=True, build=BUILD, site=SITE):
    shutil.rmtree(build, ignore_errors=True)
    shutil.copytree(ROOT / "docs", build)
    (build / "lecture.md").write_text(lecture_page(build), encoding="utf-8")
    if run_code:
        run_pages(build)
    for page in build.rglob("*.md"):
        text = LINK.sub(lambda link, page=page: _inside(link, page, build), page.read_text(encoding="utf-8"))
        page.write_text(with_formulas(text), encoding="utf-8")
    places = {"SITE_SOURCE": str(build), "SITE_TARGET": str(site), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"]
    subprocess.run(command, check=True, cwd=ROOT, env={**os.environ, **places})


def executed_pages():
    """Pages of docs/ whose code runs."""
    return [page for pattern in EXECUTED for page in sorted((ROOT / "docs").glob(pattern))]


def run_pages(build):
    """Runs all pages with code, as many at a time as there are cores; ends with their errors."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = [text for text in pool.map(lambda page: run_page(page, build), executed_pages()) if text]
    if problems:
        raise SystemExit("\n".join(problems))


def run_page(page, build):
    """Runs the code of one page into the build; gives what went wrong, or None."""
    target = build / page.relative_to(ROOT / "docs")
    command = [sys.executable, str(ROOT / "tools" / "run_page.py"), str(page), str(target)]
    done = subprocess.run(command, capture_output=True, text=True, env={"OMP_NUM_THREADS": "1", **os.environ})
    if done.returncode:
        print(f"{page.name} failed", flush=True)
        return f"the code of {page.relative_to(ROOT)} failed:\n{done.stderr}"
    print(done.stdout.strip(), flush=True)
    return None


def lecture_page(build):
    """The notebook of examples/ as a page, with the outputs that it was stored with."""
    notebook = json.loads((ROOT / "examples" / "lecture.ipynb").read_text(encoding="utf-8"))
    return "\n\n".join(_cell(number, cell, build) for number, cell in enumerate(notebook["cells"]))


def _cell(number, cell, build):
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    parts = [f"```python\n{source}\n```"]
    for place, output in enumerate(cell["outputs"]):
        if output["output_type"] == "stream":
            parts.append(f"```text\n{''.join(output['text']).rstrip()}\n```")
        else:
            name = f"lecture-{number}-{place}.png"
            (build / name).write_bytes(base64.b64decode(output["data"]["image/png"]))
            parts.append(f"![What this code draws]({name})")
    return "\n\n".join(parts)


def with_formulas(text):
    """Text with $formulas$ outside of code as MathML."""
    pieces = CODE.split(text)
    return "".join(piece if place % 2 else FORMULA.sub(_formula, piece) for place, piece in enumerate(pieces))


def _formula(match):
    """MathML, with a little room behind names of functions. What the converter does not know is an error."""
    block, inline = match.groups()
    formula = convert((block or inline).strip(), display="block" if block else "inline")
    if "\\" in formula:
        raise SystemExit(f"latex2mathml cannot write {match.group()}")
    formula = re.sub(r"<mi>(ln|cosh|tanh|exp)</mi>", r'<mi>\1</mi><mspace width="0.17em"/>', formula)
    return (
        formula if block else f"<span>{formula}</span>"
    )  # at the start of a line <math> would end the paragraph


def _inside(link, page, build):
    """The link with its target copied into the site, or its text alone."""
    mark, text, target = link.groups()
    file = ROOT / target.split("#")[0]
    if file.suffix not in (".png", ".svg", ".html", ".csv", ".json", ".toml", ".ipynb"):
        return text or f"`{target}`"
    copy = build / target.split("#")[0]
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)
    return f"{mark}[{text}]({Path(os.path.relpath(copy, page.parent)).as_posix()})"


if __name__ == "__main__":
    main(run_code="--no-code" not in sys.argv[1:])
