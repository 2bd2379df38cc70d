"""The multispin sweep, one replica and one integer at a time."""

from __future__ import annotations

MASK = 2**64 - 1


def rotate(x: int, places: int) -> int:
    return ((x << places) | (x >> (64 - places))) & MASK


class Xoroshiro:
    """xoroshiro128++ on Python integers."""

    def __init__(self, first: int, second: int) -> None:
        self.first, self.second = int(first), int(second)

    def word(self) -> int:
        first, second = self.first, self.second
        word = (rotate((first + second) & MASK, 17) + first) & MASK
        second ^= first
        self.first = rotate(first, 49) ^ second ^ ((second << 21) & MASK)
        self.second = rotate(second, 28)
        return word


def draw_uniforms(generators, thresholds, first_bits):
    """One 64-bit uniform per replica, drawn from the top; bits that no replica needs are not drawn (left 0).

    generators: one per word of 64 replicas. thresholds: one integer per replica, None where none is needed.
    """
    uniforms = [0] * (64 * len(generators))
    for bit in range(64):
        prefix = 63 - bit + 1
        undecided = any(
            t is not None and u >> prefix == t >> prefix for u, t in zip(uniforms, thresholds, strict=True)
        )
        if bit >= first_bits and not undecided:
            break
        for index, generator in enumerate(generators):
            word = generator.word()
            for lane in range(64):
                uniforms[64 * index + lane] |= (word >> lane & 1) << (63 - bit)
    return uniforms


def sweep(spins, lattice, acceptance, generators, lottery, order, first_bits):
    """One sweep in place. spins: replicas, each a list of +-1; acceptance: {cost: 64-bit threshold}."""
    skip = 0
    for place, site in enumerate(order):
        if place % 64 == 0:
            skip = lottery.word() & lottery.word() & lottery.word() & lottery.word()
        left_out, skip = skip & 1, skip >> 1
        if left_out:
            continue
        costs = [2 * s[site] * sum(s[n] for n in lattice.neighbours[site]) for s in spins]
        thresholds = [acceptance[cost] if cost > 0 else None for cost in costs]
        uniforms = draw_uniforms(generators, thresholds, first_bits)
        for replica, (u, threshold) in enumerate(zip(uniforms, thresholds, strict=True)):
            if threshold is None or u < threshold:
                spins[replica][site] *= -1
