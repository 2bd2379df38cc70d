"""How long `import thermorbm` and `thermorbm --help` take, beside a bare Python.

    python -m benchmarks.start [--json]

Seconds of CPU, the least of several processes, so that a busy computer changes little; and the ratio to a
Python that does nothing. Wanted: less than 50 ms for the import alone, less than 0.3 s for the help.
"""

import json
import subprocess
import sys

REPEATS = 15
BARE = ["-c", "pass"]
CASES = {"import thermorbm": ["-c", "import thermorbm"], "thermorbm --help": ["-m", "thermorbm", "--help"]}


def cpu_seconds(arguments):
    """User and system time of one process that has ended."""
    program = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, *sys.argv[1:]], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)\n"
    )
    command = [sys.executable, "-c", program, *arguments]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def measure(repeats=REPEATS):
    """Case -> seconds beyond a bare Python, of the whole process, and the ratio to a bare Python."""
    least = {name: float("inf") for name in ("bare", *CASES)}
    for _ in range(repeats):  # in turn, so that all meet the same computer
        for name, arguments in {"bare": BARE, **CASES}.items():
            least[name] = min(least[name], cpu_seconds(arguments))
    bare = least.pop("bare")
    return {name: {"seconds": s, "beyond": s - bare, "ratio": s / bare} for name, s in least.items()}


def main():
    results = measure()
    if "--json" in sys.argv:
        print(json.dumps(results, indent=2))
        return
    for name, found in results.items():
        seconds, beyond = 1e3 * found["seconds"], 1e3 * found["beyond"]
        print(f"{name}: {seconds:.0f} ms, {beyond:.0f} ms beyond a bare Python ({found['ratio']:.1f} times)")


if __name__ == "__main__":
    main()
