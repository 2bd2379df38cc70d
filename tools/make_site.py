"""Builds the documentation site in site/, offline and strict: a dead link or a missing name is an error.

    python tools/make_site.py

Pages of docs/ show pictures of results/, which lie beside docs/ in the repository. They are copied below one
directory, and links to them are written anew; links to what is not part of the site become text.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
BUILD = ROOT / "build" / "docs"
LINK = re.compile(r"(!?)\[([^\]]*)\]\(\.\./([^)]+)\)")


def main() -> None:
    shutil.rmtree(BUILD, ignore_errors=True)
    shutil.copytree(ROOT / "docs", BUILD)
    for page in BUILD.glob("*.md"):
        page.write_text(LINK.sub(_inside, page.read_text(encoding="utf-8")), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet"], check=True, cwd=ROOT)


def _inside(link: re.Match[str]) -> str:
    """The link with its target copied into the site, or its text alone."""
    mark, text, target = link.groups()
    file = ROOT / target.split("#")[0]
    if file.suffix not in (".png", ".svg", ".html", ".csv", ".json", ".toml"):
        return text or f"`{target}`"
    copy = BUILD / target.split("#")[0]
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(file, copy)
    return f"{mark}[{text}]({target})"


if __name__ == "__main__":
    main()
