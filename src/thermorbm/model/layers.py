"""What one kind of machine must provide; everything else is written once on top of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray


class Layers(ABC):
    """Two layers of +-1 units with E(v, h) = -b.v - c.h - h.W v, however W is held.

    These primitives trust their caller: arrays have two axes, batch first, and the right width. They compute
    in the wider of the machine's type and that of a floating-point argument.
    """

    kind: ClassVar[str]  # what its files are called

    @property
    @abstractmethod
    def n_visible(self) -> int:
        """Number of visible units."""
        ...

    @property
    @abstractmethod
    def n_hidden(self) -> int:
        """Number of hidden units."""
        ...

    @property
    def width(self) -> int:
        """Units of the larger layer: it sets how many rows are worked on at a time."""
        return max(self.n_visible, self.n_hidden)

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """float32 or float64: the type of the parameters and of the matrix products."""

    @property
    @abstractmethod
    def parameters(self) -> dict[str, NDArray[Any]]:
        """Named parameter arrays."""

    @abstractmethod
    def hidden_inputs(self, v: NDArray[Any]) -> NDArray[Any]:
        """W v + c. (n, n_visible) -> (n, n_hidden)."""

    @abstractmethod
    def visible_inputs(self, h: NDArray[Any]) -> NDArray[Any]:
        """W^T h + b. (n, n_hidden) -> (n, n_visible)."""

    @abstractmethod
    def visible_field(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """b.v of each row. (n, n_visible) -> (n,)."""

    @abstractmethod
    def hidden_field(self, h: NDArray[Any]) -> NDArray[np.float64]:
        """c.h of each row. (n, n_hidden) -> (n,)."""

    @abstractmethod
    def gradient_sums(self, v: NDArray[Any], h: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Sum over rows of -dE(v, h)/dtheta by parameter name; linear in h, so h may be its mean given v."""

    @abstractmethod
    def flip_energies(self, v: NDArray[Any]) -> NDArray[np.float64]:
        """Visible energy of v with site j flipped, minus that of v. (n, n_visible) -> (n, n_visible)."""

    @abstractmethod
    def flip_energy(self, v: NDArray[Any], sites: NDArray[Any]) -> NDArray[np.float64]:
        """The same at one site per row. (n, n_visible), (n,) -> (n,)."""
