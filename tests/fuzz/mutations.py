"""Inputs that are nearly right: bytes and texts with random damage, and values out of all kinds."""

import math
import random
import re

from thermorbm.storage import FORMAT, FORMAT_VERSION, HEADER_SIZE, _checksum

VALUES = [
    "0", "-1", "1", "2", "1e400", "-0.0", "nan", "inf", "-inf", "1_000_000_000_000", "9999999999999999999999",
    "true", '""', '"x"', '"../../etc/passwd"', '"\\u0000"', '"<script>alert(1)</script>"', "[]", "[[]]",
    "[0.1, 0.2, 0.2]", "[nan]", "{}", "{a = 1}", "{from = 1, to = 2, count = 3}", "[1, 2]", "1e-320",
    "{from = 1, to = 1e9, count = 999}", "1979-05-27", "0x7f", "'''\n'''", "[true]", '["a", 1]', "0.1", "64",
    '"64x64"', "[64, 64]", "[2, 0]",
]  # fmt: skip
JSON_VALUES = [
    None, True, 0, -1, 1.5, 2**70, math.inf, math.nan, "", "x", "\0", [], [1], [[1, 2], [3]], {}, {"a": 1},
]  # fmt: skip
NAMES = ["name", "seed", "x", ""]


def damaged(content: bytes, draw: random.Random) -> bytes:
    """One to three random changes: bits, cuts, copies, insertions."""
    changed = bytearray(content)
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(len(changed) + 1)
        length = draw.choice([1, 1, 2, 4, 8, 64])
        match draw.randrange(6):
            case 0 if changed:
                changed[place - 1] ^= 1 << draw.randrange(8)
            case 1:
                del changed[place:]
            case 2:
                del changed[place : place + length]
            case 3:
                changed[place:place] = draw.randbytes(length)
            case 4:
                changed[place : place + length] = draw.choice([b"\0", b"\xff", b"\x7f"]) * length
            case _:
                source = draw.randrange(len(changed) + 1)
                changed[place:place] = changed[source : source + length]
    return bytes(changed)


def seal(path, kind: str) -> None:
    """Writes the header of a file of ours anew, with the checksum of what is there."""
    with open(path, "r+b") as file:
        header = f"{FORMAT} {FORMAT_VERSION} {kind} sha256 {_checksum(file, kind)}\n".encode()
        file.seek(0)
        file.write(header.ljust(HEADER_SIZE, b"\0"))


def rewritten(text: str, draw: random.Random) -> str:
    """A TOML text with lines lost or doubled and values replaced; now and then damaged byte by byte."""
    lines = text.splitlines()
    for _ in range(draw.randint(1, 4)):
        place = draw.randrange(len(lines))
        match draw.randrange(6):
            case 0:
                del lines[place]
            case 1:
                lines.insert(draw.randrange(len(lines) + 1), lines[place])
            case 2 | 3 | 4:
                lines[place] = re.sub(r"= .*", lambda _: f"= {draw.choice(VALUES)}", lines[place])
            case _:
                lines[place] = re.sub(
                    r"\w+ =", lambda _: f"{draw.choice(['name', 'seed', 'x', ''])} =", lines[place]
                )
        lines = lines or [""]
    found = "\n".join(lines)
    if draw.random() < 0.1:
        found = damaged(found.encode(), draw).decode(errors="replace")
    return found


def strange(value: object, draw: random.Random) -> object:
    """Parsed JSON with some pieces replaced, lost or renamed."""
    if draw.random() < 0.05:
        return draw.choice(JSON_VALUES)
    if isinstance(value, dict):
        kept = {key: strange(item, draw) for key, item in value.items() if draw.random() > 0.03}
        return kept if draw.random() > 0.03 else {**kept, "unknown": 1}
    if isinstance(value, list):
        return [strange(item, draw) for item in value]
    return value
