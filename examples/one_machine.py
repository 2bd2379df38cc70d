"""One machine, shown configurations of all temperatures and never told any, finds the critical one.

A five-minute tour of the Python interface; it takes less than a minute on two cores.

    python examples/one_machine.py
"""

import numpy as np

import thermorbm as tr
from thermorbm.estimators import peak
from thermorbm.stats import variance_estimate

TEMPERATURES = (1.0, 1.5, 1.75, 2.0, 2.1, 2.2, 2.25, 2.3, 2.35, 2.4, 2.5, 2.75, 3.0, 3.5)


def main(side=32, n_samples=2000, n_hidden=64, temperatures=TEMPERATURES, **changes):
    """The estimate of T_c. changes: fields of the training recipe."""
    # Configurations at every temperature, each set with a certificate.
    lattice = tr.Lattice((side, side))
    datasets = {T: tr.sample(lattice, temperature=T, n_samples=n_samples, seed=1) for T in temperatures}
    assert all(data.certificate.passed for data in datasets.values())

    # One restricted Boltzmann machine for all of them together. Their order has no one strength that a unit
    # could carry from the start, so that all weights start at random.
    everything = np.concatenate([data.spins() for data in datasets.values()])
    shuffled = np.random.default_rng(1).permutation(everything)
    data = tr.Dataset.from_spins(shuffled, lattice=lattice)
    rbm = tr.train(data, n_hidden=n_hidden, seed=1, **{"start": "glorot", **changes}).rbm

    # Its energy of configurations fluctuates most at the transition, as the Hamiltonian does.
    print("   T   energy/N     exact   Var E_theta/N")
    variances = []
    for T, data in datasets.items():
        v = data.spins()
        variance = variance_estimate(rbm.visible_energy(v))
        variances.append(variance)
        energy = lattice.energy(v).mean() / lattice.n_sites
        exact = tr.exact.kaufman(side, T).energy
        print(f"{T:4.2f}  {energy:9.4f} {exact:9.4f}  {variance.value / lattice.n_sites:10.3f}")

    found = peak(temperatures, [v.value for v in variances], [v.error for v in variances]).temperature
    print(
        f"T_c by the machine: {found.value:.3f} +- {found.error:.3f}; infinite lattice: {tr.exact.TC_2D:.3f}"
    )
    return found


if __name__ == "__main__":
    main()
