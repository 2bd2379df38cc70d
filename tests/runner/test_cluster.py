"""Studies on Dask clusters: bit for bit what local processes make, with and without a shared directory."""

import json
import subprocess
import sys
import threading
import time

import pytest

from thermorbm.errors import FileError, InputError
from thermorbm.runner import cluster, remote
from thermorbm.runner.cluster import ClusterWorkers, open_cluster, slurm_cluster
from thermorbm.runner.rundir import open_run, prepare
from thermorbm.runner.store import versions
from thermorbm.runner.task import Cost
from thermorbm.study.run import run_study
from thermorbm.study.steps import STEPS

# Dask's own threads and sockets end a little later than its objects.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def test_a_cluster_here_gives_what_processes_give(finished, small_file, tmp_path, recorder, results):
    summary = run_study(small_file, tmp_path / "run", recorder, n_workers=1, cluster="local")
    assert summary.is_complete
    assert results(tmp_path / "run") == results(finished.directory.path)
    assert all((tmp_path / "run" / "logs" / f"{task}.log").exists() for task in summary.outcome.done)
    assert remote._WORKERS == {}


@pytest.fixture
def scheduler(tmp_path):
    """The address of a scheduler, and a function that starts a worker with its own home directory."""
    file = tmp_path / "scheduler.json"
    processes = [start("scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
                       "--scheduler-file", file)]  # fmt: skip

    def worker(*options):
        process = start("worker", "--scheduler-file", file, "--nthreads", "1", "--no-dashboard", "--no-nanny",
                        "--local-directory", tmp_path, *options)  # fmt: skip
        processes.append(process)
        return process

    while not file.exists():
        assert processes[0].poll() is None
        time.sleep(0.1)
    worker.scheduler = processes[0]
    yield json.loads(file.read_text())["address"], worker
    for process in processes:
        process.kill()
    for process in processes:
        process.wait(60)


def start(*words):
    command = [sys.executable, "-m", "distributed.cli.dask_" + words[0], *map(str, words[1:])]
    return subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def test_workers_that_do_not_see_the_directory_send_their_results(
    finished, small_file, tmp_path, recorder, results, scheduler, monkeypatch
):
    """The token that is sent fits no lock, as if the directory were another one."""
    address, worker = scheduler
    monkeypatch.setattr(cluster, "mark_of", lambda directory: "of another directory")
    threading.Timer(2.0, worker).start()  # the runner waits for it
    summary = run_study(small_file, tmp_path / "run", recorder, cluster=address)
    assert summary.is_complete
    assert results(tmp_path / "run") == results(finished.directory.path)
    assert all((tmp_path / "run" / "logs" / f"{task}.log").exists() for task in summary.outcome.done)
    assert not list((tmp_path / "run").glob("cache/checkpoints/*"))
    assert recorder.notes == ["waiting for workers"]


class Killer:
    """A listener that kills a worker when its task has begun, after another one has come."""

    def __init__(self, client, victim, start_worker):
        self._client, self._victim, self._start_worker = client, victim, start_worker
        self.notes = []

    def note(self, text):
        self.notes.append(text)

    def update(self, snapshot):
        if snapshot.counts["running"] and self._victim is not None:
            self._start_worker()
            self._client.wait_for_workers(2)
            self._victim.kill()
            self._victim = None


@pytest.mark.slow
def test_a_worker_of_the_cluster_that_is_killed(write_study, tmp_path, scheduler):
    """Its task runs again on another worker, and the study ends."""
    address, start_worker = scheduler
    study = write_study(**{"hidden = [4]": 'parts = ["thermal"]', "= 256": "= 400_000"})
    with open_cluster(address, 1) as client:
        killer = Killer(client, start_worker(), start_worker)
        client.wait_for_workers(1)
        summary = run_study(study, tmp_path / "run", killer, cluster=address)
    assert summary.is_complete
    assert len(summary.outcome.done) == 4
    assert killer._victim is None


GPU = {"x": Cost(1.0, 1, gpus=1)}


@pytest.fixture
def client():
    with open_cluster("local", 1) as client:
        yield client


@pytest.fixture
def directory(tmp_path):
    directory = open_run(tmp_path / "run", "s")
    prepare(directory, "", [])
    directory.lock.write_text("mine")
    return directory


