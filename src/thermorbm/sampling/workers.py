"""Runs work on several threads and ends all of them early on Ctrl-C, or when one of them fails."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError, ThreadPoolExecutor
from threading import Event
from types import TracebackType
from typing import TypeVar

from thermorbm.sampling.blocks import Block

Item = TypeVar("Item")
Result = TypeVar("Result")

# Kernels cannot be interrupted, so long runs are cut into pieces of about this length.
PIECE_SECONDS = 0.1
_FIRST_PIECE = 8


class Workers:
    """A pool of threads, all cores by default; leaving the context waits for those that still run."""

    def __init__(self, threads: int | None = None) -> None:
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1)
        self._stopped = Event()

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopped.set()
        self._pool.shutdown()

    def map(self, function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
        """function(item) of every item, in order, computed by the threads."""
        try:
            return list(self._pool.map(function, items))
        except BaseException:
            self._stopped.set()
            raise

    def advance(self, block: Block, n_sweeps: int) -> None:
        """Moves a block by n_sweeps, or raises CancelledError soon after the workers were stopped."""
        piece = _FIRST_PIECE
        while n_sweeps > 0:
            if self._stopped.is_set():
                raise CancelledError
            piece = min(piece, n_sweeps)
            start = time.monotonic()
            block.advance(piece)
            n_sweeps -= piece
            if time.monotonic() - start < PIECE_SECONDS / 2:
                piece *= 2
