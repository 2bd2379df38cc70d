"""What a new user tries first, in a notebook: it works, and it shows itself in one line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import BinaryValuesWarning, InputError
from thermorbm.observables import infer_couplings

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def data():
    return tr.sample((6, 6), temperature=3.0, n_samples=200, seed=1)


@pytest.fixture(scope="module")
def result(data):
    return tr.train(data, n_hidden=4, epochs=2, seed=1)


def test_the_version_stands_in_one_place():
    assert tr.__version__ in (ROOT / "src/thermorbm/__init__.py").read_text()
    assert tr.__version__ not in (ROOT / "pyproject.toml").read_text()
    command = [sys.executable, "-m", "thermorbm", "--version"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert shown == f"thermorbm {tr.__version__}\n"


def test_import_brings_nothing_heavy():
    """Less than 50 ms: none of what takes longer is imported."""
    heavy = ("numpy", "torch", "numba", "scipy", "rich", "matplotlib")
    code = f"import sys, thermorbm; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert found.stdout == "[]\n"


def test_the_start_is_quick():
    """CPU time beside that of a bare Python, which takes 12 ms: 50 ms and 0.3 s are 4 and 25 times that."""
    code = "import json; from benchmarks.start import measure; print(json.dumps(measure(4)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, cwd=ROOT)
    ratios = {name: times["ratio"] for name, times in json.loads(done.stdout).items()}
    assert ratios["import thermorbm"] < 4
    assert ratios["thermorbm --help"] < 25


def test_a_tuple_or_a_number_is_a_lattice(data):
    assert data.lattice == tr.Lattice((6, 6))
    np.testing.assert_array_equal(
        tr.sample(tr.Lattice((6, 6)), temperature=3.0, n_samples=200, seed=1), data.spins()
    )
    assert tr.sample(10, temperature=3.0, n_samples=5).lattice == tr.Lattice((10,))
    with pytest.raises(InputError, match=r"sides such as \(8, 8\)"):
        tr.sample("square", temperature=3.0, n_samples=5)
    with pytest.raises(InputError, match="lattice side must be a whole number"):
        tr.sample((8, 8.5), temperature=3.0, n_samples=5)


def test_a_dataset_is_an_array_a_sequence_and_a_picture(data):
    v = data.spins()
    np.testing.assert_array_equal(np.asarray(data), v)
    assert np.asarray(data, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.array(list(data)), v)
    np.testing.assert_array_equal(data[3], v[3])
    np.testing.assert_array_equal(data[np.int64(-1)], v[-1])
    np.testing.assert_array_equal(data[2:5].spins(), v[2:5])
    np.testing.assert_array_equal(data.grids(0, 7), v[:7].reshape(7, 6, 6))
    with pytest.raises(InputError, match="whose lattice is known"):
        tr.Dataset.from_spins(v).grids()
    with pytest.raises(ValueError, match="makes a copy"):
        np.asarray(data, copy=False)


def test_sites_of_a_cell_lie_along_the_last_axis():
    kagome = tr.hamiltonian("kagome", (2, 3))
    v = np.random.default_rng(1).choice([-1, 1], size=(4, 18))
    data = tr.Dataset.from_spins(v, hamiltonian=kagome)
    np.testing.assert_array_equal(data.grids(), v.reshape(4, 2, 3, 3))
    np.testing.assert_array_equal(kagome.energy(data.grids()), kagome.energy(v))
    image = np.ma.filled(data.plot(n=1).images[0].get_array(), np.nan)
    np.testing.assert_array_equal(image, data.grids()[0, :, :, 0])  # the first site of every cell


def test_the_certificate_survives_hold_out(data):
    train, held_out = tr.hold_out(data)
    assert train.certificate == held_out.certificate == data.certificate
    assert "that of all 200" in held_out.provenance["subset"]


def test_zeros_and_ones_are_taken_as_spins_with_a_word():
    v = np.random.default_rng(1).integers(0, 2, (5, 16))
    with pytest.warns(BinaryValuesWarning, match="0 is taken as spin -1"):
        data = tr.Dataset.from_spins(v)
    np.testing.assert_array_equal(data.spins(), 2 * v - 1)
    np.testing.assert_array_equal(tr.Dataset.from_spins(v, binary=True).spins(), 2 * v - 1)
    with pytest.raises(InputError, match="got 0"):
        tr.Dataset.from_spins(v, binary=False)


def test_machines_take_datasets_rows_and_grids(data, result):
    rbm, v = result.rbm, data.spins(0, 20)
    wanted = rbm.visible_energy(v)
    np.testing.assert_array_equal(rbm.visible_energy(data[:20]), wanted)
    np.testing.assert_array_equal(rbm.visible_energy(data.grids(0, 20)), wanted)
    np.testing.assert_array_equal(rbm.gibbs(data[:20], steps=2, seed=1), rbm.gibbs(v, steps=2, seed=1))
    with pytest.raises(InputError, match=r"shape \(n, 36\), got \(20, 6, 5\)"):
        rbm.visible_energy(np.ones((20, 6, 5)))
    with pytest.raises(InputError, match=r"\+1 or -1, got 0; turn 0/1 into spins with 2 \* v - 1"):
        rbm.visible_energy((v + 1) // 2)


def test_lattices_take_datasets_rows_and_grids(data):
    lattice = data.lattice
    np.testing.assert_array_equal(lattice.energy(data), lattice.energy(data.spins()))
    np.testing.assert_array_equal(lattice.magnetization(data.grids()), lattice.magnetization(data.spins()))


def test_arrays_can_be_trained_on(data, result):
    """The same bits as from the dataset; a grid tells the lattice."""
    again = tr.train(data.grids(), n_hidden=4, epochs=2, seed=1, validation=data.spins(0, 50))
    np.testing.assert_array_equal(again.rbm.W, result.rbm.W)
    assert "held-out" in repr(again)
    symmetric = tr.train(data.grids(), model="symmetric", filters=1, kernel=3, epochs=1)
    assert symmetric.rbm.shape == (6, 6)
    for bad in (np.ones(36), "data.h5", 3):
        with pytest.raises(InputError, match=r"data must be a Dataset or an array of spins, \(n, n_sites\)"):
            tr.train(bad, n_hidden=4)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("lattice", "Lattice(6x6, periodic, 36 sites)"),
        ("hamiltonian", "Hamiltonian(square 6x6)"),
        ("data", "Dataset(200 samples, lattice 6x6, temperature 3.0)"),
        ("certificate", "Certificate(passed, 200 samples, energy "),
        ("machine", "RBM(n_hidden=4, n_visible=36, float32)"),
        ("recipe", "Recipe(name='fast', learning_rate=0.02, epochs=7"),
        ("result", "TrainingResult(RBM(n_hidden=4, n_visible=36, float32), verdict "),
        ("symmetric", "SymmetricRBM(1 filters of 3x3 on 6x6"),
    ],
)
def test_objects_show_themselves_in_one_line_and_in_html(data, result, name, shown):
    things = {
        "lattice": data.lattice,
        "hamiltonian": data.hamiltonian,
        "data": data,
        "certificate": data.certificate,
        "machine": result.rbm,
        "recipe": tr.training.RECIPES["fast"],
        "result": result,
        "symmetric": tr.SymmetricRBM(np.zeros((1, 3, 3)), (6, 6)),
    }
    thing = things[name]
    assert repr(thing).startswith(shown)
    assert len(repr(thing)) < 400
    html = thing._repr_html_()
    assert html.startswith("<div><b>")
    assert "nan" not in html
    assert len(html) < 5000


def test_results_show_themselves_in_one_line_and_in_html(data, result):
    """Numbers with their errors; nothing of arrays but their shape, and nothing that is not known."""
    series = tr.sample((4, 4), temperatures=[2.0, 2.4, 3.0], n_samples=200, seed=1)
    curves = series.reweight(np.linspace(2.1, 2.9, 9))
    entropy = tr.bracket_entropy(result.rbm, data)
    things = {
        r"Verdict\(status=not converged\)": tr.train(data, n_hidden=2, epochs=1, seed=1).verdict,
        r"LogPartition\(value=\d+\.\d+, lower=": entropy.log_partition,
        r"EntropyReport\(log_partition=LogPartition\(.*, bracket=Entropy": entropy,
        r"EntropyBracket\(lower=0\.\d+\(\d+\), upper=0\.\d+\(\d+\), ": entropy.bracket,
        r"Analysis\(n_samples=200, .*, W=Spread\(mean=.*, verdict=": tr.analyse(result.rbm, data),
        r"CriticalPoint\(temperature=2\.\d+": series.critical_temperature("heat_capacity"),
        r"FittedCurve\(temperatures=array of shape \(": series.critical_temperature("heat_capacity").fit,
        r"ThermalCurves\(temperatures=9 from 2.1 to 2.9, energy=Estimates\(-1\.\d+\(\d+\), ": curves,
        r"InferredCouplings\(field=.*, \(0, 1\)=0\.\d+\(\d+\)": infer_couplings(data.grids()),
    }
    for shown, thing in things.items():
        assert re.match(shown, repr(thing))
        assert len(repr(thing)) < 800
        html = thing._repr_html_()
        assert html.startswith(f"<div><b>{type(thing).__name__}</b><table><tr>")
        assert "nan" not in html
    assert re.fullmatch(r"Estimates\((\S+, ){2}\.\.\., \S+, \S+\)", repr(curves.energy))


def test_from_import_to_the_entropy_bracket_in_twelve_lines():
    """Half of what a notebook would do, on a smaller lattice."""
    temperatures = [2.0, 3.0]
    brackets = []
    for T in temperatures:
        train, held_out = tr.hold_out(tr.sample((4, 4), temperature=T, n_samples=400, seed=1))
        rbm = tr.train(train, n_hidden=8, epochs=4, seed=1).rbm
        brackets.append(tr.bracket_entropy(rbm, held_out))
    exact = tr.exact.kaufman(4, np.array(temperatures)).entropy
    axes = tr.plots.plot_bracket(temperatures, brackets, exact=(temperatures, exact))
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "exact",
        "pseudo-entropy, a lower bound",
        "upper bound of the machine",
    ]


@pytest.mark.slow
def test_the_first_steps_take_less_than_a_minute(tmp_path):
    """As printed, from the import to the picture, in CPU time of a process of its own."""
    text = (ROOT / "docs" / "first_steps.md").read_text(encoding="utf-8")
    example = re.search(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    assert len([line for line in example.splitlines() if line.strip()]) <= 12
    code = example + "\nimport time; print(time.process_time())"
    environment = {**os.environ, "MPLBACKEND": "agg"}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path, env=environment)
    assert float(done.stdout.split()[-1]) < 60
    assert (tmp_path / "entropy.png").stat().st_size > 5000


def test_arrays_can_be_read_with_a_machine(data, result):
    v = data.spins(0, 100)
    found = tr.bracket_entropy(result.rbm, v).bracket
    assert found.upper == tr.bracket_entropy(result.rbm, data[:100]).bracket.upper
    assert (found.lower, found.upper.value > 0) == (None, True)  # an array does not say of which Hamiltonian
    for read in (tr.analyse, tr.bracket_entropy):
        with pytest.raises(InputError, match=r"got 'TrainingResult'; a TrainingResult has it as \.rbm"):
            read(result, v)
    share = tr.correlations_learnt(result.rbm, v, entropy=0.5)
    assert share == tr.correlations_learnt(result.rbm, data[:100], entropy=0.5)
    energies = tr.analyse(result.rbm, v).visible_energy
    assert energies.value == pytest.approx(result.rbm.visible_energy(v).mean())


def test_another_hamiltonian_is_not_read_as_the_square_ferromagnet():
    """Its samples lie on a square grid, too, and come from the same kernel."""
    H = tr.hamiltonian("triangular", (4, 4))
    data = tr.sample(H, temperature=6.0, n_samples=200, seed=1)
    assert data.provenance["method"] == "metropolis"
    rbm = tr.train(data, n_hidden=2, epochs=1, seed=1).rbm
    lower = tr.bracket_entropy(rbm, data).bracket.lower
    assert lower.value == pytest.approx(H.pseudo_entropy(data, temperature=6.0).mean() / H.n_sites)
    v = 2 * ((np.arange(2**16)[:, None] >> np.arange(16)) & 1) - 1  # all states
    weights = np.exp(-H.energy(v) / 6.0)
    p = weights / weights.sum()
    entropy = -(p * np.log(p)).sum() / 16
    share, known = tr.correlations_learnt(rbm, data), tr.correlations_learnt(rbm, data, entropy=entropy)
    assert share.value == pytest.approx(known.value)


def test_pictures_draw_what_they_are_given(data, result):
    axes = data.plot(n=3)
    image = np.ma.filled(axes.images[0].get_array(), np.nan)
    np.testing.assert_array_equal(image[:, :6], data.grids(0, 1)[0])
    assert image.shape == (6, 3 * 6 + 2)
    strongest = np.argmax((result.rbm.W**2).sum(axis=1))
    image = tr.plots.plot_filters(result.rbm, n=1).images[0].get_array()
    np.testing.assert_array_equal(image, result.rbm.W[strongest].reshape(6, 6))
    curve = tr.plots.plot_history(result).lines[0]
    np.testing.assert_array_equal(curve.get_ydata(), result.history["pseudo_likelihood"])
    with pytest.raises(InputError, match="quantity must be one of"):
        tr.plots.plot_history(result, "loss")
    with pytest.raises(InputError, match=r"the result of tr\.train, or its history"):
        tr.plots.plot_history(result.rbm)
    with pytest.raises(InputError, match=r"give shape=\(L, L\)"):
        tr.plots.plot_filters(np.ones((2, 7)))
    with pytest.raises(InputError, match="machine must be a machine, or weights"):
        tr.plots.plot_filters(5)


def test_critical_temperatures_stand_below_one_another():
    points = [tr.Estimate(2.3, 0.1), tr.Estimate(2.5, 0.2)]
    axes = tr.plots.plot_critical(["c", "chi"], points, [2.36, None])
    target, found = sorted(axes.lines, key=lambda line: line.get_marker() != "|")
    np.testing.assert_array_equal(found.get_xdata(), [2.3, 2.5])
    np.testing.assert_array_equal(target.get_xdata(), [2.36, np.nan])
    assert [label.get_text() for label in axes.get_yticklabels()] == ["c", "chi"]
    with pytest.raises(InputError, match="one for each of the 1 names and targets"):
        tr.plots.plot_critical(["c"], points)


def test_the_report_draws_by_the_same_functions(monkeypatch):
    """Its filters and curves: what they call is what the pictures of `plots` call."""
    from thermorbm.report import chart, panels

    assert (chart.draw_weights, chart.tiles) == (tr.plots.draw_weights, tr.plots.tiles)
    assert panels.draw_curve is tr.plots.draw_curve


@pytest.fixture(autouse=True)
def _no_window(monkeypatch):
    import matplotlib.pyplot as plt

    plt.switch_backend("agg")
    yield
    plt.close("all")


def test_every_public_name_is_documented():
    for name in tr.__all__:
        assert (getattr(tr, name).__doc__ or "").strip(), name
    assert set(tr.__all__) <= set(dir(tr))
    assert os.path.basename(tr.__file__) == "__init__.py"
