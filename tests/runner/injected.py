"""kill -9 at a chosen step of a process's writes: its n-th flush, rename, link, directory or removal."""

import os
import signal
import sys

STEPS_OF_A_WRITE = ("fsync", "replace", "link", "rename", "chmod", "mkdir", "unlink")


def killed_at(number, action):
    """Whether a forked process that does `action` is killed at that step; else it came to its end."""
    child = os.fork()
    if child == 0:
        _kill_at(number)
        try:
            action()
            os._exit(0)
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            os._exit(1)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status) or os.WEXITSTATUS(status) == 0
    return os.WIFSIGNALED(status)


def _kill_at(number):
    count = [0]

    def counted(function):
        def call(*arguments, **options):
            count[0] += 1
            if count[0] == number:
                os.kill(os.getpid(), signal.SIGKILL)
            return function(*arguments, **options)

        return call

    for name in STEPS_OF_A_WRITE:
        setattr(os, name, counted(getattr(os, name)))
