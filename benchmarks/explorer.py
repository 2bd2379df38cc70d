"""How large a machine is in the explorer, what its formats do to visible energies, and how fast it runs.

    OMP_NUM_THREADS=1 python -m benchmarks.explorer [--side 64] [--hidden 400] [--speed-only]

A machine trained by `fast` on 20 000 configurations at T = 2.25; energies of 2000 others. Gibbs steps per
second of a machine of that size in headless Chromium, by the best of 100 single steps, since other programs
may run beside it: 20 are wanted.
"""

from __future__ import annotations

import argparse
import tempfile
from importlib.resources import files
from pathlib import Path

import numpy as np
from tests.chromium import start_browser

import thermorbm as tr
from thermorbm.explorer.fit import FORMATS, store, with_weights

SPEED = """
const [rows, columns] = arguments, spec = {format: "int8", rows: rows, columns: columns, window: null};
const random = Thermorbm.generator(1), start = 4 * (columns + 2 * rows);
const bytes = new Uint8Array(start + rows * columns);
new Float32Array(bytes.buffer, 4 * (columns + rows), rows).fill(0.001);
for (let k = start; k < bytes.length; k++) bytes[k] = random.next() & 255;
const chain = Thermorbm.makeChain(Thermorbm.makeMachine(spec, bytes), random);
chain.randomSpins();
let best = Infinity;
for (let step = 0; step < 100; step++) {
  const began = performance.now();
  chain.step();
  best = Math.min(best, performance.now() - began);
}
return 1000 / best;
"""
COLUMNS = ("format", "bytes in the file", "largest error of a weight", "sigma, nats")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--side", type=int, default=64)
    parser.add_argument("--hidden", type=int, default=400)
    parser.add_argument("--speed-only", action="store_true")
    options = parser.parse_args()
    if not options.speed_only:
        compare_formats(options)
    print(f"{steps_per_second(options.side**2, options.hidden):.0f} Gibbs steps per second in the browser")


def steps_per_second(n_visible: int, n_hidden: int) -> float:
    """Of a machine with random weights, whose values do not matter here."""
    code = (files("thermorbm.explorer") / "templates" / "machine.js").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as place:
        page = Path(place) / "page.html"
        page.write_text(f"<script>{code}</script>", encoding="utf-8")
        with start_browser(Path(place) / "profile") as driver:
            driver.get(page.as_uri())
            return float(driver.execute_script(SPEED, n_hidden, n_visible))


def compare_formats(options: argparse.Namespace) -> None:
    """Prints bytes and errors of each format as a table."""
    data = tr.sample((options.side, options.side), temperature=2.25, n_samples=22_000, seed=1)
    training, others = tr.hold_out(data, 2_000)
    machine, v = tr.train(training, options.hidden, seed=1).rbm, others.spins()
    print("| " + " | ".join(COLUMNS) + " |\n" + "|---" * len(COLUMNS) + "|")
    for name in FORMATS:
        stored = store(machine, name, v)
        size = f"{len(stored.text) / 1e6:.2f} MB"
        print(f"| {name} | {size} | {stored.weight_error:.2g} | {stored.energy_error:.2g} |", flush=True)
    step = np.abs(machine.W).max(axis=1, keepdims=True) / 127
    alone = with_weights(machine, np.float32(np.rint(machine.W / step) * step))
    sigma = np.std(alone.visible_energy(v) - machine.visible_energy(v))
    print(f"| int8, each weight rounded alone | | {step.max() / 2:.2g} | {sigma:.2g} |")


if __name__ == "__main__":
    main()
