"""The translation-symmetric machine against its dense twin, enumeration, and the Ising machine."""

import math

import numpy as np
import pytest

from oracles.rbm_enumeration import EnumeratedRBM, mean_log_likelihood
from oracles.symmetric_rbm import dense_parameters, tied
from thermorbm.exact import ising_rbm
from thermorbm.lattice import Lattice
from thermorbm.model import RBM, SymmetricRBM

# Odd and even windows, windows as large as the lattice, unequal sides, one to four dimensions.
CASES = [
    ((5,), (3,)),
    ((5,), (5,)),
    ((4, 6), (1, 1)),
    ((4, 6), (2, 2)),
    ((3, 3), (3, 3)),
    ((7, 5), (4, 3)),
    ((4, 4), (4, 4)),
    ((2, 2, 2), (2, 2, 2)),
    ((3, 4, 5), (3, 2, 3)),
    ((2, 3, 2, 3), (2, 2, 1, 3)),
]
IDS = ["x".join(map(str, shape)) + "-" + "x".join(map(str, window)) for shape, window in CASES]


def machine(shape, window, n_filters=3, scale=0.4, dtype=np.float64, seed=1):
    rng = np.random.default_rng(seed)
    filters = (rng.normal(size=(n_filters, *window)) * scale).astype(dtype)
    return SymmetricRBM(filters, shape, 0.2, rng.normal(size=n_filters) * 0.3)


def written_out(made):
    return RBM(*dense_parameters(made.filters, made.shape, float(made.visible_bias), made.hidden_bias))


def units(n, width, seed):
    return np.random.default_rng(seed).choice([-1, 1], (n, width)).astype(np.int8)


@pytest.fixture(params=CASES, ids=IDS)
def case(request):
    return machine(*request.param)


def test_the_dense_twin_is_the_definition(case):
    twin, truth = case.to_dense(), written_out(case)
    for name in ("W", "b", "c"):
        np.testing.assert_array_equal(getattr(twin, name), getattr(truth, name))
    assert case.n_hidden == 3 * case.n_visible == truth.n_hidden


def test_every_method_equals_that_of_the_twin(case):
    twin = written_out(case)
    v, h = units(7, case.n_visible, 2), units(7, case.n_hidden, 3)
    for name, arguments in {
        "hidden_inputs": (v,),
        "visible_inputs": (h,),
        "visible_field": (v,),
        "hidden_field": (h,),
        "joint_energy": (v, h),
        "visible_energy": (v,),
        "p_hidden": (v,),
        "p_visible": (h,),
        "sample_hidden": (v, 4),
        "sample_visible": (h, 4),
        "gibbs": (v, 3, 4),
        "cross_entropy": (v, 4),
        "pseudo_likelihood": (v,),
        "pseudo_likelihood_estimate": (v, 4),
        "flip_energies": (v,),
    }.items():
        ours, theirs = getattr(case, name)(*arguments), getattr(twin, name)(*arguments)
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-11, err_msg=name)


def test_the_gradient_is_the_twins_summed_over_places(case):
    v = units(9, case.n_visible, 5)
    expected = tied(written_out(case).mean_gradient(v), case.filters, case.shape)
    found = case.mean_gradient(v)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-12, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(("shape", "window"), [((3, 3), (3, 3)), ((2, 2, 2), (2, 2, 2)), ((3, 3), (2, 2))])
def test_log_partition_is_that_of_the_twin(shape, window):
    made = machine(shape, window)
    value = made.log_partition().value
    assert value == pytest.approx(written_out(made).log_partition().value, rel=1e-13)
    v = units(5, made.n_visible, 6)
    np.testing.assert_allclose(made.log_likelihood(v), -made.visible_energy(v) - value)


@pytest.mark.parametrize("shape", [(2, 2), (4,), (2, 3)], ids=str)
def test_everything_against_enumeration(shape):
    """All states of both layers, straight from the energy."""
    made = machine(shape, (2,) * len(shape), n_filters=2 if len(shape) < 2 or math.prod(shape) < 6 else 1)
    truth = EnumeratedRBM(*dense_parameters(made.filters, shape, float(made.visible_bias), made.hidden_bias))
    v = truth.v_states
    assert made.log_partition().value == pytest.approx(truth.log_z, rel=1e-12)
    np.testing.assert_allclose(made.visible_energy(v), [truth.visible_energy(u) for u in v], rtol=1e-12)
    np.testing.assert_allclose(np.exp(made.log_likelihood(v)), truth.p_v, rtol=1e-11)
    np.testing.assert_allclose(made.p_hidden(v), [truth.p_hidden(u) for u in v], rtol=1e-11)
    np.testing.assert_allclose(made.pseudo_likelihood(v), [truth.pseudo_likelihood(u) for u in v], rtol=1e-10)


