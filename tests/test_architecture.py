"""The pictures of docs/architecture.md are true: all files of a large room, and every arrow an import."""

import ast
import fnmatch
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "thermorbm"
TEXT = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
LARGE = 10  # a room with more files has a picture of all of them
NAMES = r"[\w/*]+(?:, [\w/*]+)*"


def files(room):
    return {
        path.relative_to(SOURCE / room).with_suffix("").as_posix()
        for path in (SOURCE / room).rglob("*.py")
        if path.name != "__init__.py"
    }


def rooms():
    return sorted(path.name for path in SOURCE.iterdir() if path.is_dir() and len(files(path.name)) > LARGE)


def section(room):
    """The text under "Inside ROOM", up to the next heading."""
    found = re.search(rf"^## Inside {room}\b.*?\n(.*?)(?=^## )", TEXT, re.DOTALL | re.MULTILINE)
    return found[1] if found else ""


def arrows(picture):
    """(from, to) for every arrow of the lines of a picture."""
    above, pairs = {}, []
    for line in picture:
        at, source = 0, []
        while at < len(line):
            hanging, direct = re.compile(r"[├└]──▶ ").match(line, at), re.compile(r" ──▶ ").match(line, at)
            names = re.compile(NAMES).match(line, at)
            if hanging:
                source, at = above[at], hanging.end()
            elif direct:
                at = direct.end()
            elif names and (at == 4 or line[at - 2] == "▶"):
                targets = names[0].split(", ")
                pairs += [(a, b) for a in source for b in targets]
                above.update(dict.fromkeys(range(at, names.end() + 1), targets))
                source, at = targets, names.end()
            elif line[at] in " │":
                at += 1
            else:
                break  # words
    return pairs


def imports(room, name):
    """Modules of the room that a module of it imports, also inside functions."""
    modules = set()
    for node in ast.walk(ast.parse((SOURCE / room / f"{name}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith(f"thermorbm.{room}"):
            base = node.module.removeprefix(f"thermorbm.{room}").strip(".").replace(".", "/")
            modules |= {base, *(f"{base}/{alias.name}".strip("/") for alias in node.names)}
    return modules


def matching(pattern, names):
    return [name for name in names if fnmatch.fnmatch(name, pattern)]


@pytest.mark.parametrize("room", rooms())
def test_every_file_is_in_the_picture(room):
    words = set(re.findall(r"[\w/*]+", section(room)))
    assert words, f'docs/architecture.md has no "Inside {room}"'
    patterns = [word for word in words if "*" in word]
    missing = [
        name
        for name in sorted(files(room))
        if name not in words and not any(fnmatch.fnmatch(name, pattern) for pattern in patterns)
    ]
    assert missing == [], f'docs/architecture.md, "Inside {room}", does not name these files'


@pytest.mark.parametrize("room", rooms())
def test_every_arrow_is_an_import(room):
    picture = [line for line in section(room).splitlines() if line.startswith("    ")]
    pairs, all_files = arrows(picture), files(room)
    assert len(pairs) > 3
    wrong = []
    for source, target in pairs:
        reached = {name for each in matching(source, all_files) for name in imports(room, each)}
        inside = matching(target, all_files)
        if not any(name in reached or name.split("/")[0] in reached for name in inside):
            wrong.append(f"{source} ──▶ {target}")
    assert wrong == []
