"""The command line: one line and exit code 2 for bad input, nothing left behind, JSON alone on stdout."""

import json
import os
import signal
import subprocess
import sys
import warnings

import numpy as np
import pytest

import thermorbm.cli.console
from thermorbm import samples
from thermorbm.cli import main, run
from thermorbm.dataset import Dataset
from thermorbm.errors import CertificateWarning
from thermorbm.hamiltonians import as_hamiltonian, hamiltonian
from thermorbm.lattice import Lattice
from thermorbm.sampling.certificate import Certificate
from thermorbm.study.toml import builtin_studies

GOOD = {"--shape": "4x4", "-T": "2.25", "-n": "100", "--seed": "1", "-o": "data.h5"}


def sample_arguments(**changes):
    """The command `sample` with some options changed, or left out where None; t=... stands for -T."""
    names = {"t": "-T", "n": "-n", "o": "-o"}
    options = {**GOOD, **{names.get(name, f"--{name}"): value for name, value in changes.items()}}
    return ["sample", *(word for pair in options.items() if pair[1] is not None for word in pair)]


@pytest.fixture(autouse=True)
def in_an_empty_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def no_work(monkeypatch):
    """Sampling that fails the test when it is reached."""

    def refuse(*_, **__):
        raise AssertionError("the work began before the check")

    monkeypatch.setattr(samples, "sample", refuse)


def refused(capsys, arguments):
    """Runs a bad command and returns its only line."""
    before = sorted(os.listdir())
    assert run(arguments) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.endswith("\n")
    assert len(err.splitlines()) == 1
    assert err.startswith("error: ")
    assert sorted(os.listdir()) == before
    return err


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"t": "0"}, "temperature must be a finite number > 0, got 0.0"),
        ({"t": "-1"}, "got -1.0"),
        ({"t": "nan"}, "got nan"),
        ({"t": "inf"}, "got inf"),
        ({"t": "warm"}, "'warm' is not a number"),
        ({"t": None}, "Missing option '--temperature' / '-T'; see 'thermorbm sample --help'"),
        ({"n": "0"}, "n_samples must be a whole number >= 1, got 0"),
        ({"n": "-5"}, "got -5"),
        ({"n": "1.5"}, "'1.5' is not a whole number"),
        ({"n": None}, "Missing option"),
        ({"shape": "4x1"}, "lattice side must be a whole number >= 2, got 1"),
        ({"shape": "4xfour"}, "got '4xfour'; for example 64x64"),
        ({"shape": ""}, "got ''; for example 64x64"),
        ({"shape": None}, "Missing option '--shape'"),
        ({"method": "swendsen"}, "got 'swendsen'; did you mean"),
        ({"method": "zzz"}, "one of auto, metropolis, swendsen-wang, wolff"),
        ({"sector": "negative"}, "got 'negative'"),
        ({"n": "9" * 20}, "n_samples must be at most 1099511627776"),
        ({"shape": "x".join("2" * 70)}, "lattice shape must be one of at most 2147483647 sites"),
        ({"temperature": "1e-300"}, "temperature must be at least 1e-06"),
        ({"sector": "1.5"}, "got 1.5"),
        ({"sector": "nan"}, "got nan"),
        ({"threads": "0"}, "threads must be a whole number >= 1, got 0"),
        ({"threads": "two"}, "'two' is not a whole number"),
        ({"seed": "-1"}, "seed must be a whole number >= 0, got -1"),
        ({"seed": "x"}, "'x' is not a whole number"),
        ({"o": None}, "Missing option '--output' / '-o'"),
        ({"o": "no/such/data.h5"}, "directory 'no/such' does not exist; create it first"),
        ({"o": "."}, "is a directory; name a file"),
        ({"o": "/dev/null"}, "is not a regular file"),
        ({"colour": "red"}, "No such option: --colour"),
    ],
)
def test_bad_options_of_sample(capsys, changes, named):
    assert named in refused(capsys, sample_arguments(**changes))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["smaple"], "No such command 'smaple'"),
        (["--sed"], "No such option: --sed"),
        (["sample", "-T"], "requires an argument"),
        ([*sample_arguments(), "more"], "unexpected extra argument"),
        (["info"], "Missing argument 'FILE'"),
        (["info", "absent.h5"], "absent.h5: cannot be read: No such file or directory"),
        (["info", "."], "Is a directory"),
        (["export", "absent.h5", "-o", "v.npy"], "absent.h5: cannot be read"),
        (["import", "absent.npy", "--shape", "4x4", "-T", "2", "-o", "d.h5"], "absent.npy: cannot be read"),
        (["import", "--shape", "4x4", "-T", "2", "-o", "d.h5"], "Missing argument 'FILE'"),
        (["import", "absent.npy", "--shape", "4x4", "-T", "-2", "-o", "d.h5"], "got -2.0"),
        (["import", "absent.npy", "--shape", "4", "-T", "x", "-o", "d.h5"], "'x' is not a number"),
    ],
)
def test_other_bad_commands(capsys, arguments, named):
    assert named in refused(capsys, arguments)


