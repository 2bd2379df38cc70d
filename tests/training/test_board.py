"""The history for TensorBoard: every record once, and a training that does not notice."""

import sys

import numpy as np
import pytest

import thermorbm as tr
from thermorbm.errors import ThermorbmError


@pytest.fixture(scope="module")
def data():
    return tr.sample((4, 4), temperature=3.0, n_samples=300, seed=1)


def scalars(directory):
    """By tag: updates and values."""
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = reader.EventAccumulator(str(directory)).Reload()
    return {
        tag: [(event.step, event.value) for event in events.Scalars(tag)] for tag in events.Tags()["scalars"]
    }


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_record_is_written_and_the_training_is_the_same(data, tmp_path):
    pytest.importorskip("tensorboard")
    options = {"n_hidden": 4, "epochs": 400, "seed": 1, "stop_early": False, "validation": data[:50]}
    plain = tr.train(data, **options)
    result = tr.train(data, **options, tensorboard=tmp_path)
    for name, array in plain.rbm.parameters.items():
        np.testing.assert_array_equal(result.rbm.parameters[name], array)
    assert result.rbm.provenance == plain.rbm.provenance
    written = scalars(tmp_path)
    updates = result.history["update"]
    assert len(updates) > 2
    for tag, column in (("training", "pseudo_likelihood"), ("held out", "validation_pseudo_likelihood")):
        steps, values = np.transpose(written[f"{tag}/pseudo_likelihood"])
        np.testing.assert_array_equal(steps, updates)
        np.testing.assert_allclose(values, result.history[column], rtol=1e-6)


def test_without_tensorboard_the_remedy_is_said(data, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ThermorbmError, match=r"pip install 'thermorbm\[tensorboard\]'"):
        tr.train(data, n_hidden=2, epochs=1, tensorboard=tmp_path)


def test_few_configurations_make_one_batch(data):
    """Fewer than a batch of the recipe: it works, and says so; a batch that is asked for is not changed."""
    with pytest.warns(
        UserWarning, match=r"fewer configurations \(60\) than a batch of the recipe has \(128\)"
    ):
        result = tr.train(data[:60], n_hidden=4, epochs=2, seed=1)
    assert result.rbm.provenance["training"]["recipe"]["batch_size"] == 60
    again = tr.train(data[:60], n_hidden=4, epochs=2, seed=1, batch_size=60)
    np.testing.assert_array_equal(again.rbm.W, result.rbm.W)
    with pytest.raises(ThermorbmError, match=r"got 61; train\(\.\.\., batch_size=60\)"):
        tr.train(data[:60], n_hidden=4, batch_size=61)
