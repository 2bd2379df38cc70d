"""The command line as a whole: its top level, and errors as one line with an exit code."""

from __future__ import annotations

import io
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from thermorbm import __version__
from thermorbm.cli.console import say
from thermorbm.errors import ThermorbmError

BAD_INPUT, NOT_CERTIFIED, INTERRUPTED, TERMINATED = 2, 3, 130, 143
# The base of typer's usage errors, by way of one it exports: newer versions carry a copy of click.
USAGE_ERROR: type[Exception] = typer.BadParameter.__mro__[2]

EPILOG = """\b
Exit codes:
  0    success
  2    bad input; one line on stderr says which value and what to do
  3    the file was written, but do not rely on it: its certificate did not pass, or training diverged
  130  interrupted
  143  ended by SIGTERM, SIGHUP or SIGUSR1
"""

# In the order of the work; help lists them so.
ORDER = (
    "run",
    "init",
    "status",
    "report",
    "critical",
    "explore",
    "publish",
    "sample",
    "import",
    "export",
    "train",
    "analyse",
    "generate",
)


class InOrder(TyperGroup):
    """Commands of whole studies first, those for single files after them."""

    def list_commands(self, ctx: Any) -> list[str]:
        names = list(super().list_commands(ctx))
        return sorted(names, key=lambda name: ORDER.index(name) if name in ORDER else len(ORDER))


app = typer.Typer(
    cls=InOrder,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True, epilog=EPILOG)
def top(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    """Certified Ising configurations, and what restricted Boltzmann machines read from them.

    \b
    Examples:
      thermorbm run tiny
      thermorbm init mine.toml
      thermorbm explore runs/tiny
      thermorbm sample --shape 64x64 -T 2.25 -n 50000 --seed 1 -o data.h5
      thermorbm info data.h5
      thermorbm export data.h5 -o data.npy
      thermorbm import mine.npy --shape 64x64 -T 2.25 -o data.h5
      thermorbm train data.h5 --hidden 400 -o rbm.h5
      thermorbm analyse rbm.h5 data.h5
      thermorbm generate rbm.h5 -n 1000 --start p_h --steps 7 -o new.h5
      thermorbm demo
      thermorbm bench sampling
    """
    if version:
        typer.echo(f"thermorbm {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs the command line and leaves the process with its exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # "?" for what a terminal without UTF-8 cannot show
            stream.reconfigure(errors="replace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """The exit code of the command line; every error that a user can cause becomes one line on stderr."""
    with _signals() as requests:
        code = _run(arguments)
    if code == INTERRUPTED and requests:
        say("error: ended on request")
        return TERMINATED
    if code == INTERRUPTED:
        say("error: interrupted")
    return code


class Terminated(KeyboardInterrupt):
    """A request of the system to end, as when a batch job's time is over."""


@contextmanager
def _signals() -> Iterator[list[int]]:
    """Lets SIGTERM, SIGUSR1 and SIGHUP end a command as Ctrl-C does, with nothing left half-written; the
    requests that came. nohup keeps the last one away."""
    requests: list[int] = []

    def stop(number: int, frame: FrameType | None) -> None:
        requests.append(number)
        raise Terminated

    # What a system does not have is left out; a hang-up that is ignored from the start (nohup) stays so.
    numbers = [getattr(signal, name) for name in ("SIGTERM", "SIGUSR1", "SIGHUP") if hasattr(signal, name)]
    is_main = threading.current_thread() is threading.main_thread()  # no other may set handlers
    numbers = [number for number in numbers if is_main and signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in numbers}
    try:
        yield requests
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _run(arguments: Sequence[str] | None) -> int:
    try:
        code = typer.main.get_command(app).main(arguments, prog_name="thermorbm", standalone_mode=False)
    except USAGE_ERROR as error:
        return _refuse(_usage_message(error))
    except ThermorbmError as error:
        return _refuse(str(error))
    except OSError as error:  # of the system: a full disk, a cache that cannot be written
        return _refuse(f"{error.filename or 'the system'}: {error.strerror or error}")
    except RecursionError:
        return _refuse("a file or a value is nested too deeply")
    except MemoryError as error:
        return _refuse(f"not enough memory: {error or 'the request is too large'}; ask for less at once")
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED  # which newer versions of typer return instead of raising
    return code if isinstance(code, int) else 0


def _refuse(message: str) -> int:
    say(f"error: {message}")
    return BAD_INPUT


def _usage_message(error: Any) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "thermorbm"
    return f"{error.format_message().rstrip('.')}; see '{command} --help'"
