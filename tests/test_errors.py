"""Errors carry the value, the wish and the remedy, also from one process to another."""

import pickle

import numpy as np
import pytest

from thermorbm.errors import FileError, InputError, ThermorbmError, unknown_name


def test_input_error_says_what_it_got_and_wanted():
    error = InputError("temperature", -1.0, "a number > 0", "give it in J/k_B")
    assert str(error) == "temperature must be a number > 0, got -1.0; give it in J/k_B"
    assert str(InputError("n", 0, "> 0")) == "n must be > 0, got 0"


def test_a_long_value_is_shortened_to_one_line():
    message = str(InputError("rows", np.arange(500), "a whole number", "use select"))
    assert message.startswith("rows must be a whole number, got array([ 0, 1, 2,")
    assert message.endswith("...; use select")
    assert len(message) < 300
    assert "\n" not in message


def test_file_error_names_the_file():
    assert str(FileError("a.h5", "is damaged", "make it again")) == "a.h5: is damaged; make it again"


def test_errors_are_also_of_the_usual_python_kind():
    assert issubclass(InputError, ThermorbmError | ValueError)
    assert issubclass(FileError, ThermorbmError | OSError)


@pytest.mark.parametrize("error", [InputError("n", 0, "> 0", "more"), FileError("a", "is damaged", "again")])
def test_errors_survive_pickling(error):
    copy = pickle.loads(pickle.dumps(error))  # noqa: S301
    assert (type(copy), str(copy), copy.remedy) == (type(error), str(error), error.remedy)


def test_unknown_name_suggests_the_nearest():
    valid = ["metropolis", "swendsen-wang", "wolff"]
    assert str(unknown_name("method", "Wolf", valid)).endswith("got 'Wolf'; did you mean 'wolff'?")
    assert "did you mean 'swendsen-wang'" in str(unknown_name("method", "swendsen", valid))
    assert "did you mean" not in str(unknown_name("method", "zzz", valid))
    assert "metropolis, swendsen-wang, wolff" in str(unknown_name("method", 7, valid))
