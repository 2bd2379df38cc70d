"""Studies from TOML: what is read, and the one line that every mistake gets."""

import pytest

from thermorbm.errors import FileError
from thermorbm.study.spec import PARTS
from thermorbm.study.toml import builtin_studies, find_study, load_study

FAMILY = '[[family]]\nname = "2d"\nshape = [4, 4]\ntemperatures = [2.0, 3.0]\nsamples = 100\n'
HEAD = 'name = "s"\n'
DATA = HEAD + '[[family]]\nname = "mine"\nhidden = [2]\n'


def refused(path):
    """The one line of a study that cannot be used."""
    with pytest.raises(FileError) as caught:
        load_study(path)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert len(message.splitlines()) == 1
    return message.removeprefix(f"{path}: ")


def test_a_full_study_is_read(write_study):
    text = """
name = "full"
title = "All keys"
seed = 5
precision = "fp32"

[[family]]
name = "3d"
shape = "4x4x4"
temperatures = {from = 4.0, to = 5.0, count = 11}
samples = 100
held_out = 20
method = "wolff"
hidden = [4, 8]
recipe = "paper"
seeds = 2
parts = ["thermal", "weights"]
all_filters = [4.5]

[family.changes]
epochs = 3

[family.value_changes]
"4.5" = {epochs = 2, batch_size = 64}

[family.energies]
temperatures = [1.0, 2.0]
samples = 50

[[family.variant]]
name = "zero"
zero_bias = true
temperatures = [4.5]

[[family.variant]]
name = "all"
union = true
recipe = "fast"
hidden = 16
proportions = [1, 1, 1, 1, 1, 2, 1, 1, 1, 1, 1]
sector = 0.6
samples = 50
"""
    study = load_study(write_study(text))
    family = study.families[0]
    main, zero, union = family.variants
    assert (study.name, study.seed, study.precision) == ("full", 5, "fp32")
    assert family.shape == (4, 4, 4)
    assert family.temperatures == (4.0, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 4.7, 4.8, 4.9, 5.0)
    assert family.energies.temperatures == (1.0, 2.0)
    assert (main.name, main.hidden, main.recipe, main.seeds) == ("main", (4, 8), "paper", 2)
    assert main.value_changes == {4.5: {"epochs": 2, "batch_size": 64}}
    assert zero.value_changes == {}
    assert zero.changes == {"epochs": 3, "zero_bias": True}
    assert zero.hidden == main.hidden
    assert (union.union, union.hidden, union.sector, union.samples) == (True, (16,), 0.6, 50)
    assert union.changes == {}  # changes belong to the recipe that the family names


