"""Time and memory for the paper's 36 datasets: 50 000 certified configurations each, saved to disk.

    python -m benchmarks.datasets [--json]

Compilation is done beforehand. Uses all cores; needs 1 GB of temporary disk.
"""

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

import thermorbm as tr

N_SAMPLES = 50_000
SQUARE = tr.Lattice((64, 64))
CUBE = tr.Lattice((16, 16, 16))
PAPER = [
    *((SQUARE, k / 4) for k in range(1, 17)),
    *((CUBE, k / 4) for k in range(10, 18)),
    *((CUBE, k / 10) for k in (43, 44, 45, 46, 47)),
    *((CUBE, k / 4) for k in range(19, 26)),
]


def compile_kernels():
    for lattice in (SQUARE, CUBE):
        tr.sample(lattice, 10.0, 512)


def time_one(lattice, temperature, path):
    """Seconds to sample and certify, and to save; with what the certificate says."""
    start = time.perf_counter()
    data = tr.sample(lattice, temperature, N_SAMPLES, seed=1)
    sampled = time.perf_counter()
    data.save(path)
    return {
        "lattice": str(lattice),
        "temperature": temperature,
        "sample_seconds": sampled - start,
        "save_seconds": time.perf_counter() - sampled,
        "spacing": data.certificate.spacing,
        "passed": data.certificate.passed,
        "energy_z": data.certificate.energy_z,
        "energy_histogram_p": data.certificate.energy_histogram_p,
    }


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measure(show=lambda row: None):
    compile_kernels()
    start = time.perf_counter()
    tr.sample(SQUARE, 2.25, N_SAMPLES, seed=2)
    single = time.perf_counter() - start
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        start = time.perf_counter()
        for lattice, temperature in PAPER:
            rows.append(time_one(lattice, temperature, Path(directory) / f"{lattice}-{temperature}.h5"))
            show(rows[-1])
        total = time.perf_counter() - start
        size = sum(file.stat().st_size for file in Path(directory).iterdir())
    return {
        "one_64x64_at_2.25_seconds": single,
        "all_seconds": total,
        "all_megabytes_on_disk": size / 2**20,
        "peak_megabytes_of_memory": peak_megabytes(),
        "datasets": rows,
    }


def show_row(row):
    p = row["energy_histogram_p"]
    verdict, p = "passed" if row["passed"] else "FAILED", "-" if p is None else f"{p:.3f}"
    times = f"{row['sample_seconds']:9.2f} {row['save_seconds']:7.2f}"
    print(
        f"{row['lattice']:>10} {row['temperature']:5.2f} {times} {row['spacing']:8d} {verdict:>8} {p:>7}",
        flush=True,
    )


def main():
    if "--json" in sys.argv:
        print(json.dumps(measure(), indent=2))
        return
    print(
        f"{'lattice':>10} {'T':>5} {'sample/s':>9} {'save/s':>7} {'spacing':>8} {'verdict':>8} {'P(E) p':>7}"
    )
    results = measure(show_row)
    print(f"one dataset, 64x64 at T = 2.25: {results['one_64x64_at_2.25_seconds']:.1f} s")
    print(
        f"all {len(PAPER)}: {results['all_seconds']:.1f} s, {results['all_megabytes_on_disk']:.0f} MB on disk"
    )
    print(f"peak memory: {results['peak_megabytes_of_memory']:.0f} MB")


if __name__ == "__main__":
    main()
