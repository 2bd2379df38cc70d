"""What each part of the `fast` recipe is good for: held-out L~ per spin after equal numbers of updates.

    python -m benchmarks.ablation [--temperature 2.25] [--updates 2000] [--hidden 400] [--json]

64 x 64, 50 000 configurations and 5 000 held-out ones, one thread. Seconds are CPU time, and
serve for comparison within the table.
"""

import argparse
import json
import time
from dataclasses import dataclass, replace

import torch

from thermorbm import Lattice, hold_out, sample
from thermorbm.training import RECIPES
from thermorbm.training.design import DenseDesign
from thermorbm.training.devices import choose_device
from thermorbm.training.trainer import Trainer

VARIANTS = {
    "fast": {},
    "rate x 3": {"learning_rate": 6e-2},
    "rate / 3": {"learning_rate": 7e-3},
    "constant rate / 3": {"learning_rate": 7e-3, "schedule": "constant"},
    "no stiff modes": {"modes": 0},
    "no stiff modes, rate / 3": {"modes": 0, "learning_rate": 7e-3},
    "no stiff modes, rate / 10": {"modes": 0, "learning_rate": 2e-3},
    "2 stiff modes": {"modes": 2},
    "32 stiff modes": {"modes": 32},
    "momentum 0.9": {"momentum": 0.9},
    "Adam 3e-4": {"optimizer": "adam", "learning_rate": 3e-4, "modes": 0},
    "CD-1": {"persistent": False},
    "CD-5": {"persistent": False, "gibbs_steps": 5},
    "PCD-5": {"gibbs_steps": 5},
    "batch 32": {"batch_size": 32},
    "batch 512": {"batch_size": 512},
    "random signs": {"flip": True},
    "random shifts": {"translate": True},
    "zero bias": {"zero_bias": True},
    "full bias rate": {"bias_rate": 1.0},
    "chains never renewed": {"chain_life": 0},
    "no warm-up": {"warm_up": 0},
    "4 replicas down to 0.8": {"n_replicas": 4},
    "Glorot start": {"start": "glorot"},
    "Glorot start x 3": {"start": "glorot", "scale": 3.0},
    "Glorot start / 3": {"start": "glorot", "scale": 1 / 3},
    "local start x 2": {"scale": 2.0},
    "local start / 5": {"scale": 0.2},
}


@dataclass(frozen=True)
class ScaledStart(DenseDesign):
    """Starts at a multiple of the weights of a start."""

    scale: float = 1.0

    def layers(self, seed, device, dtype, start):
        layers = super().layers(seed, device, dtype, start)
        layers.parameters["W"].mul_(self.scale)
        layers.refresh()
        return layers


def measure(data, validation, n_hidden, n_updates, changes):
    """Held-out L~ per spin with its error, and seconds."""
    changes = dict(changes)
    design = ScaledStart(n_hidden, data.n_sites, data.lattice.shape, changes.pop("scale", 1.0))
    recipe = replace(RECIPES["fast"], epochs=1, least_updates=n_updates, **changes)
    device = choose_device("cpu")
    trainer = Trainer(data, design, recipe, 1, device, design.precision("auto", device))
    start = time.process_time()
    for _ in range(n_updates):
        trainer.step()
    seconds = time.process_time() - start
    likelihood = trainer.machine().pseudo_likelihood(validation.spins(0, 1000)) / data.n_sites
    return {
        "L~": float(likelihood.mean()),
        "error": float(likelihood.std() / len(likelihood) ** 0.5),
        "seconds": seconds,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--temperature", type=float, default=2.25)
    parser.add_argument("--updates", type=int, default=2000)
    parser.add_argument("--hidden", type=int, default=400)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    drawn = sample(Lattice((64, 64)), options.temperature, 55_000, seed=1)
    data, validation = hold_out(drawn, 5_000)
    results = {}
    torch.set_num_threads(1)
    for name, changes in VARIANTS.items():
        results[name] = measure(data, validation, options.hidden, options.updates, changes)
        if not options.json:
            r = results[name]
            print(f"| {name} | {r['L~']:.4f}({r['error']:.4f}) | {r['seconds']:.1f} |", flush=True)
    if options.json:
        print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