def test_defaults(write_study):
    family = load_study(write_study(HEAD + FAMILY)).families[0]
    assert family.parts == PARTS
    assert family.variants == ()
    assert (family.method, family.hamiltonian, family.held_out) == ("metropolis", "ising", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("name = ", "is not valid TOML: Invalid value"),
        ("", "name must be a line of text, got 'nothing'"),
        ('name = "a/b"', "name must be up to 40 letters, digits"),
        (HEAD, "family must be one or more [[family]] tables, got 'nothing'"),
        (HEAD + "colour = 1\n" + FAMILY, "got 'colour'; did you mean 'control'?"),
        (HEAD + "seed = -1\n" + FAMILY, "seed must be a whole number >= 0, got -1"),
        (HEAD + 'seed = "1"\n' + FAMILY, "seed must be a whole number, got '1'"),
        (HEAD + "title = 3\n" + FAMILY, "title must be a line of text, got 3"),
        (HEAD + 'precision = "fp8"\n' + FAMILY, "precision must be one of auto, fp32, bf16, got 'fp8'"),
        (HEAD + "family = 3", "family must be tables [[family]], got 3"),
        (HEAD + FAMILY + "sample = 3", "key in [family.2d] must be one of"),
        (HEAD + FAMILY + "sample = 3", "got 'sample'; did you mean 'samples'?"),
        (HEAD + FAMILY + FAMILY, "family names must be all different, got '2d'"),
        (HEAD + FAMILY.replace("100", "0"), "family.2d.samples must be a whole number >= 2, got 0"),
        (HEAD + FAMILY.replace("100", "1.5"), "family.2d.samples must be a whole number, got 1.5"),
        (HEAD + FAMILY.replace("100", "true"), "family.2d.samples must be a whole number, got True"),
        (
            HEAD + FAMILY.replace("2.0, 3.0", "3.0, 2.0"),
            "family.2d.temperatures must be sorted, lowest first",
        ),
        (
            HEAD + FAMILY.replace("2.0, 3.0", "2.0, 2"),
            "family.2d.temperatures must be all different, got 2.0",
        ),
        (HEAD + FAMILY.replace("2.0, 3.0", "-2.0, 3"), "temperatures must be finite numbers > 0, got -2.0"),
        (HEAD + FAMILY.replace("2.0, 3.0", "0, 3"), "temperatures must be finite numbers > 0, got 0.0"),
        (HEAD + FAMILY.replace("2.0, 3.0", "2.0, nan"), "temperatures must be finite numbers > 0, got nan"),
        (HEAD + FAMILY.replace("2.0, 3.0", "2.0, inf"), "temperatures must be finite numbers > 0, got inf"),
        (HEAD + FAMILY.replace("2.0, 3.0", '"warm"'), "family.2d.temperatures must be numbers, got ['warm']"),
        (HEAD + FAMILY.replace("2.0, 3.0", ""), "family.2d.temperatures must be one or more temperatures"),
        (HEAD + FAMILY.replace("4, 4", "4, 1"), "family.2d.shape must be a whole number >= 2, got 1"),
        (HEAD + FAMILY.replace("[4, 4]", '"4by4"'), "got '4by4'; for example 64x64"),
        (HEAD + FAMILY.replace("shape = [4, 4]\n", ""), "family.2d.shape must be the sides of the lattice"),
        (HEAD + FAMILY.replace("[2.0, 3.0]", "{from = 3, to = 2, count = 4}"), "with a < b"),
        (HEAD + FAMILY.replace("[2.0, 3.0]", "{from = 1, to = 2, count = 1}"), "a count between 2 and"),
        (HEAD + FAMILY.replace("[2.0, 3.0]", "{from = 1, to = 2, steps = 4}"), "temperatures.count must be"),
        (HEAD + FAMILY + "held_out = 1", "family.2d.held_out must be a whole number >= 2, got 1"),
        (HEAD + FAMILY + 'method = "wolf"', "got 'wolf'; did you mean 'wolff'?"),
        (HEAD + FAMILY + 'parts = ["weight"]', "got 'weight'; did you mean 'weights'?"),
        (HEAD + FAMILY + "hidden = [0]", "family.2d.hidden must be a whole number >= 1, got 0"),
        (HEAD + FAMILY + "hidden = [4, 4]", "family.2d.hidden must be all different, got 4"),
        (HEAD + FAMILY + "hidden = [true]", "family.2d.hidden must be whole numbers"),
        (HEAD + FAMILY + "seeds = 0", "family.2d.seeds must be a whole number >= 1, got 0"),
        (HEAD + FAMILY + "all_filters = [9]", "all_filters must be among the family's temperatures, got 9.0"),
        (HEAD + FAMILY + "changes = 3", "family.2d.changes must be a table [family.2d.changes], got 3"),
        (HEAD + FAMILY + "changes = {epochs = [3]}", "family.2d.changes.epochs must be a number"),
        (
            HEAD + FAMILY + "hidden = [4]\nvalue_changes = {'9.5' = {epochs = 3}}",
            "value_changes must be among the family's temperatures, got 9.5",
        ),
        (HEAD + FAMILY + "hidden = [4]\nvalue_changes = {4 = 3}", "value_changes.4 must be a table"),
        (HEAD + FAMILY + "hidden = [4]\nsize_changes = {5 = {epochs = 3}}", "of this variant, [4], got 5"),
        (
            HEAD + FAMILY + "hidden = [4]\nsize_changes = {'4.5' = {}}",
            "size_changes.4.5 must be a number of hidden units before its changes",
        ),
        (
            HEAD + FAMILY + "hidden = [4]\nvalue_changes = {x = {}}",
            "value_changes.x must be a temperature before its changes",
        ),
        (HEAD + FAMILY + "hidden = [4]\nvalue_changes = {4 = {epochs = []}}", "4.epochs must be a number"),
        (
            HEAD + FAMILY + "energies = {temperatures = [1]}",
            "family.2d.energies.samples must be a whole number",
        ),
        (HEAD + FAMILY + "energies = {samples = 9}", "family.2d.energies.temperatures must be one or more"),
        (HEAD + FAMILY + '[[family.variant]]\nname = "x"', "family.2d.variant.x.hidden must be one or more"),
        (HEAD + FAMILY + "[[family.variant]]\nhidden = 3", "family.2d.variant.1.name must be a line of text"),
        (
            HEAD + FAMILY + '[[family.variant]]\nname = "x"\nhidden = 3\nunoin = true',
            "key in [family.2d.variant.x] must be one of",
        ),
        (
            HEAD + FAMILY + '[[family.variant]]\nname = "x"\nhidden = 3\ntemperatures = [2.5]',
            "temperatures must be among the family's temperatures, got 2.5; add it there first",
        ),
        (
            HEAD + FAMILY + '[[family.variant]]\nname = "x"\nhidden = 3\nsector = 1.5',
            "family.2d.variant.x.sector must be 'symmetric', 'positive' or a fraction",
        ),
        (
            HEAD + FAMILY + '[[family.variant]]\nname = "x"\nhidden = 3\nproportions = [1, 2]',
            "proportions must be absent unless union = true",
        ),
        (
            HEAD + FAMILY + '[[family.variant]]\nname = "x"\nhidden = 3\nunion = true\nproportions = [0, 0]',
            "proportions must be numbers >= 0, not all 0",
        ),
        (HEAD + '[[data]]\nfile = "x.npy"', "family must be a [[family]] table for the [[data]]"),
        (DATA + "[[data]]\ntemperature = 1", "data.1.file must be one or more file names"),
        (DATA + "[[data]]\nfile = 3", "data.1.file must be texts, got [3]"),
        (DATA + '[[data]]\nfile = "x"\ntemperature = "hot"', "data.1.temperature must be numbers"),
        (DATA + '[[data]]\nfile = "x"\ntemperature = 1\nvalue = 2', "data.1.value must be absent where"),
        (DATA + '[[data]]\nfile = "x"\nvalue = 1\nparameter_array = "p"', "parameter_array must be absent"),
        (DATA + '[[data]]\nfile = "x"\nfamily = "min"', "data.1.family must be one of mine, got 'min'"),
        (DATA + '[[data]]\nfile = "x"\nfamlly = "mine"', "did you mean 'family'?"),
        (DATA + 'samples = 5\n[[data]]\nfile = "x"', "family.mine.samples must be absent in a family whose"),
        (DATA + 'hamiltonian = "isling"\n[[data]]\nfile = "x"', "did you mean 'ising'?"),
        ('name = "s"\n[control]\nname = "field"\n' + FAMILY, "temperature where we sample ourselves"),
        (
            'name = "s"\n[control]\nname = "field"\n'
            + '[[family]]\nname = "m"\nhamiltonian = "ising"\n[[data]]\nfile = "x"',
            "family.m.hamiltonian must be unknown, got 'ising'",
        ),
        ("x = " + "[" * 3000, "is not a study: nested too deeply"),
        ("x = 1" + "0" * 5000, "is not a study"),
    ],
)
def test_mistakes(write_study, text, message):
    assert message in refused(write_study(text))


def test_files_that_are_no_studies(tmp_path):
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe")
    assert "is not valid TOML" in refused(tmp_path / "binary.toml")
    assert "does not exist; to write a commented study there: thermorbm init" in refused(
        tmp_path / "absent.toml"
    )
    assert "Is a directory" in refused(tmp_path)


def test_users_files_lie_beside_the_study(write_study, tmp_path):
    study = load_study(write_study(DATA + '[[data]]\nfile = ["a.npy", "b.npy"]\ntemperature = 2'))
    assert study.families[0].data[0].files == (tmp_path / "a.npy", tmp_path / "b.npy")
    assert study.families[0].hamiltonian == "unknown"


def test_built_in_studies_are_valid_and_found_by_name():
    known = builtin_studies()
    assert {"tiny", "desk", "paper-2d", "paper-3d", "paper-union", "paper"} <= set(known)
    for name in known:
        assert load_study(find_study(name)).name == name
