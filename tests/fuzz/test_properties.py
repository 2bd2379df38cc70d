"""Any arguments to the public functions and to the command line: success or a documented error."""

import contextlib
import os
import warnings

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from hypothesis.extra import numpy as arrays

import thermorbm as tr
from thermorbm.cli import run
from thermorbm.errors import ThermorbmError

numbers = st.one_of(st.integers(-3, 40), st.floats(), st.integers(), st.booleans())
anything = st.one_of(
    numbers, st.none(), st.text(max_size=5), st.lists(numbers, max_size=3), st.binary(max_size=3)
)
shapes = st.one_of(st.lists(st.integers(-1, 5), max_size=3), anything)
any_array = arrays.arrays(
    st.sampled_from(
        [np.int8, np.int64, np.uint8, np.float32, np.float64, np.bool_, np.complex128, "U2", "O"]
    ),
    arrays.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5),
)
spins = st.integers(1, 6).flatmap(lambda n: arrays.arrays(np.int8, (n, 4), elements=st.sampled_from([-1, 1])))
weights = arrays.arrays(np.float64, (3, 4), elements=st.floats(-1e3, 1e3))
# Small enough to be quick where it is valid.
sizes = st.one_of(st.integers(-2, 30), st.floats(), st.none(), st.text(max_size=3), st.booleans())

CHECKS = {}


def check(**strategies):
    """Registers a function that is called with such arguments."""

    def register(function):
        CHECKS[function.__name__] = function, strategies
        return function

    return register


@check(shape=shapes)
def lattice(shape):
    tr.Lattice(shape)


@check(text=st.one_of(st.text(max_size=12), st.from_regex(r"[0-9x]{0,8}", fullmatch=True)))
def lattice_in_words(text):
    tr.Lattice.parse(text)


@check(v=any_array)
def energy_of_anything(v):
    assert np.all(np.isfinite(tr.Lattice((2, 2)).energy(v)))


@check(v=st.one_of(any_array, spins), shape=st.sampled_from([None, (2, 2), (4,)]), temperature=anything)
def dataset(v, shape, temperature):
    made = tr.Dataset.from_spins(v, None if shape is None else tr.Lattice(shape), temperature)
    assert set(np.unique(made.spins())) <= {-1, 1}


@check(W=any_array, b=any_array, c=any_array)
def machine(W, b, c):
    tr.RBM(W, b, c)


@check(W=weights, v=st.one_of(any_array, spins), seed=anything, steps=sizes)
def what_a_machine_says(W, v, seed, steps):
    rbm = tr.RBM(W, np.zeros(4), np.ones(3))
    assert np.all(np.isfinite(rbm.visible_energy(v)))
    assert np.all(rbm.pseudo_likelihood(v) >= 0)  # minus the logarithm
    assert np.all((rbm.p_hidden(v) >= 0) & (rbm.p_hidden(v) <= 1))
    assert set(np.unique(rbm.gibbs(v, steps, seed))) <= {-1, 1}


@check(
    shape=st.sampled_from([(2, 2), (3,), (4, 4), (2, 3, 2)]),
    temperature=st.one_of(st.floats(0.3, 50), anything),
    n_samples=sizes,
    seed=anything,
    method=st.one_of(st.sampled_from(["metropolis", "swendsen-wang", "wolff"]), anything),
    sector=st.one_of(st.sampled_from(["symmetric", "positive", 0.25]), anything),
)
def samples(shape, temperature, n_samples, seed, method, sector):
    assert (
        len(tr.sample(tr.Lattice(shape), temperature, n_samples, seed, method, sector, threads=1))
        == n_samples
    )


@check(temperature=anything, side=st.one_of(st.integers(-1, 8), st.none(), st.floats(), st.text(max_size=2)))
def exact_values(temperature, side):
    tr.exact.onsager(temperature)
    tr.exact.kaufman(side, temperature)


CHANGES = st.dictionaries(
    st.sampled_from([*tr.Recipe.__dataclass_fields__, "unknown"]),
    st.one_of(sizes, st.floats(0, 1)),
    max_size=2,
)


