"""Training from start, or from a checkpoint, to a machine with a verdict."""

from __future__ import annotations

import logging
import math
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from importlib.metadata import version
from inspect import signature
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.random import SeedSequence
from numpy.typing import ArrayLike, NDArray

from thermorbm.dataset import Dataset, as_dataset
from thermorbm.errors import FileError, InputError, unknown_name
from thermorbm.model import RBM, Machine
from thermorbm.shown import html_table, shown_progress
from thermorbm.storage import check_target
from thermorbm.training import checkpoint as checkpoints
from thermorbm.training.checkpoint import describe
from thermorbm.training.design import DenseDesign, Design, choose_design
from thermorbm.training.devices import choose_device, torch_threads
from thermorbm.training.few_couplings import with_few_couplings
from thermorbm.training.monitor import (
    NO_SCORES,
    Board,
    History,
    Scores,
    Verdict,
    is_mere_order,
    opened_board,
    score,
)
from thermorbm.training.order import find_order
from thermorbm.training.parallel import choose_trainer
from thermorbm.training.recipe import Recipe, choose_recipe
from thermorbm.training.settling import settled
from thermorbm.training.trainer import Arrays, Training

# Updates between records, at least: with the few configurations that are scored, below 5 % of the time.
LEAST_STRIDE = 160
SECONDS_BETWEEN_SIGNS = 0.5

Progress = Callable[["Step"], None]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Step:
    """What a progress display may show; scores are those of the last record, nan before the first."""

    update: int
    n_updates: int
    epoch: float
    pseudo_likelihood_per_unit: float
    cross_entropy: float


@dataclass(frozen=True, repr=False)
class TrainingResult:
    """What training gave. rbm: the machine. verdict: converged or not, or mere order, and the drift.

    history: columns by name, one entry per record: update, epoch, distance (sum of learning rates over
    updates), rate, and the fields of Scores for training configurations, and for held-out ones with the
    prefix "validation_". If training diverged, its last record is the bad one and rbm the last good machine.
    """

    rbm: Machine
    history: History
    verdict: Verdict

    @property
    def converged(self) -> bool:
        """Whether the verdict is "converged"."""
        return self.verdict.status == "converged"

    def __repr__(self) -> str:
        said = ", ".join(f"{name} {value}" for name, value in self._facts().items() if value is not None)
        return f"TrainingResult({self.rbm}, {said})"

    def _repr_html_(self) -> str:
        return html_table(f"TrainingResult: {self.rbm}", self._facts())

    def _facts(self) -> dict[str, object]:
        """The verdict and the last record, in words."""
        facts: dict[str, object] = {"verdict": self.verdict.status}
        if not self.history:
            return facts
        last = {name: float(values[-1]) for name, values in self.history.items()}
        facts |= {"updates": int(last["update"]), "epochs": f"{last['epoch']:.3g}"}
        for prefix, where in (("", "training"), ("validation_", "held-out")):
            value = last.get(prefix + "pseudo_likelihood")
            if value is not None:
                facts[f"{where} L~ per spin"] = f"{value / self.rbm.n_visible:.5g}"
        return facts


def train(
    data: Dataset | ArrayLike,
    n_hidden: int | None = None,
    recipe: str | Recipe = "fast",
    epochs: int | None = None,
    seed: int = 0,
    validation: Dataset | ArrayLike | None = None,
    device: str = "auto",
    precision: str = "auto",
    threads: int | None = None,
    checkpoint: str | Path | None = None,
    progress: Progress | bool | None = None,
    *,
    model: str = "dense",
    filters: int | None = None,
    kernel: int | None = None,
    point_group: bool = False,
    tensorboard: str | Path | None = None,
    **changes: Any,
) -> TrainingResult:
    """Trains a machine on configurations.

    data: a Dataset, or an array of +-1: (n, n_sites), or (n, L, L) on a periodic lattice.
    model: "dense" with n_hidden units, by default 400; or "symmetric" with `filters`, by default 4, of side
    `kernel`, by default 3, the same at every site of the data's periodic lattice, with its own "fast".
    point_group: each filter in all its turns and reflections, by default two.
    recipe: "fast", "paper" or a Recipe; `changes` set single fields of it, for example zero_bias=True.
    epochs: passes over the data instead of the recipe's number and least updates. validation: held-out
    configurations, scored beside the training data. precision: "auto", "fp32", "bf16" or "int8" for the
    matrix products, the last for recipes without stiff modes. threads: of torch, by default one: threads that
    wait for each other on a busy computer take many times as long, and another number changes the last bits
    of the result. checkpoint: a file that is written at every record, and continued from if there. progress:
    a bar in terminals and notebooks unless False; progress(step) is called at every record, and about twice a
    second between them, and if it raises, the checkpoint is written first. tensorboard: a directory for the
    history as TensorBoard reads it, record by record. Where torch.distributed has been started with several
    ranks, all of them call this and share the work.
    """
    _check_options(changes)
    data = as_dataset("data", data)
    validation = None if validation is None else as_dataset("validation", validation)
    if epochs is not None:
        changes = {"epochs": epochs, "least_updates": 0, "distance": 0.0, **changes}
    design: Design = choose_design(data, model, n_hidden, filters, kernel, point_group)
    chosen = choose_recipe(recipe, changes, design.recipes)
    if isinstance(recipe, str) and "batch_size" not in changes:
        chosen = _with_small_batches(chosen, len(data))
    _check(data, seed, validation)
    design.check(chosen)
    design = with_few_couplings(design, chosen)
    where = choose_device(device)
    with torch_threads(threads):
        type_ = design.precision(precision, where)
        trainer = choose_trainer(design, chosen)(data, design, chosen, int(seed), where, type_)
        _log.info("training %s on %r with recipe %s", design, data, chosen.name)
        with _listener(progress) as listener, opened_board(tensorboard) as board:
            result = _Run(trainer, data, validation, int(seed), checkpoint, listener, board).finish()
        _log.info("trained: %r", result)
        return result


