"""Child processes that run a module of this package: orders go in as lines of JSON, answers come back."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import IO, Any


class Child:
    """A Python process with a pipe to its input and one from its output.

    It has a session of its own: Ctrl-C in the terminal is for the parent alone.
    """

    def __init__(
        self, module: str, *arguments: str, environment: Mapping[str, str] | None = None, quiet: bool = False
    ) -> None:
        """environment: variables beside those of this process. quiet: drops what it writes to stderr."""
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", module, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if quiet else None,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
            creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),  # the same on Windows
        )

    @property
    def output(self) -> IO[bytes]:
        assert self.process.stdout is not None
        return self.process.stdout

    def send(self, message: Mapping[str, Any]) -> None:
        """Writes one line; OSError if the process has ended."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def close_input(self) -> None:
        with contextlib.suppress(OSError):
            assert self.process.stdin is not None
            self.process.stdin.close()

    def close(self) -> None:
        """Closes both pipes; no other thread may be reading."""
        self.close_input()
        with contextlib.suppress(OSError):
            self.output.close()

    def kill(self) -> None:
        """Ends it, and where there are sessions also the processes that it has started."""
        if not hasattr(os, "killpg"):
            self.process.kill()
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
