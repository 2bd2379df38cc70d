"""The estimator for scikit-learn."""

import warnings

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import InputError

pytest.importorskip("sklearn")
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from thermorbm.sklearn import IsingRBM

# None: every check that scikit-learn has passes.
EXCEPTIONS: dict[str, str] = {}


@pytest.fixture(scope="module")
def spins():
    return tr.sample((4, 4), temperature=2.0, n_samples=300, seed=1).spins()


@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_pass():
    """Its data are real numbers, which the estimator cuts with a warning."""
    check_estimator(IsingRBM(n_components=2, n_iter=1), expected_failed_checks=EXCEPTIONS)


def test_it_is_thermorbms_training(spins):
    estimator = IsingRBM(n_components=4, n_iter=2, random_state=3).fit(spins)
    seed = np.random.RandomState(3).randint(np.iinfo(np.int32).max)
    rbm = tr.train(spins, n_hidden=4, epochs=2, seed=seed).rbm
    np.testing.assert_array_equal(estimator.components_, rbm.W)
    np.testing.assert_allclose(estimator.transform(spins), rbm.p_hidden(spins), rtol=1e-5)
    np.testing.assert_allclose(estimator.score_samples(spins), -rbm.pseudo_likelihood(spins), rtol=1e-5)


def test_zeros_and_ones_are_the_same_spins(spins):
    binary = (spins + 1) // 2
    first = IsingRBM(n_components=4, n_iter=1, random_state=3).fit(spins)
    second = clone(first).fit(binary)
    np.testing.assert_array_equal(first.components_, second.components_)
    np.testing.assert_array_equal((first.gibbs(spins) + 1) // 2, second.gibbs(binary))


def test_partial_fit_learns(spins):
    estimator = IsingRBM(n_components=8, random_state=1, learning_rate=0.05, batch_size=32)
    estimator.partial_fit(spins)
    before = estimator.score_samples(spins).mean()
    for _ in range(30):
        estimator.partial_fit(spins)
    assert estimator.score_samples(spins).mean() > before + 1


def test_in_a_pipeline_with_names(spins):
    pipeline = make_pipeline(IsingRBM(n_components=3, n_iter=1, random_state=0))
    assert pipeline.fit_transform(spins).shape == (300, 3)
    assert list(pipeline.get_feature_names_out()) == ["isingrbm0", "isingrbm1", "isingrbm2"]


def test_what_it_refuses_or_remarks(spins):
    with pytest.warns(UserWarning, match="other than -1 and 1: those above 0 are taken as spins up"):
        IsingRBM(n_components=2, n_iter=1).fit(1.5 * spins)
    for name, bad in (("n_components", 0), ("learning_rate", 0.0), ("batch_size", 0), ("n_iter", -1)):
        with pytest.raises(InputError, match=f"^{name} must be .*, got {bad}$"):
            IsingRBM(**{name: bad}).fit(spins)
    with pytest.raises(ValueError, match="recipe"):
        IsingRBM(recipe="quick").fit(spins)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        IsingRBM(n_components=2, n_iter=1).fit(spins)


@pytest.mark.parametrize(
    "bad",
    [{"n_components": "4"}, {"n_components": 1.5}, {"batch_size": None}, {"batch_size": 0},
     {"learning_rate": "fast"}, {"learning_rate": np.inf}],
)  # fmt: skip
def test_numbers_that_are_none(bad, spins):
    for fit in (IsingRBM(**bad).fit, IsingRBM(**bad).partial_fit):
        with pytest.raises(InputError, match=f"{next(iter(bad))} must be"):
            fit(spins)
    with pytest.raises(InputError, match=f"{next(iter(bad))} must be"):
        IsingRBM(2).partial_fit(spins).set_params(**bad).partial_fit(spins)
    with pytest.raises(InputError, match="recipe must be"):
        IsingRBM(2, recipe=[]).fit(spins)