def _check_options(changes: Mapping[str, Any]) -> None:
    """A name that is no field of recipes may be meant for an argument of `train`."""
    of_recipes = [field.name for field in fields(Recipe)]
    for name in changes:
        if name not in of_recipes:
            of_train = [own for own in signature(train).parameters if own != "changes"]
            raise unknown_name("option of train", name, [*of_train, *of_recipes])


@contextmanager
def _listener(progress: Progress | bool | None) -> Iterator[Progress | None]:
    """What is called with every step: the user's own, a bar, or nothing."""
    if callable(progress):
        yield progress
        return
    with shown_progress(progress) as report:
        yield None if report is None else lambda step: report("training", step.update, step.n_updates)


class _Run:
    """Steps, records, checkpoints and the decision to stop."""

    def __init__(
        self,
        trainer: Training,
        data: Dataset,
        validation: Dataset | None,
        seed: int,
        checkpoint: str | Path | None,
        progress: Progress | None,
        board: Board | None,
    ) -> None:
        self._trainer, self._progress, self._board = trainer, progress, board
        n = trainer.design.n_recorded
        self._sets = {"": _some(data, n)} | ({"validation_": _some(validation, n)} if validation else {})
        self._path = None if checkpoint is None else Path(checkpoint)
        self._identity = checkpoints.fingerprint(data, validation, trainer, seed)
        self._data, self._seed = data, seed
        self._history: History = {}
        self._good: Arrays = trainer.state()
        if self._path is not None:
            check_target(self._path)
        if self._path is not None and self._path.exists():
            self._continue(self._path)

    def _continue(self, path: Path) -> None:
        """From a checkpoint; FileError if it cannot be one of this run."""
        trainer = self._trainer
        state, history = checkpoints.load(path, self._identity, self._good, self._columns)
        update = state["progress"][0]
        try:
            if update not in range(trainer.n_updates + 1):
                raise ValueError(f"it has made {update} updates of {trainer.n_updates}")
            trainer.restore(state)
        except (ValueError, TypeError, RuntimeError) as error:
            raise FileError(path, f"is not a checkpoint of this run: {error}", "remove it") from error
        self._good, self._history = state, history

    @property
    def _columns(self) -> list[str]:
        """Names of the history's columns."""
        scores = [prefix + item.name for prefix in self._sets for item in fields(Scores)]
        return ["update", "epoch", "distance", "rate", *scores]

    def finish(self) -> TrainingResult:
        trainer = self._trainer
        verdict = self._verdict()
        while not self._is_over(verdict):
            # Up to the next record, also from a checkpoint that was written between two of them.
            n_updates = self._stride - trainer.update % self._stride
            self._advance(min(n_updates, trainer.n_updates - trainer.update))
            verdict = self._record()
        if verdict.status == "diverged":
            trainer.restore(self._good)
        elif self._is_mere_order():
            verdict = replace(verdict, status="mere order")
        machine = self._settled(trainer.machine(self._provenance(verdict)), verdict)
        return TrainingResult(machine, self._history, verdict)

    def _settled(self, machine: Machine, verdict: Verdict) -> Machine:
        n_steps, n_carriers = self._trainer.recipe.settling, self._trainer.n_mirrored
        if not isinstance(machine, RBM) or not n_steps or n_carriers < 2 or verdict.status == "diverged":
            return machine
        own = SeedSequence(self._seed).spawn(5)[-1]  # the first four are the trainer's
        return settled(machine, n_carriers, n_steps, self._data, own)

    def _is_mere_order(self) -> bool:
        if not isinstance(self._trainer.design, DenseDesign):
            return False
        strengths = find_order(self._data, SeedSequence(self._seed)).strengths[0]
        return is_mere_order(self._trainer.machine(), self._sets[""], strengths)

    def _advance(self, n_updates: int) -> None:
        shown = time.monotonic()
        for _ in range(n_updates):
            self._trainer.step()
            if self._progress and time.monotonic() - shown > SECONDS_BETWEEN_SIGNS:
                self._show(self._progress)
                shown = time.monotonic()

    def _show(self, progress: Progress) -> None:
        """Between records; who raises there wants to stop, and can go on from here."""
        try:
            progress(self._step())
        except BaseException:
            if self._path is not None and self._trainer.is_finite:
                checkpoints.save(self._path, self._identity, self._trainer.state(), self._history)
            raise

    @property
    def _stride(self) -> int:
        """Updates between records: whole epochs, or a whole part of one."""
        per_epoch = self._trainer.updates_per_epoch
        least = min(LEAST_STRIDE, self._trainer.design.record_every)
        if per_epoch < least:
            return per_epoch * math.ceil(least / per_epoch)
        return math.ceil(per_epoch / (per_epoch // least))

    def _is_over(self, verdict: Verdict) -> bool:
        trainer = self._trainer
        recipe = trainer.recipe
        stop_early = recipe.stop_early and recipe.schedule == "constant" and not recipe.distance
        return (
            verdict.status == "diverged"
            or trainer.update >= trainer.n_updates
            or (stop_early and verdict.status == "converged")
        )

    def _verdict(self) -> Verdict:
        if not self._history:
            return Verdict("not converged", float("nan"), float("nan"))
        return self._trainer.judge(self._history)

    def _record(self) -> Verdict:
        """Scores the machine; a good one is saved, a bad one is not."""
        for name, value in self._scores().items():
            self._history[name] = np.append(self._history.get(name, np.empty(0)), value)
        verdict = self._verdict()
        if verdict.status != "diverged":
            self._good = self._trainer.state()
            if self._path is not None:
                checkpoints.save(self._path, self._identity, self._good, self._history)
        if self._board:
            self._board.write(self._history)
        if self._progress:
            self._progress(self._step())
        return verdict

    def _scores(self) -> dict[str, float]:
        """One row of the history; scores are nan where a parameter is not finite."""
        trainer = self._trainer
        columns: dict[str, float] = {
            "update": trainer.update,
            "epoch": trainer.update / trainer.updates_per_epoch,
            "distance": trainer.distance,
            "rate": trainer.rate,
        }
        for prefix, v in self._sets.items():
            scores = score(trainer.machine(), v, seed=0) if trainer.is_finite else NO_SCORES
            columns |= {prefix + name: value for name, value in asdict(scores).items()}
        return columns

    def _step(self) -> Step:
        trainer = self._trainer
        prefix = "validation_" if "validation_" in self._sets else ""
        return Step(
            trainer.update,
            trainer.n_updates,
            trainer.update / trainer.updates_per_epoch,
            self._last(prefix + "pseudo_likelihood") / self._data.n_sites,
            self._last(prefix + "cross_entropy"),
        )

    def _last(self, name: str) -> float:
        """That score at the last record, nan before the first."""
        return float(self._history[name][-1]) if self._history else float("nan")

    def _provenance(self, verdict: Verdict) -> dict[str, Any]:
        history = {name: values.tolist() for name, values in self._history.items()}
        return {
            "training": self._identity,
            "data": describe(self._data),
            "hamiltonian": self._data.hamiltonian.to_dict() if self._data.hamiltonian else None,
            "verdict": asdict(verdict),
            "history": history,
            **self._trainer.findings(),
            "versions": {name: version(name) for name in ("thermorbm", "torch", "numpy", "numba")},
        }


def _with_small_batches(recipe: Recipe, n_samples: int) -> Recipe:
    """The same for few configurations: a batch of a named recipe is no larger than all of them."""
    if recipe.batch_size <= n_samples or n_samples == 0:
        return recipe
    text = (
        f"there are fewer configurations ({n_samples}) than a batch of the recipe has ({recipe.batch_size})"
    )
    warnings.warn(f"{text}: all of them make one batch", UserWarning, stacklevel=3)
    return replace(recipe, batch_size=n_samples)


def _check(data: Dataset, seed: int, validation: Dataset | None) -> None:
    if not isinstance(seed, Integral) or seed < 0:
        raise InputError("seed", seed, "a whole number >= 0")
    if validation is not None and validation.n_sites != data.n_sites:
        raise InputError(
            "validation", validation.n_sites, f"data of {data.n_sites} sites, like the training data"
        )


def _some(data: Dataset, n: int) -> NDArray[np.int8]:
    """Evenly spaced configurations, so that a dataset of several temperatures is seen as a whole."""
    rows = np.linspace(0, len(data) - 1, min(n, len(data))).astype(np.int64)
    return data.select(rows).spins(0, len(rows))
