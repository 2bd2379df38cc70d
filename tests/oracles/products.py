"""Slow, obvious energies of products of spins: one term at a time."""

import itertools


def energy(terms, field, configuration):
    """terms: rows ((site, site, ...), J) -> -sum J prod s - sum h s of one configuration."""
    total = -sum(float(h) * int(s) for h, s in zip(field, configuration, strict=True))
    for sites, coupling in terms:
        product = 1
        for site in sites:
            product *= int(configuration[site])
        total -= coupling * product
    return total


def terms_of(hamiltonian):
    """Rows ((site, ...), J) of a Hamiltonian."""
    return [
        (tuple(sites), coupling)
        for terms in hamiltonian.terms
        for sites, coupling in zip(terms.sites.tolist(), terms.couplings.tolist(), strict=True)
    ]


def lowest_energy(hamiltonian):
    """By trying all configurations."""
    terms, field = terms_of(hamiltonian), hamiltonian.field
    states = itertools.product((-1, 1), repeat=hamiltonian.n_sites)
    return min(energy(terms, field, state) for state in states)
