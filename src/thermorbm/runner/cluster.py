"""Tasks on a Dask cluster: the same executor, the same processes, elsewhere.

Dask carries JSON and the bytes of our files; what to try again is decided by the executor. It is an optional
extra of the package, thermorbm[cluster].
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from thermorbm.errors import FileError, InputError
from thermorbm.runner import remote
from thermorbm.runner.pool import PATIENCE_SECONDS, Answer, Worker
from thermorbm.runner.rundir import RunDirectory
from thermorbm.runner.store import versions
from thermorbm.runner.task import Cost, Room, Task, available_memory

if TYPE_CHECKING:
    from distributed import Client, Future

CONNECT_SECONDS = 20.0
LOOK_SECONDS = 1.0
# Configurations kept in the memory of the cluster, for workers that do not see the run directory.
MOST_SENT = 16
# A worker of the cluster looks after its own memory.
ANY_MEMORY, LEAST_MEMORY = 1 << 62, 2 << 30

DASHBOARD = "127.0.0.1:0"  # for this computer alone, on any free port
SLURM = {"cores": 1, "processes": 1, "memory": "4GB", "walltime": "01:00:00"}


def open_cluster(address: str, n_workers: int) -> Client:
    """A client of the scheduler at `address`, or of one started here.

    "local": its workers are here. "slurm": its workers are batch jobs.
    """
    try:
        from distributed import Client
    except ImportError as error:
        raise InputError("cluster", address, "absent", "pip install 'thermorbm[cluster]' for it") from error
    logging.getLogger("distributed").setLevel(logging.ERROR)
    if address == "local":
        return Client(local_cluster(n_workers))
    if address == "slurm":
        cluster = slurm_cluster()
        cluster.scale(jobs=n_workers)
        return Client(cluster)
    if "://" not in address:
        raise InputError("cluster", address, "local, slurm or an address like tcp://host:8786")
    _check_certificates(address)
    try:
        return Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        problem = f"no Dask scheduler answers ({' '.join(str(error).split()) or type(error).__name__:.120})"
        raise FileError(address, problem, "start one with: dask scheduler") from error


def _check_certificates(address: str) -> None:
    """Without them Dask tries to reach a tls:// address until its time is over."""
    from distributed.security import Security

    if address.startswith("tls://") and Security().get_connection_args("client").get("ssl_context") is None:
        remedy = "name certificate and key in ~/.config/dask/tls.yaml, see docs/cluster.md"
        raise FileError(address, "needs certificates, and Dask is set up with none", remedy)


def local_cluster(n_workers: int) -> Any:
    """Dask's workers as threads of this process: the work itself is done by processes of ours."""
    from distributed import LocalCluster

    memory = max(LEAST_MEMORY, available_memory() // n_workers)
    return LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address=DASHBOARD,
        worker_dashboard_address=DASHBOARD,  # their pages would be for everybody
        memory_limit=memory,
    )


def slurm_cluster(**options: Any) -> Any:
    """Jobs of one core each; what the user's own jobqueue.yaml says goes before our defaults."""
    import dask
    from dask_jobqueue import SLURMCluster

    configured = dask.config.get("jobqueue.slurm", {})
    defaults = {name: value for name, value in SLURM.items() if configured.get(name) is None}
    quiet = {"scheduler_options": {"dashboard_address": DASHBOARD}}
    return SLURMCluster(**{**defaults, **quiet, **options})


def mark_of(directory: RunDirectory) -> str:
    """The content of the lock, by which workers know the directory."""
    return directory.lock.read_text()


