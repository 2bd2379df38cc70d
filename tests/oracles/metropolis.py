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


REFUSAL_BITS = 4
FREE = 2**64 - 2 ** (64 - REFUSAL_BITS)  # the threshold of flips that cost nothing: 15/16


def draw_uniforms(generators, thresholds, first_bits):
    """One 64-bit uniform per replica, drawn from the top; bits that no replica needs are not drawn (left 0).

    generators: one per word of 64 replicas. thresholds: one integer per replica.
    """
    uniforms = [0] * (64 * len(generators))
    for bit in range(64):
        if bit >= first_bits and not _any_undecided(uniforms, thresholds, bit):
            break
        for index, generator in enumerate(generators):
            word = generator.word()
            for lane in range(64):
                uniforms[64 * index + lane] |= (word >> lane & 1) << (63 - bit)
    return uniforms


def _any_undecided(uniforms, thresholds, n_bits):
    """Whether the first n_bits leave some comparison open; free flips are decided after REFUSAL_BITS."""
    rest = 64 - n_bits
    return any(t != FREE and u >> rest == t >> rest for u, t in zip(uniforms, thresholds, strict=True))


def sweep(spins, lattice, acceptance, generators, order, first_bits):
    """One sweep in place. spins: replicas, each a list of +-1; acceptance: {cost: 64-bit threshold}."""
    for site in order:
        costs = [2 * s[site] * sum(s[n] for n in lattice.neighbours[site]) for s in spins]
        thresholds = [acceptance[cost] if cost > 0 else FREE for cost in costs]
        uniforms = draw_uniforms(generators, thresholds, first_bits)
        for replica, (u, threshold) in enumerate(zip(uniforms, thresholds, strict=True)):
            if u < threshold:
                spins[replica][site] *= -1


def sweep_terms(spins, terms, field, acceptance, generators, order, first_bits):
    """One sweep of any products of spins. terms: rows ((site, ...), J); acceptance(cost) -> threshold."""
    for site in order:
        own = [(sites, J) for sites, J in terms if site in sites]
        thresholds = []
        for replica in spins:
            cost = 2 * float(field[site]) * replica[site]
            for sites, J in own:
                product = 1
                for other in sites:
                    product *= replica[other]
                cost += 2 * J * product
            thresholds.append(acceptance(cost) if cost > 1e-9 else FREE)
        uniforms = draw_uniforms(generators, thresholds, first_bits)
        for replica, (u, threshold) in zip(spins, zip(uniforms, thresholds, strict=True), strict=True):
            if u < threshold:
                replica[site] *= -1