def test_gradient_against_differences_of_the_enumerated_likelihood():
    """The shared parameter is moved and ln p of some data computed anew from all states."""
    made = machine((2, 3), (2, 2), n_filters=1)
    data, step = units(4, 6, 8), 1e-5

    def likelihood(filters, visible_bias, hidden_bias):
        return mean_log_likelihood(*dense_parameters(filters, (2, 3), visible_bias, hidden_bias), data)

    start = [np.array(array, np.float64) for array in made.parameters.values()]
    every_state = EnumeratedRBM(*dense_parameters(start[0], (2, 3), float(start[1]), start[2]))
    states = zip(every_state.p_v, every_state.v_states[:, None], strict=True)
    means = [(p, made.mean_gradient(v)) for p, v in states]
    over_model = {name: sum(p * mean[name] for p, mean in means) for name in made.parameters}
    over_data = made.mean_gradient(data)
    for k, name in enumerate(made.parameters):
        for place in np.ndindex(start[k].shape):
            there, back = ([array.copy() for array in start] for _ in range(2))
            there[k][place] += step
            back[k][place] -= step
            slope = (likelihood(*there) - likelihood(*back)) / (2 * step)
            assert (over_data[name] - over_model[name])[place] == pytest.approx(slope, abs=1e-8), name


@pytest.mark.parametrize("shape", [(5,), (2, 2), (3, 3), (2, 3, 2)], ids=str)
def test_filters_of_two_sites_are_the_ising_machine(shape):
    """One filter per axis with two equal weights, in a larger window too: one hidden unit per bond."""
    lattice, temperature = Lattice(shape), 2.2
    w = math.acosh(math.exp(2 / temperature)) / 2
    windows = np.zeros((len(shape), *[min(3, side) for side in shape]))
    middle = [(side - 1) // 2 for side in windows.shape[1:]]
    for axis in range(len(shape)):
        up = list(middle)
        up[axis] += 1
        windows[(axis, *middle)] = windows[(axis, *up)] = w
    made, known = SymmetricRBM(windows, shape), ising_rbm(lattice, temperature)
    assert made.n_hidden == known.n_hidden == lattice.n_bonds
    np.testing.assert_allclose(made.W, known.W, rtol=1e-14)
    v = units(6, lattice.n_sites, 9)
    np.testing.assert_allclose(made.visible_energy(v), known.visible_energy(v), rtol=1e-13)
    assert isinstance(known, SymmetricRBM)


def test_the_machine_does_not_see_a_shift():
    made = machine((6, 8), (3, 2))
    v = units(5, 48, 1)
    moved = np.roll(v.reshape(5, 6, 8), (2, 5), (1, 2)).reshape(5, 48)
    np.testing.assert_allclose(made.visible_energy(moved), made.visible_energy(v), rtol=1e-13)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", [np.int8, np.float32, np.float64])
def test_types(dtype, kind):
    """Sums are taken in the wider of the machine's type and that of floating-point units."""
    made = machine((6, 5), (3, 3), dtype=dtype)
    v = units(4, 30, 1).astype(kind)
    x = made.hidden_inputs(v)
    assert x.dtype == (np.float64 if np.float64 in (dtype, kind) else np.float32)
    np.testing.assert_allclose(x, written_out(made).hidden_inputs(v.astype(np.float64)), atol=1e-6)
    assert made.visible_energy(v).dtype == np.float64


@pytest.mark.parametrize("scale", [3.0, 20.0, 150.0, 400.0])
def test_flips_of_saturated_units(scale):
    """Weights up to where products of exponentials would overflow, and beyond."""
    made = machine((4, 4), (3, 3), scale=scale)
    v = units(4, 16, 2)
    twin = written_out(made)
    for j in range(16):
        flipped = v.copy()
        flipped[:, j] *= -1
        expected = twin.visible_energy(flipped) - twin.visible_energy(v)
        np.testing.assert_allclose(made.flip_energies(v)[:, j], expected, rtol=1e-9, atol=1e-9 * scale)
        sites = np.full(4, j)
        np.testing.assert_allclose(made.flip_energy(v, sites), expected, rtol=1e-9, atol=1e-9 * scale)
