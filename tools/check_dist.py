"""Installs the wheel of dist/ into an empty environment and runs the code of the README there.

    python tools/check_dist.py

It takes some minutes, most of them to install.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]


def main() -> None:
    (wheel,) = (ROOT / "dist").glob("*.whl")
    with tempfile.TemporaryDirectory() as directory:
        place = Path(directory)
        venv.create(place / "env", with_pip=True)
        binaries = place / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        install = [
            binaries / "python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--constraint",
            ROOT / "constraints.txt",
        ]
        subprocess.run([*install, wheel], check=True)
        for example in examples():
            subprocess.run([binaries / "python", "-c", example], check=True, cwd=place)
        for arguments in (["--version"], ["init", "mine.toml"], ["run", "tiny", "--no-report"]):
            subprocess.run([binaries / "thermorbm", *arguments], check=True, cwd=place)
    print(f"{wheel.name} works in an empty environment")


def examples() -> list[str]:
    """The Python code of the README, block by block."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    main()
