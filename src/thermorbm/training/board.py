"""The history of a training for TensorBoard, by torch's own writer."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from thermorbm.errors import ThermorbmError
from thermorbm.training.monitor import History


class Board:
    """Writes records as scalars at their update: "training/..." and "held out/..."."""

    def __init__(self, directory: str | Path) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            remedy = "try: pip install 'thermorbm[tensorboard]'"
            raise ThermorbmError(f"TensorBoard is not installed; {remedy}") from error
        self._writer, self._n_written = SummaryWriter(str(directory)), 0

    def write(self, history: History) -> None:
        """The records that were not written yet; after a checkpoint also those from before it."""
        updates = history["update"]
        for row in range(self._n_written, len(updates)):
            for name, values in history.items():
                if name != "update":
                    self._writer.add_scalar(_tag(name), float(values[row]), int(updates[row]))
        self._writer.flush()
        self._n_written = len(updates)

    def close(self) -> None:
        self._writer.close()


@contextmanager
def opened_board(directory: str | Path | None) -> Iterator[Board | None]:
    """A board in that directory, None for none."""
    board = None if directory is None else Board(directory)
    try:
        yield board
    finally:
        if board is not None:
            board.close()


def _tag(name: str) -> str:
    of_held_out = name.startswith("validation_")
    return f"held out/{name.removeprefix('validation_')}" if of_held_out else f"training/{name}"
