"""What a browser without JavaScript shows: real and machine-made configurations as one picture per family."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from thermorbm.explorer.content import FamilyContent, Point
from thermorbm.report.style import data_uri

VALUES_SHOWN = 5
STEPS, SEED = 100, 1
LEAST_SIDE, GAP = 128, 6  # pixels


@dataclass(frozen=True)
class StaticPicture:
    """uri: a PNG as a data URI. words: what it shows, row by row."""

    family: str
    uri: str
    width: int
    height: int
    words: str


def static_pictures(families: Sequence[FamilyContent], symbol: str) -> list[StaticPicture]:
    """One picture for each family that has configurations."""
    return [picture for family in families if (picture := _family_picture(family, symbol)) is not None]


def _family_picture(family: FamilyContent, symbol: str) -> StaticPicture | None:
    points = [point for point in family.points if point.data is not None and len(point.data.spins)]
    if not points:
        return None
    chosen = [points[k] for k in np.unique(np.linspace(0, len(points) - 1, VALUES_SHOWN).round().astype(int))]
    rows = [[tile(spins, family.shape) for spins in _columns(family, point)] for point in chosen]
    image = Image.fromarray(_sheet(rows))
    values = ", ".join(f"{point.value:g}" for point in chosen)
    columns = ", ".join(["a real configuration", *family.kinds.values()])
    words = (
        f"Family {family.name}, rows from top to bottom: {symbol} = {values}. Columns: {columns}; those of "
        f"machines after {STEPS} Gibbs steps from random spins, grey where there is no machine."
    )
    content = io.BytesIO()
    image.save(content, format="PNG", optimize=True)
    return StaticPicture(family.name, data_uri(content.getvalue(), "image/png"), *image.size, words)


def _columns(family: FamilyContent, point: Point) -> Iterator[NDArray[np.int8]]:
    """A real configuration, then one of each kind of machine; zeros where there is none."""
    assert point.data is not None
    yield point.data.spins[0]
    for kind in family.kinds:
        shown = point.machines.get(kind)
        if shown is None or shown.load is None:
            yield np.zeros_like(point.data.spins[0])
            continue
        machine = shown.load()
        start = np.random.default_rng(SEED).choice(np.array([-1, 1], np.int8), (1, machine.n_visible))
        yield machine.gibbs(start, STEPS, SEED)[0]


def tile(spins: NDArray[np.int8], shape: tuple[int, ...] | None) -> NDArray[np.uint8]:
    """One configuration in grey: planes as they are, the layers of a cube side by side, others wrapped."""
    if shape is None or len(shape) < 2 or math.prod(shape) != spins.size:
        side = math.isqrt(spins.size - 1) + 1
        padded = np.zeros(side * side, np.int8)
        padded[: spins.size] = spins
        return _grey(padded.reshape(side, side))
    layers = spins.reshape(-1, *shape[-2:])
    across = math.isqrt(len(layers) - 1) + 1
    down = -(-len(layers) // across)
    sheet = np.zeros((down * (shape[-2] + 1) - 1, across * (shape[-1] + 1) - 1), np.int8)
    for index, layer in enumerate(layers):
        top, left = (index // across) * (shape[-2] + 1), (index % across) * (shape[-1] + 1)
        sheet[top : top + shape[-2], left : left + shape[-1]] = layer
    return _grey(sheet)


def _grey(spins: NDArray[np.int8]) -> NDArray[np.uint8]:
    """+1 black, -1 white, 0 (no spin) grey; each spin as many pixels as make the picture large enough."""
    scale = max(1, LEAST_SIDE // max(spins.shape))
    pixels = np.choose(spins + 1, [255, 160, 0]).astype(np.uint8)
    return np.repeat(np.repeat(pixels, scale, axis=0), scale, axis=1)


def _sheet(rows: Sequence[Sequence[NDArray[np.uint8]]]) -> NDArray[np.uint8]:
    """Tiles of one size in rows, grey between them."""
    height, width = rows[0][0].shape
    sheet = np.full((len(rows) * (height + GAP) + GAP, len(rows[0]) * (width + GAP) + GAP), 200, np.uint8)
    for down, row in enumerate(rows):
        for across, pixels in enumerate(row):
            top, left = GAP + down * (height + GAP), GAP + across * (width + GAP)
            sheet[top : top + height, left : left + width] = pixels
    return sheet
