"""Whether two runs found the same: compares their `results.json` number by number.

    python tools/compare_results.py BEFORE AFTER

BEFORE, AFTER: run directories or `results.json` files. Timings, versions and the hashes in file names are
left out, and so is what only AFTER has; everything else must be equal to the last bit. Exit code 1 if it is
not.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

LEFT_OUT = {"timings", "versions", "format"}
HASH = re.compile(r"-[0-9a-f]{16}\b")
MOST_SHOWN = 40


def main(before: Path, after: Path) -> int:
    first, second = (_read(path) for path in (before, after))
    differences = list(compare(first, second, ""))
    for line in differences[:MOST_SHOWN]:
        print(line)
    n_numbers = sum(1 for _ in _leaves(first))
    print(f"{len(differences)} differences in {n_numbers} values of {before}")
    return 1 if differences else 0


def compare(before: Any, after: Any, path: str) -> Iterator[str]:
    """A line for every place at which the two differ."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            if not path and key in LEFT_OUT:
                continue
            if key in after:
                yield from compare(value, after[key], f"{path}.{key}")
            elif value is not None:
                yield f"{path}.{key}: {_short(value)} is missing"
    elif isinstance(before, list) and isinstance(after, list):
        if len(before) != len(after):
            yield f"{path}: {len(before)} entries became {len(after)}"
        for place, (one, other) in enumerate(zip(before, after, strict=False)):
            yield from compare(one, other, f"{path}[{place}]")
    elif _plain(before) != _plain(after):
        yield f"{path}: {_short(before)} became {_short(after)}"


def _read(path: Path) -> Any:
    return json.loads((path / "results.json" if path.is_dir() else path).read_text())


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _leaves(item)
    else:
        yield value


def _plain(value: Any) -> Any:
    return HASH.sub("", value) if isinstance(value, str) else value


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else text[:60] + " ..."


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
