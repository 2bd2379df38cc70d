"""The first second of a run: kills at every step of it, and shards that begin together."""

from functools import partial
from itertools import count
from multiprocessing import get_context

import pytest
from injected import killed_at

from thermorbm.errors import FileError
from thermorbm.runner.lock import locked
from thermorbm.runner.rundir import clear, existing_run, open_run, prepare, read_plan
from thermorbm.runner.store import Product, Reduced, Store, damage, write_reduced
from thermorbm.study.steps import STEPS

TASK = STEPS["measure"].task("x", {"thermal": True}, labels={"family": "f"})
OTHER = STEPS["measure"].task("x", {"thermal": False}, labels={"family": "f"})


def begin(path, patience=0.3):
    directory = open_run(path, "one")
    with locked(directory.lock, patience):
        prepare(directory, 'name = "one"', [TASK])


def test_a_kill_at_any_write_leaves_a_directory_that_goes_on(tmp_path):
    for number in count(1):
        path = tmp_path / f"run-{number}"
        if not killed_at(number, partial(begin, path)):
            break
        begin(path)
        assert list(read_plan(existing_run(path))) == [TASK.id]
        assert not list(path.rglob(".*.tmp"))
    assert number > 20  # three files, each with several steps, and ten directories


def _begin_at(barrier, path, answers):
    barrier.wait()
    try:
        begin(path, 60.0)
        answers.put("")
    except Exception as error:
        answers.put(repr(error))


def test_shards_that_begin_together_do_not_refuse_each_other(tmp_path):
    context = get_context("fork")
    for round_ in range(5):
        barrier, answers = context.Barrier(8), context.Queue()
        arguments = barrier, tmp_path / f"run-{round_}", answers
        shards = [context.Process(target=_begin_at, args=arguments) for _ in range(8)]
        for shard in shards:
            shard.start()
        assert [answers.get() for _ in shards] == [""] * 8
        for shard in shards:
            shard.join()


def test_of_two_studies_that_begin_together_one_is_refused(tmp_path, monkeypatch):
    from thermorbm.runner import rundir

    create = rundir.create_json

    def late(path, content):
        create(path, {**content, "study": "first"})  # somebody else in the meantime
        create(path, content)

    monkeypatch.setattr(rundir, "create_json", late)
    with pytest.raises(FileError, match="holds the study 'first', not 'one'"):
        open_run(tmp_path / "run", "one")


def test_fresh_removes_links_and_not_what_they_lead_to(tmp_path):
    (tmp_path / "scratch" / "measure").mkdir(parents=True)
    (tmp_path / "scratch" / "measure" / "precious").touch()
    directory = open_run(tmp_path / "run", "one")
    (directory.path / "reduced").symlink_to(tmp_path / "scratch")
    with pytest.raises(FileError, match="is a link, a pipe or a device"):
        open_run(tmp_path / "run", "one")
    clear(open_run(tmp_path / "run", "one", fresh=True))
    assert not (directory.path / "reduced").exists()
    assert (tmp_path / "scratch" / "measure" / "precious").exists()


def test_what_users_keep_beside_a_run_stays(tmp_path):
    directory = open_run(tmp_path / "run", "one")
    for place in ("notes", "reduced"):
        (directory.path / place).mkdir()
        (directory.path / place / ".draft.tmp").touch()
    prepare(directory, 'name = "one"', [TASK])
    clear(directory)
    assert (directory.path / "notes" / ".draft.tmp").exists()
    assert not (directory.path / "reduced").exists()


class Text:
    def __init__(self, text):
        self.text = text

    def save(self, path):
        from thermorbm.storage import write_hdf5

        write_hdf5(path, "text", {}, {"text": self.text})


@pytest.fixture
def store(tmp_path):
    directory = open_run(tmp_path / "run", "one")
    prepare(directory, 'name = "one"', [TASK, OTHER])
    store = Store(directory)
    for task, text in ((TASK, "cold"), (OTHER, "hot")):
        product = Product({"text": text}, large=Text(text))
        store.write_large(task, product)
        store.write_reduced(task, product, {})
    return store


def test_a_result_belongs_to_its_task(store):
    directory = store.directory
    assert damage(directory, TASK) is None
    directory.reduced(OTHER.id).replace(directory.reduced(TASK.id))
    assert damage(directory, TASK) == f"is the result of {OTHER.id}"
    with pytest.raises(Exception, match=f"is the result of {OTHER.id}"):
        store.reduced(TASK.id)


def test_a_large_file_belongs_to_its_task(store):
    assert store.large(TASK.id, lambda path: path.name)
    store.directory.large(OTHER.id).replace(store.directory.large(TASK.id))
    with pytest.raises(Exception, match="is not the file that its task made"):
        store.large(TASK.id, lambda path: path.name)


def test_versions_stay_with_the_result(store, tmp_path):
    made = store.reduced(TASK.id)
    assert set(made.versions) >= {"thermorbm", "torch", "python"}
    path = tmp_path / "old.h5"
    write_reduced(path, Reduced(TASK, {}, versions={"torch": "1.0"}))
    from thermorbm.runner.store import read_values

    assert read_values(path).versions == {"torch": "1.0"}
