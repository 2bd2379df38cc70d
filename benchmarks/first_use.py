"""How long the first call waits for the compiler, and how long later ones wait for the cache on disk.

    python -m benchmarks.first_use [--json]

Each case runs twice in processes of its own that share an empty cache directory: cold, then warm. Times are
of the whole process: start of Python, imports, compilation, and a few samples of a tiny lattice.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

CASES = {
    "metropolis 2d": ((8, 8), "metropolis"),
    "metropolis 3d": ((4, 4, 4), "metropolis"),
    "swendsen-wang": ((8, 8), "swendsen-wang"),
    "wolff": ((8, 8), "wolff"),
}
PROGRAM = "import thermorbm as tr; tr.sample(tr.Lattice({shape}), 4.0, 100, method={method!r})"


def run(shape, method, cache):
    start = time.perf_counter()
    program = PROGRAM.format(shape=shape, method=method)
    subprocess.run([sys.executable, "-c", program], env={**os.environ, "NUMBA_CACHE_DIR": cache}, check=True)
    return time.perf_counter() - start


def measure():
    results = {}
    for name, (shape, method) in CASES.items():
        with tempfile.TemporaryDirectory() as cache:
            cold = run(shape, method, cache)
            results[name] = {"cold_seconds": cold, "warm_seconds": run(shape, method, cache)}
    return results


def main():
    results = measure()
    if "--json" in sys.argv:
        print(json.dumps(results, indent=2))
        return
    print(f"{'case':>15} {'cold/s':>8} {'warm/s':>8}")
    for name, times in results.items():
        print(f"{name:>15} {times['cold_seconds']:8.2f} {times['warm_seconds']:8.2f}")


if __name__ == "__main__":
    main()
