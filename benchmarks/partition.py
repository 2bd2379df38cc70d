"""ln Z and the entropy bound of machines of the paper's size, on one core.

    OMP_NUM_THREADS=1 python -m benchmarks.partition data.h5 rbm.h5 [data.h5 rbm.h5 ...]

Pairs of a machine and configurations, the last 1000 of which it has not been trained on (`thermorbm train`
leaves the last 5000 of 50 000 out). Prints CPU seconds, the width of the sandwich per spin and the verdict,
and the upper edge of the entropy with the seconds it takes along the same rungs; of large machines a second
row, with weights of 16 bits, as studies and `analyse` take them.
"""

from __future__ import annotations

import sys
import time

import thermorbm as tr
from thermorbm.model.rounded import RoundedRBM, as_annealed

WIDTH = 0.002  # nats per spin
MOST_RUNGS = 1024  # half a minute of one core
N_HELD_OUT = 1000


def main(files: list[str]) -> None:
    print("| T | n_v x n_h | width per spin | rungs x chains | ln Z, CPU s | bound, CPU s |", end="")
    print(" ln Z / N | upper edge / N | verdict |\n" + "|---" * 9 + "|")
    for data_file, machine_file in zip(files[::2], files[1::2], strict=True):
        data, machine = tr.Dataset.load(data_file), tr.load_machine(machine_file)
        machine.log_partition("ais", seed=0, n_rungs=2, n_chains=2)  # compiles
        print(row(machine, data[-N_HELD_OUT:]), flush=True)
        rounded = as_annealed(machine)
        if rounded is not machine:
            print(row(rounded, data[-N_HELD_OUT:]), flush=True)


def row(machine: tr.RBM, held_out: tr.Dataset) -> str:
    n = machine.n_visible
    begin = time.process_time()
    found = machine.log_partition("ais", seed=1, width=WIDTH * n, most_rungs=MOST_RUNGS)
    middle = time.process_time()
    bound = machine.entropy_upper_bound(held_out.spins(), seed=2, betas=found.betas, guide=found.guide)
    end = time.process_time()
    cells = [
        f"{held_out.temperature:g}",
        f"{n} x {machine.n_hidden}" + ", 16 bits" * isinstance(machine, RoundedRBM),
        f"{(found.upper - found.lower) / n:.5f}",
        f"{found.n_rungs} x {found.n_chains}",
        f"{middle - begin:.1f}",
        f"{end - middle:.1f}",
        f"{found.value / n:.6f} +- {found.error / n:.1e}",
        f"{bound.value / n:.5f} +- {bound.error / n:.1e}",
        found.verdict,
    ]
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main(sys.argv[1:])