@check(n_hidden=sizes, recipe=st.sampled_from(["fast", "paper", "x", None]), seed=anything, changes=CHANGES)
def training(n_hidden, recipe, seed, changes):
    data = tr.Dataset.from_spins(np.where(np.eye(20, dtype=bool), 1, -1), tr.Lattice((4, 5)), 2.0)
    quick = {"epochs": 1, "batch_size": 10, "least_updates": 0, **changes}
    if recipe in ("fast", "paper"):
        tr.train(data, n_hidden, tr.training.recipe.choose_recipe(recipe, quick), seed=seed, threads=1)
    else:
        tr.train(data, n_hidden, recipe, seed=seed)


FILES = ["data.h5", "rbm.h5", "array.npy", "bad.h5", "bad.toml", "absent", ".", "", "/dev/null", "\0", "ü.h5"]
WORDS = st.sampled_from(
    [*FILES, "0", "-1", "4", "2.5", "nan", "1e999", "4x4", "2x2x2", "x", "--help", "--json", "p_h"]
)
OPTIONS = {
    "sample": [
        "--shape",
        "-T",
        "-n",
        "-o",
        "--seed",
        "--method",
        "--sector",
        "--force",
        "--json",
        "--threads",
    ],
    "import": ["--shape", "-T", "-o", "--array", "--force"],
    "export": ["-o", "--force"],
    "info": ["--json"],
    "train": ["--hidden", "-o", "--recipe", "--seed", "--epochs", "--checkpoint", "--hold-out", "--device"],
    "analyse": ["--json", "--seed"],
    "generate": ["-n", "--start", "--steps", "--seed", "-o", "--force"],
    "run": ["--out", "--workers", "--shard", "--cluster", "--no-report"],
    "status": ["--json"],
    "report": ["--json"],
    "nonsense": ["--x"],
}
GOOD = {
    "sample": ["--shape", "4x4", "-T", "2.5", "-n", "4", "-o", "new.h5"],
    "import": ["array.npy", "--shape", "2x2", "-o", "new.h5"],
    "train": ["data.h5", "--hidden", "4", "--epochs", "1", "-o", "new.h5"],
    "analyse": ["rbm.h5", "data.h5"],
    "generate": ["rbm.h5", "-n", "4", "-o", "new.h5"],
}


@st.composite
def commands(draw):
    """A good command with words replaced, or words at random."""
    name = draw(st.sampled_from(list(OPTIONS)))
    some = st.lists(st.one_of(st.sampled_from(OPTIONS[name]), WORDS), max_size=8)
    words = list(GOOD[name]) if name in GOOD and draw(st.booleans()) else draw(some)
    for place in draw(st.lists(st.integers(0, max(0, len(words) - 1)), max_size=2)) if words else []:
        words[place] = draw(WORDS)
    return [name, *words]


@check(words=commands())
def command(words):
    assert run(words) in (0, 1, 2, 3)


@pytest.fixture(autouse=True)
def in_a_directory_with_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    v = np.where(np.random.default_rng(0).random((20, 4)) < 0.5, 1, -1)
    tr.Dataset.from_spins(v, tr.Lattice((2, 2)), 2.0).save("data.h5")
    tr.RBM(np.eye(3, 4), np.zeros(4), np.zeros(3)).save("rbm.h5")
    np.save("array.npy", v)
    (tmp_path / "bad.h5").write_bytes((tmp_path / "data.h5").read_bytes()[:-1])
    (tmp_path / "bad.toml").write_text('name = "x"\n')


def search(name, n_examples):
    function, strategies = CHECKS[name]

    def call(**arguments):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with contextlib.suppress(ThermorbmError, MemoryError):
                function(**arguments)

    options = settings(
        max_examples=n_examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    options(given(**strategies)(call))()


@pytest.mark.parametrize("name", CHECKS)
def test_some_arguments(name):
    search(name, 20)


@pytest.mark.slow
@pytest.mark.parametrize("name", CHECKS)
def test_many_arguments(name):
    search(name, 2000)
    assert os.path.exists("data.h5")