def test_tasks_that_want_a_gpu_need_a_worker_that_has_one(client, directory):
    with pytest.raises(InputError, match="no worker offers a GPU: dask worker --resources GPU=1"):
        ClusterWorkers(directory, client, GPU).__enter__()


def test_other_versions_are_refused(client, directory, monkeypatch):
    found = {"sees": True, "versions": {**remote.greet("", "")["versions"], "torch": "1.0"}}
    monkeypatch.setattr(type(client), "run", lambda *_: {"tcp://there": found})
    with pytest.raises(FileError, match=r"there: has torch 1.0, the runner .*: results would not"):
        ClusterWorkers(directory, client, {}).__enter__()


def test_addresses_that_lead_nowhere(monkeypatch):
    monkeypatch.setattr(cluster, "CONNECT_SECONDS", 0.2)
    with pytest.raises(InputError, match="local, slurm or an address like tcp://host:8786, got 'there'"):
        open_cluster("there", 1)
    with pytest.raises(FileError, match=r"no Dask scheduler answers .*; start one with: dask scheduler"):
        open_cluster("tcp://127.0.0.1:1", 1)
    with pytest.raises(FileError, match="no Dask scheduler answers"):
        open_cluster("nonsense://127.0.0.1:1", 1)


def test_without_dask_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(InputError, match=r"pip install 'thermorbm\[cluster\]'"):
        open_cluster("local", 1)


def test_the_job_script_for_slurm():
    import dask

    configured = {
        "jobqueue.slurm.queue": "short",
        "jobqueue.slurm.walltime": "02:00:00",
        "jobqueue.slurm.job-extra-directives": ["--gres=gpu:1"],
        "jobqueue.slurm.worker-extra-args": ["--resources", "GPU=1"],
    }
    with dask.config.set(configured), slurm_cluster(interface="lo") as found:
        script = found.job_script()
    for line in ("#SBATCH -p short", "#SBATCH -n 1", "#SBATCH --cpus-per-task=1", "#SBATCH --mem=4G",
                 "#SBATCH -t 02:00:00", "#SBATCH --gres=gpu:1"):  # fmt: skip
        assert line in script.splitlines()
    command = script.splitlines()[-1]
    assert "dask_worker tcp://" in command
    assert "--nthreads 1" in command
    assert "--resources GPU=1" in command


def test_a_worker_that_comes_later_with_other_versions_fails_its_task(directory):
    order = {"task": TASK.to_dict(), "directory": "", "token": "", "versions": {"torch": "1.0"}}
    answer, files = remote.perform(order, [])
    assert answer["event"] == "failed"
    assert "a worker of the cluster has torch" in answer["error"]
    assert files == {}


TASK = STEPS["weights"].task("x", {}, [STEPS["train"].task("x", {})])


def test_a_worker_that_needs_files_asks_for_them():
    order = {"task": TASK.to_dict(), "directory": "", "token": "", "versions": versions()}
    assert remote.perform(order, []) == ({"event": "unseen"}, {})


def ask_for(workers, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        list(workers.answers(0.1))
        assert workers.n_idle == 0


def test_a_cluster_here_is_for_this_computer_alone(client):
    psutil = pytest.importorskip("psutil")
    connections = psutil.Process().net_connections(kind="tcp")
    listening = [item.laddr.ip for item in connections if item.status == psutil.CONN_LISTEN]
    assert set(listening) <= {"127.0.0.1", "::1"}


# It ends the loop that all clients of a process share, so that no other test may follow it there.
@pytest.mark.slow
def test_a_scheduler_that_dies_ends_the_run_with_one_line(scheduler, directory):
    address, worker = scheduler
    with ClusterWorkers(directory, open_cluster(address, 1), {}) as workers:
        worker.scheduler.kill()
        with pytest.raises(FileError, match="the Dask scheduler does not answer any more; start it again"):
            ask_for(workers, 60)


def test_tls_without_certificates_is_one_line():
    with pytest.raises(FileError, match=r"needs certificates.*tls\.yaml") as caught:
        open_cluster("tls://127.0.0.1:1", 1)
    assert "\n" not in str(caught.value)