class ClusterWorkers:
    """The threads of a cluster's workers, one task each. A task on a worker that is lost counts as died."""

    def __init__(self, directory: RunDirectory, client: Client, costs: Mapping[str, Cost]) -> None:
        self._directory, self._client, self._costs = directory, client, costs
        self._token, self._shared = "", True
        self._given: dict[str, Task] = {}
        self._futures: dict[str, Future[Any]] = {}
        self._sent: dict[str, Future[Any]] = {}
        self._heard: queue.Queue[tuple[str, Any]] = queue.Queue()
        self._numbers, self._looked = count(), -LOOK_SECONDS
        self.n_workers = 0
        self.room = Room(ANY_MEMORY)

    def __enter__(self) -> ClusterWorkers:
        try:
            self._meet()
        except BaseException:
            self._close()
            raise
        return self

    def _meet(self) -> None:
        """Connects to the workers of the cluster, and checks that they can do the tasks of this study."""
        self._token = mark_of(self._directory)
        self._client.subscribe_topic(self._token, self._hear)
        answers = self._client.run(remote.greet, str(self._directory.path.resolve()), self._token)
        self._shared = all(answer["sees"] for answer in answers.values())
        for address, answer in answers.items():
            _check_versions(address, answer["versions"])
        self._look()
        if any(cost.gpus for cost in self._costs.values()) and answers and not self.room.gpus:
            raise InputError("device", "cuda", "cpu", "no worker offers a GPU: dask worker --resources GPU=1")

    def __exit__(self, *_: object) -> None:
        """Lets tasks under way write checkpoints, and fetches those that do not lie in the run directory."""
        if self._client.status != "running":  # nobody there to talk to
            self._close()
            return
        try:
            self._client.run(remote.stop, self._token)
            end = time.monotonic() + PATIENCE_SECONDS
            while self._futures and time.monotonic() < end:
                list(self.answers(0.2))
            self._client.cancel(list(self._futures.values()))
            self._client.run(remote.forget, self._token)
        finally:
            self._close()

    def _close(self) -> None:
        cluster = self._client.cluster
        self._client.close()
        if cluster is not None:
            cluster.close()

    @property
    def n_idle(self) -> int:
        self._check_scheduler()
        if time.monotonic() - self._looked > LOOK_SECONDS:
            self._look()
        return max(0, self.n_workers - len(self._given))

    def _check_scheduler(self) -> None:
        if self._client.status != "running":
            problem = "the Dask scheduler does not answer any more"
            remedy = "start it again; the same command continues"
            raise FileError(self._directory.path, f"stopped: {problem}", remedy)

    def give(self, task: Task) -> None:
        self._given[task.id] = task
        if task.needs_local_files and not self._shared:
            threading.Thread(target=self._do_here, args=(task,), daemon=True).start()
        else:
            self._submit(task)

    def answers(self, timeout: float) -> Iterator[Answer]:
        """What workers report within `timeout` seconds; returns as soon as there is something."""
        try:
            heard = [self._heard.get(timeout=timeout)]
        except queue.Empty:
            return
        while not self._heard.empty():
            heard.append(self._heard.get())
        for task_id, sign in heard:
            if task_id not in self._given:  # progress of a task that has ended in the meantime
                continue
            message = sign if isinstance(sign, dict) else self._taken(task_id, sign)
            if message["event"] == "unseen":
                self._shared = False
                self._submit(self._given[task_id])
                continue
            if message["event"] != "progress":
                del self._given[task_id]
            yield Answer(task_id, message)

    def _submit(self, task: Task) -> None:
        order = {
            "task": task.to_dict(),
            "directory": str(self._directory.path.resolve()),
            "token": self._token,
            "versions": dict(versions()),
        }
        names = [] if self._shared else self._names(task)
        future = self._client.submit(
            remote.perform,
            order,
            names,
            *(self._content(name) for name in names),
            key=f"{task.id}-{next(self._numbers)}",
            resources={"GPU": 1} if self._costs[task.id].gpus else None,
            pure=False,
        )
        self._futures[task.id] = future
        future.add_done_callback(lambda future: self._heard.put((task.id, future)))

    def _names(self, task: Task) -> list[str]:
        checkpoint = str(self._directory.checkpoint(task.id).relative_to(self._directory.path))
        has_checkpoint = (self._directory.path / checkpoint).exists()
        return [*remote.input_files(task), *([checkpoint] if has_checkpoint else [])]

    def _content(self, name: str) -> Any:
        """The bytes of a file: configurations are sent once and kept there, small files go with the task."""
        content = remote.read_files(self._directory.path, [name]).get(
            name, b""
        )  # an empty file counts as damaged
        if not name.startswith("cache/") or "checkpoints" in name:
            return content
        if name not in self._sent:
            while len(self._sent) >= MOST_SENT:
                del self._sent[next(iter(self._sent))]
            self._sent[name] = self._client.scatter(content, hash=False)
        return self._sent[name]

    def _taken(self, task_id: str, future: Any) -> dict[str, Any]:
        """The answer that a future brings; files that came with it are written, the one that counts last."""
        self._futures.pop(task_id, None)
        if future.status != "finished":
            return _trouble(future)
        message, files = future.result()
        if message["event"] == "damaged":
            self._sent.pop(f"cache/{message['input']}.h5", None)
        for name in remote.output_files(self._directory, self._given[task_id]):
            if name in files:
                remote.write_file(self._directory.path / name, files[name])
        if message["event"] == "done":
            self._directory.checkpoint(task_id).unlink(missing_ok=True)
        return dict(message)

    def _do_here(self, task: Task) -> None:
        """Users' own files lie here, wherever the workers are."""
        worker = Worker(self._directory.path)
        message = remote.converse(worker, task, lambda fraction: None)
        worker.end()
        self._heard.put((task.id, message))

    def _hear(self, event: tuple[float, Mapping[str, Any]]) -> None:
        _, sign = event
        self._heard.put((sign["task"], {"event": "progress", "fraction": sign["fraction"]}))

    def _look(self) -> None:
        """Counts the workers of the cluster and their GPUs, which may change while the study runs."""
        self._looked = time.monotonic()
        workers = self._client.scheduler_info()["workers"].values()
        self.n_workers = sum(worker["nthreads"] for worker in workers)
        self.room = Room(ANY_MEMORY, int(sum(worker["resources"].get("GPU", 0) for worker in workers)))


def _trouble(future: Any) -> dict[str, Any]:
    """What became of a task whose answer did not come."""
    from distributed import KilledWorker

    error = future.exception() if future.status == "error" else None
    if error is None or isinstance(error, KilledWorker):
        return {"event": "died", "how": "with the worker of the cluster that it ran on"}
    text = " ".join(str(error).split())
    return {"event": "failed", "error": f"on the cluster: {type(error).__name__}: {text}"}


def _check_versions(address: str, theirs: Mapping[str, str]) -> None:
    problem = remote.difference(theirs, versions())
    if problem:
        raise FileError(address, problem, "install the same versions everywhere")
