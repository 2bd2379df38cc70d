"""Runs a study in forked processes that are killed, then to its end; a script of test_kill.

    python killing.py STUDY.toml DIRECTORY N_KILLS     at that many random moments
    python killing.py STUDY.toml DIRECTORY every       at every step of its writes; says how many there were

The tasks are done in the forked process itself: with nothing to import or to compile there is time for many
kills. Writes DIRECTORY/whole, which nobody disturbed, and DIRECTORY/broken-0, -1 ... which were.
"""

import os
import random
import signal
import sys
import time
from functools import partial
from itertools import count
from pathlib import Path

from injected import killed_at
from own_process import OwnProcess, Silent

from thermorbm.reading import entropy, generation, machine  # noqa: F401
from thermorbm.runner import run as runner
from thermorbm.study import estimates  # noqa: F401
from thermorbm.study.run import run_study


def run(study, out):
    summary = run_study(study, out, Silent(), n_workers=1)
    assert summary.is_complete, summary.outcome.failed


def run_until(study, out, seconds):
    """Whether it was killed before its end."""
    child = os.fork()
    if child == 0:
        try:
            run(study, out)
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
    time.sleep(seconds)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def main(study, place, kills):
    runner._local_workers = lambda n_workers: lambda directory, costs: OwnProcess(directory)
    run(study, place / "warm")  # compiles and loads
    began = time.monotonic()
    run(study, place / "whole")
    if kills == "every":
        kill_at_every_step(study, place)
    else:
        kill_at_random(study, place, int(kills), time.monotonic() - began)


def kill_at_every_step(study, place):
    for number in count(1):
        if not killed_at(number, partial(run, study, place / f"broken-{number}")):
            break
        run(study, place / f"broken-{number}")
    sys.stdout.write(f"{number - 1}\n")


def kill_at_random(study, place, n_kills, length):
    """length: seconds that the study takes."""
    draw = random.Random(4)
    killed, number = 0, 0
    while killed < n_kills:
        if run_until(study, place / f"broken-{number}", draw.uniform(0, length / 6)):
            killed += 1
        else:  # it came to its end: begin another one
            number += 1
    run(study, place / f"broken-{number}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
