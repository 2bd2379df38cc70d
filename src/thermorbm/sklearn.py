"""A restricted Boltzmann machine of spins as a scikit-learn estimator.

    from thermorbm.sklearn import IsingRBM
    features = IsingRBM(n_components=64, random_state=1).fit_transform(X)

It takes +-1 or 0/1, and is trained by `thermorbm.train`. `partial_fit` goes on as BernoulliRBM does, a batch
at a time with persistent chains.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from numbers import Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from thermorbm.checks import whole_number
from thermorbm.errors import InputError, ThermorbmError
from thermorbm.model import RBM
from thermorbm.training import train
from thermorbm.training.recipe import choose_recipe

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError as error:  # pragma: no cover
    raise ThermorbmError("scikit-learn is not installed; try: pip install scikit-learn") from error

Array = NDArray[np.float64]


class IsingRBM(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A machine of +-1 units with the interface of `sklearn.neural_network.BernoulliRBM`.

    n_components: hidden units. learning_rate, batch_size: of `partial_fit`; `fit` takes those of the recipe.
    n_iter: epochs of `fit`, by default those of the recipe. recipe: of `thermorbm.train`, "fast" or "paper".
    random_state: seed, generator or None.

    Inputs are (n, n_features) of +-1, or of 0/1. A value above threshold_, 1/2 where the first data lie in
    0..1 and 0 otherwise, is a spin up; a warning says so where there are other values. After fitting, rbm_ is
    the `thermorbm.RBM`, and components_, intercept_visible_, intercept_hidden_ are its W, b and c.
    """

    def __init__(
        self,
        n_components: int = 256,
        *,
        learning_rate: float = 0.1,
        batch_size: int = 10,
        n_iter: int | None = None,
        recipe: str = "fast",
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.learning_rate = learning_rate
        self.batch_size = batch_size
        self.n_iter = n_iter
        self.recipe = recipe
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Trains on X (n, n_features) with `thermorbm.train`."""
        spins = self._first_spins(X)
        seed = self.random_state_.randint(np.iinfo(np.int32).max)
        size = min(len(spins), choose_recipe(self.recipe).batch_size)
        result = train(
            spins, self.n_components, self.recipe, self.n_iter, seed, progress=False, batch_size=size
        )
        self._take({name: array.astype(np.float64) for name, array in result.rbm.parameters.items()})
        return self

    def partial_fit(self, X: ArrayLike, y: object = None) -> Self:
        """One pass over X in batches, by contrastive divergence with chains that go on from call to call."""
        if not hasattr(self, "rbm_"):
            spins = self._first_spins(X)
            start = 0.005 * self.random_state_.standard_normal((self.n_components, spins.shape[1]))
            biases = {"b": np.zeros(spins.shape[1]), "c": np.zeros(self.n_components)}
            self._take({"W": start, **biases})
        else:
            self._check_numbers()
            spins = self._spins(X)
        if not hasattr(self, "chains_"):
            rows = self.random_state_.randint(len(spins), size=self.batch_size)
            self.chains_ = spins[rows]
        for begin in range(0, len(spins), self.batch_size):
            self._update(spins[begin : begin + self.batch_size])
        return self

    def transform(self, X: ArrayLike) -> Array:
        """P(h = +1 | v) of each row, (n, n_components)."""
        check_is_fitted(self)
        return np.asarray(self.rbm_.p_hidden(self._spins(X)))

    def score_samples(self, X: ArrayLike) -> Array:
        """ln of the pseudo-likelihood of each row, exact over all units, total in nats: (n,)."""
        check_is_fitted(self)
        return -self.rbm_.pseudo_likelihood(self._spins(X))

    def gibbs(self, v: ArrayLike) -> NDArray[np.int8]:
        """One Gibbs step from each row, in the alphabet of the data: (n, n_features)."""
        check_is_fitted(self)
        after = self.rbm_.gibbs(self._spins(v), 1, self.random_state_.randint(np.iinfo(np.int32).max))
        return np.asarray((after + 1) // 2 if self.threshold_ else after)

    @property
    def _n_features_out(self) -> int:
        return self.rbm_.n_hidden

    def _check_numbers(self) -> None:
        whole_number("n_components", self.n_components, 1)
        whole_number("batch_size", self.batch_size, 1)
        if self.n_iter is not None:
            whole_number("n_iter", self.n_iter, 1)
        rate = self.learning_rate
        if not isinstance(rate, Real) or not 0 < rate < math.inf:
            raise InputError("learning_rate", rate, "a finite number > 0")

    def _first_spins(self, X: ArrayLike) -> NDArray[np.int8]:
        """The spins of data that decide about threshold_, and the random numbers of what follows."""
        self._check_numbers()
        values = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        self.random_state_ = check_random_state(self.random_state)
        self.threshold_ = 0.5 if values.min() >= 0 and values.max() <= 1 else 0.0
        return self._cut(values)

    def _spins(self, X: ArrayLike) -> NDArray[np.int8]:
        return self._cut(validate_data(self, X, dtype=[np.float64, np.float32], reset=False))

    def _cut(self, values: NDArray[Any]) -> NDArray[np.int8]:
        low = 0 if self.threshold_ else -1
        if not ((values == low) | (values == 1)).all():
            text = f"values other than {low} and 1: those above {self.threshold_:g} are taken as spins up"
            warnings.warn(text, UserWarning, stacklevel=4)
        return np.where(values > self.threshold_, np.int8(1), np.int8(-1))

    def _update(self, spins: NDArray[np.int8]) -> None:
        """W, b and c along the gradient of the likelihood, with one step of the persistent chains."""
        seed = self.random_state_.randint(np.iinfo(np.int32).max)
        self.chains_ = self.rbm_.gibbs(self.chains_, 1, seed)
        data, chains = self.rbm_.mean_gradient(spins), self.rbm_.mean_gradient(self.chains_)
        step = {name: self.learning_rate * (data[name] - chains[name]) for name in data}
        self._take({name: array + step[name] for name, array in self.rbm_.parameters.items()})

    def _take(self, parameters: Mapping[str, Array]) -> None:
        self.rbm_ = rbm = RBM(parameters["W"], parameters["b"], parameters["c"])
        self.components_, self.intercept_visible_, self.intercept_hidden_ = rbm.W, rbm.b, rbm.c
