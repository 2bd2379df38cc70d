"""Studies divided among the jobs of an array."""

import shutil

import pytest
from own_process import OwnProcess

from thermorbm.errors import FileError, InputError
from thermorbm.runner import run as runner
from thermorbm.runner.lock import locked
from thermorbm.runner.progress import read_status
from thermorbm.runner.rundir import open_run, prepare
from thermorbm.runner.shards import Shard, share
from thermorbm.storage import write_json
from thermorbm.study.plan import plan_study
from thermorbm.study.run import run_shard, run_study
from thermorbm.study.steps import STEPS, estimate_costs
from thermorbm.study.toml import find_study, load_study


def shares(name, count):
    tasks = plan_study(load_study(find_study(name))).tasks
    costs = estimate_costs(tasks)
    return tasks, costs, [share(Shard(number, count), tasks, costs) for number in range(1, count + 1)]


@pytest.mark.parametrize(("name", "count"), [("tiny", 1), ("tiny", 3), ("desk", 16), ("paper", 40)])
def test_shares_cover_the_study_and_stand_alone(name, count):
    tasks, _, found = shares(name, count)
    assert set().union(*found) == {task_id for task_id, task in tasks.items() if task.kind != "estimate"}
    for mine in found:
        assert all(item in mine for task_id in mine for item in tasks[task_id].inputs)


def test_only_configurations_are_in_several_shares():
    tasks, _, found = shares("paper", 40)
    for task_id, task in tasks.items():
        n_shares = sum(task_id in mine for mine in found)
        assert n_shares == 1 or task.kind in ("sample", "estimate")


def test_shares_are_about_equally_dear():
    """The longest is at most the mean plus one piece of work: what a greedy division guarantees."""
    _, costs, found = shares("paper-2d", 16)
    seconds = [sum(costs[task_id].seconds for task_id in mine) for mine in found]
    longest = max(cost.seconds for cost in costs.values())
    assert max(seconds) < 1.3 * (sum(seconds) / 16) + longest


@pytest.mark.parametrize(
    "text", ["", "3", "0/4", "5/4", "-1/4", "1/0", "1/4/2", "a/b", "1/99999", "1.5/3", "² /3"]
)
def test_bad_shards_are_refused(text):
    with pytest.raises(InputError, match="shard must be"):
        Shard.parse(text)


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch):
    monkeypatch.setattr(runner, "_local_workers", lambda _: lambda directory, costs: OwnProcess(directory))


@pytest.fixture
def run(small_file, tmp_path, recorder):
    def run(number, count=2):
        return run_shard(small_file, tmp_path / "run", recorder, Shard(number, count), n_workers=1)

    return run


def test_the_last_shard_joins_all(run, finished, tmp_path, results):
    first = run(2)
    assert first.results is None
    assert not (tmp_path / "run" / "results.json").exists()
    status = read_status(first.directory)
    assert status.counts["done"] == len(first.outcome.done)
    assert status.counts["pending"] > 0
    assert run(1).results is not None
    assert results(tmp_path / "run") == results(finished.directory.path)
    again = run(2)
    assert again.outcome.done == ()
    assert again.results is not None


def test_a_failed_task_of_another_shard_does_not_keep_the_last_from_joining(
    finished, small_file, tmp_path, recorder, results
):
    shutil.copytree(finished.directory.path, tmp_path / "run")
    directory = open_run(tmp_path / "run", "small")
    tasks = plan_study(load_study(small_file)).tasks
    lost = next(
        task_id for task_id in share(Shard(2, 2), tasks, estimate_costs(tasks)) if "weights" in task_id
    )
    directory.reduced(lost).unlink()
    write_json(directory.failure(lost), {"error": "too hot"})
    assert run_shard(small_file, tmp_path / "run", recorder, Shard(1, 2), n_workers=1).results is not None
    assert results(tmp_path / "run")["tasks"]["failed"] == [{"task": lost, "error": "too hot"}]


def test_runners_and_shards_keep_out_of_each_others_way(small_file, tmp_path, recorder, micro):
    directory = open_run(tmp_path / "run", "small")
    prepare(directory, "", [STEPS["measure"].task("x", {})])
    leftover = directory.path / "reduced" / ".x.tmp"
    leftover.write_text("being written")
    with locked(directory.path / "shards" / "1-of-2.lock"):
        with pytest.raises(FileError, match="in use by shard 1-of-2, pid "):
            run_study(small_file, directory.path, recorder, n_workers=1)
        with pytest.raises(FileError, match="in use by another runner"):
            run_shard(small_file, directory.path, recorder, Shard(1, 2), n_workers=1)
        assert leftover.exists()
        assert list(read_status(directory).shards) == ["1-of-2"]
    prepare(directory, "", [])
    assert not leftover.exists()