@pytest.mark.usefixtures("no_work")
def test_an_existing_output_is_kept_and_noticed_before_the_work(capsys):
    with open("data.h5", "w") as file:
        file.write("precious")
    assert "data.h5: exists already; choose another name or use --force" in refused(
        capsys, sample_arguments()
    )
    with open("data.h5") as file:
        assert file.read() == "precious"


@pytest.mark.usefixtures("no_work")
def test_an_unwritable_directory_is_noticed_before_the_work(capsys, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)  # root may write anywhere
    assert "data.h5: cannot be written: Permission denied" in refused(capsys, sample_arguments())


def test_a_request_beyond_memory_is_bad_input(capsys, monkeypatch):
    def fail(*_, **__):
        raise MemoryError("Unable to allocate 8 TiB")

    monkeypatch.setattr(samples, "sample", fail)
    assert "not enough memory: Unable to allocate 8 TiB" in refused(capsys, sample_arguments())


def test_an_error_of_the_system_is_one_line(capsys, monkeypatch):
    def fail(*_, **__):
        raise OSError(28, "No space left on device", "/cache/kernel.nbi")

    monkeypatch.setattr(samples, "sample", fail)
    assert "error: /cache/kernel.nbi: No space left on device" in refused(capsys, sample_arguments())


def test_an_interrupt_is_one_line(capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(samples, "sample", interrupt)
    assert run(sample_arguments()) == 130
    assert capsys.readouterr() == ("", "error: interrupted\n")
    assert os.listdir() == []


@pytest.fixture(params=["SIGTERM", "SIGHUP", "SIGUSR1"])
def request_to_end(request):
    """A signal with its default handler: nohup, under which tests may run, has SIGHUP ignored."""
    number = getattr(signal, request.param)
    before = signal.signal(number, signal.SIG_DFL)
    yield number
    signal.signal(number, before)


def test_a_request_to_end_is_one_line(request_to_end, capsys, monkeypatch):
    monkeypatch.setattr(samples, "sample", lambda *_, **__: signal.raise_signal(request_to_end))
    assert run(sample_arguments()) == 143
    assert capsys.readouterr() == ("", "error: ended on request\n")
    assert os.listdir() == []
    assert signal.getsignal(request_to_end) == signal.SIG_DFL


def test_arrays_are_not_replaced_by_what_is_made_from_them(capsys):
    np.save("a.npy", np.ones((3, 16), np.int8))
    os.symlink("a.npy", "b.npy")
    for target in ("a.npy", "b.npy"):
        assert "is what the output is made from" in refused(
            capsys, ["import", "a.npy", "-o", target, "--force"]
        )
    assert np.load("a.npy").shape == (3, 16)


def test_ctrl_c_ends_two_busy_threads():
    """A lattice that would take hours, interrupted once its threads are at work."""
    command = [sys.executable, "-m", "thermorbm", *sample_arguments(shape="256x256", n="2000", threads="2")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline().startswith("equilibrate")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=240)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "error: interrupted"
    assert "Traceback" not in err
    assert os.listdir() == []


def test_mistakes_of_ours_are_not_hidden(monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError

    monkeypatch.setattr(samples, "sample", fail)
    with pytest.raises(ZeroDivisionError):
        run(sample_arguments())


def test_sample_writes_a_certified_file(capsys):
    assert run([*sample_arguments(n="2000"), "--json"]) == 0
    out, err = capsys.readouterr()
    summary = json.loads(out)
    data = Dataset.load("data.h5")
    assert (len(data), data.lattice, data.temperature) == (2000, Lattice((4, 4)), 2.25)
    assert summary["file"] == "data.h5"
    assert summary["shape"] == [4, 4]
    assert (summary["n_samples"], summary["temperature"], summary["seed"]) == (2000, 2.25, 1)
    assert (summary["method"], summary["sector"], summary["certified"]) == ("metropolis", "symmetric", True)
    assert summary["certificate"] == json.loads(json.dumps(data.certificate.to_dict()))
    assert "100 %" in err
    assert os.listdir() == ["data.h5"]
    first = data.spins()
    assert run([*sample_arguments(n="2000"), "--force"]) == 0
    assert "wrote data.h5" in capsys.readouterr().out
    np.testing.assert_array_equal(Dataset.load("data.h5").spins(), first)


def test_sample_passes_every_option_on(monkeypatch):
    got = {}

    def fake(model, temperature, n_samples, **options):
        got.update(options, model=model, temperature=temperature, n_samples=n_samples)
        return Dataset.from_spins(np.ones((n_samples, model.n_sites)), model.lattice, temperature)

    monkeypatch.setattr(samples, "sample", fake)
    assert run(sample_arguments(method="wolff", sector="0.6", threads="3")) == 0
    del got["progress"]
    assert got == {
        "model": as_hamiltonian(Lattice((4, 4))),
        "temperature": 2.25,
        "n_samples": 100,
        "seed": 1,
        "method": "wolff",
        "sector": 0.6,
        "threads": 3,
    }


def test_a_failed_certificate_is_loud(capsys, monkeypatch):
    numbers = {name: float("nan") for name in Certificate.__dataclass_fields__ if name != "failures"}
    failed = Certificate(**numbers, failures=("energy is off", "chains disagree"))

    def fake(model, temperature, n_samples, **_):
        warnings.warn("energy is off", CertificateWarning, stacklevel=2)
        packed = np.zeros((n_samples, 2), np.uint8)
        return Dataset(packed, model.lattice, temperature, {}, failed)

    monkeypatch.setattr(samples, "sample", fake)
    assert run([*sample_arguments(), "--json"]) == 3
    out, err = capsys.readouterr()
    assert json.loads(out)["certified"] is False
    assert json.loads(out)["certificate"]["energy"] is None  # NaN is not JSON
    assert [line.partition(":")[0] for line in err.splitlines()] == ["WARNING"] * 3
    for words in ("did NOT pass", "energy is off", "chains disagree"):
        assert words in err
    assert Dataset.load("data.h5").certificate.passed is False


def test_import_info_and_export(capsys):
    spins = 2 * np.random.default_rng(0).integers(0, 2, (30, 4, 4)) - 1
    np.save("a.npy", spins[:20])
    np.savez("b.npz", v=spins[20:] > 0, w=spins[20:])
    common = ["--shape", "4x4", "-T", "2.25", "-o", "d.h5"]
    assert "several arrays" in refused(capsys, ["import", "a.npy", "b.npz", *common])
    assert run(["import", "a.npy", "b.npz", *common, "--array", "v"]) == 0
    capsys.readouterr()
    assert "exists already" in refused(capsys, ["import", "a.npy", *common])
    assert run(["info", "d.h5", "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert (summary["n_samples"], summary["certificate"], summary["method"]) == (30, None, "import")
    assert run(["info", "d.h5"]) == 0
    table = capsys.readouterr().out
    assert "d.h5" in table
    assert "4, 4" in table
    assert run(["export", "d.h5", "-o", "e.npy"]) == 0
    np.testing.assert_array_equal(np.load("e.npy"), spins.reshape(30, 16))
    capsys.readouterr()
    assert "exists already" in refused(capsys, ["export", "d.h5", "-o", "e.npy"])
    assert "end it in .npy or .npz" in refused(capsys, ["export", "d.h5", "-o", "e.csv"])


def test_import_without_geometry(capsys):
    np.save("a.npy", np.ones((3, 5)))
    assert run(["import", "a.npy", "-o", "d.h5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["shape"] is None


@pytest.mark.parametrize("values", [[[3.0] * 16], [[1.0] * 15], [1.0] * 16])
def test_bad_arrays_are_refused(capsys, values):
    np.save("a.npy", values)
    assert "a.npy: spins must be" in refused(
        capsys, ["import", "a.npy", "--shape", "4x4", "-T", "2", "-o", "d.h5"]
    )


def test_an_altered_file_is_refused(capsys):
    Dataset.from_spins(np.ones((3, 16)), Lattice((4, 4)), 2.0).save("d.h5")
    with open("d.h5", "r+b") as file:
        file.seek(700)
        file.write(b"x")
    assert "d.h5: checksum does not match" in refused(capsys, ["info", "d.h5"])
    assert "d.h5: checksum does not match" in refused(capsys, ["export", "d.h5", "-o", "v.npy"])
    with open("d.h5", "r+b") as file:
        file.truncate(300)
    assert "d.h5: is damaged" in refused(capsys, ["info", "d.h5"])
    with open("d.h5", "w") as file:
        file.write("not ours")
    assert "d.h5: is not a file of thermorbm" in refused(capsys, ["info", "d.h5"])


def test_help_and_version(capsys):
    assert run(["--version"]) == 0
    assert capsys.readouterr().out.startswith("thermorbm 0.")
    for arguments in ([], ["--help"], ["-h"], ["sample", "--help"], ["import", "-h"], ["info", "-h"]):
        assert run(arguments) == 0
        text = capsys.readouterr().out
        assert "Example" in text
        assert "Exit codes:" in text
    assert run(["sample", "--help"]) == 0
    help_text = capsys.readouterr().out
    for option in ("--shape", "-T,", "-n,", "--seed", "-o,", "--method", "--sector", "--threads", "--force"):
        assert option in help_text


def test_help_lists_the_commands_in_the_order_of_the_work(capsys):
    assert run(["--help"]) == 0
    text = capsys.readouterr().out.split("Commands:\n")[1].split("\n\n")[0]
    names = [line.split()[0] for line in text.splitlines()]
    assert names[:4] == ["run", "init", "status", "report"]
    assert names.index("sample") < names.index("train") < names.index("analyse") < names.index("generate")


def test_help_of_run_says_what_every_study_is(capsys):
    assert run(["run", "--help"]) == 0
    text = capsys.readouterr().out.split("Built-in studies:")[1].split("Examples:")[0]
    assert set(builtin_studies()) <= set(text.replace(",", " ").split())


@pytest.mark.parametrize(
    ("words", "completed"), [("thermorbm cr", ["critical"]), ("thermorbm run d", ["desk"])]
)
def test_the_shell_completes_commands_and_studies(words, completed):
    place = str(len(words.split()) - 1)
    wanted = {"_THERMORBM_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": place}
    done = subprocess.run(
        [sys.executable, "-m", "thermorbm"], capture_output=True, text=True, env={**os.environ, **wanted}
    )
    assert done.stdout.split() == completed


def test_main_leaves_with_the_exit_code():
    with pytest.raises(SystemExit) as caught:
        main(["info", "absent.h5"])
    assert caught.value.code == 2


HEAVY = {
    "h5py",
    "jinja2",
    "matplotlib",
    "numba",
    "numpy",
    "pandas",
    "PIL",
    "rich",
    "scipy",
    "torch",
}


def test_help_loads_no_heavy_library():
    """In a process of its own, as users meet it."""
    program = (
        "import sys\n"
        "from thermorbm.cli import run\n"
        "code = run(['--help'])\n"
        f"loaded = {HEAVY!r} & set(sys.modules)\n"
        "sys.exit(f'loaded: {loaded}' if loaded else code)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert "thermorbm sample" in done.stdout


def test_errors_have_no_traceback():
    bad = subprocess.run(
        [sys.executable, "-m", "thermorbm", "info", "absent.h5"], capture_output=True, text=True
    )
    assert (bad.returncode, bad.stdout) == (2, "")
    assert bad.stderr == "error: absent.h5: cannot be read: No such file or directory\n"


def test_progress_without_a_terminal_is_a_line_per_tenth(capsys):
    with thermorbm.cli.console.progress() as report:
        for done in range(1, 1001):
            report("sampling", done, 1000)
        report("certificate", 3, 1)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 11
    assert lines[0].startswith("sampling: 10 % (100/1000), ")
    assert lines[9:] == ["sampling: 100 % (1000/1000), done", "certificate: 100 % (3/3), done"]


def test_progress_on_a_terminal_is_a_bar(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with thermorbm.cli.console.progress() as report:
        report("sampling", 0, 10)
        report("sampling", 10, 10)
    out, err = capsys.readouterr()
    assert out == ""
    assert "sampling" in err
    assert "100%" in err


def test_demo_agrees_with_exact_energies(capsys):
    from thermorbm.trials import demo_rows

    rows = list(demo_rows(n_samples=512))
    assert all(row.certified and abs(row.z_score) < 4.5 for row in rows)
    assert run(["demo"]) == 0
    assert "Kaufman" in capsys.readouterr().out


def test_other_hamiltonians_are_sampled_by_name(capsys):
    options = {"lattice": "triangular", "shape": "6x6", "coupling": "-1", "field": "0.1", "t": "1.0"}
    assert run([*sample_arguments(**options), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["hamiltonian"] == "Hamiltonian(triangular 6x6, coupling -1.0, field 0.1)"
    assert summary["method"] == "tempering"
    assert Dataset.load("data.h5").hamiltonian == hamiltonian("triangular", (6, 6), coupling=-1, field=0.1)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"lattice": "pm-j", "p": "0.9", "disorder-seed": "3"}, {"name": "pm-j", "p": 0.9, "seed": 3}),
        ({"coupling": "1,0.5", "open": "1"}, {"name": "square", "coupling": (1, 0.5), "open": (False, True)}),
        ({"lattice": "honeycomb", "open": "0,1"}, {"name": "honeycomb", "open": True}),
    ],
)
def test_disorder_edges_and_several_couplings_on_the_command_line(options, wanted):
    assert run(sample_arguments(shape="4x5", t="3", **options)) == 0
    assert Dataset.load("data.h5").hamiltonian == hamiltonian(shape=(4, 5), **wanted)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"lattice": "hexagonal"}, "lattice must be one of"),
        ({"coupling": "x"}, "not a number"),
        ({"coupling": "nan"}, "finite"),
        ({"coupling": "1e308"}, "coupling must be a finite number, at most 1e+09"),
        ({"field": "1e308"}, "field must be finite, at most 1e+09"),
        ({"open": "-1"}, "axes"),
        ({"open": "99999999999"}, "open must be axes from 0 to 1"),
        ({"field": "0.1", "method": "wolff"}, "ghost spin"),
        ({"lattice": "triangular", "coupling": "-1", "method": "wolff"}, "percolate"),
        ({"lattice": "j1j2"}, "shell"),
    ],
)
def test_bad_hamiltonians_end_in_one_line(options, named, capsys):
    assert named in refused(capsys, sample_arguments(**options))
